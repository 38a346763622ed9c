"""Ask the processor for memory that a compiled loop will soon read at a place it cannot foresee."""

from typing import Any

from lindrop.base.arrays import Vector
from lindrop.base.compiling import Instruction, compiled_by


@Instruction
def _ask(context: Any, values: Any, place: Any) -> Any:
    """Ask for the cache line of an element, without waiting for it."""
    from llvmlite import ir
    from numba import types

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        element = builder.bitcast(builder.gep(array.data, [arguments[1]]), address)
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        to_read, keep_in_all, data = number(0), number(3), number(1)
        builder.call(instruction, [element, to_read, keep_in_all, data])
        return context.get_dummy_value()

    return types.void(values, place), generated


@compiled_by(nogil=True, cache=True)
def prefetch(values: Vector, start: int, lines: int) -> None:
    """Ask for some cache lines of 64 bytes of a vector, from an element on; it may end before."""
    for line in range(lines):
        _ask(values, start + line * (64 // values.itemsize))

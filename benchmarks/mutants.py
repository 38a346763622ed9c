"""Change one formula of the library at a time, and see whether a check of the claims notices.

    PYTHONPATH=workflow python benchmarks/mutants.py [MODULE ...]

For each module, such as dropout/objective.py (all FORMULAS if none is given), PER_MODULE places are
drawn at random where a sign, a factor, a term or a transposition can be changed. In a copy of the
library with that one change, the check modules that depend on it are run, the quickest first, until
a check notices: first those in papers/<paper>/checks, which need no dataset, then the FIGURES.
The mutant is caught if a check that held fails or the reverse; `flipped` counts such checks in the
module that noticed, `checks` those of all modules. A mutant that raises an error before any check
notices, or takes ten times as long, says nothing about the checks, so another one is drawn.
Replaces the rows of the modules in benchmarks/results/mutants.csv. Its column `explanation`, which
is written by hand and kept, says why a mutant that no check noticed changes no claim.
"""

import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.base.digest import reachable
from lindrop.papers.catalogue import PAPERS, check_modules, module_name, module_of

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"
LIBRARY = WORKFLOW / "lindrop"
OUTPUT = Path(__file__).parent / "results" / "mutants.csv"
SEED, PER_MODULE = 1, 3
SLOW, START = 10, 5.0  # how many times as long is too long; seconds for Python to start
FORMULAS = [
    *(LIBRARY / "models").glob("full_rank.py"),
    *(LIBRARY / "models" / "edlae").glob("[abo]*.py"),
    *(LIBRARY / "dropout").glob("[a-z]*.py"),
    *(LIBRARY / "dropout" / "autoencoders").glob("[a-z]*.py"),
    *(LIBRARY / "dropout" / "dynamics").glob("[a-z]*.py"),
]
FIGURES = [  # those that need no dataset and little time
    ("mianjy2018", "fig1"),
    *(("pretorius2018", name) for name in ("dynamics", "dae_vs_wdae", "rates", "weight_norms")),
]
RUN = """
import importlib, inspect, json, sys, time
sys.path.insert(0, sys.argv[1])
known, found = json.load(sys.stdin), {}
for name in sys.argv[2:]:
    start, module = time.monotonic(), importlib.import_module(name)
    paper, kind = name.split(".")[2:4]
    if kind == "figures":
        wanted = inspect.signature(module.data).parameters
        checks = module.checks(module.data(**({"seed": 1} if wanted else {})))
    else:
        checks = module.checks(1)
    told = [[paper, c.claim, c.what, c.form, c.holds] for c in checks]
    found[name] = told, time.monotonic() - start
    if told[:len(known.get(name, []))] != known.get(name, []):
        break
print(json.dumps(found))
"""
Told = list[list[Any]]  # paper, claim, what, form and outcome of each check


def changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What a node of a formula can be changed into, with the kind of the change."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield "sign", ast.BinOp(left, ast.Sub(), right)
            yield "dropped term", left
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            yield "sign", ast.BinOp(left, ast.Add(), right)
            yield "dropped term", left
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield "dropped factor", left
            yield "dropped factor", right
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield "dropped factor", left
            yield "inverse factor", ast.BinOp(left, ast.Mult(), right)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            yield "power", ast.BinOp(left, ast.Pow(), ast.Constant(power + 1))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield "transposed", ast.BinOp(right, ast.MatMult(), left)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            if not isinstance(operand, ast.Constant):
                yield "sign", operand
        case ast.Attribute(value=value, attr="T"):
            yield "transposed", value


def formulas(tree: ast.Module) -> Iterator[ast.expr]:
    """Expressions within functions that compute numbers: no indices, messages or annotations."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from _computing(statement)


def _computing(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Slice | ast.FunctionDef | ast.Compare):
        return
    if isinstance(node, ast.expr):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "slice", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _computing(child)


def mutants(file: Path) -> list[dict[str, str]]:
    """All single changes of a file: line, kind, the expression before and after, and the code."""
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    places = [node for node in formulas(tree) if any(changes(node))]
    found = []
    for number, place in enumerate(places):
        for choice, (kind, after) in enumerate(changes(place)):
            changed = copy.deepcopy(tree)
            node = [each for each in formulas(changed) if any(changes(each))][number]
            _, new = list(changes(node))[choice]
            ast.copy_location(new, node)
            code = ast.unparse(_Replaced(node, new).visit(changed))
            before, shown = ast.unparse(place), ast.unparse(after)
            found.append(
                {"line": place.lineno, "kind": kind, "before": before, "after": shown}
                | {"code": code}
            )
    return found


class _Replaced(ast.NodeTransformer):
    """A tree with one node replaced by another."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().generic_visit(node)


def outcomes(
    workflow: Path,
    modules: Sequence[str],
    known: Mapping[str, Told] | None = None,
    seconds: float | None = None,
) -> dict[str, tuple[Told, float]] | None:
    """What the checks of each module found, and the seconds that it took.

    Stops after the first module that found anything else than is `known`. None after an error or
    too long a time.
    """
    command = [sys.executable, "-c", RUN, str(workflow), *modules]
    env = os.environ | {"PYTHONPATH": "", "OPENBLAS_NUM_THREADS": "1"}
    given = json.dumps(known or {}).encode()
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, timeout=seconds, env=env, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else json.loads(done.stdout.splitlines()[-1])


class Sound:
    """What the checks find in the library before it is changed: each module is run once."""

    def __init__(self, workflow: Path) -> None:
        self.workflow = workflow
        self.told, self.seconds = dict[str, Told](), dict[str, float]()

    def run(self, modules: Sequence[str]) -> None:
        """Run those of the modules that have not been run yet."""
        missing = [name for name in modules if name not in self.told]
        if missing:
            found = outcomes(self.workflow, missing)
            if found is None:
                sys.exit(f"a check fails to run before any change: {' '.join(missing)}")
            for name, (told, took) in found.items():
                self.told[name], self.seconds[name] = told, took


def tried(file: Path, sound: Sound) -> Iterator[dict[str, Any]]:
    """The mutants of a module, with what caught them."""
    stages = [
        [module_name(module) for module in modules if file in reachable([module], WORKFLOW)]
        for modules in (_all_checks(), _figures())
    ]
    depending = []
    for stage in stages:
        sound.run(stage)
        depending += sorted(stage, key=sound.seconds.__getitem__)
    known = {name: sound.told[name] for name in depending}
    limit = SLOW * (START + sum(sound.seconds[name] for name in depending))
    made, target = 0, sound.workflow / file.relative_to(WORKFLOW)
    right = target.read_bytes()
    drawn = mutants(target) if depending else []
    random.Random(f"{SEED} {file.relative_to(LIBRARY)}").shuffle(drawn)
    for mutant in drawn:
        if made == PER_MODULE:
            break
        target.write_text(mutant.pop("code"), encoding="utf-8")
        found = outcomes(sound.workflow, depending, known, limit)
        if found is not None:
            made += 1
            flipped = [
                check
                for name, (told, _) in found.items()
                for number, check in enumerate(known[name])
                if told[number : number + 1] != [check]
            ]
            by = "/".join(flipped[0][:2]) if flipped else ""
            counts = {"caught": bool(flipped), "flipped": len(flipped)}
            yield mutant | counts | {"checks": sum(map(len, known.values())), "by": by}
    target.write_bytes(right)


def _all_checks() -> list[Path]:
    return [module for paper in PAPERS for module in check_modules(paper)]


def _figures() -> list[Path]:
    return [module_of(paper, name) for paper, name in FIGURES]


def main(modules: list[str]) -> None:
    """Rows of all mutants, written after each."""
    old = pd.read_csv(OUTPUT, keep_default_na=False) if OUTPUT.exists() else pd.DataFrame()
    key = ["file", "kind", "before", "after"]
    said = {tuple(row[key]): row["explanation"] for _, row in old.iterrows()}
    names = modules or [file.relative_to(LIBRARY).as_posix() for file in FORMULAS]
    rows = old.to_dict("records")
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "workflow"
        shutil.copytree(WORKFLOW, copied)
        sound = Sound(copied)
        for name in names:
            rows = [row for row in rows if row["file"] != name]
            for found in tried(LIBRARY / name, sound):
                row = {"file": name, **found}
                known = said.get(tuple(row[k] for k in key), "")
                row["explanation"] = "" if row["caught"] else known
                rows.append(row)
                table = pd.DataFrame(rows).sort_values("file", kind="stable")
                table.to_csv(OUTPUT, index=False, lineterminator="\n")
                print(*row.values(), flush=True)
    print(f"{sum(row['caught'] for row in rows)} of {len(rows)} mutants were caught")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Columns of B on a pattern: b = (G_NN + Λ̃_N)⁻¹ G_Nj for the neighbours N of an item j.

This minimises ‖x_j - X_N b‖² + ‖Λ̃_N^½ b‖² (Steck 2020, Eq. 10 at full rank, without the entries of
B off the pattern; j is not in N). G_NN is counted from the users of the items in N: a user with a
single one of these items adds to the diagonal only, which is known, and is left out. Each of the
other users is one bit of a row of bits per item, and an entry of G_NN is the number of common bits.
Columns whose neighbours are largely the same popular items share these rows.
Beside a low rank, B = off(UV') + S, columns of S have another right side (`Beside`). With entries
of X other than 1, the products are added user by user. Neither takes longer for users with many
items. All sums are in float64.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.base.compiling import compiled_by
from lindrop.linalg.kernels import Array, Csr, compiled

BITS = 64  # users per word
WORDS = 8  # words of bits that are compared at once
PANEL = 8  # rows of a system that are eliminated together
LANES = 8  # numbers of float64 in a cache line; rows begin at multiples of it
CHUNK = 32  # words per pass over the items, so that they stay in the cache
PAYS = 4  # times that columns would look at a user of the items they share, below which none pays
COUNTED = 128  # pairs of words whose common bits are counted while one user is looked at, measured
LARGEST = 1 << 22  # words of the rows of bits that columns share
MOST = 2**31 - 1
ONE, TWO, FOUR, TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)  # shifts of _ones
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


# Multiplications and additions may be fused, and sums may be split into lanes: the result depends
# on the kind of processor, as that of LAPACK does, but not on threads.
fused = compiled_by(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})


class Slots(NamedTuple):
    """Memory of one thread: a number for every user, a list of users, and a number for every item.

    The last place of `slots` holds the base from which the numbers of the current column count;
    smaller ones are those of earlier columns. `row_of` is 0 between two calls.
    """

    slots: Array
    shared: Array
    row_of: Array

    @classmethod
    def of(cls, users: int, items: int) -> "Slots":
        """Memory for these numbers; the list may be overwritten one place beyond its end."""
        slots, shared = np.zeros(users + 1, np.int32), np.empty(users + 1, np.uint32)
        return cls(slots, shared, np.zeros(items, np.int32))


class Beside(NamedTuple):
    """The low-rank part of B = off(UV') + S, beside which columns of S are solved.

    Items have their places. `left` is (G + Λ̃) U, `right` is V, and `factor` is 1 + U_j · V_j: the
    right side of a column is G_Nj factor_j - left_N right_j. Of each column s, `products` receives
    s · G_Nj and `gains` the product of s and its right side, by which it lowers the objective.
    """

    left: Array
    right: Array
    factor: Array
    products: Array
    gains: Array

    @classmethod
    def of(cls, left: Array, right: Array, factor: Array) -> "Beside":
        """These three arrays, with room for the products and gains of all columns."""
        return cls(left, right, factor, np.zeros(len(factor)), np.zeros(len(factor)))


ALONE = Beside.of(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))  # B = S


@compiled
def solve_columns(
    xt: Csr,
    gram_diagonal: Vector,
    penalty: Vector,
    place_of: Array,
    memory: Slots,
    places: Array,
    columns: Array,
    neighbours: Array,
    weights: Array,
    starts: Array,
    lengths: Array,
    beside: Beside,
) -> np.int64:
    """Write the weights of the items at `places` to the columns with the numbers `columns`.

    `neighbours`, `weights`, `starts` and `lengths` are those of `rows.Columns`. `xt` holds X', with
    empty data if all entries of X are 1. It, `gram_diagonal` and `penalty` are in the order of
    places; `place_of` gives the place of an item. Returns the number of the first column whose
    system is singular, or -1.
    """
    first, users, entries = xt
    k = 0
    for own in columns:
        k = max(k, lengths[own])
    local = np.empty(k + 1, np.uint32)
    space = workspace(k)
    bits = np.zeros((0, width(k)), np.uint64)
    part = np.zeros((CHUNK + 1, width(k)), np.uint64)
    solution, counted, right = np.empty(k), np.empty(k), np.empty(k)
    singular = np.int64(-1)
    common = _common_rows(xt, place_of, memory, places, columns, neighbours, starts, lengths)
    for column in range(len(columns)):
        j, own = places[column], columns[column]
        start, size = starts[own], lengths[own]
        if size == 0:
            continue
        for place in range(size):
            local[place] = place_of[neighbours[start + place]]
        local[size] = j
        a = space[: (size + 1) * width(size)].reshape(size + 1, width(size))
        for row in range(size):
            a[row] = 0.0
        if len(common):
            _add_shared(common, memory.row_of, local[: size + 1], part, a)
        else:
            n_shared = _shared_users(first, users, local[: size + 1], memory)
            if len(entries):
                _add_products(xt, local[: size + 1], memory, n_shared, a)
            else:
                words = _words(n_shared)
                if words + 1 > len(bits):
                    bits = np.zeros((2 * words + 1, width(k)), np.uint64)
                bits[: words + 1] = 0
                _set_bits(first, users, local[: size + 1], memory, n_shared, bits)
                _add_common(bits, words, size, a)
            memory.slots[-1] += np.int32(n_shared + BITS)  # beyond all numbers of this column
        for row in range(size):
            a[row, row] = gram_diagonal[local[row]] + penalty[local[row]]
        if len(beside.factor):
            _take_low_rank(a, local, size, beside, counted, right)
        if not solve(a, size, solution):
            singular = np.int64(own)
            break
        if len(beside.factor):
            beside.products[j] = _dot(counted[:size], solution[:size])
            beside.gains[j] = _dot(right[:size], solution[:size])
        for row in range(size):
            weights[start + row] = solution[row]
    if len(common):
        for column in range(len(columns)):
            j, own = places[column], columns[column]
            memory.row_of[j] = 0
            for place in range(starts[own], starts[own] + lengths[own]):
                memory.row_of[place_of[neighbours[place]]] = 0
    return singular


@compiled
def _take_low_rank(
    a: Array, local: Array, size: int, beside: Beside, counted: Array, right: Array
) -> None:
    """Replace the right side G_Nj in column `size` of `a`, which is copied to `counted`."""
    j = local[size]
    for row in range(size):
        counted[row] = a[row, size]
        known = _dot(beside.left[local[row]], beside.right[j])
        right[row] = counted[row] * beside.factor[j] - known
        a[row, size] = right[row]


@compiled
def _words(n_shared: int) -> int:
    """Words of bits for so many users."""
    return -(-n_shared // (BITS * WORDS)) * WORDS


@compiled
def _common_rows(
    xt: Csr,
    place_of: Array,
    memory: Slots,
    places: Array,
    columns: Array,
    neighbours: Array,
    starts: Array,
    lengths: Array,
) -> Array:
    """Rows of bits that all these columns share, or none where they would not pay.

    They pay if many of the columns have the same items, whose users each column alone would have to
    look at, and if the rows are short: every column counts the bits of the users of all columns.
    `memory.row_of` gives the row of an item, from 1 on. The first word of a row is not used.
    """
    first, users, entries = xt
    row_of = memory.row_of
    total = len(columns)
    pairs = np.int64(0)  # pairs of neighbours of a column, over all columns
    for own in columns:
        total += lengths[own]
        pairs += np.int64(lengths[own]) ** 2
    items = np.empty(total, np.uint32)
    n = 0
    alone = together = np.int64(0)
    if len(entries) == 0:
        for column in range(len(columns)):
            own = columns[column]
            for one in range(lengths[own] + 1):
                place = starts[own] + one
                i = places[column] if one == lengths[own] else place_of[neighbours[place]]
                had = np.int64(first[i + 1]) - np.int64(first[i])
                alone += had
                if row_of[i] == 0:
                    together += had
                    items[n] = i
                    n += 1
                    row_of[i] = n
    if alone >= PAYS * together and n:
        n_shared = _shared_users(first, users, items[:n], memory)
        words = _words(n_shared)
        counting = words * pairs // COUNTED
        if alone > together + counting and (n + 1) * (words + 1) <= LARGEST:
            common = np.zeros((n + 1, words + 1), np.uint64)
            _set_bits(first, users, items[:n], memory, n_shared, common[1:].T)
            memory.slots[-1] += np.int32(n_shared + BITS)
            return common
        memory.slots[-1] += np.int32(n + BITS)  # slots still count a user's items, n at most
    for one in range(n):
        row_of[items[one]] = 0
    return np.zeros((0, 1), np.uint64)


@compiled
def _add_shared(common: Array, row_of: Array, local: Array, part: Array, a: Array) -> None:
    """Add to `a` what `_add_common` does, for the items `local` with rows in `common`.

    `part` holds some words of all of them at a time.
    """
    words, size = common.shape[1] - 1, len(local) - 1
    for start in range(0, words, CHUNK):
        some = min(CHUNK, words - start)
        for word in range(1, some + 1, WORDS):
            for column in range(len(local)):
                row = common[row_of[local[column]], start + word : start + word + WORDS]
                for other in range(WORDS):
                    part[word + other, column] = row[other]
        _add_common(part, some, size, a)


@compiled
def _shared_users(first: Array, users: Array, local: Array, memory: Slots) -> int:
    """Number the users who have at least two of the items in `local`; returns how many there are.

    `memory.shared` lists them. The slot of one of them is then its number plus the base and
    `BITS`; that of a user with a single one of the items is the base plus 1.
    """
    slots, shared = memory.slots, memory.shared
    if slots[-1] > MOST - len(slots) - len(local) - BITS:
        slots[:] = 0
    base, n = slots[-1], 0
    once, twice = base + np.int32(1), base + np.int32(2)
    for item in local:
        for place in range(first[item], first[item + 1]):
            u = users[place]
            count = max(slots[u] + np.int32(1), once)
            slots[u] = count
            shared[n] = u
            n += count == twice
    return n


@compiled
def _set_bits(
    first: Array, users: Array, local: Array, memory: Slots, n_shared: int, bits: Array
) -> None:
    """Set the bit of every shared user in the column of each of its items.

    Bits of the other users are set in the first word, which is not used.
    """
    slots, base = memory.slots, memory.slots[-1]
    for number in range(n_shared):
        slots[memory.shared[number]] = base + np.int32(BITS + number)
    for column in range(len(local)):
        item = local[column]
        for place in range(first[item], first[item + 1]):
            position = np.uint32(slots[users[place]] - base)
            mask = np.uint64(1) << np.uint64(position % np.uint32(BITS))
            bits[position // np.uint32(BITS), column] |= mask


@compiled
def _add_common(bits: Array, words: int, size: int, a: Array) -> None:
    """Add to a[i, b], for i < size and i < b <= size, the number of common bits of i and b.

    The bits are in rows 1 to `words` of `bits`. Entries of `a` below the diagonal are overwritten.
    """
    for start in range(1, words + 1, CHUNK):
        for i in range(size):
            for word in range(start, min(start + CHUNK, words + 1), WORDS):
                _count(bits, word, i, a[i])


@compiled
def _count(bits: Array, word: int, i: int, sums: Array) -> None:
    """Add to every entry of `sums` from i on the common bits of its column and column i.

    Eight words are compared. The compiler vectorises the loop, as rows are sliced one by one.
    """
    first = i - i % LANES
    row, at = sums[first:], i - first
    w0, w1 = bits[word, first:], bits[word + 1, first:]
    w2, w3 = bits[word + 2, first:], bits[word + 3, first:]
    w4, w5 = bits[word + 4, first:], bits[word + 5, first:]
    w6, w7 = bits[word + 6, first:], bits[word + 7, first:]
    i0, i1, i2, i3 = w0[at], w1[at], w2[at], w3[at]
    i4, i5, i6, i7 = w4[at], w5[at], w6[at], w7[at]
    for b in range(len(row)):
        row[b] += np.int64(
            (_ones(i0 & w0[b]) + _ones(i1 & w1[b]) + _ones(i2 & w2[b]) + _ones(i3 & w3[b]))
            + (_ones(i4 & w4[b]) + _ones(i5 & w5[b]) + _ones(i6 & w6[b]) + _ones(i7 & w7[b]))
        )


@compiled
def _ones(word: Array) -> Array:
    """Number of bits of a word that are 1, which compilers replace by one instruction."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    word = (word + (word >> FOUR)) & EIGHTS
    return (word * BYTES) >> TOP


@compiled
def _add_products(xt: Csr, local: Array, memory: Slots, n_shared: int, a: Array) -> None:
    """Add to a[i, b], for i < b, the sum of the products of the entries of items i and b of X."""
    first, users, entries = xt
    slots, base = memory.slots, memory.slots[-1]
    ends = np.zeros(n_shared + 1, np.int64)
    for number in range(n_shared):
        u = memory.shared[number]
        ends[number + 1] = ends[number] + slots[u] - base
        slots[u] = base + np.int32(BITS + number)
    begins = ends.copy()
    columns, values = np.empty(ends[-1], np.int64), np.empty(ends[-1])
    for column in range(len(local)):
        item = local[column]
        for place in range(first[item], first[item + 1]):
            number = slots[users[place]] - base - BITS
            if number >= 0:
                columns[begins[number]], values[begins[number]] = column, entries[place]
                begins[number] += 1
    for number in range(n_shared):
        for one in range(ends[number], ends[number + 1]):
            row, value = a[columns[one]], values[one]
            for other in range(one + 1, ends[number + 1]):
                row[columns[other]] += value * values[other]


@fused
def width(size: int) -> int:
    """Length of a row of a system of `size` unknowns and its right side, in whole cache lines."""
    return (size + LANES) // LANES * LANES


@fused
def workspace(size: int) -> Array:
    """Zeros for a system of at most `size` unknowns, beginning at a cache line.

    One more row is reserved, because `_subtract_panel` may overwrite it.
    """
    length = (size + 1) * width(size)
    raw = np.zeros(length + LANES)
    skipped = (LANES - raw.ctypes.data // 8 % LANES) % LANES
    return raw[skipped : skipped + length]


@fused
def solve(a: Array, size: int, solution: Array) -> bool:
    """Solve a system in place; False if its matrix is not positive definite.

    The upper triangle of the matrix is in the first `size` rows and columns of `a`, the right side
    in column `size`. The rest of `a` is overwritten. The matrix becomes U with U'U = A, and the
    right side U'⁻¹ times itself, as one more column; back substitution follows.
    """
    if not _factorise(a, size):
        return False
    for row in range(size - 1, -1, -1):
        known = _dot(a[row, row + 1 : size], solution[row + 1 : size])
        solution[row] = (a[row, size] - known) / a[row, row]
    return True


@fused
def _dot(left: Array, right: Array) -> float:
    """Sum of the products of two vectors."""
    total = 0.0
    for j in range(len(left)):
        total += left[j] * right[j]
    return total


@fused
def _factorise(a: Array, size: int) -> bool:
    """Replace the upper triangle of A by U with U'U = A, panel by panel.

    Rows are updated from an aligned column at or before their diagonal: a few entries below it are
    computed in vain, but loads are those of whole cache lines.
    """
    for start in range(0, size, PANEL):
        stop = min(start + PANEL, size)
        for r in range(start, stop):
            pivot = a[r, r]
            if not pivot > 0.0:
                return False
            scale = 1.0 / np.sqrt(pivot)
            row = a[r, start:]
            for j in range(len(row)):
                row[j] *= scale
            for below in range(r + 1, stop):
                factor, other = a[r, below], a[below, start:]
                for j in range(len(row)):
                    other[j] -= factor * row[j]
        for i in range(stop, size, 2):
            _subtract_panel(a, start, i)
    return True


@fused
def _subtract_panel(a: Array, start: int, i: int) -> None:
    """Subtract from rows i and i + 1 the eight rows from `start` times their entries i and i + 1.

    Two rows at a time, so that each entry of the panel is loaded half as often; the second may lie
    below the system. Rows are sliced one by one: of a slice of the matrix, the compiler would not
    know that the entries of a row follow each other.
    """
    first = i - i % LANES
    at = i - first
    row, other = a[i, first:], a[i + 1, first:]
    p0, p1, p2, p3 = (
        a[start, first:],
        a[start + 1, first:],
        a[start + 2, first:],
        a[start + 3, first:],
    )
    p4, p5 = a[start + 4, first:], a[start + 5, first:]
    p6, p7 = a[start + 6, first:], a[start + 7, first:]
    f0, f1, f2, f3 = p0[at], p1[at], p2[at], p3[at]
    f4, f5, f6, f7 = p4[at], p5[at], p6[at], p7[at]
    g0, g1, g2, g3 = p0[at + 1], p1[at + 1], p2[at + 1], p3[at + 1]
    g4, g5, g6, g7 = p4[at + 1], p5[at + 1], p6[at + 1], p7[at + 1]
    for j in range(len(row)):
        c0, c1, c2, c3, c4, c5, c6, c7 = p0[j], p1[j], p2[j], p3[j], p4[j], p5[j], p6[j], p7[j]
        row[j] -= (f0 * c0 + f1 * c1 + f2 * c2 + f3 * c3) + (f4 * c4 + f5 * c5 + f6 * c6 + f7 * c7)
        other[j] -= (g0 * c0 + g1 * c1 + g2 * c2 + g3 * c3) + (
            g4 * c4 + g5 * c5 + g6 * c6 + g7 * c7
        )

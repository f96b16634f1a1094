"""Several topics at a time: numbers side by side in registers, as the kernels of `sweep` need them.

A loop over topics that the compiler widens by itself keeps its sums in memory, tests before each
start whether arrays overlap, and adds up in an order that depends on the processor. Here a kernel
says what it wants: `load` takes lanes from a row, `plus_times` adds products to them, `store` puts
them back. Sizes are in bytes: 256 are 64 topics in single precision and 32 in double precision.

Rows are contiguous and as long as a multiple of the size that is asked for; nothing is checked.
Row and column are unsigned. Without the compiler lanes are plain arrays.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

# A product and the sum that it is added to may be one operation, which rounds once.
FLAGS = ("reassoc", "contract")
I32, I64 = ir.IntType(32), ir.IntType(64)


class Lanes(types.Type):
    """The type of so many numbers side by side, all of them float32 or all float64."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(f"lanes({dtype}, {count})")

    @classmethod
    def of_size(cls, dtype: Any, size: int) -> "Lanes":
        """Return the type of as many as take `size` bytes."""
        return cls(dtype, 8 * size // dtype.bitwidth)

    @property
    def vector(self) -> ir.VectorType:
        """What the compiler calls it."""
        item = ir.FloatType() if self.dtype == types.float32 else ir.DoubleType()
        return ir.VectorType(item, self.count)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, lanes.vector)


# -- pieces of code --------------------------------------------------------------------------------


def wide(builder: Any, number: Any) -> Any:
    """Return an unsigned number with 64 bits."""
    return number if number.type.width == 64 else builder.zext(number, I64)


def address(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Any:
    """Return where array[row, column] stands, as a number."""
    made = context.make_array(kind)(context, builder, array)
    stride = cgutils.unpack_tuple(builder, made.strides)[0]
    begin = builder.ptrtoint(made.data, I64)
    begin = builder.add(begin, builder.mul(wide(builder, row), stride))
    size = ir.Constant(I64, kind.dtype.bitwidth // 8)
    return builder.add(begin, builder.mul(wide(builder, column), size))


def read(builder: Any, place: Any, lanes: Lanes) -> Any:
    """Return the lanes at an address."""
    pointer = builder.inttoptr(place, lanes.vector.as_pointer())
    return builder.load(pointer, align=lanes.dtype.bitwidth // 8)


def write(builder: Any, value: Any, place: Any, lanes: Lanes) -> None:
    """Put lanes to an address."""
    pointer = builder.inttoptr(place, lanes.vector.as_pointer())
    builder.store(value, pointer, align=lanes.dtype.bitwidth // 8)


def repeated(builder: Any, number: Any, lanes: Lanes) -> Any:
    """Return lanes that all have this number."""
    nothing = ir.Constant(lanes.vector, ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(I32, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(I32, lanes.count), None))


def added(builder: Any, a: Any, b: Any) -> Any:
    """Return a + b."""
    return builder.fadd(a, b, flags=FLAGS)


def added_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """Return total + a * b."""
    return added(builder, total, builder.fmul(a, b, flags=FLAGS))


def _chosen(builder: Any, a: Any, b: Any, places: Sequence[int]) -> Any:
    """Return lanes of a and, numbered on, of b."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(places)), list(places)))


def _halved(builder: Any, value: Any, count: int) -> Any:
    """Add the halves of the lanes until `count` are left."""
    while value.type.count > count:
        half = value.type.count // 2
        parts = [_chosen(builder, value, value, range(i, i + half)) for i in (0, half)]
        value = added(builder, *parts)
    return value


def _only(builder: Any, value: Any) -> Any:
    return builder.extract_element(_halved(builder, value, 1), ir.Constant(I32, 0))


# -- what kernels call -----------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def load(typingctx: Any, array: Any, row: Any, column: Any, size: Any) -> Any:
    """Return `size` bytes of array[row] from a column on."""
    lanes = Lanes.of_size(array.dtype, size.literal_value)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return read(builder, address(context, builder, signature.args[0], *args[:3]), lanes)

    return lanes(array, row, column, size), code


@intrinsic(prefer_literal=True)
def count_of(typingctx: Any, array: Any, size: Any) -> Any:
    """Return how many numbers of an array take `size` bytes; the compiler knows it."""
    count = Lanes.of_size(array.dtype, size.literal_value).count

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(I64, count)

    return types.uint64(array, size), code


@intrinsic
def store(typingctx: Any, array: Any, row: Any, column: Any, value: Any) -> Any:
    """Put lanes into array[row] from a column on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = address(context, builder, signature.args[0], *args[:3])
        write(builder, args[3], place, value)
        return context.get_dummy_value()

    return types.void(array, row, column, value), code


@intrinsic(prefer_literal=True)
def load_flat(typingctx: Any, array: Any, place: Any, count: Any) -> Any:
    """Return array[place : place + count] of a flat array."""
    lanes = Lanes(array.dtype, count.literal_value)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        return read(builder, builder.ptrtoint(builder.gep(made.data, [args[1]]), I64), lanes)

    return lanes(array, place, count), code


@intrinsic
def store_flat(typingctx: Any, array: Any, place: Any, value: Any) -> Any:
    """Put lanes into a flat array from a place on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        write(builder, args[2], builder.ptrtoint(builder.gep(made.data, [args[1]]), I64), value)
        return context.get_dummy_value()

    return types.void(array, place, value), code


@intrinsic(prefer_literal=True)
def first(typingctx: Any, number: Any, size: Any) -> Any:
    """Return lanes of zeros but for the first, which is this number."""
    lanes = Lanes.of_size(number, size.literal_value)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = ir.Constant(lanes.vector, None)
        return builder.insert_element(zeros, args[0], ir.Constant(I32, 0))

    return lanes(number, size), code


@intrinsic
def add_products(typingctx: Any, sums: Any, factor: Any, array: Any, rows: Any, column: Any) -> Any:
    """Return sums[i] + factor * array[rows[i]] for each i; sums are lanes, from a column on."""
    lanes = factor

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = []
        for i in range(len(rows)):
            total, row = (builder.extract_value(args[part], i) for part in (0, 3))
            place = address(context, builder, signature.args[2], args[2], row, args[4])
            found.append(added_product(builder, total, args[1], read(builder, place, lanes)))
        return context.make_tuple(builder, signature.return_type, found)

    return sums(sums, factor, array, rows, column), code


@intrinsic
def plus_rows(typingctx: Any, total: Any, factors: Any, array: Any, rows: Any, column: Any) -> Any:
    """Return total + sum_i factors[i] * array[rows[i]], one or four rows, from a column on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = args[0]
        for i in (0,) if len(rows) == 1 else (1, 0, 3, 2):  # always in one order
            row = builder.extract_value(args[3], i)
            place = address(context, builder, signature.args[2], args[2], row, args[4])
            factor = builder.extract_element(args[1], ir.Constant(I32, i))
            by = repeated(builder, factor, total)
            value = added_product(builder, value, by, read(builder, place, total))
        return value

    return total(total, factors, array, rows, column), code


@intrinsic
def total_of(typingctx: Any, value: Any) -> Any:
    """Return the sum of the lanes: halves are added until one is left."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _only(builder, args[0])

    return value.dtype(value), code


@intrinsic
def total_of_quarters(typingctx: Any, value: Any) -> Any:
    """Return the sum of the lanes: quarters one after the other, then halves of what they gave."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _sum_of_quarters(builder, args[0])

    return value.dtype(value), code


def _sum_of_quarters(builder: Any, value: Any) -> Any:
    size = value.type.count // 4
    starts = range(0, value.type.count, size)
    total, *rest = (_chosen(builder, value, value, range(i, i + size)) for i in starts)
    for quarter in rest:
        total = added(builder, quarter, total)
    return _only(builder, total)


@intrinsic(prefer_literal=True)
def firsts(typingctx: Any, values: Any, size: Any) -> Any:
    """Return for each of several lanes what `first` has of its `total_of_quarters`."""
    lanes = Lanes.of_size(values[0].dtype, size.literal_value)
    result = types.UniTuple(lanes, len(values))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros, found = ir.Constant(lanes.vector, None), []
        for i in range(len(values)):
            total = _sum_of_quarters(builder, builder.extract_value(args[0], i))
            found.append(builder.insert_element(zeros, total, ir.Constant(I32, 0)))
        return context.make_tuple(builder, result, found)

    return result(values, size), code


@intrinsic
def totals(typingctx: Any, values: Any) -> Any:
    """Return what `total_of` has of each of one or four lanes, side by side."""
    result = Lanes(values[0].dtype, len(values))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        each = [builder.extract_value(args[0], i) for i in range(len(values))]
        if len(each) == 1:
            return _halved(builder, each[0], 1)
        a, b, c, d = (_halved(builder, value, 4) for value in each)
        halves = []
        for x, y in ((a, b), (c, d)):  # x0 + x2, x1 + x3, y0 + y2, y1 + y3
            parts = (_chosen(builder, x, y, p) for p in ((0, 1, 4, 5), (2, 3, 6, 7)))
            halves.append(added(builder, *parts))
        parts = (_chosen(builder, *halves, p) for p in ((0, 2, 4, 6), (1, 3, 5, 7)))
        return added(builder, *parts)

    return result(values), code


@intrinsic
def n_below(typingctx: Any, value: Any, floor: Any) -> Any:
    """Return how many of the lanes are below the floor."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        below = builder.fcmp_ordered("<", args[0], repeated(builder, args[1], value))
        bits = builder.bitcast(below, ir.IntType(value.count))
        return builder.ctpop(builder.zext(bits, I64))

    return types.int64(value, floor), code


@intrinsic
def at_least(typingctx: Any, value: Any, floor: Any) -> Any:
    """Return the lanes, and the floor for those below it; NaN stays."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        floors = repeated(builder, args[1], value)
        return builder.select(builder.fcmp_ordered(">", floors, args[0]), floors, args[0])

    return value(value, floor), code


@intrinsic
def divided(typingctx: Any, a: Any, b: Any) -> Any:
    """Return a / b."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fdiv(*args)

    return a(a, b), code


@intrinsic
def shares_of(typingctx: Any, value: Any, mass: Any, tiny: Any) -> Any:
    """Return value / mass, computed in double precision, and 0 for shares below `tiny`."""
    doubles = Lanes(types.float64, value.count)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        is_single = value.dtype != types.float64
        counts = builder.fpext(args[0], doubles.vector) if is_single else args[0]
        shares = builder.fdiv(counts, repeated(builder, args[1], doubles))
        enough = builder.fcmp_ordered(">=", shares, repeated(builder, args[2], doubles))
        shares = builder.select(enough, shares, ir.Constant(doubles.vector, None))
        return builder.fptrunc(shares, value.vector) if is_single else shares

    return value(value, mass, tiny), code


if config.DISABLE_JIT:

    def load(array: Any, row: Any, column: Any, size: int) -> Any:
        """Return a copy of the numbers."""
        return array[row, column : column + size // array.itemsize].copy()

    def count_of(array: Any, size: int) -> Any:
        """Return how many numbers it takes."""
        return np.uint64(size // array.itemsize)

    def store(array: Any, row: Any, column: Any, value: Any) -> None:
        """Put the numbers there."""
        array[row, column : column + len(value)] = value

    def load_flat(array: Any, place: Any, count: int) -> Any:
        """Return a copy of the numbers."""
        return array[place : place + count].copy()

    def store_flat(array: Any, place: Any, value: Any) -> None:
        """Put the numbers there."""
        array[place : place + len(value)] = value

    def first(number: Any, size: int) -> Any:
        """Return zeros but for the first."""
        return np.append(number, np.zeros(size // number.itemsize - 1, number.dtype))

    def add_products(sums: Any, factor: Any, array: Any, rows: Any, column: Any) -> Any:
        """Return the sums."""
        here = slice(column, column + len(factor))
        return tuple(s + factor * array[r, here] for s, r in zip(sums, rows, strict=True))

    def plus_rows(total: Any, factors: Any, array: Any, rows: Any, column: Any) -> Any:
        """Return the sum."""
        here = slice(column, column + len(total))
        return total + sum(f * array[r, here] for f, r in zip(factors, rows, strict=True))

    def total_of(value: Any) -> Any:
        """Return the sum."""
        return value.sum()

    total_of_quarters = total_of

    def firsts(values: Any, size: int) -> Any:
        """Return the sums, each before zeros."""
        return tuple(first(value.sum(), size) for value in values)

    def totals(values: Any) -> Any:
        """Return the sums."""
        return np.array([value.sum() for value in values])

    def n_below(value: Any, floor: Any) -> Any:
        """Return how many."""
        return int((value < floor).sum())

    at_least, divided = np.maximum, np.divide

    def shares_of(value: Any, mass: Any, tiny: Any) -> Any:
        """Return the shares."""
        shares = np.float64(value) / mass
        return np.where(shares >= tiny, shares, 0.0)

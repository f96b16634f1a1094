"""`add_rows`: the weighted sum of some rows of an array, held in registers until it is complete.

Most columns of a block have a handful of entries, so what counts is how soon a sum begins and ends.
As many topics as fit into registers are summed over all rows, then the next ones: 256 bytes of each
row at a time, and less for what is left.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from coview.kernels.lanes import I64, Lanes, added, added_product, address, read, repeated, write

SIZES = (256, 128, 64, 32)  # bytes of a row that are summed at a time
# Of each eight rows these come first, and so on: any order would do, but not another one each time.
_ORDER = (5, 4, 7, 6, 1, 0, 3, 2)


@intrinsic
def add_rows(
    typingctx: Any, array: Any, rows: Any, factors: Any, begin: Any, end: Any, into: Any, at: Any
) -> Any:
    """Add the sum of factors[j] * array[rows[j]] over begin <= j < end to into[at].

    array and into have two axes, rows and factors one; begin, end and at are unsigned.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for size in SIZES:
            _add_columns(context, builder, signature.args, args, size)
        return context.get_dummy_value()

    return types.void(array, rows, factors, begin, end, into, at), code


def _add_columns(context: Any, builder: Any, kinds: Any, args: Any, size: int) -> None:
    """Write the code for as many columns as can be taken `size` bytes at a time."""
    array, _, _, begin, end, into, at = args
    lanes = Lanes.of_size(kinds[0].dtype, size)
    sums = Lanes(kinds[5].dtype, lanes.count)
    made = context.make_array(kinds[0])(context, builder, array)
    width = cgutils.unpack_tuple(builder, made.shape)[1]
    start, stop = _columns_of(builder, width, lanes.count, size == SIZES[0])
    total = cgutils.alloca_once(builder, lanes.vector)

    def add_row(j: Any, column: Any) -> None:
        row, factor = (_item(context, builder, kinds[i], args[i], j) for i in (1, 2))
        value = read(builder, address(context, builder, kinds[0], array, row, column), lanes)
        by = repeated(builder, factor, lanes)
        builder.store(added_product(builder, builder.load(total), by, value), total)

    one, eight = ir.Constant(I64, 1), ir.Constant(I64, 8)
    eights = builder.sub(builder.sub(end, begin), builder.urem(builder.sub(end, begin), eight))
    middle = builder.add(begin, eights)
    with _steps(builder, start, stop, ir.Constant(I64, lanes.count)) as column:
        builder.store(ir.Constant(lanes.vector, None), total)
        with _steps(builder, begin, middle, eight) as j:
            for i in _ORDER:
                add_row(builder.add(j, ir.Constant(I64, i)), column)
        with _steps(builder, middle, end, one) as j:
            add_row(j, column)
        value = builder.load(total)
        if sums.dtype != lanes.dtype:
            value = builder.fpext(value, sums.vector)
        place = address(context, builder, kinds[5], into, at, column)
        write(builder, added(builder, read(builder, place, sums), value), place, sums)


def _columns_of(builder: Any, width: Any, count: int, is_largest: bool) -> tuple[Any, Any]:
    """Return first and last column to be taken `count` at a time: all but what larger ones took."""
    stop = builder.sub(width, builder.urem(width, ir.Constant(I64, count)))
    if is_largest:
        return ir.Constant(I64, 0), stop
    return builder.sub(width, builder.urem(width, ir.Constant(I64, 2 * count))), stop


def _item(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    made = context.make_array(kind)(context, builder, array)
    return builder.load(builder.gep(made.data, [place]))


@contextmanager
def _steps(builder: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    with cgutils.for_range_slice(builder, start, stop, step) as (number, _):
        yield number


if config.DISABLE_JIT:

    def add_rows(
        array: Any, rows: Any, factors: Any, begin: Any, end: Any, into: Any, at: Any
    ) -> None:
        """Add the sum of the rows."""
        for j in range(begin, end):
            into[at] += factors[j] * array[rows[j]]

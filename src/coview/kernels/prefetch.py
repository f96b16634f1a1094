"""`prefetch_row`, `prefetch`: tell the processor which part of an array will be read soon.

The rows of p(w|z) that a document needs are all over the memory, and only the kernel knows which
come next. The hint changes no result: what is not there in time is waited for as before.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from coview.kernels.lanes import I32, I64, address

LINE = 64  # bytes of a cache line


@intrinsic
def prefetch_row(typingctx: Any, array: Any, row: Any) -> Any:
    """Fetch all cache lines of array[row], (rows, columns); row is unsigned and in range."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        columns = cgutils.unpack_tuple(builder, made.shape)[1]
        zero, line = ir.Constant(I64, 0), ir.Constant(I64, LINE)
        begin = address(context, builder, signature.args[0], *args, zero)
        size = builder.mul(columns, ir.Constant(I64, array.dtype.bitwidth // 8))
        with cgutils.for_range_slice(builder, zero, size, line) as (offset, _):
            _fetch(builder, builder.add(begin, offset))
        return context.get_dummy_value()

    return types.void(array, row), code


@intrinsic(prefer_literal=True)
def prefetch(typingctx: Any, array: Any, rows: Any, column: Any, size: Any) -> Any:
    """Fetch the cache lines of `size` bytes from a column on, of each of a tuple of rows.

    One after the other, between loads, they keep the memory busy; all at once they queue up.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for i in range(len(rows)):
            row = builder.extract_value(args[1], i)
            begin = address(context, builder, signature.args[0], args[0], row, args[2])
            for offset in range(0, size.literal_value, LINE):
                _fetch(builder, builder.add(begin, ir.Constant(I64, offset)))
        return context.get_dummy_value()

    return types.void(array, rows, column, size), code


def _fetch(builder: Any, place: Any) -> None:
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    # to be read (0), into the nearest cache (3), data (1)
    flags = (ir.Constant(I32, flag) for flag in (0, 3, 1))
    builder.call(fetch, [builder.inttoptr(place, pointer), *flags])


if config.DISABLE_JIT:  # there is nothing to tell the processor then

    def prefetch_row(array: Any, row: Any) -> None:
        """Do nothing."""

    def prefetch(array: Any, rows: Any, column: Any, size: int) -> None:
        """Do nothing."""

"""`prefetch_row`: tell the processor which row of an array will be read soon.

The rows of p(w|z) that a document needs are all over the memory, and only the kernel knows which
come next. The hint changes no result: a row that is not there in time is waited for as before.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

LINE = 64  # bytes of a cache line
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


@intrinsic
def prefetch_row(typingctx: Any, array: Any, row: Any) -> Any:
    """Fetch all cache lines of array[row], (rows, columns); row is unsigned and in range."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        stride, item = cgutils.unpack_tuple(builder, made.strides)
        columns = cgutils.unpack_tuple(builder, made.shape)[1]
        number = args[1] if args[1].type.width == 64 else builder.zext(args[1], _I64)
        begin = builder.add(builder.ptrtoint(made.data, _I64), builder.mul(number, stride))
        pointer = _I8.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _I32, _I32, _I32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        size, zero, line = builder.mul(columns, item), ir.Constant(_I64, 0), ir.Constant(_I64, LINE)
        with cgutils.for_range_slice(builder, zero, size, line) as (offset, _):
            place = builder.inttoptr(builder.add(begin, offset), pointer)
            # to be read (0), into the nearest cache (3), data (1)
            builder.call(fetch, [place, *(ir.Constant(_I32, flag) for flag in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, row), code


if config.DISABLE_JIT:  # there is nothing to tell the processor then

    def prefetch_row(array: Any, row: Any) -> None:
        """Do nothing."""

"""`plus_logs`: logarithms of many quotients at a time, in double precision.

A library call for each logarithm would cost a third of a sweep with 20 topics. Here p = 2**e m with
m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh(f) with f = (m - 1) / (m + 1) as a series in f;
|f| < 0.172 makes the first term left out smaller than 1e-16.
"""

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config
from numba.extending import intrinsic

from coview.kernels.lanes import FLAGS, I32, I64, Lanes, added, added_product

SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
LOG_2 = 0.6931471805599453
SERIES = tuple(2 / n for n in range(19, 1, -2))  # of log m / f in f * f, but for its last term, 2


@intrinsic
def plus_logs(typingctx: Any, total: Any, data: Any, ratio: Any) -> Any:
    """Return total + data * log(data / ratio); data and ratio are positive, and not subnormal.

    The total has double precision, data and ratio may have single precision.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data_, ratio_ = (_doubled(builder, value, total) for value in args[1:])
        logs = _logs(builder, builder.fdiv(data_, ratio_, flags=FLAGS), total)
        return added_product(builder, args[0], data_, logs)

    return total(total, data, ratio), code


def _doubled(builder: Any, value: Any, lanes: Lanes) -> Any:
    return value if value.type == lanes.vector else builder.fpext(value, lanes.vector)


def _all(kind: Any, number: Any, count: int) -> Any:
    return ir.Constant(ir.VectorType(kind, count), [number] * count)


def _logs(builder: Any, value: Any, lanes: Lanes) -> Any:
    """Return the logarithm of each lane."""
    whole = partial(_all, I64, count=lanes.count)
    number = partial(_all, ir.DoubleType(), count=lanes.count)
    bits = builder.bitcast(value, ir.VectorType(I64, lanes.count))
    exponent = builder.ashr(builder.sub(bits, whole(SQRT_HALF)), whole(52))
    bits = builder.sub(bits, builder.shl(exponent, whole(52)))
    m = builder.bitcast(bits, lanes.vector)
    top, bottom = added(builder, m, number(-1.0)), added(builder, m, number(1.0))
    f = builder.fdiv(top, bottom, flags=FLAGS)
    q = builder.fmul(f, f, flags=FLAGS)
    s = number(SERIES[0])
    for term in (*SERIES[1:], 2.0):
        s = added(builder, builder.fmul(q, s, flags=FLAGS), number(term))
    short = builder.trunc(exponent, ir.VectorType(I32, lanes.count))  # all processors convert these
    e = builder.sitofp(short, lanes.vector)
    scaled = builder.fmul(e, number(LOG_2), flags=FLAGS)
    return added(builder, scaled, builder.fmul(f, s, flags=FLAGS))


if config.DISABLE_JIT:

    def plus_logs(total: Any, data: Any, ratio: Any) -> Any:
        """Return total + data * log(data / ratio)."""
        quotient = np.float64(data) / np.float64(ratio)
        return total + data * np.log(quotient)

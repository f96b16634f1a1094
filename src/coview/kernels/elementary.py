"""`exp` and `log` of double precision that a compiler can turn into vector instructions.

Calls of the C library keep a loop scalar, and take most of the time of a Newton step. Here a number
is taken apart by its bits, without branches, so that a loop over topics works on several at once.
Both are right to some 1e-16 of the result (`log` near 1: of the argument's distance from 1).

They may not be reassociated: adding a large number and taking it away again is how they round. So
`fastmath` is set here, since numba hands that of a caller down to functions that set none.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_ROUND = 6755399441055744.0  # 1.5 * 2**52: a number added to it is rounded to an integer
_HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_TWO_52 = 0x4330000000000000  # the bits of 2**52
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@intrinsic
def bits_of(typingctx: Any, number: Any) -> Any:
    """Return the bits of a float64 as an int64."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), code


@intrinsic
def from_bits(typingctx: Any, bits: Any) -> Any:
    """Return the float64 that has the bits of an int64."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), code


if config.DISABLE_JIT:

    def bits_of(number: Any) -> Any:
        """Return the bits of a float64 as an int64."""
        return np.float64(number).view(np.int64)

    def from_bits(bits: Any) -> Any:
        """Return the float64 that has the bits of an int64."""
        return np.int64(bits).view(np.float64)


@njit(**_OPTIONS)
def exp(x):
    """Return exp(x) of a number up to 700; 0 below -700, where the results are subnormal."""
    inside = max(x, -700.0)
    rounded = inside * 1.4426950408889634 + _ROUND  # n = x / ln 2, as an integer
    n = rounded - _ROUND
    r = (inside - n * _LN2_HIGH) - n * _LN2_LOW  # |r| <= ln(2) / 2
    p = 1 / 39916800 + r * (1 / 479001600 + r * (1 / 6227020800))
    p = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * p)))
    p = 1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * p)))
    p = 1.0 + r * (1.0 + r * (0.5 + r * p))
    # times 2**n: the last bits of `rounded` are those of n, and become the exponent
    found = from_bits(bits_of(p) + (bits_of(rounded) << np.int64(52)))
    return found if x >= -700.0 else 0.0


@njit(**_OPTIONS)
def log(x):
    """Return log(x) of a number that is positive and not subnormal."""
    exponent, mantissa = _parts(x)
    return exponent * 0.6931471805599453 + _two_artanh((mantissa - 1.0) / (mantissa + 1.0))


@njit(**_OPTIONS)
def log_ratio(b, a, difference):
    """Return log(b / a) of positive numbers, where difference = b - a without rounding errors."""
    exponent, mantissa = _parts(b / a)
    near = abs(difference) < 0.1 * a
    f = difference / (a + b) if near else (mantissa - 1.0) / (mantissa + 1.0)
    return (0.0 if near else exponent * 0.6931471805599453) + _two_artanh(f)


@njit(**_OPTIONS)
def _parts(x):
    """Return e and m with x = 2**e m and m in [sqrt(1/2), sqrt(2))."""
    bits = bits_of(x)
    biased = (bits - np.int64(_HALF_ROOT) + np.int64(1024 << 52)) >> np.int64(52)  # e + 1024
    exponent = from_bits(biased | np.int64(_TWO_52)) - 4503599627371520.0  # - 2**52 - 1024
    return exponent, from_bits(bits - ((biased - np.int64(1024)) << np.int64(52)))


@njit(**_OPTIONS)
def _two_artanh(f):
    """Return 2 artanh(f), |f| < 0.172, as a series: the first term left out is below 1e-16."""
    q = f * f
    s = 2 / 15 + q * (2 / 17 + q * (2 / 19))
    s = 2 / 9 + q * (2 / 11 + q * (2 / 13 + q * s))
    s = 2 / 3 + q * (2 / 5 + q * (2 / 7 + q * s))
    return f * (2.0 + q * s)

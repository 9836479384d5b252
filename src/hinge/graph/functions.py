"""The functions of the table: sine, exponential and the rest, each written once for every back end.

There is no vector math library to rely on, and one would not give the same bits on every machine, so each function is
a few lines of arithmetic on a machine (machine.py): reduced to a short range, a polynomial there, and carried back.
Errors stay below two units in the last place over the whole range (those of sine and cosine below two and a half for
angles beyond 1e3); powers of two and bits are exact. In single
precision sine and cosine reduce an angle in double, so that no digits are lost there, the arc tangent is single
throughout, and all others are computed in double and rounded.
"""

from __future__ import annotations

import numpy as np

from hinge.graph.expr import Scalar
from hinge.graph.machine import Machine, Truth, Value, Whole, in_double
from hinge.graph.ops import Function, function, sqrt

TRIG_LIMIT = 1e9  # beyond this an angle in double precision no longer says where on the circle it is
ROUND = 6755399441055744.0  # 1.5 × 2^52: adding it leaves a whole number in the low bits
NAN, INF = float("nan"), float("inf")


def polynomial(m: Machine, coefficients: tuple[float, ...], z: Value) -> Value:
    """By Horner's rule, the highest power first."""
    p = m.constant(coefficients[0])
    for coefficient in coefficients[1:]:
        p = m.fma(p, z, m.constant(coefficient))
    return p


# ---- sine and cosine

# pi/2 in three parts of 33 bits and a rest: a multiple below 2^30 of each part is exact
HALF_PI = (
    1.57079632673412561417e00,
    6.07710050630396597660e-11,
    2.02226624871116645580e-21,
    8.47842766036889956997e-32,
)
# minimax polynomials in x² on |x| ≤ pi/4, highest power first: (sin x - x) / x³ and (cos x - 1 + x²/2) / x⁴
SINE = (1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
        8.33333333332211858878e-3, -1.66666666666666307295e-1)  # fmt: skip
COSINE = (-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
          -1.38888888888730564116e-3, 4.16666666666665929218e-2)  # fmt: skip
# the same with as many terms as single precision can hold
SHORT_SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
SHORT_COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def sine_and_cosine(m: Machine, x: Value) -> tuple[Value, Value]:
    """The sine and the cosine of x, which is k pi/2 plus at most pi/4."""
    r, quadrant = _reduced_in_double(m, x) if m.single else _reduced(m, x)
    sines, cosines = (SHORT_SINE, SHORT_COSINE) if m.single else (SINE, COSINE)
    z = m.mul(r, r)
    s = m.fma(m.mul(r, z), polynomial(m, sines, z), r)
    c = m.fma(m.mul(z, z), polynomial(m, cosines, z), m.fma(z, m.constant(-0.5), m.constant(1.0)))

    # odd quadrants swap them; the second bit is the sign
    odd = m.nonzero(m.int_and(quadrant, m.integer(1)))
    sine = _signed(m, m.select(odd, c, s), quadrant)
    cosine = _signed(m, m.select(odd, s, c), m.int_add(quadrant, m.integer(1)))
    return sine, cosine


def _reduced(m: Machine, x: Value) -> tuple[Value, Whole]:
    """x less a multiple of pi/2, at most pi/4, and the multiple's low bits."""
    inside = m.less(m.abs(x), m.constant(TRIG_LIMIT))
    x = m.select(inside, x, m.constant(NAN))
    shifted = m.fma(x, m.constant(0.63661977236758134308), m.constant(ROUND))
    k = m.sub(shifted, m.constant(ROUND))
    for part in HALF_PI:
        x = m.fma(k, m.constant(-part), x)
    return x, m.bits(shifted)


def _reduced_in_double(m: Machine, x: Value) -> tuple[Value, Whole]:
    """An angle of single precision within a quadrant, by way of a double."""
    wide = m.wider()
    r, quadrant = _reduced(wide, m.widen(x))
    narrow = m.narrow_bits(quadrant)
    return m.narrow(r), narrow


def _signed(m: Machine, x: Value, quadrant: Whole) -> Value:
    """x, negated where bit 1 of the quadrant is set."""
    sign = m.left(m.int_and(quadrant, m.integer(2)), 30 if m.single else 62)
    return m.from_bits(m.int_xor(m.bits(x), sign))


sin = function(
    "sin", 1, "Sine of an angle in radians; NaN beyond 1e9.", lambda n, x: (cos(x),),
    body=sine_and_cosine, part=0, early=True,
)  # fmt: skip
cos: Function = function(
    "cos", 1, "Cosine of an angle in radians; NaN beyond 1e9.", lambda n, x: (-sin(x),),
    body=sine_and_cosine, part=1, early=True,
)  # fmt: skip


# ---- arc tangent

# a rational approximation in x² on |x| ≤ 0.66, highest power first: (atan x - x) / x³
ATAN_TOP = (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
            -1.228866684490136173410e2, -6.485021904942025371773e1)  # fmt: skip
ATAN_BOTTOM = (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
               4.853903996359136964868e2, 1.945506571482613964425e2)  # fmt: skip
QUARTER_PI = (7.85398163397448278999e-01, 3.06161699786838301793e-17)


def arc_tangent(m: Machine, y: Value, x: Value) -> Value:
    """The angle of the point (x, y): k pi/4 plus or minus one of at most pi/8."""
    one, zero = m.constant(1.0), m.constant(0.0)
    ax, ay = m.abs(x), m.abs(y)
    steep = m.less(ax, ay)
    top, bottom = m.select(steep, ax, ay), m.select(steep, ay, ax)

    # the origin and infinity, so that no quotient is 0/0 or inf/inf; NaN stays
    bottom = m.select(m.equal(bottom, zero), one, bottom)
    endless = m.equal(bottom, m.constant(INF))
    both = m.equal(top, m.constant(INF))
    tamed = m.select(both, one, m.mul(top, zero))
    top, bottom = m.select(endless, tamed, top), m.select(endless, one, bottom)

    # a quarter of the largest numbers, so that no sum overflows
    large = m.less(m.constant(0.25 * float(np.finfo(m.dtype).max)), bottom)
    part = m.select(large, m.constant(0.25), one)
    top, bottom = m.mul(top, part), m.mul(bottom, part)

    middle = m.less(m.mul(bottom, m.constant(0.41421356237309504880)), top)
    over = m.select(middle, m.sub(top, bottom), top)
    under = m.select(middle, m.add(top, bottom), bottom)
    t = m.div(over, under)
    z = m.mul(t, t)
    ratio = m.div(polynomial(m, ATAN_TOP, z), polynomial(m, ATAN_BOTTOM, z))
    a = m.fma(m.mul(t, z), ratio, t)

    k = m.select(middle, one, zero)
    k, a = _reflected(m, steep, 2.0, k, a)
    k, a = _reflected(m, m.negative(x), 4.0, k, a)
    high = float(m.dtype(QUARTER_PI[0]))
    low = QUARTER_PI[0] - high + QUARTER_PI[1]
    angle = m.fma(k, m.constant(high), m.fma(k, m.constant(low), a))
    return m.copysign(angle, y)


def _reflected(m: Machine, where: Truth, about: float, k: Value, a: Value) -> tuple[Value, Value]:
    back = m.sub(m.constant(about), k)
    return m.select(where, back, k), m.select(where, m.neg(a), a)


def _atan2_partials(n: Scalar, y: Scalar, x: Scalar) -> tuple[Scalar, Scalar]:
    rr = x * x + y * y
    return x / rr, -y / rr


atan2 = function(
    "atan2", 2, "The angle of the point (x, y), in (-pi, pi]: atan2(y, x).", _atan2_partials,
    numpy=("arctan2",), body=arc_tangent,
)  # fmt: skip


# ---- exponential, logarithm, powers

LOG2E = 1.4426950408889634
LN2 = (0.6931471805599453, 2.3190468138462996e-17)
# (exp r - 1 - r) / r² on |r| ≤ ln 2 / 2, highest power first
EXPONENTIAL = (2.0914686959347493e-9, 2.5105217004870325e-8, 2.755727364313395e-7, 2.7557255400206067e-6,
               2.480158732554772e-5, 1.9841269874820627e-4, 1.3888888888883748e-3, 8.333333333326136e-3,
               4.166666666666667e-2, 1.666666666666667e-1, 0.5)  # fmt: skip
# (artanh s / s - 1 - z/3) / z² in z = s² for s up to (√2 - 1)/(√2 + 1), highest power first
ARTANH = (5.86216355180469e-2, 5.8530632299201364e-2, 6.667404399510495e-2, 7.692297443501243e-2, 9.090909168049952e-2,
          1.1111111110826383e-1, 1.4285714285714685e-1, 0.2)  # fmt: skip
THIRD = (0.3333333333333333, 1.850371707708594e-17)
ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½
ONE = 0x3FF0000000000000  # those of one
LARGE = 1000.0  # the exponential of more is infinite, and of less than minus this zero


def _within(m: Machine, x: Value, limit: float) -> Value:
    """x, or the limit it is beyond; NaN stays."""
    top, bottom = m.constant(limit), m.constant(-limit)
    x = m.select(m.less(top, x), top, x)
    return m.select(m.less(x, bottom), bottom, x)


def _exp_parts(m: Machine, x: Value, low: Value | None = None) -> tuple[Value, Value, Value, Value]:
    """k, r, s and p such that exp(x + low) is 2^k (1 + r + s p), with r at most ln 2 / 2 and s = r²."""
    k = m.sub(m.fma(x, m.constant(LOG2E), m.constant(ROUND)), m.constant(ROUND))
    r = m.fma(k, m.constant(-LN2[0]), x)
    r = m.fma(k, m.constant(-LN2[1]), r if low is None else m.add(r, low))
    return k, r, m.mul(r, r), polynomial(m, EXPONENTIAL, r)


def _two_to(m: Machine, k: Value) -> Value:
    """2^k of a whole number k between -1022 and 1023."""
    return m.from_bits(m.left(m.bits(m.add(k, m.constant(ROUND + 1023.0))), 52))


def _scaled(m: Machine, x: Value, k: Value) -> Value:
    """x 2^k in two steps: the first is exact, the second overflows or loses digits where the result does."""
    half = m.floor(m.mul(k, m.constant(0.5)))
    return m.mul(m.mul(x, _two_to(m, half)), _two_to(m, m.sub(k, half)))


@in_double
def exponential(m: Machine, x: Value) -> Value:
    """e to the power of x."""
    k, r, s, p = _exp_parts(m, _within(m, x, LARGE))
    return _scaled(m, m.add(m.fma(s, p, r), m.constant(1.0)), k)


def _logarithm(m: Machine, x: Value) -> tuple[Value, Value]:
    """The logarithm of a positive finite number as the sum of two doubles: x = 2^k f with f from √½ to √2.

    log f = 2 artanh s with s = (f - 1)/(f + 1); the first two terms of the series are kept in two doubles.
    """
    one, two = m.constant(1.0), m.constant(2.0)
    tiny = m.less(x, m.constant(2.0**-1022))
    x = m.select(tiny, m.mul(x, m.constant(2.0**54)), x)
    n = m.int_add(m.bits(x), m.integer(ONE - ROOT_HALF))
    whole = m.from_bits(m.int_or(m.right(n, 52), m.bits(m.constant(2.0**52))))
    k = m.sub(whole, m.select(tiny, m.constant(2.0**52 + 1023.0 + 54.0), m.constant(2.0**52 + 1023.0)))
    f = m.from_bits(m.int_add(m.int_and(n, m.integer(2**52 - 1)), m.integer(ROOT_HALF)))

    e = m.sub(f, one)
    below, below_low = m.add(f, one), m.sub(e, m.sub(m.add(f, one), two))
    s = m.div(e, below)
    s_low = m.div(m.fnma(s, below_low, m.fnma(s, below, e)), below)

    z = m.mul(s, s)
    z_low = m.fma(m.add(s, s), s_low, m.fms(s, s, z))
    third = m.mul(z, m.constant(THIRD[0]))
    third_low = m.fma(z, m.constant(THIRD[1]), m.fms(z, m.constant(THIRD[0]), third))
    third_low = m.fma(z_low, m.constant(THIRD[0]), third_low)
    t = m.fma(m.mul(z, z), polynomial(m, ARTANH, z), third_low)  # artanh s = s (1 + third + t)

    # 2 s + 2 s (third + t) + k ln 2, each sum with what rounding takes away
    twice, twice_low = m.add(s, s), m.add(s_low, s_low)
    product = m.mul(twice, third)
    rest = m.fma(twice, t, m.fma(twice_low, third, m.fms(twice, third, product)))
    high, low = _fast_sum(m, twice, product)
    low = m.add(low, m.add(rest, twice_low))
    turns = m.mul(k, m.constant(LN2[0]))
    turns_low = m.fma(k, m.constant(LN2[1]), m.fms(k, m.constant(LN2[0]), turns))
    total, lost = _sum(m, turns, high)
    return _fast_sum(m, total, m.add(lost, m.add(turns_low, low)))


def _fast_sum(m: Machine, a: Value, b: Value) -> tuple[Value, Value]:
    """a + b and what rounding takes away, where a is not the smaller or is zero."""
    s = m.add(a, b)
    return s, m.sub(b, m.sub(s, a))


def _sum(m: Machine, a: Value, b: Value) -> tuple[Value, Value]:
    """a + b and what rounding takes away."""
    s = m.add(a, b)
    v = m.sub(s, a)
    return s, m.add(m.sub(a, m.sub(s, v)), m.sub(b, v))


@in_double
def logarithm(m: Machine, x: Value) -> Value:
    """The natural logarithm."""
    high, _ = _logarithm(m, x)
    return _at_the_ends(m, x, high)


def _at_the_ends(m: Machine, x: Value, made: Value) -> Value:
    """What was made of a positive finite x; the logarithms of zero, infinity and what has none."""
    zero, endless = m.constant(0.0), m.constant(INF)
    other = m.select(m.equal(x, zero), m.constant(-INF), m.constant(NAN))
    return m.select(m.less(zero, x), m.select(m.less(x, endless), made, x), other)


@in_double
def raised(m: Machine, x: Value, y: Value) -> Value:
    """x to the power of y: the exponential of y log |x|, which is kept in two doubles, with the sign x gives it."""
    zero, one, nan = m.constant(0.0), m.constant(1.0), m.constant(NAN)
    size = m.abs(x)
    log, log_low = _logarithm(m, size)
    log = _at_the_ends(m, size, log)
    high = m.mul(y, log)
    low = m.fma(y, log_low, m.fms(y, log, high))
    low = m.select(m.less(m.abs(high), m.constant(LARGE)), low, zero)
    k, r, s, p = _exp_parts(m, _within(m, high, LARGE), low)
    made = _scaled(m, m.add(m.fma(s, p, r), one), k)
    made = m.select(m.equal(y, zero), one, m.select(m.equal(size, one), one, made))

    # a negative number to a whole power has a sign, to another no value
    half = m.mul(y, m.constant(0.5))
    signed = m.select(m.equal(m.floor(half), half), made, m.copysign(made, x))
    outside = m.select(m.less(x, zero), m.select(m.less(size, m.constant(INF)), nan, made), made)
    return m.select(m.equal(m.floor(y), y), signed, outside)


exp = function("exp", 1, "e to the power of x.", lambda n, x: (n,), body=exponential)
log = function("log", 1, "Natural logarithm; NaN below zero.", lambda n, x: (1.0 / x,), body=logarithm)
pow: Function = function(
    "pow", 2, "x to the power of y, as NumPy has it: below zero NaN unless y is whole.",
    lambda n, x, y: (y * pow(x, y - 1.0), n * log(x)), sympy="Pow", numpy=(), body=raised,
)  # fmt: skip


# ---- hyperbolic tangent, arc sine, arc cosine


@in_double
def hyperbolic_tangent(m: Machine, x: Value) -> Value:
    """tanh x = -u / (2 + u) with u = exp(-2 |x|) - 1, which keeps its digits near zero."""
    size = m.abs(x)
    size = m.select(m.less(m.constant(22.0), size), m.constant(22.0), size)
    k, r, s, p = _exp_parts(m, m.mul(size, m.constant(-2.0)))
    scale, two = _two_to(m, k), m.constant(2.0)
    high, lost = _fast_sum(m, m.sub(scale, m.constant(1.0)), m.mul(scale, r))
    u, u_low = _fast_sum(m, high, m.fma(scale, m.mul(s, p), lost))
    below, below_low = _fast_sum(m, two, u)
    t = m.div(u, below)
    left = m.fnma(t, m.add(below_low, u_low), m.add(m.fnma(t, below, u), u_low))  # of the division, by rounding
    return m.copysign(m.add(t, m.div(left, below)), x)


tanh = function("tanh", 1, "Hyperbolic tangent.", lambda n, x: (1.0 - n * n,), body=hyperbolic_tangent)

PI_HALVES = (1.5707963267948966, 6.123233995736766e-17)
# a rational approximation in z on 0 ≤ z ≤ 1/4, highest power first: (arcsin √z - √z) / (√z z)
ARC_TOP = (3.47933107596021167570e-5, 7.91534994289814532176e-4, -4.00555345006794114027e-2, 2.01212532134862925881e-1,
           -3.25565818622400915405e-1, 1.66666666666666657415e-1)  # fmt: skip
ARC_BOTTOM = (7.70381505559019352791e-2, -6.88283971605453293030e-1, 2.02094576023350569471, -2.40339491173441421878,
              1.0)  # fmt: skip


def _arc(m: Machine, x: Value) -> tuple[Truth, Value, Value]:
    """Whether |x| is above a half; s and w: arcsin |x| is s + w, or there pi/2 - 2 (s + w)."""
    one, half, zero = m.constant(1.0), m.constant(0.5), m.constant(0.0)
    size = m.abs(x)
    above = m.less(half, size)
    z = m.select(above, m.mul(m.sub(one, size), half), m.mul(size, size))
    s = m.select(above, m.sqrt(z), size)
    left = m.div(m.fnma(s, s, z), m.select(m.less(zero, s), m.add(s, s), one))  # of the root, by rounding
    ratio = m.div(m.mul(z, polynomial(m, ARC_TOP, z)), polynomial(m, ARC_BOTTOM, z))
    return above, s, m.fma(s, ratio, m.select(above, left, zero))


def _from(m: Machine, turns: Value, factor: Value, s: Value, w: Value) -> Value:
    """So many times pi/2, less factor (s + w), with what rounding takes away; the factor is a power of two."""
    base, taken = m.mul(turns, m.constant(PI_HALVES[0])), m.mul(factor, s)
    t, lost = _fast_sum(m, base, m.neg(taken))
    return m.add(t, m.fnma(factor, w, m.fma(turns, m.constant(PI_HALVES[1]), lost)))


@in_double
def arc_sine(m: Machine, x: Value) -> Value:
    """The angle between -pi/2 and pi/2 whose sine is x."""
    above, s, w = _arc(m, x)
    far = _from(m, m.constant(1.0), m.constant(2.0), s, w)
    return m.copysign(m.select(above, far, m.add(s, w)), x)


@in_double
def arc_cosine(m: Machine, x: Value) -> Value:
    """The angle between 0 and pi whose cosine is x."""
    above, s, w = _arc(m, x)
    one, two = m.constant(1.0), m.constant(2.0)
    below = m.less(x, m.constant(0.0))
    turns = m.select(above, m.select(below, two, m.constant(0.0)), one)
    factor = m.select(above, m.select(below, two, m.constant(-2.0)), m.select(below, m.constant(-1.0), one))
    return _from(m, turns, factor, s, w)


arcsin = function(
    "arcsin", 1, "The angle in [-pi/2, pi/2] whose sine is x; NaN beyond 1.", lambda n, x: (1.0 / sqrt(1.0 - x * x),),
    sympy="asin", body=arc_sine,
)  # fmt: skip
arccos = function(
    "arccos", 1, "The angle in [0, pi] whose cosine is x; NaN beyond 1.", lambda n, x: (-1.0 / sqrt(1.0 - x * x),),
    sympy="acos", body=arc_cosine,
)  # fmt: skip


# ---- no derivative


def itself(m: Machine, x: Value) -> Value:
    """The same number, to the bit."""
    return m.sub(x, m.constant(0.0))


held = function(
    "held", 1, "The number itself, of which derivatives know nothing: it stands still, whatever it was made of.",
    lambda n, x: (0.0,), "other", numpy=(), body=itself,
)  # fmt: skip

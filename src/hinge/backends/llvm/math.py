"""Sine, cosine and arc tangent as polynomials in LLVM's intermediate language, on vectors of any width.

There is no vector math library to rely on, and one would not give the same bits on every machine. Errors stay below
two units in the last place. Angles beyond 1e9 give NaN. In single precision an angle is reduced to the first octant
in double precision, so that no digits are lost there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hinge.graph.ops import TRIG_LIMIT

if TYPE_CHECKING:
    from hinge.backends.llvm.block import Block

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
# a rational approximation in x² on |x| ≤ 0.66, highest power first: (atan x - x) / x³
ATAN_TOP = (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
            -1.228866684490136173410e2, -6.485021904942025371773e1)  # fmt: skip
ATAN_BOTTOM = (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
               4.853903996359136964868e2, 1.945506571482613964425e2)  # fmt: skip
QUARTER_PI = (7.85398163397448278999e-01, 3.06161699786838301793e-17)
ROUND = 6755399441055744.0  # 1.5 × 2^52: adding it leaves an integer in the low bits


def sine_and_cosine(b: Block, x: str) -> tuple[str, str]:
    """Names of the sine and the cosine of the value named x."""
    r, quadrant = _reduced(b, x) if b.scalar == "double" else _reduced_in_double(b, x)
    sines, cosines = (SINE, COSINE) if b.scalar == "double" else (SHORT_SINE, SHORT_COSINE)
    z = b.binary("fmul", r, r)
    s = b.fma(b.binary("fmul", r, z), _polynomial(b, sines, z), r)
    c = b.fma(b.binary("fmul", z, z), _polynomial(b, cosines, z), b.fma(z, b.constant(-0.5), b.constant(1.0)))

    # odd quadrants swap them; the second bit is the sign
    whole = b.whole
    odd = b.put(f"icmp ne {whole} {b.put(f'and {whole} {quadrant}, {b.integer(1)}')}, {b.integer(0)}")
    sine = _signed(b, b.select(odd, c, s), quadrant)
    cosine = _signed(b, b.select(odd, s, c), b.put(f"add {whole} {quadrant}, {b.integer(1)}"))
    return sine, cosine


def _reduced(b: Block, x: str) -> tuple[str, str]:
    """x less a multiple of pi/2, at most pi/4, and the multiple's low bits."""
    inside = b.binary("fcmp olt", b.absolute(x), b.constant(TRIG_LIMIT))
    x = b.select(inside, x, b.constant(float("nan")))
    shifted = b.fma(x, b.constant(0.63661977236758134308), b.constant(ROUND))
    k = b.binary("fsub", shifted, b.constant(ROUND))
    for part in HALF_PI:
        x = b.fma(k, b.constant(-part), x)
    return x, b.put(f"bitcast {b.real} {shifted} to {b.whole}")


def _reduced_in_double(b: Block, x: str) -> tuple[str, str]:
    """The same for a vector of singles, by way of doubles."""
    wide = b.wider()
    r, quadrant = _reduced(wide, b.put(f"fpext {b.real} {x} to {wide.real}"))
    narrow = b.put(f"trunc {wide.whole} {quadrant} to {b.whole}")
    return b.put(f"fptrunc {wide.real} {r} to {b.real}"), narrow


def _signed(b: Block, x: str, quadrant: str) -> str:
    """x, negated where bit 1 of the quadrant is set."""
    bit = b.put(f"and {b.whole} {quadrant}, {b.integer(2)}")
    sign = b.put(f"shl {b.whole} {bit}, {b.integer(8 * b.precision.bytes - 2)}")
    bits = b.put(f"xor {b.whole} {b.put(f'bitcast {b.real} {x} to {b.whole}')}, {sign}")
    return b.put(f"bitcast {b.whole} {bits} to {b.real}")


def _polynomial(b: Block, coefficients: tuple[float, ...], z: str) -> str:
    p = b.constant(coefficients[0])
    for coefficient in coefficients[1:]:
        p = b.fma(p, z, b.constant(coefficient))
    return p


def arc_tangent(b: Block, y: str, x: str) -> str:
    """Name of the angle of the point (x, y). The angle is k pi/4 plus or minus one of at most pi/8."""
    real, one, zero = b.real, b.constant(1.0), b.constant(0.0)
    ax, ay = b.absolute(x), b.absolute(y)
    steep = b.put(f"fcmp ogt {real} {ay}, {ax}")
    top, bottom = b.select(steep, ax, ay), b.select(steep, ay, ax)

    # the origin and infinity, so that no quotient is 0/0 or inf/inf; NaN stays
    bottom = b.select(b.put(f"fcmp oeq {real} {bottom}, {zero}"), one, bottom)
    endless = b.put(f"fcmp oeq {real} {bottom}, {b.constant(float('inf'))}")
    both = b.put(f"fcmp oeq {real} {top}, {b.constant(float('inf'))}")
    tamed = b.select(both, one, b.put(f"fmul {real} {top}, {zero}"))
    top, bottom = b.select(endless, tamed, top), b.select(endless, one, bottom)

    # halves of the largest numbers, so that no sum overflows
    half = b.select(b.binary("fcmp ogt", bottom, b.constant(0.25 * b.precision.largest)), b.constant(0.25), one)
    top, bottom = b.binary("fmul", top, half), b.binary("fmul", bottom, half)

    middle = b.put(f"fcmp ogt {real} {top}, {b.put(f'fmul {real} {bottom}, {b.constant(0.41421356237309504880)}')}")
    over = b.select(middle, b.put(f"fsub {real} {top}, {bottom}"), top)
    under = b.select(middle, b.put(f"fadd {real} {top}, {bottom}"), bottom)
    t = b.put(f"fdiv {real} {over}, {under}")
    z = b.put(f"fmul {real} {t}, {t}")
    ratio = b.put(f"fdiv {real} {_polynomial(b, ATAN_TOP, z)}, {_polynomial(b, ATAN_BOTTOM, z)}")
    a = b.fma(b.put(f"fmul {real} {t}, {z}"), ratio, t)

    k = b.select(middle, one, zero)
    k, a = _reflect(b, steep, 2.0, k, a)
    k, a = _reflect(b, b.negative(x), 4.0, k, a)
    high = float(b.precision.dtype(QUARTER_PI[0]))
    low = QUARTER_PI[0] - high + QUARTER_PI[1]
    angle = b.fma(k, b.constant(high), b.fma(k, b.constant(low), a))
    return b.call("llvm.copysign", angle, y)


def _reflect(b: Block, where: str, about: float, k: str, a: str) -> tuple[str, str]:
    back = b.put(f"fsub {b.real} {b.constant(about)}, {k}")
    return b.select(where, back, k), b.select(where, b.put(f"fneg {b.real} {a}"), a)

"""Programs on numbers of sixty digits, of which differences leave forty: rounding is told from what is wrong."""

import operator

import mpmath
import numpy as np

DIGITS = 60
WORDS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos, "min": min, "max": max, "abs": abs,
    "less": operator.lt, "select": lambda c, a, b: a if c else b,
}  # fmt: skip


def run(program, given):
    """What a program without loops gives, an array an output; inputs are flat, by name."""
    values, rows = [], [given[one.name] for one in program.inputs]
    number = lambda a: values[a] if type(a) is int else mpmath.mpf(a)
    with mpmath.workdps(DIGITS):
        for op, args in program.code:
            values.append(mpmath.mpf(rows[args[0]][args[1]]) if op == "input" else WORDS[op](*map(number, args)))
        return [np.array([number(e) for e in one.entries]).reshape(one.shape) for one in program.outputs]


def rate(program, given, rates):
    """The rate of a program's first output when inputs change at these rates, by name."""
    with mpmath.workdps(DIGITS):
        h = mpmath.mpf(10) ** -(DIGITS // 3)
        ahead, behind = (
            {
                name: [mpmath.mpf(x) + t * r for x, r in zip(given[name], row, strict=True)]
                for name, row in rates.items()
            }
            for t in (h, -h)
        )
        return (run(program, given | ahead)[0] - run(program, given | behind)[0]) / (2 * h)


def off(got, want):
    """How far numbers are from those wanted, as a share of the largest, or of one."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    return float(np.max(np.abs(got - want)) / max(1, np.max(np.abs(want))))

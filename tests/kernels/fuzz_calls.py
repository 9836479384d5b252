"""Calls robots with whatever comes to hand; run as a script, since what it looks for would end the interpreter.

Says how many calls were answered and how many refused. A wrong answer, or an error of another kind, ends it.
"""

import array
import json
import sys
from fractions import Fraction

import numpy as np

import hinge


class Sub(np.ndarray):
    """An array that is not quite one."""


class Liar:
    dtype, shape, ndim, size = np.dtype(float), (2,), 1, 2


class Giver:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x if dtype is None else self.x.astype(dtype)


def frozen(x):
    x.flags.writeable = False
    return x


def misaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    raw[1:] = x.view(np.uint8)
    return raw[1:].view(x.dtype)


def good(rng, n):
    """Arrays and the like that hold n numbers, or batches of them."""
    x, many = rng.normal(size=n), rng.normal(size=(3, n))
    return [
        lambda: x, lambda: frozen(x.copy()), lambda: x.tolist(), lambda: tuple(x.tolist()), lambda: x.view(Sub),
        lambda: memoryview(x), lambda: array.array("d", x), lambda: Giver(x), lambda: x.astype(np.float32),
        lambda: x.astype(np.float16), lambda: x.astype(np.longdouble), lambda: x.astype(">f8"), lambda: x.astype(">f4"),
        lambda: x.astype(int), lambda: x.astype(np.int8), lambda: x > 0, lambda: x[::-1], lambda: np.repeat(x, 3)[::3],
        lambda: misaligned(x), lambda: np.stack([x, x], axis=1)[:, 0],
        lambda: many, lambda: np.asfortranarray(many), lambda: np.matrix(x),
        lambda: many[None], lambda: np.broadcast_to(x, (3, n)), lambda: x.reshape((1,) * 30 + (n,)),
        lambda: np.ma.array(x), lambda: np.full(n, np.nan), lambda: np.full(n, np.inf), lambda: np.full(n, 1e300),
        lambda: np.array(x, dtype=np.dtype("f8", metadata={"unit": "rad"})), lambda: [np.float64(v) for v in x],
        lambda: np.zeros((n, n)).T, lambda: np.lib.stride_tricks.as_strided(x, (n,), (0,)),
    ]  # fmt: skip


def odd(rng, n):
    """Things that hold something else."""
    x = rng.normal(size=n)
    record = np.zeros(n, [("a", "f8"), ("b", "f8")])
    record["a"] = x
    return [
        lambda: None, lambda: "text", lambda: b"\0" * 8 * n, lambda: 3, lambda: 2.5, lambda: [], lambda: {},
        lambda: x[0], lambda: np.array(1.0), lambda: np.zeros(n + 1), lambda: np.zeros(n - 1), lambda: np.zeros(0),
        lambda: record, lambda: x.astype(object), lambda: x.astype(complex), lambda: x.astype("U8"), lambda: object(),
        lambda: np.array(["2001-01-01"] * n, "M8[D]"), lambda: np.zeros((n, n + 1)), lambda: np.zeros((5, 0)),
        lambda: np.zeros((2, 1, 5, n + 1)), lambda: np.zeros((1,) * 60), lambda: Liar(), lambda: Fraction(1, 3),
        lambda: [[1.0], [2.0, 3.0]], lambda: [None] * n, lambda: ["1"] * n, lambda: (v for v in x), lambda: np.ndarray,
        lambda: np.float64, lambda: np.dtype(float), lambda: memoryview(b"abc"), lambda: ..., lambda: 10**400,
        lambda: np.ndarray((n + 2,), np.float64, bytes(8 * n + 16)), lambda: type, lambda: hinge, lambda: True,
        lambda: set(),
    ]  # fmt: skip


def drawn(rng, sizes):
    """An argument for each size: mostly one odd thing among good ones, and now and then too many or too few."""
    makers = [good(rng, n) for n in sizes]
    if rng.random() < 0.6:
        k = int(rng.integers(len(sizes)))
        makers[k] = odd(rng, sizes[k])
    chosen = [makers[k][int(rng.integers(len(makers[k])))] for k in range(len(sizes))]
    if rng.random() < 0.1:
        chosen = chosen[:-1] if rng.random() < 0.5 else [*chosen, chosen[0]]
    return chosen


def answer(call, makers):
    """The result, or the error where it is one that may come."""
    try:
        return call(*(make() for make in makers))
    except (hinge.HingeError, TypeError) as problem:
        return problem


def plainly(kernel, sizes, makers):
    """What the plain interpreter says to the same numbers; None where there is nothing to be said."""
    try:
        given = [np.asarray(make()) for make in makers]
    except ValueError:  # a list of lists of several lengths
        return None
    numbers = all(x.dtype.kind in "fiub" and x.ndim for x in given)
    if not numbers or [x.shape[-1] for x in given] != list(sizes):
        return None
    try:
        np.broadcast_shapes(*(x.shape[:-1] for x in given))
    except ValueError:
        return None
    single = all(x.dtype == np.float32 for x in given) and all(hasattr(make(), "dtype") for make in makers)
    return kernel(*(x.astype(np.float32 if single else np.float64) for x in given))


def agree(got, want):
    if want is None or isinstance(got, Exception):
        return want is None and isinstance(got, Exception)
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    tolerance, whole = 1e-3 if got.dtype == np.float32 else 1e-9, np.isfinite(want)
    close = np.allclose(got[whole], want[whole], rtol=tolerance, atol=tolerance)
    return close and np.array_equal(np.isfinite(got), whole)


def places_fuzzed(rng, robot, calls):
    """The entry point with a place for the result that may be anything too; how many it took."""
    enter = robot.kernel("inverse_dynamics").code(np.dtype(float)).enter
    sizes, taken = (robot.nq, robot.nv, robot.nv), 0
    for _ in range(calls):
        makers = [lambda n=n: np.ones((3, n)) for n in sizes]
        if rng.random() < 0.7:
            makers = drawn(rng, sizes)
        outs = [lambda: np.empty((3, robot.nv)), lambda: frozen(np.empty((3, robot.nv))), lambda: np.empty(robot.nv),
                lambda: np.empty((4, robot.nv)), lambda: np.empty((3, robot.nv), np.float32)]  # fmt: skip
        outs = outs if rng.random() < 0.7 else odd(rng, robot.nv)
        given = [make() for make in (*makers, outs[int(rng.integers(len(outs)))])]
        made = enter(*given)
        if made is not None and given[-1] is not None:
            taken += 1
            if made is not given[-1] or not np.allclose(made, robot.inverse_dynamics(*given[:-1]), equal_nan=True):
                sys.exit(f"enter{given!r}: {made!r}")
    return taken


def main(seed, calls):
    rng = np.random.default_rng(seed)
    tally = {"answered": 0, "refused": 0, "fast": 0, "passed on": 0, "into a place": 0}
    for robot in (hinge.samples.planar_2r(), hinge.samples.random_tree(rng, 3, ("revolute", "spherical"))):
        q, v = robot.nq, robot.nv
        cases = {"inverse_dynamics": (q, v, v), "mass_matrix": (q,), "forward_dynamics": (q, v, v),
                 "kinetic_energy": (q, v), "gravity_force": (q,)}  # fmt: skip
        for name, sizes in cases.items():
            method, slow = getattr(robot, name), robot.kernel(name, backend="interpret")
            method(*(np.zeros(n) for n in sizes))
            fast = robot.kernel(name).code(np.dtype(float)).enter
            for _ in range(calls):
                makers = drawn(rng, sizes)
                with np.errstate(all="ignore"):
                    got = answer(method, makers)
                    want = plainly(slow, sizes, makers)
                    at_once = fast(*(make() for make in makers), None)
                if not agree(got, want):
                    sys.exit(f"{name}{[make() for make in makers]!r}: {got!r}, not {want!r}")
                if at_once is not None and at_once.tobytes() != got.tobytes():
                    sys.exit(f"{name}.fast{[make() for make in makers]!r}: {at_once!r}, not {got!r}")
                tally["refused" if isinstance(got, Exception) else "answered"] += 1
                tally["passed on" if at_once is None else "fast"] += 1
        tally["into a place"] += places_fuzzed(rng, robot, calls)
    print(json.dumps(tally))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

"""Derivatives of any algorithm: all of them, along tangents, pulled back from weights, and once more of these.

Positions change along `integrate`: a derivative by q has a column for each velocity, and one of a position a row for
each. See dynamics/slopes.py for how they are found; algorithms may have recursions of their own for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal, TypeVar, overload

import numpy as np

from hinge.backends import default_backend
from hinge.backends.kernel import Kernel
from hinge.calls import inputs
from hinge.calls.call import DEFAULT_TERMS, Call
from hinge.calls.libraries import library_module
from hinge.calls.target import Target
from hinge.calls.tracing import nonzero_entries
from hinge.dynamics.registry import ALGORITHMS, KNOWN, PLACE, Algorithm, default, required_inputs
from hinge.dynamics.slopes import Slope
from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean
from hinge.model import parameter
from hinge.model.driven import sizes
from hinge.typing import Array, Doubles, Numbers, Other, Single, Statuses

Made = TypeVar("Made")
No = Literal[False]
Yes = Literal[True]
Three = tuple[Made, Made, Made]
Tangents = Mapping[str, Any] | Sequence[Any]


@overload
def inverse_dynamics_derivatives(
    target: Target, q: Doubles, qd: Numbers, qdd: Numbers, packed: No = False, *, return_status: No = False, **how: Any
) -> Three[Array]: ...
@overload
def inverse_dynamics_derivatives(
    target: Target, q: Doubles, qd: Numbers, qdd: Numbers, packed: No = False, *, return_status: Yes, **how: Any
) -> tuple[Array, Array, Array, Statuses]: ...
@overload
def inverse_dynamics_derivatives(
    target: Target, q: Doubles, qd: Numbers, qdd: Numbers, packed: Yes, *, return_status: No = False, **how: Any
) -> Array: ...
@overload
def inverse_dynamics_derivatives(
    target: Target, q: Single, qd: Single, qdd: Single, packed: No = False, *, return_status: No = False, **how: Any
) -> Three[Single]: ...
@overload
def inverse_dynamics_derivatives(
    target: Target, q: Other, qd: Other, qdd: Other, packed: No = False, *, return_status: No = False, **how: Any
) -> Three[Other]: ...
def inverse_dynamics_derivatives(target: Target, q: Any, qd: Any, qdd: Any, packed: bool = False, **how: Any) -> Any:
    """How the forces of `inverse_dynamics` change along `integrate`, with qd and with qdd: dq, dqd, dqdd (nv, nv) each.

    Takes q (nq), qd and qdd (nv). They are views of one array (nv, 3 nv); `packed` and keywords are as in
    `derivatives`.

    >>> arm = hinge.samples.puma560()
    >>> dq, dqd, dqdd = arm.inverse_dynamics_derivatives(arm.neutral(), np.zeros(6), np.zeros(6))
    >>> np.allclose(dqdd, arm.mass_matrix(arm.neutral()))
    True
    """
    return _of_dynamics(target, "inverse_dynamics", (q, qd, qdd), packed, how)


@overload
def forward_dynamics_derivatives(
    target: Target, q: Doubles, qd: Numbers, tau: Numbers, packed: No = False, *, return_status: No = False, **how: Any
) -> Three[Array]: ...
@overload
def forward_dynamics_derivatives(
    target: Target, q: Doubles, qd: Numbers, tau: Numbers, packed: No = False, *, return_status: Yes, **how: Any
) -> tuple[Array, Array, Array, Statuses]: ...
@overload
def forward_dynamics_derivatives(
    target: Target, q: Doubles, qd: Numbers, tau: Numbers, packed: Yes, *, return_status: No = False, **how: Any
) -> Array: ...
@overload
def forward_dynamics_derivatives(
    target: Target, q: Single, qd: Single, tau: Single, packed: No = False, *, return_status: No = False, **how: Any
) -> Three[Single]: ...
@overload
def forward_dynamics_derivatives(
    target: Target, q: Other, qd: Other, tau: Other, packed: No = False, *, return_status: No = False, **how: Any
) -> Three[Other]: ...
def forward_dynamics_derivatives(target: Target, q: Any, qd: Any, tau: Any, packed: bool = False, **how: Any) -> Any:
    """How the accelerations of `forward_dynamics` change along `integrate`, with qd and with tau: dq, dqd, dtau.

    Takes q (nq), qd and tau (nv); each is (nv, nv), likewise.

    >>> arm = hinge.samples.puma560()
    >>> dq, dqd, dtau = arm.forward_dynamics_derivatives(arm.neutral(), np.zeros(6), np.zeros(6))
    >>> np.allclose(dtau, arm.inverse_mass_matrix(arm.neutral()))
    True
    """
    return _of_dynamics(target, "forward_dynamics", (q, qd, tau), packed, how)


def _of_dynamics(target: Target, name: str, given: tuple[Any, ...], packed: bool, how: dict[str, Any]) -> Any:
    if not (packed or how) and all(type(x) is np.ndarray for x in given):
        kernel = target.memo(_plain, target, name, default_backend())
        if kernel is not None:  # the shortest way
            whole, n = kernel(*given), target.model.nv
            return whole[..., :n], whole[..., n : 2 * n], whole[..., 2 * n :]
    if how.get("method") in ALGORITHMS[f"{name}_derivatives"]:  # which is the one that is taken
        how = {key: x for key, x in how.items() if key != "method"}
    return derivatives(target, name, *given, packed=packed, **how)


def _plain(target: Target, name: str, backend: str) -> Kernel | None:
    """The kernel of all derivatives of an algorithm, where they take what it takes and nothing more."""
    called, slopes = _served(target, name, tuple(required_inputs(name)), {})
    plain = not slopes and not target.vary and not any(sizes(target.model))
    return Call.parse(target, called, backend=backend).kernel if plain else None


def derivatives(target: Target, name: str, *inputs: Any, by: str | Sequence[str] | None = None, packed: bool = False,
                return_status: bool = False, **keywords: Any) -> Any:  # fmt: skip
    """The derivatives of an algorithm's result: a tuple in the order of `by`; of several results a tuple of those.

    Takes what the method of that name takes; `by` names inputs, or numbers that vary, and is all inputs unless given.
    A derivative has the result's shape, then the size of what it is taken by: nv for q, along `integrate`; a result
    that is a position has nv rows. One by `external` has six columns for each frame, frames in alphabetical order. With
    `packed` it is one array (…, k) of what is not zero whatever the state, in the places that `derivative_pattern`
    gives. With `return_status` a status comes last, NOT_SMOOTH where there is none.

    >>> arm = hinge.samples.planar_2r()
    >>> dq, dqd = arm.derivatives("inverse_dynamics", [0.0, 1.0], [0.1, 0.2], [0.0, 0.0], by=("q", "qd"))
    >>> dq.shape, dqd.shape
    ((2, 2), (2, 2))
    """
    arrays, frames = _apart(name, inputs)
    first = default(name)
    wanted = names(target, first, by, keywords)
    called, slopes = _served(target, name, wanted, keywords)
    made, _ = target.evaluate(
        called, arrays, frames, derivatives=slopes, packed=packed, return_status=return_status, **keywords
    )
    return shown(made, None if packed else widths_of(target, first, wanted, keywords), return_status)


def shown(made: Any, widths: Sequence[int] | None, status: bool) -> Any:
    """What a kernel of derivatives gives, apart by what they are taken by; a status comes last."""
    parts = made if isinstance(made, tuple) else (made,)
    results = parts[:-1] if status else parts
    apart = results if widths is None else tuple(_side_by_side(one, widths) for one in results)
    whole = apart[0] if len(apart) == 1 else apart
    if not status:
        return whole
    return (*whole, parts[-1]) if isinstance(whole, tuple) else (whole, parts[-1])


def derivative_pattern(target: Target, name: str, by: str | Sequence[str] | None = None, at: str | Sequence[str] = (),
                       **keywords: Any) -> Any:  # fmt: skip
    """Where the entries of packed derivatives stand: rows and columns, (k,) each; a pair for each of several results.

    Columns are counted through all that `by` names; rows through the entries of a result. `at` names the frame that
    the algorithm is about.

    >>> rows, columns = hinge.samples.planar_2r().derivative_pattern("inverse_dynamics")
    >>> len(rows)
    11
    """
    wanted = names(target, default(name), by, keywords)
    method, terms = keywords.pop("method", None), keywords.pop("joint_terms", DEFAULT_TERMS)
    regroup = keywords.pop("regroup", False)
    called, slopes = _served(target, name, wanted, keywords | {"method": method})
    places = inputs.frames_of_inputs(target.model, name, at)
    call = Call.parse(target, called, places, method=method, joint_terms=terms, regroup=regroup, options=keywords,
                      derivatives=slopes)  # fmt: skip
    outputs = call.fewest[1].outputs
    pairs = [np.divmod(np.array(nonzero_entries(one), int), one.shape[-1]) for one in outputs]
    return pairs[0] if len(pairs) == 1 else tuple(pairs)


def jvp(target: Target, name: str, inputs: Sequence[Any], tangents: Tangents, **keywords: Any) -> Any:
    """How an algorithm's results change when its inputs change along tangents: J times them, in one sweep.

    `inputs` is what the method takes, in a tuple; `tangents` one for each of its arrays, None where it stays, or a dict
    of them by name. That of q is a velocity (nv).

    >>> arm = hinge.samples.planar_2r()
    >>> arm.jvp("gravity_force", ([0.5, 0.0],), ([1.0, 0.0],)).round(3)
    array([-9.406, -2.352])
    """
    arrays, frames = _apart(name, inputs)
    along = _tangents(target, name, tangents, keywords)
    slope = Slope("along", tuple(along))
    return target.evaluate(name, arrays, frames, derivatives=(slope,), seeds=list(along.values()), **keywords)[0]


def vjp(target: Target, name: str, inputs: Sequence[Any], cotangent: Any, by: str | Sequence[str] | None = None,
        **keywords: Any) -> tuple[Array, ...]:  # fmt: skip
    """The derivatives of a weighted sum of an algorithm's results: weights times J, in one sweep; a tuple as `by` says.

    `inputs` is what the method takes, in a tuple; `cotangent` has the shape of its result, or is a tuple of such.

    >>> arm = hinge.samples.planar_2r()
    >>> dq, dqd = arm.vjp("kinetic_energy", ([0.0, 1.0], [0.1, 0.2]), 1.0)
    >>> np.allclose(dqd, arm.mass_matrix([0.0, 1.0]) @ [0.1, 0.2])
    True
    """
    arrays, frames = _apart(name, inputs)
    wanted = names(target, default(name), by, keywords)
    seeds = _weights(target, name, cotangent)
    made, _ = target.evaluate(name, arrays, frames, derivatives=(Slope("pulled", wanted),), seeds=seeds, **keywords)
    return made if isinstance(made, tuple) else (made,)


def second_derivatives(
    target: Target,
    name: str,
    *inputs: Any,
    by: str | Sequence[str] | None = None,
    weights: Numbers | None = None,
    along: Tangents | None = None,
    **keywords: Any,
) -> Any:
    """The second derivatives of an algorithm's result: made[a][b] by what `by` names first at a, and then at b.

    Each has the result's shape, then the sizes of both: entry [i, j, k] is the rate along k of the derivative of i
    along j. Where velocities are not rates of coordinates it is not the same as [i, k, j]: what is left is the bracket
    of the two. With `weights` (of the result's shape) they are those of the weighted sum, its Hessian; with `along`,
    one tangent for each of `by`, the rates of first derivatives along these: with both a Hessian times a vector,
    made[a].

    >>> arm = hinge.samples.planar_2r()
    >>> ((H,),) = arm.second_derivatives("potential_energy", [0.0, 1.0], by="q")
    >>> H.shape
    (2, 2)
    """
    arrays, frames = _apart(name, inputs)
    wanted = names(target, default(name), by, keywords)
    if len(default(name).returns) > 1:
        raise UnknownName(f"second_derivatives: {name} has several results.\n  Ask for vjp and jvp of it.")
    first = Slope("columns" if weights is None else "pulled", wanted)
    seeds = [] if weights is None else _weights(target, name, weights)
    tangents = None if along is None else _tangents(target, name, along, keywords, wanted)
    second = Slope("columns", wanted) if tangents is None else Slope("along", tuple(tangents))
    seeds += [] if tangents is None else list(tangents.values())
    widths = widths_of(target, default(name), wanted, keywords)
    made, _ = target.evaluate(name, arrays, frames, derivatives=(first, second), seeds=seeds, **keywords)
    parts = made if isinstance(made, tuple) else (made,)
    if weights is None:
        axis = -1 if tangents is not None else -2
        parts = _side_by_side(parts[0], widths, axis)
    return parts if tangents is not None else tuple(_side_by_side(one, widths) for one in parts)


def linearize(
    target: Target,
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    h: Numbers | None = None,
    method: str | None = None,
    **keywords: Any,
) -> tuple[Array, Array]:
    """The motion near a state and forces: x' = A x + B u, with A (2 nv, 2 nv) and B (2 nv, nv).

    x is the displacement along `integrate` and the change of qd, u that of tau (N m, N). Displacements are seen from
    the position the robot moves through. Without `h` x' is the rate of x; with h seconds it is x after one `step` of
    that `method`.

    >>> A, B = hinge.samples.pendulum(1).linearize([0.0], [0.0], [0.0])
    >>> A.shape, B.shape
    ((2, 2), (2, 1))
    """
    if library_module(q, qd, tau, h):
        raise NotCovered("linearize takes no tensors.\n  Give it arrays of NumPy, or ask for derivatives of step.")
    if h is not None:
        over_q, over_v = derivatives(target, "step", q, qd, tau, h, by=("q", "qd", "tau"), method=method, **keywords)
        parts = [np.concatenate(pair, axis=-2) for pair in zip(over_q, over_v, strict=True)]
        return np.concatenate(parts[:2], axis=-1), parts[2]
    dq, dqd, dtau = derivatives(target, "forward_dynamics", q, qd, tau, method=method, **keywords)
    carried = _carried(target, np.broadcast_to(np.asarray(qd, dq.dtype), dq.shape[:-1]))
    unit = np.broadcast_to(np.eye(target.model.nv, dtype=dq.dtype), dq.shape)
    A = np.concatenate([np.concatenate([carried, unit], -1), np.concatenate([dq, dqd], -1)], -2)
    return A, np.concatenate([np.zeros_like(dtau), dtau], -2)


def _carried(target: Target, qd: Array) -> Array:
    """How displacements change because the robot moves on: by the bracket of the two, with the sign turned."""
    model, made = target.model, np.zeros((*qd.shape, qd.shape[-1]), qd.dtype)
    for i in model.leaders:
        at, joint = model.slices[i][1], model.joint[i]
        for k, unit in enumerate(np.eye(joint.nv)):
            for row, x in enumerate(joint.bracket(list(np.moveaxis(qd[..., at], -1, 0)), unit.tolist())):
                made[..., at.start + row, at.start + k] = -np.asarray(x)
    return made


# what was asked


def _served(
    target: Target, name: str, by: tuple[str, ...], keywords: Mapping[str, Any]
) -> tuple[str, tuple[Slope, ...]]:
    """The algorithm that gives all these derivatives, where one does, or the slope of the one they are taken of."""
    slopes, own = (Slope("columns", by),), f"{name}_derivatives"
    if own in ALGORITHMS and by == tuple(required_inputs(own)):
        call = Call.of(target, name, keywords.get("method")).but(derivatives=slopes)
        if call.recursion() is not None:
            return own, ()
    return name, slopes


def columns(target: Target, name: str, by: str | Sequence[str], given: Sequence[str] = ()) -> tuple[Slope, ...]:
    """The slope of all derivatives by what `by` names, or none."""
    return (Slope("columns", names(target, default(name), by, dict.fromkeys(given, True))),) if by else ()


def _apart(name: str, given: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """The arrays and the frames among what a method takes."""
    wanted = required_inputs(name)
    if len(given) != len(wanted):
        raise SizeError(f"{name} takes {', '.join(wanted)}; {len(given)} were given.")
    places = [quantity is PLACE for quantity in wanted.values()]
    return (
        [x for x, place in zip(given, places, strict=True) if not place],
        [x for x, place in zip(given, places, strict=True) if place],
    )


def names(
    target: Target, algorithm: Algorithm, by: str | Sequence[str] | None, keywords: Mapping[str, Any]
) -> tuple[str, ...]:
    """The names of what derivatives are taken by, which have to be inputs, or numbers that vary."""
    numbers = [one for one, q in algorithm.inputs.items() if q.absent is None and q not in (PLACE, KNOWN)]
    wanted = tuple(numbers) if by is None else (by,) if isinstance(by, str) else tuple(by)
    optional = [one for one, q in algorithm.inputs.items() if q.absent is not None and keywords.get(one) is not None]
    known = [*numbers, *optional, *(one.name for one in target.vary)]
    for one in wanted:
        if one not in known:
            hint = did_you_mean(str(one), known)
            try:
                parameter(target.model, str(one))
                hint = f"It does not vary: ask robot.vary({one!r})."
            except UnknownName:
                pass
            what = f"{algorithm.name}: derivatives by {one!r} are asked for"
            raise UnknownName(f"{what}, which is none of its inputs. {hint}")
        if wanted.count(one) > 1:
            raise UnknownName(f"{algorithm.name}: by= names {one!r} twice. Name it once.")
    return wanted


def widths_of(target: Target, algorithm: Algorithm, by: Sequence[str], keywords: Mapping[str, Any]) -> list[int]:
    """How many columns each has."""
    given = frozenset(one for one in by if one in algorithm.inputs)
    known = algorithm.variables(target.model, given, target.vary)
    tangents = {one: prod(known[one][0].tangent(target.model)) for one in by}
    if "external" in by:
        tangents["external"] = 6 * len(keywords["external"])  # of the frames that are named
    return [tangents[one] for one in by]


def _side_by_side(whole: Array, widths: Sequence[int], axis: int = -1) -> tuple[Array, ...]:
    """The parts of an array along an axis; they are views of it."""
    moved = whole.swapaxes(axis, -1)  # which tensors have too
    ends = np.cumsum(widths)
    return tuple(moved[..., end - n : end].swapaxes(axis, -1) for n, end in zip(widths, ends, strict=True))


def _tangents(target: Target, name: str, given: Tangents, keywords: Mapping[str, Any],
              by: Sequence[str] | None = None) -> dict[str, Any]:  # fmt: skip
    """Tangents by name; those that are not given are left out."""
    if not isinstance(given, Mapping):
        taken = by or [one for one, quantity in required_inputs(name).items() if quantity is not PLACE]
        if len(given) != len(taken):
            raise SizeError(f"{name} has {', '.join(taken)}, a tangent each; {len(given)} were given.")
        given = {one: x for one, x in zip(taken, given, strict=True) if x is not None}
    names(target, default(name), tuple(given), keywords)
    if not given:
        raise SizeError(f"{name}: no tangent is given. Give one, or 0 for what stays.")
    return {one: _sized(target, name, one, x, keywords) for one, x in given.items()}


def _sized(target: Target, name: str, one: str, tangent: Any, keywords: Mapping[str, Any]) -> Any:
    """A tangent in the shape of its input; for 0 an array of it."""
    if np.ndim(tangent) or not np.array_equal(tangent, 0):
        return tangent
    return np.zeros(widths_of(target, default(name), [one], keywords))


def _weights(target: Target, name: str, cotangent: Any) -> list[Any]:
    """Weights for each of the results."""
    results = default(name).results(target.model)
    given = cotangent if len(results) > 1 and isinstance(cotangent, tuple | list) else [cotangent]
    if len(given) != len(results):
        told = ", ".join(one.name for one in results)
        raise SizeError(f"{name} gives {told}: it takes a tuple of {len(results)} cotangents; {len(given)} were given.")
    return [np.zeros(one.tangent(target.model)) if w is None else w for one, w in zip(results, given, strict=True)]

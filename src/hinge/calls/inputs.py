"""What a call is given besides plain arrays, turned into the rows that kernels take, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from hinge.arguments import Array, finite, joined, real
from hinge.backends.kernel import Kernel
from hinge.dynamics.place import At
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, required_inputs
from hinge.errors import SizeError, UnknownName, did_you_mean, one_of
from hinge.graph.arrays import Symbols
from hinge.model import Model, Parameter, parameter
from hinge.model.driven import sizes
from hinge.model.model import TERMS
from hinge.model.symbols import with_values as substituted
from hinge.model.vary import check, with_numbers
from hinge.typing import Frame

INFINITE = ("lower", "upper", "velocity", "effort")  # of a joint: what may be infinite
FRAMES: tuple[Frame, ...] = get_args(Frame)


def external_forces(model: Model, external: Mapping[str, Any], frame: str, finite: bool = False) -> tuple[At, Array]:
    """Return the frames that forces act at, in alphabetical order, and a row for each, (…, frames, 6)."""
    at = external_frames_of(model, external, frame)
    return at, forces_at(at, external, finite)


def external_frames_of(model: Model, external: Mapping[str, Any], frame: str) -> At:
    """Return the frames that forces by name act at."""
    if not isinstance(external, Mapping):
        raise SizeError(f"external is a {type(external).__name__}; it has to be a dict of forces by name.")
    return external_frames(model, external, frame)


def forces_at(at: At, external: Mapping[str, Any], finite: bool = False) -> Array:
    """Return forces by name as rows in the order of the frames, (…, frames, 6)."""
    parts = {}
    for name, given in external.items():
        w = given if isinstance(given, Symbols) else real(f"external[{name!r}]", given)
        if w.shape[-1:] != (6,):
            raise SizeError(f"external[{name!r}] has shape {w.shape}; a spatial force has 6 entries, couple first.")
        if finite and not np.all(np.isfinite(w)):
            raise SizeError(f"external[{name!r}] has a value that is not finite. Give finite numbers.")
        parts[name] = w[..., None, :]
    if len(parts) == 1:
        return parts[at.names[0]]
    try:
        return np.concatenate(np.broadcast_arrays(*(parts[name] for name in at.names)), axis=-2)
    except ValueError:
        shown = ", ".join(f"{name!r} {w.shape[:-2]}" for name, w in parts.items())
        raise SizeError(f"external: the batches do not fit together: {shown}.") from None


def external_frames(model: Model, names: Iterable[str], frame: str) -> At:
    """Where forces act: the frames of those names, in alphabetical order, and whose coordinates the forces have."""
    one_of("external_frame", frame, FRAMES)
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        model.frame(name)
    return At(tuple(sorted(names)), frame)


def frames_of_inputs(model: Model, name: str, at: str | Sequence[str]) -> tuple[tuple[str, At], ...]:
    """The frames that an algorithm is about, by the names of its inputs; none where none is given."""
    frames = (at,) if isinstance(at, str) else tuple(at)
    if not frames:
        return ()
    wanted = [one for one, quantity in required_inputs(name).items() if quantity is PLACE]
    if not wanted:
        raise UnknownName(f"{name} is not about a frame, so at={at!r} says nothing. Leave it out.")
    if len(frames) != len(wanted):
        raise UnknownName(f"{name} is about {len(wanted)} frames, {' and '.join(wanted)}; {len(frames)} is named.")
    for frame in frames:
        model.frame(frame)
    return tuple((one, At((frame,))) for one, frame in zip(wanted, frames, strict=True))


def number_or_expression(x: Any) -> Any:
    """A number of the model, or the expression it is where it is made of symbols."""
    if isinstance(x, float | int):
        return float(x)
    from hinge.backends import symbolic

    return symbolic.scalar(x)


def values_by_name(call: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by name; symbols of SymPy may be keys, and its numbers values."""
    made = {str(key): float(x) if getattr(x, "is_real", False) and x.is_number else x for key, x in given.items()}
    if len(made) < len(given):
        names = [str(key) for key in given]
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise UnknownName(f"{call}: {twice!r} is given twice, by unlike keys. Give it once.")
    return made


def with_values(model: Model, given: Mapping[Any, Any]) -> Model:
    """The model with numbers for symbols and for parameters, which it has to have."""
    values = values_by_name("with_values", given)
    for name in values:
        if "." not in name and name != "gravity" and name not in model.symbols:  # no name of a link or joint
            raise UnknownName(f"robot {model.name!r} has no symbol {name!r}. {did_you_mean(name, model.symbols)}")
    parameters = [parameter(model, name) for name in values]
    for one in parameters:
        value, limit = real(f"with_values: {one.name!r}", values[one.name]), one.field in INFINITE
        if value.shape != one.shape or not (np.isfinite(value) | (limit & ~np.isnan(value))).all():
            wanted = f"finite numbers with the shape {one.shape}" if one.shape else "a finite number"
            raise SizeError(f"with_values: {one.name!r} is {values[one.name]!r}. Give {wanted}.")
    check("with_values", model, parameters, {name: np.asarray(x, float) for name, x in values.items()})
    symbols = {one.name: float(values[one.name]) for one in parameters if one.field == "symbol"}
    model = substituted(model, symbols) if symbols else model
    numbers = {one.name: values[one.name] for one in parameters if one.field != "symbol"}
    return with_numbers(model, numbers) if numbers else model


def base_motion(call: str, given: Any) -> Array:
    """The base's velocity and acceleration as one array (…, 2, 6)."""
    if not isinstance(given, Sequence) or len(given) != 2:
        raise SizeError(f"{call}: base_motion has to be a velocity and an acceleration, 6 entries each, angular first.")
    v, a = (
        real(f"{call}: {what} of base_motion", x, (6,))
        for what, x in zip(("velocity", "acceleration"), given, strict=True)
    )
    both = joined(f"{call}: base_motion", [v, a])
    return both.reshape(*both.shape[:-1], 2, 6)


def parameters(
    call: str, model: Model, vary: Sequence[Parameter], given: Mapping[str, Any] | None, look: bool = True
) -> list[Array]:
    """The varied numbers, one row a state, or nothing where nothing is varied; with `look`, such as there can be."""
    if not vary and not given:
        return []
    values = values_by_name(call, given or {})
    unknown = sorted(set(values) - {one.name for one in vary})
    if unknown:
        hint = did_you_mean(unknown[0], (one.name for one in vary))
        raise UnknownName(f"{call}: parameter {unknown[0]!r} is not varied. {hint} robot.vary(…) names what is.")
    parts, read = [], {}
    for one in vary:
        said = values[one.name] if one.name in values else one.nominal(model)
        traced = isinstance(said, Symbols) and said.shape == one.shape
        read[one.name] = value = said if traced else real(f"{call}: parameter {one.name!r}", said, one.shape)
        parts.append(value.reshape(*value.shape[: value.ndim - len(one.shape)], one.size))
    rows = [joined(f"{call}: parameters", parts)] if any(one.size for one in vary) else []
    if look:
        check(call, model, vary, {name: read[name] for name in values if not isinstance(read[name], Symbols)})
    return rows


def prescribed(call: str, model: Model, given: Any) -> list[Array]:
    """The motion of driven joints, one row a state, or nothing where none is driven."""
    nq, nv = sizes(model)
    if not nv:
        if given is not None:
            raise SizeError(f"{call}: prescribed= was given, but robot {model.name!r} has no driven joint.")
        return []
    several = isinstance(given, tuple | list) or (isinstance(given, np.ndarray) and given.ndim > 0)
    if not several or not 1 <= len(given) <= 3:
        was = "" if several or given is None else f"prescribed is {given!r}, and "
        raise SizeError(
            f"{call}: {was}robot {model.name!r} has driven joints.\n"
            f"  Give prescribed=(value, rate, acceleration) with {nq}, {nv} and {nv} entries last."
        )
    names, lengths = ("value", "rate", "acceleration"), (nq, nv, nv)
    parts = [real(f"{call}: {w} of prescribed", x, (n,)) for w, x, n in zip(names, given, lengths, strict=False)]
    parts += [np.zeros(nv, parts[0].dtype)] * (3 - len(parts))
    return [joined(f"{call}: prescribed", parts)]


def broken(A: Array, x: Array, c: Any = 0.0) -> tuple[float, int] | None:
    """How far A x + c is from zero where it is farthest, and which of its entries; None where every state keeps it.

    A state is compared with its own x, so that a large one in a batch hides nothing; one that is not finite is passed.
    """
    off = np.abs(np.einsum("...mk,...k->...m", A, x) + c)
    slack = 1e-6 * (1.0 + np.abs(x).max(axis=-1, initial=0.0, keepdims=True))
    over = np.where(off > slack, off, 0.0)
    worst = int(np.argmax(over)) if over.any() else None
    return None if worst is None else (float(over.flat[worst]), worst % over.shape[-1])


def check_values(kernel: Kernel, given: Sequence[Any]) -> None:
    """Refuse numbers that are not finite, and say where they are."""
    for k, (one, x) in enumerate(zip(kernel.plan.inputs, given, strict=True)):
        finite(f"{kernel.name}: {one.name}", x, kernel.plan.shapes[k])


def check_optional(algorithm: Algorithm, given: Sequence[str]) -> None:
    """Raise for names that are not optional inputs of the algorithm."""
    known = [name for name, quantity in algorithm.inputs.items() if quantity.absent is not None]
    for name in given:
        if name not in known:
            others = [a.method for a in ALGORITHMS[algorithm.name].values() if name in a.inputs]
            if others:
                hint = f"Methods that do: {', '.join(map(repr, others))}."
                raise UnknownName(f"{algorithm.name}: method {algorithm.method!r} does not take {name!r}.\n  {hint}")
            raise UnknownName(f"{algorithm.name} has no optional input {name!r}. {did_you_mean(name, known)}")


def algorithm_only_inputs(algorithm: Algorithm) -> list[str]:
    """The optional arrays that only this algorithm and its like take."""
    every = ("external", "base_motion")  # which many take, and which have words of their own
    return [name for name, quantity in algorithm.inputs.items() if quantity.absent is not None and name not in every]


def pop_optional_arrays(options: dict[str, Any], model: Model, algorithm: Algorithm) -> dict[str, Any]:
    """The optional arrays of an algorithm, taken out of the keywords of a call; None where one was not given."""
    made = {name: options.pop(name, None) for name in algorithm_only_inputs(algorithm)}
    for name, value in made.items():
        if value is not None and not algorithm.inputs[name].size(model):
            raise SizeError(
                f"{algorithm.name}: {name} was given, and robot {model.name!r} has none: {name} are "
                f"{algorithm.inputs[name].what}."
            )
    return made


def joint_terms(given: Sequence[str]) -> tuple[str, ...]:
    """Return the joint terms of a call, which are words that are known."""
    if not isinstance(given, str | Iterable):
        raise UnknownName(f"joint_terms={given!r} is no list of words. Give some of {', '.join(map(repr, TERMS))}.")
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in TERMS:
            raise UnknownName(f"joint_terms has {name!r}. {did_you_mean(str(name), TERMS)}")
    return names


def check_options(algorithm: Algorithm, given: Mapping[str, str]) -> None:
    """Raise for options that the algorithm does not have."""
    for name, value in given.items():
        allowed = algorithm.options.get(name)
        if allowed is None:
            raise UnknownName(f"{algorithm.name} has no option {name!r}. {did_you_mean(name, algorithm.options)}")
        one_of(f"{algorithm.name}: {name}", value, allowed)

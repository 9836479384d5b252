"""From a method of a robot to its results: words become a `Call`, what is left are `Arguments`, its arrays.

NumPy arrays are joined into the inputs of the kernel here. Arrays of other libraries go to the module of their library,
which does the same with that library's functions (operands.py). Both use the checks of inputs.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from hinge.arguments import Array
from hinge.backends.sympy_input import is_sympy
from hinge.calls import inputs
from hinge.calls.call import DEFAULT_TERMS, Call
from hinge.calls.libraries import library_module
from hinge.calls.sympy_calls import call_with_sympy
from hinge.calls.target import Target
from hinge.dynamics.registry import default
from hinge.errors import one_of
from hinge.typing import Check


class Arguments(NamedTuple):
    """The arrays of a call by their role, of any library, as they were given."""

    given: Sequence[Any]  # the required ones
    own: Mapping[str, Any]  # optional inputs that only this algorithm and its like take; None where not given
    external: Mapping[str, Any] | None
    base_motion: Any
    parameters: Mapping[str, Any] | None
    prescribed: Any
    seeds: Sequence[Any]  # tangents and weights of derivatives


def evaluate(
    target: Target, name: str, given: Sequence[Any], frames: Sequence[str] = (), *, out: Any = None,
    check: str = "sizes", **words: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the results of an algorithm, and the object whose `enter` serves the next plain call, or None.

    `words` are the keywords of the algorithm's method (return_status, method, joint_terms, external, …), and
    `derivatives`, `seeds` and `packed` for derivatives of its results.
    """
    one_of("check", check, get_args(Check))
    first, take = default(name), words.pop
    method, backend, status = take("method", None), take("backend", None), take("return_status", False)
    joint_terms, regroup = take("joint_terms", DEFAULT_TERMS), take("regroup", False)
    derivatives, packed, seeds = take("derivatives", ()), take("packed", False), take("seeds", ())
    external, external_frame = take("external", None), take("external_frame", "body")
    base_motion, parameters, prescribed = take("base_motion", None), take("parameters", None), take("prescribed", None)
    options = {option: values[0] for option, values in first.options.items()} | words
    library = library_module(*given, *seeds, parameters, prescribed, external, base_motion, *options.values())
    own = inputs.pop_optional_arrays(options, target.model, first)
    if library is None and any(map(is_sympy, given)):
        said = {"method": method, "joint_terms": joint_terms, "options": options}
        numbers = {"out": out, "regroup": regroup or None, "parameters": parameters, "prescribed": prescribed,
                   "external": external, "base_motion": base_motion} | own  # fmt: skip
        return call_with_sympy(target.model, name, given, frames, said, numbers), None
    placed = inputs.frames_of_inputs(target.model, name, frames) if frames else ()
    present = [one for one, x in own.items() if x is not None] if own else []
    if base_motion is not None:
        present.insert(0, "base_motion")
    if external:
        present.insert(0, "external")
        placed += (("external", inputs.external_frames_of(target.model, external, external_frame)),)
    call = Call.parse(target, name, placed, method=method, backend=backend, optional=present,
                      joint_terms=joint_terms, status=status, regroup=regroup, options=options,
                      derivatives=derivatives, packed=packed)  # fmt: skip
    arguments = Arguments(given, own, external, base_motion, parameters, prescribed, seeds)
    plain = call.plain and backend is None
    if library is not None:
        made = library.run(call, arguments, out, check, backend)
        entry = library.Entry(call) if plain and check == "sizes" else None
        return (made[0] if len(made) == 1 else tuple(made)), entry
    kernel, arrays = call.kernel, host_operands(call, arguments, check)
    if check == "values":
        inputs.check_values(kernel, arrays)
    return kernel(*arrays, out=out), kernel if plain else None


Target.evaluate = evaluate


def host_operands(call: Call, arguments: Arguments, check: str = "sizes") -> list[Array]:
    """Return the NumPy arrays that the kernel of a call takes, in its order."""
    name, target = call.name, call.target
    arrays = list(arguments.given)
    if arguments.external:
        at = dict(call.frames)["external"]
        arrays.append(inputs.forces_at(at, arguments.external, check == "values"))
    if arguments.base_motion is not None:
        arrays.append(inputs.base_motion(name, arguments.base_motion))
    arrays += [x for x in arguments.own.values() if x is not None]
    arrays += target.parameter_rows(name, arguments.parameters, arguments.prescribed)
    return [*arrays, *arguments.seeds]

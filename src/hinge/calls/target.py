"""A target: a model with the numbers of it that are inputs, and the kernels made for it so far.

Every room below the front takes one. It answers to the names of the registered algorithms:

    target = Target(model, vary=["hand.mass"])
    H = target.mass_matrix(q, parameters={"hand.mass": 2.0})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from typing import Any, get_args

from hinge.arguments import Array
from hinge.backends import backend_name
from hinge.backends.kernel import Kernel, Kernels
from hinge.backends.sympy_input import is_sympy
from hinge.calls import inputs
from hinge.calls.foreign import TARGETS, adapter
from hinge.calls.request import Request, called, plan
from hinge.dynamics import choose
from hinge.dynamics.place import At
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, asked, default
from hinge.dynamics.slopes import Slope
from hinge.errors import one_of
from hinge.model import Model, parameter, reframe, unmoved
from hinge.typing import Check, Numbers, Term

USUAL: tuple[Term, ...] = ("armature",)  # the joint terms of a call that names none
_NUMBERS = count()  # of targets


class Target:
    """A model, what of it varies, and its kernels."""

    key_fields = ("model", "vary")

    def __init__(self, model: Model, vary: Sequence[str] = ()):
        """`vary` names numbers of the model that calls give in parameters=; symbols of the model are among them."""
        self.model = model
        self.vary = tuple(parameter(model, name) for name in dict.fromkeys([*model.symbols, *vary]))
        self.kernels = Kernels()
        self.key = f"{model.name} {next(_NUMBERS)}"
        TARGETS[self.key] = self

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.model.name

    @property
    def varied(self) -> list[str]:
        """The names of what varies besides the model's symbols."""
        return [one.name for one in self.vary if one.field != "symbol"]

    @cached_property
    def traced(self) -> Model:
        """The model in the frames that algorithms run in; names keep their frames."""
        return unmoved(self.model) if self.model.symbols else reframe(self.model)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in ALGORITHMS:
            raise AttributeError(f"a target has no {name!r}")
        return partial(self._called, name)

    def _called(self, name: str, *given: Any, **keywords: Any) -> Any:
        """An algorithm by its name, called as a robot's method is: frames by name among the arrays."""
        places = [quantity is PLACE for quantity in asked(name).values()]
        arrays = [x for x, place in zip(given, places, strict=True) if not place]
        frames = [x for x, place in zip(given, places, strict=True) if place]
        return self.call(name, arrays, frames, **keywords)[0]

    def request(self, name: str, method: str | None = None, given: Sequence[str] = (), terms: Sequence[str] = USUAL,
                status: bool = False, regroup: bool = False, places: tuple[tuple[str, At], ...] = (),
                options: Mapping[str, str] | None = None, slopes: tuple[Slope, ...] = (), flat: bool = False,
                packed: bool = False) -> Request:  # fmt: skip
        """What is asked, with words that are known."""
        algorithm = choose(self.model, name, method)
        said = tuple(sorted(inputs.options(algorithm, options or {}).items()))
        return Request(
            name, method, inputs.optional(algorithm, given), said, inputs.terms(terms), status, bool(regroup),
            places=places, slopes=slopes, flat=flat, packed=packed,
        )  # fmt: skip

    def kernel(self, name: str, method: str | None = None, backend: str | None = None, given: Sequence[str] = (),
               terms: Sequence[str] = USUAL, status: bool = False, regroup: bool = False,
               places: tuple[tuple[str, At], ...] = (), options: Mapping[str, str] | None = None,
               slopes: tuple[Slope, ...] = (), flat: bool = False, packed: bool = False) -> Kernel:  # fmt: skip
        """The compiled algorithm of that name; made on first use and kept."""
        backend, options = backend_name(backend), options or {}
        key = (
            name,
            method,
            backend,
            tuple(given),
            tuple(terms),
            status,
            regroup,
            places,
            tuple(sorted(options.items())),
            slopes,
            flat,
            packed,
        )

        def make() -> Kernel:
            request = self.request(name, method, given, terms, status, regroup, places, options, slopes, flat, packed)
            return Kernel(plan(request, self, backend), backend)

        return self.kernels(key, make)

    def compiled(self, algorithm: Algorithm, backend: str | None = None, **how: Any) -> Kernel:
        """An algorithm that is in no registry as a kernel, which the cache knows by its graph."""
        request = Request(algorithm.name, algorithm.method, algorithm=algorithm, **how)
        return Kernel(plan(request, self, backend), backend)

    def further(
        self, call: str, parameters: Mapping[str, Numbers] | None, prescribed: Sequence[Numbers] | None
    ) -> list[Array]:
        """What varied and driven robots take besides."""
        return [
            *inputs.parameters(call, self.model, self.vary, parameters),
            *inputs.prescribed(call, self.model, prescribed),
        ]

    def call(self, name: str, given: Sequence[Any], frames: Sequence[str] = (), out: Array | None = None,
             method: str | None = None, backend: str | None = None, check: str = "sizes", return_status: bool = False,
             joint_terms: Sequence[str] = USUAL, regroup: bool = False, parameters: Mapping[str, Numbers] | None = None,
             prescribed: Sequence[Numbers] | None = None, external: Mapping[str, Numbers] | None = None,
             external_frame: str = "body", base_motion: tuple[Numbers, Numbers] | None = None,
             slopes: tuple[Slope, ...] = (), seeds: Sequence[Any] = (), flat: bool = False, packed: bool = False,
             **options: Any) -> tuple[Any, Any]:  # fmt: skip
        """What an algorithm gives; and whose `enter` may take the next plain call straight away: its kernel's, mostly.

        With `slopes` it is their derivatives; `seeds` are the tangents and weights that they take.
        """
        one_of("check", check, get_args(Check))
        options = {option: values[0] for option, values in default(name).options.items()} | options
        elsewhere = adapter(*given, *seeds, parameters, prescribed, external, base_motion, *options.values())
        usual = method is None and backend is None and joint_terms == USUAL and not regroup and not slopes
        if elsewhere is not None:
            made, asked_for = elsewhere.call(
                self, name, given, frames, out=out, method=method, backend=backend, check=check,
                return_status=return_status, joint_terms=joint_terms, regroup=regroup, parameters=parameters,
                prescribed=prescribed, external=external, external_frame=external_frame, base_motion=base_motion,
                slopes=slopes, seeds=seeds, flat=flat, packed=packed, **options,
            )  # fmt: skip
            plain = usual and check == "sizes" and len(asked_for.inputs) == len(given)
            return made, elsewhere.Straight(asked_for) if plain else None
        own = inputs.taken_from(options, self.model, default(name))
        if any(map(is_sympy, given)):
            besides = {"out": out, "regroup": regroup or None, "parameters": parameters, "prescribed": prescribed,
                       "external": external, "base_motion": base_motion} | own  # fmt: skip
            return called(self.model, name, given, frames, method, joint_terms, options, besides), None
        places = inputs.places(self.model, name, frames)
        further = self.further(name, parameters, prescribed)
        extra = {"external": None, "base_motion": None} | own
        if external:
            at, extra["external"] = inputs.forces(self.model, external, external_frame, check == "values")
            places += (("external", at),)
        if base_motion is not None:
            extra["base_motion"] = inputs.base_motion(name, base_motion)
        present = [k for k, value in extra.items() if value is not None]
        kernel = self.kernel(
            name, method, backend, present, joint_terms, return_status, regroup, places, options, slopes, flat, packed
        )
        arrays = [*given, *(extra[k] for k in present), *further, *seeds]
        if check == "values":
            inputs.check_values(kernel, arrays)
        return kernel(*arrays, out=out), kernel if usual and not present and not further else None

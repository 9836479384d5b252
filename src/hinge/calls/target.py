"""A target: a model, the numbers of it that are inputs, and what was made for it so far.

Every package below `robot` works on a target. It answers to the names of the registered algorithms:

    target = Target(model, vary=["hand.mass"])
    H = target.mass_matrix(q, parameters={"hand.mass": 2.0})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from typing import Any, ClassVar

from hinge.arguments import Array
from hinge.backends.kernel import Memo
from hinge.calls import inputs
from hinge.calls.libraries import TARGETS
from hinge.dynamics.registry import ALGORITHMS, PLACE, required_inputs
from hinge.model import Model, parameter, reframe, unmoved
from hinge.typing import Numbers

_NUMBERS = count()  # of targets


class Target:
    """A model, what of it varies, and a memo of kernels."""

    key_fields = ("model", "vary")
    evaluate: ClassVar[Callable[..., tuple[Any, Any]]]  # set by calls/evaluate.py, which imports this module

    def __init__(self, model: Model, vary: Sequence[str] = ()):
        """`vary` names numbers of the model that calls give in parameters=; symbols of the model are among them."""
        self.model = model
        self.vary = tuple(parameter(model, name) for name in dict.fromkeys([*model.symbols, *vary]))
        self._begin()

    def _begin(self) -> None:
        self.memo = Memo()
        self.key = f"{self.model.name} {next(_NUMBERS)}"
        TARGETS[self.key] = self

    def apart(self) -> Target:
        """Return the same target with a memo of its own, for programs of an object that may go before the robot."""
        other = object.__new__(Target)
        other.__dict__.update(self.__dict__)
        other._begin()
        return other

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
        return partial(self._named, name)

    def _named(self, name: str, *given: Any, **words: Any) -> Any:
        """Evaluate an algorithm that is called as a robot's method is: frames by name among the arrays."""
        places = [quantity is PLACE for quantity in required_inputs(name).values()]
        arrays = [x for x, place in zip(given, places, strict=True) if not place]
        frames = [x for x, place in zip(given, places, strict=True) if place]
        return self.evaluate(name, arrays, frames, **words)[0]

    def parameter_rows(
        self, call: str, parameters: Mapping[str, Numbers] | None, prescribed: Sequence[Numbers] | None
    ) -> list[Array]:
        """Return the arrays that varied and driven robots take besides, one row per state."""
        return [
            *inputs.parameters(call, self.model, self.vary, parameters),
            *inputs.prescribed(call, self.model, prescribed),
        ]

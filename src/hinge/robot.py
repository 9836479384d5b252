"""The front: a robot whose methods are the registered algorithms.

A `Robot` holds a frozen model and the kernels made from it so far, and nothing else. Most of its methods come from the
registry: see algorithms.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge import dynamics, inputs
from hinge.algorithms import Algorithms
from hinge.backends import default_backend
from hinge.backends.count import Cost, count
from hinge.backends.kernel import Array, Kernel
from hinge.backends.reading import is_sympy
from hinge.dynamics.registry import ALGORITHMS, At
from hinge.errors import one_of
from hinge.geometry.methods import Geometric
from hinge.looping import Looping
from hinge.methods import Later
from hinge.model import Model, Report, edit, parameter
from hinge.model.driven import prescribe
from hinge.model.model import Limits
from hinge.programs import Question, Subject, answer, plan

if TYPE_CHECKING:
    from hinge.formats import dh

Vector = Any  # anything NumPy can read as an array


class Robot(Algorithms, Looping, Geometric):
    """A robot: every quantity of its dynamics, for one state or any batch of them.

    Arrays have coordinates along the last axis; leading axes are a batch and broadcast.
    """

    # where it may touch things; these modules are brought in when they are first used
    contact_system = Later("hinge.contact.dynamics")
    contact_dynamics = Later("hinge.contact.dynamics")
    contact_kernel = Later("hinge.contact.dynamics")
    impact = Later("hinge.contact.impact")
    friction_step = Later("hinge.contact.stepping")

    def __init__(self, model: Model, vary: Sequence[str] = ()):
        """A robot on a model; `vary` names numbers of it that become inputs, see `vary`."""
        self.model = model
        self._vary = tuple(parameter(model, name) for name in dict.fromkeys([*model.symbols, *vary]))
        self._varied = [one.name for one in self._vary if one.field != "symbol"]  # besides the model's symbols

    def __repr__(self) -> str:
        return f"<Robot {self.model.name!r}: {self.model.count} bodies, nq = {self.nq}, nv = {self.nv}>"

    @property
    def name(self) -> str:
        """The name the file gives."""
        return self.model.name

    @property
    def nq(self) -> int:
        """How many coordinates a state has."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """How many velocities a state has."""
        return self.model.nv

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving joints, depth first in the order of the file."""
        return self.model.joint_name[1:]

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving bodies, depth first in the order of the file."""
        return self.model.body_name[1:]

    @property
    def report(self) -> Report:
        """The findings on the file; empty for a clean one."""
        return self.model.report

    @property
    def mass(self) -> Any:
        """The mass of all moving bodies, in kg; an expression where the robot is built from symbols."""
        return inputs.known(sum((inertia.m for inertia in self.model.inertia[1:]), 0.0))

    @functools.cached_property
    def limits(self) -> Limits:
        """Limits of coordinates, velocities and joint forces."""
        data = [self.model.data[i] for i in self.model.leaders]
        columns = ("lower", "upper", "velocity", "effort")
        return Limits(*(np.array([x for d in data for x in getattr(d, c)], float) for c in columns))

    def coordinates(self, joint: str) -> tuple[slice, slice]:
        """The slices of q and qd that belong to a joint; those of its leader for one that follows.

        >>> hinge.samples.planar_2r().coordinates("elbow")
        (slice(1, 2, None), slice(1, 2, None))
        """
        return self.model.slices[self.model.joint_number(joint)]

    def neutral(self) -> Array:
        """The coordinates with every joint at its reference: what the file says, else zeros and identity quaternions.

        >>> hinge.samples.planar_2r().neutral()
        array([0., 0.])
        """
        return np.array([x for i in self.model.leaders for x in self.model.neutral(i)], float)

    @property
    def keyframes(self) -> dict[str, Array]:
        """The configurations the file names: q (nq) by name.

        >>> hinge.samples.planar_2r().keyframes
        {}
        """
        known = self.model.extras.get("keyframes", {})
        return {name: np.array(key["q"]) for name, key in known.items() if len(key["q"]) == self.nq}

    def random_state(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """n random states: q (n, nq) within the limits, qd (n, nv) normal with unit deviation.

        >>> q, qd = hinge.samples.planar_2r().random_state(np.random.default_rng(0), 10)
        >>> q.shape
        (10, 2)
        """
        parts = [np.empty((n, 0))]
        for i in self.model.leaders:
            data = self.model.data[i]
            parts.append(self.model.joint[i].random(rng, n, data.lower, data.upper))
        return np.concatenate(parts, axis=1), rng.normal(size=(n, self.nv))

    # robots made from this one

    def with_frame(self, name: str, parent: str, placement: Vector) -> Robot:
        """This robot with a named frame on a link or frame, at a 4×4 pose or a shift (3,) in its coordinates.

        >>> arm = hinge.samples.planar_2r().with_frame("camera", "hand", [0.1, 0.0, 0.0])
        >>> arm.pose([0.0, 0.0], "camera")[0, 3].round(6)
        np.float64(2.1)
        """
        return self._with(edit.with_frame(self.model, name, parent, placement))

    def with_payload(self, body: str, mass: float, com: Vector = (0.0, 0.0, 0.0), inertia: Vector = None) -> Robot:
        """This robot with a rigid load: mass (kg), com (m) and 3×3 inertia about it (kg m²) in the frame of `body`.

        >>> hinge.samples.planar_2r().with_payload("hand", 2.0).mass
        4.0
        """
        return self._with(
            edit.with_payload(self.model, body, mass, com, np.zeros((3, 3)) if inertia is None else inertia)
        )

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """This robot in another field of gravity (m/s², base coordinates).

        >>> hinge.samples.planar_2r().with_gravity([0.0, 0.0, -1.62]).gravity_force([0.0, 0.0]).round(2)
        array([3.24, 0.81])
        """
        return self._with(edit.with_gravity(self.model, gravity))

    def with_potential(self, V: Callable[[Any], Any], at: str | None = None) -> Robot:
        """This robot with a potential V (J) besides gravity: a function of q (nq), or of the pose (4, 4) of `at`.

        V runs once on symbols. Its slope acts at the joints in every call, and it counts in `potential_energy`.

        >>> arm = hinge.samples.planar_2r().with_potential(lambda q: 5.0 * (q[0] - 0.3) ** 2)  # a spring of 10 N m/rad
        >>> arm = arm.with_potential(lambda pose: 20.0 * pose[2, 3], at="hand")  # and a weight
        >>> arm.gravity_force([0.0, 0.0]).round(3)
        array([56.62 , 24.905])
        """
        return self._with(edit.with_potential(self.model, V, at))

    def lock(self, joints: Mapping[str, Vector] | Sequence[str], q: Vector = None) -> Robot:
        """This robot with joints fixed: a dict of coordinates by name, or names and a whole q to take them from.

        >>> hinge.samples.planar_2r().lock({"elbow": 0.5}).nv
        1
        """
        if not isinstance(joints, Mapping):
            whole = self.neutral() if q is None else np.asarray(q, float)
            joints = {name: whole[self.coordinates(name)[0]] for name in joints}
        return self._with(edit.lock(self.model, joints))

    def attach(self, other: Robot, at: str, placement: Vector = (0.0, 0.0, 0.0), prefix: str = "") -> Robot:
        """This robot with another's base fixed to a link or frame; its names get the prefix, its coordinates come last.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.attach(arm, at="hand", prefix="second_").nv
        4
        """
        model = edit.attach(self.model, other.model, at, placement, prefix)
        theirs = [name if name == "gravity" else f"{prefix}{name}" for name in other._varied]
        return Robot(model, [*self._varied, *theirs])

    def vary(self, *names: str) -> Robot:
        """This robot with numbers that become inputs: its calls take `parameters={name: value}`, batched like the rest.

        Names are "LINK.mass", "LINK.com", "LINK.inertia", "JOINT.placement", "gravity"; "JOINT." with "armature",
        "damping", "friction", "stiffness", "rest", "lower", "upper", "velocity" or "effort"; and "JOINT.ratio" and
        "JOINT.offset" of a joint that follows another. What a call does not give has its nominal value.

        >>> arm = hinge.samples.planar_2r().vary("lower.mass", "gravity")
        >>> arm.gravity_force([0.0, 0.0], parameters={"gravity": [0.0, 0.0, -1.62]}).round(2)
        array([3.24, 0.81])
        """
        return Robot(self.model, [*self._varied, *names])

    def with_values(self, values: Mapping[str, float]) -> Robot:
        """This robot with numbers for some or all of the symbols it was built from.

        >>> hinge.samples.planar_2r(symbols=True).with_values({"m1": 2.0, "m2": 1.0}).mass
        3.0
        """
        return self._with(inputs.with_values(self.model, values))

    def prescribe(self, *joints: str, **parts: Sequence[int]) -> Robot:
        """This robot with joints whose motion is given: calls take `prescribed=(value, rate, acceleration)`.

        Name whole joints, or NAME=[k, …] for some velocities of one. What is driven leaves q and qd; the arrays have
        it in the order of the joints, (…, how many) each, and rates or accelerations left out are zero.

        >>> arm = hinge.samples.planar_2r().prescribe("shoulder")
        >>> arm.nv, arm.forward_dynamics([0.0], [0.0], [0.0], prescribed=([0.1], [0.2], [0.3])).shape
        (1, (1,))
        """
        which: dict[str, Sequence[int] | None] = dict.fromkeys(joints)
        return self._with(prescribe(self.model, which | parts))

    def _with(self, model: Model) -> Robot:
        """A robot on another model that varies what this one does."""
        return Robot(model, self._varied)

    def to_dh(self) -> dh.Table:
        """The Denavit-Hartenberg table of a serial arm, with base and tool, in the modified convention.

        `hinge.dh(**table._asdict())` makes the arm again; its body frames are those of the table.

        >>> table = hinge.samples.puma560().to_dh()
        >>> len(table.rows), table.convention
        (6, 'modified')
        """
        from hinge.formats import dh

        return dh.write(self.model)

    def ode(self, control: Any = None) -> Any:
        """f(t, y) with y = [q, qd] for solvers such as SciPy's solve_ivp; `control(t, q, qd)` gives joint forces (nv).

        >>> hinge.samples.pendulum(1).ode()(0.0, np.array([0.0, 1.0]))
        array([1., 0.])
        """

        def rates(t: float, y: Vector) -> Array:
            q, qd = y[: self.nq], y[self.nq :]
            tau = np.zeros(self.nv) if control is None else control(t, q, qd)
            return np.concatenate([self.rate(q, qd), self.forward_dynamics(q, qd, tau)])

        return rates

    def kernel(self, name: str, method: str | None = None, backend: str | None = None, given: Sequence[str] = (),
               joint_terms: Sequence[str] = ("armature",), status: bool = False, regroup: bool = False,
               at: str | Sequence[str] = (), **options: str) -> Kernel:  # fmt: skip
        """The compiled algorithm of that name; made on first use and kept.

        `given` names the optional inputs it takes besides the others: "external", "base_motion". `at` names the frame
        it is about, or the frames, which then are no inputs.

        >>> hinge.samples.planar_2r().kernel("pose", at="hand")(np.zeros(2)).shape
        (4, 4)
        """
        places = inputs.places(self.model, name, at)
        return self._kernel(name, method, backend, given, joint_terms, status, regroup, places, options)

    def _kernel(self, name: str, method: str | None, backend: str | None, given: Sequence[str],
                joint_terms: Sequence[str], status: bool, regroup: bool, places: tuple[tuple[str, At], ...],
                options: Mapping[str, str]) -> Kernel:  # fmt: skip
        backend = backend or default_backend()
        key = (name, method, backend, tuple(given), tuple(joint_terms), status, regroup, places,
               tuple(sorted(options.items())))  # fmt: skip

        def make() -> Kernel:
            question = self._question(name, method, options, given, joint_terms, status, regroup, places)
            return Kernel(plan(question, self.subject, self.name), backend)

        return self.subject.kernels(key, make)

    def _question(self, name: str, method: str | None, options: Mapping[str, str], given: Sequence[str] = (),
                  joint_terms: Sequence[str] = ("armature",), status: bool = False, regroup: bool = False,
                  places: tuple[tuple[str, At], ...] = ()) -> Question:  # fmt: skip
        """What is asked, with words that are known."""
        algorithm = dynamics.choose(self.model, name, method)
        return Question(name, method, inputs.optional(algorithm, given),
                        tuple(sorted(inputs.options(algorithm, options).items())), inputs.terms(joint_terms), status,
                        bool(regroup), places=places)  # fmt: skip

    @functools.cached_property
    def subject(self) -> Subject:
        """This robot as algorithms see it."""
        return Subject(self.model, self._vary)

    def cost(self, name: str, method: str | None = None, regroup: bool = False, **options: str) -> Cost:
        """The operations an algorithm takes for one state of this robot; `.method` says which one it is.

        >>> hinge.samples.planar_2r().cost("mass_matrix").mul < 20
        True
        """
        question = self._question(name, method, options, regroup=regroup)
        algorithm, program = answer(question, self.subject, contract=False)
        return count(program, algorithm.method)

    def source(self, name: str, language: str = "llvm", method: str | None = None, at: str = "",
               scalar: str = "double", **options: Any) -> str:  # fmt: skip
        """The program of an algorithm for this robot as text: "c", "llvm", or "listing" for a plain one.

        `scalar` is "double" or "float". What is about a frame takes `at`, its name; `joint_terms=` is as in calls.

        >>> print(hinge.samples.pendulum(1).source("mass_matrix", "listing"), end="")
        mass_matrix[0] = 0.3333333333333333
        """
        from hinge import paper

        return paper.source(self, name, language, method, at, scalar, options)

    def equations(self, name: str, method: str | None = None, at: str = "", simplify: bool = True,
                  shared: bool = False, **options: Any) -> Any:  # fmt: skip
        """The results of an algorithm as SymPy objects: a matrix (a vector is a column), a scalar, or a tuple of them.

        Coordinates are called q_JOINT, qdot_JOINT and so on; symbols the robot was built from keep their names. What
        is about a frame takes `at`, its name; `joint_terms=` is as in calls. Short results are simplified; `shared`
        gives definitions first, as sympy.cse does.

        >>> hinge.samples.planar_2r().equations("mass_matrix")[0, 1]
        cos(q_elbow)/2 + 1/3
        """
        from hinge import paper

        return paper.equations(self, name, method, at, simplify, shared, options)

    def _call(self, name: str, given: Sequence[Any], frames: Sequence[str], out: Array | None, method: str | None,
              backend: str | None, check: str, return_status: bool, joint_terms: Sequence[str], regroup: bool,
              parameters: Mapping[str, Vector] | None, prescribed: Sequence[Vector] | None,
              external: Mapping[str, Vector] | None = None, external_frame: str = "body",
              base_motion: tuple[Vector, Vector] | None = None, **options: Any) -> Any:  # fmt: skip
        """The ordinary path of every method."""
        one_of("check", check, ("sizes", "values"))
        own = inputs.taken_from(options, self.model, next(iter(ALGORITHMS[name].values())))
        if any(map(is_sympy, given)):
            from hinge import paper

            besides = {"out": out, "regroup": regroup or None, "parameters": parameters, "prescribed": prescribed,
                       "external": external, "base_motion": base_motion} | own  # fmt: skip
            return paper.called(self, name, given, frames, method, joint_terms, options, besides)
        places = inputs.places(self.model, name, frames)
        further = self._further(name, parameters, prescribed)
        extra = {"external": None, "base_motion": None} | own
        if external:
            at, extra["external"] = inputs.forces(self.model, external, external_frame, check == "values")
            places += (("external", at),)
        if base_motion is not None:
            extra["base_motion"] = inputs.base_motion(name, base_motion)
        present = [k for k, value in extra.items() if value is not None]
        kernel = self._kernel(name, method, backend, present, joint_terms, return_status, regroup, places, options)
        given = [*given, *(extra[k] for k in present), *further]
        if check == "values":
            inputs.check_values(kernel, given)
        made = kernel(*given, out=out)
        usual = method is None and backend is None and joint_terms == ("armature",) and not regroup
        if usual and not present and not further:
            enter, words = f"_fared_{name}" if return_status else f"_enter_{name}", (*frames, *options.values())
            if words:
                self.__dict__.setdefault(enter, {})[words] = kernel.enter
            else:
                setattr(self, enter, kernel.enter)
        return made

    def __getstate__(self) -> tuple[Model, list[str]]:
        return self.model, self._varied

    def __setstate__(self, state: tuple[Model, list[str]]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def _further(self, name: str, parameters: Mapping[str, Vector] | None,
                 prescribed: Sequence[Vector] | None) -> list[Array]:  # fmt: skip
        """What varied and driven robots take besides."""
        return [*inputs.parameters(name, self.model, self._vary, parameters),
                *inputs.prescribed(name, self.model, prescribed)]  # fmt: skip

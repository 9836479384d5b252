"""The front: a robot whose methods are the registered algorithms.

A `Robot` holds a frozen model and the kernels made from it so far, and nothing else. Most of its methods come from the
registry, and what belongs to contact, geometry and loops hangs on views: see algorithms.py and views.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.arguments import Array, real
from hinge.backends.count import Cost, count
from hinge.backends.kernel import Kernel
from hinge.calls import derivatives as slopes_of
from hinge.calls import inputs
from hinge.calls.call import DEFAULT_TERMS, Call
from hinge.calls.numbers import OF_LIMITS, limits_with, refuse_varied
from hinge.calls.target import Target
from hinge.errors import SizeError
from hinge.model import Model, Report, edit, states
from hinge.model import loops as _loops
from hinge.model.driven import prescribe
from hinge.model.model import Limits
from hinge.robot.algorithms import Algorithms
from hinge.robot.summary import moving_mass, robot_html
from hinge.typing import Backend, Frame, Numbers, Term

if TYPE_CHECKING:
    from hinge.formats import dh


class Robot(Algorithms):
    """A robot: every quantity of its dynamics, for one state or any batch of them.

    Arrays have coordinates along the last axis; leading axes are a batch and broadcast.
    """

    def __init__(self, model: Model, vary: Sequence[str] = ()):
        """A robot on a model; `vary` names numbers of it that become inputs, see `vary`."""
        super().__init__(Target(model, vary))

    @property
    def model(self) -> Model:
        """The frozen model."""
        return self.target.model

    def __repr__(self) -> str:
        return f"<Robot {self.model.name!r}: {self.model.count} bodies, nq = {self.nq}, nv = {self.nv}>"

    def _repr_html_(self) -> str:
        return robot_html(self.model)

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
        """The mass of all moving bodies, in kg: a base that is fixed is not in it, one that floats is.

        An expression where the robot is built from symbols; the nominal one where masses vary.
        """
        return moving_mass(self.model)

    @functools.cached_property
    def limits(self) -> Limits:
        """Limits of coordinates, velocities and joint forces.

        Of a robot that varies them the parameters of a call decide, and this raises; `with_values` gives it numbers.
        """
        instead = "robot.with_values({name: value}).limits are those of some numbers."
        refuse_varied(self.target, "limits", OF_LIMITS, instead)
        return states.limits(self.model)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """All that `pose`, `jacobian` and the like can be asked for: links, then frames, sites and fixed joints.

        A robot that floats has "world" before them.

        >>> hinge.samples.planar_2r().frame_names
        ('base', 'upper', 'lower', 'hand')
        """
        names, world = tuple(self.model.frames), self.model.body_name[0]
        based = any(self.model.frames[link].body == 0 for link in self.model.links)
        return names if based or world in names else (world, *names)

    @property
    def loops(self) -> tuple[_loops.Loop | _loops.Tie, ...]:
        """The joints that close circuits.

        >>> hinge.samples.four_bar().loops[0].name
        'pin'
        """
        return self.model.loops

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
        return states.neutral(self.model)

    @property
    def keyframes(self) -> dict[str, Array]:
        """The configurations the file names: q (nq) by name.

        >>> hinge.samples.planar_2r().keyframes
        {}
        """
        known = self.model.extras.get("keyframes", {})
        return {name: np.array(key["q"]) for name, key in known.items() if len(key["q"]) == self.nq}

    def random_state(
        self, rng: np.random.Generator | int, n: int, parameters: Mapping[str, Numbers] | None = None
    ) -> tuple[Array, Array]:
        """n random states: q (n, nq) within the limits, qd (n, nv) normal with unit deviation; `rng` may be a seed.

        The limits are those with the `parameters` of a varied robot, one set for all states.

        >>> q, qd = hinge.samples.planar_2r().random_state(0, 10)
        >>> q.shape
        (10, 2)
        """
        within = limits_with("random_state", self.target, parameters)
        if within.lower.ndim > 1:
            raise SizeError("random_state: parameters have batch axes. Give one number for all states.")
        return states.random_state(self.model, rng, n, within)

    # robots made from this one

    def with_frame(self, name: str, parent: str, placement: Numbers) -> Robot:
        """This robot with a named frame on a link or frame, at a 4×4 pose or a shift (3,) in its coordinates.

        >>> arm = hinge.samples.planar_2r().with_frame("camera", "hand", [0.1, 0.0, 0.0])
        >>> arm.pose([0.0, 0.0], "camera")[0, 3].round(6)
        np.float64(2.1)
        """
        return self._with(edit.with_frame(self.model, name, parent, placement))

    def with_payload(
        self, body: str, mass: float, com: Numbers = (0.0, 0.0, 0.0), inertia: Numbers | None = None
    ) -> Robot:
        """This robot with a rigid load: mass (kg), com (m) and 3×3 inertia about it (kg m²) in the frame of `body`.

        >>> hinge.samples.planar_2r().with_payload("hand", 2.0).mass
        4.0
        """
        inertia = np.zeros((3, 3)) if inertia is None else inertia
        return self._with(edit.with_payload(self.model, body, mass, com, inertia))

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

    def with_elastic(
        self, joint: str, stiffness: float, damping: float = 0.0, motor_inertia: float | None = None
    ) -> Robot:
        """This robot with a spring (N m/rad, N/m) and a damper between the motor of a joint and the link it drives.

        The joint's coordinate is then the motor's, after its gear; a further one, JOINT_spring, is by how much the link
        is ahead of it. The motor's inertia (kg m², kg) is the joint's armature unless given. Springs and dampers act
        where `joint_terms` has "stiffness" and "damping".

        >>> arm = hinge.samples.planar_2r().with_elastic("elbow", stiffness=1e3, motor_inertia=0.1)
        >>> arm.joint_names, arm.nv
        (('shoulder', 'elbow', 'elbow_spring'), 3)
        """
        return self._with(edit.with_elastic(self.model, joint, stiffness, damping, motor_inertia))

    def lock(self, joints: Mapping[str, Numbers] | Sequence[str], q: Numbers | None = None) -> Robot:
        """This robot with joints fixed: a dict of coordinates by name, or names and a whole q to take them from.

        >>> hinge.samples.planar_2r().lock({"elbow": 0.5}).nv
        1
        """
        if isinstance(joints, str) or (isinstance(joints, Mapping) and q is not None):
            raise SizeError("lock takes {joint: coordinates}, or a list of names and a whole q to take them from.")
        if not isinstance(joints, Mapping):
            whole = self.neutral() if q is None else real("lock: q", q)
            if whole.shape != (self.nq,):
                wanted = "Give a whole q with a list of names, or {joint: coordinates}."
                raise SizeError(f"lock: q has shape {whole.shape}; robot {self.name!r} has nq = {self.nq}.\n  {wanted}")
            joints = {name: whole[self.coordinates(name)[0]] for name in joints}
        return self._with(edit.lock(self.model, joints))

    def attach(self, other: Robot, at: str, placement: Numbers = (0.0, 0.0, 0.0), prefix: str = "") -> Robot:
        """This robot with another's base fixed to a link or frame; its names get the prefix, its coordinates come last.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.attach(arm, at="hand", prefix="second_").nv
        4
        """
        model = edit.attach(self.model, other.model, at, placement, prefix)
        theirs = [name if name == "gravity" else f"{prefix}{name}" for name in other.target.varied]
        return Robot(model, [*self.target.varied, *theirs])

    def close(self, joint: Any, body_a: str, body_b: str, placement_a: Numbers = (0.0, 0.0, 0.0),
              placement_b: Numbers = (0.0, 0.0, 0.0), name: str = "", powered: bool = False,
              axis: Sequence[float] | None = None, **parameters: Any) -> Robot:  # fmt: skip
        """This robot with a joint that closes a loop, from a place on one link or frame to a place on another.

        `joint` is a kind by name, with its `axis` and parameters, or a joint; its inner frame is on `body_a`.
        Placements are 4×4 poses or shifts (3,). Its frames are called NAME.a and NAME.b. A `powered` one takes forces
        in loop_tau=.

        >>> arm = hinge.samples.planar_2r().close("spherical", "base", "hand", placement_a=[1.5, 0.0, 0.0])
        >>> arm.loop_jacobian([0.1, 0.2]).shape
        (3, 2)
        """
        places = (placement_a, placement_b)
        return self._with(_loops.close(self.model, joint, body_a, body_b, *places, name, powered, axis, parameters))

    def vary(self, *names: str) -> Robot:
        """This robot with numbers that become inputs: its calls take `parameters={name: value}`, batched like the rest.

        Names are "LINK.mass", "LINK.com", "LINK.inertia", "JOINT.placement", "gravity"; "JOINT." with "armature",
        "damping", "friction", "stiffness", "rest", "lower", "upper", "velocity" or "effort"; and "JOINT.ratio" and
        "JOINT.offset" of a joint that follows another. What a call does not give has its nominal value.

        >>> arm = hinge.samples.planar_2r().vary("lower.mass", "gravity")
        >>> arm.gravity_force([0.0, 0.0], parameters={"gravity": [0.0, 0.0, -1.62]}).round(2)
        array([3.24, 0.81])
        """
        return Robot(self.model, [*self.target.varied, *names])

    def with_values(self, values: Mapping[Any, Numbers]) -> Robot:
        """This robot with numbers for some or all of the symbols it was built from, by name or by symbol.

        Numbers of the robot by the names that `vary` knows may be among them; they do not vary any more.

        >>> hinge.samples.planar_2r(symbols=True).with_values({"m1": 2.0, "m2": 1.0}).mass
        3.0
        >>> hinge.samples.planar_2r().with_values({"lower.mass": 3.0}).mass
        4.0
        """
        made = inputs.with_values(self.model, values)
        return Robot(made, [name for name in self.target.varied if name not in values])

    def prescribe(self, *joints: str, **parts: Sequence[int]) -> Robot:
        """This robot with joints whose motion is given: calls take `prescribed=(value, rate, acceleration)`.

        Name whole joints, or NAME=[k, …] for some velocities of one. What is driven leaves q and qd; the arrays have
        it in the order of the joints, (…, how many) each, and rates or accelerations left out are zero.

        >>> arm = hinge.samples.planar_2r().prescribe("shoulder")
        >>> arm.nv, arm.forward_dynamics([0.0], [0.0], [0.0], prescribed=([0.1], [0.2], [0.3])).shape
        (1, (1,))
        """
        for name in joints:
            if not isinstance(name, str):
                raise SizeError(
                    f"prescribe: {name!r} is no name of a joint. Give names one by one, as in prescribe('a')."
                )
        which: dict[str, Sequence[int] | None] = dict.fromkeys(joints)
        return self._with(prescribe(self.model, which | parts))

    def _with(self, model: Model) -> Robot:
        """A robot on another model that varies what this one does."""
        return Robot(model, self.target.varied)

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

        def rates(t: float, y: Array) -> Array:
            q, qd = y[: self.nq], y[self.nq :]
            tau = np.zeros(self.nv) if control is None else control(t, q, qd)
            return np.concatenate([self.rate(q, qd), self.forward_dynamics(q, qd, tau)])

        return rates

    def kernel(self, name: str, method: str | None = None, backend: Backend | None = None, given: Sequence[str] = (),
               joint_terms: Sequence[Term] = DEFAULT_TERMS, status: bool = False, regroup: bool = False,
               at: str | Sequence[str] = (), by: str | Sequence[str] = (), packed: bool = False,
               **options: str) -> Kernel:  # fmt: skip
        """The compiled algorithm of that name; made on first use and kept.

        `given` names the optional inputs it takes besides the others: "external", "base_motion". `at` names the frame
        it is about, or the frames, which then are no inputs. With `by` it gives derivatives by these inputs, side by
        side in one array for each result; `packed` ones in the places of `derivative_pattern`.

        >>> hinge.samples.planar_2r().kernel("pose", at="hand")(np.zeros(2)).shape
        (4, 4)
        """
        places, slopes = inputs.frames_of_inputs(self.model, name, at), slopes_of.columns(self.target, name, by, given)
        call = Call.parse(
            self.target, name, places, method=method, backend=backend, optional=given, joint_terms=joint_terms,
            status=status, regroup=regroup, options=options, derivatives=slopes, packed=packed,
        )  # fmt: skip
        return call.kernel

    def cost(self, name: str, method: str | None = None, regroup: bool = False, external: Iterable[str] = (),
             external_frame: Frame = "body", **options: str) -> Cost:  # fmt: skip
        """The operations an algorithm takes for one state of this robot; `.method` says which one it is.

        `external` names the frames at which known forces act, in coordinates as `external_frame` says.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.cost("inverse_dynamics", external=["hand"]).add - arm.cost("inverse_dynamics").add
        4
        """
        at = inputs.external_frames(self.model, external, external_frame)
        places = (("external", at),) if at.names else ()
        given = [one for one, _ in places]
        call = Call.parse(self.target, name, places, method=method, optional=given, regroup=regroup, options=options)
        algorithm, program = call.trace(contract=False)
        return count(program, algorithm.method if method in (None, "auto") else method)

    def source(self, name: str, language: str = "llvm", method: str | None = None, at: str | Sequence[str] = "",
               scalar: str = "double", **options: Any) -> str:  # fmt: skip
        """The program of an algorithm for this robot as text: "c", "cuda", "llvm", "latex", "listing".

        `scalar` is "double" or "float"; "latex" has the equations, as `hinge equations --latex` prints them. What is
        about a frame takes `at`, its name, or the names of two; `joint_terms=` is as in calls.

        >>> print(hinge.samples.pendulum(1).source("mass_matrix", "listing"), end="")
        mass_matrix[0] = 0.3333333333333333
        """
        from hinge.export.source import source

        return source(self.target, name, language, method, at, scalar, options)

    def equations(self, name: str, method: str | None = None, at: str | Sequence[str] = "", simplify: bool = True,
                  shared: bool = False, digits: int | None = None, **options: Any) -> Any:  # fmt: skip
        """The results of an algorithm as SymPy objects: a matrix (a vector is a column), a scalar, or a tuple of them.

        Coordinates are called q_JOINT, qdot_JOINT and so on; symbols the robot was built from are there themselves.
        What is about a frame takes `at`, its name, or the names of two; `joint_terms=` is as in calls. Short results
        are simplified; `shared` gives definitions first, as sympy.cse does. Decimals are rounded to so many
        significant `digits`.

        >>> hinge.samples.planar_2r().equations("mass_matrix")[0, 1]
        cos(q_elbow)/2 + 1/3
        """
        from hinge.export.equations import equations

        return equations(self.target, name, method, at, simplify, shared, digits, options)

    def __getstate__(self) -> tuple[Model, list[str]]:
        return self.model, self.target.varied

    def __setstate__(self, state: tuple[Model, list[str]]) -> None:
        self.__init__(*state)  # type: ignore[misc]

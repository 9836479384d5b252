"""Written by `make stub` from the source and the registry of algorithms; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.backends.count import Cost
from hinge.backends.kernel import Kernel
from hinge.formats import dh
from hinge.model import Model, Report
from hinge.programs import Subject

Array = NDArray[Any]
Vector = Any

class Limits(NamedTuple):
    lower: Array
    upper: Array
    velocity: Array
    effort: Array

class Robot:
    model: Model
    def __init__(self, model: Model, vary: Sequence[str] = ...):
        """A robot on a model; `vary` names numbers of it that become inputs, see `vary`."""
        ...
    @property
    def name(self) -> str:
        """The name the file gives."""
        ...
    @property
    def nq(self) -> int:
        """How many coordinates a state has."""
        ...
    @property
    def nv(self) -> int:
        """How many velocities a state has."""
        ...
    @property
    def joint_names(self) -> tuple[str, ...]:
        """The moving joints, depth first in the order of the file."""
        ...
    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving bodies, depth first in the order of the file."""
        ...
    @property
    def report(self) -> Report:
        """The findings on the file; empty for a clean one."""
        ...
    @property
    def mass(self) -> Any:
        """The mass of all moving bodies, in kg; an expression where the robot is built from symbols."""
        ...
    @property
    def limits(self) -> Limits:
        """Limits of coordinates, velocities and joint forces."""
        ...
    def coordinates(self, joint: str) -> tuple[slice, slice]:
        """The slices of q and qd that belong to a joint; those of its leader for one that follows.

        >>> hinge.samples.planar_2r().coordinates("elbow")
        (slice(1, 2, None), slice(1, 2, None))
        """
        ...
    def neutral(self) -> Array:
        """The coordinates with every joint at its reference: what the file says, else zeros and identity quaternions.

        >>> hinge.samples.planar_2r().neutral()
        array([0., 0.])
        """
        ...
    @property
    def keyframes(self) -> dict[str, Array]:
        """The configurations the file names: q (nq) by name.

        >>> hinge.samples.planar_2r().keyframes
        {}
        """
        ...
    def random_state(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """n random states: q (n, nq) within the limits, qd (n, nv) normal with unit deviation.

        >>> q, qd = hinge.samples.planar_2r().random_state(np.random.default_rng(0), 10)
        >>> q.shape
        (10, 2)
        """
        ...
    def with_frame(self, name: str, parent: str, placement: Vector) -> Robot:
        """This robot with a named frame on a link or frame, at a 4×4 pose or a shift (3,) in its coordinates.

        >>> arm = hinge.samples.planar_2r().with_frame("camera", "hand", [0.1, 0.0, 0.0])
        >>> arm.pose([0.0, 0.0], "camera")[0, 3].round(6)
        np.float64(2.1)
        """
        ...
    def with_payload(self, body: str, mass: float, com: Vector = ..., inertia: Vector = ...) -> Robot:
        """This robot with a rigid load: mass (kg), com (m) and 3×3 inertia about it (kg m²) in the frame of `body`.

        >>> hinge.samples.planar_2r().with_payload("hand", 2.0).mass
        4.0
        """
        ...
    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """This robot in another field of gravity (m/s², base coordinates).

        >>> hinge.samples.planar_2r().with_gravity([0.0, 0.0, -1.62]).gravity_force([0.0, 0.0]).round(2)
        array([3.24, 0.81])
        """
        ...
    def lock(self, joints: Mapping[str, Vector] | Sequence[str], q: Vector = ...) -> Robot:
        """This robot with joints fixed: a dict of coordinates by name, or names and a whole q to take them from.

        >>> hinge.samples.planar_2r().lock({"elbow": 0.5}).nv
        1
        """
        ...
    def attach(self, other: Robot, at: str, placement: Vector = ..., prefix: str = ...) -> Robot:
        """This robot with another's base fixed to a link or frame; its names get the prefix, its coordinates come last.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.attach(arm, at="hand", prefix="second_").nv
        4
        """
        ...
    def vary(self, *names: str) -> Robot:
        """This robot with numbers that become inputs: its calls take `parameters={name: value}`, batched like the rest.

        Names are "LINK.mass", "LINK.com", "LINK.inertia", "JOINT.placement" and "gravity"; what a call does not give
        has its nominal value.

        >>> arm = hinge.samples.planar_2r().vary("lower.mass", "gravity")
        >>> arm.gravity_force([0.0, 0.0], parameters={"gravity": [0.0, 0.0, -1.62]}).round(2)
        array([3.24, 0.81])
        """
        ...
    def with_values(self, values: Mapping[str, float]) -> Robot:
        """This robot with numbers for some or all of the symbols it was built from.

        >>> hinge.samples.planar_2r(symbols=True).with_values({"m1": 2.0, "m2": 1.0}).mass
        3.0
        """
        ...
    def prescribe(self, *joints: str, **parts: Sequence[int]) -> Robot:
        """This robot with joints whose motion is given: calls take `prescribed=(value, rate, acceleration)`.

        Name whole joints, or NAME=[k, …] for some velocities of one. What is driven leaves q and qd; the arrays have
        it in the order of the joints, (…, how many) each, and rates or accelerations left out are zero.

        >>> arm = hinge.samples.planar_2r().prescribe("shoulder")
        >>> arm.nv, arm.forward_dynamics([0.0], [0.0], [0.0], prescribed=([0.1], [0.2], [0.3])).shape
        (1, (1,))
        """
        ...
    def to_dh(self) -> dh.Table:
        """The Denavit-Hartenberg table of a serial arm, with base and tool, in the modified convention.

        `hinge.dh(**table._asdict())` makes the arm again; its body frames are those of the table.

        >>> table = hinge.samples.puma560().to_dh()
        >>> len(table.rows), table.convention
        (6, 'modified')
        """
        ...
    def ode(self, control: Any = ...) -> Any:
        """f(t, y) with y = [q, qd] for solvers such as SciPy's solve_ivp; `control(t, q, qd)` gives joint forces (nv).

        >>> hinge.samples.pendulum(1).ode()(0.0, np.array([0.0, 1.0]))
        array([1., 0.])
        """
        ...
    def kernel(
        self,
        name: str,
        method: str | None = ...,
        backend: str | None = ...,
        given: Sequence[str] = ...,
        joint_terms: Sequence[str] = ...,
        status: bool = ...,
        regroup: bool = ...,
        **options: str,
    ) -> Kernel:
        """The compiled algorithm of that name; made on first use and kept.

        `given` names the optional inputs it takes besides the others: "external", "base_motion".

        >>> hinge.samples.planar_2r().kernel("gravity_force")(np.zeros(2)).shape
        (2,)
        """
        ...
    @property
    def subject(self) -> Subject:
        """This robot as algorithms see it."""
        ...
    def cost(self, name: str, method: str | None = ..., regroup: bool = ..., **options: str) -> Cost:
        """The operations an algorithm takes for one state of this robot; `.method` says which one it is.

        >>> hinge.samples.planar_2r().cost("mass_matrix").mul < 20
        True
        """
        ...
    def source(
        self, name: str, language: str = ..., method: str | None = ..., at: str = ..., scalar: str = ..., **options: Any
    ) -> str:
        """The program of an algorithm for this robot as text: "c", "llvm", or "listing" for a plain one.

        `scalar` is "double" or "float". What is about a frame takes `at`, its name; `joint_terms=` is as in calls.

        >>> print(hinge.samples.pendulum(1).source("mass_matrix", "listing"), end="")
        mass_matrix[0] = 0.3333333333333333
        """
        ...
    def equations(
        self,
        name: str,
        method: str | None = ...,
        at: str = ...,
        simplify: bool = ...,
        shared: bool = ...,
        **options: Any,
    ) -> Any:
        """The results of an algorithm as SymPy objects: a matrix (a vector is a column), a scalar, or a tuple of them.

        Coordinates are called q_JOINT, qdot_JOINT and so on; symbols the robot was built from keep their names. What
        is about a frame takes `at`, its name; `joint_terms=` is as in calls. Short results are simplified; `shared`
        gives definitions first, as sympy.cse does.

        >>> hinge.samples.planar_2r().equations("mass_matrix")[0, 1]
        cos(q_elbow)/2 + 1/3
        """
        ...
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Joint forces for a given motion: tau = H(q) qdd + C(q, qd).

        Takes q (nq), qd and qdd (nv), in rad and m and their rates; gives tau (nv) in N m and N. Gravity and armature are
        in, and what else `joint_terms` names. `external` adds known forces on bodies; `base_motion` is the base's spatial
        velocity and acceleration in its own coordinates, gravity not included.

        >>> arm = hinge.samples.puma560()
        >>> arm.inverse_dynamics(arm.neutral(), np.zeros(6), np.zeros(6)).shape
        (6,)
        """
        ...
    def bias_force(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """What the joint forces must be for zero acceleration: C(q, qd), gravity in.

        Takes q (nq) and qd (nv); gives joint forces (nv) in N m and N.

        >>> arm = hinge.samples.puma560()
        >>> arm.bias_force(arm.neutral(), np.ones(6)).shape
        (6,)
        """
        ...
    def gravity_force(
        self,
        q: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """What the joint forces must be to hold the robot still against gravity.

        Takes q (nq); gives joint forces (nv) in N m and N.

        >>> hinge.samples.pendulum(1).gravity_force([0.0])
        array([0.])
        """
        ...
    def generalised_forces(
        self,
        q: ArrayLike,
        actuators: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Joint forces from actuator forces: tau = Sᵀ F Q.

        Takes q (nq) and actuator forces (nv); gives tau (nv). They are the same for plain hinges and slides.

        >>> hinge.samples.planar_2r().generalised_forces([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
        """
        ...
    def actuator_forces(
        self,
        q: ArrayLike,
        tau: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Actuator forces from joint forces: the inverse of `generalised_forces`.

        Takes q (nq) and tau (nv); gives actuator forces (nv).

        >>> hinge.samples.planar_2r().actuator_forces([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
        """
        ...
    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The whole spatial force through each joint, its active and bearing parts, and the force on the base.

        Takes q (nq), qd and qdd (nv); gives total, active and bearing, (bodies, 6) each, forces [couple; force] on each
        moving body through its joint, in the body's own frame, and the force (6,) that the robot's joints take from the
        base, in base coordinates. total = active + bearing.

        >>> total, active, bearing, base = hinge.samples.planar_2r().joint_reactions([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> base[3:].round(2)
        array([ 0.  ,  0.  , 19.62])
        """
        ...
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Accelerations that follow from joint forces: qdd = H(q)⁻¹ (tau - C(q, qd)).

        Takes q (nq), qd and tau (nv); gives qdd (nv). Gravity and armature are in, and what else `joint_terms` names.
        `external` adds known forces on bodies; `base_motion` is the base's spatial velocity and acceleration in its own
        coordinates, gravity not included. A state whose equations are singular gives a row of NaN.

        >>> arm = hinge.samples.pendulum(1)
        >>> arm.forward_dynamics([0.0], [0.0], [0.0])
        array([0.])
        """
        ...
    def mass_matrix(
        self,
        q: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The joint-space inertia matrix H(q), armature in: symmetric, and positive definite for a physical robot.

        Takes q (nq); gives (nv, nv) in kg m², kg m and kg.

        >>> hinge.samples.planar_2r().mass_matrix([0.0, 0.0]).shape
        (2, 2)
        """
        ...
    def inverse_mass_matrix(
        self,
        q: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The inverse of the mass matrix: accelerations per joint force.

        Takes q (nq); gives (nv, nv).

        >>> arm = hinge.samples.planar_2r()
        >>> bool(np.allclose(arm.inverse_mass_matrix([0.1, 0.2]) @ arm.mass_matrix([0.1, 0.2]), np.eye(2)))
        True
        """
        ...
    def integrate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Where velocity times time leads: q moved by v.

        Takes q (nq) and v (nv), a velocity times a time; gives q (nq). A free joint moves by the exponential of its body
        twist, a spherical one by that of its angular velocity; quaternions come out with length one.

        >>> hinge.samples.planar_2r().integrate([0.0, 1.0], [0.5, 0.5])
        array([0.5, 1.5])
        """
        ...
    def rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """How fast the coordinates change: qd itself, but for quaternions and the position of a free joint.

        Takes q (nq) and qd (nv); gives (nq).

        >>> hinge.samples.planar_2r().rate([0.0, 1.0], [0.5, 0.6])
        array([0.5, 0.6])
        """
        ...
    def difference(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The velocity times time that leads from q0 to q1: the inverse of `integrate`.

        Takes q0 and q1 (nq); gives (nv). Continuous joints take the short way, into (-pi, pi], unless others follow them;
        revolute ones do not.

        >>> hinge.samples.planar_2r().difference([0.0, 1.0], [0.5, 1.5])
        array([0.5, 0.5])
        """
        ...
    def pose(
        self,
        q: ArrayLike,
        name: str,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Where a link or frame is: the 4×4 matrix that takes its coordinates to the base's.

        Takes q (nq) and a name; gives (4, 4), lengths in m.

        >>> hinge.samples.planar_2r().pose([0.0, 0.0], "hand")[:3, 3]
        array([2., 0., 0.])
        """
        ...
    def jacobian(
        self,
        q: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The motion of a link or frame for each joint velocity: v = J qd, angular rows first.

        Takes q (nq) and a name; gives (6, nv). `frame` is "body", "base" or "aligned".

        >>> hinge.samples.planar_2r().jacobian([0.0, 0.0], "hand").shape
        (6, 2)
        """
        ...
    def jacobian_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The rate of change of `jacobian`, entry by entry, in the same coordinates.

        Takes q (nq), qd (nv) and a name; gives (6, nv).

        >>> hinge.samples.planar_2r().jacobian_rate([0.0, 0.0], [1.0, 0.0], "hand").shape
        (6, 2)
        """
        ...
    def velocity(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The spatial velocity [ω; v] of a link or frame.

        Takes q (nq), qd (nv) and a name; gives (6,) in rad/s and m/s. `frame` is "body", "base" or "aligned".

        >>> hinge.samples.planar_2r().velocity([0.0, 0.0], [1.0, 0.0], "hand", frame="aligned")
        array([ 0., -1.,  0.,  0.,  0.,  2.])
        """
        ...
    def acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        kind: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The acceleration [α; a] of a link or frame, gravity not included.

        Takes q (nq), qd and qdd (nv) and a name; gives (6,) in rad/s² and m/s². kind="spatial" is the rate of change of
        the spatial velocity; the linear part of kind="classical" is the acceleration of a point of the body: of the frame's
        own origin, or with frame="base" of the point that is passing the base origin.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "hand", frame="aligned", kind="classical")[3]
        np.float64(-2.0)
        """
        ...
    def coriolis_matrix(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The matrix C with C qd the velocity forces and dH/dt - 2 C skew.

        Takes q (nq) and qd (nv); gives (nv, nv). It is the one of the Christoffel symbols where velocities are rates of
        coordinates. Gravity is not in it.

        >>> hinge.samples.planar_2r().coriolis_matrix([0.0, 0.0], [1.0, 0.0]).shape
        (2, 2)
        """
        ...
    def kinetic_energy(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Half of qdᵀ H(q) qd, armature in.

        Takes q (nq) and qd (nv); gives a number in J.

        >>> float(hinge.samples.planar_2r().kinetic_energy([0.0, 0.0], [0.0, 0.0]))
        0.0
        """
        ...
    def potential_energy(
        self,
        q: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The work gravity has yet to do, zero when all mass is at the base origin.

        Takes q (nq); gives a number in J. Springs count where `joint_terms` has "stiffness".

        >>> float(hinge.samples.pendulum(1).potential_energy([0.0])) < 0
        True
        """
        ...
    def center_of_mass(
        self,
        q: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The centre of mass of all moving bodies, in base coordinates.

        Takes q (nq); gives (3,) in m.

        >>> hinge.samples.pendulum(1).center_of_mass([0.0]).shape
        (3,)
        """
        ...
    def momentum(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        about: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The spatial momentum [angular; linear] of all moving bodies, in base axes.

        Takes q (nq) and qd (nv); gives (6,) in kg m²/s and kg m/s, about the base origin, or about the centre of mass
        with about="com".

        >>> hinge.samples.planar_2r().momentum([0.0, 0.0], [1.0, 0.0]).shape
        (6,)
        """
        ...
    def hybrid_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        qdd: ArrayLike,
        known: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """Forces where accelerations are given, accelerations where forces are: gives all of both, (tau, qdd).

        Takes q (nq), qd, tau and qdd (nv), and known (nv): 1 or True where the acceleration is given. Entries of tau where
        it is known, and of qdd where it is not, are not looked at. Gives tau and qdd, (nv) each.

        >>> arm = hinge.samples.planar_2r()
        >>> tau, qdd = arm.hybrid_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [True, False])
        >>> float(qdd[0]), round(float(tau[1]), 12)
        (1.0, 3.0)
        """
        ...
    def floating_inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd_joints: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """For a robot with a floating base: the base's acceleration and the joint forces, from the joints' accelerations.

        Takes q (nq), qd (nv) and qdd_joints (nv - 6); gives the base's acceleration (6,), the first six entries of qdd,
        and the forces of the other joints (nv - 6), found in time proportional to the number of bodies. Nothing pushes the
        base but `external`.

        >>> brick = '''<robot name="brick"><link name="a"><inertial><mass value="1"/>
        ...   <inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>'''
        >>> falling = hinge.load(brick, base="floating")
        >>> falling.floating_inverse_dynamics(falling.neutral(), np.zeros(6), [])[0][5].round(2)
        np.float64(-9.81)
        """
        ...
    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The matrix Y for which Y π is inverse dynamics, where π is `hinge.identify.parameters(robot)`.

        Takes q (nq), qd and qdd (nv); gives (nv, p). Ten columns a body (m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, in
        the frame with its name), then one for each velocity of each joint and each of `joint_terms`.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.regressor([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (2, 22)
        """
        ...
    def coriolis_coefficients(
        self,
        q: ArrayLike,
        *,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """The Christoffel symbols Γ of the mass matrix: Σ_jk Γ[i, j, k] qd[j] qd[k] is what the velocities ask of joint i.

        Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "differentiation" of the mass matrix and
        "strobe", which sets rates to one in inverse dynamics.

        >>> hinge.samples.planar_2r().coriolis_coefficients([0.0, 0.5]).shape
        (2, 2, 2)
        """
        ...
    def force_parts(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """What of the joint forces is due to what: (inertial, coriolis, centrifugal, gravity, load).

        Takes q (nq), qd and qdd (nv); gives five arrays (nv), which add up to `inverse_dynamics`. Terms with two different
        rates are Coriolis forces, those with the square of one centrifugal. Load is what `external` and the joints' own
        resistance ask, the latter where `joint_terms` has it; armature is inertial.

        >>> arm = hinge.samples.planar_2r()
        >>> parts = arm.force_parts([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
        >>> bool(np.allclose(sum(parts), arm.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])))
        True
        """
        ...
    def step(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        h: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        out: Array | None = ...,
        method: str | None = ...,
        backend: str | None = ...,
        check: str = ...,
        return_status: bool = ...,
        joint_terms: Sequence[str] = ...,
        regroup: bool = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
        prescribed: Sequence[ArrayLike] | None = ...,
    ) -> Any:
        """A step of simulation: the state after h seconds, with the joint forces held.

        Takes q (nq), qd and tau (nv), and h (s); gives (q, qd). Methods are "rk4", "euler", "semi_implicit" and "lie_rk4",
        which keeps quaternions of length one by itself. `external` are forces held in their bodies' coordinates.

        >>> q, qd = hinge.samples.pendulum(1).step([0.1], [0.0], [0.0], 0.01)
        >>> q.shape, qd.shape
        ((1,), (1,))
        """
        ...

def default_backend() -> str: ...

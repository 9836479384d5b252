"""Written by `make stub` from the registry of algorithms; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

class Algorithms:
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
    def impulse_response(
        self,
        q: ArrayLike,
        impulses: ArrayLike,
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
        """The change of velocity that impulses make: H(q) δqd = impulses, forces that stay finite having no time to act.

        Takes q (nq) and generalised impulses (nv) in N m s and N s; gives δqd (nv). `external` has spatial impulses on
        bodies.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.impulse_response([0.0, 0.0], [0.0, 0.0], external={"hand": [0, 0, 0, 0, 0, 1.0]}).round(3)
        array([-0.857,  5.143])
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
    def christoffel(
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
        """The Christoffel symbols Γ of the mass matrix, of the first kind: (C qd)_i = Σ_jk Γ[i, j, k] qd[j] qd[k].

        Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "recursive", "differentiation" of the mass
        matrix, and "strobe", which sets rates to one in inverse dynamics. A joint whose velocities are not the rates of its
        coordinates is refused by name; `connection` covers it.

        >>> hinge.samples.planar_2r().christoffel([0.0, np.pi / 2]).round(3)[0]
        array([[ 0. , -0.5],
               [-0.5, -0.5]])
        """
        ...
    def connection(
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
        """The connection of the mass matrix: Γ̂[i, j, k] is component i of the derivative along velocity j of velocity k.

        Takes q (nq); gives (nv, nv, nv). Where velocities are rates of coordinates these are the Christoffel symbols of
        the second kind, symmetric in the last two; else what they lack in symmetry are the structure constants.

        >>> hinge.samples.planar_2r().connection([0.0, 0.5]).shape
        (2, 2, 2)
        """
        ...
    def inner_product(
        self,
        q: ArrayLike,
        u: ArrayLike,
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
        """uᵀ H(q) v: the inner product of two velocities, armature in; of one with itself, twice its kinetic energy.

        Takes q (nq), u and v (nv); gives a number.

        >>> float(hinge.samples.pendulum(1).inner_product([0.0], [1.0], [3.0]))
        1.0
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
    def resolved_rate(
        self,
        q: ArrayLike,
        twist: ArrayLike,
        name: str,
        *,
        task: str = ...,
        metric: str = ...,
        posture: ArrayLike | None = ...,
        damping: ArrayLike | None = ...,
        most: ArrayLike | None = ...,
        lost: ArrayLike | None = ...,
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
        """Joint velocities that move a link or frame with a given velocity: the least ones, where several do.

        Takes q (nq), twist (6), which is [ω; v] of the frame's origin in base axes, and a name; gives qd (nv). `task` is
        "pose", "position" or "orientation"; "least" is by the sum of squares, or with metric="inertia" by kinetic energy,
        and counted from `posture` (nv). `damping` is how small the least of the singular values may be, beside their mean,
        before answers are damped, and `most` how large answers get before directions that are weak, below half the mean,
        are; these are left to `lost` (nv), which is `posture` unless given. `return_status` says SINGULAR there.

        >>> arm = hinge.samples.puma560()
        >>> qd = arm.resolved_rate([0.0, 0.5, 0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], "tool")
        >>> arm.velocity([0.0, 0.5, 0.5, 0.0, 0.5, 0.0], qd, "tool", frame="aligned").round(9)[3]
        np.float64(0.1)
        """
        ...
    def resolved_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        acceleration: ArrayLike,
        name: str,
        *,
        task: str = ...,
        metric: str = ...,
        posture: ArrayLike | None = ...,
        damping: ArrayLike | None = ...,
        most: ArrayLike | None = ...,
        lost: ArrayLike | None = ...,
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
        """Joint accelerations that give a link or frame a given acceleration: the least ones, where several do.

        Takes q (nq), qd (nv), acceleration (6), which is [α; a] of the frame's origin in base axes, and a name; gives qdd
        (nv). `task`, `metric`, `posture`, `damping`, `most` and `lost` are as in `resolved_rate`.

        >>> arm, q, qd = hinge.samples.puma560(), [0.0, 0.5, 0.5, 0.0, 0.5, 0.0], np.ones(6)
        >>> qdd = arm.resolved_acceleration(q, qd, [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], "tool")
        >>> arm.acceleration(q, qd, qdd, "tool", frame="aligned", kind="classical").round(9)[3]
        np.float64(0.1)
        """
        ...
    def inverse_inertia(
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
        """The acceleration of a link or frame for each force on it, all joints free to move: J H⁻¹ Jᵀ (6, 6).

        Takes q (nq) and a name; `frame` is as for `jacobian`. Loops are not looked at.

        >>> hinge.samples.planar_2r().inverse_inertia([0.1, 0.2], "hand").shape
        (6, 6)
        """
        ...
    def cross_inertia(
        self,
        q: ArrayLike,
        a: str,
        b: str,
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
        """The acceleration of one link or frame for each force on another: J_a H⁻¹ J_bᵀ (6, 6).

        Takes q (nq) and two names; rows are in the coordinates of the first, columns in those of the second.

        >>> hinge.samples.planar_2r().cross_inertia([0.1, 0.2], "hand", "upper").shape
        (6, 6)
        """
        ...
    def loop_gap(
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
        """How far the loops are from being closed: (r,), lengths in m and sines of angles, zero where they are.

        >>> linkage = hinge.samples.four_bar()
        >>> bool(np.abs(linkage.loop_gap(linkage.assemble([0.5, 0.5, 1.5]).q)).max() < 1e-12)
        True
        """
        ...
    def loop_jacobian(
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
        """The rates of the loops' gaps for each velocity: A (r, nv), with A qd = 0 where they stay closed.

        >>> hinge.samples.four_bar().loop_jacobian([0.5, 0.1, 0.2]).shape
        (5, 3)
        """
        ...
    def loop_bias(
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
        """The accelerations of the loops' gaps that velocities alone make: c (r,) in A qdd + c.

        >>> hinge.samples.four_bar().loop_bias([0.5, 0.1, 0.2], [0.0, 0.0, 0.0]).any()
        np.False_
        """
        ...
    def loop_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        loop_tau: ArrayLike | None = ...,
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
        """Accelerations of a mechanism with loops, and the forces in them: gives (qdd, forces).

        Takes q (nq), qd and tau (nv); gives qdd (nv) and forces (r), one a constraint, on the successor of each loop joint.
        q and qd have to close the loops: see `assemble`. `loop_tau` are the forces of powered loop joints. Forces of
        constraints that only repeat others are zero; `mobility` names those that cannot be told apart.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> qdd, forces = linkage.loop_dynamics(q, np.zeros(3), np.zeros(3))
        >>> qdd.shape, forces.shape
        ((3,), (5,))
        """
        ...
    def loop_project(
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
        """The state brought back to the loops, by the least change in the metric of kinetic energy: gives (q, qd).

        Takes a state that all but closes them, as after a step of simulation; `assemble` is for others.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> q, qd = linkage.loop_project(q + 1e-6, [1.0, 0.0, 0.0])
        >>> bool(np.abs(linkage.loop_gap(q)).max() < 1e-12), bool(np.abs(linkage.loop_jacobian(q) @ qd).max() < 1e-12)
        (True, True)
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

        Takes q (nq), qd and tau (nv), and h (s); gives (q, qd). Methods are "rk4", "euler", "semi_implicit", "implicit" and
        "lie_rk4", which keeps quaternions of length one by itself. `external` are forces held in their bodies' coordinates.

        >>> q, qd = hinge.samples.pendulum(1).step([0.1], [0.0], [0.0], 0.01)
        >>> q.shape, qd.shape
        ((1,), (1,))
        """
        ...

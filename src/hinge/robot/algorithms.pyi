"""Written by `make stub` from the registry of algorithms and the table of views; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike, NDArray

from hinge.calls.target import Target
from hinge.calls.views import View

Array = NDArray[Any]

class Common(TypedDict, total=False):
    out: Array | None
    method: str | None
    backend: str | None
    check: str
    return_status: bool
    joint_terms: Sequence[str]
    regroup: bool
    parameters: Mapping[str, ArrayLike] | None
    prescribed: Sequence[ArrayLike] | None

class Actuation(View):
    @property
    def names(self) -> Any:
        """The names of the controls, in order; an actuator with several has its name several times.

        >>> hinge.samples.planar_2r().actuation.names
        ()
        """
        ...
    def forces(self, q: ArrayLike, qd: ArrayLike, ctrl: ArrayLike, **common: Unpack[Common]) -> Any:
        """Joint forces and actuator forces that the actuators of an MJCF file make of controls.

        Takes q (nq), qd (nv) and ctrl (nu) in the order of the file; gives tau (nv) and a force for each actuator, MuJoCo's
        qfrc_actuator and actuator_force. Gains, biases, gears, and the ranges of controls, actuators, tendons and joints
        are in.

        >>> arm = hinge.load('<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>'
        ...                  '<position joint="j" kp="10" kv="1"/></actuator></mujoco>')
        >>> arm.control_forces([0.1], [0.5], [0.3])
        (array([1.5]), array([1.5]))
        """
        ...
    def passive(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any:
        """Joint forces of springs and dampers of joints and fixed tendons, and of gravity compensation.

        Takes q (nq) and qd (nv); gives tau (nv) as they push: MuJoCo's qfrc_passive.

        >>> spring = '<joint stiffness="2" damping=".1"/>'
        >>> arm = hinge.load(f'<mujoco><worldbody><body>{spring}<geom size=".1"/></body></worldbody></mujoco>')
        >>> arm.passive_forces([0.1], [0.5])
        array([-0.25])
        """
        ...

class Contacts(View):
    def system(
        self, q: Any, qd: Any, tau: Any, contacts: Any, backend: Any = ..., joint_terms: Any = ..., hold: Any = ...
    ) -> Any:
        """The equations of contact dynamics: C (n, n), d (n), F (n, nv), free qdd (nv), responses (n, nv), gap, speed (n).

        Takes q (nq), qd and tau (nv), and a list of n contacts; batches broadcast. No state is asked whether it touches.
        Kinematic loops stay closed. `hold` is (A, b), rows (r, nv) and (r) with A qdd + b = 0 besides.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))
        >>> arm.contact_system([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip]).F
        array([[2., 1.]])
        """
        ...
    def dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        contacts: Any,
        method: Any = ...,
        touch: Any = ...,
        backend: Any = ...,
        joint_terms: Any = ...,
        hold: Any = ...,
    ) -> Any:
        """Accelerations and contact forces of a robot that may touch things, without friction.

        Takes q (nq), qd and tau (nv), and a list of n contacts; gives qdd (nv), force (n) in N, acceleration of the gaps
        (n), the state of each contact, a status, gap and speed (n). A contact takes force where its gap is at most `touch`
        (m) and its bodies do not part faster than `touch` (m/s); with touch=None all are taken to touch. `method` is as for
        `contact_forces`; "even" shares forces that are indeterminate. `hold` is (A, b) with A qdd + b = 0 besides.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))
        >>> arm.contact_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip]).qdd.round(3)
        array([-14.715,  29.43 ])
        """
        ...
    def kernel(self, contacts: Any, backend: Any = ..., joint_terms: Any = ...) -> Any:
        """A kernel from q, qd, tau to qdd (nv) and force (n): all of contact dynamics in machine code.

        The contacts are taken to touch in every state, and their normals to be independent; at most 8. Where they are not
        independent the row is NaN.

        >>> arm = hinge.samples.planar_2r()
        >>> kernel = arm.contact_kernel([hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))], backend="interpret")
        >>> kernel([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])[1].shape
        (1,)
        """
        ...
    def impact(
        self,
        q: Any,
        qd: Any,
        contacts: Any,
        restitution: Any = ...,
        touch: Any = ...,
        backend: Any = ...,
        hold: Any = ...,
    ) -> Any:
        """The velocities of a robot after an impact at contacts, with Newton's hypothesis replaced by Poisson's.

        Takes q (nq), qd (nv) and n contacts; `restitution`, one number or n, stands for what the contacts say. Contacts
        with a gap above `touch` (m) take no part. Kinematic loops stay closed, (9.63); `hold` (r, nv) has rows A with A
        qd = 0 before and after besides. Gives qd (nv), and impulses (n) in N s.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), restitution=0.5)
        >>> arm.impact([0.0, 0.0], [-1.0, 0.0], [tip]).qd.round(3)
        array([-1.75,  4.5 ])
        """
        ...
    def friction_step(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        contacts: Any,
        h: Any,
        law: Any = ...,
        restitution: Any = ...,
        tolerance: Any = ...,
        iterations: Any = ...,
        backend: Any = ...,
    ) -> Any:
        """The velocities after h seconds with contacts that have friction, restitution and compliance.

        Takes q (nq), qd and tau (nv) and n contacts; a gap that would not close within h takes no part. h = 0 is
        an impact with friction. `law` is "coulomb", or "convex" as for `friction_forces`. A compliance of c (m/N) gives way
        by c times the force.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), friction=0.5)
        >>> arm.friction_step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip], 1e-3).impulse.shape
        (1, 3)
        """
        ...
    def step(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        h: Any,
        contacts: Any = ...,
        ground: Any = ...,
        law: Any = ...,
        joint_terms: Any = ...,
        backend: Any = ...,
        derivatives: Any = ...,
        parameters: Any = ...,
    ) -> Any:
        """The state after h seconds with the joint forces held and contacts that are found, or given.

        Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground`, `law` and `parameters` are as in `hinge.simulate`. By
        the rigid law the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler. With
        `derivatives` A and B say how its end changes, by the implicit function; a status NOT_SMOOTH says that a contact is
        within a millionth of where it opens, closes, sticks or slides, where they are those of one side.

        >>> scene = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0)
        >>> step = scene.robot.contact_step([1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), np.zeros(6), 1e-3, ground=0.0)
        >>> step.forces.shape, step.forces[0, 2].round(4)
        ((1, 3), np.float64(19.62))
        """
        ...
    def distances(self, q: Any, pairs: Any = ..., ground: Any = ..., exclude: Any = ..., backend: Any = ...) -> Any:
        """How far apart links are: signed distances (…, n), the nearest or deepest points, and normals between them.

        Takes q (…, nq). `pairs` names links, (link, link) each; without it all that may touch: no neighbours, and none of a
        robot's own that overlap at its neutral configuration, less those of `exclude`. `ground` is a height (m), a (normal,
        offset) or None; it is called "ground". Meshes are their hulls.

        >>> robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).body("box", "box", (0.2, 0.2, 0.2), 1.0).robot
        >>> q = robot.neutral()
        >>> q[6], q[13] = 0.5, 0.1
        >>> robot.distances(q, ground=0.0).distance.round(3)
        array([0.2, 0.4, 0. ])
        """
        ...
    def collides(self, q: Any, pairs: Any = ..., ground: Any = ..., exclude: Any = ..., backend: Any = ...) -> Any:
        """Whether any two links overlap: (…), True also where q (…, nq) is not finite. Pairs are as in `distances`.

        >>> robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot
        >>> robot.collides([[1.0, 0, 0, 0, 0, 0, 0.05], [1.0, 0, 0, 0, 0, 0, 0.15]], ground=0.0)
        array([ True, False])
        """
        ...

class Geometry(View):
    def exponentials(self, name: Any, q: Any = ...) -> Any:
        """The branch to a link or frame as its product of exponentials, with q as the reference configuration.

        >>> hinge.samples.planar_2r().exponentials("hand").twists[1]
        array([ 0., -1.,  0.,  0.,  0., -1.])
        """
        ...
    def covariant_derivative(self, X: Any, Y: Any) -> Any:
        """∇_X Y by the connection of the mass matrix, for fields given as functions of q over scalars; again a field.

        X and Y take q (nq) and give a component for each velocity (nv). Call the result with q (…, nq).

        >>> D = hinge.samples.planar_2r().covariant_derivative(lambda q: [1.0, 0.0], lambda q: [0.0, q[0]])
        >>> D([0.1, 0.2]).shape
        (2,)
        """
        ...
    def gradient(self, V: Any = ...) -> Any:
        """H⁻¹ dV of a function V(q) over scalars, or of the potential energy: a field, the direction V grows in.

        >>> hinge.samples.pendulum(1).gradient()([0.0])
        array([0.])
        """
        ...
    def geodesic(self, q: Any, qd: Any, t: Any = ..., steps: Any = ...) -> Any:
        """The path without gravity, springs or forces: q (…, steps + 1, nq) and qd (…, steps + 1, nv) up to time t.

        >>> hinge.samples.planar_2r().geodesic([0.0, 0.5], [1.0, 0.0], steps=10)[0].shape
        (11, 2)
        """
        ...
    def geodesic_between(self, q0: Any, q1: Any, steps: Any = ...) -> Any:
        """The shortest path from q0 to q1 by the mass matrix, in unit time: a free motion that arrives there.

        Gives q (…, steps + 1, nq), qd (…, steps + 1, nv) and status (…). It is the shortest of those found, and nothing
        near it is shorter; where none was found status is UNCONVERGED and the path NaN. Its speed is constant: its length
        is √(2T) at any point of it. Limits of joints are not looked at.

        >>> path = hinge.samples.planar_2r().geodesic_between([0.0, 0.5], [1.0, -0.2])
        >>> path.q[-1].round(9), path.status
        (array([ 1. , -0.2]), array(0, dtype=uint8))
        """
        ...
    def length(self, curve: Any, start: Any = ..., stop: Any = ...) -> Any:
        """∫ √(2T) dt along q = curve(t), a function over scalars: its length by the mass matrix.

        >>> float(hinge.samples.pendulum(1).length(lambda t: [3.0 * t]).round(6))
        1.732051
        """
        ...
    def energy_integral(self, curve: Any, start: Any = ..., stop: Any = ...) -> Any:
        """∫ T dt along q = curve(t), a function over scalars; stationary where the curve is a geodesic.

        >>> float(hinge.samples.pendulum(1).energy_integral(lambda t: [3.0 * t]).round(12))
        1.5
        """
        ...
    def inner_product(self, q: ArrayLike, u: ArrayLike, v: ArrayLike, **common: Unpack[Common]) -> Any:
        """uᵀ H(q) v: the inner product of two velocities, armature in; of one with itself, twice its kinetic energy.

        Takes q (nq), u and v (nv); gives a number.

        >>> float(hinge.samples.pendulum(1).inner_product([0.0], [1.0], [3.0]))
        1.0
        """
        ...
    def connection(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The connection of the mass matrix: Γ̂[i, j, k] is component i of the derivative along velocity j of velocity k.

        Takes q (nq); gives (nv, nv, nv). Where velocities are rates of coordinates these are the Christoffel symbols of
        the second kind, symmetric in the last two; else what they lack in symmetry are the structure constants.

        >>> hinge.samples.planar_2r().connection([0.0, 0.5]).shape
        (2, 2, 2)
        """
        ...
    def christoffel(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The Christoffel symbols Γ of the mass matrix, of the first kind: (C qd)_i = Σ_jk Γ[i, j, k] qd[j] qd[k].

        Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "recursive", "differentiation" of the mass
        matrix, and "strobe", which sets rates to one in inverse dynamics. A joint whose velocities are not the rates of its
        coordinates is refused by name; `connection` covers it.

        >>> hinge.samples.planar_2r().christoffel([0.0, np.pi / 2]).round(3)[0]
        array([[ 0. , -0.5],
               [-0.5, -0.5]])
        """
        ...
    def coriolis_coefficients(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The Christoffel symbols Γ of the mass matrix: Σ_jk Γ[i, j, k] qd[j] qd[k] is what the velocities ask of joint i.

        Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "differentiation" of the mass matrix and
        "strobe", which sets rates to one in inverse dynamics.

        >>> hinge.samples.planar_2r().coriolis_coefficients([0.0, 0.5]).shape
        (2, 2, 2)
        """
        ...
    def composite_inertia(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any:
        """The inertia IC of a link and all it carries as one rigid body, the joints beyond it stiff.

        Takes q (nq) and a name; gives (6, 6), from motions [ω; v] to forces [couple; force]. `frame` is as for `jacobian`.
        Of the base it is that of all moving bodies. Armature is not in it.

        >>> hinge.samples.planar_2r().composite_inertia([0.1, 0.2], "upper")[3, 3]
        np.float64(2.0)
        """
        ...
    def articulated_inertia(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any:
        """The inertia IA that a force on a link meets, its own joint cut and those beyond it free: f = IA a + p.

        Takes q (nq) and a name; gives (6, 6), symmetric, from motions [ω; v] to forces [couple; force]. `frame` is as for
        `jacobian`. With no joint cut it is the inverse of `inverse_inertia`, where the link has six freedoms.

        >>> hinge.samples.planar_2r().articulated_inertia([0.1, 0.2], "upper")[3, 3].round(3)
        np.float64(1.97)
        """
        ...
    def articulated_bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any:
        """The force p that a link needs for no acceleration, its own joint cut and those beyond it free: f = IA a + p.

        Takes q (nq), qd and tau (nv) and a name; gives (6,), [couple; force]; a is the spatial acceleration. `frame` is as
        for `jacobian`. Gravity and `external` are in, and what else `joint_terms` names.

        >>> hinge.samples.planar_2r().articulated_bias([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "lower")[5]
        np.float64(9.81)
        """
        ...
    def inverse_inertia(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any:
        """The acceleration of a link or frame for each force on it, all joints free to move: J H⁻¹ Jᵀ (6, 6).

        Takes q (nq) and a name; `frame` is as for `jacobian`. Loops are not looked at.

        >>> hinge.samples.planar_2r().inverse_inertia([0.1, 0.2], "hand").shape
        (6, 6)
        """
        ...
    def cross_inertia(self, q: ArrayLike, a: str, b: str, *, frame: str = ..., **common: Unpack[Common]) -> Any:
        """The acceleration of one link or frame for each force on another: J_a H⁻¹ J_bᵀ (6, 6).

        Takes q (nq) and two names; rows are in the coordinates of the first, columns in those of the second.

        >>> hinge.samples.planar_2r().cross_inertia([0.1, 0.2], "hand", "upper").shape
        (6, 6)
        """
        ...
    def bias_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any:
        """The spatial acceleration b of a link or frame where no further force acts on it: a = Φ f + b.

        Takes q (nq), qd and tau (nv) and a name; gives (6,), [α; a]; `frame` is as for `jacobian`. Φ is `inverse_inertia`.

        >>> hinge.samples.planar_2r().bias_acceleration([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "hand")[5].round(3)
        np.float64(-8.409)
        """
        ...

class Linkage(View):
    @property
    def names(self) -> Any:
        """A name for each constraint, and so for each force, of the loops.

        >>> hinge.samples.piston_joint(loop="sphere_in_cylinder").loop_names
        ('pin: force along (1, 0, 0)', 'pin: force along (0, 1, 0)')
        """
        ...
    @property
    def circuit(self) -> Any:
        """E (loops, joints): +1 where a joint is on the way to the loop's successor, -1 to its predecessor, else 0.

        >>> hinge.samples.four_bar().circuit
        array([[ 1,  1, -1]])
        """
        ...
    def mobility(self, q: Any) -> Any:
        """How many freedoms the loops leave at q (…, nq), by the rank of their Jacobian.

        `indeterminate` names the forces that constraints which repeat each other leave open; for a batch, an entry
        a state.

        >>> linkage = hinge.samples.four_bar()
        >>> found = linkage.mobility(linkage.assemble([0.5, 0.5, 1.5]).q)
        >>> found.freedoms, found.constraints, found.rank
        (1, 5, 2)
        """
        ...
    def assemble(self, q: Any, hold: Any = ..., tolerance: Any = ..., iterations: Any = ..., strict: Any = ...) -> Any:
        """The nearest configuration to q (…, nq) that closes the loops: (q, residual, status), a row a state.

        Joints named in `hold` stay where they are. The residual is the largest gap left, in m and rad; status is
        `hinge.Status.UNCLOSED` where it is above `tolerance`, and with `strict` that is an error which names the loop.

        >>> linkage = hinge.samples.slider_crank()
        >>> made = linkage.assemble([0.6, 0.0, 0.0], hold=["crank"])
        >>> float(made.q[0]), bool(made.residual < 1e-12)
        (0.6, True)
        """
        ...
    def gap(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """How far the loops are from being closed: (r,), lengths in m and sines of angles, zero where they are.

        >>> linkage = hinge.samples.four_bar()
        >>> bool(np.abs(linkage.loop_gap(linkage.assemble([0.5, 0.5, 1.5]).q)).max() < 1e-12)
        True
        """
        ...
    def jacobian(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The rates of the loops' gaps for each velocity: A (r, nv), with A qd = 0 where they stay closed.

        >>> hinge.samples.four_bar().loop_jacobian([0.5, 0.1, 0.2]).shape
        (5, 3)
        """
        ...
    def bias(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any:
        """The accelerations of the loops' gaps that velocities alone make: c (r,) in A qdd + c.

        >>> hinge.samples.four_bar().loop_bias([0.5, 0.1, 0.2], [0.0, 0.0, 0.0]).any()
        np.False_
        """
        ...
    def dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        loop_tau: ArrayLike | None = ...,
        **common: Unpack[Common],
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
    def reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        forces: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
    ) -> Any:
        """What `joint_reactions` gives, of the joints of a mechanism with loops: total, active, bearing and base.

        Takes q (nq), qd and qdd (nv), and the forces (r) in the loops, as `loop_dynamics` and `loop_inverse_dynamics` give
        them: where constraints repeat each other they are not determined by the motion.

        >>> linkage = hinge.samples.four_bar()
        >>> q, still = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q, np.zeros(3)
        >>> qdd, forces = linkage.loop_dynamics(q, still, still)
        >>> total, active, bearing, base = linkage.loop_reactions(q, still, qdd, forces)
        >>> bool(np.abs(active).max() < 1e-9)  # no motor pushes
        True
        """
        ...
    def project(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any:
        """The state brought back to the loops, by the least change in the metric of kinetic energy: gives (q, qd).

        Takes a state that all but closes them, as after a step of simulation; `assemble` is for others.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> q, qd = linkage.loop_project(q + 1e-6, [1.0, 0.0, 0.0])
        >>> bool(np.abs(linkage.loop_gap(q)).max() < 1e-12), bool(np.abs(linkage.loop_jacobian(q) @ qd).max() < 1e-12)
        (True, True)
        """
        ...
    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, actuated: Any = ...) -> Any:
        """Joint forces (nv) and loop forces (r) for a given motion, which has to keep the loops closed.

        Only the joints named in `actuated` push, all without it; of many ways the one with the least norm, and too few
        are refused.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> tau, forces = linkage.loop_inverse_dynamics(q, np.zeros(3), np.zeros(3), actuated=["crank"])
        >>> tau[1:]
        array([0., 0.])
        """
        ...

class Sensors(View):
    def imu(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, name: str, **common: Unpack[Common]) -> Any:
        """What an inertial measurement unit reads: angular velocity, and acceleration less gravity, in its own axes.

        Takes q (nq), qd and qdd (nv) and the name of a link or frame; gives (6,), what the gyroscope reads in rad/s, then
        the accelerometer in m/s²: at rest that is g upward, in free fall nothing.

        >>> hinge.samples.planar_2r().imu([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "hand")  # it goes round, 2 m/s² inward
        array([ 0.  , -1.  ,  0.  , -2.  ,  0.  ,  9.81])
        """
        ...
    def wrench(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        name: str,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
    ) -> Any:
        """What a force-torque sensor reads: the whole spatial force [couple; force] through a joint on what it carries.

        Takes q (nq), qd and qdd (nv) and the name of a link or frame; gives (6,) in N m and N, at that frame and in its
        coordinates. The joint is the one that carries the moving body which the frame is on.

        >>> hinge.samples.planar_2r().joint_wrench([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "lower").round(3)
        array([ 0.   , -4.905,  0.   ,  0.   ,  0.   ,  9.81 ])
        """
        ...
    def reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
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

class Algorithms(View):
    target: Target
    actuation: Actuation
    contact: Contacts
    geometry: Geometry
    linkage: Linkage
    sensors: Sensors
    def acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        kind: str = ...,
        **common: Unpack[Common],
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
    def actuator_forces(self, q: ArrayLike, tau: ArrayLike, **common: Unpack[Common]) -> Any:
        """Actuator forces from joint forces: the inverse of `generalised_forces`.

        Takes q (nq) and tau (nv); gives actuator forces (nv).

        >>> hinge.samples.planar_2r().actuator_forces([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
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
        **common: Unpack[Common],
    ) -> Any:
        """What the joint forces must be for zero acceleration: C(q, qd), gravity in.

        Takes q (nq) and qd (nv); gives joint forces (nv) in N m and N.

        >>> arm = hinge.samples.puma560()
        >>> arm.bias_force(arm.neutral(), np.ones(6)).shape
        (6,)
        """
        ...
    def center_of_mass(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The centre of mass of all moving bodies, in base coordinates.

        Takes q (nq); gives (3,) in m.

        >>> hinge.samples.pendulum(1).center_of_mass([0.0]).shape
        (3,)
        """
        ...
    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any:
        """The matrix C with C qd the velocity forces and dH/dt - 2 C skew.

        Takes q (nq) and qd (nv); gives (nv, nv). It is the one of the Christoffel symbols where velocities are rates of
        coordinates. Gravity is not in it.

        >>> hinge.samples.planar_2r().coriolis_matrix([0.0, 0.0], [1.0, 0.0]).shape
        (2, 2)
        """
        ...
    def difference(self, q0: ArrayLike, q1: ArrayLike, **common: Unpack[Common]) -> Any:
        """The velocity times time that leads from q0 to q1: the inverse of `integrate`.

        Takes q0 and q1 (nq); gives (nv). Continuous joints take the short way, into (-pi, pi], unless others follow them;
        revolute ones do not.

        >>> hinge.samples.planar_2r().difference([0.0, 1.0], [0.5, 1.5])
        array([0.5, 0.5])
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
        **common: Unpack[Common],
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
    def force_parts(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any:
        """What of the joint forces is due to what: (inertial, coriolis, centrifugal, gravity, load).

        Takes q (nq), qd and qdd (nv); gives five arrays (nv), which add up to `inverse_dynamics`. Terms with two different
        rates are Coriolis forces, those with the square of one centrifugal. Load is what `external`, added potentials and
        the joints' own resistance ask, the last where `joint_terms` has it; armature is inertial.

        >>> arm = hinge.samples.planar_2r()
        >>> parts = arm.force_parts([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
        >>> bool(np.allclose(sum(parts), arm.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])))
        True
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
        **common: Unpack[Common],
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
    def generalised_forces(self, q: ArrayLike, actuators: ArrayLike, **common: Unpack[Common]) -> Any:
        """Joint forces from actuator forces: tau = Sᵀ F Q.

        Takes q (nq) and actuator forces (nv); gives tau (nv). They are the same for plain hinges and slides.

        >>> hinge.samples.planar_2r().generalised_forces([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
        """
        ...
    def gravity_force(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """What the joint forces must be to hold the robot still against gravity, and against what `with_potential` added.

        Takes q (nq); gives joint forces (nv) in N m and N.

        >>> hinge.samples.pendulum(1).gravity_force([0.0])
        array([0.])
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
        **common: Unpack[Common],
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
    def impulse_response(
        self,
        q: ArrayLike,
        impulses: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any:
        """The change of velocity that impulses make: H(q) δqd = impulses, forces that stay finite having no time to act.

        Takes q (nq) and generalised impulses (nv) in N m s and N s; gives δqd (nv). `external` has spatial impulses on
        bodies.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.impulse_response([0.0, 0.0], [0.0, 0.0], external={"hand": [0, 0, 0, 0, 0, 1.0]}).round(3)
        array([-0.857,  5.143])
        """
        ...
    def integrate(self, q: ArrayLike, v: ArrayLike, **common: Unpack[Common]) -> Any:
        """Where velocity times time leads: q moved by v.

        Takes q (nq) and v (nv), a velocity times a time; gives q (nq). A free joint moves by the exponential of its body
        twist, a spherical one by that of its angular velocity; quaternions come out with length one.

        >>> hinge.samples.planar_2r().integrate([0.0, 1.0], [0.5, 0.5])
        array([0.5, 1.5])
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
        **common: Unpack[Common],
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
    def inverse_mass_matrix(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The inverse of the mass matrix: accelerations per joint force.

        Takes q (nq); gives (nv, nv).

        >>> arm = hinge.samples.planar_2r()
        >>> bool(np.allclose(arm.inverse_mass_matrix([0.1, 0.2]) @ arm.mass_matrix([0.1, 0.2]), np.eye(2)))
        True
        """
        ...
    def jacobian(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any:
        """The motion of a link or frame for each joint velocity: v = J qd, angular rows first.

        Takes q (nq) and a name; gives (6, nv). `frame` is "body", "base" or "aligned".

        >>> hinge.samples.planar_2r().jacobian([0.0, 0.0], "hand").shape
        (6, 2)
        """
        ...
    def jacobian_rate(
        self, q: ArrayLike, qd: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]
    ) -> Any:
        """The rate of change of `jacobian`, entry by entry, in the same coordinates.

        Takes q (nq), qd (nv) and a name; gives (6, nv).

        >>> hinge.samples.planar_2r().jacobian_rate([0.0, 0.0], [1.0, 0.0], "hand").shape
        (6, 2)
        """
        ...
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any:
        """Half of qdᵀ H(q) qd, armature in.

        Takes q (nq) and qd (nv); gives a number in J.

        >>> float(hinge.samples.planar_2r().kinetic_energy([0.0, 0.0], [0.0, 0.0]))
        0.0
        """
        ...
    def mass_matrix(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The joint-space inertia matrix H(q), armature in: symmetric, and positive definite for a physical robot.

        Takes q (nq); gives (nv, nv) in kg m², kg m and kg.

        >>> hinge.samples.planar_2r().mass_matrix([0.0, 0.0]).shape
        (2, 2)
        """
        ...
    def momentum(self, q: ArrayLike, qd: ArrayLike, *, about: str = ..., **common: Unpack[Common]) -> Any:
        """The spatial momentum [angular; linear] of all moving bodies, in base axes.

        Takes q (nq) and qd (nv); gives (6,) in kg m²/s and kg m/s, about the base origin, or about the centre of mass
        with about="com".

        >>> hinge.samples.planar_2r().momentum([0.0, 0.0], [1.0, 0.0]).shape
        (6,)
        """
        ...
    def pose(self, q: ArrayLike, name: str, **common: Unpack[Common]) -> Any:
        """Where a link or frame is: the 4×4 matrix that takes its coordinates to the base's.

        Takes q (nq) and a name; gives (4, 4), lengths in m.

        >>> hinge.samples.planar_2r().pose([0.0, 0.0], "hand")[:3, 3]
        array([2., 0., 0.])
        """
        ...
    def potential_energy(self, q: ArrayLike, **common: Unpack[Common]) -> Any:
        """The work gravity has yet to do, zero when all mass is at the base origin, and that of `with_potential`.

        Takes q (nq); gives a number in J. Springs count where `joint_terms` has "stiffness".

        >>> float(hinge.samples.pendulum(1).potential_energy([0.0])) < 0
        True
        """
        ...
    def rate(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any:
        """How fast the coordinates change: qd itself, but for quaternions and the position of a free joint.

        Takes q (nq) and qd (nv); gives (nq).

        >>> hinge.samples.planar_2r().rate([0.0, 1.0], [0.5, 0.6])
        array([0.5, 0.6])
        """
        ...
    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
    ) -> Any:
        """The matrix Y for which Y π is inverse dynamics, where π is `hinge.identify.parameters(robot)`.

        Takes q (nq), qd and qdd (nv); gives (nv, p). Ten columns a body (m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, in
        the frame with its name), then one for each velocity of each joint and each of `joint_terms`.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.regressor([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (2, 22)
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
        **common: Unpack[Common],
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
        **common: Unpack[Common],
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
    def step(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        h: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any:
        """A step of simulation: the state after h seconds, with the joint forces held.

        Takes q (nq), qd and tau (nv), and h (s); gives (q, qd). Methods are "rk4", "euler", "semi_implicit", "implicit" and
        "lie_rk4", which keeps quaternions of length one by itself. `external` are forces held in their bodies' coordinates.

        >>> q, qd = hinge.samples.pendulum(1).step([0.1], [0.0], [0.0], 0.01)
        >>> q.shape, qd.shape
        ((1,), (1,))
        """
        ...
    def velocity(self, q: ArrayLike, qd: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any:
        """The spatial velocity [ω; v] of a link or frame.

        Takes q (nq), qd (nv) and a name; gives (6,) in rad/s and m/s. `frame` is "body", "base" or "aligned".

        >>> hinge.samples.planar_2r().velocity([0.0, 0.0], [1.0, 0.0], "hand", frame="aligned")
        array([ 0., -1.,  0.,  0.,  0.,  2.])
        """
        ...
    @property
    def actuator_names(self) -> Any: ...
    def control_forces(self, q: ArrayLike, qd: ArrayLike, ctrl: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def passive_forces(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def contact_system(
        self, q: Any, qd: Any, tau: Any, contacts: Any, backend: Any = ..., joint_terms: Any = ..., hold: Any = ...
    ) -> Any: ...
    def contact_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        contacts: Any,
        method: Any = ...,
        touch: Any = ...,
        backend: Any = ...,
        joint_terms: Any = ...,
        hold: Any = ...,
    ) -> Any: ...
    def contact_kernel(self, contacts: Any, backend: Any = ..., joint_terms: Any = ...) -> Any: ...
    def impact(
        self,
        q: Any,
        qd: Any,
        contacts: Any,
        restitution: Any = ...,
        touch: Any = ...,
        backend: Any = ...,
        hold: Any = ...,
    ) -> Any: ...
    def friction_step(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        contacts: Any,
        h: Any,
        law: Any = ...,
        restitution: Any = ...,
        tolerance: Any = ...,
        iterations: Any = ...,
        backend: Any = ...,
    ) -> Any: ...
    def contact_step(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        h: Any,
        contacts: Any = ...,
        ground: Any = ...,
        law: Any = ...,
        joint_terms: Any = ...,
        backend: Any = ...,
        derivatives: Any = ...,
        parameters: Any = ...,
    ) -> Any: ...
    def distances(self, q: Any, pairs: Any = ..., ground: Any = ..., exclude: Any = ..., backend: Any = ...) -> Any: ...
    def collides(self, q: Any, pairs: Any = ..., ground: Any = ..., exclude: Any = ..., backend: Any = ...) -> Any: ...
    def exponentials(self, name: Any, q: Any = ...) -> Any: ...
    def covariant_derivative(self, X: Any, Y: Any) -> Any: ...
    def gradient(self, V: Any = ...) -> Any: ...
    def geodesic(self, q: Any, qd: Any, t: Any = ..., steps: Any = ...) -> Any: ...
    def geodesic_between(self, q0: Any, q1: Any, steps: Any = ...) -> Any: ...
    def length(self, curve: Any, start: Any = ..., stop: Any = ...) -> Any: ...
    def energy_integral(self, curve: Any, start: Any = ..., stop: Any = ...) -> Any: ...
    def inner_product(self, q: ArrayLike, u: ArrayLike, v: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def connection(self, q: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def christoffel(self, q: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def coriolis_coefficients(self, q: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def composite_inertia(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any: ...
    def articulated_inertia(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any: ...
    def articulated_bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any: ...
    def inverse_inertia(self, q: ArrayLike, name: str, *, frame: str = ..., **common: Unpack[Common]) -> Any: ...
    def cross_inertia(self, q: ArrayLike, a: str, b: str, *, frame: str = ..., **common: Unpack[Common]) -> Any: ...
    def bias_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        name: str,
        *,
        frame: str = ...,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        **common: Unpack[Common],
    ) -> Any: ...
    @property
    def loop_names(self) -> Any: ...
    @property
    def circuit(self) -> Any: ...
    def mobility(self, q: Any) -> Any: ...
    def assemble(
        self, q: Any, hold: Any = ..., tolerance: Any = ..., iterations: Any = ..., strict: Any = ...
    ) -> Any: ...
    def loop_gap(self, q: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def loop_jacobian(self, q: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def loop_bias(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any: ...
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
        **common: Unpack[Common],
    ) -> Any: ...
    def loop_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        forces: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
    ) -> Any: ...
    def loop_project(self, q: ArrayLike, qd: ArrayLike, **common: Unpack[Common]) -> Any: ...
    def loop_inverse_dynamics(self, q: Any, qd: Any, qdd: Any, actuated: Any = ...) -> Any: ...
    def imu(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, name: str, **common: Unpack[Common]) -> Any: ...
    def joint_wrench(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        name: str,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
    ) -> Any: ...
    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = ...,
        external_frame: str = ...,
        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,
        **common: Unpack[Common],
    ) -> Any: ...

"""Written by `make stub` from the registry of algorithms and the table of views; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, Required, TypedDict, TypeVar, Unpack, overload

from hinge.backends.kernel import Kernel
from hinge.calls.derivatives import No, Tangents, Three, Yes
from hinge.calls.target import Target
from hinge.calls.views import View
from hinge.contact.contacts import Contact
from hinge.contact.distances import Distances, Names
from hinge.contact.dynamics import ContactDynamics, ContactSystem, Method
from hinge.contact.impact import Impact
from hinge.contact.results import ContactStep
from hinge.contact.stepping import FrictionStep
from hinge.geometry.exponentials import ProductOfExponentials
from hinge.geometry.fields import Field, Function
from hinge.geometry.geodesics import Geodesic
from hinge.loops.assembly import Assembly
from hinge.loops.mobility import Mobility
from hinge.typing import Array, Backend, Check, Doubles, Flags, Frame, Numbers, Other, Single, Statuses, Term, np

Integrator = Literal["euler", "semi_implicit", "rk4", "lie_rk4", "dopri5", "implicit", "midpoint"]
Kind = Literal["spatial", "classical"]
About = Literal["base", "com"]
Task = Literal["pose", "position", "orientation"]
Metric = Literal["unit", "inertia"]
BiasAccelerationMethod = Literal["articulated", "mass_matrix", "auto"]
BiasForceMethod = Literal["newton_euler", "turney", "auto"]
ChristoffelMethod = Literal["recursive", "differentiation", "strobe", "auto"]
CoriolisCoefficientsMethod = Literal["differentiation", "strobe", "auto"]
CrossInertiaMethod = Literal["articulated", "mass_matrix", "auto"]
ForwardDynamicsMethod = Literal["articulated", "cluster", "composite", "articulated_base", "articulated_static", "composite_llt", "composite_turney", "conjugate_gradient", "loops", "nasser", "strobe", "auto"]
HybridDynamicsMethod = Literal["articulated", "composite", "auto"]
ImpulseResponseMethod = Literal["impulse_response", "loops", "auto"]
InverseDynamicsMethod = Literal["newton_euler", "euler_lagrange", "gibbs_appell", "hollerbach", "hollerbach_4x4", "luh", "newton_euler_base", "newton_euler_orin", "silver", "turney", "uicker_kahn", "uicker_kahn_direct", "auto"]
InverseInertiaMethod = Literal["articulated", "mass_matrix", "auto"]
LoopDynamicsMethod = Literal["mass_matrix", "articulated", "sparse", "auto"]
MassMatrixMethod = Literal["composite", "composite_base", "jacobians", "strobe", "strobe_symmetric", "auto"]
ResolvedAccelerationMethod = Literal["jacobian", "strobe", "auto"]
ResolvedRateMethod = Literal["jacobian", "strobe", "auto"]
StepMethod = Literal["rk4", "euler", "implicit", "lie_rk4", "semi_implicit", "auto"]

Given = TypeVar("Given")
Made = TypeVar("Made")

class Common(TypedDict, Generic[Given, Made], total=False):
    out: Made | None
    backend: Backend | None
    check: Check
    joint_terms: Sequence[Term]
    regroup: bool
    parameters: Mapping[str, Given] | None
    prescribed: Sequence[Given] | None

class Plain(Common[Given, Made], total=False):
    return_status: Literal[False]

class Told(Common[Given, Made], total=False):
    return_status: Required[Literal[True]]

class Actuation(View):
    @property
    def names(self) -> tuple[str, ...]:
        """The names of the controls, in order; an actuator with several has its name several times.

        >>> hinge.samples.planar_2r().actuation.names
        ()
        """
    @overload
    def forces(self: View, q: Doubles, qd: Numbers, ctrl: Numbers, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]:
        """Joint forces and actuator forces that the actuators of an MJCF file make of controls.

        Takes q (nq), qd (nv) and ctrl (nu) in the order of the file; gives tau (nv) and a force for each actuator, MuJoCo's
        qfrc_actuator and actuator_force. Gains, biases, gears, and the ranges of controls, actuators, tendons and joints
        are in.

        >>> arm = hinge.load('<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>'
        ...                  '<position joint="j" kp="10" kv="1"/></actuator></mujoco>')
        >>> arm.control_forces([0.1], [0.5], [0.3])
        (array([1.5]), array([1.5]))
        """
    @overload
    def forces(self: View, q: Doubles, qd: Numbers, ctrl: Numbers, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def forces(self: View, q: Single, qd: Single, ctrl: Single, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single]: ...
    @overload
    def forces(self: View, q: Single, qd: Single, ctrl: Single, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Statuses]: ...
    @overload
    def forces(self: View, q: Numbers, qd: Numbers, ctrl: Numbers, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]: ...
    @overload
    def forces(self: View, q: Numbers, qd: Numbers, ctrl: Numbers, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def forces(self: View, q: Other, qd: Other | Numbers, ctrl: Other | Numbers, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def forces(self: View, q: Other, qd: Other | Numbers, ctrl: Other | Numbers, *, method: Literal["control_forces", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other]: ...
    @overload
    def passive(self: View, q: Doubles, qd: Numbers, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Joint forces of springs and dampers of joints and fixed tendons, and of gravity compensation.

        Takes q (nq) and qd (nv); gives tau (nv) as they push: MuJoCo's qfrc_passive.

        >>> spring = '<joint stiffness="2" damping=".1"/>'
        >>> arm = hinge.load(f'<mujoco><worldbody><body>{spring}<geom size=".1"/></body></worldbody></mujoco>')
        >>> arm.passive_forces([0.1], [0.5])
        array([-0.25])
        """
    @overload
    def passive(self: View, q: Doubles, qd: Numbers, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def passive(self: View, q: Single, qd: Single, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def passive(self: View, q: Single, qd: Single, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def passive(self: View, q: Numbers, qd: Numbers, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def passive(self: View, q: Numbers, qd: Numbers, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def passive(self: View, q: Other, qd: Other | Numbers, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def passive(self: View, q: Other, qd: Other | Numbers, *, method: Literal["passive_forces", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...

class Contacts(View):
    def system(self: View, q: Numbers, qd: Numbers, tau: Numbers, contacts: Sequence[Contact], backend: Backend | None = None, joint_terms: Sequence[Term] = ('armature',), hold: Any = None, external: Mapping[str, Numbers] | None = None, external_frame: Frame = 'body', base_motion: tuple[Numbers, Numbers] | None = None, parameters: Mapping[str, Numbers] | None = None, prescribed: Sequence[Numbers] | None = None) -> ContactSystem:
        """The equations of contact dynamics: C (n, n), d (n), F (n, nv), free qdd (nv), responses (n, nv), gap, speed (n).

        Takes q (nq), qd and tau (nv), and a list of n contacts; batches broadcast. No state is asked whether it touches.
        Kinematic loops stay closed. `hold` is (A, b), rows (r, nv) and (r) with A qdd + b = 0 besides. `external`,
        `base_motion`, `parameters` and `prescribed` are as for `forward_dynamics`.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))
        >>> arm.contact_system([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip]).F
        array([[2., 1.]])
        """
    def dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, contacts: Sequence[Contact], method: Method = 'even', touch: float | None = 1e-06, backend: Backend | None = None, joint_terms: Sequence[Term] = ('armature',), hold: Any = None, external: Mapping[str, Numbers] | None = None, external_frame: Frame = 'body', base_motion: tuple[Numbers, Numbers] | None = None, parameters: Mapping[str, Numbers] | None = None, prescribed: Sequence[Numbers] | None = None) -> ContactDynamics:
        """Accelerations and contact forces of a robot that may touch things, without friction.

        Takes q (nq), qd and tau (nv), and a list of n contacts; gives qdd (nv), force (n) in N, acceleration of the gaps
        (n), the state of each contact, a status, gap and speed (n). A contact takes force where its gap is at most `touch`
        (m) and its bodies do not part faster than `touch` (m/s). Where they approach each other faster than that, an impact
        comes first: the row is NaN with Status.NO_SOLUTION, and `impact` gives the velocities after it. With touch=None all
        are taken to touch and to be at rest. `method` is as for `contact_forces`; "even" shares forces that are
        indeterminate. `hold` is (A, b) with A qdd + b = 0 besides. `external`, `base_motion`, `parameters` and `prescribed`
        are as for `forward_dynamics`.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))
        >>> arm.contact_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip]).qdd.round(3)
        array([-14.715,  29.43 ])
        """
    def kernel(self: View, contacts: Sequence[Contact], backend: Backend | None = None, joint_terms: Sequence[Term] = ('armature',)) -> Kernel:
        """A kernel from q, qd, tau to qdd (nv) and force (n): all of contact dynamics in machine code.

        The contacts are taken to touch in every state, and their normals to be independent; at most 8. Where they are not
        independent the row is NaN.

        >>> arm = hinge.samples.planar_2r()
        >>> kernel = arm.contact_kernel([hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))], backend="interpret")
        >>> kernel([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])[1].shape
        (1,)
        """
    def impact(self: View, q: Numbers, qd: Numbers, contacts: Sequence[Contact], restitution: Numbers | None = None, touch: float | None = 1e-06, backend: Backend | None = None, hold: Any = None, parameters: Mapping[str, Numbers] | None = None, prescribed: Sequence[Numbers] | None = None) -> Impact:
        """The velocities of a robot after an impact at contacts, with Newton's hypothesis replaced by Poisson's.

        Takes q (nq), qd (nv) and n contacts; `restitution`, one number or n, stands for what the contacts say. Contacts
        with a gap above `touch` (m) take no part. Kinematic loops stay closed, (9.63); `hold` (r, nv) has rows A with A
        qd = 0 before and after besides. `parameters` and `prescribed` are as for `forward_dynamics`; prescribed joints keep
        their rates. Gives qd (nv), and impulses (n) in N s.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), restitution=0.5)
        >>> arm.impact([0.0, 0.0], [-1.0, 0.0], [tip]).qd.round(3)
        array([-1.75,  4.5 ])
        """
    def friction_step(self: View, q: Numbers, qd: Numbers, tau: Numbers, contacts: Sequence[Contact], h: float, law: str = 'coulomb', restitution: Numbers | None = None, tolerance: float = 1e-10, iterations: int = 20000, backend: Backend | None = None, external: Mapping[str, Numbers] | None = None, external_frame: Frame = 'body', base_motion: tuple[Numbers, Numbers] | None = None, parameters: Mapping[str, Numbers] | None = None, prescribed: Sequence[Numbers] | None = None) -> FrictionStep:
        """The velocities after h seconds with contacts that have friction, restitution and compliance.

        Takes q (nq), qd and tau (nv) and n contacts; a gap that would not close within h takes no part. h = 0 is
        an impact with friction. `law` is "coulomb", or "convex" as for `friction_forces`. A compliance of c (m/N) gives way
        by c times the force. `external`, `base_motion`, `parameters` and `prescribed` are as for `forward_dynamics`.

        >>> arm = hinge.samples.planar_2r()
        >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), friction=0.5)
        >>> arm.friction_step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip], 1e-3).impulse.shape
        (1, 3)
        """
    def step(self: View, q: Numbers, qd: Numbers, tau: Numbers, h: Numbers, contacts: Any = None, ground: Any = None, law: str = 'rigid', joint_terms: Sequence[Term] = ('armature',), backend: Backend | None = None, derivatives: bool = False, parameters: Mapping[str, Numbers] | None = None) -> ContactStep:
        """The state after h seconds with the joint forces held and contacts that are found, or given.

        Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground`, `law` and `parameters` are as in `hinge.simulate`. By
        the rigid law the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler; it is a step of
        `hinge.rollout`. With `derivatives` A and B say how its end changes, by the implicit function; a status NOT_SMOOTH
        says that a contact is within a millionth of where it opens, closes, sticks or slides, where they are those of one
        side.

        >>> scene = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0)
        >>> step = scene.robot.contact_step([1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), np.zeros(6), 1e-3, ground=0.0)
        >>> step.forces.shape, step.forces[0, 2].round(4)
        ((1, 3), np.float64(19.62))
        """
    def distances(self: View, q: Numbers, pairs: Sequence[Names] | None = None, ground: Any = None, exclude: Sequence[Names] = (), backend: Backend | None = None) -> Distances:
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
    def collides(self: View, q: Numbers, pairs: Sequence[Names] | None = None, ground: Any = None, exclude: Sequence[Names] = (), backend: Backend | None = None) -> Flags | np.bool:
        """Whether any two links overlap: (…), True also where q (…, nq) is not finite. Pairs are as in `distances`.

        >>> robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot
        >>> robot.collides([[1.0, 0, 0, 0, 0, 0, 0.05], [1.0, 0, 0, 0, 0, 0, 0.15]], ground=0.0)
        array([ True, False])
        """

class Geometry(View):
    def exponentials(self: View, name: str, q: Numbers | None = None) -> ProductOfExponentials:
        """The branch to a link or frame as its product of exponentials, with q as the reference configuration.

        >>> hinge.samples.planar_2r().exponentials("hand").twists[1]
        array([ 0., -1.,  0.,  0.,  0., -1.])
        """
    def covariant_derivative(self: View, X: Function, Y: Function) -> Field:
        """∇_X Y by the connection of the mass matrix, for fields given as functions of q over scalars; again a field.

        X and Y take q (nq) and give a component for each velocity (nv). Call the result with q (…, nq).

        >>> D = hinge.samples.planar_2r().covariant_derivative(lambda q: [1.0, 0.0], lambda q: [0.0, q[0]])
        >>> D([0.1, 0.2]).shape
        (2,)
        """
    def gradient(self: View, V: Function | None = None) -> Field:
        """H⁻¹ dV of a function V(q) over scalars, or of the potential energy: a field, the direction V grows in.

        >>> hinge.samples.pendulum(1).gradient()([0.0])
        array([0.])
        """
    def geodesic(self: View, q: Numbers, qd: Numbers, t: float = 1.0, steps: int = 1000) -> tuple[Array, Array]:
        """The path without gravity, springs or forces: q (…, steps + 1, nq) and qd (…, steps + 1, nv) up to time t.

        >>> hinge.samples.planar_2r().geodesic([0.0, 0.5], [1.0, 0.0], steps=10)[0].shape
        (11, 2)
        """
    def geodesic_between(self: View, q0: Numbers, q1: Numbers, steps: int = 100) -> Geodesic:
        """The shortest path from q0 to q1 by the mass matrix, in unit time: a free motion that arrives there.

        Gives q (…, steps + 1, nq), qd (…, steps + 1, nv) and status (…). It is the shortest of those found, and nothing
        near it is shorter; where none was found status is UNCONVERGED and the path NaN. Its speed is constant: its length
        is √(2T) at any point of it. Limits of joints are not looked at.

        >>> path = hinge.samples.planar_2r().geodesic_between([0.0, 0.5], [1.0, -0.2])
        >>> path.q[-1].round(9), path.status
        (array([ 1. , -0.2]), array(0, dtype=uint8))
        """
    def length(self: View, curve: Function, start: float = 0.0, stop: float = 1.0) -> Array:
        """∫ √(2T) dt along q = curve(t), a function over scalars: its length by the mass matrix.

        >>> float(hinge.samples.pendulum(1).length(lambda t: [3.0 * t]).round(6))
        1.732051
        """
    def energy_integral(self: View, curve: Function, start: float = 0.0, stop: float = 1.0) -> Array:
        """∫ T dt along q = curve(t), a function over scalars; stationary where the curve is a geodesic.

        >>> float(hinge.samples.pendulum(1).energy_integral(lambda t: [3.0 * t]).round(12))
        1.5
        """
    @overload
    def inner_product(self: View, q: Doubles, u: Numbers, v: Numbers, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """uᵀ H(q) v: the inner product of two velocities, armature in; of one with itself, twice its kinetic energy.

        Takes q (nq), u and v (nv); gives a number.

        >>> float(hinge.samples.pendulum(1).inner_product([0.0], [1.0], [3.0]))
        1.0
        """
    @overload
    def inner_product(self: View, q: Doubles, u: Numbers, v: Numbers, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inner_product(self: View, q: Single, u: Single, v: Single, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def inner_product(self: View, q: Single, u: Single, v: Single, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def inner_product(self: View, q: Numbers, u: Numbers, v: Numbers, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def inner_product(self: View, q: Numbers, u: Numbers, v: Numbers, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inner_product(self: View, q: Other, u: Other | Numbers, v: Other | Numbers, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def inner_product(self: View, q: Other, u: Other | Numbers, v: Other | Numbers, *, method: Literal["inner_product", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def connection(self: View, q: Doubles, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The connection of the mass matrix: Γ̂[i, j, k] is component i of the derivative along velocity j of velocity k.

        Takes q (nq); gives (nv, nv, nv). Where velocities are rates of coordinates these are the Christoffel symbols of
        the second kind, symmetric in the last two; else what they lack in symmetry are the structure constants.

        >>> hinge.samples.planar_2r().connection([0.0, 0.5]).shape
        (2, 2, 2)
        """
    @overload
    def connection(self: View, q: Doubles, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def connection(self: View, q: Single, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def connection(self: View, q: Single, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def connection(self: View, q: Numbers, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def connection(self: View, q: Numbers, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def connection(self: View, q: Other, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def connection(self: View, q: Other, *, method: Literal["levi_civita", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def christoffel(self: View, q: Doubles, *, method: ChristoffelMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The Christoffel symbols Γ of the mass matrix, of the first kind: (C qd)_i = Σ_jk Γ[i, j, k] qd[j] qd[k].

        Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "recursive", "differentiation" of the mass
        matrix, and "strobe", which sets rates to one in inverse dynamics. A joint whose velocities are not the rates of its
        coordinates is refused by name; `connection` covers it.

        >>> hinge.samples.planar_2r().christoffel([0.0, np.pi / 2]).round(3)[0]
        array([[ 0. , -0.5],
               [-0.5, -0.5]])
        """
    @overload
    def christoffel(self: View, q: Doubles, *, method: ChristoffelMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def christoffel(self: View, q: Single, *, method: ChristoffelMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def christoffel(self: View, q: Single, *, method: ChristoffelMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def christoffel(self: View, q: Numbers, *, method: ChristoffelMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def christoffel(self: View, q: Numbers, *, method: ChristoffelMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def christoffel(self: View, q: Other, *, method: ChristoffelMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def christoffel(self: View, q: Other, *, method: ChristoffelMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def coriolis_coefficients(self: View, q: Doubles, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The Christoffel symbols Γ of the mass matrix: Σ_jk Γ[i, j, k] qd[j] qd[k] is what the velocities ask of joint i.

        Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "differentiation" of the mass matrix and
        "strobe", which sets rates to one in inverse dynamics.

        >>> hinge.samples.planar_2r().coriolis_coefficients([0.0, 0.5]).shape
        (2, 2, 2)
        """
    @overload
    def coriolis_coefficients(self: View, q: Doubles, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def coriolis_coefficients(self: View, q: Single, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def coriolis_coefficients(self: View, q: Single, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def coriolis_coefficients(self: View, q: Numbers, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def coriolis_coefficients(self: View, q: Numbers, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def coriolis_coefficients(self: View, q: Other, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def coriolis_coefficients(self: View, q: Other, *, method: CoriolisCoefficientsMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def composite_inertia(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The inertia IC of a link and all it carries as one rigid body, the joints beyond it stiff.

        Takes q (nq) and a name; gives (6, 6), from motions [ω; v] to forces [couple; force]. `frame` is as for `jacobian`.
        Of the base it is that of all moving bodies. Armature is not in it.

        >>> hinge.samples.planar_2r().composite_inertia([0.1, 0.2], "upper")[3, 3]
        np.float64(2.0)
        """
    @overload
    def composite_inertia(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def composite_inertia(self: View, q: Single, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def composite_inertia(self: View, q: Single, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def composite_inertia(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def composite_inertia(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def composite_inertia(self: View, q: Other, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def composite_inertia(self: View, q: Other, name: str, *, frame: Frame = "body", method: Literal["composite_inertia", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def articulated_inertia(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The inertia IA that a force on a link meets, its own joint cut and those beyond it free: f = IA a + p.

        Takes q (nq) and a name; gives (6, 6), symmetric, from motions [ω; v] to forces [couple; force]. `frame` is as for
        `jacobian`. With no joint cut it is the inverse of `inverse_inertia`, where the link has six freedoms.

        >>> hinge.samples.planar_2r().articulated_inertia([0.1, 0.2], "upper")[3, 3].round(3)
        np.float64(1.97)
        """
    @overload
    def articulated_inertia(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def articulated_inertia(self: View, q: Single, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def articulated_inertia(self: View, q: Single, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def articulated_inertia(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def articulated_inertia(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def articulated_inertia(self: View, q: Other, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def articulated_inertia(self: View, q: Other, name: str, *, frame: Frame = "body", method: Literal["articulated_inertia", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def articulated_bias(self: View, q: Doubles, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The force p that a link needs for no acceleration, its own joint cut and those beyond it free: f = IA a + p.

        Takes q (nq), qd and tau (nv) and a name; gives (6,), [couple; force]; a is the spatial acceleration. `frame` is as
        for `jacobian`. Gravity and `external` are in, and what else `joint_terms` names.

        >>> hinge.samples.planar_2r().articulated_bias([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "lower")[5]
        np.float64(9.81)
        """
    @overload
    def articulated_bias(self: View, q: Doubles, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def articulated_bias(self: View, q: Single, qd: Single, tau: Single, name: str, *, frame: Frame = "body", external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def articulated_bias(self: View, q: Single, qd: Single, tau: Single, name: str, *, frame: Frame = "body", external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def articulated_bias(self: View, q: Numbers, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def articulated_bias(self: View, q: Numbers, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def articulated_bias(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def articulated_bias(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: Literal["articulated_bias", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def inverse_inertia(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The acceleration of a link or frame for each force on it, all joints free to move: J H⁻¹ Jᵀ (6, 6).

        Takes q (nq) and a name; `frame` is as for `jacobian`. Loops are not looked at.

        >>> hinge.samples.planar_2r().inverse_inertia([0.1, 0.2], "hand").shape
        (6, 6)
        """
    @overload
    def inverse_inertia(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inverse_inertia(self: View, q: Single, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def inverse_inertia(self: View, q: Single, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def inverse_inertia(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def inverse_inertia(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inverse_inertia(self: View, q: Other, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def inverse_inertia(self: View, q: Other, name: str, *, frame: Frame = "body", method: InverseInertiaMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def cross_inertia(self: View, q: Doubles, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The acceleration of one link or frame for each force on another: J_a H⁻¹ J_bᵀ (6, 6).

        Takes q (nq) and two names; rows are in the coordinates of the first, columns in those of the second.

        >>> hinge.samples.planar_2r().cross_inertia([0.1, 0.2], "hand", "upper").shape
        (6, 6)
        """
    @overload
    def cross_inertia(self: View, q: Doubles, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def cross_inertia(self: View, q: Single, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def cross_inertia(self: View, q: Single, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def cross_inertia(self: View, q: Numbers, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def cross_inertia(self: View, q: Numbers, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def cross_inertia(self: View, q: Other, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def cross_inertia(self: View, q: Other, a: str, b: str, *, frame: Frame = "body", method: CrossInertiaMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def bias_acceleration(self: View, q: Doubles, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The spatial acceleration b of a link or frame where no further force acts on it: a = Φ f + b.

        Takes q (nq), qd and tau (nv) and a name; gives (6,), [α; a]; `frame` is as for `jacobian`. Φ is `inverse_inertia`.

        >>> hinge.samples.planar_2r().bias_acceleration([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "hand")[5].round(3)
        np.float64(-8.409)
        """
    @overload
    def bias_acceleration(self: View, q: Doubles, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def bias_acceleration(self: View, q: Single, qd: Single, tau: Single, name: str, *, frame: Frame = "body", external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def bias_acceleration(self: View, q: Single, qd: Single, tau: Single, name: str, *, frame: Frame = "body", external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def bias_acceleration(self: View, q: Numbers, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def bias_acceleration(self: View, q: Numbers, qd: Numbers, tau: Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def bias_acceleration(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def bias_acceleration(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, name: str, *, frame: Frame = "body", external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: BiasAccelerationMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...

class Linkage(View):
    @property
    def names(self) -> tuple[str, ...]:
        """A name for each constraint, and so for each force, of the loops.

        >>> hinge.samples.piston_joint(loop="sphere_in_cylinder").loop_names
        ('pin: force along (1, 0, 0)', 'pin: force along (0, 1, 0)')
        """
    @property
    def circuit(self) -> Array:
        """E (loops, joints): +1 where a joint is on the way to the loop's successor, -1 to its predecessor, else 0.

        >>> hinge.samples.four_bar().circuit
        array([[ 1,  1, -1]])
        """
    def mobility(self: View, q: Numbers, parameters: Mapping[str, Numbers] | None = None) -> Mobility:
        """How many freedoms the loops leave at q (…, nq), by the rank of their Jacobian.

        `parameters` of a varied robot are as in every call, with batch axes.

        The dynamics count constraints by the same rule, so a state that a simulation has left a little open has the
        freedoms of the closed one.

        `indeterminate` names the forces that constraints which repeat each other leave open; for a batch, an entry
        a state.

        >>> linkage = hinge.samples.four_bar()
        >>> found = linkage.mobility(linkage.assemble([0.5, 0.5, 1.5]).q)
        >>> found.freedoms, found.constraints, found.rank
        (1, 5, 2)
        """
    def assemble(self: View, q: Numbers, hold: Sequence[str] = (), tolerance: float = 1e-12, iterations: int = 100, strict: bool = False, parameters: Mapping[str, Numbers] | None = None, prescribed: Sequence[Numbers] | None = None) -> Assembly:
        """The nearest configuration to q (…, nq) that closes the loops: (q, residual, status), a row a state.

        Joints named in `hold` stay where they are. A start that leads to no closed configuration is moved by up to 1 rad
        or m in random directions, the same ones in each call, and tried again. The residual is the largest gap left, in m
        and rad; status is `hinge.Status.UNCLOSED` where it is above `tolerance`, and with `strict` that is an error which
        names the loop.
        `parameters` of a varied robot and `prescribed` motion of driven joints are as in every call, with batch axes.

        >>> linkage = hinge.samples.slider_crank()
        >>> made = linkage.assemble([0.6, 0.0, 0.0], hold=["crank"])
        >>> float(made.q[0]), bool(made.residual < 1e-12)
        (0.6, True)
        """
    @overload
    def gap(self: View, q: Doubles, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """How far the loops are from being closed: (r,), lengths in m and sines of angles, zero where they are.

        >>> linkage = hinge.samples.four_bar()
        >>> bool(np.abs(linkage.loop_gap(linkage.assemble([0.5, 0.5, 1.5]).q)).max() < 1e-12)
        True
        """
    @overload
    def gap(self: View, q: Doubles, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def gap(self: View, q: Single, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def gap(self: View, q: Single, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def gap(self: View, q: Numbers, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def gap(self: View, q: Numbers, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def gap(self: View, q: Other, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def gap(self: View, q: Other, *, method: Literal["loop_gap", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def jacobian(self: View, q: Doubles, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The rates of the loops' gaps for each velocity: A (r, nv), with A qd = 0 where they stay closed.

        >>> hinge.samples.four_bar().loop_jacobian([0.5, 0.1, 0.2]).shape
        (5, 3)
        """
    @overload
    def jacobian(self: View, q: Doubles, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def jacobian(self: View, q: Single, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def jacobian(self: View, q: Single, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def jacobian(self: View, q: Numbers, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def jacobian(self: View, q: Numbers, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def jacobian(self: View, q: Other, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def jacobian(self: View, q: Other, *, method: Literal["loop_jacobian", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def bias(self: View, q: Doubles, qd: Numbers, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The accelerations of the loops' gaps that velocities alone make: c (r,) in A qdd + c.

        >>> hinge.samples.four_bar().loop_bias([0.5, 0.1, 0.2], [0.0, 0.0, 0.0]).any()
        np.False_
        """
    @overload
    def bias(self: View, q: Doubles, qd: Numbers, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def bias(self: View, q: Single, qd: Single, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def bias(self: View, q: Single, qd: Single, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def bias(self: View, q: Numbers, qd: Numbers, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def bias(self: View, q: Numbers, qd: Numbers, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def bias(self: View, q: Other, qd: Other | Numbers, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def bias(self: View, q: Other, qd: Other | Numbers, *, method: Literal["loop_bias", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def dynamics(self: View, q: Doubles, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, loop_tau: Numbers | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]:
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
    @overload
    def dynamics(self: View, q: Doubles, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, loop_tau: Numbers | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def dynamics(self: View, q: Single, qd: Single, tau: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, loop_tau: Single | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single]: ...
    @overload
    def dynamics(self: View, q: Single, qd: Single, tau: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, loop_tau: Single | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Statuses]: ...
    @overload
    def dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, loop_tau: Numbers | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]: ...
    @overload
    def dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, loop_tau: Numbers | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def dynamics(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, loop_tau: Other | Numbers | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def dynamics(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, loop_tau: Other | Numbers | None = None, method: LoopDynamicsMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other]: ...
    @overload
    def reactions(self: View, q: Doubles, qd: Numbers, qdd: Numbers, forces: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array, Array, Array]:
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
    @overload
    def reactions(self: View, q: Doubles, qd: Numbers, qdd: Numbers, forces: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Statuses]: ...
    @overload
    def reactions(self: View, q: Single, qd: Single, qdd: Single, forces: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single, Single, Single]: ...
    @overload
    def reactions(self: View, q: Single, qd: Single, qdd: Single, forces: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Single, Single, Statuses]: ...
    @overload
    def reactions(self: View, q: Numbers, qd: Numbers, qdd: Numbers, forces: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array, Array, Array]: ...
    @overload
    def reactions(self: View, q: Numbers, qd: Numbers, qdd: Numbers, forces: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Statuses]: ...
    @overload
    def reactions(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, forces: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other, Other, Other]: ...
    @overload
    def reactions(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, forces: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["loop_reactions", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other, Other, Other]: ...
    @overload
    def project(self: View, q: Doubles, qd: Numbers, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]:
        """The state brought back to the loops, by the least change in the metric of kinetic energy: gives (q, qd).

        Takes a state that all but closes them, as after a step of simulation; `assemble` is for others. The status is
        `hinge.Status.UNCLOSED` where a gap of more than 1e-6 rad, or of that share of a lever, is left.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> q, qd = linkage.loop_project(q + 1e-6, [1.0, 0.0, 0.0])
        >>> bool(np.abs(linkage.loop_gap(q)).max() < 1e-12), bool(np.abs(linkage.loop_jacobian(q) @ qd).max() < 1e-12)
        (True, True)
        """
    @overload
    def project(self: View, q: Doubles, qd: Numbers, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def project(self: View, q: Single, qd: Single, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single]: ...
    @overload
    def project(self: View, q: Single, qd: Single, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Statuses]: ...
    @overload
    def project(self: View, q: Numbers, qd: Numbers, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]: ...
    @overload
    def project(self: View, q: Numbers, qd: Numbers, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def project(self: View, q: Other, qd: Other | Numbers, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def project(self: View, q: Other, qd: Other | Numbers, *, method: Literal["loop_project", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other]: ...
    def inverse_dynamics(self: View, q: Numbers, qd: Numbers, qdd: Numbers, actuated: Sequence[str] | None = None, parameters: Mapping[str, Numbers] | None = None) -> tuple[Array, Array]:
        """Joint forces (nv) and loop forces (r) for a given motion, which has to keep the loops closed.

        Only the joints named in `actuated` push, all without it; of many ways the one with the least norm, and too few
        are refused. `parameters` of a varied robot are as in every call.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> tau, forces = linkage.loop_inverse_dynamics(q, np.zeros(3), np.zeros(3), actuated=["crank"])
        >>> tau[1:]
        array([0., 0.])
        """

class Sensors(View):
    @overload
    def imu(self: View, q: Doubles, qd: Numbers, qdd: Numbers, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """What an inertial measurement unit reads: angular velocity, and acceleration less gravity, in its own axes.

        Takes q (nq), qd and qdd (nv) and the name of a link or frame; gives (6,), what the gyroscope reads in rad/s, then
        the accelerometer in m/s²: at rest that is g upward, in free fall nothing.

        >>> hinge.samples.planar_2r().imu([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "hand")  # it goes round, 2 m/s² inward
        array([ 0.  , -1.  ,  0.  , -2.  ,  0.  ,  9.81])
        """
    @overload
    def imu(self: View, q: Doubles, qd: Numbers, qdd: Numbers, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def imu(self: View, q: Single, qd: Single, qdd: Single, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def imu(self: View, q: Single, qd: Single, qdd: Single, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def imu(self: View, q: Numbers, qd: Numbers, qdd: Numbers, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def imu(self: View, q: Numbers, qd: Numbers, qdd: Numbers, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def imu(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def imu(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, name: str, *, method: Literal["imu", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def wrench(self: View, q: Doubles, qd: Numbers, qdd: Numbers, name: str, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """What a force-torque sensor reads: the whole spatial force [couple; force] through a joint on what it carries.

        Takes q (nq), qd and qdd (nv) and the name of a link or frame; gives (6,) in N m and N, at that frame and in its
        coordinates. The joint is the one that carries the moving body which the frame is on.

        >>> hinge.samples.planar_2r().joint_wrench([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "lower").round(3)
        array([ 0.   , -4.905,  0.   ,  0.   ,  0.   ,  9.81 ])
        """
    @overload
    def wrench(self: View, q: Doubles, qd: Numbers, qdd: Numbers, name: str, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def wrench(self: View, q: Single, qd: Single, qdd: Single, name: str, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def wrench(self: View, q: Single, qd: Single, qdd: Single, name: str, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def wrench(self: View, q: Numbers, qd: Numbers, qdd: Numbers, name: str, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def wrench(self: View, q: Numbers, qd: Numbers, qdd: Numbers, name: str, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def wrench(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, name: str, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def wrench(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, name: str, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["joint_wrench", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def reactions(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array, Array, Array]:
        """The whole spatial force through each joint, its active and bearing parts, and the force on the base.

        Takes q (nq), qd and qdd (nv); gives total, active and bearing, (bodies, 6) each, forces [couple; force] on each
        moving body through its joint, in the body's own frame, and the force (6,) that the robot's joints take from the
        base, in base coordinates. total = active + bearing.

        >>> total, active, bearing, base = hinge.samples.planar_2r().joint_reactions([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> base[3:].round(2)
        array([ 0.  ,  0.  , 19.62])
        """
    @overload
    def reactions(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Statuses]: ...
    @overload
    def reactions(self: View, q: Single, qd: Single, qdd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single, Single, Single]: ...
    @overload
    def reactions(self: View, q: Single, qd: Single, qdd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Single, Single, Statuses]: ...
    @overload
    def reactions(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array, Array, Array]: ...
    @overload
    def reactions(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Statuses]: ...
    @overload
    def reactions(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other, Other, Other]: ...
    @overload
    def reactions(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["joint_reactions", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other, Other, Other]: ...

class Algorithms(View):
    target: Target
    actuation: Actuation
    contact: Contacts
    geometry: Geometry
    linkage: Linkage
    sensors: Sensors
    @overload
    def acceleration(self: View, q: Doubles, qd: Numbers, qdd: Numbers, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The acceleration [α; a] of a link or frame, gravity not included.

        Takes q (nq), qd and qdd (nv) and a name; gives (6,) in rad/s² and m/s². kind="spatial" is the rate of change of
        the spatial velocity; the linear part of kind="classical" is the acceleration of a point of the body: of the frame's
        own origin, or with frame="base" of the point that is passing the base origin.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "hand", frame="aligned", kind="classical")[3]
        np.float64(-2.0)
        """
    @overload
    def acceleration(self: View, q: Doubles, qd: Numbers, qdd: Numbers, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def acceleration(self: View, q: Single, qd: Single, qdd: Single, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def acceleration(self: View, q: Single, qd: Single, qdd: Single, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def acceleration(self: View, q: Numbers, qd: Numbers, qdd: Numbers, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def acceleration(self: View, q: Numbers, qd: Numbers, qdd: Numbers, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def acceleration(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def acceleration(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, name: str, *, frame: Frame = "body", kind: Kind = "spatial", method: Literal["acceleration", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def actuator_forces(self: View, q: Doubles, tau: Numbers, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Actuator forces from joint forces: the inverse of `generalised_forces`.

        Takes q (nq) and tau (nv); gives actuator forces (nv).

        >>> hinge.samples.planar_2r().actuator_forces([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
        """
    @overload
    def actuator_forces(self: View, q: Doubles, tau: Numbers, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def actuator_forces(self: View, q: Single, tau: Single, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def actuator_forces(self: View, q: Single, tau: Single, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def actuator_forces(self: View, q: Numbers, tau: Numbers, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def actuator_forces(self: View, q: Numbers, tau: Numbers, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def actuator_forces(self: View, q: Other, tau: Other | Numbers, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def actuator_forces(self: View, q: Other, tau: Other | Numbers, *, method: Literal["actuator_forces", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def bias_force(self: View, q: Doubles, qd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """What the joint forces must be for zero acceleration: C(q, qd), gravity in.

        Takes q (nq) and qd (nv); gives joint forces (nv) in N m and N.

        >>> arm = hinge.samples.puma560()
        >>> arm.bias_force(arm.neutral(), np.ones(6)).shape
        (6,)
        """
    @overload
    def bias_force(self: View, q: Doubles, qd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def bias_force(self: View, q: Single, qd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def bias_force(self: View, q: Single, qd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def bias_force(self: View, q: Numbers, qd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def bias_force(self: View, q: Numbers, qd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def bias_force(self: View, q: Other, qd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def bias_force(self: View, q: Other, qd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: BiasForceMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    def casadi(self: View, name: str, method: str | None = None, given: Sequence[str] = (), joint_terms: Sequence[str] = ('armature',), at: str | Sequence[str] = (), **options: str) -> Any:
        """An algorithm as a function of CasADi, compiled, with exact derivatives of every order: for solvers of your own.

        It takes and gives what `kernel` with these words does, vectors as columns, and last the `parameters` of a robot
        that varies, one after another. Derivatives by q are by its nq numbers, those of quaternions among them.
        f.map(n) takes n states in one call; f.expand() is the same in expressions of CasADi (SX), of which CasADi writes C.
        CasADi does not keep alive what it calls, so a function lives as long as the process.

        >>> f = hinge.samples.planar_2r().casadi("forward_dynamics")  # doctest: +SKIP
        >>> f.jacobian()([0.1, 0.2], [0.0, 0.0], [1.0, 2.0], 0)[0].shape  # doctest: +SKIP
        (2, 2)
        """
    @overload
    def center_of_mass(self: View, q: Doubles, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The centre of mass of all moving bodies, in base coordinates.

        Takes q (nq); gives (3,) in m.

        >>> hinge.samples.pendulum(1).center_of_mass([0.0]).shape
        (3,)
        """
    @overload
    def center_of_mass(self: View, q: Doubles, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def center_of_mass(self: View, q: Single, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def center_of_mass(self: View, q: Single, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def center_of_mass(self: View, q: Numbers, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def center_of_mass(self: View, q: Numbers, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def center_of_mass(self: View, q: Other, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def center_of_mass(self: View, q: Other, *, method: Literal["center_of_mass", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def coriolis_matrix(self: View, q: Doubles, qd: Numbers, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The matrix C with C qd the velocity forces and dH/dt - 2 C skew.

        Takes q (nq) and qd (nv); gives (nv, nv). It is the one of the Christoffel symbols where velocities are rates of
        coordinates. Gravity is not in it.

        >>> hinge.samples.planar_2r().coriolis_matrix([0.0, 0.0], [1.0, 0.0]).shape
        (2, 2)
        """
    @overload
    def coriolis_matrix(self: View, q: Doubles, qd: Numbers, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def coriolis_matrix(self: View, q: Single, qd: Single, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def coriolis_matrix(self: View, q: Single, qd: Single, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def coriolis_matrix(self: View, q: Numbers, qd: Numbers, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def coriolis_matrix(self: View, q: Numbers, qd: Numbers, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def coriolis_matrix(self: View, q: Other, qd: Other | Numbers, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def coriolis_matrix(self: View, q: Other, qd: Other | Numbers, *, method: Literal["coriolis", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    def derivative_pattern(self: View, name: str, by: str | Sequence[str] | None = None, at: str | Sequence[str] = (), **keywords: Any) -> Any:
        """Where the entries of packed derivatives stand: rows and columns, (k,) each; a pair for each of several results.

        Columns are counted through all that `by` names; rows through the entries of a result. `at` names the frame that
        the algorithm is about.

        >>> rows, columns = hinge.samples.planar_2r().derivative_pattern("inverse_dynamics")
        >>> len(rows)
        11
        """
    def derivatives(self: View, name: str, *inputs: Any, by: str | Sequence[str] | None = None, packed: bool = False, return_status: bool = False, **keywords: Any) -> Any:
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
    @overload
    def difference(self: View, q0: Doubles, q1: Numbers, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The velocity times time that leads from q0 to q1: the inverse of `integrate`.

        Takes q0 and q1 (nq); gives (nv). Continuous joints take the short way, into (-pi, pi], unless others follow them;
        revolute ones do not.

        >>> hinge.samples.planar_2r().difference([0.0, 1.0], [0.5, 1.5])
        array([0.5, 0.5])
        """
    @overload
    def difference(self: View, q0: Doubles, q1: Numbers, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def difference(self: View, q0: Single, q1: Single, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def difference(self: View, q0: Single, q1: Single, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def difference(self: View, q0: Numbers, q1: Numbers, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def difference(self: View, q0: Numbers, q1: Numbers, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def difference(self: View, q0: Other, q1: Other | Numbers, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def difference(self: View, q0: Other, q1: Other | Numbers, *, method: Literal["difference", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Doubles, qd: Numbers, qdd_joints: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]:
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
    @overload
    def floating_inverse_dynamics(self: View, q: Doubles, qd: Numbers, qdd_joints: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Single, qd: Single, qdd_joints: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Single, qd: Single, qdd_joints: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Statuses]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Numbers, qd: Numbers, qdd_joints: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Numbers, qd: Numbers, qdd_joints: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Other, qd: Other | Numbers, qdd_joints: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def floating_inverse_dynamics(self: View, q: Other, qd: Other | Numbers, qdd_joints: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: Literal["floating_inverse", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other]: ...
    @overload
    def force_parts(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Array]:
        """What of the joint forces is due to what: (inertial, coriolis, centrifugal, gravity, load).

        Takes q (nq), qd and qdd (nv); gives five arrays (nv), which add up to `inverse_dynamics`. Terms with two different
        rates are Coriolis forces, those with the square of one centrifugal. Load is what `external`, added potentials and
        the joints' own resistance ask, the last where `joint_terms` has it; armature is inertial.

        >>> arm = hinge.samples.planar_2r()
        >>> parts = arm.force_parts([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
        >>> bool(np.allclose(sum(parts), arm.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])))
        True
        """
    @overload
    def force_parts(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Array, Statuses]: ...
    @overload
    def force_parts(self: View, q: Single, qd: Single, qdd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single, Single, Single, Single]: ...
    @overload
    def force_parts(self: View, q: Single, qd: Single, qdd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Single, Single, Single, Statuses]: ...
    @overload
    def force_parts(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Array]: ...
    @overload
    def force_parts(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Array, Array, Array, Statuses]: ...
    @overload
    def force_parts(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other, Other, Other, Other]: ...
    @overload
    def force_parts(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: Literal["force_parts", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other, Other, Other, Other]: ...
    @overload
    def forward_dynamics(self: View, q: Doubles, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Accelerations that follow from joint forces: qdd = H(q)⁻¹ (tau - C(q, qd)).

        Takes q (nq), qd and tau (nv); gives qdd (nv). Gravity and armature are in, and what else `joint_terms` names.
        `external` adds known forces on bodies; `base_motion` is the base's spatial velocity and acceleration in its own
        coordinates, gravity not included. A state whose equations are singular gives a row of NaN.

        >>> arm = hinge.samples.pendulum(1)
        >>> arm.forward_dynamics([0.0], [0.0], [0.0])
        array([0.])
        """
    @overload
    def forward_dynamics(self: View, q: Doubles, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def forward_dynamics(self: View, q: Single, qd: Single, tau: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def forward_dynamics(self: View, q: Single, qd: Single, tau: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def forward_dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def forward_dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def forward_dynamics(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def forward_dynamics(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: ForwardDynamicsMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def forward_dynamics_derivatives(self: View, q: Doubles, qd: Numbers, tau: Numbers, packed: No = False, *, return_status: No = False, **how: Any) -> Three[Array]:
        """How the accelerations of `forward_dynamics` change along `integrate`, with qd and with tau: dq, dqd, dtau.

        Takes q (nq), qd and tau (nv); each is (nv, nv), likewise.

        >>> arm = hinge.samples.puma560()
        >>> dq, dqd, dtau = arm.forward_dynamics_derivatives(arm.neutral(), np.zeros(6), np.zeros(6))
        >>> np.allclose(dtau, arm.inverse_mass_matrix(arm.neutral()))
        True
        """
    @overload
    def forward_dynamics_derivatives(self: View, q: Doubles, qd: Numbers, tau: Numbers, packed: No = False, *, return_status: Yes, **how: Any) -> tuple[Array, Array, Array, Statuses]: ...
    @overload
    def forward_dynamics_derivatives(self: View, q: Doubles, qd: Numbers, tau: Numbers, packed: Yes, *, return_status: No = False, **how: Any) -> Array: ...
    @overload
    def forward_dynamics_derivatives(self: View, q: Single, qd: Single, tau: Single, packed: No = False, *, return_status: No = False, **how: Any) -> Three[Single]: ...
    @overload
    def forward_dynamics_derivatives(self: View, q: Other, qd: Other, tau: Other, packed: No = False, *, return_status: No = False, **how: Any) -> Three[Other]: ...
    @overload
    def generalised_forces(self: View, q: Doubles, actuators: Numbers, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Joint forces from actuator forces: tau = Sᵀ F Q.

        Takes q (nq) and actuator forces (nv); gives tau (nv). They are the same for plain hinges and slides. A joint
        without actuators is passive: its joint force is zero, and the entries in its place mean nothing.

        >>> hinge.samples.planar_2r().generalised_forces([0.0, 0.0], [1.0, 2.0])
        array([1., 2.])
        """
    @overload
    def generalised_forces(self: View, q: Doubles, actuators: Numbers, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def generalised_forces(self: View, q: Single, actuators: Single, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def generalised_forces(self: View, q: Single, actuators: Single, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def generalised_forces(self: View, q: Numbers, actuators: Numbers, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def generalised_forces(self: View, q: Numbers, actuators: Numbers, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def generalised_forces(self: View, q: Other, actuators: Other | Numbers, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def generalised_forces(self: View, q: Other, actuators: Other | Numbers, *, method: Literal["generalised_forces", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def gravity_force(self: View, q: Doubles, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """What the joint forces must be to hold the robot still against gravity, and against what `with_potential` added.

        Takes q (nq); gives joint forces (nv) in N m and N.

        >>> hinge.samples.pendulum(1).gravity_force([0.0])
        array([0.])
        """
    @overload
    def gravity_force(self: View, q: Doubles, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def gravity_force(self: View, q: Single, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def gravity_force(self: View, q: Single, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def gravity_force(self: View, q: Numbers, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def gravity_force(self: View, q: Numbers, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def gravity_force(self: View, q: Other, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def gravity_force(self: View, q: Other, *, method: Literal["gravity_force", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def hybrid_dynamics(self: View, q: Doubles, qd: Numbers, tau: Numbers, qdd: Numbers, known: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]:
        """Forces where accelerations are given, accelerations where forces are: gives all of both, (tau, qdd).

        Takes q (nq), qd, tau and qdd (nv), and known (nv): 1 or True where the acceleration is given. Entries of tau where
        it is known, and of qdd where it is not, are not looked at. Gives tau and qdd, (nv) each.

        >>> arm = hinge.samples.planar_2r()
        >>> tau, qdd = arm.hybrid_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [True, False])
        >>> float(qdd[0]), round(float(tau[1]), 12)
        (1.0, 3.0)
        """
    @overload
    def hybrid_dynamics(self: View, q: Doubles, qd: Numbers, tau: Numbers, qdd: Numbers, known: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def hybrid_dynamics(self: View, q: Single, qd: Single, tau: Single, qdd: Single, known: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single]: ...
    @overload
    def hybrid_dynamics(self: View, q: Single, qd: Single, tau: Single, qdd: Single, known: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Statuses]: ...
    @overload
    def hybrid_dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, qdd: Numbers, known: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]: ...
    @overload
    def hybrid_dynamics(self: View, q: Numbers, qd: Numbers, tau: Numbers, qdd: Numbers, known: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def hybrid_dynamics(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, qdd: Other | Numbers, known: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def hybrid_dynamics(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, qdd: Other | Numbers, known: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: HybridDynamicsMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other]: ...
    @overload
    def impulse_response(self: View, q: Doubles, impulses: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The change of velocity that impulses make: H(q) δqd = impulses, forces that stay finite having no time to act.

        Takes q (nq) and generalised impulses (nv) in N m s and N s; gives δqd (nv). `external` has spatial impulses on
        bodies.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.impulse_response([0.0, 0.0], [0.0, 0.0], external={"hand": [0, 0, 0, 0, 0, 1.0]}).round(3)
        array([-0.857,  5.143])
        """
    @overload
    def impulse_response(self: View, q: Doubles, impulses: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def impulse_response(self: View, q: Single, impulses: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def impulse_response(self: View, q: Single, impulses: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def impulse_response(self: View, q: Numbers, impulses: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def impulse_response(self: View, q: Numbers, impulses: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def impulse_response(self: View, q: Other, impulses: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def impulse_response(self: View, q: Other, impulses: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: ImpulseResponseMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def integrate(self: View, q: Doubles, v: Numbers, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Where velocity times time leads: q moved by v.

        Takes q (nq) and v (nv), a velocity times a time; gives q (nq). A free joint moves by the exponential of its body
        twist, a spherical one by that of its angular velocity; quaternions come out with length one.

        >>> hinge.samples.planar_2r().integrate([0.0, 1.0], [0.5, 0.5])
        array([0.5, 1.5])
        """
    @overload
    def integrate(self: View, q: Doubles, v: Numbers, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def integrate(self: View, q: Single, v: Single, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def integrate(self: View, q: Single, v: Single, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def integrate(self: View, q: Numbers, v: Numbers, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def integrate(self: View, q: Numbers, v: Numbers, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def integrate(self: View, q: Other, v: Other | Numbers, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def integrate(self: View, q: Other, v: Other | Numbers, *, method: Literal["integrate", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def inverse_dynamics(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Joint forces for a given motion: tau = H(q) qdd + C(q, qd).

        Takes q (nq), qd and qdd (nv), in rad and m and their rates; gives tau (nv) in N m and N. Gravity and armature are
        in, and what else `joint_terms` names. `external` adds known forces on bodies; `base_motion` is the base's spatial
        velocity and acceleration in its own coordinates, gravity not included.

        >>> arm = hinge.samples.puma560()
        >>> arm.inverse_dynamics(arm.neutral(), np.zeros(6), np.zeros(6)).shape
        (6,)
        """
    @overload
    def inverse_dynamics(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inverse_dynamics(self: View, q: Single, qd: Single, qdd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def inverse_dynamics(self: View, q: Single, qd: Single, qdd: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", base_motion: tuple[Single, Single] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def inverse_dynamics(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def inverse_dynamics(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Numbers, Numbers] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inverse_dynamics(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def inverse_dynamics(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: InverseDynamicsMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def inverse_dynamics_derivatives(self: View, q: Doubles, qd: Numbers, qdd: Numbers, packed: No = False, *, return_status: No = False, **how: Any) -> Three[Array]:
        """How the forces of `inverse_dynamics` change along `integrate`, with qd and with qdd: dq, dqd, dqdd (nv, nv) each.

        Takes q (nq), qd and qdd (nv). They are views of one array (nv, 3 nv); `packed` and keywords are as in
        `derivatives`.

        >>> arm = hinge.samples.puma560()
        >>> dq, dqd, dqdd = arm.inverse_dynamics_derivatives(arm.neutral(), np.zeros(6), np.zeros(6))
        >>> np.allclose(dqdd, arm.mass_matrix(arm.neutral()))
        True
        """
    @overload
    def inverse_dynamics_derivatives(self: View, q: Doubles, qd: Numbers, qdd: Numbers, packed: No = False, *, return_status: Yes, **how: Any) -> tuple[Array, Array, Array, Statuses]: ...
    @overload
    def inverse_dynamics_derivatives(self: View, q: Doubles, qd: Numbers, qdd: Numbers, packed: Yes, *, return_status: No = False, **how: Any) -> Array: ...
    @overload
    def inverse_dynamics_derivatives(self: View, q: Single, qd: Single, qdd: Single, packed: No = False, *, return_status: No = False, **how: Any) -> Three[Single]: ...
    @overload
    def inverse_dynamics_derivatives(self: View, q: Other, qd: Other, qdd: Other, packed: No = False, *, return_status: No = False, **how: Any) -> Three[Other]: ...
    @overload
    def inverse_mass_matrix(self: View, q: Doubles, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The inverse of the mass matrix: accelerations per joint force.

        Takes q (nq); gives (nv, nv).

        >>> arm = hinge.samples.planar_2r()
        >>> bool(np.allclose(arm.inverse_mass_matrix([0.1, 0.2]) @ arm.mass_matrix([0.1, 0.2]), np.eye(2)))
        True
        """
    @overload
    def inverse_mass_matrix(self: View, q: Doubles, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inverse_mass_matrix(self: View, q: Single, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def inverse_mass_matrix(self: View, q: Single, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def inverse_mass_matrix(self: View, q: Numbers, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def inverse_mass_matrix(self: View, q: Numbers, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def inverse_mass_matrix(self: View, q: Other, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def inverse_mass_matrix(self: View, q: Other, *, method: Literal["inverse_composite", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def jacobian(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The motion of a link or frame for each joint velocity: v = J qd, angular rows first.

        Takes q (nq) and a name; gives (6, nv). `frame` is "body", "base" or "aligned".

        >>> hinge.samples.planar_2r().jacobian([0.0, 0.0], "hand").shape
        (6, 2)
        """
    @overload
    def jacobian(self: View, q: Doubles, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def jacobian(self: View, q: Single, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def jacobian(self: View, q: Single, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def jacobian(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def jacobian(self: View, q: Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def jacobian(self: View, q: Other, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def jacobian(self: View, q: Other, name: str, *, frame: Frame = "body", method: Literal["jacobian", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def jacobian_rate(self: View, q: Doubles, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The rate of change of `jacobian`, entry by entry, in the same coordinates.

        Takes q (nq), qd (nv) and a name; gives (6, nv).

        >>> hinge.samples.planar_2r().jacobian_rate([0.0, 0.0], [1.0, 0.0], "hand").shape
        (6, 2)
        """
    @overload
    def jacobian_rate(self: View, q: Doubles, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def jacobian_rate(self: View, q: Single, qd: Single, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def jacobian_rate(self: View, q: Single, qd: Single, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def jacobian_rate(self: View, q: Numbers, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def jacobian_rate(self: View, q: Numbers, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def jacobian_rate(self: View, q: Other, qd: Other | Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def jacobian_rate(self: View, q: Other, qd: Other | Numbers, name: str, *, frame: Frame = "body", method: Literal["jacobian_rate", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    def jvp(self: View, name: str, inputs: Sequence[Any], tangents: Tangents, **keywords: Any) -> Any:
        """How an algorithm's results change when its inputs change along tangents: J times them, in one sweep.

        `inputs` is what the method takes, in a tuple; `tangents` one for each of its arrays, None where it stays, or a dict
        of them by name. That of q is a velocity (nv).

        >>> arm = hinge.samples.planar_2r()
        >>> arm.jvp("gravity_force", ([0.5, 0.0],), ([1.0, 0.0],)).round(3)
        array([-9.406, -2.352])
        """
    @overload
    def kinetic_energy(self: View, q: Doubles, qd: Numbers, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Half of qdᵀ H(q) qd, armature in.

        Takes q (nq) and qd (nv); gives a number in J.

        >>> float(hinge.samples.planar_2r().kinetic_energy([0.0, 0.0], [0.0, 0.0]))
        0.0
        """
    @overload
    def kinetic_energy(self: View, q: Doubles, qd: Numbers, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def kinetic_energy(self: View, q: Single, qd: Single, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def kinetic_energy(self: View, q: Single, qd: Single, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def kinetic_energy(self: View, q: Numbers, qd: Numbers, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def kinetic_energy(self: View, q: Numbers, qd: Numbers, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def kinetic_energy(self: View, q: Other, qd: Other | Numbers, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def kinetic_energy(self: View, q: Other, qd: Other | Numbers, *, method: Literal["kinetic_energy", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    def linearize(self: View, q: Numbers, qd: Numbers, tau: Numbers, h: Numbers | None = None, method: str | None = None, **keywords: Any) -> tuple[Array, Array]:
        """The motion near a state and forces: x' = A x + B u, with A (2 nv, 2 nv) and B (2 nv, nv).

        x is the displacement along `integrate` and the change of qd, u that of tau (N m, N). Displacements are seen from
        the position the robot moves through. Without `h` x' is the rate of x; with h seconds it is x after one `step` of
        that `method`.

        >>> A, B = hinge.samples.pendulum(1).linearize([0.0], [0.0], [0.0])
        >>> A.shape, B.shape
        ((2, 2), (2, 1))
        """
    @overload
    def mass_matrix(self: View, q: Doubles, *, method: MassMatrixMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The joint-space inertia matrix H(q), armature in: symmetric, and positive definite for a physical robot.

        Takes q (nq); gives (nv, nv) in kg m², kg m and kg.

        >>> hinge.samples.planar_2r().mass_matrix([0.0, 0.0]).shape
        (2, 2)
        """
    @overload
    def mass_matrix(self: View, q: Doubles, *, method: MassMatrixMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def mass_matrix(self: View, q: Single, *, method: MassMatrixMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def mass_matrix(self: View, q: Single, *, method: MassMatrixMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def mass_matrix(self: View, q: Numbers, *, method: MassMatrixMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def mass_matrix(self: View, q: Numbers, *, method: MassMatrixMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def mass_matrix(self: View, q: Other, *, method: MassMatrixMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def mass_matrix(self: View, q: Other, *, method: MassMatrixMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def momentum(self: View, q: Doubles, qd: Numbers, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The spatial momentum [angular; linear] of all moving bodies, in base axes.

        Takes q (nq) and qd (nv); gives (6,) in kg m²/s and kg m/s, about the base origin, or about the centre of mass
        with about="com".

        >>> hinge.samples.planar_2r().momentum([0.0, 0.0], [1.0, 0.0]).shape
        (6,)
        """
    @overload
    def momentum(self: View, q: Doubles, qd: Numbers, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def momentum(self: View, q: Single, qd: Single, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def momentum(self: View, q: Single, qd: Single, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def momentum(self: View, q: Numbers, qd: Numbers, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def momentum(self: View, q: Numbers, qd: Numbers, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def momentum(self: View, q: Other, qd: Other | Numbers, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def momentum(self: View, q: Other, qd: Other | Numbers, *, about: About = "base", method: Literal["momentum", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def pose(self: View, q: Doubles, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Where a link or frame is: the 4×4 matrix that takes its coordinates to the base's.

        Takes q (nq) and a name; gives (4, 4), lengths in m.

        >>> hinge.samples.planar_2r().pose([0.0, 0.0], "hand")[:3, 3]
        array([2., 0., 0.])
        """
    @overload
    def pose(self: View, q: Doubles, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def pose(self: View, q: Single, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def pose(self: View, q: Single, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def pose(self: View, q: Numbers, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def pose(self: View, q: Numbers, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def pose(self: View, q: Other, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def pose(self: View, q: Other, name: str, *, method: Literal["pose", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def potential_energy(self: View, q: Doubles, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The work gravity has yet to do, zero when all mass is at the base origin, and that of `with_potential`.

        Takes q (nq); gives a number in J. Springs count where `joint_terms` has "stiffness".

        >>> float(hinge.samples.pendulum(1).potential_energy([0.0])) < 0
        True
        """
    @overload
    def potential_energy(self: View, q: Doubles, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def potential_energy(self: View, q: Single, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def potential_energy(self: View, q: Single, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def potential_energy(self: View, q: Numbers, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def potential_energy(self: View, q: Numbers, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def potential_energy(self: View, q: Other, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def potential_energy(self: View, q: Other, *, method: Literal["potential_energy", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def rate(self: View, q: Doubles, qd: Numbers, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """How fast the coordinates change: qd itself, but for quaternions and the position of a free joint.

        Takes q (nq) and qd (nv); gives (nq).

        >>> hinge.samples.planar_2r().rate([0.0, 1.0], [0.5, 0.6])
        array([0.5, 0.6])
        """
    @overload
    def rate(self: View, q: Doubles, qd: Numbers, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def rate(self: View, q: Single, qd: Single, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def rate(self: View, q: Single, qd: Single, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def rate(self: View, q: Numbers, qd: Numbers, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def rate(self: View, q: Numbers, qd: Numbers, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def rate(self: View, q: Other, qd: Other | Numbers, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def rate(self: View, q: Other, qd: Other | Numbers, *, method: Literal["rate", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def regressor(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The matrix Y for which Y π is inverse dynamics, where π is `hinge.identify.parameters(robot)`.

        Takes q (nq), qd and qdd (nv); gives (nv, p). Ten columns a body (m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, in
        the frame with its name), then one for each velocity of each joint and each of `joint_terms`.

        >>> arm = hinge.samples.planar_2r()
        >>> arm.regressor([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (2, 22)
        """
    @overload
    def regressor(self: View, q: Doubles, qd: Numbers, qdd: Numbers, *, base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def regressor(self: View, q: Single, qd: Single, qdd: Single, *, base_motion: tuple[Single, Single] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def regressor(self: View, q: Single, qd: Single, qdd: Single, *, base_motion: tuple[Single, Single] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def regressor(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def regressor(self: View, q: Numbers, qd: Numbers, qdd: Numbers, *, base_motion: tuple[Numbers, Numbers] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def regressor(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def regressor(self: View, q: Other, qd: Other | Numbers, qdd: Other | Numbers, *, base_motion: tuple[Other | Numbers, Other | Numbers] | None = None, method: Literal["regressor", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def resolved_acceleration(self: View, q: Doubles, qd: Numbers, acceleration: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """Joint accelerations that give a link or frame a given acceleration: the least ones, where several do.

        Takes q (nq), qd (nv), acceleration (6), which is [α; a] of the frame's origin in base axes, and a name; gives qdd
        (nv). `task`, `metric`, `posture`, `damping`, `most` and `lost` are as in `resolved_rate`.

        >>> arm, q, qd = hinge.samples.puma560(), [0.0, 0.5, 0.5, 0.0, 0.5, 0.0], np.ones(6)
        >>> qdd = arm.resolved_acceleration(q, qd, [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], "tool")
        >>> arm.acceleration(q, qd, qdd, "tool", frame="aligned", kind="classical").round(9)[3]
        np.float64(0.1)
        """
    @overload
    def resolved_acceleration(self: View, q: Doubles, qd: Numbers, acceleration: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def resolved_acceleration(self: View, q: Single, qd: Single, acceleration: Single, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Single | None = None, damping: Single | None = None, most: Single | None = None, lost: Single | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def resolved_acceleration(self: View, q: Single, qd: Single, acceleration: Single, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Single | None = None, damping: Single | None = None, most: Single | None = None, lost: Single | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def resolved_acceleration(self: View, q: Numbers, qd: Numbers, acceleration: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def resolved_acceleration(self: View, q: Numbers, qd: Numbers, acceleration: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def resolved_acceleration(self: View, q: Other, qd: Other | Numbers, acceleration: Other | Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Other | Numbers | None = None, damping: Other | Numbers | None = None, most: Other | Numbers | None = None, lost: Other | Numbers | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def resolved_acceleration(self: View, q: Other, qd: Other | Numbers, acceleration: Other | Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Other | Numbers | None = None, damping: Other | Numbers | None = None, most: Other | Numbers | None = None, lost: Other | Numbers | None = None, method: ResolvedAccelerationMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def resolved_rate(self: View, q: Doubles, twist: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
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
    @overload
    def resolved_rate(self: View, q: Doubles, twist: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def resolved_rate(self: View, q: Single, twist: Single, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Single | None = None, damping: Single | None = None, most: Single | None = None, lost: Single | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def resolved_rate(self: View, q: Single, twist: Single, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Single | None = None, damping: Single | None = None, most: Single | None = None, lost: Single | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def resolved_rate(self: View, q: Numbers, twist: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def resolved_rate(self: View, q: Numbers, twist: Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Numbers | None = None, damping: Numbers | None = None, most: Numbers | None = None, lost: Numbers | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def resolved_rate(self: View, q: Other, twist: Other | Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Other | Numbers | None = None, damping: Other | Numbers | None = None, most: Other | Numbers | None = None, lost: Other | Numbers | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def resolved_rate(self: View, q: Other, twist: Other | Numbers, name: str, *, task: Task = "pose", metric: Metric = "unit", posture: Other | Numbers | None = None, damping: Other | Numbers | None = None, most: Other | Numbers | None = None, lost: Other | Numbers | None = None, method: ResolvedRateMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    def second_derivatives(self: View, name: str, *inputs: Any, by: str | Sequence[str] | None = None, weights: Numbers | None = None, along: Tangents | None = None, **keywords: Any) -> Any:
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
    @overload
    def step(self: View, q: Doubles, qd: Numbers, tau: Numbers, h: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]:
        """A step of simulation: the state after h seconds, with the joint forces held.

        Takes q (nq), qd and tau (nv), and h (s); gives (q, qd). Methods are "rk4", "euler", "semi_implicit", "implicit" and
        "lie_rk4", which keeps quaternions of length one by itself. `external` are forces held in their bodies' coordinates.

        >>> q, qd = hinge.samples.pendulum(1).step([0.1], [0.0], [0.0], 0.01)
        >>> q.shape, qd.shape
        ((1,), (1,))
        """
    @overload
    def step(self: View, q: Doubles, qd: Numbers, tau: Numbers, h: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def step(self: View, q: Single, qd: Single, tau: Single, h: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Plain[Single, Single]]) -> tuple[Single, Single]: ...
    @overload
    def step(self: View, q: Single, qd: Single, tau: Single, h: Single, *, external: Mapping[str, Single] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Single, Statuses]: ...
    @overload
    def step(self: View, q: Numbers, qd: Numbers, tau: Numbers, h: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Plain[Numbers, Array]]) -> tuple[Array, Array]: ...
    @overload
    def step(self: View, q: Numbers, qd: Numbers, tau: Numbers, h: Numbers, *, external: Mapping[str, Numbers] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Array, Statuses]: ...
    @overload
    def step(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, h: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    @overload
    def step(self: View, q: Other, qd: Other | Numbers, tau: Other | Numbers, h: Other | Numbers, *, external: Mapping[str, Other | Numbers] | None = None, external_frame: Frame = "body", method: StepMethod | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other, Other]: ...
    @overload
    def velocity(self: View, q: Doubles, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array:
        """The spatial velocity [ω; v] of a link or frame.

        Takes q (nq), qd (nv) and a name; gives (6,) in rad/s and m/s. `frame` is "body", "base" or "aligned".

        >>> hinge.samples.planar_2r().velocity([0.0, 0.0], [1.0, 0.0], "hand", frame="aligned")
        array([ 0., -1.,  0.,  0.,  0.,  2.])
        """
    @overload
    def velocity(self: View, q: Doubles, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def velocity(self: View, q: Single, qd: Single, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Plain[Single, Single]]) -> Single: ...
    @overload
    def velocity(self: View, q: Single, qd: Single, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Told[Single, Single]]) -> tuple[Single, Statuses]: ...
    @overload
    def velocity(self: View, q: Numbers, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Plain[Numbers, Array]]) -> Array: ...
    @overload
    def velocity(self: View, q: Numbers, qd: Numbers, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Told[Numbers, Array]]) -> tuple[Array, Statuses]: ...
    @overload
    def velocity(self: View, q: Other, qd: Other | Numbers, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Plain[Other | Numbers, Other]]) -> Other: ...
    @overload
    def velocity(self: View, q: Other, qd: Other | Numbers, name: str, *, frame: Frame = "body", method: Literal["velocity", "auto"] | None = None, **how: Unpack[Told[Other | Numbers, Other]]) -> tuple[Other, Other]: ...
    def vjp(self: View, name: str, inputs: Sequence[Any], cotangent: Any, by: str | Sequence[str] | None = None, **keywords: Any) -> tuple[Array, ...]:
        """The derivatives of a weighted sum of an algorithm's results: weights times J, in one sweep; a tuple as `by` says.

        `inputs` is what the method takes, in a tuple; `cotangent` has the shape of its result, or is a tuple of such.

        >>> arm = hinge.samples.planar_2r()
        >>> dq, dqd = arm.vjp("kinetic_energy", ([0.0, 1.0], [0.1, 0.2]), 1.0)
        >>> np.allclose(dqd, arm.mass_matrix([0.0, 1.0]) @ [0.1, 0.2])
        True
        """
    @property
    def actuator_names(self) -> tuple[str, ...]: ...
    control_forces = Actuation.forces
    passive_forces = Actuation.passive
    contact_system = Contacts.system
    contact_dynamics = Contacts.dynamics
    contact_kernel = Contacts.kernel
    impact = Contacts.impact
    friction_step = Contacts.friction_step
    contact_step = Contacts.step
    distances = Contacts.distances
    collides = Contacts.collides
    exponentials = Geometry.exponentials
    covariant_derivative = Geometry.covariant_derivative
    gradient = Geometry.gradient
    geodesic = Geometry.geodesic
    geodesic_between = Geometry.geodesic_between
    length = Geometry.length
    energy_integral = Geometry.energy_integral
    inner_product = Geometry.inner_product
    connection = Geometry.connection
    christoffel = Geometry.christoffel
    coriolis_coefficients = Geometry.coriolis_coefficients
    composite_inertia = Geometry.composite_inertia
    articulated_inertia = Geometry.articulated_inertia
    articulated_bias = Geometry.articulated_bias
    inverse_inertia = Geometry.inverse_inertia
    cross_inertia = Geometry.cross_inertia
    bias_acceleration = Geometry.bias_acceleration
    @property
    def loop_names(self) -> tuple[str, ...]: ...
    @property
    def circuit(self) -> Array: ...
    mobility = Linkage.mobility
    assemble = Linkage.assemble
    loop_gap = Linkage.gap
    loop_jacobian = Linkage.jacobian
    loop_bias = Linkage.bias
    loop_dynamics = Linkage.dynamics
    loop_reactions = Linkage.reactions
    loop_project = Linkage.project
    loop_inverse_dynamics = Linkage.inverse_dynamics
    imu = Sensors.imu
    joint_wrench = Sensors.wrench
    joint_reactions = Sensors.reactions

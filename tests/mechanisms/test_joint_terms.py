"""Damping, friction, springs and armature: data of a joint that `joint_terms` puts into the dynamics."""

import itertools

import numpy as np
import pytest
from machines import MOVING, grown, machine, near, rate, refused, state, stiffness

import hinge
from hinge.model import JOINTS
from hinge.model.joints import Spherical

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

TERMS = ("armature", "damping", "friction", "stiffness")
DATA = {"armature": 0.2, "damping": 0.7, "friction": 0.4, "stiffness": 3.0}
KINDS = ("revolute", "spherical", "planar", "helical", "sphere_in_cylinder", "prismatic")


def laden(kinds=KINDS, **options):
    return grown(80, kinds, tuple(max(0, k - 1) for k in range(len(kinds))), **DATA, **options)


ROBOT = laden()
every_choice = pytest.mark.parametrize(
    "terms", [c for n in range(5) for c in itertools.combinations(TERMS, n)], ids=lambda c: "+".join(c) or "none"
)


@pytest.mark.sampled(6)
@every_choice
def test_forward_dynamics_undoes_inverse_dynamics_with_any_terms(terms):
    q, qd, qdd, _ = state(ROBOT, 81, 2)
    tau = ROBOT.inverse_dynamics(q, qd, qdd, joint_terms=terms)
    for method in ("articulated", "composite"):
        made = ROBOT.forward_dynamics(q, qd, tau, joint_terms=terms, method=method)
        near(made, qdd, 1e-14, stiffness(ROBOT, q, joint_terms=terms))


@every_choice
def test_each_term_adds_its_own_force_and_no_other(terms):
    q, qd, qdd, _ = state(ROBOT, 82, 3)
    bare = ROBOT.inverse_dynamics(q, qd, qdd, joint_terms=())
    stretch = ROBOT.difference(ROBOT.neutral(), q)
    own = {"armature": 0.2 * qdd, "damping": 0.7 * qd, "friction": 0.4 * np.sign(qd), "stiffness": 3.0 * stretch}
    want = bare + sum((own[t] for t in terms), np.zeros_like(bare))
    near(ROBOT.inverse_dynamics(q, qd, qdd, joint_terms=terms), want, 1e-13, 50.0)


def test_only_armature_is_in_unless_asked():
    q, qd, qdd, tau = state(ROBOT, 83)
    assert np.array_equal(ROBOT.inverse_dynamics(q, qd, qdd), ROBOT.inverse_dynamics(q, qd, qdd, joint_terms=TERMS[:1]))
    near(ROBOT.mass_matrix(q) - ROBOT.mass_matrix(q, joint_terms=()), 0.2 * np.eye(ROBOT.nv), 1e-13, 10.0)
    near(ROBOT.mass_matrix(q, joint_terms=TERMS), ROBOT.mass_matrix(q), 1e-15)
    lost = ROBOT.kinetic_energy(q, qd) - ROBOT.kinetic_energy(q, qd, joint_terms=("damping",))
    near(lost, 0.1 * qd @ qd, 1e-13, 10.0)
    assert np.abs(ROBOT.forward_dynamics(q, qd, tau, joint_terms=()) - ROBOT.forward_dynamics(q, qd, tau)).max() > 1e-3


def test_friction_is_against_the_motion_and_nothing_at_rest():
    robot = laden(("revolute", "prismatic"))
    q, qdd = [0.3, 0.1], [0.0, 0.0]
    bare = robot.inverse_dynamics(q, [0.0, 0.0], qdd, joint_terms=())
    near(robot.inverse_dynamics(q, [0.0, -0.0], qdd, joint_terms=("friction",)), bare, 0.0)
    for qd in ([1e-300, -1e-300], [-5.0, 3.0]):
        more = robot.bias_force(q, qd, joint_terms=("friction",)) - robot.bias_force(q, qd, joint_terms=())
        near(more, 0.4 * np.sign(qd), 1e-14, 10.0)


def test_bias_and_gravity_forces_have_what_they_are_asked_for():
    q, qd, _, _ = state(ROBOT, 84)
    still = np.zeros(ROBOT.nv)
    want = ROBOT.inverse_dynamics(q, qd, still, joint_terms=TERMS)
    near(ROBOT.bias_force(q, qd, joint_terms=TERMS), want, 1e-14, 50.0)
    springs = ROBOT.gravity_force(q, joint_terms=("stiffness",)) - ROBOT.gravity_force(q)
    near(springs, 3.0 * ROBOT.difference(ROBOT.neutral(), q), 1e-13, 50.0)


def test_a_spring_stores_half_k_x_squared():
    q, _, _, _ = state(ROBOT, 85, 3)
    stored = ROBOT.potential_energy(q, joint_terms=("stiffness",)) - ROBOT.potential_energy(q)
    near(stored, 1.5 * (ROBOT.difference(ROBOT.neutral(), q) ** 2).sum(axis=1), 1e-13, 50.0)
    near(ROBOT.potential_energy(ROBOT.neutral(), joint_terms=("stiffness",)),
         ROBOT.potential_energy(ROBOT.neutral()), 1e-15)  # fmt: skip


@pytest.mark.parametrize("kinds", [("revolute", "prismatic", "helical"), ("spherical", "planar", "universal")])
def test_energy_goes_at_the_rate_of_damping_and_friction(kinds):
    """d(T + V)/dt = τ·q̇ - d q̇² - f |q̇|, with springs and armature in the energy."""
    robot = laden(kinds)
    q, qd, _, tau = state(robot, 86)
    qdd = robot.forward_dynamics(q, qd, tau, joint_terms=TERMS)

    def energy(t):
        at = robot.integrate(q, t * qd)
        return robot.kinetic_energy(at, qd + t * qdd, joint_terms=TERMS) + robot.potential_energy(at, joint_terms=TERMS)

    lost = 0.7 * qd @ qd + 0.4 * np.abs(qd).sum()
    assert lost > 1.0
    spring = 3.0 * robot.difference(robot.neutral(), q)
    # the spring of a ball pulls along its rotation vector, whose rate is q̇ only in that direction: the same power
    near(rate(energy), tau @ qd - lost, 1e-7, 50.0)
    assert np.abs(spring).max() > 0.1


def test_a_damped_hinge_runs_down_as_an_exponential():
    builder = hinge.Builder("fan", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("fan", mass=1.0, inertia=np.diag([0.1, 0.1, 0.2]))
    builder.joint("axle", "continuous", "base", "fan", damping=0.5, armature=0.05, stiffness=2.0)
    fan = hinge.Robot(builder.build())
    near(fan.forward_dynamics([0.0], [3.0], [0.0], joint_terms=("armature", "damping")), [-0.5 * 3.0 / 0.25], 1e-15)
    near(fan.forward_dynamics([0.3], [0.0], [0.0], joint_terms=("stiffness",)), [-2.0 * 0.3 / 0.2], 1e-15)


def test_terms_differ_from_joint_to_joint_and_within_one():
    builder = hinge.Builder("mixed", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("a", mass=1.0, inertia=np.eye(3))
    builder.link("b", mass=1.0, inertia=np.eye(3))
    builder.joint("one", "cylindrical", "base", "a", damping=(0.5, 2.0), armature=(0.0, 4.0))
    builder.joint("two", "revolute", "a", "b", damping=7.0)
    robot = hinge.Robot(builder.build())
    q, qd = np.zeros(3), np.array([1.0, 1.0, 1.0])
    near(robot.bias_force(q, qd, joint_terms=("damping",)), [0.5, 2.0, 7.0], 1e-15)
    near(np.diag(robot.mass_matrix(q) - robot.mass_matrix(q, joint_terms=())), [0.0, 4.0, 0.0], 1e-15)


def test_the_terms_of_a_follower_are_felt_through_its_ratio():
    builder = hinge.Builder("geared", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("a", mass=1.0, inertia=np.eye(3) * 0.3)
    builder.link("b", mass=1.0, inertia=np.eye(3) * 0.2)
    builder.joint("slow", "revolute", "base", "a")
    builder.joint("fast", "revolute", "base", "b", mimic=("slow", -4.0, 0.5), **DATA)
    robot = hinge.Robot(builder.build())
    q, qd, qdd = np.array([0.3]), np.array([2.0]), np.array([-1.5])
    made = {t: robot.inverse_dynamics(q, qd, qdd, joint_terms=(t,)) - robot.inverse_dynamics(q, qd, qdd, joint_terms=())
            for t in TERMS}  # fmt: skip
    near(made["armature"], 16 * 0.2 * qdd, 1e-14)
    near(made["damping"], 16 * 0.7 * qd, 1e-14)
    near(made["friction"], [4.0 * 0.4], 1e-14)
    near(made["stiffness"], [-4.0 * 3.0 * (-4.0 * 0.3 + 0.5)], 1e-14)
    tau = robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    for method in ("articulated", "composite"):
        near(robot.forward_dynamics(q, qd, tau, joint_terms=TERMS, method=method), qdd, 1e-13)


def test_hybrid_and_driven_robots_have_them_too():
    q, qd, qdd, tau = state(ROBOT, 87)
    known, held = np.zeros(ROBOT.nv, bool), np.zeros(ROBOT.nq, bool)
    for name in ("joint1", "joint2"):
        at_q, at_v = ROBOT.coordinates(name)
        known[at_v] = held[at_q] = True
    forces, accelerations = ROBOT.hybrid_dynamics(q, qd, tau, qdd, known, joint_terms=TERMS)
    driven = ROBOT.prescribe("joint1", "joint2")
    given = q[held], qd[known], qdd[known]
    made = driven.forward_dynamics(q[~held], qd[~known], tau[~known], prescribed=given, joint_terms=TERMS)
    near(made, accelerations[~known], 1e-14, stiffness(ROBOT, q))
    near(ROBOT.inverse_dynamics(q, qd, accelerations, joint_terms=TERMS), forces, 1e-12, 50.0)


def test_an_unknown_term_is_refused():
    arm = machine("tree")
    q, qd, qdd, _ = state(arm, 88)
    assert refused(hinge.UnknownName, arm.inverse_dynamics, q, qd, qdd, joint_terms=("armature", "dampng")) == (
        "joint_terms has 'dampng'. Did you mean 'damping'?"
    )
    assert refused(hinge.UnknownName, arm.mass_matrix, q, joint_terms=("gears",)) == (
        "joint_terms has 'gears'. Known: 'armature', 'damping', 'friction', 'stiffness'."
    )
    assert refused(hinge.UnknownName, arm.kernel, "mass_matrix", joint_terms=("gears",)) == (
        "joint_terms has 'gears'. Known: 'armature', 'damping', 'friction', 'stiffness'."
    )


def test_one_term_may_be_given_as_a_word():
    q, qd, qdd, _ = state(ROBOT, 89)
    near(ROBOT.inverse_dynamics(q, qd, qdd, joint_terms="damping"),
         ROBOT.inverse_dynamics(q, qd, qdd, joint_terms=("damping",)), 0.0)  # fmt: skip


@pytest.mark.parametrize("term", TERMS)
def test_a_negative_term_is_a_finding(term):
    builder = hinge.Builder("bad")
    builder.link("base")
    builder.link("a", mass=1.0, inertia=np.eye(3))
    builder.joint("j", "revolute", "base", "a", **{term: -1.0})
    assert [(f.severity, f.code) for f in builder.build().report] == [("error", "negative")]


@pytest.mark.sampled(15)
@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.parametrize("even", [True, False])
def test_a_spring_gives_back_what_it_stores(kind, even):
    """Its force is the gradient of its energy, for springs that are alike and for others, slack anywhere."""
    nv = JOINTS[kind].nv
    rest = grown(90, (kind,)).random_state(np.random.default_rng(91), 1)[0][0]
    k = 3.0 if even else tuple(np.linspace(1.0, 5.0, nv))
    robot = grown(90, ("revolute", kind), stiffness=0.0).vary("joint2.stiffness", "joint2.rest")
    q, qd, _, tau = state(robot, 92)
    terms = {
        "joint_terms": ("stiffness",),
        "parameters": {"joint2.stiffness": np.broadcast_to(k, nv), "joint2.rest": rest},
    }
    qdd = robot.forward_dynamics(q, qd, tau, **terms)

    def energy(t):
        at = robot.integrate(q, t * qd)
        return robot.kinetic_energy(at, qd + t * qdd, **terms) + robot.potential_energy(at, **terms)

    near(rate(energy).squeeze(), tau @ qd, 1e-7, 30.0)
    fixed = grown(90, (kind,), stiffness=k, rest=tuple(rest))
    pulls = fixed.gravity_force(q[1:], joint_terms=("stiffness",)) - fixed.gravity_force(q[1:])
    Y = fixed.regressor(q[1:], np.zeros(nv), np.zeros(nv), joint_terms=("stiffness",))
    near(Y[:, -nv:] @ np.broadcast_to(k, nv), pulls, 1e-12, 50.0)


class Ball(Spherical):
    """A ball that does not say what its springs do."""

    spring = hinge.Joint.spring


def test_springs_of_a_joint_of_ones_own_are_differentiated():
    q, rest = np.random.default_rng(93).normal(size=(2, 4)).tolist()
    for k in ((2.0, 2.0, 2.0), (1.0, 2.0, 5.0)):
        near(np.hstack(Ball().spring(rest, q, k)), np.hstack(Spherical().spring(rest, q, k)), 1e-13)

"""What acts on a robot with contacts: wrenches, a moving base, prescribed joints, varied numbers; impacts first."""

import numpy as np
import pytest
from things import KINDS

import hinge

RNG = np.random.default_rng(3)
EXTERNAL = {"link3": [0.3, -0.2, 0.5, 2.0, -1.0, 4.0], "link5": [0.0, 0.1, 0.0, -3.0, 1.0, 0.5]}
BASE = ([0.1, -0.3, 0.2, 0.4, 0.1, -0.2], [0.5, 0.2, -0.1, 1.0, -2.0, 0.3])
WHOLE = hinge.samples.chain(np.random.default_rng(1), 5)
TIP, STEM = WHOLE.body_names[-1], WHOLE.body_names[0]
HELD = [1, 3]  # the velocities that are prescribed
FREE = [k for k in range(5) if k not in HELD]
Q, QD, QDD, TAU = RNG.normal(size=(4, 3, 5))  # three states


def contacts(friction=0.0):
    """One of each kind, against the world and against the first link."""
    made = []
    for words in KINDS.values():
        for other in (None, STEM):
            made.append(hinge.Contact(TIP, (0.1, -0.2, 0.3), other=other, friction=friction, **words))
    return made


def driven():
    names = WHOLE.joint_names
    return WHOLE.prescribe(*(names[k] for k in HELD)), {"prescribed": (Q[:, HELD], QD[:, HELD], QDD[:, HELD])}


def mass_varied():
    """A robot with another mass of a link, and the robot that was built with it."""
    return WHOLE.vary("link4.mass"), {"parameters": {"link4.mass": [1.0, 2.5, 4.0]}}


CASES = {
    "external": (WHOLE, {"external": {name: np.array(w) for name, w in EXTERNAL.items()}}, range(5)),
    "external, base axes": (WHOLE, {"external": EXTERNAL, "external_frame": "base"}, range(5)),
    "base motion": (WHOLE, {"base_motion": BASE}, range(5)),
    "prescribed": (*driven(), FREE),
    "all at once": (driven()[0], {"external": EXTERNAL, "base_motion": BASE} | driven()[1], FREE),
    "parameters": (*mass_varied(), range(5)),
}
each = pytest.mark.parametrize(("robot", "given", "free"), CASES.values(), ids=CASES)
only_q = ("parameters", "prescribed")


@pytest.mark.sampled(1)
@each
def test_the_equations_are_those_of_forward_dynamics(robot, given, free):
    q, qd, tau = Q[:, free], QD[:, free], TAU[:, free]
    made = robot.contact_system(q, qd, tau, contacts(), **given)
    assert made.free == pytest.approx(robot.forward_dynamics(q, qd, tau, **given), rel=1e-9, abs=1e-9)
    still = {k: v for k, v in given.items() if k in only_q}
    H = robot.mass_matrix(q, **still)
    assert pytest.approx(made.F @ np.linalg.solve(H, np.swapaxes(made.F, -1, -2)), rel=1e-8, abs=1e-9) == made.C


@pytest.mark.sampled(3)
@each
def test_gaps_are_those_of_the_whole_robot_and_accelerate_as_they_do(robot, given, free):
    """Featherstone's (9.43) and (9.44): what is prescribed moves from F to u, and a moving base changes neither."""
    whole = WHOLE.contact_system(Q, QD, TAU, contacts())
    made = robot.contact_system(Q[:, free], QD[:, free], TAU[:, free], contacts(), **given)
    assert made.gap == pytest.approx(whole.gap, abs=1e-12)
    assert made.speed == pytest.approx(whole.speed, abs=1e-11)
    assert pytest.approx(whole.F[:, :, free], abs=1e-11) == made.F

    def rate(system, qdd):
        u = system.d - np.einsum("mnv,mv->mn", system.F, system.free)
        return np.einsum("mnv,mv->mn", system.F, qdd) + u

    assert rate(made, QDD[:, free]) == pytest.approx(rate(whole, QDD), rel=1e-8, abs=1e-8)


@each
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_a_short_step_with_friction_changes_velocities_by_the_free_acceleration_and_the_impulses(
    robot, given, free, friction
):
    q, qd, tau = Q[:, free], QD[:, free], TAU[:, free]
    far = [hinge.Contact(TIP, (0, 0, 0), normal=(0, 0, 1), other_point=(0, 0, -50), friction=friction)]
    step = robot.friction_step(q, qd, tau, far, 1e-3, **given)  # touches nothing: all that acts is what is given
    assert step.qd == pytest.approx(qd + 1e-3 * robot.forward_dynamics(q, qd, tau, **given), rel=1e-9, abs=1e-9)
    assert np.array_equal(step.impulse, np.zeros((3, 1, 3)))


@each
def test_contact_dynamics_takes_the_same(robot, given, free):
    q, qd, tau = Q[:, free], 0 * QD[:, free], TAU[:, free]
    if "prescribed" in given:  # at rest: what closes would be an impact
        given = given | {"prescribed": (Q[:, HELD], 0 * QD[:, HELD], QDD[:, HELD])}
    made = robot.contact_dynamics(q, qd, tau, contacts()[:3], touch=100.0, **given)
    system = robot.contact_system(q, qd, tau, contacts()[:3], **given)
    assert (made.status == hinge.Status.OK).all()
    forces = np.einsum("mn,mnv->mv", made.force, system.response)
    assert made.qdd == pytest.approx(system.free + forces, rel=1e-9, abs=1e-9)
    assert (made.force >= 0.0).all()
    assert (made.acceleration >= -1e-6).all()


def test_an_impact_feels_how_fast_a_prescribed_joint_moves():
    robot, given = driven()
    contact = [hinge.Contact(TIP, (0.1, -0.2, 0.3), normal=(0.2, 0.3, 0.9))]
    made = robot.impact(Q[:, FREE], QD[:, FREE], contact, restitution=0.5, touch=100.0, **given)
    before = robot.contact_system(Q[:, FREE], QD[:, FREE], TAU[:, FREE], contact, **given).speed
    after = robot.contact_system(Q[:, FREE], made.qd, TAU[:, FREE], contact, **given).speed
    assert after == pytest.approx(np.where(before < 0, -0.5 * before, before), abs=1e-10)


@pytest.mark.parametrize("call", ["contact_system", "contact_dynamics", "friction_step", "impact"])
def test_a_call_that_needs_the_motion_of_prescribed_joints_says_so(call):
    robot, _ = driven()
    contact = [hinge.Contact(TIP, (0, 0, 0), normal=(0, 0, 1))]
    arguments = [np.zeros(3)] * (2 if call == "impact" else 3) + [contact] + [1e-3] * (call == "friction_step")
    with pytest.raises(hinge.HingeError, match=r"Give prescribed=\(value, rate, acceleration\) with 2, 2 and 2"):
        getattr(robot, call)(*arguments)


def test_a_run_with_contacts_refuses_driven_joints_by_name():
    robot, _ = driven()
    contact = [hinge.Contact(TIP, (0, 0, 0), normal=(0, 0, 1))]
    none = np.zeros(robot.nv)
    for call, run in (
        ("contact_step", lambda: robot.contact_step(none, none, none, 1e-3, contact)),
        ("simulate_contacts", lambda: hinge.simulate_contacts(robot, contact, 0.01)),
    ):
        with pytest.raises(
            hinge.NotCovered, match=f"{call}: joint '.*' is driven, and its motion during a step cannot"
        ):
            run()


# bodies that approach each other where they touch: an impact comes first


def test_bodies_that_approach_need_an_impact_first():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    floor = [hinge.Contact("ball", (0, 0, 0), normal=(0, 0, 1), offset=0.1)]
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0.1], (5, 1))
    q[4, 6] = 0.3  # above the floor it may fall as fast as it likes
    qd = np.zeros((5, 6))
    qd[:, 5] = [0.0, -1.0, -1e-9, 1.0, -1.0]
    made = ball.contact_dynamics(q, qd, np.zeros(6), floor)
    assert made.status.tolist() == [0, hinge.Status.NO_SOLUTION, 0, 0, 0]
    assert np.isnan(made.qdd[1]).all()
    assert np.isnan(made.force[1]).all()
    assert made.force[[0, 2, 3, 4], 0] == pytest.approx([19.62, 19.62, 0.0, 0.0])
    struck = ball.impact(q[1], qd[1], floor)  # featherstone1987, 9.6.1: n · v ≥ 0 holds after it
    after = ball.contact_dynamics(q[1], struck.qd, np.zeros(6), floor)
    assert after.status == hinge.Status.OK
    assert after.force == pytest.approx([19.62])

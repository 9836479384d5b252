"""Runs with contacts: bounces at the times a textbook gives, Zeno's at their end, making and breaking."""

from dataclasses import replace

import numpy as np
import pytest
from things import corners, loose, solid, standing

import hinge
from hinge import Status

G, R = 9.81, 0.1


def ball():
    return loose("ball", 2.0, np.eye(3) * 0.4 * 2.0 * R * R)


def floor(e):
    return hinge.Contact("ball", (0, 0, 0), normal=(0, 0, 1), offset=R, restitution=e)


def dropped(e, height, t, step=1e-2):
    return hinge.simulate_contacts(ball(), [floor(e)], t=t, q0=standing(R + height), step=step)


def test_a_ball_bounces_when_and_as_high_as_it_should():
    e, height = 0.7, 0.5
    run = dropped(e, height, 1.2)
    first = np.sqrt(2 * height / G)
    times = [ev.t for ev in run.events if ev.kind == "impact"]
    np.testing.assert_allclose(times[:3], [first, first * (1 + 2 * e), first * (1 + 2 * e + 2 * e * e)], atol=1e-10)
    speeds = [ev.qd[5] for ev in run.events]
    np.testing.assert_allclose(speeds[:3], np.sqrt(2 * G * height) * e ** np.arange(1, 4), rtol=1e-9)
    assert run.status == Status.OK


def test_an_elastic_ball_keeps_its_energy():
    run = dropped(1.0, 0.3, 2.0)
    robot = ball()
    energy = robot.kinetic_energy(run.q, run.qd) + robot.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert sum(ev.kind == "impact" for ev in run.events) >= 3


def test_bounces_without_number_end_at_rest_at_the_time_their_sum_says():
    e, height = 0.5, 0.2
    run = dropped(e, height, 1.0)
    end = np.sqrt(2 * height / G) * (1 + e) / (1 - e)
    rest = [ev for ev in run.events if ev.kind == "rest"]
    assert run.status == Status.AT_REST
    assert len(rest) == 1
    assert rest[0].t == pytest.approx(end, abs=1e-4)
    after = run.t > end + 1e-3
    np.testing.assert_allclose(run.q[after, 6], R, atol=1e-9)
    np.testing.assert_allclose(run.qd[after], 0.0, atol=1e-9)
    np.testing.assert_allclose(run.force[after], 2.0 * G, rtol=1e-9)


def test_a_block_lands_flat_stays_and_is_lifted_off():
    size = (0.4, 0.2, 0.1)
    block = solid("block", 3.0, size)

    def lift(t, q, qd):
        return np.array([0, 0, 0, 0, 0, 60.0 if t >= 0.5 else 0.0])

    run = hinge.simulate_contacts(block, corners("block", size), 0.6, standing(0.15), tau=lift, step=5e-3)
    landing = np.sqrt(2 * 0.1 / G)
    assert {ev.kind for ev in run.events} == {"impact", "break"}
    np.testing.assert_allclose([ev.t for ev in run.events if ev.kind == "impact"], landing, atol=1e-9)
    lying = (run.t > landing + 0.01) & (run.t < 0.49)
    np.testing.assert_allclose(run.force[lying], 3.0 * G / 4, rtol=1e-6)
    assert all(0.5 <= ev.t < 0.52 for ev in run.events if ev.kind == "break")  # there are some, see above
    assert run.qd[-1, 5] == pytest.approx((60.0 / 3.0 - G) * 0.1, rel=0.05)


def test_a_block_tips_over_its_edge_and_keeps_its_energy():
    size = (0.2, 0.2, 0.4)
    block = solid("block", 3.0, size)
    tilt = np.arctan(0.5) + 0.01  # its centre just beyond the edge at +x, about which it falls
    q0 = np.array([np.cos(tilt / 2), 0, np.sin(tilt / 2), 0, 0, 0, 0])
    q0[6] = -min((block.pose(q0, "block")[:3, :3] @ c.point)[2] for c in corners("block", size))
    run = hinge.simulate_contacts(block, corners("block", size), 0.3, q0, step=5e-3)
    energy = block.kinetic_energy(run.q, run.qd) + block.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    assert run.qd[-1, 1] > 0.5
    np.testing.assert_allclose(run.force[:, 2:], 0.0)
    gaps = block.contact_system(run.q, run.qd, np.zeros(6), corners("block", size)[:2]).gap
    np.testing.assert_allclose(gaps, 0.0, atol=1e-9)


def test_a_block_slides_to_a_stop_by_friction_and_stays():
    size, mu, speed = (0.4, 0.2, 0.1), 0.3, 1.0
    block, qd = solid("block", 3.0, size), [0, 0, 0, speed, 0, 0]
    run = hinge.simulate_contacts(block, corners("block", size, friction=mu), 0.4, standing(0.05), qd, step=1e-2)
    assert run.status == Status.OK
    stop = speed / (mu * G)
    np.testing.assert_allclose(np.interp(stop / 2, run.t, run.qd[:, 3]), speed / 2, atol=1e-6)
    np.testing.assert_allclose(run.q[-1, 4], speed**2 / (2 * mu * G), atol=6e-3)  # half a step at its speed
    np.testing.assert_allclose(run.qd[run.t > stop + 0.01], 0.0, atol=1e-7)
    np.testing.assert_allclose(run.force[1:].sum(axis=1), 3.0 * G, rtol=1e-6)
    np.testing.assert_allclose(run.q[:, 6], 0.05, atol=1e-9)


def test_a_ball_that_slides_begins_to_roll():
    contact = hinge.Contact("ball", (0, 0, 0), normal=(0, 0, 1), offset=R, friction=0.2)
    off = []
    for step in (2e-2, 1e-2):
        run = hinge.simulate_contacts(ball(), [contact], 0.2, standing(R), [0, 0, 0, 1.0, 0, 0], step=step)
        rolls = ball().velocity(run.q[-1], run.qd[-1], "ball", frame="aligned")
        off.append(rolls[3] - 5 / 7)  # the share of its speed that is left, whatever the friction
        assert rolls[1] * R == pytest.approx(rolls[3], abs=0.5 * step)
    assert abs(off[1]) < 0.05
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.3)  # of second order


def test_bad_input_is_refused():
    with pytest.raises(hinge.SizeError, match=r"begins 0.05 m deep. Start it apart"):
        hinge.simulate_contacts(ball(), [floor(0.0)], q0=standing(0.05))
    with pytest.raises(hinge.SizeError, match=r"have to be positive"):
        hinge.simulate_contacts(ball(), [floor(0.0)], t=-1.0)
    with pytest.raises(hinge.SizeError, match=r"have to be one state"):
        hinge.simulate_contacts(ball(), [floor(0.0)], q0=np.zeros((2, 7)))
    with pytest.raises(hinge.SizeError, match=r"Give a number from 0"):
        hinge.simulate_contacts(ball(), [floor(0.0)], q0=standing(0.5), restitution=2.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"t": np.inf}, r"simulate_contacts: t is inf. Give finite numbers."),
        ({"t": np.nan}, r"simulate_contacts: t is nan"),
        ({"t": [1.0, 2.0]}, r"simulate_contacts: t has shape \(2,\). Give one number."),
        ({"step": np.inf}, r"simulate_contacts: step is inf"),
        ({"q0": standing(np.nan)}, r"simulate_contacts: q0\[6\] is nan"),
        ({"qd0": [0, 0, np.inf, 0, 0, 0]}, r"simulate_contacts: qd0\[2\] is inf"),
    ],
)
@pytest.mark.timeout(60)
def test_a_run_without_end_or_from_nowhere_is_refused(given, words):
    for contact in (floor(0.0), replace(floor(0.0), friction=0.5)):
        with pytest.raises(hinge.SizeError, match=words):
            hinge.simulate_contacts(ball(), [contact], **{"q0": standing(0.5)} | given)


def test_shapes_of_a_file_that_says_nothing_of_their_surfaces_touch_each_other():
    text = """<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .1"><freejoint/><geom size=".1"/></body><body pos="0 0 .45"><freejoint/><geom size=".1"/></body>
    </worldbody></mujoco>"""
    mujoco = pytest.importorskip("mujoco")
    m, robot = mujoco.MjModel.from_xml_string(text), hinge.load(text)
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, 200)
    run = hinge.rollout(robot, [1, 0, 0, 0, 0, 0, 0.1, 1, 0, 0, 0, 0, 0, 0.45], np.zeros(12), 200, 2e-3, physics="file",
                        backend="llvm")  # fmt: skip
    assert run.q[-1, 13] == pytest.approx(d.qpos[9], abs=1e-6)
    assert d.qpos[9] > 0.29


# faces end


def on_a_table(kind, size, friction, offset=0.0, order=("box", "table")):
    """A box on a heavy table of 1 m that stands on the ground, and the contacts of that."""
    scene, half = hinge.Scene().ground(), (size[2] if kind == "box" else size[1]) / 2
    things = {"box": ("box", (0.2, 0.2, 0.2), 1.0), "table": (kind, size, 1e4)}
    places = {"box": [1.0, 0, 0, 0, offset, 0, 2 * half + 0.1], "table": [1.0, 0, 0, 0, 0, 0, half]}
    for name in order:
        scene.body(name, *things[name])
    q = np.concatenate([places[name] for name in order])
    return scene.robot, scene.contacts(q, friction=friction), q


TABLES = {"box": ((1.0, 0.8, 0.1), 0.4), "cylinder": ((0.5, 0.1), 0.3899)}  # size, and how far the box slides
BOX_FIRST = ("box", "table")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("order", "friction", "kind"),  # each value with each value of the others
    [(BOX_FIRST, 0.0, "box"), (BOX_FIRST, 0.05, "cylinder"), (BOX_FIRST[::-1], 0.0, "cylinder"),
     (BOX_FIRST[::-1], 0.05, "box")],
)  # fmt: skip
def test_a_box_that_is_pushed_off_a_table_does_not_float(order, friction, kind):
    size, reach = TABLES[kind]
    robot, contacts, q = on_a_table(kind, size, friction, order=order)
    qd = np.zeros(12)
    qd[3 + 6 * order.index("box")] = 1.0
    run = hinge.simulate_contacts(robot, contacts, 1.0, q, qd, step=5e-3)
    x = run.q[:, 4 + 7 * order.index("box")]
    assert run.status == hinge.Status.NO_SOLUTION  # featherstone1987, 9.6: from here it touches elsewhere
    assert run.events[-1].kind == "edge"
    assert contacts[run.events[-1].contact].other == "table"
    assert x[-1] == pytest.approx(reach, abs=6e-3 if friction else 1e-3)  # where its corners are over the edge
    assert run.t[-1] == pytest.approx(run.events[-1].t)
    short = hinge.simulate_contacts(robot, contacts, 0.3, q, qd, step=5e-3)
    assert short.status == hinge.Status.OK
    assert all(event.kind == "impact" for event in short.events)
    slowed = 0.5 * friction * 9.81 * 0.3**2
    assert short.q[-1, 4 + 7 * order.index("box")] == pytest.approx(0.3 - slowed, abs=2e-3)


def test_what_falls_beside_a_face_falls_on():
    scene = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).body("table", "box", (1.0, 1.0, 0.1), mass=1e4)
    over, beside = (np.array([1.0, 0, 0, 0, x, 0, 0.5, 1, 0, 0, 0, 0, 0, 0]) for x in (0.0, 0.7))
    contacts = [c for c in scene.contacts(over, within=1.0) if c.face]
    lifted = np.r_[np.zeros(11), 1e4 * 9.81]
    fallen = hinge.simulate_contacts(scene.robot, contacts, 0.5, beside, tau=lifted, step=5e-3)
    assert fallen.status == hinge.Status.OK
    assert fallen.q[-1, 6] == pytest.approx(0.5 - 0.5 * 9.81 * 0.25, abs=1e-9)
    caught = hinge.simulate_contacts(scene.robot, contacts, 0.5, over, tau=lifted, step=5e-3)
    assert caught.q[-1, 6] - caught.q[-1, 13] == pytest.approx(0.15, abs=1e-6)


def test_calls_about_one_state_know_where_a_face_ends():
    robot, contacts, q = on_a_table("box", (1.0, 1.0, 0.1), 0.0)
    contacts = [c for c in contacts if c.face]
    moved = np.tile(q, (3, 1))
    moved[:, 4] = [0.0, 0.45, 0.7]  # four corners on the table, two, none
    lifted = np.r_[np.zeros(11), 1e4 * 9.81]  # the table does not fall
    made = robot.contact_dynamics(moved, np.zeros(12), lifted, contacts)
    assert ((made.force > 0.0).sum(axis=1) == [4, 2, 0]).all()
    assert made.qdd[2, 5] == pytest.approx(-9.81)
    falling = np.zeros(12)
    falling[5] = -1.0
    struck = robot.impact(moved, falling, contacts)
    assert ((struck.impulse > 0.0).sum(axis=1) == [4, 2, 0]).all()
    stepped = robot.friction_step(moved, falling, np.zeros(12), contacts, 1e-3)
    assert ((stepped.impulse[..., 0] > 0.0).sum(axis=1) == [4, 2, 0]).all()


@pytest.mark.parametrize("call", [
    lambda robot, q, contacts: hinge.simulate(robot, 0.01, q, contacts=contacts),
    lambda robot, q, contacts: robot.contact_step(q, np.zeros(12), np.zeros(12), 1e-3, contacts),
], ids=["simulate", "contact_step"])  # fmt: skip
def test_a_list_of_contacts_on_faces_is_refused_where_planes_have_no_end(call):
    robot, contacts, q = on_a_table("box", (1.0, 1.0, 0.1), 0.0)
    with pytest.raises(hinge.HingeError, match=r"contacts\[0\], contact of 'box' with 'table', is on a face that ends"):
        call(robot, q, contacts)


def test_a_face_has_corners_and_a_normal():
    for words in ({"normal": (0, 0, 1), "face": [(0, 0, 0), (1, 0, 0)]}, {"face": np.eye(3)}):
        with pytest.raises(hinge.HingeError, match="Give a normal and at least 3 corners"):
            hinge.Contact("ball", (0, 0, 0), **words)


@pytest.mark.parametrize("height", [np.nan, np.inf, "a", [0.0, 1.0]])
def test_a_ground_at_no_height_is_refused(height):
    with pytest.raises(hinge.SizeError, match=r"^Ground: height "):
        hinge.Ground(height=height)


@pytest.mark.parametrize("h", [-1e-3, 0.0, [1e-3, -1e-3]])
def test_a_step_that_does_not_go_forward_is_refused(h):
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    q, still = np.tile([1.0, 0, 0, 0, 0, 0, 0.1], (2, 1)), np.zeros((2, 6))
    with pytest.raises(hinge.SizeError, match=r"^contact_step: h is -?0.* s\. Give steps above zero\.$"):
        ball.contact_step(q, still, still, h, ground=0.0)


@pytest.mark.parametrize(("law", "method"), [("rigid", "rk4"), ("soft", "semi_implicit")])
def test_a_contact_step_is_a_step_of_a_rollout(law, method):
    box, rng = hinge.Scene().body("box", "box", (0.2, 0.15, 0.1), 2.0).robot, np.random.default_rng(0)
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0.1], (4, 1))
    q[:, 6] -= 0.002 * rng.random(4)
    qd, tau = 0.3 * rng.normal(size=(4, 6)), rng.normal(size=(4, 6))
    qd[3, 5] = 1e9  # nothing real moves like this
    step = box.contact_step(q, qd, tau, 2e-3, ground=0.0, law=law)
    run = hinge.rollout(box, q, qd, 1, 2e-3, tau=tau, ground=0.0, law=law, method=method)
    good = run.status == hinge.Status.OK
    assert good.tolist() == [True, True, True, False]
    np.testing.assert_array_equal(step.status, run.status)
    np.testing.assert_array_equal(step.q[good], run.q[good, -1])
    np.testing.assert_array_equal(step.qd[good], run.qd[good, -1])


def test_dry_friction_acts_in_a_contact_step():
    arm = hinge.load("""<mujoco><worldbody><body pos="0 0 1"><joint axis="0 1 0" frictionloss="2"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/></body></worldbody></mujoco>""")
    how = {"ground": 0.0, "joint_terms": ("armature", "friction")}
    step = arm.contact_step([0.1], [0.5], [0.0], 1e-3, **how)
    run = hinge.rollout(arm, [0.1], [0.5], 1, 1e-3, method="rk4", **how)
    np.testing.assert_array_equal(step.qd, run.qd[-1])
    assert step.qd < arm.contact_step([0.1], [0.5], [0.0], 1e-3, ground=0.0).qd - 0.01

"""Derivatives of steps and rollouts with contacts: against differences, MuJoCo's, and a textbook's braking distance."""

from functools import partial

import numpy as np
import pytest

import hinge
from hinge.graph import Graph, along, held, pulled, repeat
from hinge.sim import setup
from hinge.status import Status
from hinge.steps import contact_step
from hinge.steps.step import Physics

H = 2e-3
FEET = [(x, y) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
LEGS = "".join(
    f'<body name="leg{k}" pos="{x} {y} 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" '
    f'mass=".4" contype="0" conaffinity="0"/><geom name="foot{k}" size=".03" pos="0 0 -.2" mass=".1"/></body>'
    for k, (x, y) in enumerate(FEET)
)
QUADRUPED = f"""<mujoco><worldbody><body name="trunk"><freejoint/><geom type="box" size=".2 .1 .03" mass="4"/>{LEGS}
</body></worldbody></mujoco>"""
BOX = """<mujoco><option cone="{}"/><worldbody><body name="box"><freejoint/><geom type="box" size=".2 .15 .1" mass="2"/>
</body></worldbody></mujoco>"""
ARM = """<mujoco><compiler angle="radian"/><option tolerance="1e-15" integrator="{}"/><worldbody>
<geom type="plane" size="0 0 1" friction=".4"/>
<body name="upper" pos="0 0 .673"><joint name="a" axis="0 1 0" range="-1 .7" limited="true" damping=".2"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/><body name="lower" pos=".4 0 0">
<joint name="b" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass=".7"/></body>
</body></worldbody><actuator><motor joint="a"/><position joint="b" kp="15"/></actuator></mujoco>"""
PLANAR = """<mujoco><option cone="{}" tolerance="1e-16" timestep="0.002"/><worldbody>
<geom type="plane" size="0 0 1" friction=".6"/><body name="box" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="z" type="slide" axis="0 0 1"/><joint name="y" axis="0 1 0"/><geom type="box" size=".2 .15 .1" mass="2"/>
<body name="pole" pos="0 0 .1"><joint name="p" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .1 0 .3" size=".02"
mass=".5" contype="0" conaffinity="0"/></body></body></worldbody>
<actuator><motor joint="x"/><motor joint="z"/><motor joint="y"/><motor joint="p"/></actuator></mujoco>"""


@pytest.fixture
def exact(monkeypatch):
    """Steps whose answers are found to the last digits, as those are that have derivatives: differences say something
    then."""
    monkeypatch.setattr(contact_step, "Physics", partial(Physics, slopes=True))
    monkeypatch.setattr(setup, "Physics", partial(Physics, slopes=True))


def differences(robot, q, qd, tau, small=1e-6, **how):
    """A and B side by side by central differences of the step."""
    nv = robot.nv
    d = small * np.eye(3 * nv)

    def ends(sign):
        at = robot.integrate(q[:, None], sign * d[None, :, :nv])
        made = robot.contact_step(
            at, qd[:, None] + sign * d[:, nv : 2 * nv], tau[:, None] + sign * d[:, 2 * nv :], H, **how
        )
        return made.q, made.qd

    (q1, v1), (q0, v0) = ends(1.0), ends(-1.0)
    return np.swapaxes(np.concatenate([robot.difference(q0, q1), v1 - v0], -1), -1, -2) / (2.0 * small)


def agrees(robot, q, qd, tau, rtol, small=1e-6, **how):
    """A step whose derivatives are those of differences, each row of a batch against its largest."""
    made = robot.contact_step(q, qd, tau, H, derivatives=True, **how)
    J, D = np.concatenate([made.A, made.B], -1), differences(robot, q, qd, tau, small, **how)
    good = made.status == Status.OK
    assert good.mean() > 0.8
    assert (np.abs(J - D).max((-2, -1)) < rtol * np.abs(D).max((-2, -1)))[good].all()
    return made


def loose(n, height, seed=0, tilt=0.02, speed=0.3):
    """States of a body that stands at a height, all but upright, and moves."""
    rng = np.random.default_rng(seed)
    q = np.tile([1.0, 0, 0, 0, 0, 0, height], (n, 1))
    q[:, 1:4] = tilt * rng.normal(size=(n, 3))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    return q, speed * rng.normal(size=(n, 6)), rng.normal(size=(n, 6))


# ---- one step


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("law", "cone"), [("soft", "elliptic"), ("soft", "pyramidal"), ("rigid", "elliptic")])
def test_a_box_that_sticks_or_slides(law, cone):
    q, qd, tau = loose(12, 0.097)
    qd[::2] *= 0.01  # these stick
    agrees(hinge.load(BOX.format(cone)), q, qd, tau, 1e-5, ground=hinge.Ground(friction=0.5), law=law)


@pytest.mark.usefixtures("exact")
def test_a_ball_that_bounces():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot
    q, qd, tau = loose(6, 0.1, speed=1.0)
    qd[:, 5] = -1.0 - qd[:, 5] ** 2
    how = {"ground": hinge.Ground(friction=0.2, restitution=0.6)}
    made = agrees(ball, q, qd, tau, 1e-6, **how)
    upright = ball.contact_step([1, 0, 0, 0, 0, 0, 0.1], [0, 0, 0, 0, 0, -2.0], np.zeros(6), H, derivatives=True, **how)
    assert np.isclose(upright.A[11, 11], -0.6)
    assert (made.qd[:, 5] > 0.0).all()


@pytest.mark.sweep
@pytest.mark.usefixtures("exact")
def test_a_quadruped_that_stands():
    robot, rng = hinge.load(QUADRUPED), np.random.default_rng(0)
    q = np.tile(np.r_[1.0, np.zeros(5), 0.228, 0.1, -0.1, 0.05, 0.0], (3, 1))
    qd, tau = 0.02 * rng.normal(size=(3, robot.nv)), rng.normal(size=(3, robot.nv))
    qd[:, 5] -= 0.1
    made = agrees(robot, q, qd, tau, 1e-6, 1e-7, ground=hinge.Ground(friction=0.8), law="soft")
    assert ((made.pairs >= 0).sum(-1) >= 3).all()


@pytest.mark.sweep
@pytest.mark.usefixtures("exact")
def test_a_hull_that_a_search_finds(tmp_path):
    (tmp_path / "tet.obj").write_text(
        "v -.1 -.1 -.1\nv .12 -.08 -.09\nv 0 .11 -.1\nv .01 .02 .12\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    )
    text = """<mujoco><asset><mesh name="tet" file="tet.obj"/></asset><worldbody>
    <geom type="box" size=".3 .3 .1" friction=".5"/><body name="tet"><freejoint/><geom type="mesh" mesh="tet" mass="1"/>
    </body></worldbody></mujoco>"""
    q, qd, tau = loose(4, 0.199, tilt=0.2)
    agrees(hinge.load(text, packages=[tmp_path]), q, qd, tau, 1e-5, contacts="file", law="soft")


def test_mujoco_has_the_same_transitions():
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    for cone in ("elliptic", "pyramidal"):
        text = PLANAR.format(cone)
        robot, m = hinge.load(text), mujoco.MjModel.from_xml_string(text)
        q, qd = 0.002 * rng.normal(size=(6, 4)), 0.2 * rng.normal(size=(6, 4))
        q[:, 1] -= 0.003
        made = robot.contact_step(q, qd, np.zeros((6, 4)), 0.002, contacts="file", law="soft", derivatives=True)
        assert (made.status == Status.OK).all()
        assert ((made.pairs >= 0).sum(-1) >= 2).all()
        for k in range(6):
            d = mujoco.MjData(m)
            d.qpos[:], d.qvel[:], A, B = q[k], qd[k], np.zeros((8, 8)), np.zeros((8, 4))
            mujoco.mj_forward(m, d)
            mujoco.mjd_transitionFD(m, d, 1e-7, 1, A, B, None, None)
            np.testing.assert_allclose(made.A[k], A, atol=1e-7 * np.abs(A).max())
            np.testing.assert_allclose(made.B[k], B, atol=1e-7 * np.abs(B).max())


@pytest.mark.sweep
def test_where_contact_just_switches_there_is_none():
    ball, none = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot, np.zeros((5, 6))
    heights = 0.1 + np.array([-1e-3, -1e-9, 1e-9, 1e-3, -2e-3])
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0], (5, 1))
    smooth = [Status.OK, Status.NOT_SMOOTH, Status.NOT_SMOOTH, Status.OK, Status.OK]
    for law, fall in (("soft", 0.0), ("rigid", 0.1 * H + 0.5 * 9.81 * H * H)):
        q[:, 6] = heights + fall
        down = none - [0, 0, 0, 0, 0, 0.1 if fall else 0.0]
        made = ball.contact_step(q, down, none, H, ground=hinge.Ground(friction=0.3), law=law, derivatives=True)
        assert made.status.tolist() == smooth
        assert np.isfinite(made.A).all()
    box = hinge.load(BOX.format("elliptic"))
    q, qd, tau = (x[[0, 0, 0]] for x in loose(1, 0.0999, tilt=0.0, speed=0.0))
    q[1, 6], tau[:] = np.nan, 0.0
    made = box.contact_step(q, qd, tau, H, ground=0.0, law="soft", derivatives=True)
    assert made.status.tolist() == [Status.OK, Status.NONFINITE, Status.OK]
    few = box.contact_step(
        *(x[0].astype(np.float32) for x in (q, qd, tau)), H, ground=0.0, law="soft", derivatives=True
    )
    np.testing.assert_allclose(few.A, made.A[0], rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
def test_contacts_that_share_a_load_in_many_ways_have_no_derivative():
    """Four corners that slide and turn: friction depends on their shares of the load, which rigid bodies leave open."""
    box, how = hinge.load(BOX.format("elliptic")), {"ground": hinge.Ground(friction=0.5)}
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0.1001], (3, 1))
    qd = np.array([[0.1, 0.2, 0.3, 0.5, 0.2, -0.4], [0, 0, 0, 0.5, 0.2, -0.4], [0, 0, 0, 0, 0, 1.0]])
    made = box.contact_step(q, qd, 0.0 * qd, H, derivatives=True, **how)
    assert (made.forces[:2, :, 2] > 0.0).all()
    assert made.status.tolist() == [Status.NOT_SMOOTH, Status.OK, Status.OK]
    run = hinge.rollout(box, q, qd, 2, H, **how)
    weights = np.zeros(run.qd.shape)
    weights[:, -1] = 1.0
    found, status = run.pulled(dqd=weights, by="qd0", return_status=True)
    assert status.tolist() == [Status.NOT_SMOOTH, Status.NOT_SMOOTH, Status.OK]  # the second lies still after a step
    np.testing.assert_array_equal(found["qd0"], run.pulled(dqd=weights, by="qd0")["qd0"])
    weights[:, 1:] = 0.0
    assert (run.pulled(dqd=weights, by="qd0", return_status=True)[1] == Status.OK).all()  # no step has weights


@pytest.mark.sweep
@pytest.mark.usefixtures("exact")
def test_derivatives_of_random_landings_are_those_of_differences_or_refused():
    box, how = hinge.load(BOX.format("elliptic")), {"ground": hinge.Ground(friction=0.5)}
    for tilt, least in ((0.0, 0.3), (0.005, 0.7), (0.3, 0.9)):
        q, qd, tau = loose(24, 0.1, seed=7, tilt=tilt)
        made = box.contact_step(q, qd, tau, H, derivatives=True, **how)
        J, good = np.concatenate([made.A, made.B], -1), made.status == Status.OK
        found = [differences(box, q, qd, tau, small, **how) for small in (1e-5, 1e-7)]
        off = np.min([np.abs(J - D).max((-2, -1)) / np.maximum(1.0, np.abs(D).max((-2, -1))) for D in found], 0)
        assert (off[good] < 1e-3).all()
        assert good.mean() > least
        assert (good & (made.forces[..., 2].max(-1) > 0.0)).any()


def test_curved_shapes_that_a_search_finds_are_refused():
    scene = hinge.Scene().body("can", "cylinder", (0.1, 0.2), mass=1.0).body("box", "box", (0.2, 0.2, 0.2), mass=1.0)
    robot = scene.robot
    with pytest.raises(hinge.NotCovered, match="contacts of the cylinder on 'can' with the box on 'box' are found by"):
        robot.contact_step(robot.neutral(), np.zeros(12), np.zeros(12), H, contacts="self", derivatives=True)


def test_second_derivatives_through_what_is_held_are_refused():
    graph = Graph()
    x = graph.input("x", 0)
    (y,) = repeat(30, (x,), lambda k, y: (0.5 * (y + x / y),))
    root = held(y) - (held(y) * held(y) - x) / (2.0 * held(y))
    for slope in (along([root], {x: 1.0})[0], pulled([root], [1.0], [x])[0]):
        for again in (lambda d: along([d], {x: 1.0}), lambda d: pulled([3.0 * d], [1.0], [x])):
            with pytest.raises(hinge.NotCovered, match="second derivatives go through an answer that was held"):
                again(slope)


# ---- rollouts


def pulls(robot, q0, qd0, steps, rtol, small=1e-6, h=H, **how):
    """`pulled` of random weights against differences of whole rollouts, by all that was given."""
    rng = np.random.default_rng(5)
    run = hinge.rollout(robot, q0, qd0, steps, h, **how)
    assert (run.status == Status.OK).all()
    dq, dqd = rng.normal(size=run.qd.shape), rng.normal(size=run.qd.shape)
    for name, slope in run.pulled(dq, dqd).items():
        for key in slope if isinstance(slope, dict) else [None]:
            by = slope if key is None else slope[key]
            d = rng.normal(size=by.shape)

            def end(sign, name=name, key=key, d=d):
                moved = {"q0": q0, "qd0": qd0, **how}
                if key is not None:
                    moved[name] = moved[name] | {key: np.asarray(moved[name][key]) + sign * small * d}
                elif name == "q0":
                    moved[name] = robot.integrate(q0, sign * small * d)
                else:
                    moved[name] = np.asarray(moved[name]) + sign * small * d
                return hinge.rollout(robot, steps=steps, h=h, **moved)

            ahead, behind = end(1.0), end(-1.0)
            change = (robot.difference(behind.q, ahead.q) * dq).sum() + ((ahead.qd - behind.qd) * dqd).sum()
            np.testing.assert_allclose(
                (by * d).sum(), change / (2.0 * small), rtol=rtol, atol=rtol * np.abs(by * d).sum()
            )
    return run


@pytest.mark.sweep
@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("law", "height"), [("soft", 0.097), ("rigid", 0.13)])
def test_a_box_over_twenty_steps(law, height):
    box = hinge.load(BOX.format("elliptic")).vary("box.mass")
    q, qd, tau = (x[:2] for x in loose(2, height))
    qd[:, 5] = -1.0
    how = {"ground": hinge.Ground(friction=0.3, restitution=0.3), "law": law, "parameters": {"box.mass": 2.3}}
    run = pulls(box, q, qd, 20, 1e-5, taus=np.broadcast_to(tau[:, None], (2, 20, 6)), **how)
    weights = np.ones(run.qd.shape)
    found = run.pulled(weights, by="q0")["q0"]
    few = hinge.rollout(box, q, qd, 20, H, record=5, taus=np.broadcast_to(tau[:, None], (2, 20, 6)), **how)
    some = np.zeros(run.qd.shape)
    some[:, ::5] = 1.0
    np.testing.assert_allclose(few.pulled(weights[:, ::5], by="q0")["q0"], run.pulled(some, by="q0")["q0"], rtol=1e-6)
    assert np.isfinite(found).all()


@pytest.mark.sweep
@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_an_arm_at_its_limit_that_presses_on_the_ground_by_all_a_file_says(integrator):
    arm = hinge.load(ARM.format(integrator))
    how = {"physics": "file"}
    ctrl = np.random.default_rng(0).normal(size=(20, 2)) * [3.0, 0.1] + [2.0, 0.3]
    run = pulls(arm, np.array([0.702, 0.6]), np.array([0.1, 0.3]), 20, 1e-5, ctrl=ctrl, **how)
    assert run.q[-1, 0] > 0.7  # the limit acts
    pulls(arm, np.array([[0.702, 0.6], [0.5, 0.8]]), np.zeros((2, 2)), 5, 1e-5, ctrl=ctrl[0], **how)


@pytest.mark.sweep
@pytest.mark.usefixtures("exact")
def test_an_arm_at_its_stop_by_the_rigid_law():
    arm = hinge.load(ARM.format("Euler"))
    q, qd = np.array([0.69, 0.59]), np.array([1.0, 0.6])
    run = pulls(arm, q, qd, 20, 1e-5, limits="stop", tau=np.array([2.0, 0.5]), contacts="file", law="rigid")
    assert run.q[:, 0].max() > 0.7 - 1e-3  # it is met


@pytest.mark.sweep
def test_a_block_stops_after_the_distance_a_textbook_gives():
    block = hinge.Scene().body("block", "box", (0.2, 0.2, 0.1), mass=1.5).robot
    v, mu, h, steps = 0.5, 0.4, 1e-3, 200
    qd = [0, 0, 0, v, 0, 0]
    run = hinge.rollout(block, [1, 0, 0, 0, 0, 0, 0.05], qd, steps, h, ground=hinge.Ground(friction=mu))
    assert abs(run.q[-1, 4] - v**2 / (2 * mu * 9.81)) < v * h
    weight = np.zeros((steps + 1, 6))
    weight[-1, 3] = 1.0
    assert abs(run.pulled(weight, by="qd0")["qd0"][3] - v / (mu * 9.81)) < h  # as many steps as it slides, times h


@pytest.mark.sweep
def test_gradients_of_tensors_flow_through_contacts():
    torch = pytest.importorskip("torch")
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot
    q0, h = torch.tensor([1.0, 0, 0, 0, 0, 0, 0.1005], dtype=torch.float64), 1e-3
    qd0 = torch.tensor([0.0, 0, 0, 0, 0, -1.0], dtype=torch.float64, requires_grad=True)
    run = hinge.rollout(ball, q0, qd0, 10, h, ground=hinge.Ground(friction=0.0, restitution=0.7))
    run[1][-1, 5].backward()
    assert np.isclose(qd0.grad[5], -0.7)
    rest, still = torch.tensor([1.0, 0, 0, 0, 0, 0, 0.1], dtype=torch.float64), torch.zeros(6, dtype=torch.float64)
    run = hinge.rollout(ball, rest.requires_grad_(), still, 2, h, ground=0.0)
    with pytest.warns(UserWarning, match="gradients of 1 of 1 rollouts have a status, NOT_SMOOTH for rollout 0"):
        run[1].sum().backward()

"""Joint rates and accelerations out of the hand's: two methods, one answer, and that of other programs."""

import numpy as np
import pytest

import hinge
from hinge import Status

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

ROBOTS = {
    "puma": hinge.samples.puma560,
    "redundant": lambda: hinge.samples.chain(np.random.default_rng(3), 8),
    "floating": lambda: floating(),
    "mimic": lambda: mimic(),
}
TASKS = {"pose": slice(0, 6), "position": slice(3, 6), "orientation": slice(0, 3)}
STATES = 12


def floating():
    builder = hinge.Builder("base")
    builder.link("world")
    builder.link("body", 3.0, (0.1, 0.0, 0.0), np.diag([0.3, 0.4, 0.5]))
    builder.joint("base", "free", "world", "body")
    return hinge.Robot(builder.build()).attach(hinge.samples.chain(np.random.default_rng(1), 3), at="body")


def mimic():
    arm = hinge.samples.chain(np.random.default_rng(5), 7)
    builder = hinge.Builder("finger")
    builder.link("palm")
    for k, follows in enumerate((None, ("f0", 0.5, 0.1))):
        builder.link(f"bone{k}", 0.2, (0.05, 0.0, 0.0), 1e-3 * np.eye(3))
        parent = f"bone{k - 1}" if k else "palm"
        builder.joint(f"f{k}", "revolute", parent, f"bone{k}", (0.1, 0.0, 0.0), axis=(0, 0, 1), mimic=follows)
    return arm.attach(hinge.Robot(builder.build()), at=arm.body_names[-1])


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]()


def drawn(robot, seed=0):
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, STATES)
    return q, qd, rng.normal(size=(STATES, 6)), rng.normal(size=(STATES, robot.nv)), robot.body_names[-1]


def solved(robot, q, b, x0, at, task, metric):
    """The least solution, by another program's pseudo-inverse."""
    J = robot.jacobian(q, at, frame="aligned")[:, TASKS[task]]
    root = np.linalg.cholesky(robot.mass_matrix(q)) if metric == "inertia" else np.eye(robot.nv)[None]
    back = np.linalg.inv(np.swapaxes(root, 1, 2))  # x = back y: y has the plain norm
    left = b[:, TASKS[task]] - (J @ x0[..., None])[..., 0]
    return x0 + (back @ np.linalg.pinv(J @ back) @ left[..., None])[..., 0]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("metric", ["unit", "inertia"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", ["jacobian", "strobe"])
def test_accelerations_are_the_least_that_give_the_hands(robot, method, task, metric):
    q, qd, a, x0, at = drawn(robot)
    options = {"task": task, "metric": metric, "method": method, "damping": 1e-4}
    qdd, status = robot.resolved_acceleration(q, qd, a, at, posture=x0, return_status=True, **options)
    assert (status == Status.OK).sum() >= STATES - 2
    ok = status == Status.OK
    made = robot.acceleration(q, qd, qdd, at, frame="aligned", kind="classical")
    np.testing.assert_allclose(made[ok][:, TASKS[task]], a[ok][:, TASKS[task]], rtol=0, atol=1e-8)
    N = robot.acceleration(q, qd, np.zeros_like(qd), at, frame="aligned", kind="classical")
    wanted = solved(robot, q, a - N, x0, at, task, metric)
    np.testing.assert_allclose(qdd[ok], wanted[ok], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("metric", ["unit", "inertia"])
@pytest.mark.parametrize("task", TASKS)
def test_rates_are_the_least_that_give_the_hands(robot, task, metric):
    q, _, v, x0, at = drawn(robot)
    options = {"task": task, "metric": metric, "damping": 1e-4, "posture": x0}
    qd, status = robot.resolved_rate(q, v, at, return_status=True, **options)
    ok = status == Status.OK
    assert ok.sum() >= STATES - 2
    made = robot.velocity(q, qd, at, frame="aligned")
    np.testing.assert_allclose(made[ok][:, TASKS[task]], v[ok][:, TASKS[task]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(qd[ok], solved(robot, q, v, x0, at, task, metric)[ok], rtol=1e-7, atol=1e-7)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("metric", ["unit", "inertia"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["resolved_acceleration", "resolved_rate"])
def test_strobing_and_the_jacobian_agree_singular_or_not(robot, name, task, metric):
    q, qd, a, x0, at = drawn(robot, 1)
    q[0] = robot.neutral()
    given = (q, qd, a, at) if name == "resolved_acceleration" else (q, a, at)
    one, other = (
        getattr(robot, name)(*given, task=task, metric=metric, posture=x0, method=method, return_status=True)
        for method in ("jacobian", "strobe")
    )
    size = np.abs(one[0]).max(axis=1, keepdims=True)
    np.testing.assert_allclose(other[0] / size, one[0] / size, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(other[1], one[1])


# near singular places


def wrist(angles):
    """The Puma with a wrist that is nearly straight: two of its joints turn about one line at zero."""
    q = np.tile([0.3, 0.4, 0.6, 0.2, 0.0, 0.1], (len(angles), 1))
    q[:, 4] = angles
    return q


@pytest.mark.parametrize("metric", ["unit", "inertia"])
@pytest.mark.parametrize("method", ["jacobian", "strobe"])
def test_a_singular_place_has_a_status_and_a_bounded_answer(method, metric):
    arm = hinge.samples.puma560()
    angles = np.array([0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.5])
    twist = np.array([0.3, -0.5, 0.2, 0.1, 0.2, -0.3])
    options = {"metric": metric, "method": method, "return_status": True}
    qd, status = arm.resolved_rate(wrist(angles), twist, "tool", **options)
    assert status.tolist() == [Status.SINGULAR] * 6 + [Status.OK]
    assert np.abs(qd).max() < 20.0
    bare, alone = arm.resolved_rate(wrist(angles), twist, "tool", damping=0.0, **options)
    assert np.abs(bare[3]).max() > 1e4
    assert alone[-1] == Status.OK
    np.testing.assert_allclose(qd[-1], bare[-1], rtol=1e-9)


@pytest.mark.parametrize("metric", ["unit", "inertia"])
@pytest.mark.parametrize("task", TASKS)
def test_answers_have_no_jump_on_the_way_through_a_singular_place(task, metric):
    """Half the step, half the change."""
    arm = hinge.samples.puma560()
    qd, a = np.full(6, 0.4), np.array([0.3, -0.5, 0.2, 0.1, 0.2, -0.3])
    changes = []
    for count in (4001, 8001):
        q = wrist(np.linspace(-0.2, 0.2, count)) + np.linspace(-0.05, 0.05, count)[:, None]
        qdd, status = arm.resolved_acceleration(q, qd, a, "tool", task=task, metric=metric, return_status=True)
        changes.append(np.abs(np.diff(qdd, axis=0)).max())
        assert np.isfinite(qdd).all()
        assert (status == Status.SINGULAR).any() == (task == "pose")
    assert changes[1] == pytest.approx(0.5 * changes[0], rel=0.05)


def test_a_plane_arm_is_not_asked_to_leave_its_plane():
    arm = hinge.samples.planar_2r()
    qd, status = arm.resolved_rate([0.3, 0.9], [0, 0, 0, 0.1, 5.0, 0.2], "hand", task="position", return_status=True)
    assert status == Status.OK
    np.testing.assert_allclose(arm.velocity([0.3, 0.9], qd, "hand", frame="aligned")[3:], [0.1, 0.0, 0.2], atol=1e-12)


def test_an_arm_with_too_few_joints_comes_near_and_says_so():
    arm = hinge.samples.chain(np.random.default_rng(0), 4)
    q, qd = arm.random_state(np.random.default_rng(1), 5)
    v = arm.velocity(q, qd, arm.body_names[-1], frame="aligned")  # which it can do
    found, status = arm.resolved_rate(q, v, arm.body_names[-1], return_status=True)
    assert (status == Status.SINGULAR).all()
    np.testing.assert_allclose(found, qd, rtol=0, atol=0.05)

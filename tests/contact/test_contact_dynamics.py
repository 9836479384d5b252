"""Contact dynamics against hand calculations, finite differences and Pinocchio."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from things import KINDS, corners, solid, standing, two_bodies

import hinge
from hinge import ContactState

SIZE, MASS, G = (0.4, 0.2, 0.1), 3.0, 9.81


def block():
    return solid("block", MASS, SIZE)


def rested(force=(0, 0, 0), couple=(0, 0, 0), **options):
    """The block of Figure 9-7 on its four corners, pushed at its centre."""
    tau = np.array([*couple, *force], float)
    return block().contact_dynamics(standing(SIZE[2] / 2), np.zeros(6), tau, corners("block", SIZE), **options)


def test_a_block_rests_on_four_contacts_that_share_its_weight():
    made = rested()
    np.testing.assert_allclose(made.force, MASS * G / 4, rtol=1e-12)
    np.testing.assert_allclose(made.qdd, 0.0, atol=1e-12)
    assert (made.state == ContactState.REMAINING).all()


def test_lemke_holds_it_with_independent_contacts_only():
    made = rested(method="lemke")
    assert made.force.sum() == pytest.approx(MASS * G)
    assert (made.force > 1e-9).sum() <= 3
    np.testing.assert_allclose(made.qdd, 0.0, atol=1e-9)


def test_a_couple_moves_the_load_to_one_side():
    couple = 0.5 * MASS * G * SIZE[0] / 2
    made = rested(couple=(0, couple, 0))
    # a couple about +y presses on the corners at +x: moments about y give the difference of the two sides
    front, back = made.force[:2].sum(), made.force[2:].sum()
    assert (front - back) * SIZE[0] / 2 == pytest.approx(couple)
    assert front + back == pytest.approx(MASS * G)


def test_it_tips_about_an_edge_as_a_compound_pendulum_would():
    couple = 2.0 * MASS * G * SIZE[0] / 2
    made = rested(couple=(0, couple, 0))
    # without friction the edge slides: vertical force N at +x, N = m (g + z''), z'' = w' a, I w' = couple - N a
    a, I = SIZE[0] / 2, MASS / 12 * (SIZE[0] ** 2 + SIZE[2] ** 2)
    turn = (couple - MASS * G * a) / (I + MASS * a * a)
    assert made.qdd[1] == pytest.approx(turn)
    np.testing.assert_allclose(made.force, [MASS * (G + turn * a) / 2] * 2 + [0, 0], atol=1e-9)
    assert list(made.state) == [1, 1, 0, 0]
    np.testing.assert_allclose(made.acceleration[2:], 2 * a * turn)


def test_it_slides_under_a_push_at_the_height_of_its_centre():
    made = rested(force=(6.0, 0, 0))
    np.testing.assert_allclose(made.qdd, [0, 0, 0, 6.0 / MASS, 0, 0], atol=1e-12)
    np.testing.assert_allclose(made.force, MASS * G / 4)


def test_it_leaves_one_contact_at_a_time():
    # couples move the centre of pressure along the diagonal to the corner at (+x, +y): one support after another goes
    x, y = SIZE[0] / 2, SIZE[1] / 2
    held = []
    for share in (0.0, 0.6, 1.0):
        made = rested(couple=(-share * MASS * G * y, share * MASS * G * x, 0))
        np.testing.assert_allclose(made.qdd, 0.0, atol=1e-9)
        assert made.force.sum() == pytest.approx(MASS * G)
        assert made.force @ [x, x, -x, -x] == pytest.approx(share * MASS * G * x)
        assert made.force @ [y, -y, y, -y] == pytest.approx(share * MASS * G * y)
        held.append([bool(f > 1e-9) for f in made.force])
    assert held == [[True] * 4, [True, True, True, False], [True, False, False, False]]


def test_it_takes_off_when_pulled_harder_than_it_weighs():
    made = rested(force=(0, 0, 2 * MASS * G))
    np.testing.assert_allclose(made.force, 0.0)
    assert made.qdd[5] == pytest.approx(G)
    assert (made.state == ContactState.BREAKING).all()


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
def test_exactly_its_weight_leaves_the_contacts_inactive(backend):
    light = block().with_gravity([0.0, 0.0, -8.0])  # mass times gravity is a float: nothing is left over to be carried
    tau = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 8.0 * MASS])
    place = standing(SIZE[2] / 2)
    made = light.contact_dynamics(place, np.zeros(6), tau, corners("block", SIZE), backend=backend)
    np.testing.assert_allclose(made.force, 0.0, atol=1e-9)
    assert (made.state == ContactState.INACTIVE).all()


def test_contacts_that_are_apart_take_no_force():
    made = block().contact_dynamics(standing(1.0), np.zeros(6), np.zeros(6), corners("block", SIZE))
    np.testing.assert_allclose(made.force, 0.0)
    np.testing.assert_allclose(made.gap, 1.0 - SIZE[2] / 2)
    assert made.qdd[5] == pytest.approx(-G)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_accelerates_as_its_second_difference_says(kind):
    robot = two_bodies()
    rng = np.random.default_rng(3)
    contact = hinge.Contact("t_two", (0.1, 0.2, -0.3), other="one", other_point=(0.3, -0.1, 0.2), **KINDS[kind])
    assert contact.kind == kind.split()[-1]
    q, qd = robot.random_state(rng, 1)
    q, qd, tau = q[0], qd[0], rng.normal(size=robot.nv)
    now = robot.contact_system(q, qd, tau, [contact])
    qdd = rng.normal(size=robot.nv)
    h = 1e-4

    def moved(t):
        return robot.integrate(q, qd * t + 0.5 * qdd * t * t)

    gaps = [robot.contact_system(moved(t), qd, tau, [contact]).gap[0] for t in (-h, 0.0, h)]
    assert (gaps[2] - gaps[0]) / (2 * h) == pytest.approx(now.speed[0], rel=1e-6, abs=1e-7)
    np.testing.assert_allclose(now.F @ qd, now.speed)
    u = now.d - now.F @ now.free
    assert (gaps[2] - 2 * gaps[1] + gaps[0]) / h**2 == pytest.approx((now.F @ qdd + u)[0], rel=1e-5, abs=1e-5)


def test_c_and_d_are_what_the_text_says():
    robot = hinge.samples.puma560()
    rng = np.random.default_rng(0)
    q, qd = robot.random_state(rng, 5)
    tau = rng.normal(size=(5, 6))
    contacts = [hinge.Contact("tool", p, normal=n) for p, n in (((0, 0, 0), (0, 0, 1)), ((0.1, 0, 0), (1, 0, 1)))]
    made = robot.contact_system(q, qd, tau, contacts)
    H = robot.mass_matrix(q)
    np.testing.assert_allclose(made.C, made.F @ np.linalg.solve(H, np.swapaxes(made.F, -1, -2)), atol=1e-12)
    J = robot.jacobian(q, "tool", frame="aligned")[:, 3:]
    np.testing.assert_allclose(made.F[:, 0], J[:, 2], atol=1e-12)
    a = robot.acceleration(q, qd, made.free, "tool", frame="aligned", kind="classical")
    np.testing.assert_allclose(made.d[:, 0], a[:, 5], rtol=1e-9, atol=1e-9)


def test_a_batch_is_its_rows_and_nan_stays_in_its_own():
    robot = block()
    rng = np.random.default_rng(1)
    tau = rng.normal(size=(6, 6)) * 20
    tau[3, 2] = np.nan
    q, qd = np.tile(standing(SIZE[2] / 2), (6, 1)), np.zeros((6, 6))
    made = robot.contact_dynamics(q, qd, tau, corners("block", SIZE))
    assert np.isnan(made.qdd[3]).any()
    assert made.status[3] == hinge.Status.NONFINITE
    for k in (0, 1, 2, 4, 5):
        one = robot.contact_dynamics(q[k], qd[k], tau[k], corners("block", SIZE))
        np.testing.assert_array_equal(one.qdd, made.qdd[k])
        assert np.isfinite(made.qdd[k]).all()


def test_the_kernel_of_few_contacts_is_the_same_dynamics():
    robot = block()
    rng = np.random.default_rng(2)
    tau = rng.normal(size=(50, 6)) * 20
    q, qd = np.tile(standing(SIZE[2] / 2), (50, 1)), np.zeros((50, 6))
    three = corners("block", SIZE)[:3]
    qdd, force = robot.contact_kernel(three)(q, qd, tau)
    made = robot.contact_dynamics(q, qd, tau, three)
    np.testing.assert_allclose(force, made.force, atol=1e-9)
    np.testing.assert_allclose(qdd, made.qdd, atol=1e-9)
    assert {0, 1, 2, 3} >= set((force > 0).sum(axis=1)) > {1}


def test_the_kernel_gives_no_answer_where_normals_are_dependent():
    robot = block()
    qdd, force = robot.contact_kernel(corners("block", SIZE))(standing(SIZE[2] / 2), np.zeros(6), np.zeros(6))
    assert np.isnan(qdd).all()
    assert np.isnan(force).all()


def test_the_kernel_takes_no_more_contacts_than_it_can():
    with pytest.raises(hinge.NotCovered, match="9 contacts"):
        block().contact_kernel([hinge.Contact("block", (k, 0, 0), normal=(0, 0, 1)) for k in range(9)])


def test_a_quadruped_is_pinocchios_where_all_feet_push():
    pin = pytest.importorskip("pinocchio")
    files = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    path = files / "anymal_b_simple_description" / "robots" / "anymal.urdf"
    if not path.exists():
        pytest.skip("example-robot-data is not installed")
    robot, model = hinge.load(path, base="floating"), pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    feet, data = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), model.createData()
    rng = np.random.default_rng(0)
    q = np.tile(robot.neutral(), (20, 1))
    q[:, 7:] += rng.uniform(-0.6, 0.6, (20, 12))
    qd, tau = 0.3 * rng.normal(size=(20, 18)), rng.normal(size=(20, 18))
    qdd, force = robot.contact_kernel([hinge.Contact(f, (0, 0, 0), normal=(0, 0, 1)) for f in feet])(q, qd, tau)
    mine = [robot.coordinates(name) for name in model.names[2:]]  # their joints are in alphabetical order
    Q = np.concatenate([q[:, 4:7], q[:, 1:4], q[:, :1], *(q[:, at] for at, _ in mine)], axis=1)
    order = [3, 4, 5, 0, 1, 2, *(at.start for _, at in mine)]
    pushing = np.flatnonzero((force > 0).all(axis=1))
    assert len(pushing) > 3
    ids = [model.getFrameId(f) for f in feet]
    for k in pushing:
        pin.computeJointJacobians(model, data, Q[k])
        pin.forwardKinematics(model, data, Q[k], qd[k, order], np.zeros(18))
        J = np.array([pin.getFrameJacobian(model, data, i, pin.LOCAL_WORLD_ALIGNED)[2] for i in ids])
        drift = [pin.getFrameClassicalAcceleration(model, data, i, pin.LOCAL_WORLD_ALIGNED).linear[2] for i in ids]
        held = pin.forwardDynamics(model, data, Q[k], qd[k, order], tau[k, order], J, np.array(drift))
        np.testing.assert_allclose(qdd[k, order], held, atol=1e-8)


def test_pinocchio_agrees_where_every_contact_holds():
    pin = pytest.importorskip("pinocchio")
    text = """<robot name="leg"><link name="a"/><link name="b"><inertial><mass value="2"/><origin xyz="0 0 -0.2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="c"><inertial><mass value="1"/><origin xyz="0 0 -0.2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j1" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
    <joint name="j2" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 -0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""
    robot, model = hinge.load(text), pin.buildModelFromXML(text)
    data = model.createData()
    q, qd, tau = np.array([0.3, 0.5]), np.array([0.4, -0.7]), np.array([0.0, 0.0])
    foot = hinge.Contact("c", (0, 0, -0.4), normal=(0, 0, 1))
    mine = robot.contact_dynamics(q, qd, tau, [foot], touch=None)
    frame = model.addFrame(pin.Frame("foot", 2, 0, pin.SE3(np.eye(3), np.array([0, 0, -0.4])), pin.FrameType.OP_FRAME))
    data = model.createData()
    J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)[2:3]
    pin.forwardKinematics(model, data, q, qd, np.zeros(2))
    drift = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED).linear[2:3]
    pin.computeAllTerms(model, data, q, qd)
    held = pin.forwardDynamics(model, data, q, qd, tau, J, drift)
    assert data.lambda_c[0] > 0.0
    np.testing.assert_allclose(mine.qdd, held, atol=1e-10)
    assert mine.force[0] == pytest.approx(data.lambda_c[0])


def test_an_unknown_method_is_refused_before_anything_is_solved():
    with pytest.raises(hinge.UnknownName, match=r"contact_dynamics: method='evn' is not known. Did you mean 'even'"):
        hinge.samples.planar_2r().contact_dynamics([0, 0], [0, 0], [0, 0], [], method="evn")


def test_single_precision_is_kept_and_decides_nothing():
    """States in single precision are solved in double: four corners share the weight, as they do in double."""
    given = standing(SIZE[2] / 2), np.zeros(6), np.zeros(6)
    made = block().contact_dynamics(*(np.asarray(x, np.float32) for x in given), corners("block", SIZE))
    want = block().contact_dynamics(*given, corners("block", SIZE))
    for name, x, y in zip(made._fields, made, want, strict=True):
        assert x.dtype == (np.uint8 if name in ("state", "status") else np.float32)
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)

"""Files that physics="file" once ran otherwise than MuJoCo, each stepped by both; and starts that both take."""

import mujoco
import numpy as np
import pytest

import hinge

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def world(bodies, before="", after=""):
    return f"<mujoco>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


FLOOR = '<geom type="plane" size="0 0 1"/>'
ROD = '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>'
SLIDES = ['<joint type="slide" axis="0 0 1"/>', '<joint type="slide" axis="1 0 0"/>']
BOXES = """<body name="a" pos="0 0 1" euler="20 30 0"><freejoint/><geom type="box" size=".1 .2 .05" contype="0"/></body>
  <body name="b" pos=".4 .2 1.2" euler="10 -30 60"><freejoint/><geom type="box" size=".1 .1 .05" contype="0"/></body>"""
TURNED = 'relpose=".1 .2 .3 .9 .1 .3 .2"'
COPIES = """<replicate count="4" offset="1 0 0"><body name="b"><joint name="j" axis="0 1 0"/>
  <geom size=".1" pos=".2 0 0"/>
  <body name="c" pos=".4 0 0"><joint name="k" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body></replicate>
  <body pos="0 3 0"><joint name="z" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>"""
ROPES = """<tendon><fixed name="P" stiffness="2"><joint joint="j" coef="1"/><joint joint="k" coef="-1"/></fixed>
  <fixed name="Q" damping=".1"><joint joint="z" coef="1"/></fixed></tendon>"""
PULLS = """<actuator><motor name="p" tendon="P" gear="2"/><motor name="q" tendon="Q"/>
  <position name="r" joint="k" kp="3"/></actuator>"""
CASES = {
    "ball range": (world(f'<body><joint type="ball" range="0 30"/>{ROD}</body>'), 200),
    "ball range in radians": (
        world(f'<body><joint type="ball" range="0 .5" margin=".1"/>{ROD}</body>', '<compiler angle="radian"/>'),
        200,
    ),
    "gap": (world(f'{FLOOR}<body pos="0 0 .3"><freejoint/><geom size=".1" gap=".01"/></body>'), 400),
    "gap and margin": (
        world(f'{FLOOR}<body pos="0 0 .3"><freejoint/><geom size=".1" gap=".02" margin=".01"/></body>'),
        400,
    ),
    "weld": (world(BOXES, after='<equality><weld body1="a" body2="b"/></equality>'), 50),
    "weld with an anchor": (
        world(BOXES, after='<equality><weld body1="a" body2="b" anchor=".1 .2 .3"/></equality>'),
        50,
    ),
    "weld with a pose": (world(BOXES, after=f'<equality><weld body1="a" body2="b" {TURNED}/></equality>'), 50),
    "weld with both": (
        world(BOXES, after=f'<equality><weld body1="a" body2="b" {TURNED} anchor=".1 -.2 .3"/></equality>'),
        50,
    ),
    "a slide": (world(f'{FLOOR}<body pos="0 0 .1">{SLIDES[0]}<geom size=".1"/></body>'), 200),
    "two slides": (world(f'{FLOOR}<body pos="0 0 .1">{"".join(SLIDES)}<geom size=".1"/></body>'), 200),
    "a slide with an offset": (
        world(f'{FLOOR}<body pos="0 0 .1">{SLIDES[0]}<geom size=".1" pos=".1 0 0"/></body>'),
        200,
    ),
    "a limited slide with armature": (
        world('<body><joint type="slide" axis="0 0 1" range="-.1 .1" armature="3"/><geom size=".1"/></body>'),
        200,
    ),
    "child of a mocap body": (
        world(f'<body mocap="true"><geom size=".1"/><body pos=".1 0 0"><joint axis="0 1 0"/>{ROD}</body></body>'),
        100,
    ),
    "child of what is fixed to a mocap body": (
        world(
            f'<body mocap="true"><geom size=".1"/><body pos=".1 0 0"><geom size=".05"/><body pos=".05 0 0">'
            f'<joint axis="0 1 0"/>{ROD}</body></body></body>'
        ),
        100,
    ),
    "inherited limits": (
        world('<body><joint type="free"/><geom size=".1"/></body>', '<default><joint limited="true"/></default>'),
        20,
    ),
    "limits without a width": (
        world('<body><joint axis="0 1 0" range="-20 20" solimplimit=".9 .95 0"/><geom size=".1" pos=".2 0 0"/></body>'),
        100,
    ),
    "time constants below two steps": (
        world(
            f'{FLOOR}<body pos="0 0 .1"><freejoint/><geom size=".1" solref=".0035 1"/></body>',
            '<option><flag refsafe="disable"/></option>',
        ),
        20,
    ),
    "an equality of a tendon over one joint": (
        world(
            f'<body><joint name="j" axis="0 1 0"/>{ROD}</body>',
            after='<tendon><fixed name="t"><joint joint="j" coef="-.4"/></fixed></tendon>'
            '<equality><tendon tendon1="t" polycoef=".1"/></equality>',
        ),
        50,
    ),
    "a weld of sites on fixed bodies": (
        world(
            f'<site name="a" pos=".3 .1 0" euler="10 20 0"/><body><joint axis="0 1 0"/>{ROD}<body pos=".3 0 0">'
            '<geom size=".05 .1 .02" type="box"/><site name="b"/></body></body>',
            after='<equality><weld site1="a" site2="b"/></equality>',
        ),
        50,
    ),
    "repeated tendons and actuators": (world(COPIES, after=ROPES + PULLS), 100),
}
ARM = f"""<body><joint name="j" axis="0 1 0" damping="1"/>{ROD}<body pos=".3 0 0"><joint axis="0 0 1" stiffness="3"/>
  <joint axis="1 0 0" damping=".01"/><geom type="box" size=".1 .05 .03" pos=".1 0 0"/></body></body>"""
BRANCH = f'<body pos=".3 0 0"><joint name="{{}}" axis="{{}}" armature=".1"/>{ROD}</body>'
MACHINES = {
    "arm": (world(ARM), 100),
    "servo": (world(ARM, after='<actuator><position joint="j" kp="30" kv="5"/></actuator>'), 100),
    "ball": (world(f'<body><joint type="ball" range="0 30"/>{ROD}</body>'), 100),
    "tendon over branches": (
        world(
            f'<body><joint name="a" axis="0 1 0"/>{ROD}'
            f"{BRANCH.format('b', '0 0 1')}{BRANCH.format('c', '1 0 0')}</body>",
            after='<tendon><fixed name="t" damping=".3"><joint joint="a" coef="1"/><joint joint="b" coef="2"/>'
            '<joint joint="c" coef="-1"/></fixed></tendon><actuator><position tendon="t" kp="5" kv="1"/></actuator>',
        ),
        100,
    ),
    "free": (
        world(
            f'{FLOOR}<body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .2 .05"/><body pos=".2 0 0">'
            '<joint axis="0 0 1" damping=".1"/><geom type="box" size=".1 .05 .03" pos=".1 0 0"/></body></body>'
        ),
        150,
    ),
}
INTEGRATORS = ("Euler", "implicitfast", "implicit", "RK4")


def ours(m, qpos):
    """Positions of MuJoCo in hinge's order: the quaternion of a free body first."""
    made = []
    for j in range(m.njnt):
        width = {FREE: 7, BALL: 4}.get(m.jnt_type[j], 1)
        own = qpos[m.jnt_qposadr[j] :][:width]
        made += [*own[3:], *own[:3]] if width == 7 else [*own]
    return np.array(made)


def spin(m, d, rng):
    """Give MuJoCo velocities at random, and return them as hinge has them: of free bodies all in their own axes."""
    d.qvel[:] = rng.normal(size=m.nv)
    made = d.qvel.copy()
    for j in range(m.njnt):
        if m.jnt_type[j] == FREE:
            R, v = np.zeros(9), m.jnt_dofadr[j]
            mujoco.mju_quat2Mat(R, d.qpos[m.jnt_qposadr[j] + 3 :][:4])
            made[v : v + 6] = [*d.qvel[v + 3 : v + 6], *(R.reshape(3, 3).T @ d.qvel[v : v + 3])]
    return made


def both(text, steps, seed=None):
    """The last positions by hinge and by MuJoCo, with controls of different sizes."""
    m = mujoco.MjModel.from_xml_string(text)
    d, robot = mujoco.MjData(m), hinge.load(text)
    qd = np.zeros(m.nv) if seed is None else spin(m, d, np.random.default_rng(seed))
    d.ctrl[:] = np.linspace(0.5, 1.0, m.nu)
    given = {"ctrl": d.ctrl.copy()} if m.nu else {}
    assert robot.model.physics.nu == m.nu
    for _ in range(steps):
        mujoco.mj_step(m, d)
    run = hinge.rollout(robot, robot.neutral(), qd, steps, m.opt.timestep, physics="file", **given)
    assert not np.any(run.status)
    return run.q[-1], ours(m, d.qpos)


@pytest.mark.parametrize("case", CASES)
def test_a_file_runs_as_in_mujoco(case):
    np.testing.assert_allclose(*both(*CASES[case]), rtol=0, atol=1e-8)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("machine", MACHINES)
def test_each_integrator_of_mujoco_steps_as_there(machine, integrator):
    text, steps = MACHINES[machine]
    text = text.replace("<mujoco>", f'<mujoco><option integrator="{integrator}"/>')
    np.testing.assert_allclose(*both(text, steps, seed=1), rtol=0, atol=1e-9)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_few_iterations_do_not_explode(iterations):
    box = '<body pos="0 0 {z}" euler="10 20 0"><freejoint/><geom type="box" size=".1 .2 .05"/></body>'
    text = world(FLOOR + box.format(z=0.3) + box.format(z=0.6), f'<option iterations="{iterations}"/>')
    m, robot = mujoco.MjModel.from_xml_string(text), hinge.load(text)
    d = mujoco.MjData(m)
    for _ in range(400):
        mujoco.mj_step(m, d)
    run = hinge.rollout(robot, robot.neutral(), np.zeros(robot.nv), 400, m.opt.timestep, physics="file")
    np.testing.assert_allclose(run.q[-1], ours(m, d.qpos), rtol=0, atol=0.05)


def test_an_actuator_that_is_left_out_may_have_a_damping_ratio():
    servo = '<actuator><position joint="j" kp="10" dampratio="1" timeconst=".1"/></actuator>'
    robot = hinge.load(world(ARM, after=servo))
    run = hinge.rollout(robot, robot.neutral(), np.zeros(3), 5, 1e-3, physics="file", ctrl=[0.1], ignore=("dyntype",))
    assert not run.status


@pytest.mark.parametrize("target", ['tendon="t"', 'site="s" gear="1 1 1 1 1 1"'])
def test_implicit_steps_refuse_servos_through_tendons_and_sites_on_joints_with_a_force_range(target):
    """MuJoCo counts their damping where the joint's force is at its end; servos on the joint itself agree."""
    joint = '<body><joint name="j" axis="0 1 0" actuatorfrcrange="-.1 .1"/><site name="s"/><geom size=".1"/></body>'
    tendon = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'

    def text(integrator, target):
        servo = f'<actuator><position {target} kp="9" kv="3"/></actuator>'
        return world(joint, f'<option integrator="{integrator}"/>', tendon + servo)

    for integrator in INTEGRATORS:
        np.testing.assert_allclose(*both(text(integrator, 'joint="j"'), 50), rtol=0, atol=1e-9)
    np.testing.assert_allclose(*both(text("Euler", target), 50), rtol=0, atol=1e-9)
    with pytest.raises(hinge.NotCovered, match="limited-servo"):
        both(text("implicitfast", target), 50)


def test_a_deep_start_runs_under_the_laws_of_the_file():
    text = world(f'{FLOOR}<body pos="0 0 -.05"><freejoint/><geom size=".1"/></body>')
    np.testing.assert_allclose(*both(text, 50), rtol=0, atol=1e-8)


def test_what_mocap_bodies_are_is_written_back(tmp_path):
    robot = hinge.load(CASES["child of a mocap body"][0])
    assert not hinge.write(robot, tmp_path / "w.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "w.xml")).nmocap == 1


def test_sites_of_equalities_are_written_on_their_bodies(tmp_path):
    robot = hinge.load(CASES["a weld of sites on fixed bodies"][0])
    assert not hinge.write(robot, tmp_path / "w.xml")
    assert hinge.load(tmp_path / "w.xml").model.physics.equalities == robot.model.physics.equalities


def test_a_collision_mesh_without_a_file_is_refused_by_name():
    corners = "0 0 0 1 0 0 0 1 0 0 0 1"
    mesh = f'<asset><mesh name="m" vertex="{corners}"/></asset>'
    robot = hinge.load(world('<body><freejoint/><geom type="mesh" mesh="m"/></body>' + FLOOR, mesh))
    with pytest.raises(hinge.NotCovered, match="has no file"):
        hinge.rollout(robot, robot.neutral(), np.zeros(6), 1, 1e-3, physics="file")


# ---- errors that were raw

FINGER = """<link name="l{k}"><inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01"/></inertial>
  <collision><geometry><sphere radius=".05"/></geometry></collision></link>
  <joint name="j{k}" type="prismatic"><parent link="base"/><child link="l{k}"/><origin xyz="0 {k} .2"/>
  <axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="9" velocity="9"/>{mimic}</joint>"""


def test_fingers_that_follow_each_other_stand_on_the_ground():
    text = FINGER.format(k=0, mimic="") + FINGER.format(k=1, mimic='<mimic joint="j0"/>')
    robot = hinge.load(f'<robot name="grip"><link name="base"/>{text}</robot>')
    run = hinge.rollout(robot, [0.0], [0.0], 1000, 1e-3, ground=0.0)
    assert run.q[-1, 0] == pytest.approx(-0.15, abs=1e-4)  # both at once, though they have one velocity


def test_a_tendon_with_a_force_range_needs_no_actuator():
    tendon = '<tendon><fixed actuatorfrcrange="-1 2"><joint joint="j" coef="1"/></fixed></tendon>'
    text = world(ARM, after=f'{tendon}<actuator><motor joint="j"/></actuator>')
    np.testing.assert_allclose(*both(text, 20), rtol=0, atol=1e-9)


def test_driven_joints_and_contacts_are_refused_by_name():
    robot = hinge.load(world(ARM)).prescribe("j")
    for given in ({"ground": 0.0}, {"contacts": "file"}, {"physics": "file"}):
        with pytest.raises(hinge.NotCovered, match="driven joints"):
            hinge.rollout(robot, robot.neutral(), np.zeros(robot.nv), 5, 1e-3, **given)


def test_a_robot_without_actuators_takes_controls_that_are_none():
    robot = hinge.load(world(ARM))
    plain = hinge.rollout(robot, robot.neutral(), np.zeros(3), 5, 1e-3, physics="file")
    given = hinge.rollout(robot, robot.neutral(), np.zeros(3), 5, 1e-3, physics="file", ctrl=np.zeros((5, 0)))
    np.testing.assert_array_equal(plain.q, given.q)


def test_the_ground_of_a_scene_carries_what_stands_on_it():
    scene = hinge.Scene().ground(0.2).half_space((1.0, 0.0, 0.0), -3.0).body("b", "box", (0.2, 0.2, 0.2), 1.0)
    run = hinge.simulate(scene.robot, 1.0, [1, 0, 0, 0, 0, 0, 0.35], contacts="self", step=2e-3)
    assert run.q[-1, 6] == pytest.approx(0.3, abs=1e-3)
    with pytest.raises(hinge.SizeError, match="too late"):
        scene.ground()

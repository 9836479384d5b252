"""Numbers of joints and gears that become inputs: a varied robot is the robot built again with those numbers."""

import numpy as np
import pytest
from machines import near, pose, random_body, random_rotation, refused, state, stiffness

import hinge
from hinge.graph import Expr, Graph
from hinge.model.vary import DATA, GEAR, varied

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

TERMS = ("armature", "damping", "friction", "stiffness")
KINDS = ("revolute", "prismatic", "spherical", "planar", "revolute", "revolute")
PARENTS = ("base", "link1", "link1", "link3", "link2", "link5")


def built(changes=None, base="fixed", coupled=True):
    """A tree with joints of one and of several freedoms, two of which follow others."""
    changes, rng = changes or {}, np.random.default_rng(190)
    builder = hinge.Builder("varied")
    builder.link("base", **random_body(rng))
    for k, (kind, parent) in enumerate(zip(KINDS, PARENTS, strict=True), start=1):
        name, T, axis = f"joint{k}", pose(random_rotation(rng), rng.normal(size=3) * 0.3), rng.normal(size=3)
        freedoms = {"spherical": 3, "planar": 3}.get(kind, 1)
        numbers = {term: rng.uniform(0.1, 1.0, freedoms) for term in TERMS}
        numbers |= {"lower": -1.0, "upper": 2.0, "effort": 20.0, "velocity": 5.0} if freedoms == 1 else {}
        numbers |= {f: changes[f"{name}.{f}"] for f in DATA if f"{name}.{f}" in changes}
        gear = {"joint5": ("joint1", -2.0, 0.1), "joint6": ("joint2", 1.5, 0.0)}.get(name) if coupled else None
        if gear:
            gear = gear[0], *(changes.get(f"{name}.{f}", x) for f, x in zip(GEAR, gear[1:], strict=True))
        builder.link(f"link{k}", **random_body(rng))
        builder.joint(name, kind, parent, f"link{k}", T[:3, 3], T[:3, :3], axis if freedoms == 1 else None,
                      mimic=gear, **numbers)  # fmt: skip
    return hinge.Robot(builder.build(base=base))


def random_value(robot, name, rng):
    joint, field = name.split(".")
    i = robot.model.joint_number(joint)
    size = robot.model.joint[i].nq if field in ("lower", "upper", "rest") else robot.model.joint[i].nv
    if field == "rest" and size == 4:
        q = rng.normal(size=4)
        return q / np.linalg.norm(q)
    made = rng.uniform(0.2, 1.5, size) * (-1.0 if field == "lower" else 1.0)
    return made[0] if size == 1 or field in GEAR else made


NAMES = [
    ("joint1.armature",), ("joint3.armature",), ("joint2.damping",), ("joint4.damping",), ("joint1.friction",),
    ("joint3.stiffness",), ("joint2.rest", "joint2.stiffness"), ("joint3.rest",), ("joint5.ratio",),
    ("joint5.offset", "joint6.ratio"), ("joint5.armature", "joint5.ratio", "joint6.damping"),
    ("joint1.effort", "joint1.damping"), ("joint1.lower", "joint1.upper", "joint1.velocity"),
    ("joint1.armature", "joint1.damping", "joint1.friction", "joint1.stiffness", "joint2.armature"),
]  # fmt: skip
some = pytest.mark.parametrize("names", NAMES, ids="+".join)
bases = pytest.mark.parametrize("base", ["fixed", "floating"])


@pytest.mark.sampled(2)
@bases
@some
def test_a_batch_of_varied_robots_is_each_robot_built_again(names, base):
    rng, robot = np.random.default_rng(191), built(base=base)
    changing = robot.vary(*names)
    values = [{name: random_value(robot, name, rng) for name in names} for _ in range(3)]
    rows = {name: np.array([v[name] for v in values]) for name in names}
    q, qd, qdd, tau = state(robot, 192, 3)
    more = {"parameters": rows, "joint_terms": TERMS}
    made = changing.inverse_dynamics(q, qd, qdd, **more)
    H = changing.mass_matrix(q, **more)
    forward = changing.forward_dynamics(q, qd, tau, **more)
    poses = changing.pose(q, "link6", parameters=rows)
    energy = changing.potential_energy(q, **more)
    for k, changes in enumerate(values):
        again = built(changes, base)
        near(made[k], again.inverse_dynamics(q[k], qd[k], qdd[k], joint_terms=TERMS), 1e-12, 50.0)
        near(H[k], again.mass_matrix(q[k], joint_terms=TERMS), 1e-12, 10.0)
        near(poses[k], again.pose(q[k], "link6"), 1e-13, 3.0)
        near(energy[k], again.potential_energy(q[k], joint_terms=TERMS), 1e-12, 50.0)
        near(forward[k], again.forward_dynamics(q[k], qd[k], tau[k], joint_terms=TERMS), 1e-13, stiffness(again, q[k]))


@some
def test_in_single_precision(names):
    rng, robot = np.random.default_rng(193), built()
    rows = {name: np.float32([random_value(robot, name, rng) for _ in range(4)]) for name in names}
    q, qd, qdd, _ = (x.astype(np.float32) for x in state(robot, 194, 4))
    changing = robot.vary(*names)
    made = changing.inverse_dynamics(q, qd, qdd, parameters=rows, joint_terms=TERMS)
    assert made.dtype == np.float32
    exact = {name: x.astype(float) for name, x in rows.items()}
    want = changing.inverse_dynamics(*(x.astype(float) for x in (q, qd, qdd)), parameters=exact, joint_terms=TERMS)
    near(made, want, 2e-5, 50.0)


@pytest.mark.parametrize("method", ["articulated", "composite", "composite_llt"])
def test_every_method_of_forward_dynamics_takes_them(method):
    robot = built(coupled=False)
    changes = {"joint1.armature": 0.7, "joint3.damping": np.array([0.1, 0.2, 0.3]), "joint2.stiffness": 3.0}
    q, qd, _, tau = state(robot, 195)
    made = robot.vary(*changes).forward_dynamics(q, qd, tau, parameters=changes, joint_terms=TERMS, method=method)
    want = built(changes, coupled=False).forward_dynamics(q, qd, tau, joint_terms=TERMS, method=method)
    near(made, want, 1e-11, 100.0)


@pytest.mark.parametrize("call", ["christoffel", "coriolis_matrix", "regressor", "bias_force", "inverse_mass_matrix"])
def test_gears_of_other_algorithms(call):
    def geared(ratio):
        builder = hinge.Builder("geared")
        rng = np.random.default_rng(3)
        builder.link("base")
        for k, parent in enumerate(("base", "link1", "link1"), start=1):
            builder.link(f"link{k}", **random_body(rng))
            gear = ("joint1", ratio, 0.2) if k == 3 else None
            builder.joint(f"joint{k}", "revolute", parent, f"link{k}", rng.normal(size=3), axis=rng.normal(size=3),
                          armature=0.1 * k, mimic=gear)  # fmt: skip
        return hinge.Robot(builder.build())

    robot = geared(2.0)
    q, qd, qdd, _ = state(robot, 196)
    given = {"christoffel": (q,), "inverse_mass_matrix": (q,), "regressor": (q, qd, qdd)}.get(call, (q, qd))
    made = getattr(robot.vary("joint3.ratio"), call)(*given, parameters={"joint3.ratio": 3.0})
    near(made, getattr(geared(3.0), call)(*given), 1e-12, 10.0)


def test_what_a_call_does_not_give_has_its_nominal_value():
    robot = built(base="floating")
    free = robot.joint_names[0]
    names = [f"{joint}.{field}" for joint in robot.joint_names for field in DATA]
    names += [f"{joint}.{field}" for joint in ("joint5", "joint6") for field in GEAR]
    q, qd, qdd, _ = state(robot, 197, 2)
    made = robot.vary(*names).inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    near(made, robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS), 1e-12, 50.0)
    damped = robot.vary(f"{free}.damping")
    force = damped.inverse_dynamics(q, qd, qdd, parameters={f"{free}.damping": np.ones(6)}, joint_terms=TERMS)
    near(force - made, np.concatenate([qd[:, :6], 0.0 * qd[:, 6:]], axis=1), 1e-12, 50.0)


def test_the_model_holds_nodes_for_limits():
    robot, graph = built(), Graph()
    chosen = robot.vary("joint1.effort", "joint2.lower", "joint2.upper").target.vary
    model = varied(robot.model, chosen, [graph.input("parameters", k) for k in range(3)])
    assert [type(x) for x in (model.data[1].effort[0], model.data[2].lower[0], model.data[2].upper[0])] == [Expr] * 3
    assert model.data[2].effort == robot.model.data[2].effort


def test_equations_and_c_name_them():
    arm = hinge.samples.planar_2r().vary("elbow.damping", "shoulder.armature")
    tau = arm.equations("inverse_dynamics", joint_terms=("armature", "damping"))
    assert {"damping_elbow", "armature_shoulder"} <= {str(s) for s in tau.free_symbols}
    assert "parameters" in arm.source("inverse_dynamics", "c", joint_terms=("damping",))


METHODS = ["newton_euler", "turney", "uicker_kahn", "hollerbach", "hollerbach_4x4", "gibbs_appell", "silver", "luh",
           "newton_euler_base", "newton_euler_orin", "euler_lagrange"]  # fmt: skip


@pytest.mark.parametrize("how", [{"method": m} for m in METHODS] + [{"regroup": True}], ids=lambda h: str(*h.values()))
def test_every_method_of_inverse_dynamics_takes_them(how):
    arm = hinge.samples.puma560()
    changes = {"joint2.armature": 3.0, "joint3.damping": 0.7, "joint1.friction": 2.0, "joint4.stiffness": 5.0}
    q, qd, qdd, _ = state(arm, 199, 2)
    want = arm.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    rotor, damping = arm.model.data[2].armature[0], arm.model.data[3].damping[0]
    change = [2.0 * np.sign(qd[:, 0]), (3.0 - rotor) * qdd[:, 1], (0.7 - damping) * qd[:, 2], 5.0 * q[:, 3]]
    want[:, :4] += np.transpose(change)
    made = arm.vary(*changes).inverse_dynamics(q, qd, qdd, parameters=changes, joint_terms=TERMS, **how)
    near(made, want, 1e-11, 50.0)


# what is refused


def test_numbers_that_no_joint_can_have_are_refused():
    fields = ("effort", "lower", "upper", "friction", "damping", "armature", "stiffness", "placement")
    robot = built().vary(*(f"joint1.{field}" for field in fields), "joint5.ratio")
    q, qd, qdd, _ = state(robot, 198, 3)

    def told(**given):
        parameters = {name.replace("_", "."): x for name, x in given.items()}
        return refused(hinge.SizeError, robot.inverse_dynamics, q, qd, qdd, parameters=parameters)

    assert told(joint1_effort=[1.0, -2.0, 3.0]) == (
        "inverse_dynamics: parameter 'joint1.effort'[1] is -2; it has to be at least 0."
    )
    assert told(joint1_lower=2.5) == (
        "inverse_dynamics: parameter 'joint1.lower' is 2.5; it has to be at most the upper limit, 2."
    )
    assert told(joint1_lower=np.array([0.0, 0.5, 1.0]), joint1_upper=0.7) == (
        "inverse_dynamics: parameter 'joint1.lower'[2] is 1; it has to be at most the upper limit, 0.7."
    )
    assert told(joint1_upper=np.nan) == (
        "inverse_dynamics: parameter 'joint1.upper' is nan; it has to be at least the lower limit, -1."
    )
    for field in ("friction", "damping", "armature", "stiffness"):
        assert told(**{f"joint1_{field}": [0.0, 1.0, -2.0]}) == (
            f"inverse_dynamics: parameter 'joint1.{field}'[2] is -2; it has to be at least 0."
        )
    assert told(joint1_placement=np.diag([1.0, 2.0, 1.0, 1.0])).startswith(
        "inverse_dynamics: parameter 'joint1.placement' is no pose."
    )
    mirror = np.stack([np.eye(4), np.diag([1.0, -1.0, 1.0, 1.0]), np.eye(4)])
    assert told(joint1_placement=mirror).startswith("inverse_dynamics: parameter 'joint1.placement'[1] is no pose.")
    assert told(joint5_ratio=0.0) == ("inverse_dynamics: parameter 'joint5.ratio' is 0; it has to be other than 0.")


def test_names_are_those_of_what_is_there():
    assert refused(hinge.UnknownName, built().vary, "joint1.dampin").startswith(
        "robot 'varied' has no parameter 'joint1.dampin'. Did you mean 'joint1.damping'"
    )
    assert "has no parameter 'joint1.ratio'" in refused(hinge.UnknownName, built().vary, "joint1.ratio")

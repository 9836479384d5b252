"""Numbers of a robot that become inputs: a varied robot is a rebuilt one, for each row of a batch."""

import pickle
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from machines import machine, near, pose, random_body, random_rotation, refused, state, stiffness

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

KINDS = ("revolute", "prismatic", "spherical", "planar")
PANDA = Path(sysconfig.get_paths()["purelib"]) / (
    "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
)


def built(changes=None, gravity=(0.0, 0.0, -9.81)):
    """A tree with a link that is welded to another; `changes` has other numbers for some of it."""
    changes = changes or {}
    rng = np.random.default_rng(170)
    builder = hinge.Builder("varied", changes.get("gravity", gravity))
    builder.link("base")
    parents = ("base", "link1", "link1", "link3")
    for k, (kind, parent) in enumerate(zip(KINDS, parents, strict=True), start=1):
        body = random_body(rng)
        T = pose(random_rotation(rng), rng.normal(size=3) * 0.3)
        T = changes.get(f"joint{k}.placement", T)
        axis = rng.normal(size=3)
        for name in ("mass", "com", "inertia"):
            body[name] = changes.get(f"link{k}.{name}", body[name])
        builder.link(f"link{k}", **body)
        builder.joint(f"joint{k}", kind, parent, f"link{k}", T[:3, 3], T[:3, :3], axis if k < 3 else None)
    tool = random_body(rng) | {n: changes[f"tool.{n}"] for n in ("mass", "com", "inertia") if f"tool.{n}" in changes}
    builder.link("tool", **tool)
    builder.joint("weld", "fixed", "link4", "tool", (0.1, 0.2, 0.3), random_rotation(rng))
    return hinge.Robot(builder.build())


ROBOT = built()


def random_value(name, rng):
    body = random_body(rng)
    if name == "gravity":
        return rng.normal(size=3) * 5
    field = name.split(".")[1]
    return pose(random_rotation(rng), rng.normal(size=3)) if field == "placement" else body[field]


NAMES = [
    ("link2.mass",), ("link3.com",), ("link1.inertia",), ("joint3.placement",), ("joint1.placement",), ("gravity",),
    ("tool.mass", "tool.com"), ("link4.mass", "tool.inertia"), ("link1.mass", "link1.com", "link1.inertia"),
    ("joint2.placement", "gravity", "link2.com"), ("joint4.placement", "joint3.placement", "tool.mass"),
]  # fmt: skip
some = pytest.mark.parametrize("names", NAMES, ids="+".join)


@pytest.mark.sampled(2)
@some
def test_a_batch_of_varied_robots_is_each_robot_built_again(names):
    rng = np.random.default_rng(171)
    varied = ROBOT.vary(*names)
    values = [{name: random_value(name, rng) for name in names} for _ in range(3)]
    rows = {name: np.array([v[name] for v in values]) for name in names}
    q, qd, qdd, tau = state(ROBOT, 172, 3)
    made = varied.inverse_dynamics(q, qd, qdd, parameters=rows)
    H = varied.mass_matrix(q, parameters=rows)
    forward = varied.forward_dynamics(q, qd, tau, parameters=rows)
    poses = varied.pose(q, "tool", parameters=rows)
    energy = varied.potential_energy(q, parameters=rows)
    for k, changes in enumerate(values):
        again = built(changes)
        near(made[k], again.inverse_dynamics(q[k], qd[k], qdd[k]), 1e-12, 50.0)
        near(H[k], again.mass_matrix(q[k]), 1e-12, 10.0)
        near(poses[k], again.pose(q[k], "tool"), 1e-13, 3.0)
        near(energy[k], again.potential_energy(q[k]), 1e-12, 50.0)
        near(forward[k], again.forward_dynamics(q[k], qd[k], tau[k]), 1e-14, stiffness(again, q[k]))


def test_what_a_call_does_not_give_has_its_nominal_value():
    varied = ROBOT.vary("link2.mass", "joint3.placement", "gravity")
    q, qd, qdd, _ = state(ROBOT, 173, 2)
    want = ROBOT.inverse_dynamics(q, qd, qdd)
    near(varied.inverse_dynamics(q, qd, qdd), want, 1e-12, 50.0)
    near(varied.inverse_dynamics(q, qd, qdd, parameters={}), want, 1e-12, 50.0)
    near(varied.inverse_dynamics(q, qd, qdd, parameters={"gravity": [0, 0, -9.81]}), want, 1e-12, 50.0)


def test_one_value_serves_every_state_and_many_values_one_state():
    varied = ROBOT.vary("link2.mass")
    q, qd, qdd, _ = state(ROBOT, 174, 4)
    one = varied.inverse_dynamics(q, qd, qdd, parameters={"link2.mass": 2.0})
    near(one, varied.inverse_dynamics(q, qd, qdd, parameters={"link2.mass": np.full(4, 2.0)}), 0.0)
    many = varied.inverse_dynamics(q[0], qd[0], qdd[0], parameters={"link2.mass": [1.0, 2.0, 3.0]})
    assert many.shape == (3, ROBOT.nv)
    near(many[1], one[0], 1e-13, 10.0)
    near(many[0] + many[2], 2 * many[1], 1e-13, 50.0)  # forces are linear in a mass


def test_forces_are_linear_in_mass_first_and_second_moments():
    """With the centre of mass held, tau is linear in mass and inertia; that is what identification rests on."""
    varied = ROBOT.vary("link4.mass", "link4.inertia")
    q, qd, qdd, _ = state(ROBOT, 175)
    zero = {"link4.mass": 0.0, "link4.inertia": np.zeros((3, 3))}
    mass, inertia = {"link4.mass": 2.0}, {"link4.inertia": np.eye(3)}
    changes = {}, mass, inertia, mass | inertia
    parts = [varied.inverse_dynamics(q, qd, qdd, parameters=zero | change) for change in changes]
    near(parts[1] + parts[2] - parts[0], parts[3], 1e-12, 50.0)


def test_a_robot_can_be_varied_further_and_after_edits():
    robot = ROBOT.vary("link2.mass").vary("gravity").with_payload("tool", 0.5).lock({"joint1": 0.3})
    q, qd, qdd, _ = state(robot, 176)
    changes = {"link2.mass": 3.0, "gravity": [1.0, 2.0, 3.0]}
    again = built(changes).with_payload("tool", 0.5).lock({"joint1": 0.3})
    near(robot.inverse_dynamics(q, qd, qdd, parameters=changes), again.inverse_dynamics(q, qd, qdd), 1e-12, 50.0)


def test_a_payload_stays_when_its_link_is_varied():
    laden = ROBOT.with_payload("link2", 1.5, (0.1, 0.0, 0.2)).vary("link2.mass")
    q, qd, qdd, _ = state(ROBOT, 177)
    want = built({"link2.mass": 4.0}).with_payload("link2", 1.5, (0.1, 0.0, 0.2)).inverse_dynamics(q, qd, qdd)
    near(laden.inverse_dynamics(q, qd, qdd, parameters={"link2.mass": 4.0}), want, 1e-12, 50.0)


def test_everything_else_takes_parameters_too():
    varied, changes = ROBOT.vary("link3.mass"), {"link3.mass": 0.4}
    again = built(changes)
    q, qd, qdd, tau = state(ROBOT, 178)
    known = np.arange(ROBOT.nv) % 2
    more = {"parameters": changes}
    given = q, qd, tau, qdd, known
    near(varied.hybrid_dynamics(*given, **more)[0], again.hybrid_dynamics(*given)[0], 1e-9)
    near(varied.joint_reactions(q, qd, qdd, **more)[0], again.joint_reactions(q, qd, qdd)[0], 1e-12, 50.0)
    near(varied.coriolis_matrix(q, qd, **more), again.coriolis_matrix(q, qd), 1e-12, 10.0)
    near(varied.momentum(q, qd, **more), again.momentum(q, qd), 1e-12, 10.0)
    near(varied.inverse_mass_matrix(q, **more), again.inverse_mass_matrix(q), 1e-9)


def test_an_external_force_in_base_axes_finds_the_varied_pose():
    T = random_value("joint3.placement", np.random.default_rng(179))
    q, qd, qdd, _ = state(ROBOT, 180)
    push = {"external": {"tool": np.arange(6.0)}, "external_frame": "base"}
    made = ROBOT.vary("joint3.placement").inverse_dynamics(q, qd, qdd, parameters={"joint3.placement": T}, **push)
    near(made, built({"joint3.placement": T}).inverse_dynamics(q, qd, qdd, **push), 1e-12, 50.0)


def test_a_varied_robot_pickles():
    robot = ROBOT.vary("link2.mass", "gravity")
    again = pickle.loads(pickle.dumps(robot))
    q, qd, qdd, _ = state(ROBOT, 181)
    more = {"parameters": {"link2.mass": 3.0, "gravity": [0, 1, 2]}}
    near(again.inverse_dynamics(q, qd, qdd, **more), robot.inverse_dynamics(q, qd, qdd, **more), 0.0)


def test_coupled_and_floating_robots_can_be_varied():
    for which in ("coupled", "floating"):
        robot = machine(which)
        q, qd, qdd, _ = state(robot, 182)
        light, heavy = ({"parameters": {"link2.mass": m}} for m in (1.0, 2.0))
        varied = robot.vary("link2.mass")
        for more in (light, heavy):
            tau = varied.inverse_dynamics(q, qd, qdd, **more)
            near(varied.forward_dynamics(q, qd, tau, **more), qdd, 1e-14, stiffness(varied, q, **more))
        assert np.abs(varied.inverse_dynamics(q, qd, qdd, **light) - tau).max() > 0.1


@pytest.mark.parametrize("call", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_varied_masses_cost_the_panda_at_most_twice_as_much(call):
    panda = hinge.load(PANDA)
    masses = [f"{link}.mass" for link, said in panda.model.links.items() if said.mass]
    assert len(masses) > 7
    varied = panda.vary(*masses)
    plain, more = (len(robot.kernel(call).program.code) for robot in (panda, varied))
    assert plain < more <= 2 * plain
    assert varied.cost(call).mul > panda.cost(call).mul


# what is refused


def test_an_unknown_parameter_is_refused():
    known = "Known: 'base.com', 'base.inertia', 'base.mass', 'gravity', 'joint1.armature', 'joint1.damping', "
    assert refused(hinge.UnknownName, ROBOT.vary, "link2.mas") == (
        "robot 'varied' has no parameter 'link2.mas'. Did you mean 'link2.mass' or 'link4.mass' or 'link3.mass'?"
    )
    assert refused(hinge.UnknownName, ROBOT.vary, "zzz") == (
        f"robot 'varied' has no parameter 'zzz'. {known}'joint1.effort', 'joint1.friction', …."
    )
    assert refused(hinge.UnknownName, ROBOT.vary, "weld.placement").startswith(
        "robot 'varied' has no parameter 'weld.placement'."
    )
    q = np.zeros(ROBOT.nq)
    assert refused(hinge.UnknownName, ROBOT.vary("gravity").gravity_force, q, parameters={"gravty": 1}) == (
        "gravity_force: parameter 'gravty' is not varied. Did you mean 'gravity'? robot.vary(…) names what is."
    )
    assert refused(hinge.UnknownName, ROBOT.gravity_force, q, parameters={"link2.mass": 1}) == (
        "gravity_force: parameter 'link2.mass' is not varied. There are none. robot.vary(…) names what is."
    )


def test_a_value_of_the_wrong_shape_is_refused():
    varied = ROBOT.vary("link2.mass", "link2.com", "joint1.placement")
    q = ROBOT.neutral()
    for name, value, had, wanted in (
        ("link2.com", [1.0, 2.0], "(2,)", "(3,)"), ("joint1.placement", np.eye(3), "(3, 3)", "(4, 4)"),
        ("link2.com", 1.0, "()", "(3,)"),
    ):  # fmt: skip
        assert refused(hinge.SizeError, varied.gravity_force, q, parameters={name: value}) == (
            f"gravity_force: parameter '{name}' has shape {had}; it has to end in {wanted}."
        )
    assert refused(hinge.SizeError, varied.gravity_force, q, parameters={"link2.mass": "heavy"}) == (
        "gravity_force: parameter 'link2.mass' is not an array of real numbers."
    )
    two = {"link2.mass": np.ones(2), "link2.com": np.ones((3, 3))}
    assert refused(hinge.SizeError, varied.gravity_force, q, parameters=two) == (
        "gravity_force: parameters: the batches do not fit together: (2,), (3,), ()."
    )

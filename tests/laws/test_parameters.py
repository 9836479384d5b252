"""Parameters of a call are the numbers of a rebuilt robot, in every public call and for every kind of parameter.

The calls are found by their signatures: one that takes `parameters=` and is not in the table fails the law. The robots
are built anew from their numbers, by a builder or from the text of a file.
"""

import inspect
import tempfile
from functools import cache

import numpy as np
import pytest

import hinge
from hinge.calls.numbers import limits_with
from hinge.calls.views import View
from hinge.dynamics.registry import KNOWN, PLACE, POSITION, required_inputs
from hinge.model.shapes import Shape
from hinge.model.vary import DATA, GEAR, JOINT, LINK
from hinge.robot import ALGORITHMS

ALL = ("armature", "damping", "friction", "stiffness")
NEAR = {"rtol": 1e-9, "atol": 1e-10}


def pose(x, y, z, turn=0.0):
    """A place, turned about z."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


def data(*numbers):
    """Numbers of a joint: limits, armature, damping, friction, stiffness, and where its spring is slack."""
    return dict(zip(("lower", "upper", "velocity", "effort", *ALL, "rest"), numbers, strict=True))


def named(owner, values):
    return {f"{owner}.{field}": value for field, value in values.items()}


def body(mass, x):
    return {"mass": mass, "com": (x, 0.0, 0.02), "inertia": np.diag([0.02, 0.05, 0.06]) * mass}


TREE = {  # by joint: what carries it, its link, its axis
    "turn": ("base", "upper", (0, 1, 0), "revolute"),
    "elbow": ("upper", "fore", (0, 1, 0), "revolute"),
    "slide": ("fore", "tip", (1, 0, 0), "prismatic"),
    "gear": ("upper", "wheel", (0, 0, 1), "revolute"),
}
NOMINAL = (
    {"gravity": (0.0, 0.0, -9.81), "gear.ratio": 0.5, "gear.offset": 0.1}
    | named("upper", body(2.0, 0.3)) | named("fore", body(1.0, 0.2)) | named("tip", body(0.5, 0.1))
    | named("wheel", body(0.3, 0.0))
    | {"turn.placement": pose(0, 0, 0.6), "elbow.placement": pose(0.5, 0, 0), "slide.placement": pose(0.3, 0, 0),
       "gear.placement": pose(0.1, 0.1, 0)}
    | named("turn", data(-2.0, 2.0, 4.0, 60.0, 0.1, 0.2, 0.1, 0.0, 0.0))
    | named("elbow", data(-1.5, 1.5, 5.0, 40.0, 0.05, 0.1, 0.2, 0.5, 0.1))
    | named("slide", data(-0.2, 0.4, 1.0, 50.0, 0.01, 0.5, 0.3, 2.0, 0.0))
    | named("gear", data(-1.4, 1.4, 9.0, 10.0, 0.01, 0.02, 0.05, 0.1, 0.0))
)  # fmt: skip
OTHER = (
    {"gravity": (0.5, 0.0, -8.0), "gear.ratio": 0.8, "gear.offset": -0.2}
    | named("fore", {"mass": 3.0, "com": (0.25, 0.05, 0.0), "inertia": np.diag([0.1, 0.2, 0.3])})
    | named("wheel", {"mass": 0.9})
    | {"elbow.placement": pose(0.6, 0.0, 0.1, 0.2)}
    | named("elbow", data(-0.6, 0.7, 3.0, 30.0, 0.2, 0.3, 0.6, 1.5, -0.2))
    | named("slide", {"lower": -0.1, "upper": 0.15, "velocity": 0.5, "effort": 20.0})
    | named("gear", {"upper": 1.0, "velocity": 3.0, "friction": 0.2})
)  # fmt: skip


def arm(numbers):
    """Two hinges, a slide, and a wheel that follows the second hinge; `numbers` in the places of the nominal ones."""
    known = NOMINAL | numbers
    builder = hinge.Builder("arm", known["gravity"])
    builder.link("base")
    for joint, (parent, link, axis, kind) in TREE.items():
        shapes = [Shape("collision", "sphere", (0.08,))] if link in ("fore", "tip") else []
        builder.link(link, **{name: known[f"{link}.{name}"] for name in LINK}, shapes=shapes)
        T = known[f"{joint}.placement"]
        mimic = ("elbow", known["gear.ratio"], known["gear.offset"]) if joint == "gear" else None
        builder.joint(joint, kind, parent, link, T[:3, 3], T[:3, :3], axis, mimic=mimic,
                      **{field: known[f"{joint}.{field}"] for field in DATA})  # fmt: skip
    return hinge.Robot(builder.build())


BARS = {"rocker.placement": pose(2.2, 0, 0), "crank.mass": 1.0}
OTHER_BARS = {"rocker.placement": pose(2.4, 0.1, 0), "crank.mass": 3.0}


def linkage(numbers):
    """A crank, a coupler and a rocker, whose pin is cut."""
    known = BARS | numbers
    builder = hinge.Builder("linkage", (0.0, -9.81, 0.0))
    builder.link("base")
    masses = {"crank": known["crank.mass"], "coupler": 1.0, "rocker": 1.0}
    places = {"crank": ("base", pose(0, 0, 0)), "coupler": ("crank", pose(1, 0, 0)),
              "rocker": ("base", known["rocker.placement"])}  # fmt: skip
    for name, (parent, T) in places.items():
        builder.link(name, masses[name], (0.5, 0.0, 0.0), np.diag([0.01, 0.1, 0.1]))
        builder.joint(name, "revolute", parent, name, T[:3, 3], T[:3, :3], (0, 0, 1))
    robot = hinge.Robot(builder.build())
    return robot.close("revolute", "rocker", "coupler", [2, 0, 0], [2.5, 0, 0], "pin", axis=(0, 0, 1))


FILE = {"rod.mass": 1.0, "box.mass": 2.0, "slider.mass": 1.0, "swing.upper": 0.6, "swing.friction": 0.1,
        "swing.damping": 0.05, "swing.armature": 0.01, "push.upper": 0.3}  # fmt: skip
OTHER_FILE = {"rod.mass": 2.5, "box.mass": 5.0, "slider.mass": 4.0, "swing.upper": 0.3, "swing.friction": 0.4,
              "swing.damping": 0.2, "swing.armature": 0.1, "push.upper": 0.1}  # fmt: skip


def file_robot(numbers):
    """A rod that swings to its stop, a box that falls on a plane, and a slider, with inertias that do not vary."""
    n = FILE | numbers
    return hinge.load(f"""<mujoco><compiler angle="radian"/><option timestep="0.004"/><worldbody>
      <geom type="plane" size="5 5 1"/>
      <body name="rod" pos="0 0 1"><joint name="swing" axis="0 1 0" limited="true" range="-0.6 {n["swing.upper"]}"
        frictionloss="{n["swing.friction"]}" damping="{n["swing.damping"]}" armature="{n["swing.armature"]}"/>
        <inertial pos="0.3 0 0" mass="{n["rod.mass"]}" diaginertia="0.01 0.05 0.05"/></body>
      <body name="box" pos="2 0 0.11"><freejoint name="float"/><geom type="box" size=".1 .1 .1"/>
        <inertial pos="0 0 0" mass="{n["box.mass"]}" diaginertia="0.02 0.02 0.02"/></body>
      <body name="slider" pos="0 2 1"><joint name="push" type="slide" axis="0 0 1" limited="true"
        range="-0.05 {n["push.upper"]}"/>
        <inertial pos="0 0 0" mass="{n["slider.mass"]}" diaginertia="0.02 0.02 0.02"/></body>
      </worldbody></mujoco>""")


MADE = {"arm": (arm, NOMINAL, OTHER), "linkage": (linkage, BARS, OTHER_BARS), "file": (file_robot, FILE, OTHER_FILE)}
nominal = cache(lambda which: MADE[which][0]({}))
rebuilt = cache(lambda which: MADE[which][0](MADE[which][2]))
varied = cache(lambda which: nominal(which).vary(*MADE[which][2]))


def rows_of(which):
    """The other numbers in the first row and the nominal ones in the second."""
    _, usual, other = MADE[which]
    return {name: np.stack([np.asarray(other[name], float), np.asarray(usual[name], float)]) for name in other}


def test_every_kind_of_parameter_is_in_the_law():
    kinds = {name.rpartition(".")[2] for name in OTHER}
    assert kinds == {"gravity", *LINK, *JOINT, *GEAR}


# ---- algorithms: their arguments are known


def arguments(robot, name, rng):
    """Inputs of an algorithm at one state that closes all loops; a frame is a name."""
    made = []
    for quantity in required_inputs(name).values():
        if quantity is PLACE:
            made.append(robot.frame_names[-1])
        elif quantity is POSITION:
            q = 0.3 * rng.uniform(-1.0, 1.0, robot.nq)
            made.append(robot.assemble(q + [0.5, 0.5, 1.2], strict=True).q if robot.loops else q)
        else:
            x = rng.uniform(0.05, 0.9, quantity.shape(robot.model))
            made.append(x.round() if quantity is KNOWN else x)
    return made


def listed(made):
    """Results as a list of arrays."""
    return [np.asarray(x, float) for x in (made if isinstance(made, tuple) else (made,))]


def algorithm_cases():
    for name in ALGORITHMS:
        for which in ("arm", "linkage", "file"):
            known = not all(one.reason(nominal(which).model) for one in ALGORITHMS[name].values())
            if known and (which == "linkage") == name.startswith("loop"):
                yield pytest.param(name, which, id=f"{name} of {which}")
                break


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("name", "which"), list(algorithm_cases()))
def test_algorithms_take_parameters_row_by_row(name, which):
    rng = np.random.default_rng(4)
    given = arguments(rebuilt(which), name, rng)
    terms = {} if which == "linkage" else {"joint_terms": ("armature", "damping", "stiffness")}
    made = listed(getattr(varied(which), name)(*given, parameters=rows_of(which), **terms))
    for k, robot in enumerate((rebuilt(which), nominal(which))):
        for got, want in zip(made, listed(getattr(robot, name)(*given, **terms)), strict=True):
            np.testing.assert_allclose(np.broadcast_to(got, (2, *want.shape))[k], want, **NEAR)


# ---- the other calls, each a function of a robot and of keywords, which are parameters or none

START = {"q0": [0.2, 0.3, 0.05], "qd0": [0.5, 1.5, 0.2]}


def run(robot, steps=40, t=None, **how):
    made = hinge.simulate(robot, t or 4e-3 * steps, **{"step": 4e-3, **START, **how})
    return made.q, made.qd, made.energy(), made.status


def stopped(robot, **how):
    return run(robot, limits="stop", joint_terms=ALL, effort=True, control=[9.0, 35.0, 30.0], **how)


def sprung(robot, **how):
    return run(robot, limits="spring", joint_terms=ALL, control=[0.0, 20.0, 15.0], **how)


def adaptive(robot, **how):
    made = hinge.simulate(robot, 0.05, method="dopri5", joint_terms=("armature", "stiffness"), **START, **how)
    return *made.final, made.energy()[..., -1]


def alone(law):
    def call(robot, **how):
        return run(robot, 20, contacts=None, ground=0.3, law=law, **how)

    return call


def of_file(robot, **how):
    q0 = robot.neutral()
    return run(robot, 80, physics="file", step=None, t=0.32, q0=q0, qd0=0.5 * np.ones(robot.nv), **how)


def touched(robot, **how):
    made = hinge.simulate(robot, 0.02, step=4e-3, ground=0.3, **START, **how).contacts
    return made.points, made.forces, made.gaps


def deep(robot, **how):
    """A tip that is deep in the ground in one of the robots."""
    return (hinge.simulate(robot, 0.004, step=4e-3, ground=0.24, q0=[0.4, 0.0, 0.0], **how).status,)


def closed(robot, **how):
    """A linkage starts where its own pin is closed."""
    q = robot.assemble([0.5, 0.6, 1.2], hold=["crank"], **how).q
    made = hinge.simulate(robot, 0.02, q0=q, loops="independent", **how)
    return made.q, made.energy(), robot.mobility(q, **how).rank


def pushed(robot, **how):
    q = robot.assemble([0.5, 0.6, 1.2], hold=["crank"], **how).q
    return robot.loop_inverse_dynamics(q, np.zeros(3), np.zeros(3), actuated=["crank"], **how)


def reached(robot, **how):
    goal = nominal("arm").pose([[0.6, 1.2, 0.3], [-0.4, -1.4, -0.15]], "tip")
    made = hinge.inverse_kinematics(robot, goal, "tip", starts=3, steps=15, match="position", **how)
    return made.q, made.error, made.status


def accelerations(robot, **how):
    made = hinge.hand_accelerations(robot, [0.2, 0.3, 0.05], [0.5, 0.5, 0.1], "tip", **how)
    return made.support([1.0, 0.0, 0.0]), made.effort, made.map


def path(s):
    """A way from rest to rest within all limits of position."""
    way = np.array([0.4, 0.5, 0.1])
    return np.outer(s, way), np.ones((len(s), 1)) * way, np.zeros((len(s), 3))


def paced(plan):
    def call(robot, **how):
        made = plan(robot, path, points=16, **how)
        return (np.array(made.duration),)

    return call


def problem_of(robot):
    own = [lambda u: 0.1 * u]
    reach = [lambda q: 3.0 * (q - np.array([0.4, 0.2, 0.1])), lambda qd: qd]
    return hinge.optimal.Problem(robot, 5, 0.04, running=own, final=reach, limits=())


def planned(robot, **how):
    made = hinge.optimal.ddp(problem_of(robot), [0.2, 0.3, 0.05], iterations=4, **how)
    again = made.replay(**how)
    return made.q, made.u, made.cost, again.q, again.energy()


def sampled(robot, **how):
    made = hinge.optimal.mppi(problem_of(robot), [0.2, 0.3, 0.05], samples=8, iterations=2, noise=1.0, **how)
    return made.q, made.u


def costed(robot, **how):
    made = hinge.optimal.rolled(problem_of(robot), [0.2, 0.3, 0.05], None, np.ones((5, 3)), **how)
    return made.q, made.cost


def still(robot, **how):
    made = hinge.optimal.equilibrium(robot, [0.2, 0.3, 0.05], **how)
    gains = hinge.optimal.lqr(robot, made.q, 1.0, 1.0, tau=made.tau, **how)
    return made.tau, gains.K


def rolled_out(robot, **how):
    made = hinge.rollout(robot, START["q0"], START["qd0"], 20, 4e-3, joint_terms=ALL, limits="stop", **how)
    return made.q, made.trajectory.energy()


def swept(robot, parameters=None):
    with tempfile.TemporaryDirectory() as folder:
        made = hinge.sweep(robot, parameters, {"q": START["q0"]}, t=0.04, step=4e-3, rollouts=2,
                           store=f"{folder}/sweep", progress=False)  # fmt: skip
        again = made.again(0)
    return again.q, again.qd, again.trajectory.energy()


class Hold(hinge.envs.Task):
    """A task whose forces and bounds are those of the limits."""

    h = 4e-3
    physics = {"limits": "stop", "effort": True, "joint_terms": ALL}  # noqa: RUF012

    def __init__(self, robot):
        self.robot = robot


def environment(robot, parameters=None):
    given = None if parameters is None else {name: np.asarray(x, float) for name, x in parameters.items()}
    env = hinge.envs.VectorEnv(Hold(nominal("arm") if given else robot), 2, parameters=given, dtype=np.float64)
    env.reset(seed=0)
    seen, *_ = env.step(np.full((2, 3), 0.7, np.float32))
    return env.q, env.qd, env.single_observation_space.low, env.single_observation_space.high, seen


def at_contact(name, given):
    """A call about a contact of the tip with a face that goes through it."""

    def call(robot, **how):
        q, height = [0.4, 0.3, 0.05], robot.pose([0.4, 0.3, 0.05], "tip", **how)[2, 3]
        speed = [0.4, 0.3, 0.2] if name == "impact" else [0.0, 0.0, 0.0]
        contact = hinge.Contact("tip", (0.1, 0.0, 0.0), (0.0, 0.0, 1.0), other_point=(0.0, 0.0, float(height)))
        return [x for x in getattr(robot, name)(q, speed, *given([contact]), **how) if isinstance(x, np.ndarray)]

    return call


def stepped(robot, **how):
    made = robot.contact_step([0.4, 0.3, 0.05], [0.1, 0.2, 0.1], [1.0, 2.0, 3.0], 1e-3, ground=0.3, **how)
    return made.q, made.qd, made.forces, made.gaps


def held(robot, **how):
    """A constraint on the tip's height."""
    on = hinge.constrain(robot, lambda q, t: [q[0] + q[1] * q[1] - 0.3], holonomic=True)
    q = on.assemble([0.2, 0.3, 0.05], **how).q
    tau, _ = on.inverse(q, np.zeros(3), np.zeros(3), **how)
    return (*on.forward(q, np.zeros(3), np.zeros(3), **how), tau)


def derived(robot, **how):
    X = lambda q: np.array([q[1], 1.0, q[0]])
    Y = lambda q: np.array([1.0, q[2], q[1] * q[1]])
    return (robot.covariant_derivative(X, Y)([0.2, 0.3, 0.05], **how),)


def drawn(robot, **how):
    limits = limits_with("limits", robot.target, *(how.values() or [None]))
    return *robot.random_state(0, 3, **how), *limits


def auto(robot, **how):
    return (hinge.simulate(robot, 0.02, step="auto", **START, **how).t,)


def linear(robot, **how):
    q, qd, tau = START["q0"], START["qd0"], [1.0, 2.0, 3.0]
    return *robot.linearize(q, qd, tau, **how), *robot.derivatives("forward_dynamics", q, qd, tau, **how)


CASES = {  # a call, and the robot it is of
    "stopped": (stopped, "arm"), "sprung": (sprung, "arm"), "adaptive": (adaptive, "arm"), "auto": (auto, "arm"),
    "rigid": (alone("rigid"), "arm"), "soft": (alone("soft"), "arm"), "file": (of_file, "file"),
    "touched": (touched, "arm"), "deep": (deep, "arm"), "closed": (closed, "linkage"), "pushed": (pushed, "linkage"),
    "reached": (reached, "arm"), "accelerations": (accelerations, "arm"),
    "time_optimal": (paced(hinge.time_optimal), "arm"), "time_uniform": (paced(hinge.time_uniform), "arm"),
    "planned": (planned, "arm"), "sampled": (sampled, "arm"), "costed": (costed, "arm"), "still": (still, "arm"),
    "rolled_out": (rolled_out, "arm"), "swept": (swept, "arm"), "environment": (environment, "arm"),
    "stepped": (stepped, "arm"), "held": (held, "arm"), "derived": (derived, "arm"), "linear": (linear, "arm"),
    "drawn": (drawn, "arm"),
    "dynamics": (at_contact("contact_dynamics", lambda c: ([1.0, 2.0, 3.0], c)), "arm"),
    "system": (at_contact("contact_system", lambda c: ([1.0, 2.0, 3.0], c)), "arm"),
    "impact": (at_contact("impact", lambda c: (c,)), "arm"),
    "friction_step": (at_contact("friction_step", lambda c: ([1.0, 2.0, 3.0], c, 1e-3)), "arm"),
}  # fmt: skip
TABLE = {  # public calls with `parameters=`: the case that makes them
    "simulate": "stopped", "rollout": "rolled_out", "sweep": "swept", "inverse_kinematics": "reached",
    "hand_accelerations": "accelerations", "time_optimal": "time_optimal", "time_uniform": "time_uniform",
    "optimal.ddp": "planned", "optimal.Solution.replay": "planned", "optimal.mppi": "sampled",
    "optimal.rolled": "costed", "optimal.Problem.parameters": "costed", "envs.VectorEnv": "environment",
    "contact.step": "stepped", "contact.dynamics": "dynamics", "contact.system": "system", "contact.impact": "impact",
    "contact.friction_step": "friction_step", "linkage.assemble": "closed", "linkage.mobility": "closed",
    "linkage.inverse_dynamics": "pushed", "Constrained.assemble": "held", "Constrained.inverse": "held",
    "Robot.random_state": "drawn",
}  # fmt: skip
# results with parameters, and what else is called so
OTHERS = {"Trajectory", "envs.State", "identify.Fit", "identify.Base.values"}


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore:q0")  # of deep starts
@pytest.mark.parametrize("name", CASES)
def test_calls_take_parameters(name, monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "llvm")  # runs are long for the interpreter
    call, which = CASES[name]
    _, usual_numbers, numbers = MADE[which]
    want, usual = call(rebuilt(which)), call(varied(which), parameters={one: usual_numbers[one] for one in numbers})
    assert any(np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-6) for a, b in zip(want, usual, strict=True))
    for got, one in zip(call(varied(which), parameters=numbers), want, strict=True):
        np.testing.assert_allclose(got, one, **NEAR)


def takes(function):
    """Whether a call has a keyword `parameters`."""
    try:
        found = inspect.signature(function).parameters.get("parameters")
    except (TypeError, ValueError):
        return False
    return found is not None and found.kind is not inspect.Parameter.VAR_KEYWORD


def methods(owner, name):
    """The methods of a class with `parameters=`, by name."""
    words = [word for word in vars(owner) if word == "__call__" or not word.startswith("_")]
    return {f"{name}.{word}" for word in words if takes(vars(owner)[word]) and word not in ALGORITHMS}


def of_room(room):
    """The calls and methods of a package with `parameters=`, by name, that are called as they are, not on a target."""
    module, made = getattr(hinge, room) if room else hinge, set()
    for name in getattr(module, "__all__", None) or dir(module):
        one, full = getattr(module, name, None), f"{room}.{name}" if room else name
        if name.startswith("_") or not callable(one) or (room and hasattr(hinge, name)):
            continue
        if takes(one) and next(iter(inspect.signature(one).parameters)) != "target":
            made.add(full)
        made |= methods(one, full) if inspect.isclass(one) else set()
    return made


def of_views():
    """The methods of a robot's views that are no algorithms."""
    robot, made = nominal("linkage"), set()
    for view in [x for x in dir(hinge.Robot) if not x.startswith("_") and isinstance(getattr(robot, x), View)]:
        for name, method in inspect.getmembers(type(getattr(robot, view)), callable):
            if not name.startswith("_") and takes(method) and hasattr(method, "__wrapped__"):
                made.add(f"{view}.{name}")
    return made


def test_every_call_with_parameters_is_in_the_law():
    rooms = ("", "contact", "control", "envs", "export", "geometry", "identify", "interop", "logs", "motion", "optimal",
             "planning", "sweeps", "viewing")  # fmt: skip
    found = set().union(*map(of_room, rooms)) | of_views()
    assert found == {*TABLE, *OTHERS}
    assert {*TABLE.values()} <= CASES.keys()

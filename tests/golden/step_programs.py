"""The programs of steps and runs, as their number of nodes and a digest: a refactor that keeps them keeps all bits.

    python tests/golden/step_programs.py        rewrite step_programs.toml after a change that was meant

Constants count to ten digits, because the last ones depend on the processor's linear algebra.
"""

import hashlib
import os
import re
import tomllib
import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

import hinge
from hinge import backends
from hinge.backends.kernel import Memo
from hinge.robot import ALGORITHMS

KEPT = Path(__file__).parent / "step_programs.toml"
REWRITE = "If this was meant, run `python tests/golden/step_programs.py` and commit what it changes."
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
H = 2e-3
OTHERS = {"loop_rank", "depth", "constrained matrix", "weights_of_coordinates", "weights_of_velocities"}
METHODS = ("euler", "semi_implicit", "implicit", "rk4", "lie_rk4", "midpoint", "dopri5")


# ---- robots


@cache
def arm(flags=""):
    """Two rods with all terms and limits of joints; on a floating trunk, with a follower, a driven wheel or a loop."""
    builder = hinge.Builder("arm")
    bar = np.diag([0.01, 1 / 12, 1 / 12])
    builder.link("world")
    top = "world"
    if "floating" in flags:
        top = "trunk"
        builder.link(top, 5.0, (0.1, 0, 0), np.eye(3))
        builder.joint("base", "free", "world", top)
    joint = {"axis": (0, -1, 0), "damping": 0.3, "friction": 0.2, "stiffness": 2.0, "effort": 4.0, "velocity": 10.0}
    builder.link("upper", 1.0, (0.5, 0, 0), bar)
    builder.joint("shoulder", "revolute", top, "upper", lower=-3.0, upper=3.0, **joint)
    builder.link("lower", 1.0, (0.4, 0.1, 0), bar)
    builder.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), lower=-3.0, upper=3.0, **joint)
    if "mimic" in flags:
        builder.link("finger", 0.2, (0.1, 0, 0), 0.1 * bar)
        builder.joint("finger", "revolute", "upper", "finger", (0.5, 0, 0), mimic=("shoulder", 0.5, 0.1), **joint)
    if "driven" in flags:
        builder.link("wheel", 0.3, (0.1, 0, 0), 0.1 * bar)
        builder.joint("wheel", "continuous", "upper", "wheel", (0.2, 0, 0), axis=(0, 0, 1))
    if "closed" in flags:
        builder.link("rocker", 1.0, (0.5, 0, 0), bar)
        builder.joint("rocker", "revolute", top, "rocker", (1, 0, 0), **joint)
        builder.joint("pin", "revolute", "lower", "rocker", (1, 0, 0), axis=(0, -1, 0), child_xyz=(-1, 0, 0))
    made = hinge.Robot(builder.build(loops="closed" in flags))
    made = made.prescribe("wheel") if "driven" in flags else made
    return made.vary("lower.mass", "elbow.damping", "gravity") if "varied" in flags else made


SERVOS = """<mujoco><option integrator="{}" cone="{}"/><worldbody><geom type="plane" size="0 0 1" friction=".4"/>
<body name="upper" pos="0 0 .673">
<joint name="a" axis="0 1 0" range="-57 40" limited="true" damping=".2" frictionloss=".1"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/><body name="lower" pos=".4 0 0">
<joint name="b" axis="0 1 0" damping=".1" stiffness="3"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass=".7"/></body></body></worldbody>
<actuator><motor joint="a"/><position joint="b" kp="15"/></actuator></mujoco>"""


@cache
def servos(integrator, cone="pyramidal"):
    return hinge.load(SERVOS.format(integrator, cone))


@cache
def box(*varied):
    made = hinge.Scene().body("box", "box", (0.2, 0.15, 0.1), 2.0).body("ball", "sphere", 0.1, 1.0).robot
    return made.vary(*varied) if varied else made


@cache
def ball():
    return hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot


def law(t, q, qd, *gains):
    return -2.0 * q[..., -qd.shape[-1] :] - 0.1 * qd + np.sin(t) + sum(1e-3 * g for g in gains)


def swinging(t):
    return np.array([0, 0, 0, np.sin(t), 0, 0]), np.array([0, 0, 0, np.cos(t), 0, 0])


def turning(t):
    return np.array([np.sin(t)]), np.array([np.cos(t)]), np.array([-np.sin(t)])


# ---- what is run


def simulation(robot, **options):
    """The programs of a simulation of two steps."""
    return lambda: hinge.simulate(robot(), 2 * H, *start(robot()), step=H, progress=False, **values(robot, options))


def rollout(robot, **options):
    return lambda: hinge.rollout(robot(), *start(robot()), 2, H, **values(robot, options))


def backward(robot, **options):
    """The programs of a rollout and of its derivatives."""

    def make():
        run = hinge.rollout(robot(), *start(robot()), 2, H, **values(robot, options))
        run.pulled(dq=np.ones((*run.qd.shape,)), dqd=np.ones(run.qd.shape))

    return make


def contacts(robot, **options):
    """The programs of a rollout and of the contacts at its states."""
    return lambda: hinge.rollout(robot(), *start(robot()), 2, H, **values(robot, options)).contacts


def one_step(robot, **options):
    def make():
        made = robot()
        made.contact_step(*start(made), np.zeros(made.nv), H, **values(robot, options))

    return make


def planned(robot, **options):
    """The programs of an optimal control problem."""

    def make():
        made = robot()
        problem = hinge.optimal.Problem(made, 2, H, [hinge.optimal.effort()], **values(robot, options))
        hinge.optimal.ddp(problem, *start(made), iterations=0)

    return make


def environment():
    env = hinge.envs.VectorEnv(hinge.envs.CartPoleSwingUp(), 2)
    env.reset(seed=0)
    env.step(np.zeros(env.action_space.shape))


def start(robot):
    q = robot.neutral()
    if robot.nq != robot.nv and robot.name != "arm":
        q[6::7] = 0.3 + 0.5 * np.arange(len(q[6::7]))
    return q, np.zeros(robot.nv)


def values(robot, options):
    return {
        k: v(robot()) if callable(v) and getattr(v, "__name__", "") == "<lambda>" else v for k, v in options.items()
    }


GROUND = hinge.Ground(0.0, friction=0.5, restitution=0.2)
SOFT_GROUND = hinge.Ground(0.0, friction=0.5, compliance=1e-4)
FRICTION = ("armature", "damping", "friction", "stiffness")
CASES = {
    **{f"{m}": simulation(arm, method=m, control=lambda r: np.ones(r.nv)) for m in METHODS},
    **{f"{m}, floating, all terms": simulation(lambda: arm("floating"), method=m, joint_terms=FRICTION)
       for m in METHODS if m != "midpoint"},
    **{f"{m}, stops": simulation(lambda: arm("mimic"), method=m, limits="stop", joint_terms=FRICTION) for m in METHODS},
    **{f"{m}, springs": simulation(arm, method=m, limits="spring", effort=True, control=law)
       for m in ("rk4", "implicit")},
    **{f"{m}, loop, {way}": simulation(lambda: arm("closed"), method=m, loops=way)
       for m in ("semi_implicit", "rk4", "implicit") for way in (None, "project", "baumgarte", "independent")},
    "loop, friction and stops": simulation(lambda: arm("closed"), loops="project", limits="stop", joint_terms=FRICTION),
    **{f"constraint, {way}": simulation(
        lambda: arm("floating"), loops=way,
        constraint=lambda r: hinge.constrain(r, lambda q, t: [[0.0] * (r.nv - 2) + [1.0, 1.0]]))
       for way in (None, "project", "baumgarte")},
    "keep": simulation(arm, method="semi_implicit", keep=2, joint_terms=FRICTION),
    "controller with inputs": simulation(arm, control=law, inputs=[np.ones(2)]),
    "forces by step": simulation(arm, control=lambda r: np.ones((2, r.nv))),
    "loads": simulation(arm, external={"lower": np.ones(6)}, external_frame="base", base_motion=2 * (np.ones(6),)),
    "swinging base": simulation(arm, base_motion=swinging),
    "driven": simulation(lambda: arm("driven"), prescribed=([0.1], [0.2], [0.3])),
    "driven, stops": simulation(lambda: arm("driven"), prescribed=([0.1], [0.2], [0.3]), limits="stop",
                                joint_terms=FRICTION),
    "driven in time": simulation(lambda: arm("driven"), prescribed=turning),
    "varied": simulation(lambda: arm("varied"), limits="spring",
                         parameters={"lower.mass": 1.2, "elbow.damping": 0.1, "gravity": (0, 0, -9.0)}),
    "error control": simulation(arm, method="dopri5", rtol=1e-6, control=law),
    **{f"{m}, rigid": rollout(box, method=m, ground=GROUND, contacts="self")
       for m in ("semi_implicit", "implicit", "rk4", "lie_rk4")},
    "rigid, stops and friction": rollout(lambda: servos("Euler"), ground=GROUND, limits="stop", joint_terms=FRICTION),
    "compliant": rollout(box, ground=SOFT_GROUND),
    "soft": rollout(box, ground=GROUND, contacts="self", law="soft"),
    "soft, forces by step": rollout(box, ground=GROUND, law="soft", taus=lambda r: np.ones((2, r.nv))),
    "surfaces, rigid": rollout(lambda: box("box.mass"), ground=GROUND,
                               parameters={"box.mass": 2.5, "friction": 0.4, "restitution": 0.1}),
    "surfaces, soft": rollout(lambda: box("box.mass"), ground=GROUND, law="soft",
                              parameters={"box.mass": 2.5, "friction": 0.4}),
    **{f"file, {i}, {c}": rollout(lambda i=i, c=c: servos(i, c), physics="file", ctrl=np.ones(2))
       for i in ("Euler", "implicitfast", "implicit", "RK4") for c in ("pyramidal", "elliptic")},
    "backward": backward(arm, policy=law),
    "backward, by step": backward(lambda: arm("floating"), taus=lambda r: np.ones((2, r.nv)), method="rk4"),
    "backward, rigid": backward(ball, ground=GROUND),
    "backward, soft": backward(ball, ground=GROUND, law="soft"),
    "backward, file": backward(lambda: servos("implicitfast"), physics="file"),
    "contacts, rigid": contacts(box, ground=GROUND),
    "contacts, soft": contacts(box, ground=GROUND, law="soft"),
    "contact step, rigid": one_step(box, ground=GROUND),
    "contact step, soft": one_step(box, ground=GROUND, law="soft"),
    "plan": planned(arm),
    "plan, rk4": planned(arm, method="rk4"),
    "plan on the ground": planned(lambda: servos("Euler"), ground=GROUND),
    "environment": environment,
}  # fmt: skip


# ---- their programs


@contextmanager
def noted(plans):
    """Note every plan of which a kernel is made or asked for, with the back end."""
    found = Memo.kernel

    def note(self, plan, backend):
        plans.setdefault((plan.source, backend), plan)
        return found(self, plan, backend)

    Memo.kernel = note
    try:
        yield
    finally:
        Memo.kernel = found


def programs(case):
    """Return the programs about steps that a case runs, each as `name: nodes digest`, in order."""
    plans, before = {}, os.environ.get("HINGE_BACKEND")
    os.environ["HINGE_BACKEND"] = "interpret"
    try:
        with noted(plans), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CASES[case]()
    finally:
        os.environ.pop("HINGE_BACKEND") if before is None else os.environ.update(HINGE_BACKEND=before)
    others = OTHERS | ALGORITHMS.keys()
    about = [(plan, backends.find(backend)) for (_, backend), plan in plans.items() if plan.name not in others]
    return sorted(f"{plan.name}: {described(plan.trace(backend))}" for plan, backend in about)


def described(program):
    text = NUMBER.sub(lambda found: f"{float(found[0]):.9e}", repr(program))
    return f"{len(program.code)} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def kept():
    return tomllib.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def write():
    lines = ["# Nodes and digests of programs. Written by `python tests/golden/step_programs.py`; do not edit.", ""]
    for case in CASES:
        lines += [f'"{case}" = [', *(f'  "{one}",' for one in programs(case)), "]"]
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()

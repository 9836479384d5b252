"""Every pair of what `simulate` takes, together: it works, the same alone and in parts, or is refused with a reason."""

import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import hinge
from hinge.sim.turns import Turns

H, STEPS = 2e-3, 6
ROLLOUTS = 3
ANGLES = np.array([0.7, 0.9, 1.1])


@cache
def robot(flags):
    """Two rods with all that joints may have; more on it by flags."""
    builder = hinge.Builder("both")
    bar = np.diag([0.01, 1 / 12, 1 / 12])
    builder.link("world")
    top = "world"
    if "floating" in flags:
        top = "trunk"
        builder.link(top, 5.0, (0.1, 0, 0), np.eye(3))
        builder.joint("base", "free", "world", top)
    joint = {"axis": (0, -1, 0), "damping": 0.3, "friction": 0.2, "stiffness": 2.0, "effort": 4.0, "velocity": 10.0}
    builder.link("upper", 1.0, (0.5, 0, 0), bar)
    builder.joint("shoulder", "revolute", top, "upper", lower=-3.0, upper=1.1005, **joint)
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
    return made.vary("lower.mass", "elbow.damping") if "varied" in flags else made


def begin(flags):
    """States of a parallelogram, which close its loop where there is one."""
    made = robot(flags)
    q, qd = np.tile(made.neutral(), (ROLLOUTS, 1)), np.zeros((ROLLOUTS, made.nv))
    turn = {"shoulder": 1.0, "elbow": -1.0, "rocker": 1.0}
    for i in made.model.leaders:
        name, (at_q, at_v) = made.model.joint_name[i], made.model.slices[i]
        if name in turn:
            q[:, at_q.start], qd[:, at_v.start] = turn[name] * ANGLES, turn[name] * np.array([0.3, 0.0, 0.5])
    return q, qd


def law(t, q, qd, *gains):
    return -2.0 * q[..., -qd.shape[-1] :] - 0.1 * qd + np.sin(t) + sum(1e-3 * g for g in gains)


def fell(t, q, qd):
    return q[-1] - 0.8995


def rows(n):
    return np.random.default_rng(0).normal(size=(ROLLOUTS, *n))


METHODS = ("rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint", "dopri5")
# name: the flags of the robot, what is given, and what goes with it unless the other one of a pair says otherwise
FEATURES = {
    **{m: ("", {"method": m}, {}) for m in METHODS},
    "held forces": ("", {"control": lambda r: rows((1, r.nv))}, {}),
    "rows of forces": ("", {"control": lambda r: rows((STEPS, r.nv))}, {}),
    "a controller": ("", {"control": lambda r: law}, {}),
    "sampled": ("", {"control": lambda r: law, "sample": 4}, {}),
    "effort": ("", {"effort": True}, {}),
    "stops": ("", {"limits": "stop"}, {}),
    "springs": ("", {"limits": "spring"}, {}),
    "joint terms": ("", {"joint_terms": ("armature", "damping", "friction", "stiffness")}, {}),
    "keep": ("", {"keep": 4}, {"method": "semi_implicit"}),
    "events": ("", {"events": [fell]}, {}),
    "rtol": ("", {"rtol": 1e-6}, {"method": "dopri5"}),
    "a file": ("", {"file": "run.zarr"}, {}),
    "constraint": ("", {"constraint": lambda r: level(r)}, {}),
    "project": ("closed", {"loops": "project"}, {}),
    "baumgarte": ("closed", {"loops": "baumgarte"}, {}),
    "independent": ("closed", {"loops": "independent"}, {}),
    "parameters": ("varied", {"parameters": {"lower.mass": np.array([0.5, 1.0, 2.0]), "elbow.damping": 0.7}}, {}),
    "inputs": ("", {"inputs": [rows((1,))]}, {"control": lambda r: law}),
    "external": ("", {"external": {"lower": rows((6,))}}, {}),
    "external in base axes": ("", {"external": {"lower": np.ones(6)}, "external_frame": "base"}, {}),
    "moving base": ("", {"base_motion": (np.ones(6), 2.0 * np.ones(6))}, {}),
    "swinging base": ("", {"base_motion": lambda r: swinging}, {}),
    "driven": ("driven", {"prescribed": ([0.1], [0.2], [0.3])}, {}),
    "driven in time": ("driven", {"prescribed": lambda r: turning}, {}),
    "record": ("", {"record": 4}, {}),
    "last": ("", {"record": "last"}, {}),
    "t0": ("", {"t0": 3 * H}, {}),
    "floating": ("floating", {}, {}),
    "mimic": ("mimic", {}, {}),
}  # fmt: skip


def swinging(t):
    return np.array([0, 0, 0, np.sin(t), 0, 0]), np.array([0, 0, 0, np.cos(t), 0, 0])


def turning(t):
    return np.array([np.sin(t)]), np.array([np.cos(t)]), np.array([-np.sin(t)])


def level(made):
    """The last two velocities go against one another."""
    return hinge.constrain(made, lambda q, t: [[0.0] * (made.nv - 2) + [1.0, 1.0]])


def alone(options, k):
    """What rollout k is given of what all are."""
    made = dict(options)
    if np.ndim(made.get("control")) > 1:
        made["control"] = made["control"][k]
    if "inputs" in made:
        made["inputs"] = [a[k] for a in made["inputs"]]
    if "parameters" in made:
        made["parameters"] = {n: np.asarray(a)[k] if np.ndim(a) else a for n, a in made["parameters"].items()}
    if "external" in made:
        made["external"] = {n: a[k] if a.ndim > 1 else a for n, a in made["external"].items()}
    return made


def simulated(flags, options, folder, q, qd):
    options = dict(options)
    if "file" in options:
        options["file"] = folder / f"{len(list(folder.iterdir()))}.zarr"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hinge.simulate(robot(flags), STEPS * H, q, qd, step=H, **options)


def tried(names, folder, monkeypatch):
    """A reason why not, or nothing after everything has been found right."""
    flags = " ".join(sorted({FEATURES[name][0] for name in names} - {""}))
    q, qd = begin(flags)
    options = {}
    try:
        for given in (FEATURES[name][column] for column in (2, 1) for name in names):
            options |= {k: v(robot(flags)) if callable(v) else v for k, v in given.items()}
        run = simulated(flags, options, folder, q, qd)
    except hinge.HingeError as problem:
        return f"{type(problem).__name__}: {problem}"
    assert (run.status == hinge.Status.OK).all()
    for a in (run.q, run.qd, run.tau):
        assert np.isfinite(np.asarray(a)).all()
    assert np.isnan(run.lost).all()
    one = simulated(flags, alone(options, 1), folder, q[1], qd[1])
    whole = Turns.bounded
    with monkeypatch.context() as patch:
        patch.setattr(Turns, "bounded", lambda self, n, count: whole(self, n, min(count, 2)))
        parts = simulated(flags, options, folder, q, qd)
    for name in ("t", "q", "qd", "tau"):
        a, b, c = (np.asarray(getattr(x, name)) for x in (run, one, parts))
        assert np.array_equal(a, c), f"{name} in parts"
        assert np.array_equal(a if name == "t" else a[1], b), f"{name} alone"
    assert [(e.which, e.rollout, e.t) for e in run.events] == [(e.which, e.rollout, e.t) for e in parts.events]
    return ""


# what does not go with what, and the words of the reason
LOOPS = ("project", "baumgarte", "independent")
DRIVEN = ("driven", "driven in time")
REFUSED = {
    "needs the equations more than once": [("keep", m) for m in METHODS if m not in ("euler", "semi_implicit")],
    "need the equations of each step": [("keep", x) for x in ("constraint", *LOOPS, *DRIVEN)],
    "steps are taken again": [("keep", "events")],
    "it estimates no error": [("rtol", m) for m in METHODS if m != "dopri5"],
    "'dopri5' needs the equations more than once": [("rtol", "keep")],
    "it evaluates forces where it needs them": [(m, "sampled") for m in ("dopri5", "rtol")],
    "no common times": [(m, "a file") for m in ("dopri5", "rtol")],
    "held throughout": [(m, "rows of forces") for m in ("dopri5", "rtol")],
    "goes with fixed steps": [(m, x) for m in ("dopri5", "rtol") for x in ("project", "independent")],
    "a method that asks for accelerations": [("midpoint", x) for x in ("constraint", *LOOPS)],
    "written in momenta": [("midpoint", x) for x in ("external", "external in base axes", "moving base",
                                                     "swinging base")],
    "is driven": [("midpoint", x) for x in DRIVEN],
    "joint 'base' is free": [("midpoint", "floating")],
    "is for kinematic loops": [("constraint", "independent")],
    "inputs= has no effect": [("inputs", x) for x in ("held forces", "rows of forces")],
    "do not go with driven joints": [(a, b) for a in LOOPS for b in DRIVEN],
}  # fmt: skip
WHY = {frozenset(pair): words for words, pairs in REFUSED.items() for pair in pairs}
PAIRS = [(a, b) for a, b in combinations(FEATURES, 2) if not FEATURES[a][1].keys() & FEATURES[b][1].keys()]


@pytest.mark.sampled(60)
@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_every_pair_works_or_is_refused(pair, tmp_path, monkeypatch):
    reason, words = tried(pair, tmp_path, monkeypatch), WHY.get(frozenset(pair), "")
    assert (words in reason) if words else not reason, reason


def test_what_is_refused_is_a_pair():
    assert WHY.keys() <= {frozenset(pair) for pair in PAIRS}

"""What is kept as golden: operation counts of a few robots, listings of two small programs, the doctor's findings.

    python tests/golden/write.py        rewrite them after a change that was meant, and read what has changed

A refactor that leaves these files untouched has changed no program.
"""

import sysconfig
import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

import hinge
from hinge.dynamics import ALGORITHMS

OTHERS = ("hinge.formulations", "hinge.dynamics.turney", "hinge.dynamics.resolved_motion")  # other sets of equations

HERE = Path(__file__).parent
COUNTS = HERE / "counts.toml"
FINDINGS = HERE / "doctor_urdf.txt"
REWRITE = "If this was meant, run `python tests/golden/write.py` and commit what it changes."
ROBOT_FILES = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
CALLS = ("inverse_dynamics", "bias_force", "gravity_force", "mass_matrix", "coriolis_matrix", "forward_dynamics",
         "coriolis_coefficients", "force_parts")  # fmt: skip


def general_arm():
    """Six revolute joints with general placements, axes and inertias, and no rotors: the arm the literature counts."""
    return hinge.samples.chain(np.random.default_rng(0), 6)


def upright_arm():
    """The same with gravity along its first axis, which is how arms are mounted."""
    model = general_arm().model
    R, _ = model.placement[1].pose()
    return hinge.Robot(replace(model, gravity=tuple(-9.81 * x for x in R @ model.joint[1].axis)))


def geared_arm():
    """The same with rotors on two joints, which cost the articulated-body method its zeros there."""
    model = general_arm().model
    data = [replace(d, armature=(0.1,)) if i in (3, 6) else d for i, d in enumerate(model.data)]
    return hinge.Robot(replace(model, data=tuple(data)))


def described(path):
    return lambda: hinge.load(ROBOT_FILES / path)


ROBOTS = {
    "general_arm": general_arm,
    "upright_arm": upright_arm,
    "geared_arm": geared_arm,
    "puma560": hinge.samples.puma560,
    "planar_2r": hinge.samples.planar_2r,
    "tree8": lambda: hinge.samples.random_tree(np.random.default_rng(0), 8, ("revolute", "prismatic", "spherical")),
}
FILE_ROBOTS = {  # there only with the package example-robot-data
    "ur5": described("ur_description/urdf/ur5_robot.urdf"),
    "panda": described("panda_description/urdf/panda.urdf"),
    "g1": described("g1_description/urdf/g1_29dof_rev_1_0.urdf"),
}
LISTINGS = {
    "planar_2r.inverse_dynamics.txt": (hinge.samples.planar_2r, "inverse_dynamics"),
    "pendulum1.mass_matrix.txt": (lambda: hinge.samples.pendulum(1), "mass_matrix"),
}


LARGE = 10  # velocities beyond which the older equation sets, whose programs grow with a power of them, are not counted


def is_counted(algorithm, robot):
    """Whether the method covers the robot and is one that is used on robots of its size."""
    old = algorithm.function.__module__.startswith(OTHERS)
    return not algorithm.refuses(robot.model) and not (old and robot.nv > LARGE)


def counts(robot):
    """Call → method → what it costs, for every method that is counted; what is zero is left out."""
    made = {}
    for call in CALLS:
        for method, algorithm in ALGORITHMS[call].items():
            if is_counted(algorithm, robot):
                cost = asdict(robot.cost(call, method=method))
                made.setdefault(call, {})[method] = {k: n for k, n in cost.items() if k != "method" and n}
    return made


def listing(name):
    make, call = LISTINGS[name]
    return make().source(call, "listing")


def kept():
    return tomllib.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}


def shown(cost):
    return ", ".join(f"{k} = {n}" for k, n in cost.items())


def as_toml(robots):
    lines = ["# Operations for one state. Written by `python tests/golden/write.py`; do not edit."]
    for name, calls in robots.items():
        lines += ["", f"[{name}]"]
        lines += [f"{c}.{m} = {{ {shown(cost)} }}" for c, methods in calls.items() for m, cost in methods.items()]
    return "\n".join(lines) + "\n"


def findings(path):
    """What the doctor says of a file, a line each."""
    found = hinge.check(path)
    return [f"{f.where.line:5} {f.severity:7} {f.code}: {' '.join((f.what, f.fix)).strip()}" for f in found.findings]


def all_findings():
    """The same for every URDF of example-robot-data, under its path there."""
    lines = ["The doctor on every URDF of example-robot-data. Written by `python tests/golden/write.py`; do not edit."]
    for path in sorted(ROBOT_FILES.rglob("*.urdf")):
        lines += ["", path.relative_to(ROBOT_FILES).as_posix(), *findings(path)]
    return "\n".join(lines) + "\n"


def write():
    old = kept()
    made = {name: counts(make()) for name, make in ROBOTS.items()}
    for name, make in FILE_ROBOTS.items():
        if ROBOT_FILES.is_dir():
            made[name] = counts(make())
        elif name in old:
            made[name] = old[name]
    COUNTS.write_text(as_toml(made), encoding="utf-8")
    if ROBOT_FILES.is_dir():
        FINDINGS.write_text(all_findings(), encoding="utf-8")
    for name in LISTINGS:
        (HERE / name).write_text(listing(name), encoding="utf-8")


if __name__ == "__main__":
    write()

"""Derivatives of dynamics beside Pinocchio's in a C++ loop, their products, and their first call.

    python bench/derivatives.py [--write]

Batches have 4,096 states; those of Pinocchio run in slices of 64. It is compiled here from its headers
with -O3 -march=native, and nothing is copied out of its matrices; that needs g++, minutes, and Eigen's headers (pip
install cmeel-eigen), whose folder may be given. On one core, in double precision.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import figures
import numpy as np
import pinocchio as pin
from measuring import G1, PANDA, SITE, TALOS, UR5, Missing, fastest, many

import hinge

ROBOTS = {"UR5": UR5, "Panda arm": PANDA, "G1": G1, "Talos": TALOS, "G1, floating": G1}
CALLS = ("inverse_dynamics", "forward_dynamics")
STATES, SLICE, ROUNDS = 4096, 64, 40
HERE = Path(__file__).parent
FLAGS = [
    "-std=c++17", "-O3", "-DNDEBUG", "-march=native", "-fPIC", "-shared", "-w",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
]  # fmt: skip


def built(eigen: Path) -> ctypes.CDLL:
    """Pinocchio's loop as a library, which is kept."""
    made = HERE / "pinocchio_loop.so"
    if not made.exists():
        if not eigen.exists():
            raise Missing("Eigen's headers are not here: pip install cmeel-eigen")
        where = [f"-I{SITE / 'include'}", f"-I{eigen}", f"-L{SITE / 'lib'}", f"-Wl,-rpath,{SITE / 'lib'}"]
        source = str(HERE / "pinocchio_loop.cpp")
        subprocess.run(["g++", source, "-o", str(made), *FLAGS, *where, "-lboost_serialization"], check=True)
    library = ctypes.CDLL(str(made))
    library.open_robot.restype = ctypes.c_void_p
    return library


def loaded(name: str) -> tuple[hinge.Robot, pin.Model]:
    """A robot of ours and theirs, with the same freedoms."""
    floats = name.endswith("floating")
    ours = hinge.load(ROBOTS[name], base="floating" if floats else "fixed", mimic="free")
    theirs = pin.buildModelFromUrdf(str(ROBOTS[name]), *([pin.JointModelFreeFlyer()] if floats else []))
    fingers = [j for j in ours.joint_names if "finger" in j]
    if fingers:
        ours = ours.lock(fingers)
        theirs = pin.buildReducedModel(theirs, [theirs.getJointId(j) for j in fingers], pin.neutral(theirs))
    return ours, theirs


def row(name: str, library: ctypes.CDLL, folder: Path) -> list[str]:
    """One robot: for inverse and forward dynamics ns a state, dense, packed and Pinocchio's."""
    ours, theirs = loaded(name)
    archive = folder / f"{len(name)}.txt"
    theirs.saveToText(str(archive))
    handle = ctypes.c_void_p(library.open_robot(str(archive).encode()))
    rng = np.random.default_rng(0)
    q, qd = ours.random_state(rng, STATES)
    x = rng.normal(size=qd.shape)
    Q = np.array([pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq)) for _ in range(STATES)])
    cells = [name, str(ours.nv)]
    for forward, call in enumerate(CALLS):
        runs: dict[str, Callable[[], object]] = {}
        for packed in (False, True):
            kernel = ours.kernel(f"{call}_derivatives", packed=packed)
            out = np.empty((STATES, *kernel.plan.outputs[0]))
            whole = kernel.bind(q, qd, x, out)
            runs["packed" if packed else "dense"] = whole
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (Q, qd, x)]
        runs["theirs"] = lambda f=forward, p=pointers: library.run(handle, f, ctypes.c_long(SLICE), *p)
        took = fastest(runs, ROUNDS)
        theirs_ns = took["theirs"] / SLICE * 1e9
        for form in ("dense", "packed"):
            ns = took[form] / STATES * 1e9
            cells.append(f"{ns:.0f} (× {theirs_ns / ns:.0f})")
        cells.append(f"{theirs_ns:.0f}")
    return cells


def products(name: str) -> list[str]:
    """One robot: what a product with the Jacobian costs, as times the algorithm itself, and the Hessian of λ·τ."""
    ours, _ = loaded(name)
    rng = np.random.default_rng(0)
    q, qd = ours.random_state(rng, STATES)
    x, w = (rng.normal(size=qd.shape) for _ in range(2))
    cells = [name]
    for call in CALLS:
        by = ("q", "qd", "qdd" if call == "inverse_dynamics" else "tau")
        runs = {
            "itself": lambda call=call: getattr(ours, call)(q, qd, x),
            "vjp": lambda call=call, by=by: ours.vjp(call, (q, qd, x), w, by=by),
            "jvp": lambda call=call: ours.jvp(call, (q, qd, x), (w, w, w)),
        }
        for run in runs.values():
            run()
        took = fastest(runs, 20)
        cells += [f"{took['itself'] / STATES * 1e9:.0f}"]
        cells += [f"{took[way] / STATES * 1e9:.0f} (× {took[way] / took['itself']:.2f})" for way in ("vjp", "jvp")]
    return cells


def cold(name: str) -> list[str]:
    """One robot: seconds of the first call, with nothing in the cache."""
    made = [name]
    for call in CALLS:
        script = (
            "import sys, time, numpy as np; sys.path.insert(0, sys.argv[1]); from derivatives import loaded\n"
            f"robot, _ = loaded({name!r}); q, qd = robot.random_state(np.random.default_rng(0), 1)\n"
            f"t = time.process_time(); robot.{call}_derivatives(q[0], qd[0], qd[0]); print(time.process_time() - t)"
        )
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", script, str(HERE)], capture_output=True, text=True, check=True,
                env=os.environ | {"HINGE_CACHE_DIR": folder},
            )  # fmt: skip
        made.append(f"{float(done.stdout):.2f}")
    return made


def bound() -> float:
    """µs of a bound call with one state: inverse dynamics derivatives of UR5."""
    ours, _ = loaded("UR5")
    q, qd = (a[0].copy() for a in ours.random_state(np.random.default_rng(0), 1))
    call = ours.kernel("inverse_dynamics_derivatives").bind(q, qd, qd.copy(), np.empty((6, 18)))
    return 1e3 * fastest({"": many(call, count=1000)}, 50)[""]


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    library = built(Path(next((a for a in sys.argv[1:] if not a.startswith("-")), SITE / "include/eigen3")))
    with tempfile.TemporaryDirectory() as place:
        head = ["robot", "nv", "dID ns", "packed", "Pinocchio", "dFD ns", "packed", "Pinocchio"]
        dense = [head, *(row(name, library, Path(place)) for name in ROBOTS)]
    head = ["robot", "inverse dynamics, ns", "vjp", "jvp", "forward dynamics, ns", "vjp", "jvp"]
    return {
        "table": dense,
        "products": [head, *(products(name) for name in ("UR5", "Panda arm", "G1"))],
        "first": [["first call, cold, s", "dID", "dFD"], *(cold(name) for name in ROBOTS)],
        "bound": figures.number(bound(), "µs a call, bound, derivatives of inverse dynamics of UR5"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("pinocchio",))

"""Times hinge against Pinocchio in one run on one core, in double precision, and writes the table of the README.

    python bench/against_pinocchio.py            print the table
    python bench/against_pinocchio.py --write    also write bench/table.md and the README's copy of it

Batches have 4,096 states. Pinocchio's batch is its own C++ loop (rneaInParallel, abaInParallel with one thread), so no
Python counts against it; the mass matrix has no such loop there and is left out. One state is each library's ordinary
call from Python. Rounds alternate between the two and the fastest of each is kept, because machines are noisy.
"""

from __future__ import annotations

import platform
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin

import hinge

ROBOTS = {
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "Panda with hand": "panda_description/urdf/panda.urdf",
    "G1 humanoid": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "Talos humanoid": "talos_data/robots/talos_reduced.urdf",
}
FILES = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
STATES, ROUNDS = 4096, 60
TABLE = Path(__file__).with_name("table.md")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def fastest(*calls: Callable[[], object]) -> list[float]:
    """Seconds of the fastest of many alternated runs, one a call."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def row(name: str, path: Path) -> str:
    """One robot: ns a state in a batch, µs a call for one state, ours / theirs."""
    theirs = pin.buildModelFromUrdf(str(path))
    data, pool = theirs.createData(), pin.ModelPool(theirs, 1)
    ours = hinge.load(path, mimic="free")
    rng = np.random.default_rng(0)
    q, qd, x = (rng.uniform(-1, 1, (STATES, ours.nv)) for _ in range(3))
    Q, V, X = (np.asfortranarray(a.T) for a in (q, qd, x))
    cells = [name, str(ours.nv)]
    for call, other in ((ours.inverse_dynamics, pin.rneaInParallel), (ours.forward_dynamics, pin.abaInParallel)):
        h, p = fastest(lambda call=call: call(q, qd, x), lambda other=other: other(1, pool, Q, V, X))
        cells.append(f"{h / STATES * 1e9:.0f} / {p / STATES * 1e9:.0f}  (× {p / h:.0f})")
    a, b, c = q[0].copy(), qd[0].copy(), x[0].copy()

    def many(call: Callable[..., object], *args: object) -> Callable[[], None]:
        def loop() -> None:
            for _ in range(500):
                call(*args)

        return loop

    bound = ours.kernel("inverse_dynamics").bind(a, b, c, np.empty(ours.nv))
    h, k, p = fastest(many(ours.inverse_dynamics, a, b, c), many(bound), many(pin.rnea, theirs, data, a, b, c))
    cells += [f"{h / 500 * 1e6:.2f} / {p / 500 * 1e6:.2f}  (× {p / h:.1f})", f"{k / 500 * 1e6:.2f}"]
    return "| " + " | ".join(cells) + " |"


def processor() -> str:
    """What the machine calls its processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def main() -> None:
    hinge.set_threads(1)
    lines = [
        "| robot | DOF | inverse dynamics, batch | forward dynamics, batch | inverse dynamics, one state | bound |",
        "|---|---|---|---|---|---|",
        *(row(name, FILES / part) for name, part in ROBOTS.items()),
    ]
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    vector = "AVX-512" if features.get("avx512f") else "AVX2" if features.get("avx2") else "128-bit vectors"
    note = (
        f"One core of {processor()} ({vector}), Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Pinocchio {pin.__version__}. Batches: ns a state; one state: µs a call from Python; hinge / Pinocchio."
    )
    text = "\n".join([*lines, "", note, ""])
    print(text)
    if "--write" in sys.argv:
        TABLE.write_text(text, encoding="utf-8")
        readme = TABLE.parents[1] / "README.md"
        before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
        readme.write_text(f"{before}{BEGIN}\n{text}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()

"""What the scripts here share: where robot files lie, the clock, and what a measurement was made on."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    SITE = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix")))
except metadata.PackageNotFoundError:
    SITE = Path("example-robot-data, which is not installed")
EXAMPLES = SITE / "share/example-robot-data/robots"
UR5, PANDA, G1, TALOS = (
    EXAMPLES / "ur_description/urdf/ur5_robot.urdf",
    EXAMPLES / "panda_description/urdf/panda.urdf",
    EXAMPLES / "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    EXAMPLES / "talos_data/robots/talos_reduced.urdf",
)
NAMES = {"numpy": "NumPy", "pinocchio": "Pinocchio", "mujoco": "MuJoCo", "scipy": "SciPy", "cupy": "CuPy"}


class Missing(Exception):
    """What a measurement needs and is not here."""


def menagerie() -> Path:
    """The folder with MuJoCo's robots: HINGE_ROBOTS, or shared/robots beside this repository."""
    folder = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[2] / "shared" / "robots"))
    if not folder.exists():
        raise Missing(f"there is no folder {folder}: HINGE_ROBOTS says where MuJoCo's robots lie")
    return folder


def fastest(
    calls: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Seconds of the processor of the fastest of many runs of each; rounds go from call to call."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


def many(call: Callable[..., object], *given: object, count: int = 500) -> Callable[[], None]:
    """A call made many times over."""

    def loop() -> None:
        for _ in range(count):
            call(*given)

    return loop


def processor() -> str:
    """What the machine calls its processor, and how wide its vectors are."""
    from llvmlite import binding

    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    features = binding.get_host_cpu_features()
    vector = "AVX-512" if features.get("avx512f") else "AVX2" if features.get("avx2") else "128-bit vectors"
    return f"{name} ({vector})"


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of Python, of hinge and of these packages, by the names they are imported by."""
    found = {NAMES.get(name, name): import_module(name).__version__ for name in ("hinge", "numpy", *packages)}
    return {"Python": platform.python_version(), **found}

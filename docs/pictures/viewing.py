"""Draws docs/viewing.gif, two periods of the trot of example 15, and viewer_several.gif, quadrupeds that are dropped.

python docs/pictures/viewing.py
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np

import hinge

HERE = Path(__file__).parent
DOCS = HERE.parent


def trot() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["15_trot.py", str(Path(folder) / "trot.png")]
        run = runpy.run_path(str(DOCS.parent / "examples" / "15_trot.py"))["run"]
    part = run[(run.t > 2.0 - 1e-9) & (run.t < 2.8 - 1e-9)]
    hinge.film(part, DOCS / "viewing.gif", rate=20.0, size=(360, 220))


def several() -> None:
    dog = hinge.samples.go2()
    home = dog.keyframes["home"]
    q0 = np.tile(home, (4, 1))
    q0[:, :4] = [[np.cos(a), np.sin(a), 0.0, 0.0] for a in (0.0, 0.15, 0.3, 0.45)]
    q0[:, 6] += 0.25

    def hold(t, q, qd):
        return np.concatenate([np.zeros(6), 40.0 * (home[7:] - q[7:]) - 2.0 * qd[6:]])

    run = hinge.simulate(dog, t=1.0, q0=q0, step=2e-3, record=5, control=hold, ground=0.0)
    hinge.film(run, HERE / "viewer_several.gif", rollout=range(4), trails=["imu"], rate=10.0, size=(360, 200))


if __name__ == "__main__":
    trot()
    several()

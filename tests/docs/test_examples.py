"""Every example is short, runs as it stands, says what it did in a line, and makes a picture with something on it."""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from sweeps import swept

SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))
QUICK = {"01_pendulum", "02_workspace", "05_linkage"}


def test_they_are_numbered_one_after_the_other():
    assert [int(script.name[:2]) for script in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))


@pytest.mark.sweep
@pytest.mark.parametrize("script", swept(SCRIPTS, lambda script: script.stem in QUICK), ids=lambda script: script.stem)
def test_an_example_is_short_and_makes_a_picture(script, tmp_path):
    assert len(script.read_text(encoding="utf-8").splitlines()) < 60
    for library, extra in (("torch", "torch"), ("gymnasium", "gym")):
        if re.search(rf"^(import|from) {library}\b", script.read_text(encoding="utf-8"), re.M):
            pytest.importorskip(library, reason=f"{library} is not installed: pip install 'hinge[{extra}]'")
    picture = tmp_path / "picture.png"
    made = subprocess.run([sys.executable, str(script), str(picture)], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    assert len(made.stdout.splitlines()) == 1
    assert not made.stderr
    image = matplotlib.image.imread(picture)
    assert min(image.shape[:2]) > 300
    assert len(np.unique(image[..., :3].reshape(-1, 3), axis=0)) > 20


@pytest.mark.sweep
def test_the_quadruped_trots_and_stays_upright(tmp_path):
    script = next(one for one in SCRIPTS if one.stem.endswith("trot"))
    made = subprocess.run([sys.executable, str(script), str(tmp_path / "trot.png")], capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    far, tilt = (float(x) for x in re.match(r"([\d.]+) m in 4 s, tilted ([\d.]+)°", made.stdout).groups())
    assert far > 1.0
    assert tilt < 15.0
    assert (tmp_path / "trot.html").stat().st_size < 300_000

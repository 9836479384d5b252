"""Steps with contacts in problems: what memory held before makes no difference, and slopes are those of differences."""

import numpy as np
import pytest

import hinge
from hinge.backends import interpret
from hinge.optimal import Problem, ddp, effort, rolled

LEGS = "".join(
    f'<body name="leg{k}" pos="{x} 0 0"><joint name="hip{k}" axis="0 1 0"/><geom size=".03" pos=".05 0 -.2" mass=".3"/>'
    "</body>"
    for k, x in enumerate((-0.2, 0.2))
)
WALKER = f"""<mujoco><worldbody><body name="trunk"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="z" type="slide" axis="0 0 1"/><geom type="box" size=".2 .1 .03" mass="4" contype="0" conaffinity="0"/>
{LEGS}</body></worldbody></mujoco>"""


@pytest.fixture
def standing():
    """A problem of a step on two feet, one of which slides, with where it begins and forces."""
    robot = hinge.load(WALKER)
    problem = Problem(robot, 1, 0.01, [effort()], [lambda q, qd: q + qd], driven=["hip0", "hip1"],
                      ground=hinge.Ground(friction=0.3, compliance=1e-4))  # fmt: skip
    return problem, np.array([0.0, 0.2295, 0.0, 0.0]), np.array([0.4, -0.1, 0.0, 0.2]), np.array([[0.5, -0.4]])


def filled(monkeypatch, junk):
    """Let memory that nobody cleared hold this."""
    machine = next(one for one in vars(interpret).values() if hasattr(one, "structure"))
    made = machine.structure

    def structure(self, n, op, args, going):
        made(self, n, op, args, going)
        if op == "fresh" and not args[0].zeros:
            self.scratch[args[0].name][...] = junk

    monkeypatch.setattr(machine, "structure", structure)


def test_what_memory_held_before_makes_no_difference(standing, monkeypatch):
    problem, q, qd, u = standing
    compiled = rolled(problem, q, qd, u, backend="llvm")
    assert np.abs(compiled.qd[1] - compiled.qd[0]).max() > 0.01
    for junk in (0.0, np.nan):
        with monkeypatch.context() as patch:
            filled(patch, junk)
            found = rolled(problem, q, qd, u, backend="interpret")
        np.testing.assert_allclose(found.q, compiled.q, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.qd, compiled.qd, rtol=0, atol=1e-12)


@pytest.mark.sweep
def test_the_slope_of_a_step_on_its_feet_is_that_of_differences(standing):
    problem, q, qd, u = standing
    found, h = ddp(problem, q, qd, u=u, iterations=0, backend="llvm"), 1e-6
    away = h * np.eye(2)[:, None]
    cost = rolled(problem, q, qd, np.concatenate([u + away, u - away]), backend="llvm").cost
    np.testing.assert_allclose(np.abs(cost[:2] - cost[2:]).max() / (2.0 * h), found.optimality, rtol=1e-6)

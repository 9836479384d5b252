"""The stages of a step as a loop: the same step as when they are written out, in a program as long as one of them."""

import numpy as np
import pytest

import hinge
from hinge.backends import interpret
from hinge.graph.scalars import unrolled
from hinge.integrators import steps
from hinge.integrators.tableaus import TABLEAUS

KINDS = ("revolute", "prismatic", "spherical", "free")


@pytest.fixture(scope="module")
def robot():
    return hinge.samples.random_tree(np.random.default_rng(3), 8, KINDS)


def test_a_step_of_a_loop_is_a_step(robot, monkeypatch):
    q, qd = robot.random_state(np.random.default_rng(0), 7)
    external = {robot.body_names[-1]: np.ones(6)}
    assert robot.nv >= steps.ROLLED
    again = hinge.Robot(robot.model)
    monkeypatch.setattr(steps, "ROLLED", robot.nv + 1)
    for options in ({}, {"external": external}):
        written = again.step(q, qd, qd, 1e-2, backend="interpret", **options)
        with monkeypatch.context() as patch:
            patch.setattr(steps, "ROLLED", 12)
            looped = robot.step(q, qd, qd, 1e-2, backend="interpret", **options)
            native = robot.kernel("step", given=tuple(options)).program
        for a, b in zip(written, looped, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert "loop" in [op for op, _ in native.code]


def test_the_program_is_about_as_long_as_one_stage(robot):
    step, forward = (len(robot.kernel(name).program.code) for name in ("step", "forward_dynamics"))
    assert step < 1.5 * forward + 20 * robot.nv


def test_a_state_that_cannot_be_solved_is_singular_in_a_loop_too(robot):
    q, qd = robot.random_state(np.random.default_rng(0), 3)
    kinds = [joint.kind in ("free", "spherical") for joint in robot.model.joint]
    at = robot.model.slices[kinds.index(True)][0].start
    q[1, at : at + 4] = 0.0
    _, speed, status = robot.step(q, qd, qd, 1e-2, return_status=True)
    assert status.tolist() == [0, 2, 0]
    assert np.isfinite(speed).all(axis=1).tolist() == [True, False, True]


def test_which_methods_are_chains():
    assert {name for name, tableau in TABLEAUS.items() if steps.is_chain(tableau)} == {"euler", "rk4"}


def test_a_step_of_a_loop_is_written_out_on_paper_and_kept_in_c(robot):
    assert "for (k" in robot.source("step", "c")
    assert "repeat 4.0 times" in robot.source("step", "listing")
    straight = unrolled(robot.kernel("step").program)
    assert "loop" not in [op for op, _ in straight.code]
    q, qd = robot.random_state(np.random.default_rng(0), 3)
    given = [q, qd, qd, np.full((3, 1), 1e-2)]
    made = [np.empty((3, robot.nq)), np.empty((3, robot.nv))]
    interpret.run(straight, given, made)
    for a, b in zip(made, robot.step(q, qd, qd, 1e-2), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)

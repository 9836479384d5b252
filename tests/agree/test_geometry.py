"""Geometry in machine code: exponential and logarithm of a million motions, and Christoffel symbols as interpreted."""

import numpy as np
import pytest

import hinge
from hinge.geometry import se3

ANGLES = (1e-12, 1e-6, 0.03, 1.0, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("angle", [None, *ANGLES])
def test_the_logarithm_undoes_the_exponential_in_machine_code(monkeypatch, angle):
    monkeypatch.setenv("HINGE_BACKEND", "llvm")
    rng, n = np.random.default_rng(0), 900_000 if angle is None else 15_000
    w = rng.normal(size=(n, 3))
    w *= (rng.uniform(0.0, np.pi, (n, 1)) if angle is None else angle) / np.linalg.norm(w, axis=1, keepdims=True)
    v = rng.normal(size=(n, 3))
    made = se3.log(se3.exp(np.concatenate([w, v], axis=1)))
    for a, b in ((made[:, :3], w), (made[:, 3:], v)):
        assert (np.linalg.norm(a - b, axis=1) / np.linalg.norm(b, axis=1)).max() < 1e-14


@pytest.mark.parametrize("method", ["recursive", "differentiation"])
def test_christoffel_symbols_in_machine_code_are_those_of_the_interpreter(method):
    robot = hinge.samples.random_tree(np.random.default_rng(0), 5, ("revolute", "prismatic", "universal"))
    q, _ = robot.random_state(np.random.default_rng(1), 37)
    made = robot.christoffel(q, method=method, backend="llvm")
    assert made == pytest.approx(robot.christoffel(q, method=method, backend="interpret"), abs=1e-12)
    assert made[5].tobytes() == robot.christoffel(q[5], method=method, backend="llvm").tobytes()

"""The page that learns in the examples: its slopes are those of what it says it improves, and it improves."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from policy_gradient import CLIP, Policy

import hinge

FOLDER = Path(__file__).parents[2] / "examples"
SCALE = [0.4, 1.0, 1.0, 0.25, 0.125]


def test_slopes_are_those_of_the_clipped_gain_and_the_error_of_the_value():
    policy, rng = Policy(hinge.envs.make("cart-pole-swing-up"), SCALE, 3), np.random.default_rng(4)
    policy.weights = [w.astype(float) + 0.1 for w in policy.weights]
    batch = (
        rng.normal(size=(30, 5)),
        rng.normal(size=(30, 1)),
        rng.normal(-0.5, 0.5, 30),
        rng.normal(size=30),
        rng.normal(size=30),
    )

    def cost():
        (_, out), (_, action, likely, gain, worth) = policy.outputs(batch[0]), batch
        off = (action - out[:, :-1]) / np.exp(policy.weights[3])
        ratio = np.exp(np.sum(-0.5 * off**2 - policy.weights[3], axis=1) - likely)
        gained = np.minimum(ratio * gain, np.clip(ratio, 1.0 - CLIP, 1.0 + CLIP) * gain)
        return np.mean(-gained + 0.5 * (out[:, -1] - worth) ** 2)

    found, h = [], 1e-6
    for w in policy.weights:
        for at in (0, w.size // 2, w.size - 1):
            kept = w.flat[at]
            ends = []
            for sign in (1.0, -1.0):
                w.flat[at] = kept + sign * h
                ends.append(cost())
            w.flat[at] = kept
            found.append((ends[0] - ends[1]) / (2.0 * h))
    policy.moments = [(0.0 * w, 0.0 * w) for w in policy.weights]
    policy.learn(0.0, *batch)
    slopes = [10.0 * m.flat[at] for m, _ in policy.moments for at in (0, m.size // 2, m.size - 1)]  # of the first step
    np.testing.assert_allclose(slopes, found, rtol=1e-5, atol=1e-8)


LEARNS = """
import hinge
from policy_gradient import Policy
env = hinge.envs.make("cart-pole-swing-up", 128, autoreset="same_step")
print(*Policy(env, [0.4, 1.0, 1.0, 0.25, 0.125]).train(env, 24, 500))
"""


@pytest.mark.sweep
def test_it_learns():
    """In a few turns the pole swings far higher than it did; the example takes 150 until it stands."""
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path])}
    made = subprocess.run([sys.executable, "-c", LEARNS], env=alone, capture_output=True, text=True, check=True)
    rewards = [float(word) for word in made.stdout.split()]
    assert np.mean(rewards[:4]) < 0.05
    assert max(rewards) > 0.12

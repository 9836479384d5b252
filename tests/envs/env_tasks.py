"""Tasks to try environments with: an arm with numbers of its own, and a box that is thrown on the ground."""

import numpy as np

import hinge
from hinge.model.shapes import Shape


class Arm(hinge.envs.Task):
    """A planar arm that reaches for a point, which is drawn, and moves on when it is reached."""

    h, frame_skip, time = 5e-3, 3, 0.3
    physics = {"method": "rk4"}  # noqa: RUF012

    def __init__(self):
        self.robot = hinge.samples.planar_2r()

    actuated = (0, 1)

    def initial(self, draw):
        return {"q": draw.normal(0.0, [0.3, 0.6]), "goal": draw.uniform([0.5, -1.0], 1.5), "reached": 0.0}

    def forces(self, s):
        return np.array([30.0, 15.0]) * s.action - 0.3 * s.qd

    def hand(self, s):
        return self.robot.pose(s.q, "hand", parameters=s.parameters)[[0, 2], 3]

    def update(self, s, before):
        near = np.linalg.norm(self.hand(s) - s.goal) < 0.4
        return {"goal": np.where(near, -s.goal, s.goal), "reached": s.reached + np.where(near, 1.0, 0.0)}

    def observation(self, s):
        return np.concatenate([s.q, s.qd, self.hand(s) - s.goal, [s.reached, s.t], s.qdd, s.tau])

    def reward(self, s, before):
        return s.reached - before.reached - 0.1 * np.sum((s.action - before.action) ** 2)

    def terminated(self, s):
        return np.abs(s.q[1]) > 2.0


def box():
    builder = hinge.Builder("box")
    builder.link("world")
    builder.link("box", 2.0, inertia=np.diag([0.02, 0.03, 0.04]), shapes=[Shape("collision", "box", (0.2, 0.3, 0.4))])
    builder.joint("base", "free", "world", "box")
    return hinge.Robot(builder.build())


class Thrown(hinge.envs.Task):
    """A box, thrown, which is pushed from its centre."""

    h, frame_skip, time = 5e-3, 2, 0.5
    actuated = (0, 1, 2, 3, 4, 5)

    def __init__(self, law):
        self.robot, self.physics = box(), {"ground": hinge.Ground(), "law": law}

    def initial(self, draw):
        q = np.concatenate([draw.normal(size=4), draw.uniform(-0.1, 0.1, 2), draw.uniform(0.3, 0.4, 1)])
        return {"q": q, "qd": draw.normal(0.0, 1.0, 6)}

    def forces(self, s):
        return 3.0 * s.action

"""Environments to learn in: tasks of robots as Gymnasium's environments, thousands of which step in one kernel.

Read task, draws, episode, vector, then arrays and single; then the tasks: cart_pole, panda_reach, go2_walk.
"""

from typing import Any

from hinge.errors import NotCovered, one_of

try:
    import gymnasium
except ImportError:
    raise NotCovered('environments need the package gymnasium.\n  pip install "hinge[gym]"') from None

from hinge.envs.cart_pole import CartPoleSwingUp
from hinge.envs.go2_walk import Go2Walk
from hinge.envs.panda_reach import PandaReach
from hinge.envs.single import Env
from hinge.envs.task import State, Task, steps_of
from hinge.envs.vector import VectorEnv

__all__ = ["TASKS", "CartPoleSwingUp", "Env", "Go2Walk", "PandaReach", "State", "Task", "VectorEnv", "make"]

TASKS: dict[str, type[Task]] = {
    "cart-pole-swing-up": CartPoleSwingUp,
    "panda-reach": PandaReach,
    "go2-walk": Go2Walk,
}


def make(name: str, num_envs: int = 1, **options: Any) -> VectorEnv:
    """So many environments of the task of that name; `options` are those of `VectorEnv`.

    >>> env = hinge.envs.make("cart-pole-swing-up", 4)
    >>> env.action_space.shape
    (4, 1)
    """
    one_of("name", name, TASKS)
    return VectorEnv(TASKS[name](), num_envs, **options)


def _one(name: str, **options: Any) -> Env:
    return Env(TASKS[name](), **options)


for _name, _task in TASKS.items():
    gymnasium.register(f"hinge/{_task.__name__}-v0", "hinge.envs:_one", vector_entry_point="hinge.envs:make",
                       max_episode_steps=steps_of(_task), kwargs={"name": _name})  # fmt: skip

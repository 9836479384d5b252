"""What came out of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hinge.backends.kernel import Status
from hinge.robot import Robot

Array = np.ndarray[Any, np.dtype[Any]]
FIELDS = ("q", "qd", "tau")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States in time: t (T,), q (…, T, nq), qd and tau (…, T, nv); leading axes are the rollouts.

    `status` has a `hinge.Status` for each rollout; a rollout that failed is NaN from there on. `events` are what an
    adaptive method found, `info` says how it was made: step, versions, what there was to report.
    """

    robot: Robot
    t: Array
    q: Array | None
    qd: Array | None
    tau: Array | None
    status: Array
    method: str
    events: tuple[Any, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        rollouts = self.status.size
        many = f"{rollouts} rollouts, " if self.status.ndim else ""
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "nothing"
        lines = [f"<Trajectory of {self.robot.name!r}: {many}{len(self)} states in {span}, {self.method}>"]
        failed = int(np.count_nonzero(self.status))
        if failed:
            kinds = ", ".join(Status(k).name for k in np.unique(self.status) if k)
            lines.append(f"  {failed} of {rollouts} failed: {kinds}")
        lines += [f"  {key}: {value}" for key, value in self.info.items() if key in ("stopped", "kept_error", "file")]
        return "\n".join(lines)

    def __getitem__(self, at: Any) -> Trajectory:
        """A slice in time, with the same rollouts; one index keeps the axis of time."""
        part = slice(at, at + 1 or None) if isinstance(at, int | np.integer) else at
        q, qd, tau = (None if a is None else a[..., part, :] for a in (self.q, self.qd, self.tau))
        return replace(self, t=self.t[part], q=q, qd=qd, tau=tau)

    @property
    def final(self) -> tuple[Array, Array]:
        """The last state: q (…, nq) and qd (…, nv)."""
        q, qd = self._both()
        return q[..., -1, :], qd[..., -1, :]

    def energy(self) -> Array:
        """Kinetic and potential energy (…, T), in J; armature is in."""
        q, qd = self._both()
        return self.robot.kinetic_energy(q, qd) + self.robot.potential_energy(q)  # type: ignore[no-any-return]

    def _both(self) -> tuple[Array, Array]:
        if self.q is None or self.qd is None:
            missing = "q" if self.q is None else "qd"
            raise ValueError(f"{missing} was not recorded: simulate with fields=('q', 'qd').")
        return self.q, self.qd

    def to_xarray(self) -> Any:
        """An xarray Dataset with dimensions rollout (or rollout_0, …), time, coordinate, velocity."""
        try:
            import xarray
        except ImportError:
            raise ImportError("to_xarray needs the package xarray: pip install hinge[files].") from None
        n = self.status.ndim
        rollouts = ["rollout"] if n == 1 else [f"rollout_{k}" for k in range(n)]
        axes = {"q": "coordinate", "qd": "velocity", "tau": "velocity"}
        data = {name: ((*rollouts, "time", axes[name]), getattr(self, name)) for name in FIELDS
                if getattr(self, name) is not None}  # fmt: skip
        names = _labels(self.robot)
        coordinates = {"time": self.t, "velocity": names[1]}
        if "q" in data:
            coordinates["coordinate"] = names[0]
        about = {"robot": self.robot.name, "method": self.method} | {k: str(v) for k, v in self.info.items()}
        return xarray.Dataset(data | {"status": (tuple(rollouts), self.status)}, coordinates, about)

    def save(self, path: Any) -> None:
        """Write to a Zarr folder that `hinge.open` reads; replaces a trajectory that is there, nothing else."""
        from hinge.sim.store import save

        save(self, path)


def _labels(robot: Robot) -> tuple[list[str], list[str]]:
    """Names of coordinates and velocities: the joint's, with a number where it has several."""
    model = robot.model
    q, v = [], []
    for i in model.leaders:
        joint, name = model.joint[i], model.joint_name[i]
        q += [name] if joint.nq == 1 else [f"{name}[{k}]" for k in range(joint.nq)]
        v += [name] if joint.nv == 1 else [f"{name}[{k}]" for k in range(joint.nv)]
    return q, v

"""Inverse dynamics under constraints: forces of chosen joints that, with the constraints' own, make a given motion.

    H qdd + C = B u + Aᵀ λ

With Z a basis of the motions that the constraints allow, Zᵀ B u = Zᵀ (H qdd + C). Too many actuators: the u of least
norm. Too few: a refusal. λ, where constraints depend on each other, is of least norm too.
Source: zefran2004, section 3, the words after (20).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hinge.arguments import Array
from hinge.errors import NotCovered, SizeError
from hinge.model import Model
from hinge.typing import Whole

REACHED = 1e-9  # rad/s per unit of force: actuators that move a freedom by less do not reach it


def actuated_columns(model: Model, actuated: Sequence[str] | None) -> Whole:
    """The velocities whose joints push: those of the joints named, or all."""
    if actuated is None:
        return np.arange(model.nv)
    if isinstance(actuated, str):
        raise SizeError(f"actuated={actuated!r} is one name. Give a list of joint names.")
    return np.array([k for name in actuated for k in range(model.nv)[model.slices[model.joint_number(name)][1]]], int)


def shared(A: Array, needed: Array, columns: Whole, rank: Array) -> tuple[Array, Array]:
    """tau (…, nv) and λ (…, m) for A (…, m, nv) of that rank (…) and needed = H qdd + C (…, nv)."""
    batch = needed.shape[:-1]
    flat, rows = needed.reshape(-1, needed.shape[-1]), A.reshape(-1, *A.shape[-2:])
    ranks = np.broadcast_to(rank, batch).reshape(-1)
    tau, force = np.zeros_like(flat), np.empty((len(flat), A.shape[-2]))
    for k, (f, a) in enumerate(zip(flat, rows, strict=True)):
        if not (np.isfinite(f).all() and np.isfinite(a).all()):
            tau[k], force[k] = np.nan, np.nan
            continue
        U, sizes, Vt = np.linalg.svd(a)
        r = int(ranks[k])
        Z = Vt[r:].T  # the velocities that the constraints leave free
        B = Z[columns].T
        reached = np.linalg.matrix_rank(B, tol=REACHED)
        if reached < B.shape[0]:
            raise NotCovered(
                f"the actuated joints cannot make every motion that the constraints allow: {B.shape[0]} freedoms, "
                f"{reached} of them reached.\n  Name more joints in actuated=."
            )
        tau[k, columns] = np.linalg.lstsq(B, Z.T @ f, rcond=REACHED)[0]
        force[k] = U[:, :r] @ (Vt[:r] @ (f - tau[k]) / sizes[:r])
    return tau.reshape(*batch, -1), force.reshape(*batch, -1)

"""The view `robot.linkage`: what a robot does with its loops; counting freedoms, forces for a motion, assembling.

These decide by numbers, so they are NumPy on batches.
Source: featherstone1987, section 9.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.call import Call
from hinge.calls.inputs import broken
from hinge.calls.target import Target
from hinge.calls.views import View, on_target
from hinge.constraints.actuation import actuated_columns, shared
from hinge.errors import NotCovered, SizeError
from hinge.loops.assembly import assemble
from hinge.loops.rank import loop_rank
from hinge.model.loops import circuit, names
from hinge.typing import Numbers

IDLE = 1e-7  # share of a unit force pattern that does nothing: less of a constraint in it is rounding


class Mobility(NamedTuple):
    """Freedoms left, constraints, how many of them are independent, and forces that cannot be told apart, by name."""

    freedoms: Any
    constraints: int
    rank: Any
    indeterminate: tuple[Any, ...]


def mobility(target: Target, q: Numbers, parameters: Mapping[str, Numbers] | None = None) -> Mobility:
    """How many freedoms the loops leave at q (…, nq), by the rank of their Jacobian.

    `parameters` of a varied robot are as in every call, with batch axes.

    The dynamics count constraints by the same rule, so a state that a simulation has left a little open has the
    freedoms of the closed one.

    `indeterminate` names the forces that constraints which repeat each other leave open; for a batch, an entry
    a state.

    >>> linkage = hinge.samples.four_bar()
    >>> found = linkage.mobility(linkage.assemble([0.5, 0.5, 1.5]).q)
    >>> found.freedoms, found.constraints, found.rank
    (1, 5, 2)
    """
    at = real("mobility: q", q, (target.model.nq,))
    further = target.parameter_rows("mobility", parameters, None)
    at = np.broadcast_to(at, (*np.broadcast_shapes(at.shape[:-1], *(x.shape[:-1] for x in further)), at.shape[-1]))
    loops = target.model.loops
    A = np.zeros((*at.shape[:-1], 0, target.model.nv))
    if loops:
        A = Call.parse(target, "loop_jacobian").kernel(at, *further)
    if not np.isfinite(A).all():  # a count has no number for "none"
        raise SizeError("mobility: q has a state whose loops have no finite Jacobian. Give finite coordinates.")
    known, batch = names(target.model), A.shape[:-2]
    every = np.ones(target.model.nv, bool)
    ranks = (loop_rank(target, at, every, further) if loops else np.zeros(batch)).astype(int)
    open_ = []
    for one, rank in zip(A.reshape(prod(batch), *A.shape[-2:]), ranks.reshape(-1), strict=True):
        U = np.linalg.svd(one)[0]
        idle = np.abs(U[:, rank:]).max(axis=1, initial=0.0) > IDLE
        open_.append(tuple(n for n, loose in zip(known, idle, strict=True) if loose))
    if not batch:
        return Mobility(target.model.nv - int(ranks), len(known), int(ranks), open_[0])
    return Mobility(target.model.nv - ranks, len(known), ranks, tuple(open_))


def loop_inverse_dynamics(
    target: Target,
    q: Numbers,
    qd: Numbers,
    qdd: Numbers,
    actuated: Sequence[str] | None = None,
    parameters: Mapping[str, Numbers] | None = None,
) -> tuple[Array, Array]:
    """Joint forces (nv) and loop forces (r) for a given motion, which has to keep the loops closed.

    Only the joints named in `actuated` push, all without it; of many ways the one with the least norm, and too few
    are refused. `parameters` of a varied robot are as in every call.

    >>> linkage = hinge.samples.four_bar()
    >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
    >>> tau, forces = linkage.loop_inverse_dynamics(q, np.zeros(3), np.zeros(3), actuated=["crank"])
    >>> tau[1:]
    array([0., 0.])
    """
    columns = actuated_columns(target.model, actuated)
    how = {"parameters": parameters}
    needed = target.inverse_dynamics(q, qd, qdd, **how)
    A, c = target.loop_jacobian(q, **how), target.loop_bias(q, qd, **how)
    off = broken(A, np.asarray(qdd, float), c)
    if off is not None:
        raise NotCovered(
            f"the motion opens a loop: {names(target.model)[off[1]]} would have to give way, "
            f"by {off[0]:.3g}.\n  Give others; loop_dynamics finds them."
        )
    A = np.broadcast_to(A, (*needed.shape[:-1], *A.shape[-2:]))
    at, further = real("loop_inverse_dynamics: q", q), target.parameter_rows("loop_inverse_dynamics", parameters, None)
    return shared(A, needed, columns, loop_rank(target, at, np.ones(target.model.nv), further))


class Linkage(View):
    """What a robot does with its loops."""

    mobility = on_target(mobility)
    assemble = on_target(assemble)
    inverse_dynamics = on_target(loop_inverse_dynamics)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each constraint, and so for each force, of the loops.

        >>> hinge.samples.piston_joint(loop="sphere_in_cylinder").loop_names
        ('pin: force along (1, 0, 0)', 'pin: force along (0, 1, 0)')
        """
        return names(self.target.model)

    @property
    def circuit(self) -> Array:
        """E (loops, joints): +1 where a joint is on the way to the loop's successor, -1 to its predecessor, else 0.

        >>> hinge.samples.four_bar().circuit
        array([[ 1,  1, -1]])
        """
        return circuit(self.target.model)

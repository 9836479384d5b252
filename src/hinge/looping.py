"""What a robot does with its loops besides the registered algorithms: closing, assembling, counting freedoms.

These decide by numbers, so they are NumPy on batches.
Source: featherstone1987, section 9.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, Self

import numpy as np

from hinge.assembling import Assembly, assembled
from hinge.constraints.actuation import RANK, actuated_columns, shared
from hinge.errors import NotCovered, SizeError
from hinge.inputs import broken, real
from hinge.model import loops as _loops

Array = np.ndarray[Any, np.dtype[Any]]
Vector = Any


class Mobility(NamedTuple):
    """Freedoms left, constraints, how many of them are independent, and forces that cannot be told apart, by name."""

    freedoms: Any
    constraints: int
    rank: Any
    indeterminate: tuple[Any, ...]


class Looping:
    """The part of a robot that knows of kinematic loops."""

    model: Any

    @property
    def loops(self) -> tuple[_loops.Loop | _loops.Tie, ...]:
        """The joints that close circuits.

        >>> hinge.samples.four_bar().loops[0].name
        'pin'
        """
        return self.model.loops

    @property
    def loop_names(self) -> tuple[str, ...]:
        """A name for each constraint, and so for each force, of the loops.

        >>> hinge.samples.piston_joint(loop="sphere_in_cylinder").loop_names
        ('pin: force along (1, 0, 0)', 'pin: force along (0, 1, 0)')
        """
        return tuple(name for loop in self.loops for name in loop.force_names)

    @property
    def circuit(self) -> Array:
        """E (loops, joints): +1 where a joint is on the way to the loop's successor, -1 to its predecessor, else 0.

        >>> hinge.samples.four_bar().circuit
        array([[ 1,  1, -1]])
        """
        return _loops.circuit(self.model)

    def close(self, joint: Any, body_a: str, body_b: str, placement_a: Vector = (0.0, 0.0, 0.0),
              placement_b: Vector = (0.0, 0.0, 0.0), name: str = "", powered: bool = False,
              axis: Sequence[float] | None = None, **parameters: Any) -> Self:  # fmt: skip
        """This robot with a joint that closes a loop, from a place on one link or frame to a place on another.

        `joint` is a kind by name, with its `axis` and parameters, or a joint; its inner frame is on `body_a`.
        Placements are 4×4 poses or shifts (3,). Its frames are called NAME.a and NAME.b. A `powered` one takes forces
        in loop_tau=.

        >>> arm = hinge.samples.planar_2r().close("spherical", "base", "hand", placement_a=[1.5, 0.0, 0.0])
        >>> arm.loop_jacobian([0.1, 0.2]).shape
        (3, 2)
        """
        model = _loops.close(
            self.model, joint, body_a, body_b, placement_a, placement_b, name, powered, axis, parameters
        )
        return self._with(model)  # type: ignore[attr-defined]

    def mobility(self, q: Vector) -> Mobility:
        """How many freedoms the loops leave at q (…, nq), by the rank of their Jacobian.

        `indeterminate` names the forces that constraints which repeat each other leave open; for a batch, an entry
        a state.

        >>> linkage = hinge.samples.four_bar()
        >>> found = linkage.mobility(linkage.assemble([0.5, 0.5, 1.5]).q)
        >>> found.freedoms, found.constraints, found.rank
        (1, 5, 2)
        """
        at = real("mobility: q", q, (self.model.nq,))
        A = self.loop_jacobian(at) if self.loops else np.zeros((*at.shape[:-1], 0, self.model.nv))  # type: ignore[attr-defined]
        if not np.isfinite(A).all():  # a count has no number for "none"
            raise SizeError("mobility: q has a state whose loops have no finite Jacobian. Give finite coordinates.")
        names, batch = self.loop_names, A.shape[:-2]
        ranks, open_ = [], []
        for one in A.reshape(prod(batch), *A.shape[-2:]):
            U, sizes, _ = np.linalg.svd(one)
            rank = int((sizes > RANK * max(sizes.max(initial=0.0), 1e-300)).sum())
            idle = np.abs(U[:, rank:]).max(axis=1, initial=0.0) > 1e-7
            ranks.append(rank)
            open_.append(tuple(n for n, loose in zip(names, idle, strict=True) if loose))
        if not batch:
            return Mobility(self.model.nv - ranks[0], len(names), ranks[0], open_[0])
        rank_array = np.array(ranks).reshape(batch)
        return Mobility(self.model.nv - rank_array, len(names), rank_array, tuple(open_))

    def assemble(self, q: Vector, hold: Sequence[str] = (), tolerance: float = 1e-12, iterations: int = 100,
                 strict: bool = False) -> Assembly:  # fmt: skip
        """The nearest configuration to q (…, nq) that closes the loops: (q, residual, status), a row a state.

        Joints named in `hold` stay where they are. The residual is the largest gap left, in m and rad; status is
        `hinge.Status.UNCLOSED` where it is above `tolerance`, and with `strict` that is an error which names the loop.

        >>> linkage = hinge.samples.slider_crank()
        >>> made = linkage.assemble([0.6, 0.0, 0.0], hold=["crank"])
        >>> float(made.q[0]), bool(made.residual < 1e-12)
        (0.6, True)
        """
        return assembled(self, q, hold, tolerance, iterations, strict)

    def loop_inverse_dynamics(self, q: Vector, qd: Vector, qdd: Vector, actuated: Sequence[str] | None = None
                              ) -> tuple[Array, Array]:  # fmt: skip
        """Joint forces (nv) and loop forces (r) for a given motion, which has to keep the loops closed.

        Only the joints named in `actuated` push, all without it; of many ways the one with the least norm, and too few
        are refused.

        >>> linkage = hinge.samples.four_bar()
        >>> q = linkage.assemble([0.5, 0.0, 0.0], hold=["crank"]).q
        >>> tau, forces = linkage.loop_inverse_dynamics(q, np.zeros(3), np.zeros(3), actuated=["crank"])
        >>> tau[1:]
        array([0., 0.])
        """
        columns = actuated_columns(self, actuated)
        needed = self.inverse_dynamics(q, qd, qdd)  # type: ignore[attr-defined]
        A, c = self.loop_jacobian(q), self.loop_bias(q, qd)  # type: ignore[attr-defined]
        off = broken(A, np.asarray(qdd, float), c)
        if off is not None:
            raise NotCovered(f"the motion opens a loop: {self.loop_names[off[1]]} would have to give way, "
                             f"by {off[0]:.3g}.\n  Give others; loop_dynamics finds them.")  # fmt: skip
        A = np.broadcast_to(A, (*needed.shape[:-1], *A.shape[-2:]))
        return shared(A, needed, columns)

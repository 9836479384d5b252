"""The mass matrix as the sum of what each body contributes: Jᵀ I J.

Each body's Jacobian is in its own coordinates and made from its parent's, so that inertias stay constant.
Source: featherstone1987, section 5.5. A bare number in the margin is an equation there.
Differs from the source: there the sum is taken over bodies before it is written down, which makes composite bodies.
"""

from __future__ import annotations

from hinge.dynamics.registry import MATRIX, POSITION, algorithm
from hinge.dynamics.solve import plus_diagonal


@algorithm("mass_matrix", q=POSITION, returns=MATRIX)
def jacobians(model, q):
    """The joint-space inertia matrix H(q), body by body."""
    J = [{} for _ in model.parent]  # of each body: joint → its axes there
    H = {}
    for i, p in model.outward():
        X = model.joint[i].transform(q[i]) @ model.placement[i]
        J[i] = {k: X @ S for k, S in J[p].items()} | {i: model.joint[i].axes(q[i])}
        H[i, i] = [[0.0] * model.joint[i].nv] * model.joint[i].nv
        for k, S in J[i].items():
            f = model.inertia[i] @ S
            for j in J[i]:
                if j <= k:
                    _add(H, j, k, J[i][j].T @ f)  # (5.20)
    for i, _ in model.outward():
        H[i, i] = plus_diagonal(H[i, i], model.armature(i))
    return model.generalised_matrix(H)


def _add(H, j, k, block):
    """A block onto H, and its transpose onto the other side."""
    known = H.get((j, k), [[0.0] * len(row) for row in block])
    H[j, k] = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(known, block, strict=True)]
    H[k, j] = H[j, k] if j == k else [list(column) for column in zip(*H[j, k], strict=True)]

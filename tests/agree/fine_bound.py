"""How fast a path can be followed, found another way: a convex program on a fine grid, by clarabel.

    minimise Σ 2 Δ / (√x_i + √x_{i+1})   with   |tau|, |qd|, |qdd| within limits in the middle of every piece

x is ṡ²; tau comes from the mass matrix and the bias force. Limits are asked for in the middle of pieces only and not in
between, so up to the fineness of the grid no motion is faster.
"""

import numpy as np


def least_duration(robot, path, velocity, effort, acceleration, pieces=1500):
    import clarabel
    from scipy import sparse

    d = 1.0 / pieces
    q, dq, ddq = path((np.arange(pieces) + 0.5) * d)
    M = robot.mass_matrix(q)
    gravity = robot.gravity_force(q)
    alpha = np.einsum("nij,nj->ni", M, dq)
    beta = np.einsum("nij,nj->ni", M, ddq) + robot.bias_force(q, dq) - gravity
    rows, bounds = [], []  # rows @ x <= bounds
    left = sparse.eye(pieces, pieces + 1, format="csr")
    right = sparse.eye(pieces, pieces + 1, k=1, format="csr")
    for k in range(robot.nv):
        for a, b, g, limit in (
            (alpha[:, k], beta[:, k], gravity[:, k], effort[k]),
            (dq[:, k], ddq[:, k], np.zeros(pieces), acceleration[k]),
            (np.zeros(pieces), dq[:, k] ** 2, np.zeros(pieces), velocity[k] ** 2),
        ):
            if np.isfinite(limit):
                f = sparse.diags(a / (2 * d)) @ (right - left) + sparse.diags(b / 2) @ (right + left)
                rows += [f / limit, -f / limit]
                bounds += [1 - g / limit, 1 + g / limit]
    # unknowns: x (pieces + 1), z <= sqrt(x), t >= 2 / (z_i + z_{i+1})
    n, scale = pieces + 1, 100.0  # x is given in hundreds
    wide = lambda m, at: sparse.hstack([sparse.csr_matrix((m.shape[0], n * at[0])), m,
                                        sparse.csr_matrix((m.shape[0], at[1]))])  # fmt: skip
    in_x = lambda m: wide(m, (0, n + pieces))
    cut = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [0, n - 1])), shape=(2, n))  # it starts and ends at rest
    A, b, cones = [in_x(cut)], [np.zeros(2)], [clarabel.ZeroConeT(2)]
    A += [in_x(scale * m) for m in rows] + [-in_x(sparse.eye(n))]
    b += [*bounds, np.zeros(n)]
    cones.append(clarabel.NonnegativeConeT(sum(map(len, bounds)) + n))
    blocks, sides = [], []
    for i in range(n):  # (x + 1, x - 1, 2 z) in the cone
        blocks += [({i: 1.0}, 1.0), ({i: 1.0}, -1.0), ({n + i: 2.0}, 0.0)]
    for i in range(pieces):  # (z + z' + t, z + z' - t, 2) in the cone: (z + z') t >= 1
        z = {n + i: 1.0, n + i + 1: 1.0}
        blocks += [({**z, 2 * n + i: 1.0}, 0.0), ({**z, 2 * n + i: -1.0}, 0.0), ({}, 2.0)]
    entries = [(r, c, -v) for r, (row, _) in enumerate(blocks) for c, v in row.items()]
    r, c, v = zip(*entries, strict=True)
    A.append(sparse.csr_matrix((v, (r, c)), shape=(len(blocks), 2 * n + pieces)))
    sides = np.array([side for _, side in blocks])
    cones += [clarabel.SecondOrderConeT(3)] * (len(blocks) // 3)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    total = np.concatenate([np.zeros(2 * n), np.full(pieces, 2 * d / np.sqrt(scale))])
    solver = clarabel.DefaultSolver(sparse.csc_matrix((2 * n + pieces,) * 2), total, sparse.vstack(A).tocsc(),
                                    np.concatenate([*b, sides]), cones, settings)  # fmt: skip
    found = solver.solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    return found.obj_val

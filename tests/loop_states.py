"""States of robots with loops, and linkages whose loops have more constraints than they need."""

import numpy as np

import hinge


def moving(robot, q, seed=0):
    """A velocity that keeps the loops, and joint forces."""
    rng = np.random.default_rng(seed)
    qd, tau = rng.normal(size=(2, robot.nv))
    A = robot.loop_jacobian(q)
    return qd - np.linalg.pinv(A, rcond=1e-9) @ (A @ qd), tau


def bennett(size=1.0, twist=0.7, other=1.1, limits=(-np.inf, np.inf)):
    """Bennett's linkage: four hinges in space that move because opposite links are alike, sides as the sines of twists.

    The last hinge is cut. It has five constraints on three coordinates, and leaves one of them free.
    """
    short, long = (size, twist, 0.0), (size * np.sin(other) / np.sin(twist), other, 0.0)
    return _ring("bennett", [short, long, short, long], size, limits)


def line_symmetric_bricard(rng):
    """Bricard's line-symmetric linkage: six hinges in space, opposite links alike. The last hinge is cut.

    It has five constraints on five coordinates, and leaves one of them free.
    """
    half = list(zip(rng.uniform(0.5, 1.5, 3), rng.uniform(0.4, 1.2, 3), rng.uniform(-0.4, 0.4, 3), strict=True))
    return _ring("bricard", half + half, 1.0, (-np.inf, np.inf))


def _ring(name, links, size, limits):
    """Hinges about z in a ring; a link is a length along x, a twist about it and an offset along z."""

    def along(length, angle, offset):
        pose = np.eye(4)
        pose[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        pose[0, 3], pose[2, 3] = length, offset
        return pose

    poses = [along(*link) for link in links]
    builder = hinge.Builder(name)
    builder.link("base")
    before, place = "base", np.eye(4)
    for k, link in enumerate(poses[:-1]):
        com, inertia = (link[0, 3] / 2, 0.05 * size, 0.0), size**2 * np.diag([0.02, 0.1, 0.1])
        builder.link(f"link{k}", 1.0, com, inertia)
        ends = {"lower": limits[0], "upper": limits[1]} if k == 0 else {}
        builder.joint(f"joint{k}", "revolute", before, f"link{k}", place[:3, 3], place[:3, :3], axis=(0, 0, 1), **ends)
        before, place = f"link{k}", link
    robot = hinge.Robot(builder.build())
    return robot.close("revolute", "base", before, np.linalg.inv(poses[-1]), place, axis=(0, 0, 1))


def swinging(robot, speed=2.0):
    """A state in which a linkage of one freedom is closed, and moves; no joint faster than the speed."""
    rng = np.random.default_rng(0)
    made = (robot.assemble(rng.uniform(-2.5, 2.5, robot.nv)) for _ in range(50))
    q = next(one.q for one in made if one.status == hinge.Status.OK)
    q, qd = robot.loop_project(q, np.eye(robot.nv)[0])
    return q, speed * qd / np.abs(qd).max()


def by_null_space(robot, q, qd, tau, rank):
    """Accelerations of a mechanism whose constraints have that rank: the motions they leave, by singular values."""
    A, c, H = robot.loop_jacobian(q), robot.loop_bias(q, qd), robot.mass_matrix(q)
    U, sizes, V = np.linalg.svd(A)
    needed = -V[:rank].T @ ((U[:, :rank].T @ c) / sizes[:rank])
    Z = V[rank:].T
    return needed + Z @ np.linalg.solve(Z.T @ H @ Z, Z.T @ (tau - robot.bias_force(q, qd) - H @ needed))

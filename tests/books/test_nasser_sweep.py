"""nasser1990, section 2: its 6×6 matrices as printed, in NumPy, against the method of that name.

Forces are [f; n] and motions [v̇; ω̇] here, as in the paper; frames are those of the classic convention.
"""

import numpy as np
import pytest

import hinge

e3 = np.array([0.0, 0.0, 1.0])


def skew(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


def twice(R):
    return np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])  # (2.1.18)


def arm_rows(seed, kinds, rotors=True):
    rng, rows = np.random.default_rng(seed), []
    for kind in kinds:
        points, m = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.2, 1.0, 6)
        c = m @ points / m.sum()
        I = sum(w * ((p - c) @ (p - c) * np.eye(3) - np.outer(p - c, p - c)) for w, p in zip(m, points, strict=True))
        a, alpha, d, theta = rng.normal(size=4)
        rows.append({"type": kind, "a": 0.4 * a, "alpha": alpha, "d": 0.3 * d, "theta": theta, "mass": m.sum(),
                     "com": c, "inertia": I, "armature": rng.uniform(0.1, 0.5) if rotors else 0.0})  # fmt: skip
    return rows


class Link:
    """What the paper needs of link i, all of it in the frame of joint i: frame i - 1."""

    def __init__(self, row, q, qd, omega):
        turns = row["type"] == "revolute"
        theta, s = (row["theta"] + q, row["d"]) if turns else (row["theta"], row["d"] + q)
        c, sn, cp, sp = np.cos(theta), np.sin(theta), np.cos(row["alpha"]), np.sin(row["alpha"])
        self.R = np.array([[c, sn, 0], [-cp * sn, cp * c, sp], [sp * sn, -sp * c, cp]]).T  # (A.1.1), (A.1.2)
        self.P = np.array([row["a"] * c, row["a"] * sn, s])  # (A.1.3)
        self.Z = np.eye(6)[5 if turns else 2]
        self.Ja = row["armature"]
        m, r, J = row["mass"], self.P + self.R @ row["com"], self.R @ row["inertia"] @ self.R.T
        self.A = np.block([[m * np.eye(3), -m * skew(r)], [m * skew(r), J - m * skew(r) @ skew(r)]])  # (2.1.7.4)
        before = omega
        if turns:
            omega, turning = before + e3 * qd, np.cross(before, e3 * qd)
            beta = m * (np.cross(omega, np.cross(omega, r)) + np.cross(turning, r))  # (2.1.3.2)
            beta_star = J @ turning + np.cross(omega, J @ omega)  # (2.1.6.2)
            self.sigma_star = np.concatenate([np.cross(omega, np.cross(omega, self.P)), turning])  # (2.1.13.2), sign
        else:
            sliding = 2 * np.cross(before, e3 * qd)
            beta = m * (np.cross(before, np.cross(before, r)) + sliding)  # (2.2.1)
            beta_star = np.cross(before, J @ before)  # (2.2.2)
            self.sigma_star = np.concatenate([np.cross(before, np.cross(before, self.P)) + sliding, np.zeros(3)])
        self.B = np.concatenate([beta, beta_star + np.cross(r, beta)])
        self.omega = self.R.T @ omega
        self.PT = np.block([[np.eye(3), -skew(self.P)], [np.zeros((3, 3)), np.eye(3)]])  # (2.1.13.3)


def sweep(rows, q, qd, tau, base, rotor_in_gamma):
    """The accelerations by (2.1.19) and (2.1.20); `base` is (ω, v̇, ω̇) of link 1 of the paper, our base."""
    links, omega = [], base[0]
    for row, *state in zip(rows, q, qd, strict=True):
        links.append(Link(row, *state, omega))
        omega = links[-1].omega
    A_next, B_next, control = np.zeros((6, 6)), np.zeros(6), np.zeros(6)
    for link, t in zip(links[::-1], tau[::-1], strict=True):
        R, P, ZZ = twice(link.R), link.PT.T, np.outer(link.Z, link.Z)
        A_next = P @ R @ A_next @ R.T @ P.T  # (2.1.19.4)
        B_next = P @ R @ (B_next + control) + A_next @ link.sigma_star  # (2.1.19.6), (2.1.19.7)
        control = link.Z * t
        link.A_star = link.A + A_next  # (2.1.19.3)
        link.B_star = link.B + B_next - control  # (2.1.19.5), with (2.1.7.6)
        S = np.eye(6) - ZZ - link.A @ ZZ - ZZ * link.Ja  # (2.1.7.2)
        link.G = np.linalg.inv(S - A_next @ ZZ)  # (2.1.19.1), (2.1.11)
        gamma = np.eye(6) - (1.0 + link.Ja * rotor_in_gamma) * ZZ
        A_next, B_next = gamma @ link.G @ link.A_star, gamma @ link.G @ link.B_star
    acceleration, qdd = np.concatenate(base[1:]), []
    for link in links:
        F = link.A_star @ acceleration + link.B_star  # (2.1.19.2)
        qdd.append(link.Z @ link.G @ F)  # (2.1.20)
        moved = link.PT @ (acceleration + link.Z * qdd[-1] + link.sigma_star)  # (2.1.13)
        acceleration = twice(link.R).T @ moved
    return np.array(qdd)


KINDS = [("revolute",) * 6, ("prismatic",) * 3, ("revolute", "prismatic", "revolute", "prismatic", "revolute")]


def state(seed, n):
    return np.random.default_rng(seed).normal(size=(3, n))


@pytest.mark.parametrize("kinds", KINDS, ids=["turning", "sliding", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_the_printed_sweep_with_the_rotor_in_gamma_is_forward_dynamics(kinds, seed):
    rows = arm_rows(seed, kinds)
    robot = hinge.dh(rows, "classic")
    q, qd, tau = state(seed, len(rows))
    made = sweep(rows, q, qd, tau, (np.zeros(3), [0, 0, 9.81], np.zeros(3)), True)
    for method in ("nasser", "articulated", "composite"):
        np.testing.assert_allclose(
            robot.forward_dynamics(q, qd, tau, method=method, backend="interpret"), made, rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("seed", range(3))
def test_a_prescribed_motion_of_the_base_is_link_one_of_the_paper(seed):
    rows = arm_rows(seed, KINDS[2])
    robot = hinge.dh(rows, "classic", gravity=(0, 0, 0))
    q, qd, tau = state(seed, len(rows))
    omega, lin, alpha = np.random.default_rng(seed + 9).normal(size=(3, 3))
    made = sweep(rows, q, qd, tau, (omega, lin, alpha), True)
    motion = (np.concatenate([omega, np.zeros(3)]), np.concatenate([alpha, lin]))
    qdd = robot.forward_dynamics(q, qd, tau, base_motion=motion, method="nasser", backend="interpret")
    np.testing.assert_allclose(qdd, made, rtol=1e-10, atol=1e-10)


def implied_mass_matrix(rows, q, rotor_in_gamma):
    none = np.zeros(len(rows))
    base = (np.zeros(3), np.zeros(3), np.zeros(3))
    return np.linalg.inv([sweep(rows, q, none, u, base, rotor_in_gamma) for u in np.eye(len(rows))]).T


def test_without_the_rotor_in_gamma_the_inner_links_do_not_feel_it():
    rows = arm_rows(5, KINDS[0])
    q = state(5, 6)[0]
    H = hinge.dh(rows, "classic").mass_matrix(q, backend="interpret")
    right, printed = implied_mass_matrix(rows, q, True), implied_mass_matrix(rows, q, False)
    np.testing.assert_allclose(right, H, rtol=1e-10, atol=1e-10)
    assert np.max(np.abs(printed - printed.T)) > 0.01
    bare = arm_rows(5, KINDS[0], rotors=False)  # where there are no rotors the two are one
    np.testing.assert_allclose(implied_mass_matrix(bare, q, False), implied_mass_matrix(bare, q, True), atol=1e-13)

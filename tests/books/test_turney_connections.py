"""turney1981: how its equation sets are connected, in its own frames (joint i turns about z of frame i - 1).

Numbers in brackets are equations there, corrected where the print is wrong; then the print is shown to fail.
"""

import itertools

import numpy as np
import pytest
from moving import Moving, close, cloud, cross_matrix

import hinge
from hinge.formulations.links import links
from hinge.graph import cos, sin
from hinge.spatial import IDENTITY, Mat3, Vec3

N = 4
Q = [cross_matrix(axis) for axis in np.eye(3)]  # (2.7)
Z = np.array([0.0, 0.0, 1.0])
G = 9.81


class Arm:
    """Rotations R_j^i, positions p_j^i and p̄_j^i, link constants, and what follows from them, as arrays."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.t, self.rows, self.bodies = Moving(rng, N), [], [None]
        self.r, self.r_bar, self.m, self.I, self.K = [None], [None], [0.0], [None], [None]
        near = [IDENTITY]
        for q in self.t.q:
            phi, a, d = rng.normal(size=3)
            _, weights, com, K, I = cloud(rng)
            self.rows.append({"a": a, "alpha": phi, "d": d, "mass": weights.sum(), "com": com, "inertia": I})
            c, s, cp, sp = cos(q), sin(q), float(np.cos(phi)), float(np.sin(phi))
            near.append(Mat3((c, -(cp * s), sp * s, s, cp * c, -(sp * c), 0.0, sp, cp)))  # (2.12)
            self.r.append(np.array([a, d * sp, d * cp]))
            for kept, value in ((self.r_bar, com), (self.m, weights.sum()), (self.I, I), (self.K, K)):
                kept.append(value)
        self.robot = hinge.dh(self.rows, "classic")
        self.J = [None] + [
            K + m * np.outer(c, c) for K, m, c in zip(self.K[1:], self.m[1:], self.r_bar[1:], strict=True)
        ]
        self.R_ = [IDENTITY]  # R_0^i and p_0^i on symbols
        self.p_ = [Vec3((0.0, 0.0, 0.0))]
        for i in range(1, N + 1):
            self.R_.append(self.R_[-1].times(near[i]))
            self.p_.append(self.p_[-1] + self.R_[i] @ Vec3(self.r[i]))
        self.pc_ = [None] + [p + R @ Vec3(c) for p, R, c in zip(self.p_[1:], self.R_[1:], self.r_bar[1:], strict=True)]
        d = self.t
        self.R0, self.p0 = [d(R) for R in self.R_], [d(p) for p in self.p_]
        self.Rdd = [np.zeros((3, 3))] + [d(d.rate(d.rate(R))) for R in self.R_[1:]]
        self.pdd = [G * Z] + [G * Z + d(d.rate(d.rate(p))) for p in self.p_[1:]]  # gravity: p̈_0^0 = + g z_0
        self._iterate()

    def R(self, j, i):
        """R_j^i: from frame i to frame j."""
        return self.R0[j].T @ self.R0[i]

    def p(self, j, i):
        """p_j^i: from origin j to origin i, in frame j."""
        return self.R0[j].T @ (self.p0[i] - self.p0[j])

    def p_bar(self, j, i):
        """p̄_j^i: the same to the centre of mass of link i."""
        return self.p(j, i) + self.R(j, i) @ self.r_bar[i]

    def z(self, j):
        """z_j in base coordinates."""
        return self.R0[j] @ Z

    def _iterate(self):
        """The Newton-Euler set."""
        _, qd, qdd = self.t.numbers
        self.w, self.al, self.a, self.a_bar = [np.zeros(3)], [np.zeros(3)], [G * Z], [None]
        for i in range(1, N + 1):
            back, w, al = self.R(i, i - 1), self.w[-1], self.al[-1]
            self.w.append(back @ (w + qd[i - 1] * Z))  # (4.9)
            self.al.append(back @ (al + qdd[i - 1] * Z + np.cross(w, Z * qd[i - 1])))  # (4.11)
            self.a.append(self.swing(i, self.r[i]) + back @ self.a[-1])  # (3.9)
            self.a_bar.append(self.swing(i, self.r_bar[i]) + self.a[i])  # (3.10)
        self.f, self.n = [None] * (N + 2), [None] * (N + 2)
        self.f[N + 1] = self.n[N + 1] = np.zeros(3)
        for i in range(N, 0, -1):
            ahead = self.R(i, i + 1) if i < N else np.eye(3)
            self.f[i] = self.m[i] * self.a_bar[i] + ahead @ self.f[i + 1]  # (3.11)
            self.n[i] = (self.moment(i) + self.m[i] * np.cross(self.r_bar[i] + self.r[i], self.a_bar[i])
                         + np.cross(self.r[i], ahead @ self.f[i + 1]) + ahead @ self.n[i + 1])  # (3.12)  # fmt: skip

    def swing(self, i, c):
        return np.cross(self.al[i], c) + np.cross(self.w[i], np.cross(self.w[i], c))  # (4.13)

    def moment(self, i):
        return self.I[i] @ self.al[i] + np.cross(self.w[i], self.I[i] @ self.w[i])

    def A(self, i):
        return cross_matrix(self.al[i]) + cross_matrix(self.w[i]) @ cross_matrix(self.w[i])  # (4.18)

    @property
    def tau(self):
        return self.robot.inverse_dynamics(*self.t.numbers)


@pytest.fixture(scope="module")
def arm():
    return Arm(3)


LINKS = range(1, N + 1)


# notation


def test_the_matrices_of_the_vector_product():
    b, c = np.random.default_rng(0).normal(size=(2, 3))
    close(sum(x * M for x, M in zip(b, Q, strict=True)) @ c, np.cross(b, c))  # (2.8)
    for k in range(3):
        x, y, z = (Q[(k + s) % 3] for s in range(3))
        close(x @ y, y @ x + z)  # (2.9)
    product, one = np.einsum("bac,ncx->baxn", Q, Q), np.eye(3)
    close(product, np.einsum("an,bx->baxn", one, one) - np.einsum("ax,bn->baxn", one, one))  # (2.10)


def test_derivatives_of_rotations(arm):
    d = arm.t
    for i, j, k in itertools.product(LINKS, repeat=3):
        first = d(d.by(arm.R_[i], d.q[j - 1]))
        close(first, (j <= i) * arm.R0[j - 1] @ Q[2] @ arm.R(j - 1, i))  # (2.14)
        u, v = min(j, k), max(j, k)
        second = d(d.by(d.by(arm.R_[i], d.q[j - 1]), d.q[k - 1]))
        close(second, (v <= i) * arm.R0[u - 1] @ Q[2] @ arm.R(u - 1, v - 1) @ Q[2] @ arm.R(v - 1, i))  # (2.15)


def test_derivatives_of_positions(arm):
    d = arm.t
    for i, j, k in itertools.product(LINKS, repeat=3):
        first = d(d.by(arm.p_[i], d.q[j - 1]))
        close(first, (j <= i) * arm.R0[j - 1] @ np.cross(Z, arm.p(j - 1, i)))  # (2.23)
        to_mass = d(d.by(arm.pc_[i], d.q[j - 1]))
        close(to_mass, (j <= i) * arm.R0[j - 1] @ np.cross(Z, arm.p_bar(j - 1, i)))
        u, v = min(j, k), max(j, k)
        inner = sum((arm.R(v - 1, m) @ arm.r[m] for m in range(v, i + 1)), np.zeros(3))
        second = d(d.by(d.by(arm.p_[i], d.q[j - 1]), d.q[k - 1]))
        close(second, (v <= i) * arm.R0[u - 1] @ np.cross(Z, arm.R(u - 1, v - 1) @ np.cross(Z, inner)))  # (2.24)


def test_offsets(arm):
    for i in LINKS:
        close(arm.R(i, i - 1) @ arm.p(i - 1, i), arm.r[i])  # (2.17)
    for j, i in itertools.product(range(N + 1), repeat=2):
        close(arm.p(j, i), sum((arm.R(j, m) @ arm.r[m] for m in range(j + 1, i + 1)), np.zeros(3)) if j < i
              else -arm.R(j, i) @ arm.p(i, j))  # (2.19)  # fmt: skip


def test_the_frames_are_those_of_the_robot(arm):
    for i, name in enumerate(arm.robot.body_names, start=1):
        pose = arm.robot.pose(arm.t.numbers[0], name)
        close(pose[:3, :3], arm.R0[i])
        close(pose[:3, 3], arm.p0[i])


# inertias


def test_inertias():
    where, weights, c, K, I = cloud(np.random.default_rng(9))
    J, m = np.einsum("k,ki,kj->ij", weights, where, where), weights.sum()  # (2.31)
    close(np.trace(K) * np.eye(3) - K, I)  # (2.36)
    close(K, J - m * np.outer(c, c))  # (2.35)
    assert np.max(np.abs(K - np.trace(K) * np.eye(3) - I)) > 1  # as printed
    spread = sum(I[k, k] for k in range(3)) / 2
    close(np.diag(K), [spread - I[k, k] for k in range(3)])  # (2.34)
    four = np.hstack([where, np.ones((len(where), 1))])
    Ja = np.einsum("k,ki,kj->ij", weights, four, four)
    close(Ja, np.block([[J, m * c[:, None]], [m * c[None], np.full((1, 1), m)]]))  # (2.37)


def test_inertias_of_links_are_those_of_the_text(arm):
    model = arm.robot.model
    for i, one in enumerate(links(model, [[0.0]] * (N + 1))[1:], start=1):
        R = np.reshape(model.frames[model.body_name[i]].R, (3, 3))
        close(np.reshape(one.I_com.full(), (3, 3)), R @ arm.I[i] @ R.T)
        close(np.reshape(one.K.full(), (3, 3)), R @ arm.K[i] @ R.T)
        c = np.array(one.r_bar)
        close(np.reshape(one.J.full(), (3, 3)), R @ arm.K[i] @ R.T + one.m * np.outer(c, c))
        close(np.array(one.J_a)[3], [*(one.m * c), one.m])
        close(one.I_origin, model.inertia[i].I)


# Lagrange and Newton-Euler


def test_the_acceleration_matrix(arm):
    _, qd, qdd = arm.t.numbers
    for i in LINKS:
        A = arm.R0[i].T @ arm.Rdd[i]  # (4.7)
        close(A, arm.A(i))
        total = sum(arm.R0[j - 1] @ Q[2] @ arm.R(j - 1, i) * qdd[j - 1] for j in range(1, i + 1))
        for j, k in itertools.product(range(1, i + 1), repeat=2):
            u, v = min(j, k), max(j, k)
            rates = qd[j - 1] * qd[k - 1]
            total = total + arm.R0[u - 1] @ Q[2] @ arm.R(u - 1, v - 1) @ Q[2] @ arm.R(v - 1, i) * rates
        close(arm.R0[i].T @ total, A)  # (4.8)


def test_accelerations_of_centres_of_mass(arm):
    d = arm.t
    for i in LINKS:
        close(G * Z + d(d.rate(d.rate(arm.pc_[i]))), arm.R0[i] @ arm.a_bar[i])  # (4.19)
        close(arm.a_bar[i], arm.A(i) @ arm.r_bar[i] + arm.a[i])  # (4.21)
        close(arm.a[i], arm.A(i) @ arm.r[i] + arm.R(i, i - 1) @ arm.a[i - 1])  # (4.22)


def test_the_trace_is_eulers_moment(arm):
    for i, j in itertools.product(LINKS, repeat=2):
        axis = arm.R(i, j - 1) @ Z
        close(np.trace(arm.A(i) @ arm.K[i] @ cross_matrix(axis).T), axis @ arm.moment(i))  # (4.36)


def test_the_torque_is_the_moment_along_the_axis(arm):
    close([(arm.R(i, i - 1) @ Z) @ arm.n[i] for i in LINKS], arm.tau)  # (3.13)
    for i in LINKS:
        total = sum(arm.R(i, q) @ arm.moment(q)
                    + np.cross(arm.R(i, i - 1) @ arm.p_bar(i - 1, q), arm.R(i, q) @ arm.a_bar[q]) * arm.m[q]
                    for q in range(i, N + 1))  # fmt: skip
        close(total, arm.n[i])  # (4.37), (4.40)


# recursive Lagrange and Newton-Euler


def gathered(arm, printed=False):
    """e_i and D_i, from the last link to the first."""
    e, D = [None] * (N + 2), [None] * (N + 2)
    e[N + 1], D[N + 1] = np.zeros(3), np.zeros((3, 3))
    for i in range(N, 0, -1):
        ahead = arm.R(i, i + 1) if i < N else np.eye(3)
        m, r, c, Rdd, pdd = arm.m[i], arm.r[i], arm.r_bar[i], arm.Rdd[i], arm.pdd[i]
        e[i] = e[i + 1] + m * pdd + m * Rdd @ c  # (3.4)
        D[i] = (ahead @ D[i + 1] + np.outer(r, e[i + 1]) + arm.J[i] @ Rdd.T + m * np.outer(c + r, pdd)
                + m * np.outer(r, Rdd @ c))  # (3.3)  # fmt: skip
        if printed:
            D[i] = D[i] + m * np.outer(c, Rdd @ c)
    return e, D


def test_the_recursive_force_is_newtons_in_base_coordinates(arm):
    e, _ = gathered(arm)
    for i in LINKS:
        close(e[i], arm.R0[i] @ arm.f[i])


def test_the_gathered_matrix_has_the_moment_in_it(arm):
    _, D = gathered(arm)
    for i in LINKS:
        close([np.trace(arm.R0[i] @ M @ D[i]) for M in Q], arm.n[i])  # all of n, not only along the axis
        close(np.trace(arm.R0[i - 1] @ Q[2] @ arm.R(i - 1, i) @ D[i]), arm.tau[i - 1])  # (3.2)


def test_the_printed_matrix_does_not(arm):
    _, D = gathered(arm, printed=True)
    torques = [np.trace(arm.R0[i - 1] @ Q[2] @ arm.R(i - 1, i) @ D[i]) for i in LINKS]
    assert np.max(np.abs(torques - arm.tau)) > 1e-2


# Gibbs-Appell and Newton-Euler


def turned_inertia(arm, q):
    return arm.R0[q] @ arm.I[q] @ arm.R0[q].T


def test_the_linear_terms_are_the_acceleration_of_the_centre_of_mass(arm):
    _, qd, qdd = arm.t.numbers
    for q in LINKS:
        total = G * Z  # gravity, which the print leaves out
        for j in range(1, q + 1):
            total = total + np.cross(arm.z(j - 1), arm.R0[j - 1] @ arm.p_bar(j - 1, q)) * qdd[j - 1]
            for k in range(1, q + 1):
                u, v = min(j, k), max(j, k)
                inner = np.cross(arm.z(v - 1), arm.R0[v - 1] @ arm.p_bar(v - 1, q))
                total = total + np.cross(arm.z(u - 1), inner) * qd[j - 1] * qd[k - 1]
        close(total, arm.R0[q] @ arm.a_bar[q])  # (6.2)


def bracket(arm, q, swapped=False):
    """The rotational terms of Gibbs and Appell, less the axis they are projected on."""
    _, qd, qdd = arm.t.numbers
    I, total = turned_inertia(arm, q), np.zeros(3)
    for j in range(1, q + 1):
        total = total + I @ arm.z(j - 1) * qdd[j - 1]
        for k in range(1, q + 1):
            u, v = (arm.z(min(j, k) - 1), arm.z(max(j, k) - 1))
            u, v = (v, u) if swapped else (u, v)
            total = total + (np.cross(v, I @ u) + np.trace(I) / 2 * np.cross(u, v)) * qd[j - 1] * qd[k - 1]
    return total


def test_the_rotational_terms_are_the_trace(arm):
    for q in LINKS:
        A, K = (arm.R0[q] @ M @ arm.R0[q].T for M in (arm.A(q), arm.K[q]))
        for i in range(1, q + 1):
            z = arm.z(i - 1)
            close(z @ bracket(arm, q), np.trace(A @ K @ cross_matrix(z).T))  # (6.6)


def test_the_printed_rotational_terms_are_not(arm):
    assert np.max(np.abs(bracket(arm, N, swapped=True) - arm.R0[N] @ arm.moment(N))) > 1e-2


def test_the_torques_of_gibbs_and_appell(arm):
    for i in LINKS:
        total = 0.0
        for q in range(i, N + 1):
            lever = np.cross(arm.z(i - 1), arm.R0[i - 1] @ arm.p_bar(i - 1, q))
            total += arm.z(i - 1) @ bracket(arm, q) + lever @ (arm.m[q] * arm.R0[q] @ arm.a_bar[q])
        close(total, arm.tau[i - 1])  # (3.14)

"""Arms whose equations fit on a page, and the Puma 560 as the literature computes it."""

import numpy as np
import pytest

import hinge

G = 9.81


# a compound pendulum: a uniform rod of length l turning about its end


@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (0.4, 2.5)])
def test_a_compound_pendulum_obeys_its_closed_form(length, mass):
    rod = hinge.samples.pendulum(1, length=length, mass=mass)
    angle, rate, tau = np.linspace(-3, 3, 13)[:, None], 1.7, 0.3
    about_pivot = mass * length**2 / 3
    gravity = mass * G * length / 2 * np.sin(angle)
    np.testing.assert_allclose(rod.mass_matrix([0.3]), [[about_pivot]], rtol=1e-14)
    np.testing.assert_allclose(rod.gravity_force(angle), gravity, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(rod.bias_force(angle, [rate]), gravity, rtol=1e-14, atol=1e-15)
    qdd = rod.forward_dynamics(angle, [rate], [tau])
    np.testing.assert_allclose(qdd, (tau - gravity) / about_pivot, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rod.kinetic_energy(angle, [rate]), about_pivot * rate**2 / 2, rtol=1e-14)
    np.testing.assert_allclose(rod.potential_energy(angle), -mass * G * length / 2 * np.cos(angle[:, 0]), rtol=1e-13)


def test_a_compound_pendulum_beats_like_a_simple_one_of_two_thirds_its_length():
    rod, small = hinge.samples.pendulum(1, length=0.9), 1e-6
    stiffness = rod.gravity_force([small])[0] / small
    np.testing.assert_allclose(stiffness / rod.mass_matrix([0.0])[0, 0], G / (2 / 3 * 0.9), rtol=1e-10)


# the planar arm with two rods, angles from the horizontal


@pytest.fixture(scope="module", params=[(1.0, 1.0), (0.6, 3.0)])
def planar(request):
    length, mass = request.param
    return hinge.samples.planar_2r(length=length, mass=mass), length, mass


STATES = np.random.default_rng(2).normal(size=(7, 3, 2))


def test_the_planar_arm_has_the_textbook_equations(planar):
    arm, l, m = planar
    lc, bar = l / 2, m * l**2 / 12
    for q, qd, qdd in STATES:
        c1, c2, s2, c12 = np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q[0] + q[1])
        M12 = bar + m * (lc**2 + l * lc * c2)
        M = np.array([[2 * bar + m * lc**2 + m * (l**2 + lc**2 + 2 * l * lc * c2), M12], [M12, bar + m * lc**2]])
        h = -m * l * lc * s2
        C = np.array([[h * qd[1], h * (qd[0] + qd[1])], [-h * qd[0], 0.0]])
        g = np.array([(m * lc + m * l) * G * c1 + m * lc * G * c12, m * lc * G * c12])
        close = {"rtol": 1e-13, "atol": 1e-13 * m}
        np.testing.assert_allclose(arm.mass_matrix(q), M, **close)
        np.testing.assert_allclose(arm.coriolis_matrix(q, qd), C, **close)
        np.testing.assert_allclose(arm.gravity_force(q), g, **close)
        np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), M @ qdd + C @ qd + g, **close)
        np.testing.assert_allclose(arm.inverse_mass_matrix(q), np.linalg.inv(M), rtol=1e-12)
        for method in ("articulated", "composite", "composite_llt"):
            tau = M @ qdd + C @ qd + g
            np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau, method=method), qdd, rtol=1e-11, atol=1e-12)


def test_the_planar_arm_has_the_textbook_hand(planar):
    arm, l, _ = planar
    for q, qd, _ in STATES:
        a, b = q[0], q[0] + q[1]
        hand = arm.pose(q, "hand")
        np.testing.assert_allclose(hand[:3, 3], [l * np.cos(a) + l * np.cos(b), 0, l * np.sin(a) + l * np.sin(b)],
                                   rtol=1e-13, atol=1e-14)  # fmt: skip
        J = arm.jacobian(q, "hand", frame="aligned")
        dx = [-l * np.sin(a) - l * np.sin(b), -l * np.sin(b)]
        dz = [l * np.cos(a) + l * np.cos(b), l * np.cos(b)]
        printed = [[0, 0], [-1, -1], [0, 0], dx, [0, 0], dz]
        np.testing.assert_allclose(J, printed, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(arm.velocity(q, qd, "hand", frame="aligned"), J @ qd, rtol=1e-12, atol=1e-14)


# the Puma 560 in Corke's Robotics Toolbox: what it prints, to four decimals

NOMINAL = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])
PRINTED = 5.0001e-5  # half a unit in the fourth decimal


def test_the_puma_carries_the_printed_gravity_load():
    load = hinge.samples.puma560().gravity_force(NOMINAL)
    np.testing.assert_allclose(load, [0, 31.6399, 6.0351, 0, 0.0283, 0], rtol=0, atol=PRINTED)


def test_the_puma_has_the_printed_inertia_matrix():
    M = np.diag([3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941])
    entries = {(1, 2): -0.4044, (1, 3): 0.1006, (1, 4): -0.0025, (2, 3): 0.3509, (2, 5): 0.0024, (3, 5): 0.0015}
    for (i, j), entry in entries.items():
        M[i - 1, j - 1] = M[j - 1, i - 1] = entry
    np.testing.assert_allclose(hinge.samples.puma560().mass_matrix(NOMINAL), M, rtol=0, atol=PRINTED)


def test_the_puma_reaches_the_printed_place():
    printed = [[0, 0, 1, 0.5963], [0, 1, 0, -0.1501], [-1, 0, 0, -0.0144], [0, 0, 0, 1]]
    np.testing.assert_allclose(hinge.samples.puma560().pose(NOMINAL, "tool"), printed, rtol=0, atol=PRINTED)


def test_the_puma_has_bodies_that_can_be_and_moves_as_the_printed_ones():
    arm = hinge.samples.puma560()
    assert not arm.report
    inertias = {"link1": (0, 0.35, 0), "link2": (0.13, 0.524, 0.539), "link3": (0.066, 0.086, 0.0125)}
    printed = {f"{link}.inertia": np.diag(values) for link, values in inertias.items()} | {"link1.mass": 0.0}
    rng = np.random.default_rng(3)
    q, qd = arm.random_state(rng, 50)
    qdd = rng.normal(size=qd.shape)
    tau = arm.vary(*printed).inverse_dynamics(q, qd, qdd, parameters=printed)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), tau, rtol=1e-12, atol=1e-12)


# Denavit and Hartenberg's tables: the two conventions describe the same arms


def shift_turn(a, alpha):
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def as_modified(rows):
    """The same arm in the modified convention: a and alpha move to the next row, and bodies to frames before them."""
    made, before, tool = [], (0.0, 0.0), np.eye(4)
    for row in rows:
        T = shift_turn(row["a"], row["alpha"])
        R = T[:3, :3]
        moved = {"a": before[0], "alpha": before[1], "com": R @ row["com"] + T[:3, 3],
                 "inertia": R @ row["inertia"] @ R.T}  # fmt: skip
        made.append(row | moved)
        before, tool = (row["a"], row["alpha"]), T
    return made, tool


def general_rows(rng, types):
    rows = []
    for kind in types:
        points, m = rng.normal(size=(5, 3)) * 0.2, rng.uniform(0.2, 1, 5)
        com = m @ points / m.sum()
        p = points - com
        inertia = sum(w * (x @ x * np.eye(3) - np.outer(x, x)) for w, x in zip(m, p, strict=True))
        a, alpha, d, theta = rng.uniform(-1, 1, 4)
        rows.append({"a": a, "alpha": alpha, "d": d, "theta": theta, "type": kind, "mass": m.sum(), "com": com,
                     "inertia": inertia, "armature": rng.uniform(0, 0.1)})  # fmt: skip
        if kind == "screw":
            rows[-1]["pitch"] = 0.3
    return rows


@pytest.mark.parametrize(
    "types",
    [("revolute",) * 6, ("prismatic",) * 3, ("revolute", "prismatic", "screw", "cylindric", "revolute")],
    ids=["revolute", "prismatic", "mixed"],
)
def test_classic_and_modified_tables_of_one_arm_agree(types):
    rng = np.random.default_rng(8)
    rows = general_rows(rng, types)
    base = shift_turn(0.3, 0.4)
    modified, tool = as_modified(rows)
    classic = hinge.dh(rows, "classic", base=base)
    other = hinge.dh(modified, "modified", base=base, tool=tool)
    q, qd = classic.random_state(rng, 4)
    qdd = rng.normal(size=qd.shape)
    close = {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(other.pose(q, "tool"), classic.pose(q, "tool"), **close)
    np.testing.assert_allclose(other.inverse_dynamics(q, qd, qdd), classic.inverse_dynamics(q, qd, qdd), **close)
    np.testing.assert_allclose(other.mass_matrix(q), classic.mass_matrix(q), **close)
    np.testing.assert_allclose(other.forward_dynamics(q, qd, qdd), classic.forward_dynamics(q, qd, qdd), rtol=1e-9)
    np.testing.assert_allclose(other.jacobian(q, "tool"), classic.jacobian(q, "tool"), **close)


def test_a_classic_table_places_its_hand_by_the_product_of_its_rows():
    rng = np.random.default_rng(9)
    rows, q = general_rows(rng, ("revolute", "prismatic", "revolute")), rng.normal(size=3)
    T = np.eye(4)
    for row, x in zip(rows, q, strict=True):
        theta, d = row["theta"], row["d"]
        theta, d = (theta + x, d) if row["type"] == "revolute" else (theta, d + x)
        c, s, ca, sa, a = np.cos(theta), np.sin(theta), np.cos(row["alpha"]), np.sin(row["alpha"]), row["a"]
        T = T @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    np.testing.assert_allclose(hinge.dh(rows, "classic").pose(q, "tool"), T, rtol=1e-13, atol=1e-14)

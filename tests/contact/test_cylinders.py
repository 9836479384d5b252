"""Cylinders against other solids: gaps against a conic solver, every pair of parts, and bodies at rest on them."""

import numpy as np
import pytest
from things import turned

import hinge
from hinge.contact.pairs import touching
from hinge.contact.solids import Solid

SIZES = {"sphere": (0.1,), "capsule": (0.08, 0.3), "box": (0.3, 0.2, 0.25), "cylinder": (0.12, 0.3)}


def distance(a, b):
    """By a conic solver: the least length of x - y, x and y in the cores of the solids, less their radii."""
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    rows, right, cones = [], [], []  # unknown: length, x in a's axes, y in b's axes
    rows += [[-1.0, *np.zeros(6)], *np.hstack([np.zeros((3, 1)), -a.R, b.R])]
    right += [0.0, *(a.p - b.p)]
    cones.append(clarabel.SecondOrderConeT(4))
    radii = 0.0
    for solid, at in ((a, 1), (b, 4)):
        half = {"sphere": (0, 0, 0), "capsule": (0, 0, solid.size[-1] / 2), "box": np.array(solid.size) / 2,
                "cylinder": (np.inf, np.inf, solid.size[-1] / 2)}[solid.kind]  # fmt: skip
        radii += solid.size[0] if solid.kind in ("sphere", "capsule") else 0.0
        for k in range(3):
            if np.isfinite(half[k]):
                unit = np.eye(7)[at + k]
                rows += [unit, -unit]
                right += [half[k], half[k]]
                cones.append(clarabel.NonnegativeConeT(2))
        if solid.kind == "cylinder":
            rows += [np.zeros(7), -np.eye(7)[at], -np.eye(7)[at + 1]]
            right += [solid.size[0], 0.0, 0.0]
            cones.append(clarabel.SecondOrderConeT(3))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    found = clarabel.DefaultSolver(sparse.csc_matrix((7, 7)), np.eye(7)[0], sparse.csc_matrix(np.array(rows)),
                                   np.array(right), cones, settings).solve()  # fmt: skip
    return found.x[0] - radii


def pair(kind, rng, away):
    return (Solid(kind, SIZES[kind], "one", turned(rng), np.zeros(3)),
            Solid("cylinder", SIZES["cylinder"], "two", turned(rng), np.asarray(away)))  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", SIZES)
def test_the_gap_is_the_distance(kind):
    rng = np.random.default_rng(11)
    met = 0
    for _ in range(60):
        a, b = pair(kind, rng, rng.normal(size=3) * 0.35)
        far = distance(a, b)
        if far > 1e-3:
            assert min(f.gap for f in touching(a, b, np.inf)) == pytest.approx(far, abs=1e-7)
            met += 1
    assert met > 15


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", SIZES)
def test_solids_that_all_but_touch_have_that_gap(kind):
    rng = np.random.default_rng(5)
    for _ in range(15):
        way, a = rng.normal(size=3), None
        R, S = turned(rng), turned(rng)
        near, far = 0.0, 2.0
        for _ in range(30):
            middle = (near + far) / 2
            a = Solid(kind, SIZES[kind], "one", R, np.zeros(3))
            b = Solid("cylinder", SIZES["cylinder"], "two", S, middle * way / np.linalg.norm(way))
            near, far = (middle, far) if distance(a, b) < 2e-6 else (near, middle)
        assert min(f.gap for f in touching(a, b, 1e-3)) == pytest.approx(2e-6, abs=1e-7)


def scene_of(kind):
    return hinge.Scene(gravity=(0, 0, 0)).body("one", kind, SIZES[kind], 1.0).body("two", "cylinder", (0.12, 0.3), 1.0)


def test_every_pair_of_parts_meets_and_its_gap_moves_as_the_solids_do():
    """The gap that a kernel computes of a contact is the distance, here and where the bodies have moved a little."""
    rng = np.random.default_rng(8)
    kinds = set()
    for shape in SIZES:
        scene = scene_of(shape)
        for _ in range(25):
            q = np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], rng.normal(size=4), rng.normal(size=3) * 0.3])
            try:
                contacts = scene.contacts(q, within=0.2)
            except hinge.NotCovered:
                continue  # deep inside each other
            if not contacts:
                continue
            made = scene.robot.contact_system(q, np.zeros(12), np.zeros(12), contacts, backend="interpret")
            best = int(np.argmin(made.gap))
            if made.gap[best] < 1e-3:
                continue
            kinds.add(contacts[best].kind)
            moved = scene.robot.integrate(q, 1e-4 * rng.normal(size=12))
            again = scene.robot.contact_system(moved, np.zeros(12), np.zeros(12), contacts, backend="interpret")
            R, p = ([scene.robot.pose(moved, n)[k] for n in ("one", "two")] for k in (np.s_[:3, :3], np.s_[:3, 3]))
            a, b = (Solid(k, SIZES[k], "x", R[i], p[i]) for i, k in enumerate((shape, "cylinder")))
            assert again.gap.min() == pytest.approx(distance(a, b), abs=1e-7)
    assert kinds == {"face", "rim", "edge", "edges", "ring", "curves"}


LYING = [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
UPRIGHT = [1.0, 0, 0, 0]


@pytest.mark.parametrize(
    ("lower", "upper", "turn", "height", "count"),
    [
        ("box", "cylinder", UPRIGHT, 0.125 + 0.15, 8),
        ("box", "cylinder", LYING, 0.125 + 0.12, 2),
        ("cylinder", "box", UPRIGHT, 0.15 + 0.125, 8),
        ("cylinder", "sphere", UPRIGHT, 0.15 + 0.1, 1),
        ("cylinder", "capsule", UPRIGHT, 0.15 + 0.08 + 0.15, 1),
        ("cylinder", "capsule", LYING, 0.15 + 0.08, 2),
        ("cylinder", "cylinder", UPRIGHT, 0.15 + 0.15, 8),
        ("cylinder", "cylinder", LYING, 0.15 + 0.12, 2),
    ],
)
def test_a_stack_rests(lower, upper, turn, height, count):
    sizes = SIZES | {"box": (0.3, 0.3, 0.25)}
    scene = hinge.Scene().ground().body("lower", lower, sizes[lower], 4.0).body("upper", upper, sizes[upper], 2.0)
    base = 0.125 if lower == "box" else 0.15
    q = np.array([1.0, 0, 0, 0, 0, 0, base, *turn, 0, 0, base + height])
    contacts = scene.contacts(q)
    between = np.array([c.other is not None for c in contacts])
    assert between.sum() == count
    made = scene.robot.contact_dynamics(q, np.zeros(12), np.zeros(12), contacts, backend="interpret")
    np.testing.assert_allclose(made.gap, 0.0, atol=1e-9)
    np.testing.assert_allclose(made.qdd, 0.0, atol=1e-8)
    assert made.force[between].sum() == pytest.approx(2.0 * 9.81)
    assert made.force[~between].sum() == pytest.approx(6.0 * 9.81)


def test_a_can_that_leans_a_little_still_meets_what_is_beside_its_face():
    """The parts that lean less than LEAN do not lie over each other: they meet at their edges."""
    for lean in (0.0, 3e-5, -3e-5):
        scene = scene_of("box")
        q = np.array([1.0, 0, 0, 0, 0, 0, 0, 1.0, lean, 0, 0, 0.15 + 0.1199, 0, 0.125 + 0.15 + 1e-3])
        assert scene.contacts(q, within=2e-3)


def test_a_can_may_spin_about_its_axis():
    """The rim's own points go round; where it touches does not."""
    scene = scene_of("box")
    q = np.array([1.0, 0, 0, 0, 0, 0, 0, 1.2, 0.8, 0.8, 0.1, -0.36, -0.03, -0.19])
    (contact,) = scene.contacts(q, within=0.2)
    assert contact.kind == "curves"
    gap = scene.robot.contact_system(q, np.zeros(12), np.zeros(12), [contact]).gap
    for angle in (1.0, 2.0, 3.0):
        spun = scene.robot.integrate(q, [*np.zeros(8), angle, 0, 0, 0])
        made = scene.robot.contact_system(spun, np.zeros(12), np.zeros(12), [contact])
        np.testing.assert_allclose(made.gap, gap, atol=1e-12)


def test_solids_deep_in_each_other_are_refused_by_name():
    with pytest.raises(hinge.NotCovered, match=r"the sphere on 'one' is deep inside the cylinder on 'two'"):
        scene_of("sphere").contacts([1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0.01, 0, 0])

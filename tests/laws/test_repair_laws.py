"""Repairs: the nearest inertia is one a body can have and no other such is nearer; what is sound is left alone."""

import numpy as np
import pytest
from hypothesis import given
from robots import families, law, robot_of, seeds

import hinge
from hinge.checking.proofs import draw, positive_definite
from hinge.checking.repairs import BALL, SMALL, THIN, nearest
from hinge.model.doctor import examine_link
from hinge.model.model import LinkInertia

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def second_moments(inertia):
    """Σ of I = tr(Σ) 1 - Σ."""
    return np.trace(inertia) / 2 * np.eye(3) - inertia


def drawn_link(seed):
    """Any symmetric inertia, which two times in three no body has."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    principal = rng.uniform(-1, 3, 3) * 10.0 ** rng.uniform(-6, 2)
    inertia = turn @ np.diag(principal) @ turn.T
    return LinkInertia(
        float(rng.uniform(0.1, 9)), tuple(rng.normal(size=3)), tuple(map(tuple, (inertia + inertia.T) / 2))
    )


@law(200)
@given(seeds)
def test_the_nearest_inertia_is_one_that_a_body_can_have(seed):
    given_link = drawn_link(seed)
    made = nearest(given_link)
    assert (made.mass, made.com) == (given_link.mass, given_link.com)
    assert examine_link("", made.mass, np.array(made.inertia), None) == []
    values = np.linalg.eigvalsh(second_moments(np.array(made.inertia)))
    assert values[0] >= 0.99 * THIN * values[-1] > 0.0


@law(200)
@given(seeds)
def test_no_other_inertia_that_a_body_can_have_is_nearer(seed):
    """Against bodies drawn at random, around the one that was found and anywhere."""
    given_link, rng = drawn_link(seed), np.random.default_rng(seed)
    wanted = second_moments(np.array(given_link.inertia))
    if np.linalg.eigvalsh(wanted)[-1] <= 0.0:
        return
    floor = THIN * np.linalg.eigvalsh(wanted)[-1]
    found = second_moments(np.array(nearest(given_link).inertia))
    distance = np.linalg.norm(found - wanted)
    for scale in (1e-3, 1e-1, 1.0):
        step = rng.normal(size=(3, 3)) * scale * np.linalg.norm(wanted)
        values, axes = np.linalg.eigh(found + step + step.T)
        body = axes * np.maximum(values, floor) @ axes.T
        assert np.linalg.norm(body - wanted) >= distance * (1 - 1e-9)


def test_an_inertia_that_a_body_has_stays_to_the_last_digit():
    rng = np.random.default_rng(0)
    for _ in range(50):
        points = rng.normal(size=(6, 3))
        Sigma = points.T @ points
        I = np.trace(Sigma) * np.eye(3) - Sigma
        link = LinkInertia(1.0, (0.0, 0.0, 0.0), tuple(map(tuple, (I + I.T) / 2)))
        assert np.array_equal(nearest(link).inertia, link.inertia)


def test_a_printed_case():
    """(1, 1, 3) has Σ = (1.5, 1.5, -0.5); raised to THIN × 1.5 it is (1.5 + 1.5e-6, 1.5 + 1.5e-6, 3)."""
    made = nearest(LinkInertia(1.0, (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 3.0))))
    np.testing.assert_allclose(made.inertia, np.diag([1.5 + 1.5e-6, 1.5 + 1.5e-6, 3.0]), rtol=1e-15)


def test_where_nothing_can_be_kept_there_is_a_ball():
    link = LinkInertia(4.0, (0.1, 0.0, 0.0), ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)))
    radius = (3 * 4.0 / (4 * np.pi * BALL)) ** (1 / 3)
    np.testing.assert_allclose(nearest(link).inertia, 0.4 * 4.0 * radius**2 * np.eye(3))


@pytest.mark.parametrize("mass", [0.0, -2.0])
def test_without_mass_there_is_no_inertia(mass):
    made = nearest(LinkInertia(mass, (1.0, 2.0, 3.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))
    assert (made.mass, np.any(made.inertia)) == (0.0, False)


# ---- robots


@families
def test_a_sound_robot_is_returned_as_it_is(family):
    robot = robot_of(family, 1)
    same, changes = hinge.repair(robot)
    assert same is robot
    assert (len(changes), str(changes)) == (0, "nothing to report")


def arm(inertia=(1.0, 1.0, 3.0), mass=2.0, lower=0.0, **joint):
    """A base, an upper arm with a plate welded to it, and a lower arm."""
    builder = hinge.Builder("arm")
    builder.link("base")
    builder.link("upper", mass=1.0, com=(0.2, 0, 0), inertia=np.eye(3) * 0.1)
    builder.link("plate", mass=mass, com=(0.1, 0.2, 0.3), inertia=np.diag(inertia))
    builder.link("lower", mass=lower, inertia=np.eye(3) * lower)
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0))
    builder.joint("weld", "fixed", "upper", "plate", xyz=(0.3, 0, 0), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    builder.joint("elbow", "revolute", "upper", "lower", xyz=(0.5, 0, 0), axis=(0, 1, 0), **joint)
    return builder


def test_a_repair_says_what_it_changed_and_why():
    _, changes = hinge.repair(hinge.Robot(arm().build()))
    assert str(changes) == (
        "note: link 'plate' had inertia (xx, yy, zz, xy, xz, yz) = (1, 1, 3, 0, 0, 0) kg m² and has "
        "(1.5, 1.5, 3, 0, 0, 0).\n  The nearest that a body of 2 kg can have.\n"
        "note: joint 'elbow' had armature 0 kg m² and has 2e-06 kg m².\n"
        "  It moves nothing that has inertia; this is 1e-06 of the most that any joint feels."
    )
    assert [change.code for change in changes] == ["mended-inertia", "mended-armature"]


def test_links_bodies_and_report_tell_the_same():
    """The repaired robot is the robot built from the repaired links."""
    robot, _ = hinge.repair(hinge.Robot(arm(lower=1.0).build()))
    said = robot.model.links["plate"]
    again = hinge.Robot(arm(np.diag(said.inertia), lower=1.0).build(strict=True))
    assert again.model.links == robot.model.links
    assert list(robot.report) == []
    q, _ = robot.random_state(np.random.default_rng(0), 5)
    np.testing.assert_allclose(robot.mass_matrix(q), again.mass_matrix(q), rtol=1e-14)


def test_what_was_not_repaired_stays_in_the_report():
    robot = hinge.Robot(arm().build())
    inertia, changes = hinge.repair(robot, only="inertia")
    assert [f.code for f in inertia.report] == ["massless"]
    assert [change.code for change in changes] == ["mended-inertia"]
    armature, changes = hinge.repair(robot, only=["armature"])
    assert [f.code for f in armature.report] == ["triangle"]
    assert [change.code for change in changes] == ["mended-armature"]
    assert hinge.repair(armature, only="armature")[0] is armature


def test_a_robot_with_a_load_keeps_it():
    robot = hinge.Robot(arm(lower=1.0).build())
    loaded, _ = hinge.repair(robot.with_payload("lower", 3.0))
    plain, _ = hinge.repair(robot)
    assert loaded.mass == plain.mass + 3.0
    np.testing.assert_allclose(loaded.mass_matrix([0.1, 0.2]), plain.with_payload("lower", 3.0).mass_matrix([0.1, 0.2]))


def test_what_is_varied_stays_varied():
    robot, _ = hinge.repair(hinge.Robot(arm(lower=1.0).build()).vary("lower.mass"))
    assert robot.mass_matrix([0.1, 0.2], parameters={"lower.mass": 2.0}).shape == (2, 2)


def test_resistance_below_zero_becomes_none():
    robot, changes = hinge.repair(hinge.Robot(arm((2, 2, 3), lower=1.0, damping=-0.1, friction=0.2).build()))
    assert [str(change).split("\n")[0] for change in changes] == ["note: joint 'elbow' had damping -0.1 and has 0."]
    assert (robot.model.data[2].damping, robot.model.data[2].friction) == ((0.0,), (0.2,))
    assert list(robot.report) == []
    assert hinge.repair(robot)[0] is robot


def test_negative_masses_are_taken_away():
    robot, changes = hinge.repair(hinge.Robot(arm(mass=-1.0, lower=1.0).build()))
    assert [change.code for change in changes] == ["mended-mass", "mended-inertia"]
    assert str(changes).startswith("note: link 'plate' had mass -1 kg and has 0 kg.")
    assert robot.mass == pytest.approx(2.0)
    assert list(robot.report) == []


def test_armature_goes_where_the_equations_need_it_and_is_small():
    """Two massless joints one after the other, about the same line: each alone is enough for neither."""
    builder = arm((2, 2, 3))
    builder.link("tip")
    builder.joint("wrist", "prismatic", "lower", "tip")
    robot, changes = hinge.repair(hinge.Robot(builder.build()))
    assert [change.what.split("'")[1] for change in changes] == ["elbow", "wrist"]
    assert changes[1].what.endswith("had armature 0 kg and has 2e-06 kg.")
    feels = robot.mass_matrix(robot.neutral())[0, 0]
    assert 0.5 * SMALL * feels < robot.model.data[2].armature[0] < 2 * SMALL * feels
    assert positive_definite(draw(robot, 4))[0] > 1e-3
    tau = robot.inverse_dynamics([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(robot.forward_dynamics([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], tau), [1, 2, 3], rtol=1e-9)


def test_mass_on_the_axis_moves_nothing():
    """A point mass on the line of the last joint: its mass is there, and the joint feels nothing of it."""
    builder = arm((2, 2, 3))
    builder.link("point", mass=1.0)
    builder.joint("weld2", "fixed", "lower", "point", xyz=(0, 0.4, 0))
    robot = hinge.Robot(builder.build())
    assert list(robot.report) == []
    mended, changes = hinge.repair(robot)
    assert [change.what.split("'")[1] for change in changes] == ["elbow"]
    assert hinge.repair(mended)[0] is mended


def test_a_robot_of_nothing_but_joints_can_be_moved():
    builder = hinge.Builder("ghost")
    builder.link("base")
    builder.link("one")
    builder.joint("j", "revolute", "base", "one")
    robot, _ = hinge.repair(hinge.Robot(builder.build()))
    assert robot.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx(1e3)


def test_an_unknown_repair_is_told_with_those_there_are():
    with pytest.raises(hinge.UnknownName, match=r"there is no repair 'inertias'. Did you mean 'inertia'\?"):
        hinge.repair(hinge.samples.planar_2r(), only="inertias")


def test_a_robot_with_driven_joints_is_repaired_too():
    driven = hinge.Robot(arm(lower=1.0).build()).prescribe("shoulder")
    robot, changes = hinge.repair(driven)
    assert [change.code for change in changes] == ["mended-inertia"]
    assert robot.nv == 1

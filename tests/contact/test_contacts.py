"""Contacts as they are given: extended ones as points, and what is refused by name."""

import numpy as np
import pytest
from things import loose

import hinge
from hinge.contact import patch_error

UP = {"normal": (0, 0, 1)}


def test_a_polygon_is_its_outer_vertices():
    points = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0), (1, 0.5, 0), (1, 0, 0)]
    made = hinge.polygon_contact("block", points, **UP)
    assert {c.point for c in made} == {(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)}


def test_a_round_patch_tips_too_soon_by_its_error():
    # a cup whose weight acts beyond the rim points' polygon tips, though it is still inside the rim
    radius, m, mass = 0.1, 6, 1.0
    cup = loose("cup", mass, np.eye(3) * 1e-3)
    rim = hinge.patch_contact("cup", (0, 0, 0), radius, m, **UP)
    inside = radius - patch_error(radius, m)
    for share, tips in ((0.999, False), (1.001, True)):
        lever = share * inside
        middle = (np.add(rim[0].point, rim[1].point) / 2)[:2]
        away = middle / np.linalg.norm(middle) * lever
        couple = np.array([-away[1], away[0], 0.0]) * mass * 9.81
        made = cup.contact_dynamics([1, 0, 0, 0, 0, 0, 0], np.zeros(6), [*couple, 0, 0, 0], rim)
        assert (np.abs(made.qdd).max() > 1e-6) == tips


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"restitution": 1.5}, "contact of 'cup' with the world has restitution 1.5. Give a number from 0 to 1."),
        ({"restitution": -0.1}, "restitution -0.1"),
        ({"restitution": float("nan")}, "restitution nan"),
        ({"friction": -1.0}, "friction -1.0"),
        ({"offset": float("nan")}, "contact of 'cup' with the world has offset nan. Give a finite number."),
        ({"offset": float("-inf")}, "offset -inf"),
        ({"other_offset": float("inf")}, "other_offset inf"),
        ({"compliance": float("nan")}, "compliance nan. Give a finite number from 0 up."),
        ({"friction": "a"}, "contact of 'cup' with the world has friction 'a'. Give a finite number from 0 up."),
        ({"restitution": None}, "restitution None. Give a number from 0 to 1."),
        ({"friction": [0.1, 0.2]}, "friction .0.1, 0.2.. Give a finite number from 0 up."),
        ({"normal": (0, 0, 0)}, "normal is zero"),
        ({"normal": (0, 0)}, "Give three finite numbers"),
        ({"edge": (1, 0, 0), "normal": None}, "an edge and no other_edge"),
        ({"other_edge": (1, 0, 0)}, "a normal and edges"),
    ],
)
def test_a_contact_that_cannot_be_is_refused(details, words):
    with pytest.raises(hinge.SizeError, match=words):
        hinge.Contact("cup", (0, 0, 0), **(UP | details))


def test_a_polygon_that_is_nowhere_is_refused():
    with pytest.raises(hinge.SizeError, match=r"polygon_contact of 'cup': vertices\[1, 2\] is nan. Give finite"):
        hinge.polygon_contact("cup", [(0, 0, 0), (1, 0, float("nan")), (1, 1, 0)], **UP)
    with pytest.raises(hinge.SizeError, match=r"polygon_contact of 'cup': vertices is not an array of real numbers"):
        hinge.polygon_contact("cup", "abc", **UP)


def test_contacts_between_unknown_bodies_are_refused_by_name():
    cup = loose("cup", 1.0, np.eye(3))
    state = [[1, 0, 0, 0, 0, 0, 0], np.zeros(6), np.zeros(6)]
    with pytest.raises(hinge.UnknownName, match=r"contacts\[1\]: robot 'cup' has no body or frame 'cap'"):
        cup.contact_dynamics(*state, [hinge.Contact("cup", (0, 0, 0), **UP), hinge.Contact("cap", (0, 0, 0), **UP)])
    with pytest.raises(hinge.UnknownName, match=r"'table'"):
        cup.contact_dynamics(*state, [hinge.Contact("cup", (0, 0, 0), other="table", **UP)])
    with pytest.raises(hinge.SizeError, match=r"cannot touch itself"):
        cup.contact_dynamics(*state, [hinge.Contact("cup", (0, 0, 0), other="cup", **UP)])
    with pytest.raises(hinge.SizeError, match=r"contacts is empty"):
        cup.contact_dynamics(*state, [])
    with pytest.raises(hinge.SizeError, match=r"contacts\[0\] is a str"):
        cup.contact_dynamics(*state, ["cup"])

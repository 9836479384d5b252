"""Friction and restitution as parameters: each rollout has its own, and is what a ground of its own makes it."""

from functools import partial

import numpy as np
import pytest

import hinge
from hinge import Contact, Ground, Status
from hinge.contact.surfaces import rows_of
from hinge.errors import NotCovered, SizeError, UnknownName

simulate, rollout = (partial(function, backend="llvm") for function in (hinge.simulate, hinge.rollout))
G = 9.81
BALL = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot
BOX = hinge.Scene().body("box", "box", (0.3, 0.2, 0.1), mass=2.0).robot
LYING, SLIDING = [1.0, 0, 0, 0, 0, 0, 0.05], [0, 0, 0, 1.0, 0, 0]
MU = np.array([0.2, 0.35, 0.5, 0.9])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", ["rigid", "soft"])
def test_blocks_slide_as_far_as_their_friction_lets_them_and_as_on_a_ground_of_their_own(law):
    mu = np.insert(MU, 2, np.nan)
    run = rollout(
        BOX, LYING, SLIDING, 300, 2e-3, law=law, ground=Ground(friction=0.0), parameters={"friction": mu}, record=300
    )
    assert run.status.tolist() == [0, 0, Status.NONFINITE, 0, 0]
    assert np.isnan(run.q[2, -1]).all()
    np.testing.assert_allclose(np.delete(run.q[:, -1, 4], 2), 1.0 / (2.0 * MU * G), atol=1.5e-3)
    alone = [rollout(BOX, LYING, SLIDING, 300, 2e-3, law=law, ground=Ground(friction=x), record=300).q for x in MU[:2]]
    np.testing.assert_allclose(run.q[:2], alone, rtol=0, atol=1e-12)


def test_balls_bounce_with_the_square_of_their_restitution():
    e = np.array([0.0, 0.3, 0.6, 0.9])
    run = simulate(BALL, 0.75, [1, 0, 0, 0, 0, 0, 0.6], ground=0.0, parameters={"restitution": e})
    fallen = run.t > np.sqrt(2.0 * 0.5 / G)
    np.testing.assert_allclose(run.q[:, fallen, 6].max(axis=1) - 0.1, e * e * 0.5, atol=5e-3)
    assert run.parameters["restitution"].tolist() == e.tolist()
    assert np.all(np.diff(run.energy()) < 1e-6)


def test_spinning_and_rolling_are_parameters_too():
    given = {"spinning": [2e-3, 0.0], "rolling": [1e-3, 0.0]}
    start = [1, 0, 0, 0, 0, 0, 0.1], [0, 10.0, 10.0, 1.0, 0, 0]
    run = simulate(BALL, 0.3, *start, ground=Ground(friction=0.8), parameters=given)
    for k, ground in enumerate([Ground(friction=(0.8, 2e-3, 1e-3)), Ground(friction=0.8)]):
        np.testing.assert_allclose(run.q[k], simulate(BALL, 0.3, *start, ground=ground).q, rtol=0, atol=1e-9)


def test_links_have_surfaces_of_their_own_and_the_greater_counts():
    scene = hinge.Scene().body("one", "box", (0.2, 0.2, 0.2), mass=1.0).body("two", "box", (0.2, 0.2, 0.2), mass=3.0)
    q = [1, 0, 0, 0, 0, 0, 0.1, 1, 0, 0, 0, 0, 1.0, 0.1]
    given = {"friction": [0.2, 0.6], "one.friction": 0.4}
    run = rollout(scene.robot, q, [0, 0, 0, 1, 0, 0] * 2, 400, 2e-3, ground=Ground(friction=3.0), parameters=given)
    way = 1.0 / (2.0 * G * np.array([[0.4, 0.2], [0.6, 0.6]]))
    np.testing.assert_allclose(run.q[:, -1][:, [4, 11]], way, atol=1.5e-3)


def test_contacts_that_are_given_take_them():
    def foot(mu):
        return [Contact("ball", (0, 0, 0), normal=(0, 0, 1), offset=0.1, friction=mu)]

    given = {"q0": [1, 0, 0, 0, 0, 0, 0.1], "qd0": SLIDING, "steps": 100, "h": 2e-3}
    run = rollout(BALL, **given, contacts=foot(0.0), parameters={"friction": [0.0, 0.5]})
    assert run.qd[0, -1, 3] == 1.0
    np.testing.assert_allclose(run.q[1], rollout(BALL, **given, contacts=foot(0.5)).q, rtol=0, atol=1e-12)


MADE = """<mujoco><option timestep="0.002" cone="{cone}"/><worldbody><geom type="plane" size="0 0 1" {floor}/>
<body pos="0 0 0.05"><freejoint/><geom type="box" size=".15 .1 .05" condim="{condim}"/></body></worldbody></mujoco>"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("elliptic", 4), ("elliptic", 1)])
def test_by_a_file_they_are_what_a_floor_with_priority_says(cone, condim):
    mu = [0.3, 0.7]
    known = {"friction": mu} if condim != 4 else {"friction": mu, "spinning": 0.005}
    box = hinge.load(MADE.format(cone=cone, condim=condim, floor=""))
    given = {"q0": LYING, "qd0": [0, 0, 1.0, 1.0, 0, 0], "t": 0.2, "physics": "file"}
    run = simulate(box, parameters=known, **given)
    for k, x in enumerate(mu):
        floor = f'friction="{x} .005 .0001" priority="1" condim="{max(condim, 3)}"'
        alone = simulate(hinge.load(MADE.format(cone=cone, condim=condim, floor=floor)), **given)
        np.testing.assert_allclose(run.q[k], alone.q, rtol=0, atol=1e-12)


def test_a_file_has_them_and_a_varied_robot_goes_with_them(tmp_path):
    robot = BOX.vary("box.mass")
    given = {"friction": MU, "box.mass": [1.0, 2.0, 3.0, 4.0], "box.restitution": 0.0}
    push = lambda t, q, qd: np.array([0, 0, 0, 2.0, 0, 0])
    run = simulate(
        robot, 0.1, LYING, SLIDING, push, ground=0.0, parameters=given, step=2e-3, file=tmp_path / "run.zarr"
    )
    left = 1.0 - 0.1 * (MU * G - 2.0 / np.array(given["box.mass"]))
    np.testing.assert_allclose(run.qd[:, -1, 3], left, atol=2e-6)
    again = hinge.open(tmp_path / "run.zarr")
    assert {name: x.tolist() for name, x in again.parameters.items()} == {
        name: x.tolist() for name, x in run.parameters.items()
    }
    assert again.energy().shape == (4, 51)


def test_other_numbers_are_no_other_kernel():
    robot = hinge.Scene().body("box", "box", (0.3, 0.2, 0.1), mass=2.0).robot
    made = []
    for mu in (0.1, MU[:2], [0.5, 0.0]):
        run = rollout(robot, np.tile(LYING, (2, 1)), SLIDING, 5, 1e-3, ground=0.0, parameters={"friction": mu})
        made.append(run.course.physics)
    assert made[0] == made[1] == made[2]


def test_a_step_takes_them():
    """Speeds of sliding are found to 1e-6 of themselves, so forces to 1e-6 m v / h."""
    step = BOX.contact_step(LYING, SLIDING, np.zeros(6), 1e-2, ground=0.0, parameters={"friction": MU}, backend="llvm")
    np.testing.assert_allclose(step.forces.sum(axis=-2)[:, 0], -MU * 2.0 * G, rtol=0, atol=2e-4)


BAD = {
    "friction below 0": ({"friction": [0.1, -0.2]}, {}, SizeError,
                         "simulate: parameter 'friction'[1] is -0.2; give from 0 up."),
    "restitution beyond 1": ({"restitution": 1.5}, {}, SizeError,
                             "simulate: parameter 'restitution' is 1.5; give from 0 to 1."),
    "lengths": ({"friction": [0.1, 0.2], "restitution": [0.1, 0.2, 0.3]}, {}, SizeError,
                "simulate: parameters: the batches do not fit together: (2,), (3,)."),
    "restitution of the soft law": ({"restitution": 0.5}, {"law": "soft"}, NotCovered,
                                    "parameter 'restitution': the soft law knows no restitution. Use law='rigid'."),
    "no contacts": ({"friction": 0.5}, {"ground": None}, SizeError,
                    "parameter 'friction' is of contacts, and there are none. Give ground= or contacts=."),
    "no such link": ({"bax.friction": 0.5}, {}, UnknownName,
                     "simulate: parameter 'bax.friction' is not varied. There are none. robot.vary(…) names what is."),
    "a link that touches nothing": ({"world.friction": 0.5}, {}, UnknownName,
                                    "parameter 'world.friction': link 'world' can touch nothing."
                                    " Known: 'box', 'ground'."),
}  # fmt: skip


@pytest.mark.parametrize(
    ("friction", "rows"),
    [((0, 0, 0, 0, 0), 1), ((1, 0, 0, 0, 0), 3), ((0, 1, 0, 0, 0), 3), ((1, 1, 0.1, 0, 0), 4), ((0, 0, 0.1, 0, 0), 4),
     ((1, 1, 0.1, 0.1, 0), 6), ((1, 1, 0.1, 0, 0.1), 6)],
)  # fmt: skip
def test_a_contact_has_the_rows_of_the_last_friction_that_is_not_zero(friction, rows):
    assert rows_of(friction) == rows


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused_by_name(name):
    given, more, error, words = BAD[name]
    with pytest.raises(error) as raised:
        simulate(BOX, 0.1, LYING, parameters=given, **{"ground": 0.0} | more)
    assert str(raised.value) == words

"""Long robots: nothing recurses, and the algorithms stay accurate.

A chain of ten thousand links is loaded from text and from a Builder. How long that takes is printed (pytest -s) and
not judged here.
"""

import sys
import time

import numpy as np
import pytest

import hinge

LINKS = 10_000
pytestmark = pytest.mark.sweep  # of lengths: the laws have shorter ones
ROD = '<inertial><origin xyz="0 0 0.05"/><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def long_text(n):
    lines = ['<robot name="long">', '<link name="link0"/>']
    for k in range(1, n):
        lines.append(f'<link name="link{k}">{ROD}</link>')
        lines.append(
            f'<joint name="joint{k}" type="continuous"><parent link="link{k - 1}"/><child link="link{k}"/>'
            '<origin xyz="0 0 0.1" rpy="0 0 0.3"/><axis xyz="1 0 0"/></joint>'
        )
    return "\n".join([*lines, "</robot>"])


def long_builder(n):
    c, s = np.cos(0.3), np.sin(0.3)
    turn, inertia = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], np.eye(3)
    builder = hinge.Builder("long")
    builder.link("link0")
    for k in range(1, n):
        builder.link(f"link{k}", 0.5, (0, 0, 0.05), inertia)
        builder.joint(f"joint{k}", "continuous", f"link{k - 1}", f"link{k}", (0, 0, 0.1), turn, axis=(1, 0, 0))
    return hinge.Robot(builder.build())


WAYS = {"text": lambda: hinge.load(long_text(LINKS)), "builder": lambda: long_builder(LINKS)}


@pytest.fixture(scope="module")
def long():
    """The chain made both ways, by way; the seconds each took are printed."""
    made = {}
    for way, make in WAYS.items():
        begun = time.perf_counter()
        made[way] = make()
        print(f"\n{LINKS} links from {way}: {time.perf_counter() - begun:.1f} s")
    return made


@pytest.mark.timeout(60)
@pytest.mark.parametrize("way", WAYS)
def test_a_chain_of_ten_thousand_links_is_loaded(long, way):
    assert 2 * sys.getrecursionlimit() < LINKS
    robot = long[way]
    assert (robot.nq, robot.nv, len(robot.body_names)) == (LINKS - 1,) * 3
    assert robot.joint_names[-1] == f"joint{LINKS - 1}"
    assert robot.coordinates("joint7000") == (slice(6999, 7000), slice(6999, 7000))
    assert robot.mass == pytest.approx(0.5 * (LINKS - 1))
    assert list(robot.report) == []


@pytest.mark.timeout(60)
def test_the_two_ways_to_make_a_long_chain_give_the_same_robot(long):
    text, built = (long[way].model for way in WAYS)
    assert text.parent == built.parent == tuple(range(-1, LINKS - 1))
    assert text.joint_name == built.joint_name
    for k in (1, 2, LINKS // 2, LINKS - 1):
        assert [list(x) for x in text.placement[k].pose()] == [list(x) for x in built.placement[k].pose()]
        assert list(text.inertia[k].I) == pytest.approx(list(built.inertia[k].I), rel=1e-15)


@pytest.mark.timeout(60)
def test_a_long_chain_is_refused_as_a_cycle_when_it_closes():
    text = long_text(LINKS).replace(
        "</robot>",
        f'<joint name="closing" type="fixed"><parent link="link{LINKS - 1}"/><child link="link0"/></joint></robot>',
    )
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(text)
    assert str(caught.value) == (
        "line 4: joints 'joint1', 'joint2', 'joint3', 'joint4', 'joint5', 'joint6', … lead back to where they start.\n"
        "  A robot is a tree; remove one joint of the cycle and close the loop separately."
    )


@pytest.mark.timeout(120)
def test_forward_dynamics_undoes_inverse_dynamics_on_a_chain_of_five_hundred():
    rng = np.random.default_rng(0)
    robot = hinge.samples.chain(rng, 500)
    q, qd = robot.random_state(rng, 2)
    qdd = rng.normal(size=(2, robot.nv))
    tau = robot.inverse_dynamics(q, qd, qdd, backend="interpret")
    back = robot.forward_dynamics(q, qd, tau, backend="interpret")
    assert np.abs(back - qdd).max() <= 1e-6 * np.abs(qdd).max()

"""What is said of a method that does not exist, or does not cover a robot."""

import numpy as np
import pytest

import hinge
from hinge import Builder, NotCovered, UnknownName
from hinge.dynamics.registry import ranked

OLD = ("uicker_kahn_direct", "uicker_kahn", "hollerbach", "hollerbach_4x4", "gibbs_appell", "silver")


def refused(kind, do, *args, **options):
    with pytest.raises(kind) as caught:
        do(*args, **options, backend="interpret")
    assert type(caught.value) is kind
    return str(caught.value)


def jointed(kind):
    """A robot called 'odd': a hinge, and beyond it a joint of that kind."""
    builder = Builder("odd")
    for name in ("base", "upper", "lower"):
        builder.link(name, 1.0, (0.1, 0.0, 0.0), np.eye(3))
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, 0, 1))
    builder.joint("elbow", kind, "upper", "lower")
    return hinge.Robot(builder.build())


def zeros(robot):
    return robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("inverse_dynamics", "hollerbak", "hollerbach"),
        ("inverse_dynamics", "gibbs_apell", "gibbs_appell"),
        ("inverse_dynamics", "uicker_khan", "uicker_kahn"),
        ("coriolis_coefficients", "strobing", "strobe"),
    ],
)
def test_an_unknown_method_is_answered_with_what_may_be_meant(name, given, meant):
    arm = hinge.samples.planar_2r()
    motion = [[0.0, 0.0]] * (3 if name == "inverse_dynamics" else 1)
    message = refused(UnknownName, getattr(arm, name), *motion, method=given)
    assert message.startswith(f"{name} has no method {given!r}. Did you mean {meant!r}")


def hint(robot):
    others = [m for m, a in ranked("inverse_dynamics").items() if not a.refuses(robot.model)]
    assert "newton_euler" in others
    return f"Use {', '.join(map(repr, others))}."


@pytest.mark.parametrize("method", OLD)
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("spherical", "is spherical, with 3 freedoms"),
        ("cylindrical", "is cylindrical, with 2 freedoms"),
        ("free", "is free, with 6 freedoms"),
    ],
)
def test_a_method_that_does_not_cover_a_joint_names_it_and_the_methods_that_do(method, kind, why):
    robot = jointed(kind)
    assert refused(NotCovered, robot.inverse_dynamics, *zeros(robot), method=method) == (
        f"inverse_dynamics: method {method!r} does not cover robot 'odd': joint 'elbow' {why}.\n  {hint(robot)}"
    )


def test_lagranges_equation_wants_velocities_that_are_rates():
    robot = jointed("spherical")
    message = refused(NotCovered, robot.inverse_dynamics, *zeros(robot), method="euler_lagrange")
    assert message.startswith(
        "inverse_dynamics: method 'euler_lagrange' does not cover robot 'odd': joint 'elbow' is spherical, and its "
        "velocities are not rates of coordinates.\n  Use 'newton_euler'"
    )
    assert refused(NotCovered, robot.coriolis_coefficients, robot.neutral()) == (
        "coriolis_coefficients: nothing covers robot 'odd': joint 'elbow' is spherical, and its velocities are not "
        "rates of coordinates.\n  No method does."
    )
    cylinder = jointed("cylindrical")
    assert cylinder.inverse_dynamics(*zeros(cylinder), method="euler_lagrange", backend="interpret").shape == (3,)


@pytest.mark.parametrize("method", [*OLD, "euler_lagrange"])
def test_a_driven_joint_is_named(method):
    arm = hinge.samples.planar_2r().prescribe("elbow")
    given = [[0.0]] * 3
    message = refused(NotCovered, arm.inverse_dynamics, *given, prescribed=([0.1],), method=method)
    where = f"inverse_dynamics: method {method!r} does not cover robot 'planar_2r': joint 'elbow' is driven."
    assert message.splitlines()[0] == where
    assert "'newton_euler'" in message.splitlines()[1]


def test_a_body_without_a_centre_of_mass_is_named():
    builder = Builder("ghost")
    for name, mass, com in (("base", 1.0, 0.0), ("real", 1.0, 0.1), ("anti", -1.0, 0.4)):
        builder.link(name, mass, (com, 0.0, 0.0), np.eye(3))
    builder.joint("shoulder", "revolute", "base", "real", axis=(0, 0, 1))
    builder.joint("weld", "fixed", "real", "anti")
    robot = hinge.Robot(builder.build())
    message = refused(NotCovered, robot.inverse_dynamics, *zeros(robot), method="silver")
    assert message.splitlines()[0] == (
        "inverse_dynamics: method 'silver' does not cover robot 'ghost': the masses of body 'real' add up to nothing, "
        "so that it has no centre of mass."
    )


def test_forces_of_a_driven_joint_have_no_parts():
    arm = hinge.samples.planar_2r().prescribe("elbow")
    assert refused(NotCovered, arm.force_parts, [0.0], [0.0], [0.0], prescribed=([0.1],)) == (
        "force_parts: nothing covers robot 'planar_2r': joint 'elbow' is driven.\n  No method does."
    )


@pytest.mark.parametrize("method", ["uicker_kahn", "gibbs_appell", "euler_lagrange"])
def test_an_input_that_a_method_does_not_take_is_answered_with_those_that_do(method):
    arm = hinge.samples.planar_2r()
    base = np.zeros(6), np.zeros(6)
    message = refused(UnknownName, arm.inverse_dynamics, *zeros(arm), base_motion=base, method=method)
    first, second = message.splitlines()
    assert first == f"inverse_dynamics: method {method!r} does not take 'base_motion'."
    assert second.startswith("  Methods that do: 'newton_euler', 'turney', 'hollerbach', 'hollerbach_4x4', 'silver'")


def test_a_method_for_chains_says_where_a_robot_branches():
    from hinge.formulations.links import refuses_trees

    tree = hinge.samples.random_tree(np.random.default_rng(1), 5, ("revolute",)).model
    assert refuses_trees(tree) == "it branches at 'world', into joints 'joint1' and 'joint2'"
    assert refuses_trees(hinge.samples.puma560().model) == ""
    fork = jointed("spherical").model
    assert refuses_trees(fork) == "joint 'elbow' is spherical, with 3 freedoms"

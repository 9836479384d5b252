"""What a call on a robot refuses, each message whole."""

import numpy as np
import pytest

import hinge
from hinge import Builder, ModelError, NotCovered, SizeError, TraceError, UnknownName
from hinge.dynamics import ALGORITHMS
from hinge.graph import Graph, less, sin
from hinge.spatial import Force, Motion, RigidInertia, Transform, dot

ZERO = np.zeros(6)
NAMES = "'base', 'link1', 'link2', 'link3', 'link4', 'link5', 'link6', 'tool'"


@pytest.fixture(scope="module")
def arm():
    """A six-joint arm called 'puma560'; its native kernels are made, so that later calls take the shortest way."""
    robot = hinge.samples.puma560()
    for state in (ZERO, np.zeros((4, 6))):
        for backend in (None, "llvm"):
            robot.inverse_dynamics(state, state, state, backend=backend)
    return robot


def refused(kind, do, *args, **options):
    with pytest.raises(kind) as caught:
        do(*args, **options)
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.fixture(params=["interpret", "llvm", None], ids=["interpret", "llvm", "default"])
def inverse(request, arm):
    """Inverse dynamics on one back end; the default one is also the one with the shortest way."""
    if request.param is None:
        return arm.inverse_dynamics
    return lambda *args, **options: arm.inverse_dynamics(*args, **options, backend=request.param)


# ---- sizes

SIZES = [
    # position, array, what it had, what the robot has
    (0, np.zeros(7), "q has 7 entries", "nq = 6"),
    (1, np.zeros(5), "qd has 5 entries", "nv = 6"),
    (2, np.zeros(0), "qdd has 0 entries", "nv = 6"),
    (1, [1.0, 2.0], "qd has 2 entries", "nv = 6"),
    (1, np.zeros((6, 5)), "qd has 5 entries", "nv = 6"),
    (0, np.zeros((6, 1)), "q has 1 entries", "nq = 6"),
    (0, np.zeros((2, 3, 7)), "q has 7 entries", "nq = 6"),
    (0, 0.0, "q has shape ()", "nq = 6"),
    (2, np.float64(1), "qdd has shape ()", "nv = 6"),
    (1, np.zeros(5, np.float32), "qd has 5 entries", "nv = 6"),
]


@pytest.mark.parametrize(("k", "array", "had", "has"), SIZES)
def test_an_array_of_the_wrong_size_is_refused(inverse, k, array, had, has):
    given = [ZERO, ZERO, ZERO]
    given[k] = array
    assert refused(SizeError, inverse, *given) == f"inverse_dynamics: {had}, robot 'puma560' has {has}."


@pytest.mark.parametrize(
    "array",
    [
        np.full(6, None), np.ones(6, object), ZERO + 0j, ["a"] * 6, "abcdef", [[1.0, 2.0], [3.0]], None,
        np.zeros(6, "datetime64[s]"), {"joint1": 1.0},
    ],
    ids=["None", "objects", "complex", "strings", "text", "ragged", "nothing", "dates", "dict"],
)  # fmt: skip
@pytest.mark.parametrize("k", [0, 2])
def test_what_is_not_real_numbers_is_refused(inverse, k, array):
    given = [ZERO, ZERO, ZERO]
    given[k] = array
    name = ("q", "qd", "qdd")[k]
    assert refused(SizeError, inverse, *given) == f"inverse_dynamics: {name} is not an array of real numbers."


@pytest.mark.parametrize(("k", "array", "had", "has"), SIZES)
def test_an_array_of_the_wrong_size_is_refused_in_a_batch(inverse, k, array, had, has):
    given = [np.zeros((4, 6))] * 3
    given[k] = array
    assert refused(SizeError, inverse, *given) == f"inverse_dynamics: {had}, robot 'puma560' has {has}."


def test_batches_that_do_not_broadcast_are_refused(inverse):
    four = np.zeros((4, 6))
    message = refused(SizeError, inverse, four, four, np.zeros((5, 6)))
    assert message == "inverse_dynamics: the batches do not fit together: q (4,), qd (4,), qdd (5,)."
    message = refused(SizeError, inverse, np.zeros((2, 6)), np.zeros((4, 3, 6)), ZERO)
    assert message == "inverse_dynamics: the batches do not fit together: q (2,), qd (4, 3), qdd ()."


def frozen():
    out = np.zeros(6)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "had"),
    [
        (np.zeros(5), "float64 (5,)"), (np.zeros((1, 6)), "float64 (1, 6)"), (np.zeros((6, 1)), "float64 (6, 1)"),
        (np.zeros(6, int), "int64 (6,)"), (np.zeros(6, complex), "complex128 (6,)"), ([0.0] * 6, "list"),
        (frozen(), "float64 (6,)"),
    ],
)  # fmt: skip
def test_an_out_that_cannot_hold_the_result_is_refused(inverse, out, had):
    message = refused(SizeError, inverse, ZERO, ZERO, ZERO, out=out)
    assert message == f"inverse_dynamics: out is {had}; it has to be a writable array of floats with shape (6,)."


def test_an_out_for_a_batch_has_the_shape_of_the_batch(inverse):
    message = refused(SizeError, inverse, np.zeros((3, 6)), ZERO, ZERO, out=np.zeros(6))
    shape = "it has to be a writable array of floats with shape (3, 6)"
    assert message == f"inverse_dynamics: out is float64 (6,); {shape}."


def test_a_kernel_takes_an_array_for_each_input(arm):
    kernel = arm.kernel("mass_matrix", backend="interpret")
    assert refused(SizeError, kernel, ZERO, ZERO) == "mass_matrix takes q; 2 arrays were given."
    assert refused(SizeError, arm.kernel("bias_force", backend="interpret"), ZERO) == (
        "bias_force takes q, qd; 1 arrays were given."
    )
    message = refused(UnknownName, arm.kernel, "mass_matrix", given=["external"])
    assert message == "mass_matrix has no optional input 'external'. There are none."


# ---- names

UNKNOWN = [
    # what is asked for, and the answer
    (lambda r: r.inverse_dynamics(ZERO, ZERO, ZERO, method="newton"),
     "inverse_dynamics has no method 'newton'. Did you mean 'newton_euler'?"),
    (lambda r: r.forward_dynamics(ZERO, ZERO, ZERO, method="gauss"),
     "forward_dynamics has no method 'gauss'. Known: 'articulated', 'articulated_base', 'articulated_static', "
     "'composite', 'composite_llt', 'composite_turney', 'conjugate_gradient', 'loops', …."),
    (lambda r: r.inverse_dynamics(ZERO, ZERO, ZERO, backend="lvm"),
     "there is no back end 'lvm'. Did you mean 'llvm'?"),
    (lambda r: r.inverse_dynamics(ZERO, ZERO, ZERO, backend="vulkan"),
     "there is no back end 'vulkan'. Known: 'cuda', 'interpret', 'llvm'."),
    (lambda r: r.kernel("inverse_dynamic"),
     "there is no algorithm 'inverse_dynamic'. Did you mean 'inverse_dynamics' or 'floating_inverse_dynamics' or "
     "'inverse_dynamics_derivatives'?"),
    (lambda r: r.cost("masss_matrix"),
     "there is no algorithm 'masss_matrix'. Did you mean 'mass_matrix' or 'inverse_mass_matrix'?"),
    (lambda r: r.source("mass_matrix", "lvm"), "there is no source in 'lvm'. Did you mean 'llvm'?"),
    (lambda r: r.kernel("jacobian", frames="body"), "jacobian has no option 'frames'. Did you mean 'frame'?"),
    (lambda r: r.cost("mass_matrix", frame="body"), "mass_matrix has no option 'frame'. There are none."),
    (lambda r: r.jacobian(ZERO, "tool", frame="bodi"), "jacobian: frame='bodi' is not known. Did you mean 'body'?"),
    (lambda r: r.velocity(ZERO, ZERO, "tool", frame="world"),
     "velocity: frame='world' is not known. Known: 'aligned', 'base', 'body'."),
    (lambda r: r.acceleration(ZERO, ZERO, ZERO, "tool", kind="classic"),
     "acceleration: kind='classic' is not known. Did you mean 'classical'?"),
    (lambda r: r.momentum(ZERO, ZERO, about="center"), "momentum: about='center' is not known. Known: 'base', 'com'."),
    (lambda r: r.pose(ZERO, "tol"), "robot 'puma560' has no body or frame 'tol'. Did you mean 'tool'?"),
    (lambda r: r.pose(ZERO, "TOOL"), "robot 'puma560' has no body or frame 'TOOL'. Did you mean 'tool'?"),
    (lambda r: r.jacobian(ZERO, "wrist"), f"robot 'puma560' has no body or frame 'wrist'. Known: {NAMES}."),
    (lambda r: r.pose(ZERO, "joint2"),
     f"robot 'puma560' has no body or frame 'joint2'. Known: {NAMES}."),  # joints have names of their own
    (lambda r: r.coordinates("jont2"), "robot 'puma560' has no moving joint 'jont2'. "
     "Did you mean 'joint2' or 'joint6' or 'joint5'?"),
    (lambda r: r.coordinates("link2"), "robot 'puma560' has no moving joint 'link2'. "
     "Known: 'joint1', 'joint2', 'joint3', 'joint4', 'joint5', 'joint6'."),
    (lambda r: r.inverse_dynamics(ZERO, ZERO, ZERO, external={"lnk2": ZERO}),
     "robot 'puma560' has no body or frame 'lnk2'. Did you mean 'link2' or 'link6' or 'link5'?"),
    (lambda r: r.forward_dynamics(ZERO, ZERO, ZERO, external={"tool": ZERO}, external_frame="bodi"),
     "external_frame='bodi' is not known. Did you mean 'body'?"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "message"), UNKNOWN)
def test_an_unknown_name_is_refused_and_the_nearest_is_offered(arm, ask, message):
    assert refused(UnknownName, ask, arm) == message


@pytest.mark.parametrize(
    ("wrench", "shape"), [(np.zeros(5), "(5,)"), (1.0, "()"), (np.zeros((6, 1)), "(6, 1)"), ([[0.0] * 3] * 2, "(2, 3)")]
)
def test_an_external_force_has_six_entries(inverse, wrench, shape):
    message = refused(SizeError, inverse, ZERO, ZERO, ZERO, external={"tool": wrench})
    assert message == f"external['tool'] has shape {shape}; a spatial force has 6 entries, couple first."


@pytest.mark.parametrize("rng", [-1, 2.0, "0", None, np.random])
def test_random_states_take_a_seed_or_a_generator(arm, rng):
    wanted = f"random_state: rng={rng!r} is not known. Give a whole number, 0 or more, or a generator of numpy.random."
    assert refused(SizeError, arm.random_state, rng, 2) == wanted
    for one, other in zip(arm.random_state(3, 2), arm.random_state(np.random.default_rng(3), 2), strict=True):
        assert np.array_equal(one, other)


def test_external_forces_for_another_batch_are_refused(inverse):
    message = refused(SizeError, inverse, np.zeros((2, 6)), ZERO, ZERO, external={"tool": np.zeros((3, 6))})
    assert message == "inverse_dynamics: the batches do not fit together: q (2,), qd (), qdd (), external (3,)."


def test_a_call_that_takes_no_external_forces_says_so_as_python_does(arm):
    message = refused(TypeError, arm.mass_matrix, ZERO, external={"tool": ZERO})
    assert message == "Robot.mass_matrix() got an unexpected keyword argument 'external'"


# ---- robots that a method does not cover


def weightless():
    """An arm whose last joint, 'flap', moves nothing that has inertia."""
    builder = Builder("arm")
    builder.link("base")
    builder.link("rod", 1.0, (0, 0, 1), np.eye(3))
    builder.link("leaf")
    builder.joint("elbow", "revolute", "base", "rod", axis=(0, 1, 0))
    builder.joint("flap", "revolute", "rod", "leaf", (0, 0, 1), axis=(0, 1, 0))
    return builder


OPEN = [name for name, one in ALGORITHMS["forward_dynamics"].items() if not one.closes]  # methods for open trees


@pytest.mark.parametrize("method", [*OPEN, None])
def test_a_robot_that_can_never_be_solved_is_refused_by_joint_name(method):
    robot, two = hinge.Robot(weightless().build()), np.zeros(2)
    why = (
        "joint 'flap' moves nothing that has inertia, so no acceleration follows from its force.\n"
        "  Give the body a mass or the joint an armature, or lock the joint."
    )
    assert refused(NotCovered, robot.forward_dynamics, two, two, two, method=method, backend="interpret") == why
    assert refused(NotCovered, robot.inverse_mass_matrix, two, backend="interpret") == why
    assert robot.inverse_dynamics(two, two, two, backend="interpret").tolist() == [0.0, 0.0]


def gripper():
    """Two fingers, the right one following the left."""
    builder = Builder("gripper")
    builder.link("base")
    for side, mimic in (("left", None), ("right", ("left_joint", -1.0, 0.0))):
        builder.link(side, 1.0, inertia=np.eye(3))
        builder.joint(f"{side}_joint", "prismatic", "base", side, mimic=mimic)
    return hinge.Robot(builder.build())


def test_a_method_that_does_not_cover_a_robot_says_why_and_which_does():
    robot = hinge.samples.planar_2r().prescribe("shoulder")
    why = "coriolis_matrix: nothing covers robot 'planar_2r': joint 'shoulder' is driven.\n  No method does."
    assert refused(NotCovered, robot.cost, "coriolis_matrix") == why


def ball_on_a_slide():
    builder = Builder("toy")
    builder.link("base")
    for name, kind in (("rod", "prismatic"), ("ball", "spherical")):
        builder.link(name, 1.0, inertia=np.eye(3))
        builder.joint(f"{name}_joint", kind, "base" if name == "rod" else "rod", name)
    return hinge.Robot(builder.build())


def test_a_method_that_does_not_cover_a_joint_names_it_and_the_methods_that_do():
    robot = ball_on_a_slide()
    assert refused(NotCovered, robot.cost, "forward_dynamics", method="nasser") == (
        "forward_dynamics: method 'nasser' does not cover robot 'toy': joint 'ball_joint' is spherical, with 3 "
        "freedoms.\n  Use 'articulated', 'composite', 'articulated_base', 'articulated_static', 'composite_llt', "
        "'composite_turney', 'conjugate_gradient', 'strobe'."
    )
    message = refused(NotCovered, robot.cost, "inverse_dynamics", method="luh")
    assert message.startswith(
        "inverse_dynamics: method 'luh' does not cover robot 'toy': joint 'ball_joint' is spherical, with 3 "
        "freedoms.\n  Use 'newton_euler', "
    )
    assert "'turney'" in message


@pytest.mark.parametrize("name", ["mass_matrix", "forward_dynamics"])
def test_a_driven_joint_cannot_be_strobed(name):
    robot = hinge.samples.planar_2r().prescribe("shoulder")
    message = refused(NotCovered, robot.cost, name, method="strobe")
    why = f"{name}: method 'strobe' does not cover robot 'planar_2r': joint 'shoulder' is driven.\n"
    assert message.startswith(why)
    assert "'composite'" in message


def test_coupled_joints_are_solved_by_every_method():
    robot = gripper()
    for method in (None, "articulated", "composite"):
        made = robot.forward_dynamics([0.0], [0.0], [1.0], backend="interpret", method=method)
        assert made.tolist() == [0.5]  # 1 N on 2 kg


# ---- traced values


def test_a_traced_value_has_no_truth_and_is_no_number():
    x, y = Graph().input("q", 0), Graph().input("q", 1)
    instead = "Write select(less(a, b), this, that) instead of an if."
    for value, shown in ((x, "q[0]"), (less(sin(x) * x, 1.0), "q[0] * sin(q[0]) < 1")):
        message = refused(TraceError, lambda value=value: 1 if value else 2)
        assert message == f"the traced value {shown} has no truth value: its number is not known yet.\n  {instead}"
    known = "is not a number: it is known only when the kernel runs."
    assert refused(TraceError, float, y) == f"the traced value q[1] {known}"
    assert refused(TraceError, np.array, [x + 1.0], float) == f"the traced value q[0] + 1 {known}"


DUAL = "they are dual to each other.\n  An inertia takes a motion to a force; dot(motion, force) is their power."


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        (lambda: Motion() + Force(), f"cannot add a motion and a force: {DUAL}"),
        (lambda: Force() - Motion(), f"cannot subtract a force and a motion: {DUAL}"),
        (lambda: dot(Force(), Force()), "dot takes a motion and a force, not a Force and a Force."),
        (lambda: RigidInertia() @ Force(), "an inertia takes a motion to a force; it was given a Force."),
        (lambda: Transform() @ Force(), "a transform takes motions to the child; a Force goes back with X.T @ f."),
    ],
)
def test_motions_and_forces_do_not_mix(mix, message):
    assert refused(TraceError, mix) == message


def test_every_refusal_is_a_hinge_error_and_an_error_python_knows():
    assert {kind: kind.__bases__ for kind in (ModelError, SizeError, UnknownName, NotCovered, TraceError)} == {
        ModelError: (hinge.HingeError, ValueError),
        SizeError: (hinge.HingeError, ValueError),
        UnknownName: (hinge.HingeError, KeyError),
        NotCovered: (hinge.HingeError, ValueError),
        TraceError: (hinge.HingeError, TypeError),
    }


def test_a_part_of_a_name_finds_it():
    known = ["panda_hand_tcp", "panda_hand", *(f"panda_link{k}" for k in range(9))]
    assert hinge.errors.did_you_mean("hand", known) == "Did you mean 'panda_hand' or 'panda_hand_tcp'?"
    assert hinge.errors.did_you_mean("wrist", known).startswith("Known: ")

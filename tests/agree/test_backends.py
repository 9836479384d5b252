"""Machine code against the plain interpreter: ten robots, every algorithm and method with every value of its options.

On the humanoids, whose programs are long, only the algorithms that are used most are compiled, in their usual form.
"""

import functools
import itertools

import numpy as np
import pytest
from real_robots import FILES
from sweeps import swept

import hinge
from hinge.dynamics.registry import FORCE, PLACE, POSITION
from hinge.dynamics.resolved_motion import TWIST
from hinge.robot import ALGORITHMS

URDF = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),  # a finger follows the other
    "Solo": ("solo_description/robots/solo.urdf", "floating"),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "fixed"),
    "Talos": ("talos_data/robots/talos_reduced.urdf", "fixed"),
    "iCub": ("icub_description/robots/icub_reduced.urdf", "floating"),
}
COMMON = ("revolute", "continuous", "prismatic", "helical", "cylindrical", "spherical", "free")
UNCOMMON = tuple(kind for kind, joint in hinge.model.JOINTS.items() if joint.nv and kind not in COMMON)
SAMPLES = {
    "chain": lambda: hinge.samples.chain(np.random.default_rng(1), 7),
    "tree": lambda: hinge.samples.random_tree(np.random.default_rng(116), 7, COMMON),  # with each of them
    "mechanism": lambda: hinge.samples.random_tree(np.random.default_rng(2), 5, UNCOMMON),
    "Puma 560": hinge.samples.puma560,
    "planar arm": hinge.samples.planar_2r,
}
USED_MOST = {"inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "integrate"}
HUMANOIDS = {
    "mechanism": USED_MOST,
    "G1": USED_MOST | {"coriolis_matrix", "inverse_mass_matrix"},
    "Talos": USED_MOST,
    "iCub": USED_MOST,
}
LONG = {"uicker_kahn_direct", "strobe"}  # programs that grow with a power of the links: on small arms only
SMALL = {"Puma 560", "planar arm", "tree"}
STATES = 17
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, STATES)


@functools.cache
def robot_named(name):
    return SAMPLES[name]() if name in SAMPLES else hinge.load(FILES[URDF[name][0]], base=URDF[name][1])


def farthest(robot):
    """The name of a body with the longest path to the base."""
    steps = [0]
    for _, p in robot.model.outward():
        steps.append(steps[p] + 1)
    return robot.body_names[int(np.argmax(steps)) - 1]


def cases():
    for robot in [*SAMPLES, *(name for name, (file, _) in URDF.items() if file in FILES)]:
        for name in sorted(HUMANOIDS.get(robot, ALGORITHMS)):
            forms = [
                (robot, name, method, dict(zip(algorithm.options, values, strict=True)))
                for method, algorithm in ALGORITHMS[name].items()
                for values in itertools.product(*algorithm.options.values())
                if len(algorithm.returns) == 1 and not algorithm.refuses(robot_named(robot).model)
                if method not in LONG or robot in SMALL
                if not name.startswith("resolved") or values[0] == "pose"  # the others take rows of the same away
            ]
            yield from forms[:1] if robot in HUMANOIDS else forms


class Case:
    """One algorithm of one robot with its options, and arguments for a few states."""

    def __init__(self, robot, name, method, options):
        self.robot, self.name, self.method, self.options = robot_named(robot), name, method, options
        self.algorithm = ALGORITHMS[name][method]
        self.given = self._arguments()

    def _arguments(self):
        rng, given = np.random.default_rng(3), []
        for quantity in self.algorithm.inputs.values():
            q, qd = self.robot.random_state(rng, STATES)
            if quantity is PLACE:
                given.append(farthest(self.robot))
            elif quantity.absent is None:
                other = rng.normal(size=(STATES, 6)) if quantity is TWIST else qd
                given.append(q if quantity is POSITION else 10 * qd if quantity is FORCE else other)
        return given

    def run(self, given, backend="llvm"):
        call = getattr(self.robot, self.name)
        made = call(*given, backend=backend, method=self.method, **self.options)
        return np.concatenate(made, axis=-1) if isinstance(made, tuple) else made  # derivatives, side by side

    def rows(self, which, given=None):
        return [x if isinstance(x, str) else x[which] for x in given or self.given]

    def spoilt(self, value, row):
        """The arguments with all numbers of one state replaced."""
        given = [x if isinstance(x, str) else x.copy() for x in self.given]
        for x in given:
            if not isinstance(x, str):
                x[row] = value
        return given


CASES = list(cases())


FIRST = {case[:3]: case[3] for case in reversed(CASES)}
FEW = {"tree", "mechanism", "planar arm", "Panda", "G1"}  # every kind of joint, every method, two real robots


def quick(case):
    """Whether the robot of a case is one of the few, and its options the first ones of its method."""
    return case[0] in FEW and FIRST[case[:3]] == case[3]


def named(case):
    robot, name, method, options = case
    return "-".join((robot, name, method, *options.values()))


@pytest.fixture(scope="module", params=swept(CASES, quick), ids=named)
def case(request):
    return Case(*request.param)


def same(a, b):
    """Whether two arrays hold the same bits; any NaN is as good as another."""
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a) | np.isnan(a), np.signbit(b) | np.isnan(b)
    )


@pytest.mark.sampled(20)
def test_machine_code_gives_the_bits_of_the_interpreter(case):
    ours, plain = case.run(case.given), case.run(case.given, backend="interpret")
    assert ours.shape == plain.shape == (STATES, *case.algorithm.result.shape(case.robot.model))
    assert np.all(np.isfinite(plain))
    assert same(ours, plain)


@pytest.mark.sampled(20)
def test_one_state_equals_its_row_in_any_batch(case):
    whole = case.run(case.given)
    for n in SIZES:
        assert same(case.run(case.rows(slice(n))), whole[:n])
        assert same(case.run(case.rows(slice(STATES - n, None))), whole[STATES - n :])  # in other lanes
    for k in range(STATES):
        assert same(case.run(case.rows(k)), whole[k])


@pytest.mark.sampled(25)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_row(case, value):
    whole, row = case.run(case.given), 6
    given = case.spoilt(value, row)
    ours = case.run(given)
    others = np.arange(STATES) != row
    assert same(ours[others], whole[others])
    constant = all(same(one, whole[0]) for one in whole)  # the inertia of a last body, seen from itself
    assert constant or not np.all(np.isfinite(ours[row]))
    assert same(ours[row], case.run(case.rows(row, given), backend="interpret"))


def quaternions(robot):
    return [s.start for s, joint in zip((a for a, _ in robot.model.slices), robot.model.joint, strict=True)
            if joint.kind in ("free", "spherical")]  # fmt: skip


def placed(case):
    """The cases that take the coordinates of a free or ball joint."""
    robot, name, method, _ = case
    return bool(quaternions(robot_named(robot))) and POSITION in ALGORITHMS[name][method].inputs.values()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", swept(list(filter(placed, CASES)), quick), ids=named, indirect=True)
def test_a_zero_quaternion_spoils_its_own_row_only(case):
    for at in quaternions(case.robot):
        whole, row = case.run(case.given), 3
        given = [x if isinstance(x, str) else x.copy() for x in case.given]
        spoilt = [x for x, of in zip(given, case.algorithm.inputs.values(), strict=False) if of is POSITION]
        assert spoilt
        for q in spoilt:
            q[row, at : at + 4] = 0.0
        ours = case.run(given)
        others = np.arange(STATES) != row
        assert same(ours[others], whole[others])
        assert same(ours[row], case.run(case.rows(row, given), backend="interpret"))


def test_a_zero_quaternion_gives_a_whole_row_of_nan():
    robot = robot_named("tree")
    q, qd = robot.random_state(np.random.default_rng(4), 3)
    q[1, quaternions(robot)[0] :][:4] = 0.0
    for made in (robot.mass_matrix(q), robot.inverse_dynamics(q, qd, qd), robot.pose(q, robot.body_names[-1])):
        assert np.all(np.isnan(made[1]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["tree", "Puma 560"])
@pytest.mark.parametrize("call", ["inverse_dynamics", "bias_force", "forward_dynamics"])
def test_external_forces_agree(name, call):
    robot = robot_named(name)
    rng = np.random.default_rng(5)
    q, qd = robot.random_state(rng, 5)
    given = [q, qd, *([qd] if call != "bias_force" else [])]
    pushes = {robot.body_names[-1]: rng.normal(size=(5, 6)), robot.body_names[1]: rng.normal(size=6)}
    for frame in ("body", "base", "aligned"):
        ours, plain = (getattr(robot, call)(*given, external=pushes, external_frame=frame, backend=backend)
                       for backend in ("llvm", "interpret"))  # fmt: skip
        assert same(ours, plain)
        alone = getattr(robot, call)(*given)
        assert np.max(np.abs(ours - alone)) > 1e-3


def test_the_tree_has_every_kind_of_joint():
    kinds = {joint.kind for joint in robot_named("tree").model.joint}
    assert kinds == {"fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "spherical", "free"}

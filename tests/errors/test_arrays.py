"""What a call takes and gives: any array that holds the numbers, of any layout, gives what a plain one does.

The reference is one state at a time in contiguous float64 on the same back end, and results are equal bit for bit.
"""

import numpy as np
import pytest

import hinge

N = 3
STATES = list(np.random.default_rng(7).normal(size=(3, 2, 5, N)))  # q, qd, qdd


@pytest.fixture(scope="module")
def robot():
    """Three joints; its native kernels are made, so that later calls take the shortest way, alone and in batches."""
    made = hinge.samples.chain(np.random.default_rng(1), N)
    for backend in (None, "llvm"):
        for states in ([s[0, 0] for s in STATES], [s[0] for s in STATES], [s[0].astype(np.float32) for s in STATES]):
            made.inverse_dynamics(*states, backend=backend)
    return made


@pytest.fixture(params=["interpret", "llvm", None], ids=["interpret", "llvm", "default"])
def inverse(request, robot):
    if request.param is None:
        return robot.inverse_dynamics
    return lambda *args, **options: robot.inverse_dynamics(*args, **options, backend=request.param)


@pytest.fixture
def expected(inverse):
    """tau of every state of STATES, one by one."""
    q, qd, qdd = STATES
    return np.array([[inverse(q[i, j], qd[i, j], qdd[i, j]) for j in range(5)] for i in range(2)])


def state(i=0, j=0):
    return [s[i, j].copy() for s in STATES]


def same(a, b):
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    assert a.tobytes() == b.tobytes()


def test_the_back_ends_agree(robot):
    tau = [robot.inverse_dynamics(*STATES, backend=backend) for backend in ("interpret", "llvm")]
    np.testing.assert_allclose(tau[0], tau[1], rtol=1e-12, atol=1e-12)
    assert np.abs(tau[0]).min() > 1e-3  # nothing is equal by being zero


def test_one_state_in_gives_one_state_out(inverse):
    tau = inverse(*state())
    assert (type(tau), tau.shape, tau.dtype, tau.flags.writeable) == (np.ndarray, (N,), np.float64, True)


def test_results_are_new_arrays(inverse):
    first = inverse(*state())
    kept = first.copy()
    inverse(*state(1, 1))
    same(first, kept)


def test_a_view_of_a_large_result_keeps_its_numbers_when_the_result_is_gone(inverse):
    q, qd, qdd = (np.repeat(s[0], 1000, axis=0) for s in STATES)  # long enough for memory that is used again
    views, kept = [], []
    for k in range(6):
        tau = inverse(q + 0.1 * k, qd, qdd)
        views.append(tau[::7, 1:])
        kept.append(views[-1].copy())
        del tau
    for view, copy in zip(views, kept, strict=True):
        same(view.copy(), copy)


def test_inputs_are_left_alone(inverse):
    given = state()
    kept = [g.copy() for g in given]
    inverse(*given)
    for g, k in zip(given, kept, strict=True):
        same(g, k)


def test_leading_axes_are_a_batch_and_each_state_equals_its_row(inverse, expected):
    same(inverse(*STATES), expected)
    same(inverse(*(s.reshape(10, N) for s in STATES)), expected.reshape(10, N))
    same(inverse(*(s.reshape(2, 1, 5, 1, N) for s in STATES)), expected.reshape(2, 1, 5, 1, N))


@pytest.mark.parametrize("count", range(1, 10))
def test_a_state_equals_its_row_in_a_batch_of_any_length(inverse, expected, count):
    same(inverse(*(s.reshape(10, N)[:count] for s in STATES)), expected.reshape(10, N)[:count])


def test_lists_and_tuples_are_read(inverse, expected):
    q, qd, qdd = state()
    same(inverse(q.tolist(), tuple(qd), [np.float64(x) for x in qdd]), expected[0, 0])
    same(inverse(*(s.tolist() for s in STATES)), expected)


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint16, bool, np.float16, np.longdouble])
def test_numbers_of_other_types_are_read_and_give_float64(inverse, dtype):
    ones = np.array([1, 0, 1], dtype)
    same(inverse(ones, ones, ones), inverse(*[ones.astype(float)] * 3))
    same(inverse([1, 0, 1], ones, [True, False, 1.0]), inverse(*[ones.astype(float)] * 3))


def test_float32_everywhere_gives_float32(inverse):
    single = [s.astype(np.float32) for s in STATES]
    tau = inverse(*single)
    assert tau.dtype == np.float32
    np.testing.assert_allclose(tau, inverse(*(s.astype(float) for s in single)), rtol=1e-4, atol=1e-4)
    one = inverse(*(s[0, 0] for s in single))
    assert one.dtype == np.float32
    np.testing.assert_allclose(one, tau[0, 0], rtol=1e-6)


def test_one_float64_or_a_list_among_float32_gives_float64(inverse):
    q, qd, qdd = (s.astype(np.float32) for s in state())
    assert inverse(q, qd, qdd.astype(float)).dtype == np.float64
    assert inverse(q, qd, qdd.tolist()).dtype == np.float64


def unaligned(a):
    shifted = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    shifted[...] = a
    return shifted


def frozen(a):
    a = a.copy()
    a.flags.writeable = False
    return a


class Named(np.ndarray):
    """An array of a user's own class."""


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "byte swapped": lambda a: a.astype(">f8"),
    "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "rows of a wider array": lambda a: np.concatenate([a, a], axis=-1)[..., :N],
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1],
    "transposed": lambda a: np.moveaxis(np.moveaxis(a, -1, 0).copy(), 0, -1),
    "read-only": frozen,
    "unaligned": unaligned,
    "a subclass": lambda a: a.copy().view(Named),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_gives_the_same_for_one_state(inverse, expected, layout):
    given = [LAYOUTS[layout](s) for s in state(1, 2)]
    same(inverse(*given), expected[1, 2])
    mixed = state(1, 2)
    mixed[1] = given[1]
    same(inverse(*mixed), expected[1, 2])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_gives_the_same_for_a_batch(inverse, expected, layout):
    same(inverse(*(LAYOUTS[layout](s) for s in STATES)), expected)
    rows = [s.reshape(10, N) for s in STATES]
    same(inverse(*map(LAYOUTS[layout], rows)), expected.reshape(10, N))
    for k in range(3):
        mixed = list(rows)
        mixed[k] = LAYOUTS[layout](rows[k])
        same(inverse(*mixed), expected.reshape(10, N))


def test_inputs_broadcast_against_each_other(inverse):
    q, qd, qdd = STATES
    one = inverse(q[0, 0], qd[0, 0], qdd)  # one q and one qd for a batch of qdd
    same(one, np.array([[inverse(q[0, 0], qd[0, 0], qdd[i, j]) for j in range(5)] for i in range(2)]))
    grid = inverse(q[0, 0], qd[0], qdd[:, :1])  # (), (5,) and (2, 1)
    same(grid, np.array([[inverse(q[0, 0], qd[0, j], qdd[i, 0]) for j in range(5)] for i in range(2)]))


def test_a_batch_of_one_keeps_its_axis(inverse, expected):
    same(inverse(*(s[:1, 0] for s in STATES)), expected[:1, 0])


def test_single_and_double_precision_in_one_batch_give_double(inverse):
    rows = [s.reshape(10, N) for s in STATES]
    for k in range(3):
        mixed = list(rows)
        mixed[k] = rows[k].astype(np.float32)
        plain = list(rows)
        plain[k] = mixed[k].astype(float)
        same(inverse(*mixed), inverse(*plain))


@pytest.mark.parametrize("batch", [(0,), (0, 4), (2, 0)])
def test_a_batch_of_length_zero_gives_a_batch_of_length_zero(inverse, batch):
    q, qd, _ = state()
    tau = inverse(q, qd, np.zeros((*batch, N)))
    assert (tau.shape, tau.dtype) == ((*batch, N), np.float64)


# ---- out=


def test_out_is_filled_and_returned(inverse, expected):
    out = np.full((2, 5, N), np.nan)
    assert inverse(*STATES, out=out) is out
    same(out, expected)
    one = np.full(N, np.nan)
    assert inverse(*state(), out=one) is one
    same(one, expected[0, 0])


@pytest.mark.parametrize("k", range(3))
def test_out_may_be_an_input(inverse, expected, k):
    given = [s.copy() for s in STATES]
    assert inverse(*given, out=given[k]) is given[k]
    same(given[k], expected)
    given = state(1, 3)
    inverse(*given, out=given[k])
    same(given[k], expected[1, 3])


@pytest.mark.parametrize("shift", [-7, -1, 1, 4])
def test_out_may_overlap_an_input_anywhere(inverse, expected, shift):
    shared = np.zeros(64)
    q, qd, qdd = (s.reshape(10, N) for s in STATES)
    shared[16:46] = qd.ravel()
    given, out = shared[16:46].reshape(10, N), shared[16 + shift : 46 + shift].reshape(10, N)
    inverse(q, given, qdd, out=out)
    same(out, expected.reshape(10, N))


def test_out_may_be_strided_swapped_or_shorter_floats(inverse, expected):
    wide = np.full((2, 5, 2 * N), np.nan)
    inverse(*STATES, out=wide[..., ::2])
    same(wide[..., ::2].copy(), expected)
    assert np.isnan(wide[..., 1::2]).all()
    swapped = np.empty((2, 5, N), ">f8")
    inverse(*STATES, out=swapped)
    same(swapped.astype(float), expected)
    for dtype in (np.float32, np.float16):
        shorter = np.empty(N, dtype)
        assert inverse(*state(), out=shorter) is shorter
        same(shorter, expected[0, 0].astype(dtype))


# ---- outputs of other shapes


@pytest.mark.parametrize("backend", ["interpret", "llvm"])
def test_a_number_a_state_has_shape_nothing(robot, backend):
    q, qd, _ = STATES
    energy = robot.kinetic_energy(q, qd, backend=backend)
    one = robot.kinetic_energy(q[0, 0], qd[0, 0], backend=backend)
    assert (energy.shape, one.shape, one.dtype) == ((2, 5), (), np.float64)
    assert float(one) == energy[0, 0] > 0.0
    assert robot.kinetic_energy(q[:0], qd[:0], backend=backend).shape == (0, 5)
    out = np.zeros(())
    assert robot.kinetic_energy(q[0, 0], qd[0, 0], out=out, backend=backend) is out
    assert out == energy[0, 0]


@pytest.mark.parametrize("backend", ["interpret", "llvm"])
def test_matrices_have_the_last_two_axes(robot, backend):
    q = STATES[0]
    H = robot.mass_matrix(q, backend=backend)
    assert H.shape == (2, 5, N, N)
    same(robot.mass_matrix(q[1, 2], backend=backend), H[1, 2])
    out = np.empty((5, 2, N, N)).swapaxes(0, 1)
    assert robot.mass_matrix(q, out=out, backend=backend) is out
    same(out.copy(order="C"), H)
    assert robot.pose(q, "link3", backend=backend).shape == (2, 5, 4, 4)
    assert robot.jacobian(q.astype(np.float32), "link3", backend=backend).dtype == np.float32


@pytest.mark.parametrize("backend", ["interpret", "llvm"])
def test_a_robot_that_cannot_move_still_answers(backend):
    robot = hinge.load('<robot name="rock"><link name="base"/></robot>')
    assert robot.inverse_dynamics([], [], [], backend=backend).shape == (0,)
    assert robot.mass_matrix(np.zeros((4, 0)), backend=backend).shape == (4, 0, 0)
    assert robot.pose([], "base", backend=backend).tolist() == np.eye(4).tolist()
    assert float(robot.potential_energy([], backend=backend)) == 0.0


@pytest.mark.parametrize("backend", ["interpret", "llvm"])
def test_external_forces_broadcast_and_an_empty_dict_is_none(robot, backend):
    q, qd, qdd = state()
    call = lambda wrench: robot.inverse_dynamics(q, qd, qdd, external={"link3": wrench}, backend=backend)
    many = np.random.default_rng(3).normal(size=(4, 6))
    np.testing.assert_allclose(call(many), [call(w) for w in many], rtol=1e-12)
    same(call(many.tolist()), call(many))
    plain = robot.inverse_dynamics(q, qd, qdd, backend=backend)
    same(robot.inverse_dynamics(q, qd, qdd, external={}, backend=backend), plain)
    assert np.abs(call(many) - plain).min() > 1e-6

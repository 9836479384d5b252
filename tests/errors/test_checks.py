"""check=, return_status= and bind: what they refuse, each message whole, and what they give."""

import numpy as np
import pytest

import hinge
from hinge import Builder, SizeError, Status, UnknownName

N = 3
ZERO = np.zeros(N)


@pytest.fixture(scope="module")
def chain():
    return hinge.samples.chain(np.random.default_rng(1), N)


@pytest.fixture(params=["interpret", "llvm"])
def backend(request):
    return request.param


def refused(kind, do, *args, **options):
    with pytest.raises(kind) as caught:
        do(*args, **options)
    return str(caught.value)


# ---- check="values"


def test_an_unknown_check_is_refused(chain):
    message = refused(UnknownName, chain.gravity_force, ZERO, check="value")
    assert message == "check='value' is not known. Did you mean 'values'?"


def test_numbers_that_are_not_finite_are_found_when_asked_for(chain, backend):
    bad = np.zeros((2, N))
    bad[1, 2] = np.inf
    options = {"check": "values", "backend": backend}
    message = refused(SizeError, chain.bias_force, ZERO, bad, **options)
    assert message == "bias_force: qd[1, 2] is inf. Give finite numbers."
    message = refused(SizeError, chain.gravity_force, [0.0, np.nan, 0.0], **options)
    assert message == "gravity_force: q[1] is nan. Give finite numbers."
    assert chain.gravity_force(ZERO, **options).tobytes() == chain.gravity_force(ZERO, backend=backend).tobytes()


def test_numbers_that_are_not_finite_pass_when_nobody_asks_and_spoil_their_row_only(chain, backend):
    q = np.zeros((3, N))
    q[1, 0] = np.nan
    tau = chain.gravity_force(q, backend=backend)
    assert np.isnan(tau[1]).any()
    assert np.isfinite(tau[[0, 2]]).all()


# ---- return_status


def pole():
    """A mass on a massless arm: where it stands upright, its first joint moves nothing that has inertia."""
    builder = Builder("pole")
    for name in ("base", "arm"):
        builder.link(name)
    builder.link("bob", 1.0, (0, 0, 1))
    builder.joint("turn", "revolute", "base", "arm", axis=(0, 0, 1))
    builder.joint("lean", "revolute", "arm", "bob", axis=(1, 0, 0))
    return hinge.Robot(builder.build())


@pytest.mark.parametrize("method", ["articulated", "composite", "composite_llt"])
def test_a_singular_state_is_a_row_of_nan_and_the_status_says_so(backend, method):
    q = np.array([[0.0, 0.7], [0.3, 0.0], [0.0, np.nan], [0.0, 0.7]])
    options = {"method": method, "backend": backend}
    qdd, status = pole().forward_dynamics(q, [0.1, 0.2], [1.0, 1.0], return_status=True, **options)
    assert status.dtype == np.uint8
    assert [Status(s) for s in status] == [Status.OK, Status.SINGULAR, Status.NONFINITE, Status.OK]
    assert np.isnan(qdd[1:3]).all()
    assert np.isfinite(qdd[[0, 3]]).all()
    assert qdd.tobytes() == pole().forward_dynamics(q, [0.1, 0.2], [1.0, 1.0], **options).tobytes()


def test_a_status_has_the_shape_of_the_batch(chain, backend):
    for batch in ((), (4,), (2, 3)):
        out = np.empty((*batch, N))
        made, status = chain.bias_force(np.zeros((*batch, N)), ZERO, out=out, return_status=True, backend=backend)
        assert made is out
        assert (status.shape, status.dtype, status.tolist()) == (batch, np.uint8, np.zeros(batch, int).tolist())
    energy, status = chain.kinetic_energy(np.zeros((2, N)), ZERO, return_status=True, backend=backend)
    assert energy.shape == status.shape == (2,)


# ---- bind


def test_a_bound_call_reads_and_writes_its_arrays(chain, backend):
    for dtype in (np.float64, np.float32):
        for batch in ((), (5,)):
            q, tau = np.zeros((*batch, N), dtype), np.empty((*batch, N), dtype)
            step = chain.kernel("gravity_force", backend=backend).bind(q, tau)
            for value in (0.0, 0.5, -1.0):
                q[...] = value
                assert step() is None
                assert tau.tobytes() == chain.gravity_force(q, backend=backend).tobytes()


def test_a_bound_call_keeps_its_arrays_alive(chain, backend):
    out = np.empty(N)
    step = chain.kernel("gravity_force", backend=backend).bind(np.full(N, 0.5), out)
    filler = [np.full(N, 9.0) for _ in range(50)]
    step()
    assert out.tobytes() == chain.gravity_force(np.full(N, 0.5), backend=backend).tobytes()
    assert len(filler) == 50


CONTIGUOUS = "bias_force: bind needs contiguous arrays of one floating type; {} is not one."
HOLD = "it has to be a writable array of floats with shape (3,)"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((ZERO, np.empty(N)), "bias_force: bind takes q, qd and out; 2 arrays were given."),
        ((ZERO, [0.0] * N, np.empty(N)), CONTIGUOUS.format("qd")),
        ((np.zeros(2 * N)[::2], ZERO, np.empty(N)), CONTIGUOUS.format("q")),
        ((ZERO, ZERO.astype(np.float32), np.empty(N)), CONTIGUOUS.format("qd")),
        ((ZERO.astype(">f8"), ZERO, np.empty(N)), CONTIGUOUS.format("q")),
        ((ZERO.astype(int),) * 2 + (np.empty(N, int),), CONTIGUOUS.format("q")),
        ((np.zeros(4), ZERO, np.empty(N)), "bias_force: q has 4 entries, robot 'chain3' has nq = 3."),
        ((ZERO, ZERO, np.empty(4)), f"bias_force: out is float64 (4,); {HOLD}."),
        ((np.zeros((2, N)), ZERO, np.empty((2, N))), "bias_force: bind does not broadcast; qd has shape (3,)."),
    ],
)
def test_arrays_that_cannot_be_bound_are_refused(chain, backend, arrays, message):
    assert refused(SizeError, chain.kernel("bias_force", backend=backend).bind, *arrays) == message


def test_a_bound_result_is_apart_from_the_inputs(chain, backend):
    q = np.zeros(N)
    message = refused(SizeError, chain.kernel("gravity_force", backend=backend).bind, q, q)
    assert message == "gravity_force: bind needs an out that shares no memory with an input."

"""Calls with JAX's arrays: what they give is what NumPy's arrays give, in whatever JAX makes of a call."""

import gc

import numpy as np
import pytest
from jax_robots import QUICK, ROBOTS, arm, assert_same, cases, double, flying, in_jax, jax, jnp, state  # noqa: F401
from sweeps import swept

import hinge
from hinge.calls import jax_calls, jax_primitive


@pytest.fixture(params=["machine code", "callback"])
def way(request, monkeypatch):
    """Both ways in which JAX runs kernels; robots are new, so that nothing is compiled yet."""
    if request.param == "callback":
        monkeypatch.setattr(jax_primitive, "handler", lambda platform: "")
    return request.param


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", swept(cases(), lambda case: case[1] in QUICK), ids="-".join)
def test_every_algorithm_gives_what_it_gives_for_numpy(case):
    robot, name = ROBOTS[case[0]](), case[1]
    given = state(robot, name, batch=(2, 3))
    wanted = getattr(robot, name)(*given)
    assert_same(getattr(robot, name)(*in_jax(given)), wanted)
    arrays = [k for k, x in enumerate(given) if not isinstance(x, str)]

    def of_arrays(*some):
        return getattr(robot, name)(*(some[arrays.index(k)] if k in arrays else x for k, x in enumerate(given)))

    some = [jnp.asarray(given[k]) for k in arrays]
    assert_same(jax.jit(of_arrays)(*some), wanted)
    assert_same(jax.vmap(jax.vmap(of_arrays))(*some), wanted)


def test_both_ways_run_it(way):
    robot, given = hinge.Robot(flying().model), state(flying(), "step", batch=(5,))
    text = jax.jit(robot.step).lower(*in_jax(given)).as_text()
    assert ("@hinge_" in text) == (way == "machine code")
    assert_same(jax.jit(robot.step)(*in_jax(given)), robot.step(*given))
    assert_same(robot.step(*in_jax(given)), robot.step(*given))


def test_batches_broadcast(way):
    robot = hinge.Robot(arm().model)
    q, qd, qdd = (np.random.default_rng(0).normal(size=shape) for shape in ((4, 1, 2), (3, 2), (2,)))
    wanted = robot.inverse_dynamics(q, qd, qdd)
    assert_same(robot.inverse_dynamics(*map(jnp.asarray, (q, qd, qdd))), wanted)
    assert_same(robot.inverse_dynamics(jnp.asarray(q), qd, [float(x) for x in qdd]), wanted)
    columns = jax.vmap(robot.inverse_dynamics, in_axes=(1, None, None), out_axes=1)
    assert_same(columns(jnp.asarray(q[:, 0].T), qd[0], qdd), robot.inverse_dynamics(q[:, 0], qd[0], qdd).T)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_precision_is_that_of_what_is_given(way, kind):
    robot = hinge.Robot(arm().model)
    given = [x.astype(kind) for x in state(arm(), "step")]
    made = robot.step(*in_jax(given))
    assert [x.dtype for x in made] == [kind, kind]
    assert_same(made, robot.step(*given), 1e-6 if kind == np.float32 else 1e-12)
    numbers = robot.step(jnp.asarray(given[0]), *(x.tolist() for x in given[1:]))
    assert [x.dtype for x in numbers] == [kind, kind]


def test_without_double_precision_all_is_single():
    with jax.enable_x64(False):
        given = state(arm(), "inverse_dynamics")
        made = arm().inverse_dynamics(jnp.asarray(given[0]), *given[1:])
        assert made.dtype == np.float32
        whole = arm().gravity_force(jnp.array([0, 1]))
        assert whole.dtype == np.float32
        assert_same(whole, arm().gravity_force([0.0, 1.0]), 1e-6)


def test_what_is_given_besides_arrays():
    robot = flying().vary("head.mass", "upper.com")
    q, qd, qdd = state(flying(), "inverse_dynamics", batch=(3,))
    rng = np.random.default_rng(1)
    mass, com = 2.0 + rng.random(3), rng.normal(size=3)
    wrench, motion = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 6))

    def forces(q, qd, qdd, mass, com, wrench, motion):
        return robot.inverse_dynamics(
            q, qd, qdd, parameters={"head.mass": mass, "upper.com": com}, base_motion=(motion[0], motion[1]),
            external={"trunk": wrench[0], "head": wrench[1]}, external_frame="base", joint_terms=("damping",),
        )  # fmt: skip

    given = (q, qd, qdd, mass, com, wrench, motion)
    wanted = forces(*given)
    assert_same(forces(*map(jnp.asarray, given)), wanted)
    assert_same(jax.jit(forces)(*map(jnp.asarray, given)), wanted)
    assert_same(forces(q, qd, qdd, jnp.asarray(mass), com, wrench, motion), wanted)
    single = robot.inverse_dynamics(*(jnp.asarray(x, jnp.float32) for x in (q, qd, qdd)))  # nominal numbers besides
    assert single.dtype == np.float32
    assert_same(single, robot.inverse_dynamics(q, qd, qdd), 1e-5)


def test_driven_joints():
    robot = arm().prescribe(arm().joint_names[0])
    given, motion = np.random.default_rng(2).normal(size=(2, 3, 4, 1))
    wanted = robot.inverse_dynamics(*given, prescribed=motion)
    assert_same(robot.inverse_dynamics(*map(jnp.asarray, given), prescribed=tuple(motion)), wanted)
    assert_same(robot.inverse_dynamics(*given, prescribed=jnp.asarray(motion)), wanted)
    still = robot.inverse_dynamics(*given, prescribed=motion[:1])
    assert_same(robot.inverse_dynamics(*map(jnp.asarray, given), prescribed=(motion[0],)), still)
    with pytest.raises(hinge.NotCovered) as caught:
        jax.grad(lambda x: robot.inverse_dynamics(*given, prescribed=(x,)).sum())(jnp.asarray(motion[0]))
    assert str(caught.value) == (
        "inverse_dynamics: there are no derivatives by prescribed=. Give it as an array that is not differentiated."
    )


def test_a_status_comes_with_it(way):
    robot = hinge.Robot(arm().model)
    given = state(arm(), "forward_dynamics", batch=(3,))
    given[0][1] = np.nan
    made, status = robot.forward_dynamics(*in_jax(given), return_status=True)
    wanted, fared = robot.forward_dynamics(*given, return_status=True)
    assert status.dtype == np.uint8
    np.testing.assert_array_equal(status, fared)
    np.testing.assert_array_equal(np.isnan(made), np.isnan(wanted))
    assert np.isnan(made[1]).all()
    assert np.isfinite(made[::2]).all()


def test_no_states(way):
    robot = hinge.Robot(arm().model)
    assert robot.inverse_dynamics(*jnp.zeros((3, 0, 2))).shape == (0, 2)


def test_many_states_on_several_threads():
    hinge.set_threads(2)
    try:
        given = state(arm(), "forward_dynamics", batch=(5000,))
        assert_same(jax.jit(arm().forward_dynamics)(*in_jax(given)), arm().forward_dynamics(*given))
    finally:
        hinge.set_threads(None)


@pytest.mark.sweep
def test_what_is_compiled_outlives_its_robot():
    robot = hinge.samples.pendulum(2)
    given = state(robot, "mass_matrix")
    wanted = robot.mass_matrix(*given)
    compiled = jax.jit(robot.mass_matrix).lower(*in_jax(given)).compile()
    del robot
    jax.clear_caches()
    gc.collect()
    assert_same(compiled(*in_jax(given)), wanted)


def test_after_a_call_with_numpy_the_next_is_still_of_jax():
    robot = hinge.Robot(arm().model)
    given = state(arm(), "inverse_dynamics")
    robot.inverse_dynamics(*given)
    assert isinstance(robot.inverse_dynamics(*in_jax(given)), jax.Array)
    assert isinstance(robot.inverse_dynamics(*given), np.ndarray)
    assert isinstance(robot.inverse_dynamics([jnp.asarray(0.1), 0.2], *given[1:]), jax.Array)
    of_two = jax.jit(lambda a, b: robot.gravity_force([a, b]))
    assert_same(of_two(*map(jnp.asarray, given[0])), robot.gravity_force(given[0]))


def test_what_is_refused():
    given = in_jax(state(arm(), "inverse_dynamics"))
    q, qd, qdd = given
    with pytest.raises(hinge.NotCovered) as caught:
        arm().inverse_dynamics(q, qd, qdd, out=np.zeros(2))
    assert str(caught.value) == (
        "inverse_dynamics: out= cannot be filled, because JAX's arrays do not change. Leave it out."
    )
    with pytest.raises(hinge.NotCovered) as caught:
        jax.jit(lambda q: arm().gravity_force(q, check="values"))(q)
    assert str(caught.value) == (
        "gravity_force: check='values' looks at numbers, and JAX has none while it traces. Leave it out."
    )
    with pytest.raises(hinge.NotCovered) as caught:
        jax.linear_transpose(lambda a: arm().inverse_dynamics(q, qd, a), qdd)(qdd)
    assert (
        str(caught.value) == "inverse_dynamics: JAX cannot transpose it by qdd. Take its derivative, which is linear."
    )


def test_a_back_end_of_the_host_takes_no_arrays_of_a_gpu(monkeypatch):
    robot, q = arm(), in_jax(state(arm(), "gravity_force"))[0]
    assert not jax_calls.on_device(q)
    wanted = robot.gravity_force(q, backend="llvm")
    monkeypatch.setattr(jax_calls, "on_device", lambda x: isinstance(x, jax.Array))  # as they are where there is a GPU
    with pytest.raises(hinge.NotCovered) as caught:
        robot.gravity_force(q, backend="llvm")
    assert str(caught.value) == "gravity_force: backend='llvm' cannot take arrays on a GPU.\n  Leave it out."
    assert_same(robot.gravity_force(q), wanted)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda r, q, a: r.inverse_dynamics(q, q[:1], a),
        lambda r, q, a: r.inverse_dynamics(q, a[None].repeat(3, 0), a[None].repeat(2, 0)),
        lambda r, q, a: r.inverse_dynamics(q, a, "a"),
        lambda r, q, a: r.inverse_dynamics(q, a, a * 1j),
        lambda r, q, a: r.inverse_dynamics(q, a, a, external={"link2": a}),
        lambda r, q, a: r.inverse_dynamics(q, a, a, base_motion=(a, a)),
        lambda r, q, a: r.inverse_dynamics(q, a, a, parameters={"link2.mas": a}),
        lambda r, q, a: r.inverse_dynamics(q, a, a, parameters={"link2.com": a}),
        lambda r, q, a: r.inverse_dynamics(q, a, a, external={"nowhere": a}),
        lambda r, q, a: r.inverse_dynamics(q, a, a, method="no such"),
        lambda r, q, a: r.gravity_force(q * np.nan, check="values"),
        lambda r, q, a: r.jvp("gravity_force", (q,), (q[:1],)),
        lambda r, q, a: r.vjp("gravity_force", (q,), q[:1]),
    ],
)
def test_bad_input_is_refused_as_numpy_s_is(wrong):
    robot = arm().vary(f"{arm().body_names[-1]}.com")
    given = np.zeros(2), np.ones(2)
    with pytest.raises(hinge.HingeError) as wanted:
        wrong(robot, *given)
    with pytest.raises(type(wanted.value)) as caught:
        wrong(robot, *map(jnp.asarray, given))
    assert str(caught.value) == str(wanted.value)

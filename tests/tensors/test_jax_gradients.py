"""Gradients of calls with JAX's arrays: by differences, by our own derivatives, and by every way that JAX has."""

from functools import partial

import numpy as np
import pytest
from jax_robots import QUICK, ROBOTS, arm, assert_same, cases, double, flying, jax, jnp, state  # noqa: F401
from sweeps import swept

from hinge.calls.jax_primitive import P
from hinge.dynamics.registry import KNOWN, PLACE, required_inputs

check_grads = pytest.importorskip("jax.test_util").check_grads
close = partial(assert_same, tol=1e-10)


def differentiable(robot, name, given, **how):
    """A method as a function of its arrays, and these."""
    free = [k for k, quantity in enumerate(required_inputs(name).values()) if quantity not in (PLACE, KNOWN)]

    def function(*arrays):
        arrays = [jnp.asarray(x) for x in arrays]  # check_grads gives NumPy's for its differences
        return getattr(robot, name)(*(arrays[free.index(k)] if k in free else x for k, x in enumerate(given)), **how)

    return function, [jnp.asarray(given[k]) for k in free]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", swept(cases(), lambda case: case[1] in QUICK), ids="-".join)
def test_every_algorithm_against_differences(case):
    robot, name = ROBOTS[case[0]](), case[1]
    function, arrays = differentiable(robot, name, state(robot, name))
    if name == "rate":  # which alone grows with the length of a quaternion: of one whose length is one
        grows = function

        def function(q, qd):
            return grows(robot.integrate(q, jnp.zeros(robot.nv)), qd)

    check_grads(function, arrays, order=1, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5, eps=1e-5)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("robot", "name", "how"),
    [
        (arm, "inverse_dynamics", {}),
        (arm, "forward_dynamics", {}),
        (arm, "step", {}),
        (flying, "inverse_dynamics", {}),
        (flying, "forward_dynamics", {}),
        pytest.param(flying, "step", {"method": "semi_implicit"}, marks=pytest.mark.sweep),
    ],
)
def test_second_order_against_differences(robot, name, how):
    function, arrays = differentiable(robot(), name, state(robot(), name), **how)
    check_grads(function, arrays, order=2, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4, eps=1e-5)


def rollout(robot, q, qd, tau, steps=50, method="semi_implicit"):
    def step(state, _):
        return robot.step(*state, tau, 0.01, method=method), None

    return jax.lax.scan(step, (q, qd), None, length=steps)[0]


@pytest.mark.sweep
def test_a_rollout_of_fifty_steps_against_differences():
    q, qd, tau = map(jnp.asarray, state(arm(), "inverse_dynamics"))
    check_grads(lambda *x: rollout(arm(), *x), (q, qd, tau), order=2, modes=("fwd", "rev"), atol=1e-3, rtol=1e-3)


@pytest.mark.sweep
def test_a_rollout_that_flies_against_differences():
    q, qd, tau = map(jnp.asarray, state(flying(), "inverse_dynamics"))
    check_grads(lambda *x: rollout(flying(), *x), (q, qd, tau), order=1, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4)


@pytest.mark.sweep
def test_all_ways_give_the_same_derivatives():
    q, qd, tau = map(jnp.asarray, state(arm(), "forward_dynamics", batch=(3,)))
    wanted = arm().derivatives("forward_dynamics", *map(np.asarray, (q, qd, tau)))
    for way in (jax.jacfwd, jax.jacrev):
        whole = way(arm().forward_dynamics, (0, 1, 2))
        for ours in (jax.vmap(whole), jax.jit(jax.vmap(whole)), jax.vmap(jax.jit(whole))):
            close(ours(q, qd, tau), wanted)
        for k in range(3):
            close(whole(q[k], qd[k], tau[k]), [one[k] for one in wanted])

    def total(*given):
        return (arm().forward_dynamics(*given) ** 2).sum()

    hessians = [
        outer(inner(total, (0, 1, 2)), (0, 1, 2))(q[0], qd[0], tau[0])
        for outer in (jax.jacfwd, jax.jacrev)
        for inner in (jax.jacfwd, jax.jacrev)
    ]
    for one in hessians[1:]:
        close(one, hessians[0])
    close(jax.jit(jax.hessian(total, (0, 1, 2)))(q[0], qd[0], tau[0]), hessians[0])


def test_batches_that_are_broadcast_are_summed():
    q, qd, tau = (jnp.asarray(x) for x in np.random.default_rng(3).normal(size=(3, 4, 2)))
    whole = jax.grad(lambda tau: arm().forward_dynamics(q, qd, tau).sum())(tau[0])
    parts = jax.grad(lambda tau: arm().forward_dynamics(q, qd, tau).sum())(jnp.broadcast_to(tau[0], (4, 2)))
    close(whole, parts.sum(0))


def test_nothing_along_a_quaternion_and_the_rest_along_velocities():
    robot = flying()
    q, qd, qdd = state(robot, "inverse_dynamics")
    weight = np.random.default_rng(5).normal(size=robot.nv)
    made = jax.grad(lambda q: weight @ robot.inverse_dynamics(q, qd, qdd))(jnp.asarray(q))
    assert made.shape == (robot.nq,)
    free, ball = made[:4] @ q[:4], made[-4:] @ q[-4:]
    close([free, ball], [np.zeros(()), np.zeros(())], tol=1e-12 * np.abs(made).max())
    (wanted,) = robot.vjp("inverse_dynamics", (q, qd, qdd), weight, by="q")
    rates = np.stack([robot.rate(q, unit) for unit in np.eye(robot.nv)])
    close(rates @ made, wanted)


@pytest.mark.sweep
def test_by_all_that_is_given_besides():
    robot = flying().vary("head.mass", "upper.com")
    given = state(flying(), "forward_dynamics")
    rng = np.random.default_rng(1)

    def accelerations(mass, com, wrench, motion):
        return robot.forward_dynamics(
            *given, parameters={"head.mass": mass, "upper.com": com}, base_motion=(motion, jnp.ones(6)),
            external={"trunk": wrench, "head": jnp.ones(6)},
        )  # fmt: skip

    besides = jnp.asarray(2.5), jnp.asarray([0.1, 0.2, 0.3]), *jnp.asarray(rng.normal(size=(2, 6)))
    check_grads(accelerations, besides, order=2, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4, eps=1e-5)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("robot", [arm, flying], ids=["arm", "flying"])
def test_derivatives_jvp_and_vjp_are_of_jax_and_carry_gradients(robot):
    robot, given = robot(), state(robot(), "inverse_dynamics")
    arrays = [jnp.asarray(x) for x in given]
    v, w = np.random.default_rng(7).normal(size=(2, robot.nv))
    ours = {
        "derivatives": lambda *x: robot.derivatives("inverse_dynamics", *x),
        "packed": lambda *x: robot.derivatives("inverse_dynamics", *x, packed=True),
        "jvp": lambda *x: robot.jvp("inverse_dynamics", x, (v, None, w)),
        "vjp": lambda *x: robot.vjp("inverse_dynamics", x, w),
        "recursion": lambda *x: robot.forward_dynamics_derivatives(*x),
        "hessian": lambda *x: robot.second_derivatives("inverse_dynamics", *x, by="qd", weights=w),
    }
    for one in ours.values():
        close(one(*arrays), one(*given))
        close(jax.jit(one)(*arrays), one(*given))
        assert all(isinstance(x, jax.Array) for x in jax.tree.leaves(one(*arrays)))
        check_grads(one, arrays, order=1, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5, eps=1e-5)
    by_seeds = {
        "jvp": lambda v: robot.jvp("inverse_dynamics", given, (v, None, v)),
        "vjp": lambda w: robot.vjp("inverse_dynamics", given, w),
    }
    for one in by_seeds.values():
        check_grads(one, [jnp.asarray(v)], order=2, modes=("fwd", "rev"), atol=1e-5, rtol=1e-5)


def primitives(jaxpr):
    """The kernels in what JAX has traced."""
    found = [eqn.params["call"] for eqn in jaxpr.eqns if eqn.primitive is P]
    inner = [part for eqn in jaxpr.eqns for part in jax.tree.leaves(eqn.params, is_leaf=lambda x: hasattr(x, "jaxpr"))]
    return found + [one for part in inner if hasattr(part, "jaxpr") for one in primitives(part.jaxpr)]


def test_a_gradient_is_one_sweep_back():
    given = [jnp.asarray(x) for x in state(arm(), "forward_dynamics")]
    traced = jax.make_jaxpr(jax.value_and_grad(lambda *x: arm().forward_dynamics(*x).sum(), (0, 2)))(*given)
    kinds = [[slope.kind for slope in call.derivatives] for call in primitives(traced.jaxpr)]
    assert kinds == [[], ["pulled"]]
    (pulled,) = [call for call in primitives(traced.jaxpr) if call.derivatives]
    assert pulled.derivatives[0].by == ("q", "tau")


def test_a_status_has_no_gradient():
    q, qd, tau = map(jnp.asarray, state(arm(), "forward_dynamics"))

    def function(q):
        qdd, status = arm().forward_dynamics(q, qd, tau, return_status=True)
        return qdd.sum() + status.sum()

    close(jax.grad(function)(q), jax.grad(lambda q: arm().forward_dynamics(q, qd, tau).sum())(q))


def test_single_precision_has_gradients_of_single_precision():
    given = [jnp.asarray(x, jnp.float32) for x in state(flying(), "inverse_dynamics")]
    made = jax.grad(lambda *x: flying().inverse_dynamics(*x).sum(), (0, 1, 2))(*given)
    assert [x.dtype for x in made] == [np.float32] * 3
    wide = jax.grad(lambda *x: flying().inverse_dynamics(*x).sum(), (0, 1, 2))(*(x.astype(jnp.float64) for x in given))
    close(made, wide, tol=1e-4)


def test_not_a_number_stays_in_its_row():
    q, qd, tau = (np.array(x) for x in state(arm(), "forward_dynamics", batch=(3,)))
    qd[1, 0] = np.nan
    made = jax.grad(lambda *x: jnp.nansum(arm().forward_dynamics(*x)), (0, 1, 2))(*map(jnp.asarray, (q, qd, tau)))
    assert all(np.isfinite(x[::2]).all() for x in made)


def test_a_fit_of_a_mass_through_a_rollout():
    robot = arm().vary(f"{arm().body_names[-1]}.mass")
    name, start = robot.target.varied[0], jnp.asarray([0.3, -0.2])

    def ends(mass):
        def step(state, _):
            return robot.step(*state, jnp.zeros(2), 0.02, parameters={name: mass}), None

        return jax.lax.scan(step, (start, jnp.zeros(2)), None, length=20)[0]

    wanted = ends(2.0)
    loss = jax.jit(
        jax.value_and_grad(lambda mass: sum(((a - b) ** 2).sum() for a, b in zip(ends(mass), wanted, strict=True)))
    )
    mass = jnp.asarray(1.0)
    while abs(mass - 2.0) > 1e-6 and mass > 0.1:
        value, slope = loss(mass)
        mass = mass - 2 * value / slope  # Newton's step to a double root
    assert abs(mass - 2.0) < 1e-6

"""Algorithms as functions of CasADi: the robot's values, its derivatives, those by coordinates, one state or many."""

import gc
import sys

import numpy as np
import pytest

import hinge
from hinge.graph import OPS

RNG = np.random.default_rng(0)
PANDA, GO2 = hinge.samples.panda(), hinge.samples.go2()
CHAIN = hinge.samples.chain(np.random.default_rng(1), 4)
VARIED = hinge.samples.planar_2r().vary("lower.mass", "upper.com")
WITHOUT_EXPRESSIONS = {"held", "uniform"}  # CasADi knows no number that stands still, and no random one


@pytest.fixture(scope="module")
def ca():
    return pytest.importorskip("casadi", reason="casadi is not installed")


def state(robot, n=None):
    q, qd = robot.random_state(3, n or 1)
    found = q, qd, RNG.normal(size=qd.shape)
    return found if n else tuple(x[0] for x in found)


def hessian(ca, f, wanted, given, weight):
    """The Hessian of a weighted sum of a function's first result by one of its inputs, as CasADi makes it."""
    by = [ca.MX.sym(f.name_in(k), f.sparsity_in(k)) for k in range(f.n_in())]
    whole = ca.dot(ca.DM(weight), f.call(by)[0])
    x = by[wanted]
    return np.array(ca.Function("hessian", by, [ca.hessian(whole, x)[0]])(*given))


def difference(f, x, h=1e-6):
    """Central differences of a function of numbers."""
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=-1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("robot", [PANDA, GO2], ids=["panda", "go2"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "pose", "coriolis_matrix", "step"])
def test_values_are_those_of_the_robot(ca, robot, name):
    q, qd, tau = state(robot)
    at = robot.frame_names[-1] if name == "pose" else ()
    given = {"pose": (q,), "coriolis_matrix": (q, qd), "step": (q, qd, tau, 0.01)}.get(name, (q, qd, tau))
    method = "semi_implicit" if name == "step" else None
    wanted = getattr(robot, name)(*given, *([at] if at else []), method=method)
    f = robot.casadi(name, method=method, at=at)
    for one in (f, f.expand()):
        made = one(*given)
        for ours, theirs in zip(*(x if isinstance(x, tuple) else (x,) for x in (wanted, made)), strict=True):
            np.testing.assert_allclose(np.array(theirs).reshape(ours.shape), ours, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("robot", [PANDA, CHAIN], ids=["panda", "chain"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_a_jacobian_is_that_of_the_robot(ca, robot, name):
    given, f = state(robot), robot.casadi(name)
    for one in (f, f.expand()):
        for ours, theirs in zip(robot.derivatives(name, *given), one.jacobian()(*given, 0), strict=True):
            np.testing.assert_allclose(np.array(theirs), ours, rtol=1e-11, atol=1e-11 * np.abs(ours).max())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_a_hessian_is_that_of_the_robot(ca, name):
    given, f, weight = state(CHAIN), CHAIN.casadi(name), RNG.normal(size=CHAIN.nv)
    second = np.block([list(row) for row in CHAIN.second_derivatives(name, *given, weights=weight)])
    x = ca.MX.sym("x", 3 * CHAIN.nv)
    for one in (f, f.expand()):
        whole = ca.hessian(ca.dot(ca.DM(weight), one(*ca.vertsplit(x, CHAIN.nv))), x)[0]
        made = np.array(ca.Function("hessian", [x], [whole])(np.concatenate(given)))
        np.testing.assert_allclose(made, second, rtol=1e-10, atol=1e-11 * np.abs(second).max())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("expand", [False, True], ids=["compiled", "expanded"])
def test_derivatives_of_a_floating_base_are_by_the_numbers_of_its_quaternion(ca, expand):
    q, qd, tau = state(GO2)
    q[:4] *= 1.3  # a quaternion need not be a unit one
    weight = RNG.normal(size=GO2.nv)
    f = GO2.casadi("inverse_dynamics")
    f = f.expand() if expand else f
    dq, dqd, _ = (np.array(x) for x in f.jacobian()(q, qd, tau, 0))
    np.testing.assert_allclose(dq, difference(lambda x: GO2.inverse_dynamics(x, qd, tau), q), atol=1e-6)
    np.testing.assert_allclose(dqd, GO2.derivatives("inverse_dynamics", q, qd, tau, by="qd")[0], atol=1e-10)
    x = ca.MX.sym("q", GO2.nq)
    slope = ca.Function("slope", [x], [ca.gradient(ca.dot(weight, f(x, qd, tau)), x)])
    wanted = difference(lambda x: np.array(slope(x)).ravel(), q)
    np.testing.assert_allclose(hessian(ca, f, 0, (q, qd, tau), weight), wanted, atol=1e-6 * np.abs(wanted).max())


def test_many_states_are_columns_of_one_call(ca):
    given = state(PANDA, 5)
    f, weight = PANDA.casadi("forward_dynamics"), RNG.normal(size=(5, 7))
    columns = [x.T for x in given]
    np.testing.assert_array_equal(np.array(f.map(5)(*columns)).T, PANDA.forward_dynamics(*given))
    for ours, theirs in zip(f.map(5).jacobian()(*columns, 0), f.expand().map(5).jacobian()(*columns, 0), strict=True):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), atol=1e-11)
        assert ours.nnz() <= 5 * 49  # the states have nothing to do with each other
    made = hessian(ca, f.map(5), 0, columns, weight.T)
    alone = [hessian(ca, f, 0, [x[k] for x in given], weight[k]) for k in range(5)]
    for k, one in enumerate(alone):
        at = slice(7 * k, 7 * k + 7)
        np.testing.assert_allclose(made[at, at], one, atol=1e-9)
        made[at, at] = 0.0
    assert not made.any()
    np.testing.assert_allclose(np.array(f.map(5).expand()(*columns)).T, PANDA.forward_dynamics(*given), atol=1e-12)
    twice = np.array(f.map(5).map(2)(*(np.hstack([x, x]) for x in columns)))
    np.testing.assert_array_equal(twice[:, 5:].T, PANDA.forward_dynamics(*given))


def test_matrices_of_several_states_stand_side_by_side(ca):
    q, *_ = state(PANDA, 3)
    f = PANDA.casadi("jacobian", at="tool", frame="aligned")
    np.testing.assert_array_equal(np.array(f.map(3)(q.T)), np.hstack(list(PANDA.jacobian(q, "tool", frame="aligned"))))
    wanted = PANDA.derivatives("jacobian", q[0], "tool", frame="aligned")[0]  # (6, 7, 7)
    np.testing.assert_allclose(np.array(f.jacobian()(q[0], 0)), wanted.swapaxes(0, 1).reshape(42, 7), atol=1e-13)
    three = np.array(PANDA.casadi("christoffel")(q[0]))
    np.testing.assert_array_equal(three.reshape(7, 7, 7), PANDA.geometry.christoffel(q[0]))


def test_zeros_that_a_result_always_has_are_not_in_the_pattern(ca):
    f = PANDA.casadi("gravity_force")
    made, (rows, _) = f.jacobian().sparsity_out(0), PANDA.derivative_pattern("gravity_force")
    assert made.nnz() == len(rows) < 49


def test_numbers_that_vary_are_inputs(ca):
    q, qd, tau = state(VARIED)
    f = VARIED.casadi("forward_dynamics", joint_terms=("armature", "damping"))
    assert f.name_in() == ["q", "qd", "tau", "parameters"]
    numbers = np.array([2.0, 0.1, 0.2, 0.3])
    said = {"lower.mass": 2.0, "upper.com": numbers[1:]}
    np.testing.assert_array_equal(
        np.array(f(q, qd, tau, numbers)).ravel(), VARIED.forward_dynamics(q, qd, tau, parameters=said)
    )
    slopes = VARIED.derivatives("forward_dynamics", q, qd, tau, by=("lower.mass", "upper.com"), parameters=said)
    made = np.array(f.jacobian()(q, qd, tau, numbers, 0)[3])
    np.testing.assert_allclose(made, np.concatenate([x.reshape(2, -1) for x in slopes], axis=-1), atol=1e-12)


def test_forces_on_bodies_are_an_input_where_they_are_asked_for(ca):
    arm = hinge.samples.planar_2r()
    q, qd, qdd = state(arm)
    force = RNG.normal(size=(3, 6))
    f = arm.casadi("inverse_dynamics", given=["external"])
    wanted = arm.kernel("inverse_dynamics", given=["external"])(q, qd, qdd, force)
    np.testing.assert_array_equal(np.array(f(q, qd, qdd, force)).ravel(), wanted)
    np.testing.assert_allclose(np.array(f.expand()(q, qd, qdd, force)).ravel(), wanted, atol=1e-13)
    np.testing.assert_allclose(
        np.array(f.jacobian()(q, qd, qdd, force, 0)[3]),
        np.array(f.expand().jacobian()(q, qd, qdd, force, 0)[3]),
        atol=1e-13,
    )


def test_a_robot_with_loops_is_compiled_and_not_written_out(ca):
    linkage = hinge.samples.four_bar()
    q, qd, tau = linkage.neutral(), np.full(linkage.nv, 0.1), np.full(linkage.nv, 0.2)
    f = linkage.casadi("forward_dynamics", method="loops")
    np.testing.assert_array_equal(np.array(f(q, qd, tau)).ravel(), linkage.forward_dynamics(q, qd, tau, method="loops"))
    dq = linkage.derivatives("forward_dynamics", q, qd, tau, by="q", method="loops")[0]
    assert np.abs(dq).max() > 0.1
    np.testing.assert_allclose(np.array(f.jacobian()(q, qd, tau, 0)[0]), dq, atol=1e-10)
    with pytest.raises(hinge.NotCovered) as refused:
        f.expand()
    assert str(refused.value) == (
        "the program has memory, or loops that end early, which expressions of CasADi do not write out.\n"
        "  Leave expand() out: the compiled forward_dynamics has them."
    )


def test_it_outlives_the_robot_it_was_asked_of(ca):
    def made():
        q = ca.MX.sym("q", 2)
        return ca.Function("weight", [q], [ca.jacobian(hinge.samples.planar_2r().casadi("gravity_force")(q), q)])

    slope = made()
    gc.collect()
    np.testing.assert_allclose(
        np.array(slope([0.1, 0.2])), hinge.samples.planar_2r().derivatives("gravity_force", [0.1, 0.2])[0], atol=1e-13
    )


def test_what_is_not_a_number_stays_in_its_column(ca):
    q, qd, tau = state(PANDA, 3)
    q[1, 2] = np.nan
    made = np.array(PANDA.casadi("forward_dynamics").map(3)(q.T, qd.T, tau.T))
    assert np.isnan(made[:, 1]).all()
    assert np.isfinite(made[:, [0, 2]]).all()


def test_casadi_has_an_expression_for_every_operation_that_has_a_derivative(ca):
    from hinge.backends.casadi_expressions import SAY

    assert OPS.keys() - WITHOUT_EXPRESSIONS == SAY.keys()
    x = 0.3 + 0.1 * np.arange(3)
    for name, say in SAY.items():
        given = [ca.SX.sym("x") for _ in range(OPS[name].arity)]
        made = float(ca.Function("f", given, [say(*given)])(*x[: len(given)]))
        assert made == pytest.approx(OPS[name].meaning(*x[: len(given)]), rel=1e-14), name


def test_casadi_writes_c_of_it(ca, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hinge.samples.planar_2r().casadi("forward_dynamics").expand().generate("arm.c")
    assert "forward_dynamics" in (tmp_path / "arm.c").read_text()


@pytest.mark.parametrize(("asked", "words"), [
    (lambda: PANDA.casadi("pose"), "pose is about a frame: give at=. Known: "),
    (lambda: PANDA.casadi("mass_matrix", at="tool"), "mass_matrix is not about a frame, so at='tool' says nothing."),
    (lambda: PANDA.casadi("forward_dinamics"), "there is no algorithm 'forward_dinamics'. Did you mean"),
    (lambda: PANDA.casadi("step", method="rk5"), "step has no method 'rk5'. Did you mean"),
    (lambda: hinge.samples.planar_2r().prescribe("shoulder").casadi("mass_matrix"),
     "casadi: robot 'planar_2r' has driven joints, and there are no derivatives by their motion.\n"),
])  # fmt: skip
def test_what_cannot_be_is_refused_by_name(asked, words):
    with pytest.raises(hinge.HingeError) as refused:
        asked()
    assert str(refused.value).startswith(words)


def test_without_casadi_it_says_what_to_install(monkeypatch):
    for name in ("hinge.calls.casadi_functions", "hinge.backends.casadi_expressions"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(hinge.NotCovered) as refused:
        PANDA.casadi("mass_matrix")
    assert str(refused.value) == (
        'functions of CasADi need CasADi, which is not installed.\n  pip install "hinge[casadi]"'
    )

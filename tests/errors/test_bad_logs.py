"""What is wrong with a log or with a fit's words, each message whole."""

import sys

import numpy as np
import pytest

import hinge
from hinge.identify import Log, fit, with_parameters

ROWS = np.zeros((4, 2))
T = [0.0, 0.1, 0.2, 0.3]


def refused(kind, do, *args, **options):
    with pytest.raises(kind) as caught:
        do(*args, **options)
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.planar_2r()


def test_times_go_forward():
    assert refused(hinge.SizeError, Log, [0.0, 0.2, 0.1, 0.3], ROWS, ROWS, ROWS) == (
        "log: t[2] = 0.1 comes after t[1] = 0.2.\n  Sort the rows by time, and give each time once."
    )
    assert refused(hinge.SizeError, Log, [0.0], ROWS, ROWS, ROWS) == (
        "log: t has shape (1,); it has to be (T,) with two rows or more."
    )


def test_there_is_a_row_for_each_time():
    assert refused(hinge.SizeError, Log, T, ROWS, ROWS[:3], ROWS) == (
        "log: qd has shape (3, 2); it has to be (4, …), a row a time."
    )
    assert refused(hinge.SizeError, Log, T, ROWS, ROWS, "no") == "log: tau is not an array of real numbers."


def test_a_log_is_of_this_robot(arm):
    wide = np.zeros((4, 3))
    assert refused(hinge.SizeError, fit, arm, Log(T, ROWS, ROWS, wide)) == (
        "log: tau has 3 entries a row, robot 'planar_2r' has nv = 2."
    )
    assert refused(hinge.SizeError, fit, arm, {"t": T, "q": ROWS, "tau": ROWS}) == (
        "log: the dict has no 'qd'. It has to have t, q, qd, tau, and may have qdd."
    )


def test_a_log_of_nothing_but_gaps(arm):
    gaps = np.full((4, 2), np.nan)
    assert refused(hinge.SizeError, fit, arm, Log(T, ROWS, ROWS, gaps)) == (
        "log: 4 rows have a number that is not finite, and 0 are left."
    )


def test_something_is_fitted_and_something_held_out(arm):
    log = Log(T, ROWS, ROWS, ROWS)
    for share in (0.0, 1.0, 0.05, -1):
        assert refused(hinge.SizeError, fit, arm, log, held_out=share) == (
            f"fit: held_out={share!r} of 4 rows leaves nothing to fit or nothing to judge by.\n"
            "  Give a share between 0 and 1, or another log."
        )


def test_a_log_at_rest_names_what_it_does_not_show(arm):
    t = np.arange(20.0)
    log = Log(t, np.linspace(0, 1, 40).reshape(20, 2), np.zeros((20, 2)), np.ones((20, 2)), np.zeros((20, 2)))
    with pytest.raises(hinge.ExcitationError) as caught:
        fit(arm, log, joint_terms=("damping",))
    assert {"shoulder.damping", "elbow.damping"} <= set(caught.value.names)
    assert "hinge.identify.excite" in str(caught.value)


def test_a_log_shorter_than_its_unknowns(arm):
    log = Log(T, ROWS, ROWS, ROWS)
    assert refused(hinge.SizeError, fit, arm, log, held_out=0.5) == (
        "fit: the log gives 4 equations for 7 base parameters. Give a longer one."
    )


def test_weights_are_sizes(arm):
    log = Log(np.arange(20.0), *[np.zeros((20, 2))] * 3)
    assert refused(hinge.SizeError, fit, arm, log, weights=[1.0]) == (
        "fit: weights has to be 2 numbers, none negative and not all zero; given was [1.0]."
    )


def test_parameters_fit_the_robot(arm):
    assert refused(hinge.SizeError, with_parameters, arm, [1.0, 2.0]) == (
        "with_parameters: values has shape (2,); robot 'planar_2r' has p = 22 with joint_terms=('armature',).\n"
        "  hinge.identify.parameter_names(robot) has their order."
    )
    bad = np.ones(22)
    bad[3] = np.inf
    assert refused(hinge.SizeError, with_parameters, arm, bad) == "with_parameters: upper.mz is not a finite number."
    assert "joint_terms has 'armatur'" in refused(hinge.UnknownName, hinge.identify.parameters, arm, ("armatur",))


def test_what_is_not_installed_is_named(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert 'pip install "hinge[solve]"' in refused(hinge.NotCovered, hinge.identify.excite, arm)


def test_a_fit_needs_no_package(arm, monkeypatch):
    for name in ("clarabel", "scipy", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 30, 2))
    log = Log(np.arange(30.0), q, qd, arm.inverse_dynamics(q, qd, qdd), qdd)
    assert np.all(fit(arm, log).after < 1e-9)


def test_a_robot_that_feels_nothing():
    slide = hinge.Builder("slide", gravity=(0.0, 0.0, 0.0))
    slide.link("rail")
    welded = hinge.Robot(slide.build())
    log = Log(T, *[np.zeros((4, 0))] * 3)
    assert refused(hinge.ExcitationError, fit, welded, log) == "fit: robot 'slide' has no parameter that a joint feels."

"""What a simulation is given and cannot use: where, what, and what to do."""

import numpy as np
import pytest
from sim_robots import START, bounded_arm, double_pendulum, flyer, free_body

import hinge
from hinge import NotCovered, SizeError, UnknownName

NAN = [0.1, np.nan]
WRONG = {
    "step zero": ({"step": 0.0}, SizeError, r"step=0.0 is not a time. Give a positive number of seconds"),
    "step negative": ({"step": -1e-3}, SizeError, "step=-0.001 is not a time"),
    "step NaN": ({"step": np.nan}, SizeError, "step=nan is not a time"),
    "step a word": ({"step": "fast"}, SizeError, "step='fast' is not a time"),
    "step of dopri5": ({"step": 0.0, "method": "dopri5"}, SizeError, r"step=0.0 is not a time"),
    "step auto": ({"step": "auto"}, SizeError, "needs velocity limits, and robot 'pendulum2' has none"),
    "t zero": ({"t": 0}, SizeError, "t=0 is not a time"),
    "t endless": ({"t": np.inf}, SizeError, "t=inf is not a time"),
    "t None": ({"t": None}, SizeError, "t=None is not a time"),
    "record zero": ({"record": 0}, SizeError, 'record=0 is not known. Give a whole number, 1 or more, or "last"'),
    "record half": ({"record": 0.5}, SizeError, r"record=0.5 is not known"),
    "record first": ({"record": "first"}, SizeError, "record='first' is not known"),
    "record of dopri5": ({"record": -1, "method": "dopri5"}, SizeError, "record=-1 is not known"),
    "record True": ({"record": True}, SizeError, "record=True is not known"),
    "sample": ({"sample": -1}, SizeError, "sample=-1 is not known. Give a whole number, 0 or more"),
    "sample of dopri5": ({"sample": 2, "method": "dopri5", "control": lambda t, q, qd: -q}, NotCovered,
                         "sample= does not go with method='dopri5'"),
    "keep": ({"keep": 0}, SizeError, "keep=0 is not known. Give a whole number, 1 or more"),
    "keep of midpoint": ({"keep": 2, "method": "midpoint"}, NotCovered, "keep=2 does not go here: 'midpoint'"),
    "keep of dopri5": ({"keep": 2, "method": "dopri5"}, NotCovered, "keep=2 does not go here: 'dopri5'"),
    "file of dopri5": ({"file": "x.zarr", "method": "dopri5"}, NotCovered, "file= does not go with method='dopri5'"),
    "rtol of rk4": ({"rtol": 1e-9}, NotCovered, "rtol= does not go with method='rk4': it estimates no error"),
    "append nowhere": ({"append": True}, SizeError, "append=True is about a file"),
    "t0 a word": ({"t0": "now"}, SizeError, "t0='now' is not a time"),
    "one event": ({"events": lambda t, q, qd: q[0]}, SizeError, "events has to be a list of functions"),
    "events that are none": ({"events": [3]}, SizeError, "events has to be a list of functions"),
    "an event of two numbers": ({"events": [lambda t, q, qd: q]}, SizeError, r"an event function gives \(2,\)"),
    "append and overwrite": ({"append": True, "overwrite": True, "file": "x"}, SizeError, "Give one of them"),
    "inputs an array": ({"control": lambda t, q, qd, a: a * q, "inputs": np.zeros(2)}, SizeError,
                        r"inputs is an array of shape \(2,\); give a list"),
    "inputs of either kind": ({"control": lambda t, q, qd, a: a * q, "inputs": [np.zeros(2)], "q0": np.zeros((2, 2))},
                              SizeError, r"inputs\[0\] has shape \(2,\): a number for each rollout, or 2 for all of "
                              r"them\?\n  Give \(2, 1\) or \(2, 2\)"),
    "keep and events": ({"keep": 2, "method": "euler", "events": [lambda t, q, qd: q[0]]}, NotCovered,
                        "events= do not go with keep=2"),
    "t0": ({"t0": float("inf")}, SizeError, "t0=inf is not a time"),
    "method": ({"method": "rk5"}, UnknownName, "method='rk5' is not known. Did you mean 'rk4'"),
    "field": ({"fields": ("q", "qdd")}, UnknownName, "fields='qdd' is not known. Did you mean 'qd'"),
    "limits": ({"limits": "stops"}, UnknownName, "limits='stops' is not known. Did you mean 'stop'"),
    "terms": ({"joint_terms": ("dampin",)}, UnknownName, "joint_terms has 'dampin'. Did you mean 'damping'"),
    "back end": ({"backend": "llwm"}, UnknownName, "no back end 'llwm'. Did you mean 'llvm'"),
    "tolerance": ({"method": "dopri5", "rtol": 0.0}, SizeError, r"rtol=0.0 and atol=1e-10 have to be positive"),
    "q0 short": ({"q0": [0.1]}, SizeError, r"q0 has shape \(1,\); it has to end in \(2,\)"),
    "q0 words": ({"q0": "down"}, SizeError, "q0 is not an array of real numbers"),
    "q0 NaN": ({"q0": NAN}, SizeError, r"q0 has a value that is not finite, at \(1,\)"),
    "qd0 long": ({"qd0": [0.1] * 3}, SizeError, r"qd0 has shape \(3,\); it has to end in \(2,\)"),
    "qd0 NaN": ({"qd0": [NAN]}, SizeError, r"qd0 has a value that is not finite, at \(0, 1\)"),
    "batches": ({"q0": np.zeros((3, 2)), "qd0": np.zeros((4, 2))}, SizeError, "do not fit together"),
    "tau NaN": ({"control": NAN}, SizeError, r"control has a value that is not finite, at \(1,\)"),
    "tau short": ({"control": [1.0]}, SizeError, r"control has shape \(1,\); robot 'pendulum2' has nv = 2"),
    "tau words": ({"control": "up"}, SizeError, "control is neither a function nor an array"),
    "tau rows": ({"control": np.zeros((7, 2)), "t": 0.01}, SizeError,
                 r"control has shape \(7, 2\): the axis before the last is time, and has to have 10 rows(?s:.*)"
                 r"Give \(2,\), held throughout, or \(10, 2\), a row a step"),
    "tau rows of dopri5": ({"control": np.zeros((7, 2)), "method": "dopri5"}, SizeError,
                           r"time, and has to have one row.\n  Give \(2,\), held throughout\.$"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_refused(name):
    options, kind, said = WRONG[name]
    with pytest.raises(kind, match=said):
        hinge.simulate(double_pendulum(), **{"q0": START} | options)


def test_no_robot():
    with pytest.raises(SizeError, match="simulate takes a robot first; a Model was given"):
        hinge.simulate(double_pendulum().model)
    builder = hinge.Builder("rock")
    builder.link("base")
    with pytest.raises(NotCovered, match="robot 'rock' has no moving joint"):
        hinge.simulate(hinge.Robot(builder.build()))


def test_a_driven_robot_wants_to_know_how_it_is_driven():
    with pytest.raises(SizeError, match=r"has driven joints(?s:.*)Give prescribed="):
        hinge.simulate(double_pendulum().prescribe("joint1"), 0.1)


def test_midpoint_refuses_quaternions():
    for robot, joint in ((free_body(), "'base' is free"), (flyer(), "'base' is free")):
        with pytest.raises(NotCovered, match=f"'midpoint' does not cover robot .*: joint {joint}(?s:.*)Use 'lie_rk4'"):
            hinge.simulate(robot, 0.1, method="midpoint")


def test_lie_rk4_refuses_motions_that_make_no_group():
    builder = hinge.Builder("wheel")
    builder.link("base")
    builder.link("wheel", 1.0, (0, 0, 0.1), np.eye(3))
    builder.joint("roll", "rolling", "base", "wheel", radius=0.3)
    with pytest.raises(
        NotCovered, match=r"'lie_rk4' does not cover robot 'wheel': joint 'roll' is rolling.*make no group"
    ):
        hinge.simulate(hinge.Robot(builder.build()), 0.1, method="lie_rk4")
    wheel = hinge.Robot(builder.build())
    with pytest.raises(NotCovered, match=r"joint 'roll' is rolling, whose motions make no group"):
        wheel.step(wheel.neutral(), np.zeros(wheel.nv), np.zeros(wheel.nv), 1e-3, method="lie_rk4")


def test_a_run_that_is_refused_leaves_no_file(tmp_path):
    refused = {
        r"control has shape \(1,\)": {"control": [1.0]},
        "Did you mean 'rk4'": {"method": "rk5"},
        "joint 'elbow' at 2, beyond its limit": {"limits": "stop", "q0": [0.0, 2.0]},
    }
    for words, wrong in refused.items():
        with pytest.raises(hinge.HingeError, match=words):
            hinge.simulate(bounded_arm(), 0.1, **wrong, file=tmp_path / "run.zarr")
    assert not list(tmp_path.iterdir())


def test_lists_and_single_precision_are_fine():
    one = hinge.simulate(double_pendulum(), 0.01, [1, 0], [0, 0])
    other = hinge.simulate(double_pendulum(), 0.01, np.array([1, 0], np.float32))
    assert np.array_equal(one.q, other.q)
    assert one.q.dtype == float

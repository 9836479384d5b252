"""Sweeps of robots that touch things: the same rollouts as `hinge.rollout`, by any number of workers."""

import numpy as np
import pytest

import hinge
from hinge import Ground, SizeError, SweepError
from hinge.sweeps import grid, normal, uniform

pytest.importorskip("distributed")

BOX = hinge.Scene().body("box", "box", (0.3, 0.2, 0.1), mass=2.0).robot
DROPPED = {
    "parameters": {"box.mass": uniform(1.0, 3.0)},
    "initial": {"q": normal([1.0, 0, 0, 0, 0, 0, 0.3], [0.1, 0.1, 0.1, 0.1, 0, 0, 0.02]), "qd": uniform(-0.5, 0.5)},
    "t": 0.4,
    "step": 2e-3,
    "method": "semi_implicit",
    "rollouts": 64,
    "chunk": 13,
    "contacts": "file",
    "ground": Ground(friction=0.6, restitution=0.3),
}
DRIVEN = """<mujoco model="driven"><worldbody>
<body><joint name="slide" type="slide" axis="1 0 0" damping="0.5"/><geom type="sphere" size="0.1" mass="1"/></body>
<body pos="0 1 0"><joint name="turn" axis="0 1 0"/><geom type="capsule" size="0.05 0.1" mass="1"/></body>
</worldbody><actuator><motor joint="slide" gear="3"/><position joint="turn" kp="4"/></actuator></mujoco>"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", ["rigid", "soft"])
def test_a_dropped_box_lands_as_in_a_rollout(tmp_path, law):
    made = hinge.sweep(BOX, **DROPPED, law=law, store=tmp_path / "a.zarr")
    data = made.open().load()
    mass, how = {"box.mass": data["box.mass"]}, {name: DROPPED[name] for name in ("contacts", "ground", "method")}
    q, qd, status = hinge.rollout(
        BOX.vary("box.mass"), data.q0, data.qd0, 200, 2e-3, parameters=mass, law=law, record=200, **how
    )
    assert made.complete
    assert np.array_equal(data.q_end, q[:, -1])
    assert np.array_equal(data.qd_end, qd[:, -1])
    assert np.array_equal(data.status, status)
    assert (data.q_end[:, 6] < 0.2).all()  # they have come down, and not through


def test_friction_and_restitution_differ_from_rollout_to_rollout(tmp_path):
    given = {"friction": uniform(0.1, 0.9), "restitution": grid([0.0, 0.5]), "box.spinning": 1e-3}
    made = hinge.sweep(BOX, **DROPPED | {"parameters": given, "rollouts": 8, "t": 0.3}, store=tmp_path / "a.zarr")
    data = made.open().load()
    numbers = {"friction": data.friction, "restitution": data.restitution, "box.spinning": 1e-3}
    how = {name: DROPPED[name] for name in ("contacts", "ground", "method")}
    run = hinge.rollout(BOX, data.q0, data.qd0, 150, 2e-3, parameters=numbers, **how)
    assert np.array_equal(data.q_end, run.q[:, -1])
    assert [data[name].attrs["units"] for name in ("friction", "restitution")] == ["1", "1"]
    with pytest.raises(SizeError, match=r"parameter 'restitution'.* is 2; give from 0 to 1"):
        hinge.sweep(BOX, **DROPPED | {"parameters": {"restitution": 2.0}}, store=tmp_path / "b.zarr")


@pytest.mark.sweep
def test_one_and_two_workers_drop_a_box_to_the_same_bits(tmp_path):
    here = hinge.sweep(BOX, **DROPPED, store=tmp_path / "a.zarr")
    hashes = [hinge.sweep(BOX, **DROPPED, workers=n, store=tmp_path / f"{n}.zarr").hash for n in (1, 2)]
    assert hashes == [here.hash] * 2


def test_another_ground_is_another_question(tmp_path):
    hinge.sweep(BOX, **DROPPED, store=tmp_path / "a.zarr")
    with pytest.raises(SweepError, match=r"options.ground is .*0.6.* there, and .*0.7.* here"):
        hinge.sweep(
            BOX, **DROPPED | {"ground": Ground(friction=0.7, restitution=0.3)}, store=tmp_path / "a.zarr", resume=True
        )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rollouts", [10, 50])
def test_controls_of_a_file_are_drawn_or_stream(tmp_path, rollouts):
    """Also where there are as many rollouts as steps."""
    path = tmp_path / "driven.xml"
    path.write_text(DRIVEN)
    robot = hinge.load(path)
    ask = {"t": 0.1, "step": 2e-3, "method": "semi_implicit", "physics": "file", "rollouts": rollouts}
    start = {"q_slide": uniform(-1.0, 1.0)}
    held = hinge.sweep(robot, None, start, **ask, ctrl=uniform([-1.0, 0.0], 1.0), store=tmp_path / "a").open()
    rows = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
    streamed = hinge.sweep(robot, None, start, **ask, ctrl=rows, store=tmp_path / "b").open()
    for data, controls in ((held, held.ctrl.values), (streamed, [rows] * rollouts)):
        for k, ctrl in enumerate(controls):
            q0 = [data.q0_slide[k], 0.0]
            one = hinge.rollout(robot, q0, [0.0, 0.0], 50, 2e-3, physics="file", ctrl=ctrl)
            assert np.array_equal(one.q[-1], data.q_end[k])

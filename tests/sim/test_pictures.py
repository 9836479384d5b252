"""What a picture of a trajectory has in it."""

import re
import sys

import numpy as np
import pytest

import hinge
from hinge.spatial.rotation import rotation_from_rpy

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def arm():
    builder = hinge.Builder("arm")
    builder.link("base")
    builder.link("rod", 1.0, (0, 0, -0.5), np.eye(3) * 0.1)
    builder.link("tip", 1.0, (0, 0, -0.5), np.eye(3) * 0.1)
    builder.joint("pivot", "revolute", "base", "rod", axis=(0, 1, 0), lower=-1.0, upper=0.5, effort=2.0)
    builder.joint("ball", "spherical", "rod", "tip", xyz=(0, 0, -1))
    return hinge.Robot(builder.build())


def simulated(arm, q0, **options):
    return hinge.simulate(arm, 0.1, q0=q0, step=0.01, backend="interpret", **options)


START = [0.3, 1.0, 0.0, 0.0, 0.0]


def panels(figure):
    return {ax.get_title(loc="left"): ax for ax in figure.axes if ax.get_visible()}


def curves(ax, run):
    """What is drawn at all times of a run."""
    return [line.get_ydata() for line in ax.lines if len(line.get_xdata()) == len(run)]


def test_the_panels_show_what_was_recorded(arm):
    run = simulated(arm, START, control=np.full(4, 0.5))
    drawn = panels(run.plot())
    assert list(drawn) == [
        "ball: roll, pitch, yaw (rad)", "position (rad)", "ball: angular velocity, own axes (rad/s)", "rate (rad/s)",
        "ball: couple, own axes (N m)", "force (N m)", "energy (J)",
    ]  # fmt: skip
    _, position, turning, rate, _, force, energy = drawn.values()
    np.testing.assert_array_equal(curves(position, run), run.q[:, :1].T)
    np.testing.assert_array_equal(curves(turning, run), run.qd[:, 1:].T)
    np.testing.assert_array_equal(curves(rate, run), run.qd[:, :1].T)
    np.testing.assert_array_equal(energy.lines[0].get_ydata(), run.energy())
    limits = [line.get_ydata()[0] for line in position.lines if line.get_linestyle() == "--"]
    assert limits == [-1.0, 0.5]
    assert [line.get_ydata()[0] for line in force.lines if line.get_linestyle() == "--"] == [-2.0, 2.0]
    (legend,) = run.plot().legends
    assert [text.get_text() for text in legend.get_texts()] == ["pivot"]
    assert [text.get_text() for text in turning.get_legend().get_texts()] == ["x", "y", "z"]


def test_a_base_is_drawn_by_its_place_and_by_angles_that_do_not_jump():
    scene = hinge.Scene().body("box", "box", (0.3, 0.2, 0.1), mass=2.0)
    run = hinge.simulate(scene.robot, 2.0, qd0=[0.3, 0.2, 5.0, 0.4, 0.0, 1.0], step=0.01, backend="interpret")
    drawn = panels(run.plot())
    assert list(drawn) == ["box: position (m)", "box: roll, pitch, yaw (rad)", "box: velocity, own axes (m/s)",
                           "box: angular velocity, own axes (rad/s)", "energy (J)"]  # fmt: skip
    np.testing.assert_array_equal(curves(drawn["box: position (m)"], run), run.q[:, 4:].T)
    angles = np.array(curves(drawn["box: roll, pitch, yaw (rad)"], run))
    turns = np.reshape([rotation_from_rpy(*x) for x in angles.T.tolist()], (-1, 3, 3))
    np.testing.assert_allclose(turns, scene.robot.pose(run.q, "box")[:, :3, :3], atol=1e-12)
    assert angles[2, -1] > 8.0
    assert np.abs(np.diff(angles)).max() < 0.1


def test_of_several_bases_colours_are_bodies_and_dashes_axes():
    scene = hinge.Scene().body("box", "box", (0.3, 0.2, 0.1), mass=2.0).body("ball", "sphere", 0.1, mass=1.0)
    run = hinge.simulate(scene.robot, 0.1, step=0.01, backend="interpret", control=np.ones(12))
    figure = run.plot()
    place, force = (panels(figure)[title] for title in ("position (m)", "force, own axes (N)"))
    assert len({line.get_color() for line in place.lines}) == 2
    assert [line.get_linestyle() for line in force.lines] == ["-", "--", ":"] * 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["box", "ball"]


def test_a_notebook_shows_one_unit_a_picture():
    builder = hinge.Builder("crane")
    builder.link("rail", 2.0, inertia=np.eye(3))
    builder.link("cart", 1.0)
    builder.link("pole", 0.3, (0, 0, -0.5), np.diag([0.025, 0.025, 0.0]))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    builder.joint("swing", "continuous", "cart", "pole", axis=(0, -1, 0))
    shown = simulated(hinge.Robot(builder.build(base="floating")), None)._repr_html_()
    assert re.findall(r"([a-z]+), 0 … 0.1 s: <span style=\S+>(\w+)<", shown) == [
        ("m", "x"), ("rad", "roll"), ("m", "slide"), ("rad", "swing"),
    ]  # fmt: skip


def test_joints_can_be_chosen(arm):
    run = simulated(arm, START)
    position = panels(run.plot(joints=["pivot"]))["position (rad)"]
    assert len([line for line in position.lines if len(line.get_xdata()) == len(run)]) == 1
    with pytest.raises(hinge.UnknownName, match=r"no joint 'pivto' to draw. Did you mean 'pivot'"):
        run.plot(joints=["pivto"])


def test_of_many_rollouts_the_median_and_bands(arm):
    q0 = np.array(START) + np.linspace(0, 0.1, 9)[:, None] * [1, 0, 0, 0, 0]
    run = simulated(arm, q0)
    q = run.q.copy()
    q[3, 5:] = np.nan  # a rollout that failed
    run.states["q"][3, 5:] = np.nan
    position = panels(run.plot(joints=["pivot"]))["position (rad)"]
    (median,) = (line for line in position.lines if len(line.get_xdata()) == len(run))
    np.testing.assert_allclose(median.get_ydata(), np.nanmedian(q[..., 0], axis=0))
    assert len(position.collections) == 2
    tops = [band.get_paths()[0].get_extents().ymax for band in position.collections]
    np.testing.assert_allclose(tops, np.nanpercentile(q[..., 0], [95, 75], axis=0).max(axis=1))


def test_less_is_drawn_where_less_was_recorded(arm):
    assert list(panels(simulated(arm, START, fields=("tau",)).plot(joints=["pivot"]))) == ["force (N m)"]
    with pytest.raises(hinge.TrajectoryError, match="nothing was recorded that could be drawn"):
        simulated(arm, START, fields=()).plot()


def test_without_matplotlib_it_is_said_what_to_install(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        hinge.TrajectoryError, match=r"pictures need the package matplotlib.\n  pip install .hinge\[plot\]."
    ):
        simulated(arm, START).plot()

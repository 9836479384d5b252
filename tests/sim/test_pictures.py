"""What a picture of a trajectory has in it."""

import sys

import numpy as np
import pytest

import hinge

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


def test_the_panels_show_what_was_recorded(arm):
    run = simulated(arm, START, control=np.full(4, 0.5))
    drawn = panels(run.plot())
    assert list(drawn) == ["position (rad, m)", "rate (rad/s, m/s)", "force (N m, N)", "energy (J)"]
    position, rate, force, energy = drawn.values()
    curves = [line for line in position.lines if len(line.get_xdata()) == len(run)]
    np.testing.assert_array_equal([line.get_ydata() for line in curves], run.q.T)
    assert len([line for line in rate.lines if len(line.get_xdata()) == len(run)]) == 4
    np.testing.assert_array_equal(energy.lines[0].get_ydata(), run.energy())
    limits = [line.get_ydata()[0] for line in position.lines if line.get_linestyle() == "--"]
    assert limits == [-1.0, 0.5]
    assert [line.get_ydata()[0] for line in force.lines if line.get_linestyle() == "--"] == [-2.0, 2.0]
    (legend,) = run.plot().legends
    assert [text.get_text() for text in legend.get_texts()] == ["pivot", "ball"]


def test_joints_can_be_chosen(arm):
    run = simulated(arm, START)
    position = panels(run.plot(joints=["pivot"]))["position (rad, m)"]
    assert len([line for line in position.lines if len(line.get_xdata()) == len(run)]) == 1
    with pytest.raises(hinge.UnknownName, match=r"no joint 'pivto' to draw. Did you mean 'pivot'"):
        run.plot(joints=["pivto"])


def test_of_many_rollouts_the_median_and_bands(arm):
    q0 = np.array(START) + np.linspace(0, 0.1, 9)[:, None] * [1, 0, 0, 0, 0]
    run = simulated(arm, q0)
    q = run.q.copy()
    q[3, 5:] = np.nan  # a rollout that failed
    run.states["q"][3, 5:] = np.nan
    position = panels(run.plot(joints=["pivot"]))["position (rad, m)"]
    (median,) = (line for line in position.lines if len(line.get_xdata()) == len(run))
    np.testing.assert_allclose(median.get_ydata(), np.nanmedian(q[..., 0], axis=0))
    assert len(position.collections) == 2
    tops = [band.get_paths()[0].get_extents().ymax for band in position.collections]
    np.testing.assert_allclose(tops, np.nanpercentile(q[..., 0], [95, 75], axis=0).max(axis=1))


def test_less_is_drawn_where_less_was_recorded(arm):
    assert list(panels(simulated(arm, START, fields=("tau",)).plot())) == ["force (N m, N)"]
    with pytest.raises(hinge.TrajectoryError, match="nothing was recorded that could be drawn"):
        simulated(arm, START, fields=()).plot()


def test_without_matplotlib_it_is_said_what_to_install(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        hinge.TrajectoryError, match=r"pictures need the package matplotlib.\n  pip install hinge\[plot\]"
    ):
        simulated(arm, START).plot()

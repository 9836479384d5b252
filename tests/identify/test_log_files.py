"""A fit from a file: CSV, Parquet or NPZ, columns by joint."""

import numpy as np
import pytest

import hinge
from hinge.identify import Log, fit, read


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.planar_2r()


@pytest.fixture(scope="module")
def measured(arm):
    t = np.arange(300.0)[:, None] / 50.0
    w = np.array([1.3, 2.1])
    q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)
    tau = arm.with_payload("lower", 0.5).inverse_dynamics(q, qd, qdd)
    return {"t": t[:, 0], "q": q, "qd": qd, "qdd": qdd, "tau": tau}


def written(measured, path, fields=("t", "q", "qd", "qdd", "tau"), time="t"):
    columns = {time: measured["t"]} if "t" in fields else {}
    for field in (f for f in fields if f != "t"):
        columns |= {f"{field}_{joint}": measured[field][:, k] for k, joint in enumerate(("shoulder", "elbow"))}
    if path.suffix == ".npz":
        np.savez(path, **{field: measured[field] for field in fields})
    elif path.suffix == ".csv":
        rows = np.column_stack(list(columns.values()))
        np.savetxt(path, rows, "%.17g", ",", header=",".join(columns), comments="")
    else:
        arrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        pyarrow.parquet.write_table(arrow.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_path_is_a_log(arm, measured, suffix, tmp_path):
    path = written(measured, tmp_path / f"log{suffix}")
    want = fit(arm, measured)
    for given in (path, str(path), [path]):
        made = fit(arm, given)
        np.testing.assert_allclose(made.base_values, want.base_values, rtol=1e-12)
    assert fit(arm, path, held_out=path).after.max() < 1e-9


def test_joints_are_found_by_name_in_any_order_and_accelerations_may_be_missing(arm, measured, tmp_path):
    swapped = {name: x[:, ::-1] if x.ndim == 2 else x for name, x in measured.items()}
    path = written(swapped, tmp_path / "log.csv", ("t", "tau", "q", "qd"), "time")
    text = path.read_text()
    path.write_text(text.replace("shoulder", "?").replace("elbow", "shoulder").replace("?", "elbow"))
    log = read(arm, path)
    np.testing.assert_array_equal(log.tau, measured["tau"])
    np.testing.assert_allclose(log.qdd, np.gradient(measured["qd"], measured["t"], axis=0))


def test_positions_are_enough_with_a_cutoff(arm, measured, tmp_path):
    path = written(measured, tmp_path / "log.parquet", ("t", "q", "tau"))
    log = read(arm, path, cutoff=5.0, load=("lower", 0.5))
    assert (log.cutoff, log.load) == (5.0, ("lower", 0.5))
    inside = (measured["t"] >= log.t[0] - 1e-9) & (measured["t"] <= log.t[-1] + 1e-9)
    np.testing.assert_allclose(log.qd, measured["qd"][inside], atol=3e-3)
    with pytest.raises(hinge.LogError, match=r"has no column of qd[\s\S]*read\(robot, path, cutoff="):
        fit(arm, path)


def test_what_a_file_lacks_is_said(arm, measured, tmp_path):
    path = written(measured, tmp_path / "log.csv", ("q", "qd", "tau"))
    with pytest.raises(hinge.LogError) as caught:
        fit(arm, path)
    assert str(caught.value) == f"{path} has no column of times.\n  Add one called t, in seconds."
    with pytest.raises(hinge.LogError, match="No such file"):
        fit(arm, tmp_path / "none.csv")
    with pytest.raises(hinge.SizeError, match=r"the dict has no 'tau'\. It has to have t, q, tau, and may have qdd"):
        read(arm, {"t": measured["t"], "q": measured["q"]}, cutoff=5.0)


def test_reading_leaves_a_log_as_it_is(arm, measured):
    log = Log(*(measured[f] for f in ("t", "q", "qd", "tau", "qdd")))
    loaded = read(arm, log, load=("lower", 1.0))
    assert log.load is None
    assert loaded.load == ("lower", 1.0)


def test_a_quantity_that_is_there_twice_is_refused(arm, measured, tmp_path):
    path = written(measured, tmp_path / "log.csv")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0] + ",shoulder", *(line + ",0.5" for line in lines[1:])]))
    for call in (lambda: fit(arm, path), lambda: hinge.logs.replay(arm, path)):
        with pytest.raises(hinge.LogError) as caught:
            call()
        assert str(caught.value) == (
            f"{path} has 'q_shoulder' and 'shoulder', which are one quantity.\n  Rename one, or leave it out."
        )
    both = tmp_path / "log.npz"
    np.savez(both, q_elbow=measured["q"][:, 1], **measured)
    with pytest.raises(hinge.LogError, match="has 'q' and 'q_elbow', which are one quantity"):
        fit(arm, both)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_marks_other_than_commas_are_named_whatever_numbers_look_like(arm, measured, mark, tmp_path):
    path = written(measured, tmp_path / "log.csv")
    text = path.read_text().replace(",", mark)
    for content in (text, text.replace(".", ",")):  # a table as it is written where decimals have commas
        path.write_text(content)
        with pytest.raises(hinge.LogError) as caught:
            fit(arm, path)
        assert str(caught.value) == (
            f"{path} has {mark!r} between its columns.\n  Write commas, and points in numbers."
        )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_log_without_rows_is_refused(arm, measured, suffix, tmp_path):
    path = written({name: x[:0] for name, x in measured.items()}, tmp_path / f"log{suffix}")
    out = tmp_path / "out.npz"
    calls = [
        lambda: fit(arm, path),
        lambda: hinge.logs.replay(arm, path),
        lambda: hinge.logs.run(arm, "gravity_force", path, out),
    ]
    for call in calls:
        with pytest.raises(hinge.LogError, match=r"has no rows\.\n  A log has a row for each time\."):
            call()


def test_angles_within_one_turn_are_joined(tmp_path):
    builder = hinge.Builder("wheel")
    builder.link("base")
    builder.link("rotor", 2.5, com=(0.2, 0.0, 0.0), inertia=np.diag([0.01, 0.02, 0.03]))
    builder.joint("axle", "continuous", "base", "rotor", axis=(0, 1, 0))
    wheel = hinge.Robot(builder.build())
    t = np.arange(2000.0)[:, None] / 200.0
    q, qd, qdd = 3.0 * t + np.sin(2.0 * t), 3.0 + 2.0 * np.cos(2.0 * t), -4.0 * np.sin(2.0 * t)
    tau = wheel.inverse_dynamics(q, qd, qdd)
    wrapped = (q + np.pi) % (2.0 * np.pi) - np.pi
    logs = [read(wheel, {"t": t[:, 0], "q": given, "tau": tau}, cutoff=10.0) for given in (q, wrapped)]
    np.testing.assert_allclose(logs[1].qd, logs[0].qd, atol=1e-9)
    np.testing.assert_allclose(logs[1].qdd, logs[0].qdd, atol=1e-7)
    assert fit(wheel, logs[1]).robot.mass == pytest.approx(2.5, rel=0.05)


def test_a_joint_with_limits_is_left_as_it_is():
    builder = hinge.Builder("wheel")
    builder.link("base")
    builder.link("rotor", 2.5, com=(0.2, 0.0, 0.0), inertia=np.diag([0.01, 0.02, 0.03]))
    builder.joint("axle", "revolute", "base", "rotor", axis=(0, 1, 0), lower=-9.0, upper=9.0)
    t = np.arange(2000.0)[:, None] / 200.0
    q = 4.0 * np.sign(np.sin(2.0 * t))
    log = read(hinge.Robot(builder.build()), {"t": t[:, 0], "q": q, "tau": q}, cutoff=10.0)
    assert np.abs(log.q).max() > 3.9
    assert np.abs(log.qd).max() > 50.0


@pytest.mark.parametrize("name", ["q", "qd", "tau", "qdd"])
@pytest.mark.parametrize("wrong", [np.zeros((4, 2)), np.zeros(3)])
def test_arrays_of_another_length_than_the_times_are_refused(name, wrong):
    arrays = {one: np.zeros((3, 2)) for one in ("q", "qd", "tau", "qdd")} | {name: wrong}
    with pytest.raises(hinge.SizeError, match=rf"log: {name} has shape \({len(wrong)},.*\); it has to be \(3, …\)"):
        Log([0.0, 0.1, 0.2], **arrays)

"""`hinge run`: algorithms on logs in CSV, Parquet and NPZ."""

import json
import subprocess
import sys

import numpy as np
import pytest
from saying import said

import hinge
from hinge import logs
from hinge.logs import tables

pa = pytest.importorskip("pyarrow")
csv, parquet = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.parquet")
ROWS = 23

pytestmark = pytest.mark.usefixtures("plain_interpreter")


@pytest.fixture
def states(lamp):
    robot, rng = hinge.load(lamp), np.random.default_rng(0)
    q, qd = robot.random_state(rng, ROWS)
    return {"q": q, "qd": qd, "qdd": rng.normal(size=qd.shape), "tau": rng.normal(size=qd.shape)}


def table(states, joints=("turn", "nod")):
    """A column a joint, in an order of their own, and a few that are nobody's."""
    columns = {"note": np.zeros(ROWS), "t": np.arange(ROWS) / 10}
    columns |= {
        f"{field}_{joint}": a[:, k] for field, a in states.items() for k, joint in reversed([*enumerate(joints)])
    }
    return pa.table(columns)


def written(folder, states, kind):
    path = folder / f"log.{kind}"
    if kind == "csv":
        csv.write_csv(table(states), path)
    elif kind == "parquet":
        parquet.write_table(table(states), path, row_group_size=7)
    elif kind == "npz":
        np.savez(path, t=np.arange(ROWS) / 10, **states)
    else:
        path = folder / "log.npz"
        np.savez_compressed(path, **{name: np.asarray(c) for name, c in zip(table(states).column_names, table(states))})  # noqa: B905
    return path


def read(path):
    """The columns of a log by another way than hinge's."""
    if path.suffix == ".csv":
        return {name: np.asarray(column) for name, column in csv.read_csv(path).to_pydict().items()}
    if path.suffix == ".parquet":
        return {name: np.asarray(column) for name, column in parquet.read_table(path).to_pydict().items()}
    return dict(np.load(path))


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "npz of columns"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out.npz"])
def test_inverse_dynamics_of_a_log(tmp_path, lamp, states, kind, out):
    log = written(tmp_path, states, kind)
    ended = said("run", "inverse-dynamics", lamp, "--in", log, "--out", tmp_path / out, "--json")
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["rows"] == ROWS
    made = read(tmp_path / out)
    wanted = hinge.load(lamp).inverse_dynamics(states["q"], states["qd"], states["qdd"])
    found = made["tau"] if out.endswith("npz") else np.stack([made["tau_turn"], made["tau_nod"]], axis=-1)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(made["t"], np.arange(ROWS) / 10)
    assert set(made) == ({"t", "tau"} if out.endswith("npz") else {"t", "tau_turn", "tau_nod"})
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("out")) == [out]


def test_what_comes_out_goes_in(tmp_path, lamp, states):
    """Forward dynamics of the forces that inverse dynamics wrote beside the motion gives the motion back."""
    log = written(tmp_path, states, "csv")
    said("run", "inverse-dynamics", lamp, "--in", log, "--out", tmp_path / "tau.parquet")
    both = table(states).drop_columns(["tau_turn", "tau_nod", "t"])
    for name, column in read(tmp_path / "tau.parquet").items():
        both = both.append_column(name, pa.array(column))
    parquet.write_table(both, tmp_path / "both.parquet")
    said("run", "forward_dynamics", lamp, "--in", tmp_path / "both.parquet", "--out", tmp_path / "qdd.csv")
    made = read(tmp_path / "qdd.csv")
    np.testing.assert_allclose(np.stack([made["qdd_turn"], made["qdd_nod"]], -1), states["qdd"], rtol=1e-9)


def test_every_algorithm_of_a_state_runs(tmp_path, states):
    assert set(logs.runnable()) >= {"inverse_dynamics", "forward_dynamics", "gravity_force", "mass_matrix", "pose",
                                    "kinetic_energy", "force_parts", "jacobian", "momentum"}  # fmt: skip
    assert not {"integrate", "step", "hybrid_dynamics"} & set(logs.runnable())
    robot = hinge.samples.planar_2r()
    log = tmp_path / "log.npz"
    np.savez(log, **states)
    for name in logs.runnable():
        if all(a.refuses(robot.model) for a in hinge.dynamics.registry.ALGORITHMS[name].values()):
            continue
        frame = hinge.dynamics.choose(robot.model, name).asks_for_a_frame
        assert logs.run(robot, name, log, tmp_path / "out.npz", at="hand" if frame else "", chunk=10) == ROWS
        made = np.load(tmp_path / "out.npz")
        needed = [one for one in robot.kernel(name).plan.inputs if one.name in states]
        wanted = getattr(robot.target, name)(*(states[one.name] for one in needed), *(["hand"] if frame else []))
        for key, one in zip(made, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            np.testing.assert_array_equal(made[key], one, err_msg=name)


@pytest.mark.parametrize(("name", "words", "columns"), [
    ("gravity-force", [], ["gravity_force_turn", "gravity_force_nod"]),
    ("mass-matrix", [], [f"mass_matrix_{a}_{b}" for a in ("turn", "nod") for b in ("turn", "nod")]),
    ("kinetic-energy", [], ["kinetic_energy"]),
    ("center-of-mass", [], ["center_of_mass_0", "center_of_mass_1", "center_of_mass_2"]),
    ("jacobian", ["--at", "head"], [f"jacobian_{k}_{joint}" for k in range(6) for joint in ("turn", "nod")]),
    ("pose", ["--at", "stem"], [f"pose_{i}_{j}" for i in range(4) for j in range(4)]),
])  # fmt: skip
def test_results_are_called_by_what_they_are(tmp_path, lamp, states, name, words, columns):
    log = written(tmp_path, states, "parquet")
    assert said("run", name, lamp, "--in", log, "--out", tmp_path / "out.csv", *words).exit_code == 0
    assert list(read(tmp_path / "out.csv")) == ["t", *columns]


def test_a_floating_base_has_its_coordinates_by_number(tmp_path, lamp):
    robot, rng = hinge.load(lamp, base="floating"), np.random.default_rng(0)
    q, qd = robot.random_state(rng, ROWS)
    columns = {f"q_base[{k}]": q[:, k] for k in range(7)} | {"turn": q[:, 7], "q_nod": q[:, 8]}
    columns |= {f"qd_base[{k}]": qd[:, k] for k in range(6)} | {"qd_turn": qd[:, 6], "qd_nod": qd[:, 7]}
    csv.write_csv(pa.table(columns), tmp_path / "log.csv")
    ended = said(
        "run", "bias-force", lamp, "--base", "floating", "--in", tmp_path / "log.csv", "--out", tmp_path / "o.npz"
    )
    assert ended.exit_code == 0, ended.output
    np.testing.assert_array_equal(np.load(tmp_path / "o.npz")["bias_force"], robot.bias_force(q, qd))


def test_chunks_of_any_size_give_the_same(tmp_path, lamp, states, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK", 700)
    robot = hinge.load(lamp)
    for kind in ("csv", "parquet", "npz"):
        log, seen = written(tmp_path, states, kind), []
        logs.run(robot, "inverse_dynamics", log, tmp_path / "o.npz", chunk=5, progress=lambda *x, s=seen: s.append(x))
        np.testing.assert_array_equal(
            np.load(tmp_path / "o.npz")["tau"], robot.inverse_dynamics(states["q"], states["qd"], states["qdd"])
        )
        assert len(seen) > 3
        assert seen == sorted(seen)
        assert seen[-1] == (1.0, ROWS)


def test_a_log_is_not_replaced_by_what_comes_of_it(tmp_path, lamp, states):
    log = written(tmp_path, states, "parquet")
    before = log.read_bytes()
    ended = said("run", "gravity-force", lamp, "--in", log, "--out", log, "--force")
    assert ended.exit_code == 2
    assert "is the log that is read, and would be lost.\n  Write to another file." in ended.stderr
    assert log.read_bytes() == before


def test_an_empty_cell_is_not_a_number(tmp_path, lamp):
    (tmp_path / "log.csv").write_text("q_turn, q_nod\n0.1,0.2\n0.1,\n0,1\n")
    words = ["--in", tmp_path / "log.csv", "--out", tmp_path / "o.npz", "--at", "head"]
    assert said("run", "pose", lamp, *words).exit_code == 0
    assert np.isnan(np.load(tmp_path / "o.npz")["pose"][:, 0, 0]).tolist() == [False, True, False]


def test_a_joint_that_follows_may_be_in_the_log(tmp_path):
    builder = hinge.Builder("hand")
    for name in ("palm", "left", "right"):
        builder.link(name, 1.0, (0.1, 0, 0), np.eye(3) * 0.01)
    builder.joint("a", "revolute", "palm", "left", axis=(0, 1, 0))
    builder.joint("b", "revolute", "palm", "right", axis=(0, 1, 0), mimic=("a", -1.0, 0.0))
    csv.write_csv(pa.table({"q_a": [0.1], "q_b": [-0.1]}), tmp_path / "log.csv")
    assert logs.run(hinge.Robot(builder.build()), "gravity_force", tmp_path / "log.csv", tmp_path / "o.csv") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told otherwise there")
def test_a_long_log_takes_the_memory_of_a_chunk(tmp_path, lamp):
    """40 MB of CSV make the process grow by less than it would take to hold it."""
    line = ",".join(["0.12345678901234"] * 6) + "\n"
    path = tmp_path / "log.csv"
    with open(path, "w") as file:
        file.write("q_turn,q_nod,qd_turn,qd_nod,qdd_turn,qdd_nod\n")
        for _ in range(40):
            file.write(line * 10_000)
    assert path.stat().st_size > 40e6
    code = """
import resource, sys
from hinge import load, logs
import pyarrow.csv, pyarrow.parquet
robot, most = load(sys.argv[1]), lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
logs.run(robot, "inverse_dynamics", sys.argv[3], sys.argv[4])
before = most()
assert logs.run(robot, "inverse_dynamics", sys.argv[2], sys.argv[4]) == 400_000
print((most() - before) / 1024)
"""
    small = tmp_path / "small.csv"
    small.write_text("".join(path.open().readlines(2_000_000)))
    run = [sys.executable, "-c", code, lamp, path, small, tmp_path / "out.parquet"]
    grown = float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert grown < 90

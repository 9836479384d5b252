"""Sweeps into a store: what is kept is what `rollout` gives, by number, whatever the chunks and who computes them."""

import json
import os

import interpreted_gpu
import numpy as np
import pytest
from sim_robots import bounded_arm, double_pendulum, flyer

import hinge
from hinge import SizeError, Status, SweepError, UnknownName
from hinge.sweeps import grid, latin, normal, table, uniform, zarr_store
from hinge.sweeps.workers import local

pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")

ASKED = {
    "parameters": {"rod1.mass": uniform(0.5, 2.0)},
    "initial": {"q": latin(-1.0, 1.0), "qd_joint2": grid([0.0, 1.0])},
    "t": 0.1,
    "step": 1e-2,
    "rollouts": 50,
    "chunk": 16,
}


MOON = double_pendulum().with_gravity((0.0, 0.0, -1.6))


def swept(place, robot=None, **changes):
    return hinge.sweep(robot or double_pendulum(), store=place, **ASKED | changes)


def test_a_store_has_what_rollout_gives(tmp_path):
    kept = ("final", "extremes", "trajectory")
    made = swept(tmp_path / "a.zarr", keep=kept, record=5)
    assert (made.rollouts, made.done, made.complete, made.failed, made.problems) == (100, 100, True, 0, ())
    data = made.open().load()
    robot = double_pendulum().vary("rod1.mass")
    qd0 = np.stack([np.zeros(100), data.qd0_joint2], axis=1)
    q, qd, status = hinge.rollout(
        robot, data.q0, qd0, 10, 1e-2, method="rk4", parameters={"rod1.mass": data["rod1.mass"]}
    )
    assert np.array_equal(data.q_end, q[:, -1])
    assert np.array_equal(data.qd_end, qd[:, -1])
    assert np.array_equal(data.q, q[:, ::5])
    assert np.array_equal(data.qd_max, qd.max(axis=1))
    assert np.array_equal(data.q_min, q.min(axis=1))
    assert np.array_equal(data.status, status)
    assert np.array_equal(data.time, [0.0, 0.05, 0.1])
    assert np.array_equal(np.sort(np.floor((data.q0[:, 0] + 1.0) * 50.0)), np.arange(100))
    again = made.again(77)
    assert np.array_equal(again.q, q[77])
    assert made.verify() == []


def test_the_hash_of_a_sweep_is_that_of_its_results(tmp_path):
    def hash_of(name, **changes):
        made = swept(tmp_path / name, **changes)
        assert made.complete
        return made.hash

    hashes = [hash_of("a.zarr"), hash_of("b.zarr"), hash_of("c.zarr", robot=MOON), hash_of("d.zarr", t=0.2)]
    assert all(len(bytes.fromhex(one)) == 32 for one in hashes)
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_xarray_opens_it_with_coordinates_and_units(tmp_path):
    swept(tmp_path / "a.zarr")
    data = xarray.open_zarr(tmp_path / "a.zarr", consolidated=False)
    assert set(data.coords) == {"rod1.mass", "q0", "qd0_joint2", "coordinate", "velocity"}
    assert list(data.coordinate.values) == ["joint1", "joint2"]
    units = {name: data[name].attrs["units"] for name in ("rod1.mass", "q0", "qd0_joint2", "q_end", "qd_end")}
    assert units == {"rod1.mass": "kg", "q0": "rad", "qd0_joint2": "rad/s", "q_end": "rad", "qd_end": "rad/s"}
    assert data.q_end.dims == ("rollout", "coordinate")
    assert float(data.q_end.sel(coordinate="joint2").mean()) == float(data.q_end[:, 1].mean())
    question = json.loads(data.attrs["question"])
    assert question["parameters"] == {"rod1.mass": {"uniform": [0.5, 2.0]}}
    assert data.status.attrs["flag_meanings"].split()[7:9] == ["DIVERGED", "UNCONVERGED"]


def test_units_of_joints_that_turn_slide_and_float(tmp_path):
    robot = flyer()
    parameters = {"elbow.damping": uniform(0.0, 0.1), "body.com": normal(0.0, 0.01), "gravity": normal(0.0, 1.0)}
    given = {"parameters": parameters, "initial": {"q_base": normal(0.0, 1.0), "q_elbow": 0.3}}
    made = hinge.sweep(
        robot, **given, t=0.02, rollouts=3, store=tmp_path / "a.zarr", joint_terms=("armature", "damping")
    )
    data = made.open()
    assert data.q0_base.attrs["units"] == ["1"] * 4 + ["m"] * 3
    assert data.q_end.attrs["units"] == ["1"] * 4 + ["m"] * 3 + ["1"] * 4 + ["rad"]
    assert data.qd_end.attrs["units"] == ["rad/s"] * 3 + ["m/s"] * 3 + ["rad/s"] * 4
    assert [data[name].attrs["units"] for name in parameters] == ["N m s/rad", "m", "m/s2"]
    np.testing.assert_allclose((data.q_end[:, :4] ** 2).sum("coordinate"), 1.0, atol=1e-12)
    assert np.array_equal(made.again(2).q[-1], data.q_end[2])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("chunk", [1, 7, 100, 1000])
def test_chunks_make_no_difference_to_the_numbers(tmp_path, chunk):
    a, b = swept(tmp_path / "a.zarr").open(), swept(tmp_path / "b.zarr", chunk=chunk).open()
    for name in set(a.variables) - {"digest"}:
        assert np.array_equal(a[name], b[name]), name


def test_only_what_is_missing_is_computed(tmp_path, monkeypatch):
    made = swept(tmp_path / "a.zarr")
    was = made.hash
    for chunk in (1, 5):
        (tmp_path / "a.zarr" / "digest" / f"c.{chunk}.0").unlink()
        (tmp_path / "a.zarr" / "q_end" / f"c.{chunk}.0").unlink()
    assert (made.hash, made.done, made.complete) == (None, 100 - 16 - 16, False)
    assert np.isnan(made.open().q_end[16:32]).all()
    asked = []
    answer = hinge.sweeps.question.Question.answer
    monkeypatch.setattr(
        hinge.sweeps.question.Question, "answer", lambda self, k, rows=None: asked.append(k[0]) or answer(self, k, rows)
    )
    again = swept(tmp_path / "a.zarr", resume=True)
    assert asked == [16, 80]
    assert again.hash == was


def test_what_was_damaged_is_found_and_computed_again(tmp_path):
    made = swept(tmp_path / "a.zarr")
    was, place = made.hash, tmp_path / "a.zarr" / "qd_end" / "c.3.0"
    content = bytearray(place.read_bytes())
    content[40] ^= 1
    place.write_bytes(content)
    assert made.verify() == [3]
    assert not made.complete
    assert swept(tmp_path / "a.zarr", resume=True).hash == was
    assert made.verify() == []


@pytest.mark.parametrize(
    "damage",
    [zarr_store._with_checksum(bytes(32)), bytes(36), b"", b"abc", bytes(40), None],
    ids=["zero", "unchecked", "empty", "short", "long", "link"],
)
@pytest.mark.parametrize("name", ["digest", "q_end"])
def test_a_chunk_that_a_power_cut_has_spoiled_is_computed_again(tmp_path, name, damage):
    was, place = swept(tmp_path / "a.zarr").hash, tmp_path / "a.zarr" / name / "c.3.0"
    whole = place.read_bytes()
    if damage is None:
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.write_bytes(damage)
    again = swept(tmp_path / "a.zarr", resume=True)
    assert again.hash == was
    assert again.verify() == []
    assert place.read_bytes() == whole
    assert not place.is_symlink()
    place.write_bytes(b"")
    assert again.verify() == [3]
    assert not again.complete
    assert again.hash is None


@pytest.mark.parametrize("name", ["q", "status", "digest"])
def test_a_flipped_bit_in_a_chunk_of_a_sweep_is_noticed(tmp_path, name):
    """By whoever reads it: hinge, xarray, and a view of single rollouts."""
    asked = {"keep": ("trajectory",), "rollouts": 10}
    place, rng = tmp_path / "a.zarr", np.random.default_rng(0)
    made = swept(place, **asked)
    file = next((place / name).glob("c.1*"))
    whole = file.read_bytes()
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="checksum"):
            _ = made.open()[name].values
        if name == "digest":
            assert made.hash is None
            continue
        with pytest.raises(SweepError, match=rf"a.zarr.{name}.{file.name} is damaged(?s:.*)resume=True"):
            _ = zarr_store.kept(place, double_pendulum(), [17])
    assert made.verify() == [1]
    assert swept(place, **asked, resume=True).complete
    assert file.read_bytes() == whole


def test_a_store_that_lost_an_array_or_leads_elsewhere_is_refused(tmp_path):
    place, kept = tmp_path / "a.zarr", {"keep": ("final", "trajectory")}
    swept(place, **kept)
    arrays = [file.parent.name for file in sorted(place.glob("*/zarr.json"))]
    assert {"time", "coordinate", "velocity", "q_end", "rod1.mass", "status"} < {*arrays}
    for name in arrays:
        (place / name).rename(tmp_path / name)
        with pytest.raises(SweepError, match=rf"has lost its array '{name}'|holds no sweep: '{name}'"):
            swept(place, resume=True, **kept)
        (place / name).symlink_to(tmp_path / name)
        with pytest.raises(SweepError, match=f"{name} is a symbolic link"):
            swept(place, resume=True, **kept)
        (place / name).unlink()
        (tmp_path / name).rename(place / name)
    assert swept(place, resume=True, **kept).complete


def test_a_chunk_is_on_the_disk_before_its_digest(tmp_path, monkeypatch):
    """Each file is synced before it gets its name, and the digest is written after all others have theirs."""
    synced, renamed = set(), []
    sync, rename = os.fsync, os.replace

    def noted(number):
        synced.add(os.fstat(number).st_ino)
        sync(number)

    def moved(source, target):
        if "/a.zarr/" in str(target):
            assert os.stat(source).st_ino in synced
            if os.path.basename(os.path.dirname(target)) == "digest":
                assert {os.stat(os.path.dirname(x)).st_ino for x in renamed} <= synced
            renamed.append(target)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", moved)
    swept(tmp_path / "a.zarr")
    assert any("digest" in str(x) for x in renamed)


def test_local_workers_listen_to_this_machine_only(monkeypatch):
    distributed, given = pytest.importorskip("distributed"), {}

    def cluster(**said):
        given.update(said)
        raise SweepError("enough", "")

    monkeypatch.setattr(distributed, "LocalCluster", cluster)
    with pytest.raises(SweepError, match="enough"), local(2):
        pass
    assert given["host"] == "127.0.0.1"
    assert given["dashboard_address"].startswith("127.0.0.1:")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 1}, "seed is 0 there, and 1 here"),
        ({"rollouts": 60}, "rollouts is 100 there, and 120 here\n    each is 50 there, and 60 here"),
        ({"t": 0.2}, "steps is 10 there, and 20 here"),
        ({"method": "euler"}, "options.method is rk4 there, and euler here"),
        (
            {"parameters": {"rod1.mass": uniform(0.5, 3.0)}},
            "parameters.rod1.mass is uniform(0.5, 2.0) there, and uniform(0.5, 3.0) here",
        ),
        ({"parameters": {}}, "parameters.rod1.mass is uniform(0.5, 2.0) there, and not given here"),
        (
            {"initial": {"q": latin(-1.0, 1.0), "qd_joint2": grid([0.0, 2.0])}},
            "initial.qd0_joint2 is grid(0.0, 1.0) there, and grid(0.0, 2.0) here",
        ),
        ({"keep": ("final", "extremes")}, "keep is ['final'] there, and ['final', 'extremes'] here"),
        ({"control": lambda t, q, qd: -qd}, "options.policy is not given there, and function <lambda> here"),
        (
            {"robot": MOON},
            f"robot.digest is {double_pendulum().model.digest[:12]} there, and {MOON.model.digest[:12]} here",
        ),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_another_question_in_the_same_store_is_refused_with_the_difference(tmp_path, changes, said):
    place = tmp_path / "a.zarr"
    swept(place)
    with pytest.raises(SweepError) as caught:
        swept(place, resume=True, **changes)
    assert str(caught.value) == f"{place} answers another question:\n    {said}\n  Give another store, or ask the same."


def test_two_controllers_of_one_name_are_told_apart(tmp_path):
    law = lambda gain: lambda t, q, qd: -gain * qd
    swept(tmp_path / "a.zarr", control=law(1.0))
    assert swept(tmp_path / "a.zarr", control=law(1.0), resume=True).complete
    with pytest.raises(SweepError, match="its controller or what else acts is another"):
        swept(tmp_path / "a.zarr", control=law(2.0), resume=True)


def test_a_store_that_is_there_is_gone_on_with_only_when_asked_to(tmp_path):
    swept(tmp_path / "a.zarr")
    with pytest.raises(SweepError, match=r"holds this sweep already, 100 of 100 rollouts.\n  With resume=True"):
        swept(tmp_path / "a.zarr")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("mine")
    with pytest.raises(SweepError, match="letters holds no sweep"):
        swept(tmp_path / "letters", resume=True)
    assert (tmp_path / "letters" / "one.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert swept(tmp_path / "empty").complete


def test_gains_forces_and_tables_differ_from_rollout_to_rollout(tmp_path):
    control = lambda t, q, qd, gain, to: -gain * (q - to)
    gains, to = [1.0, 10.0, 100.0], np.arange(6.0).reshape(3, 2)
    made = hinge.sweep(
        double_pendulum(), t=0.1, control=control, inputs=(table(gains), table(to)), store=tmp_path / "a"
    )
    q, qd, _ = hinge.rollout(
        double_pendulum(),
        np.zeros((3, 2)),
        np.zeros(2),
        100,
        1e-3,
        method="rk4",
        policy=control,
        inputs=(np.array(gains), to),
    )
    assert np.array_equal(made.open().q_end, q[:, -1])
    assert np.array_equal(made.open().input1, to)
    made = hinge.sweep(double_pendulum(), t=0.1, control=uniform(-1.0, 1.0), rollouts=3, store=tmp_path / "b")
    data = made.open()
    q, qd, _ = hinge.rollout(double_pendulum(), np.zeros((3, 2)), np.zeros(2), 100, 1e-3, method="rk4", tau=data.tau)
    assert np.array_equal(data.qd_end, qd[:, -1])
    assert data.tau.attrs["units"] == "N m"
    taus = np.random.default_rng(0).normal(size=(100, 2))
    made = hinge.sweep(
        double_pendulum(), initial={"q": uniform(0, 1)}, t=0.1, control=taus, rollouts=3, store=tmp_path / "c"
    )
    q, _, _ = hinge.rollout(double_pendulum(), made.open().q0, np.zeros(2), 100, 1e-3, method="rk4", taus=taus)
    assert np.array_equal(made.open().q_end, q[:, -1])


def test_rollouts_that_fail_are_listed_with_their_numbers_and_stop_no_other(tmp_path):
    kick = grid([0.0, 1e9])
    made = hinge.sweep(double_pendulum(), initial={"qd_joint1": kick}, t=0.1, rollouts=2, store=tmp_path / "a.zarr")
    assert made.complete
    assert made.failed == 2
    assert [(one.rollout, one.status) for one in made.failures()] == [(2, Status.DIVERGED), (3, Status.DIVERGED)]
    assert made.failures(1)[0].given == {"qd0_joint1": 1e9}
    assert np.isnan(made.open().q_end[2:]).all()
    assert np.isfinite(made.open().q_end[:2]).all()
    assert "  2 failed:\n    rollout 2 DIVERGED, qd0_joint1 = 1e+09\n    rollout 3 DIVERGED, " in repr(made)


def test_a_rollout_that_is_refused_stops_no_other(tmp_path):
    arm = bounded_arm(-0.4, 0.6)
    places = np.array([*np.linspace(-0.3, 0.5, 10), 0.7])  # the last is beyond the stop
    ask = {"initial": {"q_elbow": table(places)}, "t": 0.05, "limits": "stop"}
    made = hinge.sweep(arm, **ask, store=tmp_path / "a.zarr")
    assert [(one.rollout, one.status) for one in made.failures()] == [(10, Status.REFUSED)]
    q0 = np.stack([np.zeros(10), places[:10]], axis=1)
    q, _, _ = hinge.rollout(arm, q0, np.zeros(2), 50, 1e-3, method="rk4", limits="stop")
    assert np.array_equal(made.open().q_end[:10], q[:, -1])
    with pytest.raises(SizeError, match=r"q0 has joint 'elbow' at 0.7, beyond its limit 0.6"):
        made.again(10)
    with pytest.raises(SizeError, match="beyond its limit"):
        hinge.sweep(arm, **ask | {"initial": {"q_elbow": 0.7}}, store=tmp_path / "none.zarr")
    assert not (tmp_path / "none.zarr").exists()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"parameters": {"rod9.mass": 1.0}}, UnknownName, "rod9"),
        ({"initial": {"q_joint9": 1.0}}, UnknownName, "joint9"),
        ({"initial": {"speed": 1.0}}, UnknownName, "sweep: initial has no 'speed'."),
        (
            {"initial": {"q": uniform([0.0] * 3, 1.0)}},
            SizeError,
            "sweep: q0: low of uniform has shape (3,); give a number, or (2,).",
        ),
        ({"initial": {"q": grid([0.0, 1.0])}}, SizeError, "sweep: q0: the grid has shape (2,); give (k, 2)."),
        (
            {"initial": {"q": [0.0] * 3}},
            SizeError,
            "sweep: q0 has shape (3,); give (2,), a number, or a spread such as uniform(low, high).",
        ),
        (
            {"initial": {"q": table(np.zeros((5, 2)))}},
            SizeError,
            "the table of 'q0' has 5 rows, and there are 50 rollouts at each point of the grids.",
        ),
        ({"keep": ("end",)}, UnknownName, "keep='end' is not known."),
        ({"keep": "trajectory", "record": 7}, SizeError, "record=7 does not divide the 10 steps"),
        ({"stepz": 1}, UnknownName, "sweep: option 'stepz' is not known."),
        ({"control": lambda t, q, qd: np.array([float(q[0]), 0.0])}, hinge.TraceError, "the policy cannot be traced"),
        ({"rollouts": 0}, SizeError, "rollouts=0 is not known. Give a whole number, 1 or more."),
        ({"workers": 2, "client": object()}, SweepError, "client= and workers= were both given."),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_what_cannot_be_asked_is_refused_before_anything_is_written(tmp_path, given, error, said):
    with pytest.raises(error) as caught:
        swept(tmp_path / "a.zarr", **given)
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_states_take_no_more_memory_than_some_rollouts_need(tmp_path, monkeypatch):
    """Of whole trajectories that are looked at for extremes, and the same whatever the number of those at once."""
    whole = swept(tmp_path / "a.zarr", keep="extremes")
    most, run = [], hinge.sweeps.question.Question.run
    monkeypatch.setattr(hinge.sweeps.question, "ROOM", 8 * 11 * 4 * 3)

    def counted(self, given, record, steps=None):
        made = run(self, given, record, steps)
        most.append(made.q.nbytes + made.qd.nbytes)
        return made

    monkeypatch.setattr(hinge.sweeps.question.Question, "run", counted)
    again = swept(tmp_path / "b.zarr", keep="extremes")
    assert max(most) <= 8 * 11 * 4 * 3
    assert again.hash == whole.hash


def test_a_line_of_progress_says_how_far_how_fast_and_how_long(tmp_path, capsys):
    swept(tmp_path / "a.zarr", progress=True)
    said = capsys.readouterr().err
    assert said.startswith("100 of 100 rollouts, ")
    assert " a second, 0:00:00 left\n" in said


def test_a_gpu_answers_where_it_is_asked_to(tmp_path, monkeypatch):
    """One that is none: what is drawn is the same, and what comes of it is what `rollout` gives there."""
    interpreted_gpu.pretend(monkeypatch)
    here, made = swept(tmp_path / "a.zarr").open(), swept(tmp_path / "b.zarr", backend="cuda")
    there = made.open()
    assert json.loads(there.attrs["question"])["options"]["backend"] == "cuda"
    for name in here.coords:
        assert np.array_equal(here[name], there[name])
    qd0 = np.stack([np.zeros(100), there.qd0_joint2], axis=1)
    robot, mass = double_pendulum().vary("rod1.mass"), {"rod1.mass": there["rod1.mass"]}
    run = hinge.rollout(robot, there.q0, qd0, 10, 1e-2, method="rk4", parameters=mass, backend="cuda")
    assert np.array_equal(there.q_end, run.q[:, -1])
    np.testing.assert_allclose(there.q_end, here.q_end, rtol=0, atol=1e-12)

"""What all commands have in common: how a robot is read, what a fault ends with, what is overwritten, streams."""

import io
import json

import numpy as np
import pytest
from saying import LAMP, refused, said

import hinge
from hinge.cli import VERBS, main
from hinge.cli.faults import flagged

ROBOT, OUT = object(), object()  # in a command: its robot, and a place to write to
READERS = {
    "demo": ["demo", ROBOT, "--no-view", "--seconds", "0.01"],
    "show": ["show", ROBOT],
    "check": ["check", ROBOT],
    "convert": ["convert", ROBOT, "new.urdf"],
    "repair": ["repair", ROBOT, "new.urdf"],
    "identify": ["identify", ROBOT, "--in", "log.npz"],
    "run": ["run", "gravity-force", ROBOT, "--in", "log.npz", "--out", "new.npz"],
    "simulate": ["simulate", ROBOT, "--time", "0.02", "--step", "0.01"],
    "view": ["view", ROBOT, "--port", "0"],
    "film": ["film", "log.npz", "new.html", "--robot", ROBOT],
    "count": ["count", ROBOT, "gravity_force"],
    "bench": ["bench", ROBOT, "pose", "--seconds", "0.01", "--states", "4"],
    "equations": ["equations", ROBOT, "potential_energy"],
    "export": ["export", ROBOT, "--c", "code"],
}
WRITERS = {
    "demo": ["demo", "--plot", OUT, "--no-view"],
    "convert": ["convert", "lamp.urdf", OUT],
    "repair": ["repair", "lamp.urdf", OUT],
    "identify": ["identify", "lamp.urdf", "--in", "log.npz", "--out", OUT],
    "run": ["run", "gravity-force", "lamp.urdf", "--in", "log.npz", "--out", OUT],
    "simulate --out": ["simulate", "lamp.urdf", "--time", "0.02", "--step", "0.01", "--out", OUT],
    "simulate --plot": ["simulate", "lamp.urdf", "--time", "0.02", "--step", "0.01", "--plot", OUT],
    "simulate --film": ["simulate", "lamp.urdf", "--time", "0.02", "--step", "0.01", "--film", OUT],
    "film": ["film", "log.npz", OUT, "--robot", "lamp.urdf", "--speed", "100"],
}
SUFFIX = {
    "demo": "png",
    "run": "npz",
    "simulate --out": "npz",
    "simulate --plot": "png",
    "simulate --film": "html",
    "film": "html",
}


def spoken(words, **given):
    """A command with its robot and its place put in."""
    marks = {ROBOT: given.get("robot"), OUT: given.get("out")}
    return [marks.get(word, word) if not isinstance(word, str) else word for word in words]


@pytest.fixture(autouse=True)
def place(tmp_path, lamp, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    heavier = hinge.load(lamp).with_payload("head", 0.5, (0.1, 0.0, 0.2))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    tau = heavier.inverse_dynamics(q, qd, qdd, joint_terms=("armature", "damping", "friction"))
    np.savez("log.npz", t=np.arange(200.0), q=q, qd=qd, qdd=qdd, tau=tau)
    return tmp_path


# ---- a robot


def test_every_command_that_takes_a_robot_is_here():
    taking = {
        verb for verb in VERBS if {"base", "packages"} & {one.name for one in main.get_command(None, verb).params}
    }
    assert taking == {*READERS, "sweep"}
    robots = {verb for verb in VERBS if "robot" in {one.name for one in main.get_command(None, verb).params}}
    assert robots <= taking


@pytest.mark.parametrize("verb", READERS)
def test_base_and_packages_reach_the_reader(verb, monkeypatch):
    seen = []

    def read(source, *given, base, packages, **more):
        seen.append((str(source), base, tuple(packages)))
        raise hinge.DeviceError("enough")

    monkeypatch.setattr(hinge, "check" if verb == "check" else "load", read)
    words = spoken(READERS[verb], robot="lamp.urdf")
    assert refused(*words, "--base", "floating", "--packages", "a", "--packages", "b", code=1) == "enough\n"
    assert refused(*words, code=1) == "enough\n"
    assert seen == [("lamp.urdf", "floating", ("a", "b")), ("lamp.urdf", "fixed", ())]


def test_a_sweep_has_the_base_its_file_says_or_the_flag(place, monkeypatch):
    seen = []

    def read(source, base, packages):
        seen.append((base, tuple(packages)))
        raise hinge.DeviceError("enough")

    monkeypatch.setattr("hinge.sweeps.toml_file.load", read)
    (place / "s.toml").write_text('robot = "lamp.urdf"\nstore = "s.zarr"\nbase = "floating"\n')
    for words in ([], ["--base", "fixed", "--packages", "a"]):
        assert refused("sweep", "s.toml", *words) == "enough\n"
    assert seen == [("floating", ()), ("fixed", ("a",))]


@pytest.mark.parametrize("verb", ["show", "check", "count", "equations", "simulate", "identify", "run", "export"])
def test_a_robot_comes_from_standard_input(verb, place):
    from_file = said(*spoken(READERS[verb], robot="lamp.urdf"))
    for made in ("new.npz", "code"):
        if (place / made).exists():
            (place / made).rename(f"first.{made}")
    from_stream = said(*spoken(READERS[verb], robot="-"), stdin=LAMP)
    assert from_file.exit_code == from_stream.exit_code == 0, from_stream.output
    if verb == "run":
        np.testing.assert_equal(dict(np.load("new.npz")), dict(np.load("first.new.npz")))
    else:
        assert from_stream.stdout == from_file.stdout.replace("lamp.urdf: nothing", "the text: nothing")


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
def test_standard_input_is_of_any_format(suffix):
    arm = hinge.samples.planar_2r()
    hinge.write(arm, f"arm{suffix}")
    with open(f"arm{suffix}", "rb") as file:
        told = json.loads(said("show", "-", "--json", stdin=file.read()).stdout)
    assert (told["nv"], told["mass"]) == (2, pytest.approx(arm.mass))


def test_standard_input_is_read_once():
    for words in (["check", "-", "-"], ["run", "pose", "-", "--in", "-", "--out", "-"]):
        ended = said(*words, stdin=LAMP)
        assert ended.exit_code == 2
        assert ended.stderr.endswith("- is given twice, and standard input can be read once.\n")


# ---- faults


FAULTS = [  # the fault, exit code, first line
    ("missing", 2, "gone.urdf cannot be read: No such file or directory."),
    ("folder", 2, "folder.urdf cannot be read: it is a folder."),
    ("broken", 2, "broken.urdf:"),
    ("empty stream", 2, "line 1: "),
    ("base", 2, "Invalid value for '--base': 'flying' is not one of 'fixed', 'floating'."),
    ("flag", 2, "No such option"),
]


@pytest.mark.parametrize(("fault", "code", "line"), FAULTS, ids=[row[0] for row in FAULTS])
@pytest.mark.parametrize("verb", READERS)
def test_a_fault_ends_every_command_alike(verb, fault, code, line, place):
    (place / "folder.urdf").mkdir()
    (place / "broken.urdf").write_text(LAMP[:60])
    robot = {"missing": "gone.urdf", "folder": "folder.urdf", "broken": "broken.urdf", "empty stream": "-"}
    if (verb, fault) == ("view", "folder"):
        pytest.skip("a folder is a saved run there")
    more = {"base": ["--base", "flying"], "flag": ["--flagg"]}.get(fault, [])
    ended = said(*spoken(READERS[verb], robot=robot.get(fault, "lamp.urdf")), *more, stdin="")
    assert ended.exit_code == code, ended.output
    assert line in ended.output.replace("error: ", "").rpartition("Error: ")[2]
    assert not (place / "new.urdf").exists()


def test_a_missing_file_is_answered_as_one(place):
    (place / "far.urdf").write_text(LAMP)
    message = "xyzzy.urdf cannot be read: No such file or directory.\n  Check the path; beside it there is far.urdf, "
    assert refused("show", "xyzzy.urdf") == f"{message}lamp.urdf.\n"
    assert refused("show", "nowhere/lamp.urdf").endswith("  There is no folder nowhere.\n")
    assert refused("sweep", "s.toml") == "s.toml cannot be read: No such file or directory.\n  Check the path.\n"
    assert "log.csv cannot be read: No such file" in refused(
        *READERS["run"][:2], "lamp.urdf", "--in", "log.csv", "--out", "x.csv"
    )


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["simulate", "lamp.urdf", "--method", "rk5"], 2, "--method 'rk5' is not known."),
        (["simulate", "lamp.urdf", "--time", "-1"], 2, "--time -1.0 is not a time."),
        (["simulate", "lamp.urdf", "--step", "-1"], 2, "--step -1.0"),
        (["simulate", "lamp.urdf", "--joint-terms", "x"], 2, "--joint-terms has 'x'."),
        (["identify", "lamp.urdf", "--in", "log.npz", "--held-out", "2"], 2, "--held-out 2.0 of 200 rows"),
        (["identify", "lamp.urdf", "--in", "still.npz"], 1, "or say --partial to leave them"),
        (["run", "pose", "lamp.urdf", "--in", "log.npz", "--out", "x.npz"], 2, "--at names none."),
        (["repair", "lamp.urdf", "new.urdf", "--only", "x"], 2, "Invalid value for '--only': 'x' is not one of"),
        (["convert", "lamp.urdf", "-"], 2, "--to says the format of what goes to -"),
        (["convert", "lamp.urdf", "new.step"], 2, "new.step has the suffix '.step'."),
        (["convert", "lamp.urdf", "gone/new.urdf"], 1, "gone/new.urdf cannot be written: there is no folder gone."),
        (["simulate", "lamp.urdf", "--plot", "-"], 2, "standard output is no place for it"),
        (["simulate", "lamp.urdf", "--film", "x.avi"], 2, "--film '.avi' is not known. Known: '.gif', '.html',"),
    ],
)  # fmt: skip
def test_messages_name_flags(words, code, line, place):
    still = np.zeros((50, 2))
    np.savez("still.npz", t=np.arange(50.0), q=still, qd=still, tau=still + 1.0)
    assert line in refused(*words, code=code)


def test_only_arguments_that_are_flags_become_flags():
    flags = {"t": "--time", "packages": "--packages", "at": "--at"}
    assert flagged("q_t=1 and 't=2' stay, t=3 goes.", flags) == "q_t=1 and 't=2' stay, --time 3 goes."
    assert flagged("Read it with packages=['/a b'].", flags) == "Read it with --packages /a b."
    assert flagged("a hat=1; at= names none, at last", flags) == "a hat=1; --at names none, at last"


# ---- overwriting


@pytest.mark.parametrize("which", WRITERS)
def test_nothing_is_overwritten_without_force(which, place):
    out = place / f"there.{SUFFIX.get(which, 'urdf')}"
    out.write_text("precious")
    words = spoken(WRITERS[which], out=out.name)
    message = f"{out.name} is there already.\n  Choose another place, or overwrite it with --force.\n"
    assert refused(*words, code=1) == message
    assert out.read_text() == "precious"
    if which != "demo":  # which would compute for long
        assert said(*words, "--force").exit_code == 0
        assert out.read_bytes() != b"precious"


def test_export_and_saved_runs_neither(place):
    assert said("export", "lamp.urdf", "--c", "code").exit_code == 0
    assert "lamp.h is there already." in refused("export", "lamp.urdf", "--c", "code", code=1)
    assert said("export", "lamp.urdf", "--c", "code", "--force").exit_code == 0
    pytest.importorskip("zarr")
    words = ["simulate", "lamp.urdf", "--time", "0.02", "--step", "0.01", "--out", "run.zarr"]
    assert said(*words).exit_code == 0
    assert refused(*words, code=1).startswith("run.zarr is there already.")
    assert said(*words, "--force").exit_code == 0


# ---- robots that are written, and streams


def test_a_robot_goes_around_through_streams(place):
    pipe = LAMP
    for to in ("mjcf", "urdf", "mjcf", "urdf"):
        ended = said("convert", "-", "-", "--to", to, stdin=pipe)
        assert ended.exit_code == 0, ended.output
        pipe = ended.stdout
    ours, theirs = hinge.load(pipe), hinge.load("lamp.urdf")
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 5, 2))
    np.testing.assert_allclose(ours.inverse_dynamics(q, qd, qdd), theirs.inverse_dynamics(q, qd, qdd), rtol=1e-12)


def test_a_file_and_the_stream_are_the_same_text(place):
    assert said("convert", "lamp.urdf", "new.xml").exit_code == 0
    assert said("convert", "lamp.urdf", "-", "--to", "mjcf").stdout == (place / "new.xml").read_text()


def test_what_a_format_cannot_say_is_printed_beside_it(place):
    ended = said("convert", "lamp.urdf", "new.xml")
    assert ended.stdout.endswith("\nnote: joint 'nod': MJCF has no limits of velocity; they were left out.\n")
    assert ended.stderr == "wrote new.xml\n"
    streamed = said("convert", "lamp.urdf", "-", "--to", "mjcf")
    assert streamed.stderr == ended.stdout
    told = json.loads(said("convert", "lamp.urdf", "json.xml", "--json").stdout)
    assert (told["out"], [one["code"] for one in told["findings"]]) == ("json.xml", ["continuous", "velocity"])


def test_a_missing_mesh_is_said_to_be_missing(place):
    mesh = '<visual><geometry><mesh filename="part.stl"/></geometry></visual></link>'
    (place / "r.urdf").write_text(LAMP.replace("</link>", mesh, 1))
    told = said("convert", "r.urdf", "r.xml").stdout
    assert "mesh 'part.stl' was not found; it was left out." in told
    assert "--packages" in told
    assert "MuJoCo opens" not in told


def test_a_repaired_robot_needs_no_repair(place):
    (place / "bad.urdf").write_text(LAMP.replace('izz="0.02"', 'izz="0.09"'))
    first = said("repair", "bad.urdf", "good.urdf")
    assert "link 'stem' had inertia" in first.stdout
    assert said("check", "bad.urdf").exit_code == 1
    assert said("check", "good.urdf").exit_code == 0
    assert said("repair", "good.urdf", "-", "--to", "urdf").stderr == ""
    with open("bad.urdf") as file:
        assert said("repair", "-", "-", "--to", "urdf", stdin=file.read()).stdout == (place / "good.urdf").read_text()


def test_the_robot_that_moved_is_found(place):
    ended = said("identify", "lamp.urdf", "--in", "log.npz", "--out", "fitted.urdf", "--json")
    assert ended.exit_code == 0, ended.output
    told = json.loads(ended.stdout)
    assert max(told["after"]) < 1e-9 < 1e-3 < max(told["before"])
    log, fitted = np.load("log.npz"), hinge.load("fitted.urdf")
    terms = ("armature", "damping", "friction")
    np.testing.assert_allclose(
        fitted.inverse_dynamics(log["q"], log["qd"], log["qdd"], joint_terms=terms), log["tau"], atol=1e-8
    )
    with open("log.npz", "rb") as file:
        again = said("identify", "lamp.urdf", "--in", "-", "--out", "-", "--to", "urdf", stdin=file.read())
    assert again.stdout == (place / "fitted.urdf").read_text()
    assert again.stderr.startswith("lamp: ")


def test_logs_go_through_streams(place):
    pytest.importorskip("pyarrow")
    words = ["simulate", "lamp.urdf", "--time", "0.1", "--step", "0.01"]
    assert said(*words, "--out", "a.csv").exit_code == 0
    moved = said(*words, "--out", "-")
    assert moved.stdout == (place / "a.csv").read_text()
    said("run", "kinetic-energy", "lamp.urdf", "--in", "a.csv", "--out", "b.csv")
    energy = said("run", "kinetic-energy", "lamp.urdf", "--in", "-", "--out", "-", "--json", stdin=moved.stdout)
    assert energy.stdout == (place / "b.csv").read_text()
    assert json.loads(energy.stderr)["rows"] == 11
    for kind in ("npz", "parquet"):
        assert said(*words, "--out", f"a.{kind}").exit_code == 0
        again = said("run", "kinetic-energy", "lamp.urdf", "--in", "-", "--out", "-",
                     stdin=(place / f"a.{kind}").read_bytes())  # fmt: skip
        assert again.stdout == energy.stdout


def test_a_stream_that_is_no_log_is_named(place):
    pytest.importorskip("pyarrow")
    words = ["run", "gravity-force", "lamp.urdf", "--in", "-", "--out", "-"]
    assert said(*words, stdin="q_turn\n1\n").stderr.startswith("Error: standard input has no column 'q_nod' or 'nod'.")
    broken = said(*words, stdin=io.BytesIO(b"q_turn,q_nod\n1,2\n3\n"))
    assert broken.exit_code == 2
    assert broken.stderr.startswith("Error: standard input cannot be read: CSV parse error")


# ---- what show and cache say


def test_findings_of_show_have_a_place(place):
    (place / "bad.urdf").write_text(LAMP.replace('izz="0.02"', 'izz="0.09"'))
    (finding,) = json.loads(said("show", "bad.urdf", "--json").stdout)["findings"]
    assert (finding["file"], finding["line"], finding["code"]) == ("bad.urdf", 3, "triangle")
    assert finding == json.loads(said("check", "bad.urdf", "--json").stdout)["findings"][0]


def test_masses_say_whether_the_base_is_in_them(place):
    foot = '<link name="foot"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    (place / "heavy.urdf").write_text(LAMP.replace('<link name="foot"/>', foot))
    assert "2 degrees of freedom, 2 kg without the fixed base of 3 kg" in said("show", "heavy.urdf").stdout
    assert "8 degrees of freedom, 5 kg\n" in said("show", "heavy.urdf", "--base", "floating").stdout
    told = json.loads(said("show", "heavy.urdf", "--json").stdout)
    assert (told["mass"], told["base_mass"]) == (2, 3)


def test_a_joint_that_follows_adds_no_freedom(place):
    (place / "tied.urdf").write_text(LAMP.replace("</joint>\n</robot>", '<mimic joint="turn"/></joint>\n</robot>'))
    assert "lamp: 1 degree of freedom (nod follows turn), 2 kg" in said("show", "tied.urdf").stdout


def test_the_cache_says_what_it_holds(tmp_path, monkeypatch):
    monkeypatch.setenv("HINGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HINGE_BACKEND", "llvm")
    robot = hinge.load("lamp.urdf")
    robot.gravity_force([0.1, 0.2])
    robot.kinetic_energy(np.zeros(2, np.float32), np.zeros(2, np.float32))
    entries = json.loads(said("cache", "--json").stdout)["entries"]
    about = {(one["robot"], one["algorithm"], one["backend"], one["numbers"]) for one in entries}
    assert about == {("lamp", "gravity_force", "llvm", "float64"), ("lamp", "kinetic_energy", "llvm", "float32")}
    for entry in (tmp_path / "cache").glob("*.kernel"):
        entry.with_name(f"other-{entry.name}").write_bytes(entry.read_bytes()[:60])  # which says nothing of itself
    shown = said("cache").stdout
    assert "gravity_force" in shown
    assert "4 kernels, " in shown

"""`hinge sweep`: a question in a file, gone on with, on workers; and files that ask nothing that can be answered."""

import json

import numpy as np
import pytest
from saying import LAMP, refused, said

import hinge
from hinge.sweeps import grid, latin, table, uniform

pytest.importorskip("zarr")
pytest.importorskip("distributed")

FILE = """robot = "lamp.urdf"
store = "lamp.zarr"
t = 0.1
step = 1e-2
rollouts = 5
seed = 3
chunk = 4
keep = ["final", "extremes"]
control = { uniform = [-0.1, 0.1] }

[parameters]
"head.mass" = { grid = [0.5, 1.0] }

[initial]
q_turn = { latin = [-1.0, 1.0] }
q_nod = { table = "nods.npy" }
qd = 0.1

[options]
joint_terms = ["damping"]
"""


@pytest.fixture
def file(tmp_path, lamp):
    np.save(tmp_path / "nods.npy", np.linspace(-0.5, 0.2, 5))
    path = tmp_path / "lamp.toml"
    path.write_text(FILE)
    return path


def test_a_file_asks_what_python_asks(tmp_path, lamp, file):
    made = said("sweep", file, "--json")
    assert made.exit_code == 0
    told = json.loads(made.stdout)
    again = hinge.sweep(
        hinge.load(lamp),
        {"head.mass": grid([0.5, 1.0])},
        {"q_turn": latin(-1.0, 1.0), "q_nod": table(np.linspace(-0.5, 0.2, 5)), "qd": 0.1},
        uniform(-0.1, 0.1),
        0.1,
        step=1e-2,
        rollouts=5,
        seed=3,
        chunk=4,
        keep=("final", "extremes"),
        joint_terms=["damping"],
        store=tmp_path / "b",
    )
    assert told["hash"] == again.hash
    assert (told["rollouts"], told["done"], told["failed"], told["problems"]) == (10, 10, 0, [])
    assert "10 of 10 rollouts, " in made.stderr


def test_it_goes_on_when_asked_to_also_on_workers(tmp_path, file):
    first = json.loads(said("sweep", file, "--json").stdout)
    assert "holds this sweep already, 10 of 10 rollouts.\n  With --resume what" in refused("sweep", file, code=1)
    (tmp_path / "lamp.zarr" / "digest" / "c.1.0").unlink()
    again = said("sweep", file, "--resume", "--workers", "1", "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["hash"] == first["hash"]


def test_a_scheduler_is_given_by_its_address(tmp_path, file):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False) as cluster:
        made = said("sweep", file, "--scheduler", cluster.scheduler_address)
    assert made.exit_code == 0
    assert "10 of 10 rollouts in" in made.stdout


@pytest.mark.parametrize(
    ("written", "option"),
    [
        ("ground = { height = -2.0, friction = 0.5 }", {"ground": hinge.Ground(-2.0, friction=0.5)}),
        (
            'contacts = [{ body = "head", point = [0, 0, -0.1], normal = [0, 0, 1], friction = 0.5 }]',
            {"contacts": [hinge.Contact("head", (0, 0, -0.1), (0, 0, 1), friction=0.5)]},
        ),
    ],
    ids=["ground", "contacts"],
)
def test_a_file_says_what_may_touch(tmp_path, written, option):
    lamp, file = tmp_path / "lamp.urdf", tmp_path / "lamp.toml"
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    lamp.write_text(LAMP.replace('"head"><inertial>', f'"head">{ball}<inertial><origin xyz="0.1 0 0"/>'))
    head = 'robot = "lamp.urdf"\nstore = "lamp.zarr"\nt = 0.02\nmethod = "semi_implicit"\n'
    file.write_text(f"{head}[options]\n{written}\n")
    told = json.loads(said("sweep", file, "--json").stdout)
    again = hinge.sweep(
        hinge.load(lamp),
        t=0.02,
        method="semi_implicit",
        store=tmp_path / "lamp.zarr",
        resume=True,
        **option,
    )
    assert told["hash"] == again.hash
    file.write_text(f"{head}[options]\n{written.replace('friction', 'grip')}\n")
    message = refused("sweep", file)
    assert f"options.{next(iter(option))} is " in message
    assert "unexpected keyword argument 'grip'" in message


def test_a_file_may_come_from_standard_input(tmp_path, file, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what it names lies here
    asked = json.loads(said("sweep", file, "--json").stdout)
    (tmp_path / "lamp.zarr").rename(tmp_path / "first.zarr")
    told = json.loads(said("sweep", "-", "--json", stdin=FILE).stdout)
    assert (told["hash"], told["store"]) == (asked["hash"], "lamp.zarr")
    wrong = said("sweep", "-", stdin=FILE.replace("seed", "sed"))
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.endswith("standard input: 'sed' is not known.\n  Did you mean 'seed'?\n")
    large = said("sweep", "-", stdin="#" * (1 << 20) + FILE)
    assert large.exit_code == 2
    assert "standard input cannot be read: " in large.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 3", "sed = 3", "'sed' is not known.\n  Did you mean 'seed'?"),
        ('robot = "lamp.urdf"', "", 'has no robot.\n  Write robot = "…", the path of a file beside this one.'),
        (
            "latin = [-1.0, 1.0]",
            "lattin = [-1.0, 1.0]",
            "initial.q_turn is {'lattin': [-1.0, 1.0]}.\n  A spread is a word and its numbers. Did you mean 'latin'?",
        ),
        (
            "latin = [-1.0, 1.0]",
            "latin = 1.0",
            "initial.q_turn is {'latin': 1.0}.\n  Write { latin = [first, second] }.",
        ),
        ("nods.npy", "lamp.toml", "cannot be read"),
        ("nods.npy", "none.npy", "none.npy cannot be read: [Errno 2] No such file or directory"),
        ("t = 0.1", "t = ", "cannot be read: Invalid value (at line 3, column 5).\n  See docs/sweeps.md."),
        ('joint_terms = ["damping"]', 'joint_term = ["damping"]', "option 'joint_term' is not known"),
        ('joint_terms = ["damping"]', "joint_terms = 3", "joint_terms=3 is no list of words."),
        (
            'joint_terms = ["damping"]',
            "seed = 4",
            "options.seed is no option of a rollout.\n  Write it above the tables.",
        ),
        ('joint_terms = ["damping"]', "contacts = [1]", "options.contacts is 1: it is no table."),
        ('["final", "extremes"]', "3", "keep=3 is no list of words."),
        ("[options]", "[[options]]", "options is [{'joint_terms': ['damping']}].\n  Write a table: [options]"),
        ("[initial]", "[[initial]]", "  Write a table: [initial]"),
        ("t = 0.1", f"t = {'[' * 5000}{']' * 5000}", "cannot be read: "),
        ("lamp.urdf", "../lamp.urdf", "robot is '../lamp.urdf', which does not lie in the directory of this file."),
        ("lamp.urdf", "lamp.xacro", "A xacro file runs Python expressions, which a sweep file must not."),
        ("lamp.zarr", "/lamp.zarr", "store is '/lamp.zarr', which does not lie in the directory of this file."),
        (
            "nods.npy",
            "../nods.npy",
            "initial.q_nod is '../nods.npy', which does not lie in the directory of this file.",
        ),
    ],
)
def test_what_a_file_cannot_ask_is_refused(tmp_path, file, old, new, message):
    file.write_text(FILE.replace(old, new))
    assert message in refused("sweep", file)
    assert not (tmp_path / "lamp.zarr").exists()

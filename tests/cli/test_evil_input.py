"""What a stranger may give: counts and seeds that are none, names that steer a terminal, files that are no robots."""

import os

import numpy as np
import pytest
from click.testing import CliRunner

import hinge
from hinge.cli import main
from hinge.cli.common import plain

ARM = hinge.samples.planar_2r()
STEERED = (
    'name = "arm\\u001b[31mred\\u0007"\n[[joint]]\nname = "j\\u001b[2J\\u009b"\na = 1\nmass = 1\n'
    "inertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n"
)


def said(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(STEERED, encoding="utf-8")
    return path


@pytest.mark.parametrize("n", [-1, 2.0, True, "3"])
def test_a_number_of_states_is_a_whole_number(n):
    with pytest.raises(hinge.SizeError) as caught:
        ARM.random_state(np.random.default_rng(0), n)
    assert str(caught.value) == f"random_state: n={n!r} is not known. Give a whole number, 0 or more."


def test_no_states_are_none_and_too_many_are_refused_before_they_are_made():
    assert ARM.random_state(np.random.default_rng(0), 0)[0].shape == (0, 2)
    with pytest.raises(hinge.SizeError) as caught:
        ARM.random_state(np.random.default_rng(0), 10**12)
    assert str(caught.value) == (
        "random_state: 1000000000000 states would take 29802.3 GiB of memory.\n  Draw them some at a time."
    )


def test_rollouts_and_seeds_are_refused_in_words(arm):
    for options, words in (
        (("--rollouts", -3), "-3 is not in the range x>=1"),
        (("--rollouts", 10**12), "states would take 14901.2 GiB of memory"),
        (("--rollouts", 2, "--seed", -1), "-1 is not in the range x>=0"),
    ):
        code, text = said("simulate", arm, "--time", 0.01, *options)
        assert code != 0
        assert words in text


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_a_seed_is_a_whole_number(seed):
    wanted = f"seed={seed!r} is not known. Give a whole number, 0 or more."
    with pytest.raises(hinge.SizeError) as caught:
        hinge.inverse_kinematics(ARM, np.eye(4), "hand", seed=seed)
    assert str(caught.value) == f"inverse_kinematics: {wanted}"


def test_what_would_steer_a_terminal_is_spelled_out():
    assert plain("a\x1b[2J\x07\x9b\u202eö µ…\n") == "a\\x1b[2J\\x07\\x9b\\u202eö µ…\n"


@pytest.mark.parametrize("words", [("show",), ("check",), ("check", "--strict"), ("simulate", "--time", "0.002")])
def test_names_of_a_file_cannot_steer_the_terminal(words, arm):
    _, text = said(words[0], arm, *words[1:])
    assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_an_error_cannot_either(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text('<robot name="r"><link name="&#x9b;2J"/><joint name="&#x9b;" type="&#x9b;31m"/></robot>')
    for verb in ("show", "check"):
        _, text = said(verb, path)
        assert "\\x9b31m" in text
        assert "\x9b" not in text


def test_check_of_any_file_ends_in_words(tmp_path):
    rng, robot = np.random.default_rng(5), STEERED.encode()
    hinge.write(ARM, tmp_path / "arm.urdf")
    hinge.write(ARM, tmp_path / "arm.xml")
    whole = {".toml": robot, **{s: (tmp_path / f"arm{s}").read_bytes() for s in (".urdf", ".xml")}}
    for suffix, content in whole.items():
        path = tmp_path / f"damaged{suffix}"
        for _ in range(60):
            damaged = bytearray(content)
            for at in rng.integers(len(damaged), size=rng.integers(1, 6)):
                damaged[at] = rng.choice(np.frombuffer(b'0e9-+."<>/[]= \x00\xff', np.uint8))
            path.write_bytes(bytes(damaged))
            code, text = said("check", path)
            assert code in (0, 1, 2)
            assert path.name in text
    for other in (tmp_path, os.devnull, tmp_path / "none.urdf", hinge.__file__):
        assert said("check", other)[0] == 2

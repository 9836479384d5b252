"""Figures of speed in README and docs are those that a script of bench/ has made."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
try:
    import figures
finally:
    sys.path.pop(0)

KEPT = figures.kept()
ELSEWHERE = re.compile(r"<!-- (\w+) -->.*?<!-- end of \1 -->|```.*?```", re.DOTALL)  # what is counted, and code
QUOTED = re.compile(r"[\d.,]+<!-- quoted: [^>]+ -->")
N = r"\d[\d.,]*"
SPEED = re.compile(
    rf"{N} (?:µs|ns)\b"
    rf"|{N} ms (?:a|an|each|per)\b"
    rf"|{N} (?:to {N} )?times (?:as (?:fast|long|many|much)|faster|slower|quicker|`|a `|mujoco|Pinocchio|NumPy)"
    rf"|\(× {N}\)"
    rf"|{N}(?:·10⁹)? (?:(?!in )[\w-]+ ){{1,3}}(?:a|per) second\b"
    rf"|{N} ?[kMGT]B?/s\b"
    rf"|{N} (?:s|seconds|minutes|hours|core-seconds) of (?:a|one|two|\d+)\b"
    rf"|\b(?:takes?|took|costs?|ready in|busy for) (?:[^.;:|\n]{{0,30}} )?{N} (?:s|ms|minutes|hours)\b",
)


def unmade(text):
    """The figures of speed on a page that nothing says the origin of."""
    for mark in (figures.BLOCK, ELSEWHERE, figures.NUMBER, QUOTED):
        text = mark.sub("…", text)
    return [found[0] for found in SPEED.finditer(" ".join(text.split()))]


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_figures_that_are_kept(page):
    text = page.read_text(encoding="utf-8")
    assert text == figures.written(text, KEPT), "run `python bench/figures.py --write`"


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.stem)
def test_a_page_has_no_figure_of_speed_that_no_script_made(page):
    assert not unmade(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "takes 2.2 µs a step",
        "61 million steps a second",
        "50 times as fast as `mujoco.rollout`",
        "12 times `mujoco.rollout`",
        "38 / 973 (× 26)",
        "the first call takes 14 s",
        "5.6 hours of one core",
        "64 ms a pose",
        "0.8 GB/s",
    ],
)
def test_a_figure_of_speed_is_recognised_and_with_a_mark_it_is_made(text):
    assert unmade(text)
    assert not unmade(re.sub(r"[\d.]+", r"\g<0><!-- loops.hinge -->", text))
    assert not unmade(re.sub(r"[\d.]+", r"\g<0><!-- quoted: featherstone1987 8.4.2 -->", text))
    assert not unmade(f"<!-- bench: loops.table -->\n{text}\n<!-- end of bench -->")


@pytest.mark.parametrize(
    "text", ["steps of 1 ms", "1,000 rad/s (m/s)", "4×4 matrices", "in 10 s the energy", "35 cm in a second"]
)
def test_what_is_simulated_is_no_figure_of_speed(text):
    assert not unmade(text)


def test_every_script_with_figures_is_kept_and_every_one_kept_has_a_script():
    scripts = {path.stem for path in figures.HERE.glob("*.py") if "figures.main(__file__" in path.read_text("utf-8")}
    assert scripts == set(KEPT)
    for one in KEPT.values():
        assert one["machine"]
        assert one["versions"]["Python"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", one["date"])


def test_a_number_in_a_sentence_has_two_digits():
    values = (0.2287, 0.9996, 1.066, 9.96, 11.2, 61.0, 160_900.0)
    assert [figures.two_digits(x) for x in values] == ["0.23", "1.0", "1.1", "10", "11", "61", "160,000"]

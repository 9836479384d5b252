"""Ten questions of the first hour: each, typed into a search, leads to one page, and that has the answer."""

import re
from pathlib import Path

import pytest

snowball = pytest.importorskip("snowballstemmer", reason="Sphinx, whose stemmer it is, is not installed")
STEM = snowball.stemmer("english").stemWord
PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
QUESTIONS = {  # what is typed: the page that comes first, and what it has to say
    "install extras": ("install", "pip install '.[plot,view]'"),
    "gravity compensation": ("how-do-i", "arm.gravity_force(q)"),
    "torque to lift a load of 2 kg": ("how-do-i", 'with_payload("tool", mass=2.0'),
    "jacobian in which frame": ("how-do-i", 'frame="aligned"'),
    "floating base quaternion order": ("how-do-i", "| `q[0:4]` | quaternion, w x y z"),
    "real-time control loop bind": ("how-do-i", 'arm.kernel("inverse_dynamics").bind('),
    "check robot file for errors": ("doctor", "hinge check robot.urdf"),
    "simulate with ground contact": ("contact", "ground=hinge.Ground(friction=0.5"),
    "reinforcement learning environments": ("environments", 'hinge.envs.make("cart-pole-swing-up", 4096)'),
    "coming from Pinocchio rnea": ("how-do-i", "`pin.rnea`, `pin.aba`, `pin.crba` are `inverse_dynamics`"),
}
LITTLE = {"a", "an", "the", "to", "of", "in", "is", "for", "with", "which", "from"}


def stems(text):
    return {STEM(word) for word in re.findall(r"\w+", text.lower())} - LITTLE


def sections(page):
    """Heading and text of every part of a page; the title is in each heading."""
    title, *parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)
    yield title.partition("\n")[0], title
    for part in parts:
        yield f"{title.partition(chr(10))[0]} {part.partition(chr(10))[0]}", part


def searched(query):
    """Pages by how well they answer: sections with most of the words, those with more of them in headings before."""
    words, found = stems(query), {}
    for page in PAGES:
        for heading, text in sections(page):
            above = stems(heading)
            rank = (len(words & (above | stems(text))), len(words & above))
            found[page.stem] = max(found.get(page.stem, (0, 0)), rank)
    return sorted(found, key=found.get, reverse=True)


@pytest.mark.sweep
@pytest.mark.parametrize("query", QUESTIONS)
def test_a_question_leads_to_the_page_that_answers_it(query):
    page, answer = QUESTIONS[query]
    assert searched(query)[0] == page
    (text,) = (one.read_text(encoding="utf-8") for one in PAGES if one.stem == page)
    assert answer in text


def test_there_are_ten():
    assert len(QUESTIONS) == 10

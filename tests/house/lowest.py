"""Prints the lowest versions that pyproject.toml allows, one a line as pip reads them; `make lowest` installs these.

They are those of the core, of the extras that work without one another's newest versions, and of what runs the tests.
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("mesh", "solve", "files", "sweep", "equations", "plot")  # `view` asks for more of rich than the core does
RUNNERS = ("pytest", "hypothesis", "pytest-xdist", "pytest-timeout", "mpmath")
BOUND = re.compile(r"(?P<name>[\w.-]+)>=(?P<least>[\w.]+)(?:,[^;]*)?(?P<marker>;.*)?")


def requirements(extras=EXTRAS, runners=RUNNERS):
    """The lines of pyproject.toml whose lowest versions are tried, each once."""
    extra = PROJECT["optional-dependencies"]
    tools = [line for line in extra["test"] if BOUND.fullmatch(line)["name"] in runners]
    return list(dict.fromkeys([*PROJECT["dependencies"], *(line for name in extras for line in extra[name]), *tools]))


def pinned(requirement):
    """A requirement at its lower bound.

    >>> pinned("pin>=3.1,<4; platform_system != 'Windows'")
    "pin==3.1; platform_system != 'Windows'"
    """
    found = BOUND.fullmatch(requirement)
    return f"{found['name']}=={found['least']}{found['marker'] or ''}"


if __name__ == "__main__":
    print(*map(pinned, requirements()), sep="\n")

"""What a format cannot say, gathered while a robot is written: one finding for all joints or links it is true of."""

from __future__ import annotations

from hinge.model.loops import Loop, Tie
from hinge.model.report import Finding, Report


class Notes:
    """Findings by what they say, each with the names of those it is said of, in the order they came."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, str, str, str], list[str]] = {}

    def add(self, severity: str, code: str, kind: str, name: str, why: str, fix: str = "") -> None:
        """Of a "joint", "link", "frame" or "robot": why it is not as the robot has it, and what to do."""
        names = self._names.setdefault((severity, code, kind, why, fix), [])
        if name not in names:
            names.append(name)

    def codes(self, name: str) -> set[str]:
        """Return the codes of what is said of a name."""
        return {code for (_, code, *_), names in self._names.items() if name in names}

    def report(self) -> Report:
        return Report(tuple(_finding(*key, names) for key, names in self._names.items()))


def _finding(severity: str, code: str, kind: str, why: str, fix: str, names: list[str]) -> Finding:
    named = f"{kind}{'s' * (len(names) > 1)} " + ", ".join(repr(name) for name in names)
    return Finding(severity, code, f"{named}: {why}", fix)


def leave_loop(loop: Loop | Tie, format: str, notes: Notes) -> None:
    """Say that a loop is not in the file."""
    kind = f"{loop.joint.kind} loop" if isinstance(loop, Loop) else "tie of joints"
    why = f"{format} has no word for a {kind}; it was left out, and the file is the open tree."
    fix = "" if format == "MJCF" else "An .xml file has spherical and fixed loops, and ties."
    notes.add("warning", "loop", "loop", loop.name, why, fix)

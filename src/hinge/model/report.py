"""Findings: what is odd about a robot without making it impossible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hinge import notebook
from hinge.errors import NOWHERE, Where


@dataclass(frozen=True)
class Finding:
    """One oddity: how bad, a stable code, what is wrong, a proposed fix, and where it is written."""

    severity: str
    code: str
    what: str
    fix: str = ""
    where: Where = NOWHERE

    def data(self) -> dict[str, Any]:
        """Its words, file and line, for JSON; None for a file or a line that is not known."""
        words = {"severity": self.severity, "code": self.code, "what": self.what, "fix": self.fix}
        return words | {"file": self.where.file or None, "line": self.where.line or None}

    def __str__(self) -> str:
        return f"{self.where}{self.severity}: {self.what}" + (f"\n  {self.fix}" if self.fix else "")


@dataclass(frozen=True)
class Report:
    """The findings on a robot, in the order of its file; empty, and false, for a clean one."""

    findings: tuple[Finding, ...] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, k: int) -> Finding:
        return self.findings[k]

    def __str__(self) -> str:
        return "\n".join(str(f) for f in self.findings) or "nothing to report"

    def _repr_html_(self) -> str:
        rows = [(f.severity, str(f.where).rstrip(": "), f.what, f.fix) for f in self.findings]
        return notebook.table(("", "where", "what", "to do"), rows, words=4) if rows else notebook.lines(str(self))

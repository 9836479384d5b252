"""A robot file examined: every finding on it and, if asked for, proofs that its dynamics hold on this machine.

print(hinge.check("panda.urdf"))
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from hinge import notebook
from hinge.checking.proofs import Proof, prove
from hinge.checking.written import content_of, examine_text
from hinge.errors import ModelError, SizeError, UnknownName
from hinge.model import Finding, Report
from hinge.model.plausibility import examine
from hinge.robot import Robot
from hinge.robot.loading import is_text, load

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor has to say about a file.

    `robot` is None when it cannot be loaded; then the only finding says why. Notes do not count for `exit_code` unless
    it is `strict`, and neither do proofs that could not be made.
    """

    file: str
    robot: Robot | None
    findings: Report
    proofs: tuple[Proof, ...] = ()
    strict: bool = False

    @property
    def exit_code(self) -> int:
        """0 for a clean file, 1 where something was found or a proof failed, 2 where it cannot be loaded."""
        if self.robot is None:
            return 2
        found = any(self.strict or finding.severity != "note" for finding in self.findings)
        return int(found or any(proof.passed is False for proof in self.proofs))

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    def lines(self) -> Iterator[tuple[str, str]]:
        """(what kind of line, the line): a severity, "fix", "passed", "failed", "skipped" or "summary"."""
        for finding in self.findings:
            first, *fix = str(finding).split("\n")
            yield finding.severity, f"{first} [{finding.code}]"
            yield from (("fix", line) for line in fix)
        width = max((len(proof.name) for proof in self.proofs), default=0)
        for proof in self.proofs:
            yield proof.outcome, f"{proof.outcome:<7}  {proof.name:<{width}}  {proof.measured}"
        yield "summary", f"{self.file}: {self.summary}"

    @property
    def summary(self) -> str:
        """One line with the counts."""
        parts = [f"{n} {word}{'s' * (n != 1)}" for word, n in self.counts.items() if n]
        said = ", ".join(parts) or "nothing to report"
        if self.robot is None:
            said = "cannot be loaded"
        if self.proofs:
            ended = Counter(proof.outcome for proof in self.proofs)
            said += "; proofs: " + ", ".join(f"{ended[word]} {word}" for word in ("passed", "failed", "skipped"))
        return said

    def __str__(self) -> str:
        return "\n".join(line for _, line in self.lines())

    def _repr_html_(self) -> str:
        proofs = [(proof.outcome, proof.name, proof.measured) for proof in self.proofs]
        parts = [self.findings._repr_html_()] if self.findings else []
        parts += [notebook.table(("", "proof", "measured"), proofs, words=3)] if proofs else []
        return "".join([*parts, notebook.lines(f"{self.file}: {self.summary}")])

    def to_json(self) -> str:
        """The diagnosis as one JSON object: file, exit_code, robot, counts, findings, proofs."""
        robot = self.robot and {"name": self.robot.name, "nq": self.robot.nq, "nv": self.robot.nv,
                                "mass": self.robot.mass}  # fmt: skip
        said = {
            "file": self.file,
            "exit_code": self.exit_code,
            "robot": robot,
            "counts": self.counts,
            "findings": [finding.data() for finding in self.findings],
            "proofs": [asdict(proof) | {"worst": _finite(proof.worst)} for proof in self.proofs],
        }
        return json.dumps(said, allow_nan=False)


def check(
    source: str | bytes | os.PathLike[str] | Robot, certify: bool = False, strict: bool = False, **options: Any
) -> Diagnosis:
    """Everything that is wrong or odd about a robot file, its text, or a robot; a bad file is a finding, not an error.

    `certify` also proves the dynamics on this machine, at random states: forward dynamics undoes inverse dynamics, the
    mass matrix is symmetric and positive definite, passivity, energy, Jacobians, and agreement with Pinocchio and
    MuJoCo where they are installed. `strict` lets notes count too. Other options are those of `hinge.load`.

    >>> hinge.check('<robot name="r"><link name="a"/></robot>').exit_code
    0
    >>> print(hinge.check('<robot name="r"/>'))
    line 1: error: the robot has no link. [empty]
      A robot has at least one <link name="…"/>. A xacro file must be expanded with xacro first.
    the text: cannot be loaded
    """
    if isinstance(source, Robot):
        if options:
            raise UnknownName(
                f"check: {next(iter(options))} is for loading, and a robot is loaded already. Leave it out."
            )
        found = sorted([*source.report, *examine(source.model)], key=_place)
        return Diagnosis(source.name, source, Report(tuple(found)), prove(source) if certify else (), strict)
    if not isinstance(source, str | bytes | os.PathLike):
        raise SizeError(
            f"check: source is a {type(source).__name__}. Give a path, the text of a robot file, or a robot."
        )
    load('<robot name="none"><link name="none"/></robot>', **options)  # an option that is wrong is no finding
    file = "the text" if is_text(source) else os.fsdecode(source)
    try:
        robot = load(source, **options)
    except ModelError as problem:
        refusal = Finding("error", problem.code, problem.what, problem.hint, problem.where)
        return Diagnosis(file, None, Report((refusal,)), strict=strict)
    written = content_of(source, options.get("packages", ()))
    found = sorted([*robot.report, *examine(robot.model), *examine_text(written, robot.model.file)], key=_place)
    proofs = prove(robot, written, "" if is_text(source) else file) if certify else ()
    return Diagnosis(file, robot, Report(tuple(found)), proofs, strict)


def _place(finding: Finding) -> tuple[str, float]:
    """Findings in the order of the file, those without a line last."""
    return finding.where.file, finding.where.line or math.inf


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None

"""`hinge identify`: a robot fitted to measured motion."""

from __future__ import annotations

import json

import click

from hinge import identify as identification
from hinge.calls.call import DEFAULT_TERMS
from hinge.cli.common import JSON, split
from hinge.cli.faults import worded
from hinge.cli.inputs import log_of, reads_robot
from hinge.cli.outputs import FORCE, FORMAT, Target, put_robot, tell_robot, teller
from hinge.model import Report
from hinge.robot import Robot


@click.command()
@reads_robot(moves=True)
@click.option(
    "--in",
    "source",
    required=True,
    multiple=True,
    type=click.Path(allow_dash=True),
    metavar="LOG",
    help="A .csv, .parquet or .npz file, or - for standard input; any number of them.",
)
@click.option("--out", type=Target(stream=True), help="Write the fitted robot here, as convert does.")
@click.option(
    "--joint-terms",
    default=",".join(DEFAULT_TERMS),
    show_default=True,
    metavar="TERM,…",
    help="What of the joints is fitted: armature, damping, friction, stiffness.",
)
@click.option("--held-out", default=0.25, show_default=True, help="The share of each log, its end, to judge by.")
@click.option("--cutoff", type=float, metavar="HZ", help="Take rates from the positions, filtered at so many Hz.")
@click.option("--partial", is_flag=True, help="Leave what the logs do not show as it is.")
@FORMAT
@FORCE
@JSON
def identify(
    robot: Robot,
    source: tuple[str, ...],
    out: str | None,
    joint_terms: str,
    held_out: float,
    cutoff: float | None,
    partial: bool,
    to: str | None,
    as_json: bool,
) -> None:
    """Fit the masses, inertias and joint terms of ROBOT, a robot file, to measured motion.

    A log has the columns t, q_JOINT, qd_JOINT, tau_JOINT and perhaps qdd_JOINT; with --cutoff no rates are needed.
    """
    logs = [identification.read(robot, log_of(path), cutoff) for path in source]
    fit = identification.fit(robot, logs, split(joint_terms), held_out, partial=partial)
    findings = put_robot(fit.robot, out, to) if out else Report()
    if not as_json:
        teller(out)(worded(str(fit)))
        if out:
            tell_robot(out, as_json, findings=findings)
        return
    about = {"robot": robot.name, "joints": fit.velocity_names, "condition": fit.condition, "notes": fit.notes}
    errors = {"before": fit.before.tolist(), "after": fit.after.tolist()}
    found = {"base_parameters": fit.base.rank, "parameters": dict(zip(fit.names, fit.parameters.tolist(), strict=True))}
    written = {"out": out, "findings": [finding.data() for finding in findings]}
    teller(out)(json.dumps(about | errors | found | written))

"""`hinge cache`: compiled kernels."""

from __future__ import annotations

import json
import time

import click

from hinge.cli.common import JSON, console, table

ABOUT = ("robot", "algorithm", "backend", "numbers")


@click.command()
@click.option("--clear", is_flag=True, help="Remove every compiled kernel.")
@JSON
def cache(clear: bool, as_json: bool) -> None:
    """Say what the kernel cache holds, robot by robot, or clear it."""
    from hinge.backends import cache as kernels

    if clear:
        removed = kernels.clear()
        click.echo(json.dumps({"removed": removed}) if as_json else f"removed {removed} kernels")
        return
    folder = kernels.folder()
    found = [(dict(zip(ABOUT, kernels.label(path), strict=False)), path, stat) for path, stat in kernels.entries()]
    size = sum(stat.st_size for _, _, stat in found)
    if as_json:
        listed = [about | {"file": path.name, "bytes": s.st_size, "used": s.st_mtime} for about, path, s in found]
        click.echo(json.dumps({"folder": folder and str(folder), "bytes": size, "entries": listed}))
        return
    if found:
        rows = [
            [
                *(about.get(word, "?") for word in ABOUT),
                f"{stat.st_size / 1024:.1f}",
                time.strftime("%Y-%m-%d %H:%M", time.localtime(stat.st_mtime)),
            ]
            for about, _, stat in sorted(found, key=lambda entry: (entry[0].get("robot", ""), entry[2].st_mtime))
        ]
        console().print(table("", (*ABOUT, "KiB", "last used"), rows, left=len(ABOUT)))
    click.echo(f"{len(found)} kernels, {size / 2**20:.1f} MiB in {folder or 'no folder: the cache is off'}")

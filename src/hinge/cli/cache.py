"""`hinge cache`: compiled kernels."""

from __future__ import annotations

import json
import time

import click

from hinge.cli.common import JSON


@click.command()
@click.option("--clear", is_flag=True, help="Remove every compiled kernel.")
@JSON
def cache(clear: bool, as_json: bool) -> None:
    """Say what the kernel cache holds, or clear it."""
    from hinge.backends import cache as kernels

    if clear:
        removed = kernels.clear()
        click.echo(json.dumps({"removed": removed}) if as_json else f"removed {removed} kernels")
        return
    found, folder = kernels.entries(), kernels.folder()
    size = sum(stat.st_size for _, stat in found)
    if as_json:
        listed = [{"file": path.name, "bytes": stat.st_size, "used": stat.st_mtime} for path, stat in found]
        click.echo(json.dumps({"folder": folder and str(folder), "bytes": size, "entries": listed}))
        return
    for path, stat in found:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(stat.st_mtime))
        click.echo(f"{used}  {stat.st_size / 1024:8.1f} KiB  {path.name[:16]}…")
    click.echo(f"{len(found)} kernels, {size / 2**20:.1f} MiB in {folder or 'no folder: the cache is off'}")

"""Whether a folder or a file is this user's alone, so that nobody else can have put there what is found there.

A folder is if it belongs to this user and no other can write it, and if no other can exchange it or a folder on the way
to it: those belong to this user or to root, and one that others can write, as /tmp, is sticky, so that each can only
remove what is his own. Windows has neither owners by number nor modes, and nothing is said against a folder there: the
usual one lies in the user's profile, where others cannot write.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

KNOWN = hasattr(os, "geteuid")
ROOT = 0


def doubt(folder: Path) -> str:
    """What speaks against a folder, by the name of the place that another user can change; empty if nothing does."""
    if not KNOWN:
        return ""
    real, asked, user = Path(os.path.realpath(folder)), Path(os.path.abspath(folder)), os.geteuid()
    for place in dict.fromkeys((real, *real.parents, asked, *asked.parents)):
        try:
            found = os.lstat(place)
        except OSError:  # what is not there holds nothing
            continue
        if found.st_uid not in ({user} if place == real else {user, ROOT}):
            return f"{place} belongs to another user (uid {found.st_uid}; this one is {user})"
        sticky = place != real and found.st_mode & stat.S_ISVTX
        if not sticky and _others_write(found):
            mode = stat.S_IMODE(found.st_mode)
            return f"others than its owner can write {place} (mode {mode:04o}), which `chmod go-w` ends"
    return ""


def own_file(path: Path) -> bool:
    """Whether this is a regular file, not a link to one, that only this user can write."""
    found = os.lstat(path)
    return stat.S_ISREG(found.st_mode) and not (KNOWN and (found.st_uid != os.geteuid() or _others_write(found)))


def _others_write(found: os.stat_result) -> bool:
    """Whether another user than the owner can write it; who may write a link is said by its folder."""
    group, anyone = found.st_mode & stat.S_IWGRP, found.st_mode & stat.S_IWOTH
    return not stat.S_ISLNK(found.st_mode) and bool(anyone or (group and not alone(found.st_gid)))


@cache
def alone(gid: int) -> bool:
    """Whether a group is this user's own, with nobody else in it, as many systems give one to each user."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}

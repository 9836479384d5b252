"""Every write of the library where there is too little room; run as a script, since a limit is its process's own.

    python full_disk.py few FOLDER      no file may grow beyond so many bytes (RLIMIT_FSIZE)
    python full_disk.py limit FOLDER    the same, of more sizes
    python full_disk.py disk FOLDER     FOLDER is a disk of its own, which is filled but for so many pages
    python full_disk.py names FOLDER    the same, which has room for so many more files

Prints how often each writer was done and refused, as JSON. It fails where a result is wrong, an error is no HingeError,
does not name the file or what to do, where something that was there before is lost, or something is left and not told.
"""

import json
import os
import resource
import shutil
import signal
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path

os.environ |= {"HINGE_CACHE_DIR": "", "HINGE_THREADS": "1"}

import matplotlib.backends.backend_agg
import matplotlib.figure  # noqa: F401  what is imported and compiled here is not in every child
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import zarr  # noqa: F401

import hinge
from hinge.export import c_files

ROOMS = {
    "few": (0, 1500, 1 << 24),
    "limit": (0, 1, 100, 700, 1500, 3000, 10_000, 30_000, 100_000, 1 << 24),
    "disk": (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 30, 40, 60, 1000),
    "names": (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 100),
}
CHUNK = 100
ROBOTS = {"old": hinge.samples.planar_2r(), "new": hinge.samples.puma560()}
SOURCE = "source.npz"


def moved(which, **options):
    robot = ROBOTS[which]
    q0 = 0.1 + np.arange(robot.nq)
    return hinge.simulate(robot, 0.5, q0=q0, step=1e-3 if which == "new" else 1e-2, **options)


RUNS = {which: moved(which) for which in ROBOTS}


FORCES = {which: robot.gravity_force(RUNS[which].q[:9], backend="interpret") for which, robot in ROBOTS.items()}


def streamed(place, which, **options):
    """A simulation into a file; why it stopped, if it did, is what is told."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = moved(which, file=place, **options)
    if caught:
        raise Stopped("\n".join([*(str(one.message) for one in caught), repr(run)]))


def gone_on(place, which):
    if place.exists():
        streamed(place, "old", append=True)
    else:
        streamed(place, "old")


class Stopped(hinge.HingeError):
    """A run that ended early, with what it says."""


def computed(place, which):
    hinge.logs.run(ROBOTS[which], "gravity_force", place.parents[1] / which / SOURCE, place, chunk=CHUNK)


def cached(place, which):
    os.environ["HINGE_CACHE_DIR"] = str(place)
    np.testing.assert_allclose(ROBOTS[which].gravity_force(RUNS[which].q[:9]), FORCES[which], atol=1e-12)


def exported(place, which):
    texts = c_files.c_files(ROBOTS[which].target)
    c_files.put(str(place), {name.replace(ROBOTS[which].name, "arm"): text for name, text in texts.items()}, force=True)


def read_robot(place):
    return hinge.load(place).model.digest


def read_table(place):
    read = pyarrow.csv.read_csv if place.suffix == ".csv" else pyarrow.parquet.read_table
    return {name: list(column) for name, column in read(place).to_pydict().items()}


def read_archive(place):
    with np.load(place) as log:
        return {name: log[name].tolist() for name in log}


def read_folder(place):
    return {path.name: path.read_text() for path in sorted(place.iterdir())}


def read_run(place):
    run = hinge.open(place)
    return {"t": run.t.tolist(), "q": run.q.tolist()}


def read_cache(place):
    return sorted(path.suffix for path in place.iterdir())


WRITERS = {  # the name of what is written, how, and how it is read
    "urdf": ("arm.urdf", lambda place, which: hinge.write(ROBOTS[which], place), read_robot),
    "mjcf": ("arm.xml", lambda place, which: hinge.write(ROBOTS[which], place), read_robot),
    "dh": ("arm.toml", lambda place, which: hinge.write(ROBOTS[which], place), read_robot),
    "c": ("code", exported, read_folder),
    "png": ("run.png", lambda place, which: RUNS[which].plot(place), Path.read_bytes),
    "save": ("run.zarr", lambda place, which: RUNS[which].save(place), read_run),
    "file": ("run.zarr", lambda place, which: streamed(place, which, overwrite=True), read_run),
    "append": ("run.zarr", gone_on, read_run),
    "csv": ("log.csv", lambda place, which: hinge.logs.write(RUNS[which], place, CHUNK), read_table),
    "parquet": ("log.parquet", lambda place, which: hinge.logs.write(RUNS[which], place, CHUNK), read_table),
    "npz": ("log.npz", lambda place, which: hinge.logs.write(RUNS[which], place, CHUNK), read_archive),
    "run csv": ("log.csv", computed, read_table),
    "run parquet": ("log.parquet", computed, read_table),
    "run npz": ("log.npz", computed, read_archive),
    "cache": ("cache", cached, read_cache),
}  # fmt: skip


def apart(function, *given):
    """What a function gives, or [kind, text] of what it raises, in a process of its own."""
    answer, told = os.pipe()
    if (child := os.fork()) == 0:
        os.close(answer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = ["done", function(*given)]
            except hinge.HingeError as problem:
                said = ["refused", str(problem)]
            except BaseException:
                said = ["broken", traceback.format_exc()]
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        with os.fdopen(told, "w") as pipe:
            json.dump(said, pipe, default=repr)
        os._exit(0)
    os.close(told)
    with os.fdopen(answer) as pipe:
        text = pipe.read()
    ended = os.waitpid(child, 0)[1]
    return json.loads(text) if text else ["broken", f"ended with {ended}"]


def limited(room, write, place):
    """Write where no file may have more than so many bytes."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    write(place, "new")


def filled(room, write, place):
    """Write on a disk that has so many pages left."""
    with open(place.parents[1] / "ballast", "wb", buffering=0) as file:
        free = os.statvfs(place.parent).f_bavail * os.statvfs(place.parent).f_frsize - room * resource.getpagesize()
        os.posix_fallocate(file.fileno(), 0, max(free, 1))
    write(place, "new")


def crowded(room, write, place):
    """Write on a disk that has room for so many more files."""
    stones = place.parents[1] / "stones"
    stones.mkdir()
    for k in range(os.statvfs(place.parent).f_ffree - room):
        (stones / str(k)).touch()
    write(place, "new")


WAYS = {"few": limited, "limit": limited, "disk": filled, "names": crowded}


def found(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def tried(way, name, room, replaced, folder):
    """What becomes of a write: "done" or "refused"; raises where either is not as it has to be."""
    called, write, read = WRITERS[name]
    for stones in ("ballast", "stones"):
        path = folder / stones
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    here = folder / "here"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    place, want = here / called, WANTED[name]
    if replaced:
        assert apart(write, place, "old")[0] == "done"
    before, was = found(here), apart(read, place) if replaced else None
    kind, text = apart(WAYS[way], room, write, place)
    after = found(here)
    assert kind in ("done", "refused"), text
    left = {path.name for path in here.iterdir()} - {called}
    if name == "cache":
        assert kind == "done", text
        assert {Path(path).suffix for path in after} <= {".kernel", ".shared"}, after.keys()
    elif kind == "done":
        is_now = apart(read, place)
        assert is_now == (["done", going_on(was[1])] if name == "append" and replaced else want), (is_now, want)
        assert not left, left
    else:
        assert str(place) in text, text
        assert "\n  " in text, f"does not say what to do: {text}"
        assert all(str(here / one) in text for one in left), f"left {left}, and told: {text}"
        kept = f"{place}.old" if f"{called}.old" in left else place
        if name == "append" and replaced:
            grown, short = apart(read, place)[1]["q"], was[1]["q"]
            assert grown[: len(short)] == short, (len(grown), len(short))
        elif replaced:
            aside = {path.replace(called, Path(kept).name, 1): content for path, content in before.items()}
            assert {path: after.get(path) for path in aside} == aside, f"what was there is lost; told: {text}"
        elif place.exists():
            assert apart(read, place)[0] == "done", f"{apart(read, place)}; told: {text}"
    return kind


def going_on(was):
    """A run of the first robot that went on from where it was."""
    run = hinge.simulate(ROBOTS["old"], 1.0, q0=0.1 + np.arange(2), step=1e-2)
    assert run.q[: len(was["q"])].tolist() == was["q"]
    return json.loads(json.dumps({"t": run.t.tolist(), "q": run.q.tolist()}))


def wanted(name, folder):
    called, write, read = WRITERS[name]
    place = folder / "wanted" / called
    said = apart(write, place, "new")
    assert said[0] == "done", said
    return apart(read, place)


if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    way, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3].split(",") if sys.argv[3:] else list(WRITERS)
    for which, robot in ROBOTS.items():
        (folder / which).mkdir()
        np.savez(folder / which / SOURCE, q=np.random.default_rng(0).normal(size=(500, robot.nq)))
    (folder / "wanted").mkdir()
    tally = {}
    for name in names:
        WANTED = {name: wanted(name, folder)}
        tally[name] = Counter(tried(way, name, room, old, folder) for room in ROOMS[way] for old in (False, True))
        shutil.rmtree(folder / "wanted")
        (folder / "wanted").mkdir()
    print(json.dumps(tally))

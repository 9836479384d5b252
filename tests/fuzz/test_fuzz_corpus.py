"""Inputs that once broke a reader are read or refused; and the fuzzer finds what it looks for."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FUZZ = HERE / "fuzz.py"
KNOWN = tomllib.loads((HERE / "known.toml").read_text())
FOLDERS = sorted(path.name for path in (HERE / "corpus").iterdir())

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are Linux's")


def fuzz(*arguments, code=None):
    """The fuzzer as a script, with `code` run after its imports if there is some."""
    run = [str(FUZZ)] if code is None else ["-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); import fuzz\n{code}"]
    return subprocess.run([sys.executable, *run, *arguments], capture_output=True, text=True, timeout=300,
                          env=os.environ | {"HINGE_BACKEND": "interpret"})  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", FOLDERS)
def test_inputs_that_were_found_are_read_or_refused(target):
    for package in {"csv": ["pyarrow"], "parquet": ["pyarrow"], "trajectory": ["zarr"]}.get(target, []):
        pytest.importorskip(package)
    done = fuzz(target, "--corpus")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)[target]
    assert {file: fault for file, fault in found.items() if fault not in KNOWN} == {}
    mended = {fault for fault in KNOWN if fault.startswith(f"{target}: ")} - set(found.values())
    assert mended == set(), "no input fails so any more: take it out of known.toml"


def test_what_is_known_is_of_a_target_and_says_why():
    assert all(fault.split(": ")[0] in FOLDERS and len(why) > 10 for fault, why in KNOWN.items())


@pytest.mark.sweep
def test_every_target_reads_its_first_seed():
    code = """
import pathlib, sys, tempfile
for name, target in fuzz.TARGETS.items():
    with tempfile.TemporaryDirectory() as folder:
        target.read(target.put(target.seeds()[0], pathlib.Path(folder)))
        print(name)
"""
    for package in ("pyarrow", "zarr", "trimesh"):
        pytest.importorskip(package)
    done = fuzz(code=code)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) >= set(FOLDERS)


READERS = {
    "crash SIGSEGV": "import ctypes; ctypes.string_at(0)",
    "hang": "while True: pass",
    "MemoryError in the test": "bytearray(2 << 30)",
    "ZeroDivisionError in the test": "1 / 0",
    "": "raise hinge.HingeError('no')",
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("said", READERS)
def test_each_way_to_fail_is_seen(said):
    code = f"""
import dataclasses, hinge
def read(path):
    if path.read_bytes() == b"spoilt":
        {READERS[said]}
fuzz.SECONDS = 1
fuzz.TARGETS["dh"] = dataclasses.replace(fuzz.TARGETS["dh"], read=read)
worker = fuzz.Worker("dh")
print([worker(data)[0] for data in (b"good", b"spoilt", b"good")])
"""
    done = fuzz(code=code)
    assert done.stdout.strip() == str(["", said, ""]), done.stderr


@pytest.mark.sweep
def test_an_input_is_a_function_of_seed_and_number():
    code = """
import hashlib
for name in fuzz.TARGETS:
    seeds = [bytes(100)] if name in ("csv", "parquet", "trajectory") else fuzz.TARGETS[name].seeds()
    made = [fuzz.spoilt(name, seeds, seed, number) for seed in (0, 1) for number in range(20)]
    print(name, len(set(made)) > 20, hashlib.sha256(b"".join(made)).hexdigest())
"""
    first, again = fuzz(code=code).stdout, fuzz(code=code).stdout
    assert first == again
    assert first.count(" True ") == len(first.splitlines()) > 5


def test_an_input_that_fails_is_made_smaller():
    code = """
def read(path):
    assert b'"b"' not in path.read_bytes()
import dataclasses
fuzz.TARGETS["urdf"] = dataclasses.replace(fuzz.TARGETS["urdf"], read=read, seeds=lambda: [])
worker = fuzz.Worker("urdf")
data = b'<robot name="r"><link name="a"/><link name="b"><visual/></link><link name="c"/></robot>'
print(fuzz.shrunk(worker, data, worker(data)[0]).decode())
"""
    assert fuzz(code=code).stdout.strip() == '<robot><link name="b" /></robot>'

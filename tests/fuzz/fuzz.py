"""Feeds readers with spoilt files; run as a script, since what it looks for would end the interpreter.

    python tests/fuzz/fuzz.py --time 60                 all targets in turn, a minute together
    python tests/fuzz/fuzz.py urdf --seed 3 --number 17 one input again, as every failure is named
    python tests/fuzz/fuzz.py urdf --file FILE          the same from a file
    python tests/fuzz/fuzz.py urdf --corpus             all inputs that were found before

An input is a function of target, seed and number. It fails by a crash, more than 5 s of the processor, more than 1 GB
of memory, or an error that is no HingeError. What fails in a new way is made smaller and put into the corpus, which the
test suite reads. known.toml lists ways to fail that are known, with the reason: they are counted, and are no failure of
the run.
"""

import argparse
import contextlib
import faulthandler
import hashlib
import json
import multiprocessing
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from targets import TARGETS  # noqa: E402  needs the path

import hinge  # noqa: E402

SECONDS, STUCK = 5, 60  # of the processor; on the clock, for what waits
MEMORY = 1 << 30  # bytes more than the worker has when it has read every seed
LARGEST = 1 << 18  # bytes of an input
LIFE = 5000  # inputs that a worker reads before another takes its place
SHRINKING = 15.0  # seconds for making an input smaller
CORPUS = HERE / "corpus"
MEMORY_DISK = Path("/dev/shm")  # files in memory, where there are such: readers take less time than a disk


def spoilt(target, seeds, seed, number):
    """An input: a valid one, changed in a few places."""
    rng = random.Random(f"{target} {seed} {number}")
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        changed = TARGETS[target].form.spoil(data, rng)
        data = changed if len(changed) <= LARGEST else data
    return data


# ---- the process that reads


def serve(pipe, name, log, folder):
    """Read what comes through the pipe, and say how each input fares; ends by what it reads.

    (seed, number) names an input, which is handed back and not read where "made" follows them.
    """
    warnings.simplefilter("ignore")
    target, seeds = TARGETS[name], TARGETS[name].seeds()
    faulthandler.enable(log)
    for seed in seeds:
        outcome(target, seed, folder)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, log, all_threads=False, chain=True)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
    pipe.send("ready")
    while multiprocessing.parent_process().is_alive():
        if not pipe.poll(1.0):
            continue
        asked = pipe.recv()
        data = asked if isinstance(asked, bytes) else spoilt(name, seeds, *asked[:2])
        if data is not asked and "made" in asked:
            pipe.send(data)
            continue
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        said = outcome(target, data, folder)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send(said)


def outcome(target, data, folder):
    """How an input fares: ("", "") or what failed where, and the traceback."""
    place = Path(folder, "place")
    place.mkdir()
    try:
        target.read(target.put(data, place))
    except hinge.HingeError:
        return "", ""
    except Exception as problem:
        return signature(problem), traceback.format_exc()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return "", ""


def signature(problem):
    """What failed where: the innermost function of hinge, whatever the line; of a cause, where a target raises."""
    root = Path(hinge.__file__).parent
    steps = [*traceback.extract_tb(problem.__traceback__)]
    steps += traceback.extract_tb(problem.__cause__ and problem.__cause__.__traceback__)
    frames = [one for one in steps if root in Path(one.filename).parents]
    where = f"{Path(frames[-1].filename).relative_to(root).as_posix()}:{frames[-1].name}" if frames else "the test"
    return f"{type(problem).__name__} in {where}"


class Worker:
    """A process that reads inputs of one target; another takes its place when it dies."""

    def __init__(self, name):
        self.name, self.process, self.count = name, None, 0

    def start(self):
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115  lives as long as the process
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None)
        self.pipe, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        given = (other, self.name, self.log, self.folder.name)
        self.process, self.count = context.Process(target=serve, args=given, daemon=True), 0
        self.process.start()
        other.close()
        self.pipe.recv()

    def __call__(self, asked):
        """How an input fares: what failed where, and the traceback; both empty where nothing did."""
        if self.process is None or self.count >= LIFE:
            self.stop()
            self.start()
        self.count += 1
        try:
            self.pipe.send(asked)
            if self.pipe.poll(STUCK):
                return self.pipe.recv()
            said = "waits"
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            said = "hang" if code == -signal.SIGPROF else f"crash {signal.Signals(-code).name if code < 0 else code}"
        self.stop()
        self.log.seek(0)
        return said, self.log.read()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.folder.cleanup()
            self.process = None


# ---- what is done with failures


def known():
    """Ways to fail that are known, each with the reason: {"urdf: hang": why}."""
    return tomllib.loads((HERE / "known.toml").read_text())


def shrunk(worker, data, said):
    """A smaller input that fails in the same way, as far as time allows."""
    form, until = TARGETS[worker.name].form, time.monotonic() + SHRINKING
    smaller = True
    while smaller and time.monotonic() < until:
        smaller = False
        for some in getattr(form, "smaller", lambda _: ())(data):
            if time.monotonic() > until:
                break
            if len(some) < len(data) and worker(some)[0] == said:
                data, smaller = some, True
                break
    return data


def kept(name, data):
    """The place of an input in the corpus."""
    path = CORPUS / name / hashlib.sha256(data).hexdigest()[:12]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def corpus(name):
    return sorted(path for path in (CORPUS / name).glob("*") if path.is_file())


def tried(name):
    """How every input of the corpus of a target fares: {file: what failed}, without those that do not."""
    worker = Worker(name)
    said = {path.name: worker(path.read_bytes())[0] for path in corpus(name)}
    worker.stop()
    return {file: f"{name}: {fault}" for file, fault in said.items() if fault}


def fuzz(names, seconds, seed):
    """Try inputs, the target next that has had least time; whether nothing failed but what is known."""
    workers = {name: Worker(name) for name in names}
    numbers, spent, found = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0), {}
    accepted, began = known(), time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        while sum(spent.values()) < seconds:  # without what making inputs smaller takes
            name = min(names, key=spent.get)
            start = time.monotonic()
            said, why = workers[name]((seed, numbers[name]))
            spent[name] += time.monotonic() - start
            numbers[name] += 1
            if not said:
                continue
            fault = f"{name}: {said}"
            found[fault] = found.get(fault, 0) + 1
            if found[fault] == 1 and fault not in accepted:
                data = shrunk(workers[name], workers[name]((seed, numbers[name] - 1, "made")), said)
                print(f"{fault}\n{why}\n  {kept(name, data)}\n  again: {sys.argv[0]} {name} --seed {seed} "
                      f"--number {numbers[name] - 1}\n", flush=True)  # fmt: skip
    for worker in workers.values():
        worker.stop()
    for name in names:
        print(f"{name:12} {numbers[name]:9} inputs {numbers[name] / max(spent[name], 1e-9):8.0f} a second")
    print(f"{sum(numbers.values())} inputs of seed {seed} in {time.monotonic() - began:.0f} s")
    for fault, count in sorted(found.items()):
        print(f"{count:6} {fault}  {accepted.get(fault, 'NEW')}")
    return not found.keys() - accepted.keys()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=", ".join(TARGETS))
    parser.add_argument("--time", type=float, default=60.0, help="seconds, all targets together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="one input only")
    parser.add_argument("--file", type=Path, help="one input only")
    parser.add_argument("--corpus", action="store_true", help="the inputs found before; prints JSON")
    given = parser.parse_args()
    if given.corpus:
        print(json.dumps({name: tried(name) for name in given.targets}))
        return 0
    if given.file or given.number is not None:
        worker = Worker(given.targets[0])
        said, why = worker(given.file.read_bytes() if given.file else (given.seed, given.number))
        worker.stop()
        print(f"{said}\n{why}" if said else "read, or refused by a HingeError")
        return bool(said)
    return 0 if fuzz(given.targets, given.time, given.seed) else 1


if __name__ == "__main__":
    sys.exit(main())

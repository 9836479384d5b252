"""Who answers: this process, or the workers of a Dask cluster. A chunk is a task; its answer goes to the store.

A worker is given the question as data, and makes its kernels from it or finds them in the cache of its machine. What it
sends back are a few numbers. Dask gives the chunks of a worker that was lost to another.
"""

from __future__ import annotations

import itertools
import os
import pickle
import platform
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.backends import threads
from hinge.errors import SweepError
from hinge.files import FULL, unwritten
from hinge.status import OK
from hinge.sweeps.question import Question, build
from hinge.sweeps.zarr_store import Store, opened, package

AHEAD = 3  # chunks that wait at a worker for each of its threads
PATIENCE = 15.0  # s that local workers may be lacking
TRIES = 5  # times that a chunk is begun whose workers are lost
QUIET = {  # what Dask does many times a second for pages that nobody looks at, on workers that are ours
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}


class Outcome(NamedTuple):
    """What became of a chunk: how many of its rollouts failed, or why there is no answer, and whether to go on."""

    chunk: int
    failed: int = 0
    why: str = ""
    ends: bool = False


def answered(question: Question, store: Store, chunk: int, rows: Mapping[str, Array] | None = None) -> Outcome:
    """Answer for a chunk and put it in the store, unless it is there: Dask forgets what a lost worker did."""
    k = store.rollouts(chunk)
    if store.has(chunk):
        return Outcome(chunk, store.failed(chunk))
    try:
        answer = question.answer(k, rows)
    except Exception as problem:  # whatever it is, other chunks may fare better
        return Outcome(chunk, why=f"{type(problem).__name__}: {problem}")
    try:
        store.write(chunk, answer)
    except OSError as problem:
        return Outcome(chunk, why=" ".join(unwritten(store.path, problem)), ends=problem.errno in FULL)
    return Outcome(chunk, int(np.count_nonzero(answer["status"] != OK)))


def here(question: Question, store: Store, chunks: Sequence[int]) -> Iterator[Outcome]:
    """Answer in this process, one chunk after another."""
    for chunk in chunks:
        yield answered(question, store, chunk)


# ---- on a cluster


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> Question:
    made: Question = pickle.loads(packed)
    return made


def task(
    packed: bytes, store: tuple[str, str], chunk: int, rows: Mapping[str, Array], wanted: str, asker: int
) -> Outcome:
    """What a worker does: a chunk, on one thread, because Dask runs as many of these at once as it has threads."""
    if build() != wanted:
        return Outcome(chunk, why=wrong_version(platform.node(), build(), wanted), ends=True)
    if os.getpid() != asker:
        threads.set_threads(1)
    return answered(_unpacked(packed), opened(*store), chunk, rows)


def wrong_version(worker: str, theirs: str, ours: str) -> str:
    return f"worker {worker} has hinge {theirs}, and this sweep {ours}"


def warm_up(packed: bytes, rows: Mapping[str, Array]) -> None:
    """Have the kernels compiled, so that the other workers of a machine find them in its cache."""
    _unpacked(packed).program_hash(rows)


def on_cluster(client: Any, question: Question, store: Store, chunks: Sequence[int]) -> Iterator[Outcome]:
    """Answer on the workers of a client, as many chunks at a time as keep them busy."""
    distributed = package("distributed")
    _same_version(client)
    packed = package("cloudpickle").dumps(question.carried())
    machines = {worker.rpartition(":")[0]: worker for worker in client.nthreads()}
    rows = question.rows(question.trial_rollouts())
    compiled = [
        client.submit(warm_up, packed, rows, workers=[worker], allow_other_workers=True, pure=False)
        for worker in machines.values()
    ]
    distributed.wait(compiled)
    place, waiting, begun = (os.path.realpath(store.path), store.key), iter(chunks), Counter[int]()
    running, of, room = distributed.as_completed(), dict[Any, int](), 0

    def begin(chunk: int) -> None:
        begun[chunk] += 1
        rows = question.rows(store.rollouts(chunk))
        future = client.submit(task, packed, place, chunk, rows, build(), os.getpid(), pure=False)
        of[future] = chunk
        running.add(future)

    def fill() -> None:
        nonlocal room
        if len(of) > room * (AHEAD - 1) // AHEAD:
            return
        room = AHEAD * max(2, sum(client.nthreads().values()))  # which costs a call: workers come and go
        for chunk in itertools.islice(waiting, max(0, room - len(of))):
            begin(chunk)

    try:
        fill()
        for future in running:
            chunk = of.pop(future)
            problem = future.exception() if future.status == "error" else None
            if store.has(chunk):
                yield Outcome(chunk, store.failed(chunk))
            elif future.status == "finished":
                yield future.result()
            elif begun[chunk] < TRIES and (problem is None or isinstance(problem, distributed.KilledWorker)):
                begin(chunk)
            else:
                yield Outcome(chunk, why=f"{type(problem).__name__}: {problem}" if problem else "it was cancelled")
            fill()
    finally:
        client.cancel(list(of))


def _same_version(client: Any) -> None:
    """Raise where a worker has another hinge, or none."""

    def theirs() -> str:  # is sent as it stands, so that any worker can answer
        try:
            from hinge.sweeps.question import build

            return build()
        except Exception as problem:
            return f"none of use: {type(problem).__name__}: {problem}"

    for worker, found in client.run(theirs).items():
        if found != build():
            raise SweepError(f"{wrong_version(worker, found, build())}.", "Install the same version on all workers.")


@contextmanager
def local(workers: int) -> Iterator[Any]:
    """A client of so many processes on this machine."""
    distributed, over = package("distributed"), threading.Event()
    with (
        package("dask").config.set(QUIET),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        watch = threading.Thread(target=_kept_up, args=(cluster, client, workers, over), daemon=True)
        watch.start()
        try:
            yield client
        finally:
            over.set()
            watch.join()


def _kept_up(cluster: Any, client: Any, workers: int, over: threading.Event) -> None:
    """Start workers in the place of those that Dask gives up: it starts one again that was lost, but not one that was
    lost while it started."""
    lacking = 0
    while not over.wait(PATIENCE / 5):
        missing = workers - len(client.nthreads())
        lacking = lacking + 1 if missing > 0 else 0
        if lacking == 5:
            cluster.scale(len(cluster.worker_spec) + missing)
            lacking = 0

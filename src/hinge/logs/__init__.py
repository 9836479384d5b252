"""Logs: tables of states in CSV, Parquet and NPZ files, and algorithms run over them row by row, in chunks.

A 2 GB log takes the memory of one chunk. Read columns, then tables (in), sinks (out), run and replay.
"""

from hinge.logs.replay import replay
from hinge.logs.run import run, runnable
from hinge.logs.sinks import write

__all__ = ["replay", "run", "runnable", "write"]

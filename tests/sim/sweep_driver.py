"""A sweep that others kill: python sweep_driver.py STORE WORKERS ROLLOUTS [BYTES]; a file may grow to so many BYTES.

Prints the hash, or a dash where it is not complete, how many rollouts are done, and why it stopped.
"""

import sys
import warnings

import hinge
from hinge.sweeps import latin, table, uniform


def asked(rollouts):
    initial = {"q": latin(-1.0, 1.0), "qd_joint2": table([0.01 * k for k in range(rollouts)])}
    parameters = {"rod1.mass": uniform(0.5, 2.0)}
    return {"robot": hinge.samples.pendulum(2), "parameters": parameters, "initial": initial, "t": 20.0, "chunk": 100}


if __name__ == "__main__":
    store, workers, rollouts, most = sys.argv[1], *map(int, [*sys.argv[2:], 0][:3])
    if most:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = hinge.sweep(**asked(rollouts), store=store, workers=workers, resume=True)
    print(made.hash or "-", made.done, *(str(one.message).splitlines()[0] for one in caught))

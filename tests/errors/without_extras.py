"""Calls and commands that need an extra, where nothing but the core dependencies can be imported; run as a script.

    python tests/errors/without_extras.py FOLDER     a JSON table on stdout: what each row of ROWS and of CORE said

FOLDER has run.zarr, which a complete installation wrote.
"""

import contextlib
import importlib
import json
import re
import sys
import tomllib
import warnings
from importlib import metadata
from pathlib import Path

MESH = """<robot name="r"><link name="base"/><joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
<axis xyz="0 1 0"/></joint><link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial><collision><geometry><mesh filename="{}"/></geometry></collision></link></robot>"""
MJCF = """<mujoco><asset><mesh name="m" file="part.obj"/></asset><worldbody><body><joint type="hinge"/>
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
LOG = "t,q_shoulder,q_elbow,qd_shoulder,qd_elbow,tau_shoulder,tau_elbow\n0,0,0,0,0,0,0\n0.1,0,0,0,0,0,0\n"
SWEEP = 'robot = "arm.urdf"\nt = 0.1\nrollouts = 2\nstore = "sweep.zarr"\n'
FILES = {"log.csv": LOG, "part.obj": OBJ, "mesh.xml": MJCF, "arm.xacro": "<robot/>", "sweep.toml": SWEEP}


def package(requirement):
    """The name of a package, of `NumPy>=2` say, as packages are compared."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def modules_of(*names):
    """The modules of packages, of their dependencies without extras, and of theirs."""
    names, found = list(names), set()
    while names:
        if (name := names.pop()) not in found:
            found.add(name)
            with contextlib.suppress(metadata.PackageNotFoundError):  # it is for other systems
                names += [package(one) for one in metadata.requires(name) or [] if "extra ==" not in one]
    owners = metadata.packages_distributions()
    return {module for module, given in owners.items() if found & set(map(package, given))}


class Only:
    """A finder of modules that does not find those of other packages."""

    def __init__(self, finder, known):
        self.finder, self.known = finder, known

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.known:
            return None
        return self.finder.find_spec(name, path, target)


def command(*words):
    """Run a command; what it says when it fails is raised."""
    from click.testing import CliRunner

    import hinge
    from hinge.cli import main

    made = CliRunner().invoke(main, [str(word) for word in words])
    if made.exception is not None and not isinstance(made.exception, SystemExit):
        raise made.exception
    if made.exit_code:
        raise hinge.HingeError(made.output)


def rows(hinge, folder):
    """(extra, what is called, the call): each needs the extra."""
    from hinge import identify, logs, optimal

    arm = hinge.samples.planar_2r()
    for name, content in FILES.items():
        (folder / name).write_text(content)
    (folder / "mesh.urdf").write_text(MESH.format(folder / "part.obj"))
    hinge.write(arm, folder / "arm.urdf")
    run = hinge.simulate(arm, 0.02, [0.1, 0.2], step=1e-2)
    logs.write(run, folder / "log.npz")

    def at(name):
        return str(folder / name)

    zarr, csv, urdf = at("run.zarr"), at("log.csv"), at("arm.urdf")
    made = importlib.import_module
    return [
        ("mesh", "simulate with a mesh", lambda: hinge.simulate(hinge.load(at("mesh.urdf")), 0.01, ground=-9.0)),
        ("mesh", "inertia of a mesh", lambda: hinge.load(at("mesh.xml"))),
        ("mesh", "hinge show", lambda: command("show", at("mesh.xml"))),
        ("solve", "optimal.lqr", lambda: optimal.lqr(arm, [0.1, 0.2], 1.0, 1.0)),
        ("solve", "identify.excite", lambda: identify.excite(arm)),
        ("files", "simulate(file=)", lambda: hinge.simulate(arm, 0.02, file=at("new.zarr"))),
        ("files", "Trajectory.save", lambda: run.save(at("new.zarr"))),
        ("files", "open", lambda: hinge.open(zarr)),
        ("files", "Trajectory.to_xarray", run.to_xarray),
        ("files", "Trajectory.to_dataframe", run.to_dataframe),
        ("files", "logs.write", lambda: logs.write(run, at("new.csv"))),
        ("files", "logs.write of Parquet", lambda: logs.write(run, at("new.parquet"))),
        ("files", "logs.run", lambda: logs.run(arm, "gravity_force", csv, at("new.npz"))),
        ("files", "logs.replay", lambda: logs.replay(arm, csv)),
        ("files", "identify.read", lambda: identify.read(arm, csv)),
        ("files", "hinge simulate", lambda: command("simulate", urdf, "--time", "0.01", "--out", at("new.zarr"))),
        ("files", "hinge simulate to CSV", lambda: command("simulate", urdf, "--time", "0.01", "--out", at("new.csv"))),
        ("files", "hinge run", lambda: command("run", "gravity_force", urdf, "--in", csv, "--out", at("new.npz"))),
        ("files", "hinge identify", lambda: command("identify", urdf, "--in", csv, "--out", at("new.urdf"))),
        ("files", "hinge film", lambda: command("film", zarr, at("new.html"))),
        ("files", "hinge view", lambda: command("view", zarr, "--no-browser")),
        ("gym", "envs.make", lambda: made("hinge.envs").make("cart-pole-swing-up")),
        ("sweep", "sweep", lambda: hinge.sweep(arm, t=0.1, rollouts=2, store=at("sweep.zarr"))),
        ("sweep", "sweep on workers", lambda: hinge.sweep(arm, t=0.1, rollouts=2, store=at("sweep.zarr"), workers=2)),
        ("sweep", "hinge sweep", lambda: command("sweep", at("sweep.toml"))),
        ("equations", "Robot.equations", lambda: arm.equations("gravity_force")),
        ("equations", "hinge equations", lambda: command("equations", urdf, "gravity_force")),
        ("plot", "Trajectory.plot", run.plot),
        ("plot", "hinge simulate --plot", lambda: command("simulate", urdf, "--time", "0.01", "--plot", at("new.png"))),
        ("plot", "film to GIF", lambda: hinge.film(run, at("new.gif"))),
        ("view", "view", lambda: hinge.view(arm, browser=False)),
        ("view", "hinge view", lambda: command("view", urdf, "--no-browser")),
        ("film", "film", lambda: hinge.film(run, at("new.mp4"))),
        ("xacro", "load", lambda: hinge.load(at("arm.xacro"))),
        ("xacro", "hinge show", lambda: command("show", at("arm.xacro"))),
        ("cuda", "rollout", lambda: hinge.rollout(arm, [0.1, 0.2], [0.0, 0.0], 2, 1e-2, backend="cuda")),
        ("cuda", "simulate", lambda: hinge.simulate(arm, 0.02, [0.1, 0.2], backend="cuda")),
        ("drake", "interop.drake", lambda: made("hinge.interop.drake").to_model(arm)),
        ("casadi", "Robot.casadi", lambda: arm.casadi("gravity_force")),
    ]  # fmt: skip


def core(hinge, folder):
    """(name, call) of what needs no extra."""
    arm = hinge.samples.planar_2r()
    q, qd = arm.random_state(0, 3)

    def every_name():
        for name in hinge.__all__:
            getattr(hinge, name)

    def modules():
        for name in [
            "calls",
            "control",
            "geometry",
            "identify",
            "interop",
            "logs",
            "motion",
            "optimal",
            "planning",
            "sweeps",
        ]:
            importlib.import_module(f"hinge.{name}")

    return [
        ("names", every_name),
        ("modules", modules),
        ("dynamics", lambda: arm.forward_dynamics(q, qd, arm.inverse_dynamics(q, qd, 0 * qd))),
        ("rollout", lambda: hinge.rollout(arm, q, qd, 3, 1e-2)),
        ("check", lambda: hinge.check(folder / "arm.urdf")),
        ("contacts", lambda: hinge.simulate(hinge.Scene().body("box", "box", (1, 1, 1), 1.0).robot, 0.01, ground=-2.0)),
        ("kinematics", lambda: hinge.inverse_kinematics(arm, arm.pose(q, "hand"), "hand")),
        ("film", lambda: hinge.film(hinge.simulate(arm, 0.02), folder / "run.html")),
        ("logs", lambda: hinge.logs.run(arm, "gravity_force", folder / "log.npz", folder / "out.npz")),
        ("hinge check", lambda: command("check", folder / "arm.urdf")),
        ("hinge convert", lambda: command("convert", folder / "arm.urdf", folder / "arm2.xml")),
        ("hinge repair", lambda: command("repair", folder / "arm.urdf", folder / "arm3.urdf")),
        ("hinge count", lambda: command("count", folder / "arm.urdf", "gravity_force")),
        ("hinge bench", lambda: command("bench", folder / "arm.urdf", "gravity_force", "--seconds", 0.01)),
        ("hinge export", lambda: command("export", folder / "arm.urdf", "gravity_force", "--c", folder / "code")),
        ("hinge demo", lambda: command("demo", "--help")),
        ("hinge cache", lambda: command("cache")),
    ]  # fmt: skip


def answer(call):
    """What a call says: [the error's type, its text, whether it is one of hinge's own], or None."""
    import hinge

    try:
        call()
    except Exception as problem:
        return [type(problem).__name__, str(problem), isinstance(problem, hinge.HingeError)]
    return None


def main(folder):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    known = {"hinge", *modules_of(*map(package, project["dependencies"])), *sys.stdlib_module_names}
    sys.meta_path[:] = [Only(finder, known) for finder in sys.meta_path]
    for name in [name for name in sys.modules if name.partition(".")[0] not in {*known, "__main__"}]:
        del sys.modules[name]
    import hinge

    warnings.simplefilter("ignore")
    said = [(extra, name, answer(call)) for extra, name, call in rows(hinge, folder)]
    said += [("", name, answer(call)) for name, call in core(hinge, folder)]
    known |= modules_of("gymnasium")  # environments come first there
    said.append(("torch", "envs.make", answer(lambda: hinge.envs.make("cart-pole-swing-up", arrays="torch"))))
    print(json.dumps(said))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The readers that strangers' files reach: how each is called, what it is fed with, and how that is spoilt.

xacro files are programs, which only those run who trust them; they are left out. An input of several files is a zip
archive, unpacked beside each other.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mjcf_made import Made
from spoiling import Archive, Bytes, Lines, Xml, packed, unpacked

import hinge
from hinge.backends import cache
from hinge.formats.mjcf import words

ARM = hinge.samples.planar_2r()


@dataclass(frozen=True)
class Target:
    """`seeds()` are valid inputs; `read(path)` ends with a result or a HingeError, whatever is in the file."""

    suffix: str
    form: Any
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    folder: bool = False  # whether the input is an archive, and is unpacked at the path

    def put(self, data: bytes, place: Path) -> Path:
        """The input on disk, below an empty folder."""
        path = place / f"input{self.suffix}"
        if not self.folder:
            path.write_bytes(data)
            return path
        path.mkdir()
        for name, content in unpacked(data):
            member = path / name.replace("\0", "").lstrip("/")
            if ".." in member.parts or not name.isprintable():
                continue
            try:
                member.parent.mkdir(parents=True, exist_ok=True)
                member.write_bytes(content)
            except OSError:  # a name that is too long, or of a folder
                continue
        return path


# ---- robots


class CheckRaises(Exception):
    """`hinge.check` is for files that are wrong: it says so, and does not raise."""


class NotReadBack(Exception):
    """What hinge writes, it reads."""


def read_robot(path):
    """`check` says what is wrong and never raises; what was read can be written, and that be read."""
    try:
        robot = hinge.check(path).robot
    except hinge.HingeError as problem:
        raise CheckRaises(str(problem)) from problem
    if robot is None:
        hinge.load(path)  # says the same by raising
        raise AssertionError("hinge.check says that it cannot be loaded")
    assert robot.neutral().shape == (robot.nq,)
    for suffix in (".urdf", ".xml"):
        written = path.with_name(f"written{suffix}")
        try:
            hinge.write(robot, written)
        except hinge.HingeError:
            continue
        try:
            hinge.load(written)
        except hinge.HingeError as problem:
            raise NotReadBack(str(problem)) from problem
    with contextlib.suppress(hinge.HingeError):
        hinge.load(path, base="floating", mimic="free", loops=True)


def read_model_folder(path):
    hinge.load(path / "robot.xml", loops=True)
    hinge.load(path / "robot.urdf")


def written(suffix, *robots):
    """Robots as hinge writes them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"robot{suffix}")
        made = []
        for robot in robots:
            hinge.write(robot, path)
            made.append(path.read_bytes())
    return made


def trees():
    kinds = (("revolute", "prismatic"), ("spherical", "revolute"))
    return [hinge.samples.random_tree(np.random.default_rng(k), 4, kinds[k]) for k in range(2)]


URDF = b"""<?xml version="1.0"?>
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"/>
  <link name="a">
    <inertial><origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
    <collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><mesh filename="package://p/a.stl" scale="1 1 1"/></geometry></collision>
  </link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="c"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="one" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0 0 1" rpy="0 0.5 0"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/><safety_controller k_velocity="1"/></joint>
  <joint name="two" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <mimic joint="one" multiplier="2" offset="0.1"/></joint>
  <joint name="three" type="fixed"><parent link="b"/><child link="c"/></joint>
  <transmission name="t"><type>x</type><joint name="one"/><actuator name="m"><mechanicalReduction>50
    </mechanicalReduction></actuator></transmission>
</robot>
"""
TOML = b"""name = "arm"
convention = "modified"  # as Craig has it
gravity = [0, 0, -9.81]
base = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]]
angles = "degrees"

[[joint]]
name = "waist"
alpha = 90
d = 0.4
mass = 2.0
com = [0.1, 0, 0.2]
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
limits = [-90, 90]
effort = 20
armature = 0.01

[[joint]]
type = "screw"
pitch = 0.01
theta = 30
mass = 1.0
damping = 0.1
"""
CUBE = np.array(np.meshgrid((0, 1), (0, 1), (0, 1))).reshape(3, -1).T
FACES = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]  # fmt: skip


def mesh_files():
    """A robot whose shapes are in files of their own, and one that includes and attaches others."""
    stl = bytes(80) + np.uint32(len(FACES)).tobytes()
    for face in FACES:
        stl += bytes(12) + CUBE[list(face)].astype("<f4").tobytes() + bytes(2)
    msh = np.array([8, 0, 0, len(FACES)], "<i4").tobytes() + CUBE.astype("<f4").tobytes()
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES)
    mjcf = b"""<mujoco><compiler inertiafromgeom="true"/><asset><mesh name="s" file="a.stl"/>
        <mesh name="m" file="a.msh"/><mesh name="o" file="a.obj" scale="1 2 1"/>
        <model name="p" file="part.xml"/></asset>
        <worldbody><include file="more.xml"/><body name="a"><joint/><geom type="mesh" mesh="s"/>
        <geom type="mesh" mesh="m"/><body><joint type="ball"/><geom type="box" mesh="o"/>
        <attach model="p" body="x" prefix="p_"/></body></body></worldbody></mujoco>"""
    part = b'<mujoco><worldbody><body name="x"><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'
    more = b'<mujocoinclude><body name="more"><freejoint/><geom size="0.1"/></body></mujocoinclude>'
    urdf = b"""<robot name="r"><link name="a"><collision><geometry><mesh filename="a.stl"/></geometry></collision>
        </link></robot>"""
    return [packed([("robot.xml", mjcf), ("part.xml", part), ("more.xml", more), ("robot.urdf", urdf), ("a.stl", stl),
                    ("a.msh", msh + np.array(FACES, "<i4").tobytes()), ("a.obj", obj.encode())])]  # fmt: skip


# ---- logs


def read_log(path):
    """The log as a measured motion, and an algorithm run over its rows."""
    hinge.logs.run(ARM, "gravity_force", path, path.with_name("result.npz"), backend="interpret")
    hinge.identify.read(ARM, path)


def columns():
    t = np.arange(5.0)
    names = [f"{field}_{joint}" for field in ("q", "qd", "tau") for joint in ("shoulder", "elbow")]
    return {"t": t, **{name: np.sin(t + k) for k, name in enumerate(names)}}


def csv_logs():
    table = columns()
    rows = [",".join(table), *(",".join(f"{x:.6g}" for x in row) for row in zip(*table.values(), strict=True))]
    return ["\n".join(rows).encode(), ("\r\n".join(rows) + "\r\n").encode()]


def npz_logs():
    table = columns()
    wide = {name: np.ones((5, 2)) for name in ("q", "qd", "tau")}
    made = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.npz")
        for save, arrays in ((np.savez, table), (np.savez_compressed, {"t": table["t"], **wide})):
            save(path, **arrays)
            made.append(path.read_bytes())
    return made


def parquet_logs():
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain, made = pa.table(columns()), []
    others = [pa.array(range(5), pa.timestamp("us")), pa.array([[1.0]] * 5), pa.array([{"x": 1}] * 5),
              pa.array([*"abcde"]), pa.array([None] * 5), pa.array(["1"] * 5).dictionary_encode(), pa.array([b"1"] * 5),
              pa.array(range(5), pa.date32()), pa.array(range(5)).cast(pa.decimal128(19, 0))]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.parquet")
        for k, table in enumerate([plain, plain, *(plain.set_column(1, "q_shoulder", one) for one in others)]):
            pq.write_table(table, path, compression=("none", "snappy")[k % 2])
            made.append(path.read_bytes())
    return made


# ---- what hinge wrote itself


def read_trajectory(path):
    made = hinge.open(path)
    assert repr(made)
    for name in made.states:
        getattr(made, name)
    assert len(made[-1:]) <= 1
    if {"q", "qd"} <= set(made.states) and len(made):
        assert made.final[0].shape == (*made.status.shape, made.robot.nq)


def trajectories():
    made = []
    several, crossing = {"q0": np.zeros((3, 2))}, {"method": "dopri5", "events": [lambda t, q, qd: q[0] - 0.1]}
    for given in ({"q0": [0.1, 0.2]}, several, crossing):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "run.zarr")
            hinge.simulate(ARM, 0.1, step=0.02, backend="interpret", **given).save(path)
            files = sorted(one for one in path.rglob("*") if one.is_file())
            made.append(packed([(one.relative_to(path).as_posix(), one.read_bytes()) for one in files]))
    return made


ENTRY, KEY = bytes(range(256)) * 8, "0" * 64


def read_cache_entry(path):
    """An entry of the cache is what was kept, or is not there."""
    os.replace(path, path.with_name(f"{KEY}.kernel"))
    os.environ["HINGE_CACHE_DIR"] = str(path.parent)
    assert cache.find(KEY) in (ENTRY, None)


def cache_entries():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HINGE_CACHE_DIR"] = folder
        cache.keep(KEY, ENTRY)
        cache.keep("other", b"")
        return [Path(folder, f"{name}.kernel").read_bytes() for name in (KEY, "other")]


MJCF_WORDS = {
    *words.TREE,
    *words.SECTIONS,
    *words.DEFAULTS,
    *words.ATTRIBUTES,
    *set().union(*words.ATTRIBUTES.values()),
}
TARGETS = {
    "urdf": Target(".urdf", Xml(), lambda: [URDF, *written(".urdf", hinge.samples.puma560(), *trees())], read_robot),
    "mjcf": Target(".xml", Xml(sorted(MJCF_WORDS)),
                   lambda: [*(Made(k, bodies=3).text().encode() for k in range(6)), *written(".xml", *trees())],
                   read_robot),
    "mesh": Target("", Archive(), mesh_files, read_model_folder, folder=True),
    "dh": Target(".toml", Lines(), lambda: [TOML, *written(".toml", hinge.samples.puma560())], read_robot),
    "csv": Target(".csv", Lines(), csv_logs, read_log),
    "npz": Target(".npz", Archive(raw=True), npz_logs, read_log),
    "parquet": Target(".parquet", Bytes(), parquet_logs, read_log),
    "trajectory": Target(".zarr", Archive(), trajectories, read_trajectory, folder=True),
    "cache": Target(".kernel", Bytes(), cache_entries, read_cache_entry),
}  # fmt: skip

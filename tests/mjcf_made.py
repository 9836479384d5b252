"""MJCF files made up from a seed: every way to say where things are, what moves and what weighs.

Each is a robot MuJoCo accepts; tests compare the two readers on them, or spoil them.
"""

import itertools
import xml.etree.ElementTree as ET

import numpy as np

TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
JOINTS = (
    ["hinge"],
    ["slide"],
    ["ball"],
    ["hinge", "slide", "hinge"],
    ["slide", "slide", "ball"],
    [],
)


def text_of(values):
    return " ".join(f"{x:.6g}" for x in np.atleast_1d(values))


class Made:
    """A growing file."""

    def __init__(self, seed, bodies=6):
        self.rng, self.left, self.count = np.random.default_rng(seed), bodies, itertools.count()
        self.root = ET.Element("mujoco", model="made")
        self.compiler()
        self.classes()
        self.joints = []
        world = ET.SubElement(self.root, "worldbody")
        self.put(world, "geom", type="plane", size="1 1 1")
        self.put(world, "site", name=self.name("site"), **self.place())
        while self.left > 0:
            self.body(world, top=True)
        self.outside(world)

    def text(self):
        return ET.tostring(self.root, encoding="unicode")

    # small things

    def some(self, chance=0.5):
        return self.rng.random() < chance

    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def numbers(self, n, low=-1.0, high=1.0):
        return text_of(self.rng.uniform(low, high, n))

    def name(self, kind):
        return f"{kind}{next(self.count)}x"  # a letter, so that a repetition cannot make it another

    def maybe_name(self, kind):
        return {"name": self.name(kind)} if self.some(0.8) else {}

    def put(self, parent, tag, **attributes):
        return ET.SubElement(parent, tag, {k.rstrip("_"): v for k, v in attributes.items()})

    def angle(self, low, high):
        return self.rng.uniform(low, high, 1)[0] * (57.29578 if self.degrees else 1.0)

    def turn(self):
        """An orientation in one of five ways, or none."""
        kind = self.one((*TURNS, "none"))
        made = {
            "quat": lambda: self.numbers(4),
            "axisangle": lambda: f"{self.numbers(3)} {self.angle(-3, 3):.6g}",
            "euler": lambda: text_of([self.angle(-3, 3) for _ in range(3)]),
            "xyaxes": lambda: self.numbers(6),
            "zaxis": lambda: self.numbers(3),
        }
        return {kind: made[kind]()} if kind in made else {}

    def place(self):
        return ({"pos": self.numbers(3)} if self.some(0.7) else {}) | self.turn()

    def class_of(self, chance=0.3):
        return {"class": self.one(("main", "leg", "foot"))} if self.some(chance) else {}

    # what holds throughout

    def compiler(self):
        self.degrees = self.some()
        sequence = "".join(self.one("xyzXYZ") for _ in range(3))
        options = {"angle": "degree" if self.degrees else "radian", "eulerseq": sequence}
        options |= {"inertiafromgeom": self.one(("auto", "true"))} if self.some(0.3) else {}
        options |= {"boundmass": "0.3", "boundinertia": "0.02"} if self.some(0.3) else {}
        options |= {"autolimits": "false"} if self.some(0.3) else {}
        self.autolimits = "autolimits" not in options
        self.put(self.root, "compiler", **options)
        if self.some():
            self.put(self.root, "option", gravity=self.numbers(3, -10, 10))

    def classes(self):
        outer = ET.SubElement(self.root, "default")
        for name in ("", "leg", "foot"):
            if name:
                outer = ET.SubElement(outer, "default", {"class": name})
            if self.some(0.7):
                self.put(outer, "joint", armature=self.numbers(1, 0, 0.2), axis=self.numbers(3))
            if self.some(0.7):
                self.put(outer, "geom", density=self.numbers(1, 10, 900), **self.turn())
            if self.some(0.3):
                self.put(outer, "motor", gear=self.numbers(1, 1, 4), armature=self.numbers(1, 0, 0.1))

    def outside(self, world):
        actuators = ET.SubElement(self.root, "actuator")
        for name in self.joints:
            if self.some(0.3):
                self.put(actuators, "motor", joint=name, **self.class_of())
        repeated = {body for part in world.iter("replicate") for body in part.iter("body")}
        named = [body for body in world.iter("body") if "name" in body.attrib and body not in repeated]
        named = [body for body in named if body.find("freejoint") is None]
        if named and self.some(0.4):
            frame = self.put(world, "frame", **self.place())
            self.put(frame, "attach", body=self.one(named).get("name"), prefix="again_")

    # the tree

    def inside(self, parent):
        """The parent itself, or a frame or repetition in it."""
        kind = self.one(("", "", "frame", "nested", "replicate"))
        if not kind:
            return parent
        childclass = {"childclass": self.one(("leg", "foot"))} if self.some(0.3) else {}
        frame = self.put(parent, "frame", **self.place(), **childclass)
        if kind == "nested":
            frame = self.put(frame, "frame", **self.place())
        if kind == "replicate":
            angles = text_of([self.angle(-1, 1) for _ in range(3)])
            count, sep = str(self.rng.integers(1, 4)), self.one(("", "_"))
            frame = self.put(frame, "replicate", count=count, sep=sep, offset=self.numbers(3), euler=angles)
        return frame

    def body(self, parent, top=False):
        self.left -= 1
        given = self.maybe_name("body") | ({"childclass": self.one(("leg", "foot"))} if self.some(0.3) else {})
        body = self.put(parent if top and self.some() else self.inside(parent), "body", **given, **self.place())
        if top and self.some(0.3):
            self.put(body, "freejoint", **self.maybe_name("free"))
        else:
            self.moving(body)
        self.weighing(body)
        for _ in range(self.rng.integers(0, 2)):
            self.put(self.framed(body), "site", **self.maybe_name("site"), **self.place(), **self.class_of())
        while self.left > 0 and self.some(0.6):
            self.body(body)

    def framed(self, body):
        return self.put(body, "frame", **self.place()) if self.some(0.3) else body

    def moving(self, body):
        kinds = self.one(JOINTS)
        for kind in kinds:
            given = self.maybe_name("joint") | {"type": kind} | self.class_of()
            if "name" in given and kind != "free":
                self.joints.append(given["name"])
            if self.some():
                given["pos"] = self.numbers(3)
            if kind in ("hinge", "slide"):
                given |= {"axis": self.numbers(3)} if len(kinds) > 1 or self.some() else {}
                given |= {"ref": f"{self.angle(-1, 1):.6g}"} if self.some(0.4) else {}
                if self.some(0.4):
                    given["range"] = text_of(sorted(self.angle(-2, 2) for _ in range(2)))
                    given |= {} if self.autolimits else {"limited": self.one(("true", "false"))}
            self.put(self.framed(body), "joint", **given)

    def weighing(self, body):
        if self.some(0.3):
            least, *others = self.rng.uniform(0.5, 0.9, 3)
            shape = {"diaginertia": text_of([least, *others])}
            shape |= self.turn()
            if self.some(0.3):
                shape = {"fullinertia": text_of([0.8, 0.9, 1.0, *self.rng.uniform(-0.1, 0.1, 3)])}
            self.put(self.framed(body), "inertial", pos=self.numbers(3), mass=self.numbers(1, 0.5, 2), **shape)
        fixed = body.find(".//joint") is None and body.find("freejoint") is None
        for _ in range(self.rng.integers(0 if fixed else 1, 3)):
            kind = self.one(tuple(SIZES))
            given = {"type": kind, "size": self.numbers(SIZES[kind], 0.05, 0.3)} | self.class_of()
            given |= self.place()
            if self.some(0.3):
                given |= {"mass": self.numbers(1, 0.1, 2)} if self.some() else {"density": self.numbers(1, 100, 2000)}
            if kind != "sphere" and self.some(0.3):
                given = {k: v for k, v in given.items() if k not in ("pos", *TURNS)} | {"fromto": self.numbers(6)}
            if kind != "ellipsoid" and self.some(0.2):
                given["shellinertia"] = "true"
            self.put(self.framed(body), "geom", **given)

"""Every algorithm's derivative by every input, in all axes and combinations, is what differences of its call say.

The inputs are those it must have and those it may have: forces on bodies, the motion of the base, varied numbers and
all others of the registry, on trees of all joints with driven ones and followers, and on loops. All blocks are the
same, alone and beside any others.
"""

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest
from differences import ROUNDED, WEIGHTS, inputs, near, positions, slots
from mechanisms_of_all_sorts import GROUPS, MAKERS, tree_of
from robots import random_body
from sweeps import swept

import hinge
from hinge.dynamics.registry import POSITION, default, required_inputs
from hinge.robot import ALGORITHMS

AXES = ("body", "base", "aligned")
OPTIONAL = ("external", "base_motion")
RANGES = {"damping": (0.05, 0.2), "most": (0.5, 2.0)}
NAMES = [name for name in ALGORITHMS if not name.endswith("_derivatives")]
ACTUATED = """<mujoco model="actuated"><worldbody><body name="a"><joint name="j" axis="0 1 0" damping="0.3"
 stiffness="2" springref="0.1" armature="0.01"/><geom type="capsule" fromto="0 0 0 .4 .1 0" size=".05"/>
<body name="b" pos=".4 0 0"><joint name="k" axis="1 0 0"/><geom type="box" size=".06 .1 .2"/>
<site name="tip" pos=".1 .2 0"/></body></body></worldbody>
<tendon><fixed name="t" stiffness="3" damping="0.2"><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed>
</tendon><actuator><position name="p" joint="j" kp="20" kv="1"/><motor name="m" tendon="t" gear="2"/>
<general name="s" site="tip" gear="0 0 1 0 0 0"/></actuator></mujoco>"""
LOADED = [name for name in NAMES if not set(OPTIONAL).isdisjoint(default(name).inputs)]


def floating():
    """A floating base with a hinge and a follower, of which a mass varies."""
    body = random_body(np.random.default_rng(5))
    robot = tree_of(["revolute", "helical"], 5, {"helical": "revolute"}, root=body)
    return robot.vary(f"{robot.model.body_name[2]}.mass"), {}


def driven():
    """A tree with a ball, a slide that is driven and a universal joint, of which some numbers vary."""
    robot = tree_of(["spherical", "prismatic", "universal"], 6)
    robot = robot.prescribe(robot.joint_names[1]).vary(f"{robot.model.body_name[1]}.com", "gravity")
    return robot, {"prescribed": ([0.3], [0.7], [-0.5])}


def small():
    """Three freedoms, a follower, and a mass that varies."""
    robot = tree_of(["universal", "revolute", "prismatic"], 7, {"prismatic": "revolute"})
    return robot.vary(f"{robot.model.body_name[3]}.mass"), {}


def free():
    """A floating base with a ball on a hinge, of which a mass varies."""
    robot = tree_of(["revolute", "spherical"], 8, root=random_body(np.random.default_rng(8)))
    return robot.vary(f"{robot.model.body_name[2]}.mass"), {}


def actuated():
    """A tree on which actuators and springs of a file act."""
    return hinge.load(ACTUATED), {}


def closed():
    """A loop with a powered joint, of which a mass varies."""
    model = hinge.samples.four_bar().model
    loops = tuple(dataclasses.replace(loop, powered=True) for loop in model.loops)
    return hinge.Robot(dataclasses.replace(model, loops=loops)).vary(f"{model.body_name[2]}.mass"), {}


ROBOTS = {"floating": floating, "driven": driven, "small": small, "free": free, "actuated": actuated, "closed": closed}
ROBOTS |= {name: MAKERS[name] for name in (*GROUPS, "mixed", "coupled")}
DEEP = {("floating", "forward_dynamics"), ("driven", "forward_dynamics"), ("driven", "inverse_dynamics")}


def is_quick(which, name):
    """Whether `make test` tries an algorithm on a robot: on the smallest that it covers, and where many rely on it."""
    return (which, name) in DEEP or which == smallest(name)


def smallest(name):
    """The smallest robot that an algorithm covers."""
    return next(which for which in ("small", "free", "actuated", "closed") if covered(which, name))


robot_of = cache(lambda which: ROBOTS[which]())
ball_arm = cache(lambda: tree_of(["spherical", "helical", "revolute"], 4, {"revolute": "helical"}))


class Case:
    """A call of an algorithm at a state, with all inputs that it takes, by name; frames are names."""

    def __init__(self, which, name, seed=0, **options):
        self.robot, more = robot_of(which)
        self.name, rng = name, np.random.default_rng([seed, *f"{which} {name}".encode()])
        draws = [inputs(self.robot, rng, name) for _ in range(16 if name.startswith("resolved") else 1)]
        self.given, self.options = max(draws, key=self.regularity) if len(draws) > 1 else draws[0], more | options
        self.by = {one: np.asarray(self.given[one], float) for one in slots(name)}
        if "external" in default(name).inputs:
            self.frames = sorted(str(x) for x in rng.choice(self.robot.frame_names[1:], 2, replace=False))
            self.by["external"] = rng.normal(size=(2, 6))
        if "base_motion" in default(name).inputs:
            self.by["base_motion"] = rng.normal(size=(2, 6))
        self.optional = [one for one in default(name).inputs if one not in (*self.given, *OPTIONAL)]
        for one in self.optional:
            shape = default(name).inputs[one].shape(self.robot.model)
            self.by[one] = rng.uniform(*RANGES.get(one, (-1.0, 1.0)), shape)
        for one in self.robot.target.vary:
            self.by[one.name] = np.asarray(one.nominal(self.robot.model)) + rng.uniform(0.1, 0.3, one.shape)
        self.rng = rng

    def regularity(self, given):
        """The least singular value of a Jacobian that is inverted: derivatives grow with the cube of its inverse."""
        frame = next(x for x in given.values() if isinstance(x, str))
        sizes = np.linalg.svd(self.robot.jacobian(given["q"], frame), compute_uv=False)
        return min(sizes[sizes > 1e-9], default=0.0)

    def keywords(self, values):
        """The keywords of a call with these values of its inputs."""
        made = self.options | {one: values[one] for one in self.optional}
        if "external" in values:
            made["external"] = {x: values["external"][..., k, :] for k, x in enumerate(self.frames)}
        if "base_motion" in values:
            made["base_motion"] = tuple(np.moveaxis(values["base_motion"], -2, 0))
        numbers = {one.name: values[one.name] for one in self.robot.target.vary}
        return made | ({"parameters": numbers} if numbers else {})

    @property
    def arrays(self):
        return list(self.given.values())

    @property
    def how(self):
        return self.keywords(self.by)

    def widths(self):
        return {one: self.robot.nv if self.is_position(one) else x.size for one, x in self.by.items()}

    def is_position(self, one):
        return required_inputs(self.name).get(one) is POSITION

    def shifted(self, t):
        """The results where each input in turn has moved by t along each of its directions: a row for each."""
        total, at, values = sum(self.widths().values()), 0, {}
        numbers = {key: x for key, x in self.keywords(self.by).items() if key in ("parameters", "prescribed")}
        for one, width in self.widths().items():
            x, unit = self.by[one], np.zeros((total, width))
            unit[at : at + width] = t * np.eye(width)
            moved = (
                self.robot.integrate(x, unit, **numbers) if self.is_position(one) else x + unit.reshape(-1, *x.shape)
            )
            values[one], at = moved, at + width
        made = getattr(self.robot, self.name)(
            *(values.get(one, x) for one, x in self.given.items()), **self.keywords(values)
        )
        return made if isinstance(made, tuple) else (made,)

    def steps(self):
        """The lengths of steps whose differences may be right to the accuracy: one of them has to be.

        What an inverse of a Jacobian gives is rounded more, and bends more, from one state to another.
        """
        if self.name.startswith("resolved"):
            return 3e-3, 1e-3, 1e-2, 3e-4, 1e-4
        return (4e-3,) if self.name in ROUNDED else (1e-3,)

    def by_differences(self, h):
        """For each result the derivatives by all inputs, side by side, by differences with steps of length h."""
        total = None
        for k, weight in enumerate(WEIGHTS, start=1):
            ahead, behind = self.shifted(k * h), self.shifted(-k * h)
            parts = []
            for a, b, place in zip(ahead, behind, positions(self.name), strict=True):
                parts.append(weight / h * (self.apart(a, b) if place else a - b))
            total = parts if total is None else [x + y for x, y in zip(total, parts, strict=True)]
        return [np.moveaxis(x, 0, -1) for x in total]

    def apart(self, a, b):
        """The displacement from b to a, seen from where the robot is: positions are as far apart on both sides."""
        numbers = {key: x for key, x in self.how.items() if key in ("parameters", "prescribed")}
        now = getattr(self.robot, self.name)(*self.arrays, **self.how)
        now = (now if isinstance(now, tuple) else (now,))[positions(self.name).index(True)]
        return self.robot.difference(now, a, **numbers) - self.robot.difference(now, b, **numbers)

    def derivatives(self, by):
        """For each result the derivatives by these inputs, by name."""
        made = self.robot.derivatives(self.name, *self.arrays, by=by, **self.how)
        several = made if len(positions(self.name)) > 1 else [made]
        return [dict(zip(by, parts, strict=True)) for parts in several]

    def accuracy(self):
        return 1e-7 if self.name in ROUNDED else 1e-8


def error(got, want):
    """The largest difference of two arrays, as a share of the largest entry wanted, or of 1."""
    return np.max(np.abs(got - want), initial=0.0) / np.max(np.abs(want), initial=1.0)


def covered(which, name):
    robot, _ = robot_of(which)
    return not all(one.reason(robot.model) for one in ALGORITHMS[name].values())


def moves_by_rates(which, name):
    """Whether a result is a position of joints that roll, whose displacements are not along `integrate`."""
    return any(positions(name)) and not all(joint.holonomic for joint in robot_of(which)[0].model.joint)


def options_of(name, every):
    """All that an algorithm can be asked about axes, and that its body forces can be given in.

    Of several options every combination, or as many as have every word of each.
    """
    first = default(name)
    said = [[(option, word) for word in words] for option, words in first.options.items()]
    if "external" in first.inputs:
        said.append([("external_frame", word) for word in AXES])
    if every:
        return [dict(chosen) for chosen in itertools.product(*said)]
    most = max(map(len, said), default=1)
    return [dict(words[(k + j) % len(words)] for j, words in enumerate(said)) for k in range(most)]


cases = pytest.mark.parametrize(
    ("which", "name"),
    [x if is_quick(*x) else pytest.param(*x, marks=pytest.mark.sweep) for x in itertools.product(ROBOTS, NAMES)],
)


@pytest.mark.sampled(4)
@cases
@pytest.mark.parametrize("every", swept([False, True], lambda every: not every))
def test_derivatives_by_every_input_in_all_axes_are_differences(which, name, every):
    if not covered(which, name):
        with pytest.raises(hinge.NotCovered, match="covers"):
            robot_of(which)[0].kernel(name)
        return
    if moves_by_rates(which, name):
        case = Case(which, name)
        with pytest.raises(hinge.NotCovered, match="do not change by its velocities alone"):
            case.derivatives(tuple(case.by))
        return
    for k, options in enumerate(options_of(name, every)):
        case = Case(which, name, **options)
        widths = case.widths()
        found = case.derivatives(tuple(widths))
        whole = [np.concatenate([part[one] for one in widths], axis=-1) for part in found]
        for h in case.steps():
            wanted = case.by_differences(h)
            if all(error(got, want) <= case.accuracy() for got, want in zip(whole, wanted, strict=True)):
                break
        for got, want in zip(whole, wanted, strict=True):
            near(got, want, case.accuracy())
        if k and name not in LOADED:
            continue
        # back from weights, and along a tangent
        weights = [case.rng.normal(size=x.shape[:-1]) for x in whole]
        several = tuple(weights) if len(weights) > 1 else weights[0]
        felt = case.robot.vjp(name, case.arrays, several, by=tuple(widths), **case.how)
        want = sum(np.tensordot(w, x, w.ndim) for w, x in zip(weights, whole, strict=True))
        near(np.concatenate([x.ravel() for x in felt]), want, 1e-10)
        tangents = {one: case.rng.normal(size=(n,) if case.is_position(one) else case.by[one].shape)
                    for one, n in widths.items()}  # fmt: skip
        moved = case.robot.jvp(name, case.arrays, tangents, **case.how)
        along = np.concatenate([x.ravel() for x in tangents.values()])
        for got, x in zip(moved if isinstance(moved, tuple) else (moved,), whole, strict=True):
            near(got, x @ along, 1e-10)


QUICK = {("forward_dynamics", "base"), ("impulse_response", "aligned")}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "axes"),
    [x if x in QUICK else pytest.param(*x, marks=pytest.mark.sweep) for x in itertools.product(LOADED, AXES)],
)
def test_each_block_is_the_same_beside_any_others(name, axes):
    case = Case(smallest(name), name, **({"external_frame": axes} if "external" in default(name).inputs else {}))
    every = tuple(case.by)
    whole = case.derivatives(every)
    for n in (1, 2) if (name, axes) in QUICK else range(1, len(every)):  # `make sweep` has all sizes, in other axes
        for by in itertools.combinations(every, n):
            for got, want in zip(case.derivatives(by), whole, strict=True):
                for one in by:
                    near(got[one], want[one], 1e-11)


# what is made of derivatives, with forces on bodies


def loaded(axes, seed=0):
    """A robot with a state, joint forces, and keywords that give forces on two of its bodies."""
    robot, rng = ball_arm(), np.random.default_rng(seed)
    q, qd = (x[0] for x in robot.random_state(rng, 1))
    external = {name: rng.normal(size=6) for name in (robot.model.body_name[2], "tip")}
    return robot, q, qd, rng.normal(size=robot.nv), {"external": external, "external_frame": axes}


def columns(robot, f, q, h=1e-3):
    """The derivatives of arrays along the velocities of q by differences of sixth order."""
    steps = [(w, k * h * np.eye(robot.nv)) for k, w in enumerate(WEIGHTS, start=1)]
    return np.moveaxis(sum(w / h * (f(robot.integrate(q, d)) - f(robot.integrate(q, -d))) for w, d in steps), 0, -1)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("axes", AXES)
def test_second_derivatives_are_differences_of_first_ones(axes):
    robot, q, qd, tau, how = loaded(axes)
    by, frames = ("q", "external"), sorted(how["external"])
    found = robot.second_derivatives("forward_dynamics", q, qd, tau, by=by, **how)
    first = lambda x, **more: robot.derivatives("forward_dynamics", x, qd, tau, by=by, **(how | more))
    for j in range(2):
        near(found[j][0], columns(robot, lambda x, j=j: first(x)[j], q), 1e-8)
    for k, direction in enumerate(np.eye(12)):  # accelerations are linear in forces: any step will do
        ends = [first(q, external={name: how["external"][name] + s * direction[6 * j : 6 * j + 6]
                                   for j, name in enumerate(frames)}) for s in (1.0, -1.0)]  # fmt: skip
        for j in range(2):
            near(found[j][1][..., k], 0.5 * (ends[0][j] - ends[1][j]), 1e-8)


def pairs(methods, quick):
    """Methods in all axes, of which the quick ones are tried in all axes, and others in one by `make test`."""
    every = itertools.product(methods, AXES)
    marked = [x if x[0] == quick or x[1] == "base" else pytest.param(*x, marks=pytest.mark.sweep) for x in every]
    return pytest.mark.parametrize(("method", "axes"), marked)


@pytest.mark.sampled(1)
@pairs(ALGORITHMS["step"], "semi_implicit")
def test_steps_of_every_method_are_linearised_under_loads(method, axes):
    robot, q, qd, tau, how = loaded(axes, 1)
    how |= {"method": method}
    A, B = robot.linearize(q, qd, tau, h=0.02, **how)
    now = robot.step(q, qd, tau, 0.02, **how)[0]

    def after(q, qd=qd, tau=tau):
        end = robot.step(q, qd, tau, 0.02, **how)
        return np.concatenate([robot.difference(now, end[0]), end[1]], axis=-1)

    near(A[:, : robot.nv], columns(robot, after, q), 1e-8)
    for got, f in ((A[:, robot.nv :], lambda d: after(q, qd=qd + d)), (B, lambda d: after(q, tau=tau + d))):
        eye = np.eye(robot.nv)
        want = sum(w / 1e-3 * (f(k * 1e-3 * eye) - f(-k * 1e-3 * eye)) for k, w in enumerate(WEIGHTS, start=1))
        near(got, want.T, 1e-8)
    (by_q, by_v) = robot.derivatives("step", q, qd, tau, 0.02, by=("q", "external"), **how)
    near(np.concatenate([by_q[0], by_v[0]]), A[:, : robot.nv], 1e-11)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("axes", AXES)
def test_a_regulator_has_the_gains_of_the_motion_under_loads(axes):
    pytest.importorskip("scipy")
    from scipy.linalg import solve_discrete_are

    robot, q, _, _, how = loaded(axes, 2)
    still = np.zeros(robot.nv)
    tau = robot.bias_force(q, still, **how)
    hold = hinge.optimal.lqr(robot, q, 1.0, 1.0, tau=tau, step=0.01, **how)
    now = robot.step(q, still, tau, 0.01, **how)[0]

    def after(q, qd=still, tau=tau):
        end = robot.step(q, qd, tau, 0.01, **how)
        return np.concatenate([robot.difference(now, end[0]), end[1]], axis=-1)

    eye = np.eye(robot.nv)
    sides = [(w, k * 1e-3 * eye) for k, w in enumerate(WEIGHTS, start=1)]
    by_v = sum(w / 1e-3 * (after(q, qd=d) - after(q, qd=-d)) for w, d in sides).T
    B = sum(w / 1e-3 * (after(q, tau=tau + d) - after(q, tau=tau - d)) for w, d in sides).T
    A = np.concatenate([columns(robot, after, q), by_v], axis=1)
    S = solve_discrete_are(A, B, np.eye(2 * robot.nv), np.eye(robot.nv))
    near(hold.K, np.linalg.solve(np.eye(robot.nv) + B.T @ S @ B, B.T @ S @ A), 1e-6)


@pytest.mark.sampled(1)
@pairs(["euler", "semi_implicit", "rk4"], "semi_implicit")
def test_a_rollout_is_pulled_back_to_all_it_was_given_under_loads(method, axes):
    robot, q, qd, _, how = loaded(axes, 3)
    rng, n, h = np.random.default_rng(4), 4, 0.01
    given = {"q0": q, "qd0": qd, "taus": rng.normal(size=(n, robot.nv))} | how["external"]
    dq, dqd = rng.normal(size=(2, n + 1, robot.nv))

    def rolled(**other):
        x = given | other
        external = {name: x[name] for name in how["external"]}
        return hinge.rollout(robot, x["q0"], x["qd0"], n, h, taus=x["taus"], method=method, external=external,
                             external_frame=axes)  # fmt: skip

    base = rolled()
    made = base.pulled(dq, dqd)
    made |= made.pop("external")
    for name, x in given.items():
        tangent = rng.normal(size=robot.nv if name == "q0" else x.shape)

        def at(t, name=name, x=x, tangent=tangent):
            end = rolled(**{name: robot.integrate(x, t * tangent) if name == "q0" else x + t * tangent})
            return (dq * robot.difference(base.q, end.q)).sum() + (dqd * end.qd).sum()

        want = sum(w / 1e-3 * (at(k * 1e-3) - at(-k * 1e-3)) for k, w in enumerate(WEIGHTS, start=1))
        near((np.asarray(made[name]) * tangent).sum(), want, 1e-8)


@pytest.mark.parametrize("axes", AXES)
def test_torch_has_the_same_gradients_under_loads(axes):
    torch = pytest.importorskip("torch")
    robot, q, qd, tau, how = loaded(axes, 5)
    w = np.random.default_rng(6).normal(size=robot.nv)
    forces = {name: torch.tensor(x, requires_grad=True) for name, x in how["external"].items()}
    qdd = robot.forward_dynamics(q, qd, tau, external=forces, external_frame=axes)
    (torch.tensor(w) * qdd).sum().backward()
    (want,) = robot.vjp("forward_dynamics", (q, qd, tau), w, by=("external",), **how)
    for name, row in zip(sorted(forces), want, strict=True):
        near(forces[name].grad.numpy(), row, 1e-12)

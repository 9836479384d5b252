"""What an MJCF file says besides the tree, against MuJoCo: numbers field by field, forces, and which shapes may touch.

The robots are those of the MuJoCo Menagerie; small files have what these lack.
"""

import os
import sysconfig
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from closeness import close
from mujoco_pair import Pair, mujoco
from sweeps import swept

import hinge
from hinge.contact.collision_pairs import collision_shapes, file_pairs

ROBOTS = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[3] / "shared" / "robots"))
FILES = {str(path.relative_to(ROBOTS)): path for path in sorted(ROBOTS.glob("*/*.xml")) if path.stem != "keyframes"}
PACKAGES = Path(sysconfig.get_path("purelib"))
EXACT = 1e-12
AGREES = 1e-10

GEOM = '<geom name="{0}" size=".1 .2 .3" type="{1}"/>'
CHAIN = """<body name="a" gravcomp=".7"><joint name="j" axis="1 0 0" range="-2 1" stiffness="3" springref=".4"
   damping=".3" solreflimit=".05" margin=".1"/><joint name="s" type="slide" axis="0 1 0" frictionloss=".2"
   solimpfriction=".8 .9" actuatorfrcrange="-.5 .8"/><geom name="ga" size=".1 .2 .3" type="box"/>
 <body name="b" pos="0 .1 1" gravcomp="1.5"><joint name="k" axis="0 1 1" actuatorgravcomp="true" ref=".3"
    actuatorfrcrange="-3 3" stiffness="2"/><geom name="gb" size=".1"/><site name="push" pos=".1 .2 .3" euler="1 2 3"/>
  <body name="c" pos="0 0 .5"><geom name="gc" type="capsule" size=".05 .2"/>
   <body name="d" pos="0 0 .5"><joint name="ball" type="ball" stiffness="2" damping=".1"/><geom name="gd" size=".2"/>
 </body></body></body></body>
<body name="free" pos="1 0 1" gravcomp=".3"><joint name="f" type="free" damping=".2" stiffness=".5"/>
 <geom name="gf" type="ellipsoid" size=".1 .2 .3"/></body>"""
LAW = '<compiler angle="radian"/>'


def world(after, bodies=CHAIN, before=LAW):
    return f"<mujoco>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


TENDON = """<tendon>
 <fixed name="t" stiffness="7" damping=".4" springlength="-.1 .2" range="-1 2" limited="true" margin=".03"
    frictionloss=".1" actuatorfrcrange="-2 1.5" solreflimit=".01 .7" solimpfriction=".5">
  <joint joint="j" coef=".5"/><joint joint="k" coef="-2"/></fixed>
 <fixed name="rest" stiffness="5"><joint joint="j" coef="1"/><joint joint="s" coef="3"/><joint joint="k" coef="2"/>
 </fixed></tendon>"""
DRIVEN = """<actuator>
 <motor joint="j" gear="3" ctrlrange="-1 1"/>
 <motor name="strong" joint="j" gear="2" forcerange="-.3 .5"/>
 <position joint="s" kp="20" kv="3"/>
 <position joint="k" kp="4" dampratio=".7" ctrlrange="-.2 .2" gear="1.5"/>
 <position tendon="t" kp="4" dampratio="1" inheritrange=".5"/>
 <velocity jointinparent="j" kv="2"/>
 <damper joint="k" kv="3" ctrlrange="0 2"/>
 <general tendon="t" gear="2" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm=".1 .2 .3" damping=".6"/>
 <general joint="s" gainprm="4" group="3"/>
 <motor site="push" gear="1 2 3 4 5 6"/>
 <general site="push" gear="0 0 1 0 0 2" biastype="affine" biasprm="1 2 -3"/>
</actuator>"""
CLASSES = """<default><geom friction=".5 .2 .1" solimp=".5 .6 .7 .4 3" solref=".1 .9"/><joint solreflimit=".1 .2"/>
 <equality solref=".3 .4"/><tendon damping="2"/><pair condim="4" friction=".1 .2"/><motor ctrlrange="-2 2" gear="3"/>
 <default class="x"><geom friction=".7" solimp=".3" condim="1" priority="1"/><general gainprm="5 1" forcerange="-1 1"/>
  <position kp="7" kv=".5"/><equality solimp=".2"/></default></default>"""
MADE = {
    "tendons": world(TENDON),
    "actuators": world(TENDON + DRIVEN),
    "groups": world(TENDON + DRIVEN, before=LAW + '<option actuatorgroupdisable="3 7"/>'),
    "no clamp": world(DRIVEN + TENDON, before=LAW + '<option><flag clampctrl="disable"/></option>'),
    "no springs": world(DRIVEN + TENDON, before=LAW + '<option><flag spring="disable"/></option>'),
    "no dampers": world(DRIVEN + TENDON, before=LAW + '<option><flag damper="disable"/></option>'),
    "neither": world(DRIVEN + TENDON, before=LAW + '<option><flag damper="disable" spring="disable"/></option>'),
    "no actuation": world(DRIVEN + TENDON, before=LAW + '<option><flag actuation="disable"/></option>'),
    "no gravity": world(DRIVEN + TENDON, before=LAW + '<option><flag gravity="disable"/></option>'),
    "options": world("", before=LAW + """<option timestep=".001" integrator="implicit" cone="elliptic" impratio="3"
        iterations="7" tolerance="1e-5" ls_iterations="3" ls_tolerance=".1" noslip_iterations="2" solver="CG">
        <flag warmstart="disable" contact="disable" filterparent="disable"/></option>"""),
    "classes": world(CLASSES + """<actuator><motor joint="j"/><motor class="x" joint="j"/>
        <position class="x" joint="k"/><position joint="k"/><general class="x" joint="s"/>
        <general class="x" joint="s" biasprm="1" gainprm="2"/>
        <velocity class="x" joint="s"/></actuator>
        <contact><pair geom1="ga" geom2="gd"/><pair geom1="gf" geom2="gd" friction=".6" solref=".2" margin=".1"/>
        <exclude body1="d" body2="free"/></contact>
        <tendon><fixed class="x"><joint joint="j" coef="1"/></fixed></tendon>
        <equality><joint class="x" joint1="j" joint2="s" polycoef="1 2"/><weld body1="a" body2="free" active="false"/>
        <connect body1="a" body2="free" anchor="1 2 3" solref="-10 -2"/></equality>""",
        bodies=CHAIN.replace('name="gc"', 'name="gc" class="x"').replace('name="gf"', 'name="gf" class="x"')),
    "equalities": world(TENDON + """<equality><weld body1="a" body2="free" relpose="1 2 3 1 1 0 0" torquescale="3"
        anchor=".1 .2 .3"/><weld site1="push" site2="other"/><connect site1="push" site2="other"/>
        <connect body1="b" anchor="1 2 3"/><joint joint1="j"/><tendon tendon1="t" tendon2="rest" polycoef=".1 .2 .3"/>
        <tendon tendon1="t"/></equality>""", bodies=CHAIN + '<site name="other" pos="1 2 3"/>'),
    "pairs": world("""<contact><pair geom1="ga" geom2="ghost" condim="6" friction="1 2 3 4 5" solreffriction=".1 .2"/>
        <pair geom1="ga" geom2="gb" gap=".1" margin=".3" solimp=".1 .2"/><exclude body1="world" body2="free"/>
        </contact>""",
        bodies=CHAIN.replace('name="gd"', 'name="ghost" contype="0" conaffinity="0"') + """
        <geom name="floor" type="plane" size="1 1 1" contype="2" conaffinity="5"/><geom name="wall" type="plane"
        size="1 1 1" solref="-100 -2" solmix="3"/><body name="post"><geom name="gp" size=".1" contype="3" solmix="0"
        priority="-2"/><body name="loose"><joint type="slide"/><geom name="gl" size=".1" conaffinity="2" margin=".2"
        gap=".3" solmix="2" solimp=".3 .4 .5 .6 3"/><body name="leaf"><joint axis="1 0 0"/><geom name="gv" size=".1"
        contype="6" solref="-50 -3"/></body></body></body>"""),
    "parents": world("", before=LAW + '<option><flag filterparent="disable"/></option>'),
}  # fmt: skip
CASES = [*FILES, *MADE]


def theirs(case):
    """A file as MuJoCo reads it."""
    made = case in MADE
    return mujoco.MjModel.from_xml_string(MADE[case]) if made else mujoco.MjModel.from_xml_path(str(FILES[case]))


class Both(Pair):
    """A file as MuJoCo and as hinge read it, with a random state and random controls."""

    def __init__(self, case):
        self.case, self.m = case, theirs(case)
        self.robot = hinge.load(MADE.get(case) or FILES[case], packages=[PACKAGES])  # where a dog has its meshes
        self.model, self.physics, self.d = self.robot.model, self.robot.model.physics, mujoco.MjData(self.m)

    def states(self, n):
        """q, qd and controls of n states, and in MuJoCo each of them: its T and its data."""
        rng, rows = np.random.default_rng(3), []
        for _ in range(n):
            self.d.qpos[:] = self.m.qpos0
            mujoco.mj_integratePos(self.m, self.d.qpos, rng.uniform(-2, 2, self.m.nv), 1.0)
            self.d.qvel[:], self.d.ctrl[:] = rng.normal(size=self.m.nv), 3 * rng.normal(size=self.m.nu)
            mujoco.mj_forward(self.m, self.d)
            self._turn(self.d.qvel)
            told = [self.d.qfrc_actuator, self.d.actuator_force, self.d.qfrc_passive, self.d.qfrc_fluid]
            q, qd = self.ours(self.d.qpos), self.T @ self.d.qvel
            rows.append((q, qd, self.d.ctrl.copy(), self.T.copy(), *(x.copy() for x in told)))
        return [np.array(column) for column in zip(*rows, strict=True)]


@cache
def both(case):
    return Both(case)


@pytest.fixture(params=CASES)
def pair(request, monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    return both(request.param)


PACKAGED = {str(path.relative_to(PACKAGES)): path for folder in ("gymnasium", "dm_control")
            for path in sorted((PACKAGES / folder).rglob("*.xml"))}  # fmt: skip


@pytest.mark.parametrize("file", swept(PACKAGED, lambda file: file.endswith("assets/ant.xml")))
def test_files_of_other_packages_say_what_they_say_in_mujoco(file, monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    monkeypatch.setitem(FILES, file, PACKAGED[file])
    try:
        theirs(file)
    except ValueError as error:
        pytest.skip(f"MuJoCo cannot load it: {error}")
    pair = Both(file)
    if {one.feature for one in pair.model.physics.left_out} - {"fluid", "noslip", "diagexact", "free-armature"}:
        pytest.skip("it says what is not modelled")
    for test in (test_joints_say_what_they_say_in_mujoco, test_tendons_say_what_they_say_in_mujoco,
                 test_equalities_say_what_they_say_in_mujoco, test_options_are_those_of_mujoco,
                 test_the_pairs_that_may_touch_are_mujocos, test_forces_are_mujocos):  # fmt: skip
        test(pair)


# ---- numbers


def same(ours, theirs):
    np.testing.assert_allclose(np.reshape(ours, np.shape(theirs)), theirs, rtol=EXACT, atol=EXACT)


def ends(limited, given):
    """Ranges as hinge has them: infinite where they are not switched on."""
    return np.where(np.array(limited, bool)[:, None], given, [-np.inf, np.inf])


def touched(m):
    """The geoms that can touch anything: by their own words, or by a pair's."""
    paired = {*m.pair_geom1, *m.pair_geom2}
    return [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g] or g in paired]


def test_shapes_say_what_they_say_in_mujoco(pair):
    m, placed = pair.m, collision_shapes(pair.model)
    touching = touched(m)
    assert len(placed) == len(touching)
    for g, one in zip(touching, placed, strict=True):
        surface = one.surface
        assert (m.body(m.geom_bodyid[g]).name or f"body_{m.geom_bodyid[g]}") in (
            one.link,
            *([] if one.body else ["world"]),
        )
        for name in ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "margin", "gap"):
            same(getattr(surface, name), getattr(m, f"geom_{name}")[g])
        same(surface.softness.solref, m.geom_solref[g])
        same(surface.softness.solimp, m.geom_solimp[g])


def test_joints_say_what_they_say_in_mujoco(pair):
    m = pair.m
    for j, name in enumerate(pair.robot.joint_names):
        data, v = pair.model.data[pair.model.joint_number(name)], m.jnt_dofadr[j]
        physics = data.physics
        same(physics.limit.solref, m.jnt_solref[j])
        same(physics.limit.solimp, m.jnt_solimp[j])
        same(physics.friction.solref, m.dof_solref[v])
        same(physics.friction.solimp, m.dof_solimp[v])
        same(physics.margin, m.jnt_margin[j])
        assert physics.lifted == bool(m.jnt_actgravcomp[j])
        if m.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            force = physics.force or (-data.effort[0], data.effort[0])
            same(force, ends([m.jnt_actfrclimited[j]], m.jnt_actfrcrange[j : j + 1])[0])


def test_actuators_say_what_they_say_in_mujoco(pair):
    m, actuators = pair.m, pair.physics.actuators
    assert (len(actuators), pair.physics.nu) == (m.nactuator, m.nu)
    same([one.gear for one in actuators], m.actuator_gear)
    affine = (m.actuator_gaintype == mujoco.mjtGain.mjGAIN_AFFINE)[:, None]
    same([one.gain for one in actuators], np.where([[True, False, False]] | affine, m.actuator_gainprm[:, :3], 0.0))
    plain = [k for k, one in enumerate(actuators) if not one.dampratio]
    biased = (m.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)[:, None]
    same([actuators[k].bias for k in plain], np.where(biased, m.actuator_biasprm[:, :3], 0.0)[plain])
    same([one.control for one in actuators], ends(m.actuator_ctrllimited, m.actuator_ctrlrange))
    same([one.force for one in actuators], ends(m.actuator_forcelimited, m.actuator_forcerange))
    for k, one in enumerate(actuators):
        assert one.name == (m.actuator(k).name or f"actuator_{k}")
        kind = mujoco.mjtTrn(m.actuator_trntype[k]).name.removeprefix("mjTRN_").lower().removesuffix("inparent")
        assert (one.on, one.target) == (kind, getattr(m, kind)(m.actuator_trnid[k, 0]).name)
    assert pair.robot.actuation.names == tuple(one.name for one in actuators)


def test_tendons_say_what_they_say_in_mujoco(pair):
    m, tendons = pair.m, pair.physics.tendons
    assert len(tendons) == m.ntendon
    same([one.stiffness for one in tendons], m.tendon_stiffness)
    added, on = np.zeros(m.ntendon), m.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON
    np.add.at(added, m.actuator_trnid[on, 0], (m.actuator_damping * m.actuator_gear[:, 0] ** 2)[on])
    same([one.damping for one in tendons], m.tendon_damping + added)
    same([one.range for one in tendons], ends(m.tendon_limited, m.tendon_range))
    same([one.force for one in tendons], ends(m.tendon_actfrclimited, m.tendon_actfrcrange))
    for word in ("margin", "frictionloss"):
        same([getattr(one, word) for one in tendons], getattr(m, f"tendon_{word}"))
    for word in ("solref", "solimp"):
        same([getattr(one.limit, word) for one in tendons], getattr(m, f"tendon_{word}_lim"))
        same([getattr(one.friction, word) for one in tendons], getattr(m, f"tendon_{word}_fri"))
    for k, one in enumerate(tendons):
        at = slice(m.tendon_adr[k], m.tendon_adr[k] + m.tendon_num[k])
        assert [name for name, _ in one.joints] == [m.joint(j).name for j in m.wrap_objid[at]]
        same([c for _, c in one.joints], m.wrap_prm[at])
        same(one.slack, m.tendon_lengthspring[k])


def test_equalities_say_what_they_say_in_mujoco(pair):
    m, equalities = pair.m, pair.physics.equalities
    assert len(equalities) == m.neq
    for k, one in enumerate(equalities):
        assert one.kind == mujoco.mjtEq(m.eq_type[k]).name.removeprefix("mjEQ_").lower()
        assert one.active == bool(m.eq_active0[k])
        same(one.softness.solref, m.eq_solref[k])
        same(one.softness.solimp, m.eq_solimp[k])
        named, (a, b) = getattr(m, one.on), (m.eq_obj1id[k], m.eq_obj2id[k])
        assert one.first == named(a).name
        assert one.second == (named(b).name if one.second else "")
        if one.on in ("joint", "tendon"):
            same(one.polycoef, m.eq_data[k, :5])
        elif one.on == "body":
            same(one.anchor, m.eq_data[k, :3])
        if one.relpose is not None:
            same(one.relpose[:3], m.eq_data[k, 3:6])
        if one.kind == "weld":
            same(one.torquescale, m.eq_data[k, 10])


def test_options_are_those_of_mujoco(pair):
    m, given = pair.m.opt, pair.physics.options
    for word in ("timestep", "impratio", "tolerance", "ls_tolerance", "iterations", "ls_iterations",
                 "noslip_iterations"):  # fmt: skip
        same(getattr(given, word), getattr(m, word))
    assert given.integrator.lower() == mujoco.mjtIntegrator(m.integrator).name.removeprefix("mjINT_").lower()
    assert given.cone == mujoco.mjtCone(m.cone).name.removeprefix("mjCONE_").lower()
    assert given.solver.lower() == mujoco.mjtSolver(m.solver).name.removeprefix("mjSOL_").lower()
    bits = [bit for name, bit in mujoco.mjtDisableBit.__members__.items() if name.startswith("mjDSBL")]
    off = {bit.name.removeprefix("mjDSBL_").lower() for bit in bits if m.disableflags & bit}
    assert set(given.disabled) == off


# ---- which shapes may touch


def test_the_pairs_that_may_touch_are_mujocos(pair):
    """All geoms but planes made balls so large that whatever may touch does."""
    m = theirs(pair.case)
    balls = m.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    m.geom_type[balls] = mujoco.mjtGeom.mjGEOM_SPHERE
    m.geom_size[balls], m.geom_rbound[balls] = 50.0, 50.0
    m.geom_aabb[balls, 3:] = 50.0
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    number = {id(one.shape): g for g, one in zip(touched(m), collision_shapes(pair.model), strict=True)}
    ours = {
        frozenset((number[id(a.shape)], number[id(b.shape)])): touching for a, b, touching in file_pairs(pair.model)
    }
    found = {frozenset(c.geom.tolist()): c for c in d.contact}
    assert set(ours) == set(found)
    for key, one in ours.items():
        contact = found[key]
        same(one.condim, contact.dim)
        same(one.friction, contact.friction)
        same(one.softness.solref, contact.solref)
        same(one.softness.solimp, contact.solimp)
        same(one.solreffriction, contact.solreffriction)
        same(one.margin, contact.includemargin)


# ---- forces


def test_forces_are_mujocos(pair):
    q, qd, ctrl, T, tau, force, passive, fluid = pair.states(3)
    turned = np.swapaxes(T, 1, 2)
    close((turned @ pair.robot.passive_forces(q, qd)[..., None])[..., 0], passive - fluid, AGREES, size=1.0)
    if pair.physics.actuators:
        ours, pulls = pair.robot.control_forces(q, qd, ctrl)
        close((turned @ ours[..., None])[..., 0], tau, AGREES, size=1.0)
        close(pulls, force, AGREES, size=1.0)


@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_compiled_forces_of_a_batch_are_those_of_the_interpreter(number):
    pair = both("actuators")
    q, qd, ctrl = (x.astype(number) for x in pair.states(11)[:3])
    tol = 1e-12 if number is np.float64 else 1e-4
    ctrl[3, 2] = np.nan
    for name, given in (("control_forces", (q, qd, ctrl)), ("passive_forces", (q, qd))):
        kernel = pair.robot.kernel(name, backend="llvm")
        ours, plain = kernel(*given), pair.robot.kernel(name, backend="interpret")(*map(np.float64, given))
        for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (ours, plain)), strict=True):
            assert a.dtype == number
            np.testing.assert_allclose(a, b, rtol=tol, atol=10 * tol)
            assert np.isfinite(np.delete(a, 3, axis=0)).all()
    tau, forces = pair.robot.kernel("control_forces", backend="llvm")(q, qd, ctrl)
    assert np.isnan(forces[3, 2])
    assert np.isnan(tau[3, pair.robot.coordinates("s")[1]]).all()


def test_forces_have_the_slopes_that_differences_say(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    pair = both("no clamp")
    q, qd, ctrl = (x[0] for x in pair.states(1)[:3])
    rng, h = np.random.default_rng(0), 1e-6
    along = [rng.normal(size=n) for n in (pair.robot.nv, pair.robot.nv, len(ctrl))]

    def moved(t):
        at = (pair.robot.integrate(q, t * along[0]), qd + t * along[1], ctrl + t * along[2])
        return np.concatenate([*pair.robot.control_forces(*at), pair.robot.passive_forces(*at[:2])])

    slopes = (
        pair.robot.jvp("control_forces", (q, qd, ctrl), along),
        pair.robot.jvp("passive_forces", (q, qd), along[:2]),
    )
    np.testing.assert_allclose(np.concatenate([*slopes[0], slopes[1]]), (moved(h) - moved(-h)) / (2 * h), atol=1e-6)

"""Code for systems that are not at hand: it can be written, and asks them for nothing that is not found there."""

import platform
import re

import numpy as np
import pytest
from kernel_cases import ROBOTS, same_bits, states

import hinge
from hinge.backends.llvm import DOUBLE, SINGLE, Native, cpython_entry, emit, jit

SYSTEMS = {  # as LLVM calls them, with a processor of each and what its code may ask for
    "Windows": ("x86_64-pc-windows-msvc", "x86-64-v3", {"__chkstk"}),
    "Windows, no fma": ("x86_64-pc-windows-msvc", "x86-64", {"__chkstk", "fma", "fmaf"}),
    "macOS on ARM": ("arm64-apple-darwin23", "apple-m1", set()),
    "Linux on ARM": ("aarch64-unknown-linux-gnu", "neoverse-n1", set()),
}
OWN = re.compile(r"^(?:\s+\.lcomm\s+)?([A-Za-z_][\w.]*)[:,]", re.MULTILINE)
CALLED = re.compile(
    r"^\s+(?:callq|jmp|movabsq\s+\$|bl|b|movz\s+\w+, #:abs_g3:)\s*([A-Za-z_]\w+)(?:,|\s*$)", re.MULTILINE
)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("system", SYSTEMS)
def test_code_for_another_system_asks_for_nothing_unknown(system):
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple, processor, allowed = SYSTEMS[system]
    program = hinge.samples.puma560().kernel("forward_dynamics").program
    asked = set()
    for text in (cpython_entry.text(), emit(program, 4, DOUBLE), emit(program, 4, SINGLE)):
        target = llvm.Target.from_triple(triple).create_target_machine(
            cpu=processor, opt=2, codemodel="jitdefault", jit=True
        )
        written = target.emit_assembly(llvm.parse_assembly(text))
        asked |= set(CALLED.findall(written)) - set(OWN.findall(written))
        assert target.emit_object(llvm.parse_assembly(text))
    assert asked == allowed
    assert asked <= {name for names in jit.OUTSIDE.values() for name in names}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="others always have it")
@pytest.mark.parametrize("precision", [DOUBLE, SINGLE], ids=["double", "single"])
def test_a_processor_without_fma_gives_the_same_bits(precision, monkeypatch):
    robot = ROBOTS["floating"]()
    program = robot.kernel("forward_dynamics").program
    given = states(robot, 7, dtype=precision.dtype)
    jit.entry()  # of this processor
    monkeypatch.setattr(jit, "processor", lambda: ("x86-64", "-fma"))
    out = np.empty((7, robot.nv), precision.dtype)
    Native(program, precision).run(given, [out])
    assert same_bits(out, robot.forward_dynamics(*given, backend="interpret"))

"""Tables that must be complete: a row in every back end for each operation, a method in the stub for each algorithm."""

import ast
import inspect

import pytest

import hinge
from hinge import stub
from hinge.backends.llvm.block import Block
from hinge.backends.statements import REALS, SAY, Statements
from hinge.dynamics import ALGORITHMS
from hinge.graph import OPS, Graph
from hinge.graph.machine import Machine
from hinge.graph.numbers import Numbers

COST_KINDS = {"add", "mul", "div", "sqrt", "trig", "neg", "other", "fma"}


PRIMITIVES = {name for name, op in OPS.items() if op.body is None}
MACHINES = {"numbers": Numbers(), "llvm": Block(4), "c": Statements(REALS["double"])}


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_a_machine_has_a_word_for_every_primitive_and_for_all_that_functions_are_written_in(machine):
    words = {name for name in vars(Machine) if not name.startswith("_")}
    assert words >= PRIMITIVES - {"select"}
    for word in words | PRIMITIVES:
        assert callable(getattr(machine, word)) or word in ("dtype", "single")


def test_c_has_an_expression_for_every_primitive_and_no_other():
    assert set(SAY) == PRIMITIVES
    for name in SAY:
        assert len(inspect.signature(SAY[name]).parameters) == OPS[name].arity + 1


def test_every_function_writes_itself_on_every_machine():
    for op in OPS.values():
        for machine in (Block(8), Statements(REALS["double"]), Statements(REALS["float"])):
            assert op.on(machine, *"abc"[: op.arity])
            assert machine.lines


def test_a_name_of_numpy_or_sympy_is_served_by_one_row():
    numpy = [name for op in OPS.values() for name in op.numpy]
    sympy = [op.sympy for op in OPS.values() if isinstance(op.sympy, str)]
    assert len(set(numpy)) == len(numpy)
    assert len(set(sympy)) == len(sympy)


@pytest.mark.parametrize("name", OPS)
def test_an_operation_has_its_name_arity_meaning_and_cost(name):
    op = OPS[name]
    assert op.name == name
    assert op.counts_as in COST_KINDS
    graph = Graph()
    args = [graph.input("x", k) for k in range(op.arity)]
    assert len(op.partials(graph.node(name, *args), *args)) == op.arity
    assert op.meaning(*[1.0] * op.arity) is not None
    shown = op.text.format(*"abc"[: op.arity])
    assert all(letter in shown for letter in "abc"[: op.arity])


def normal(code):
    """What a stub says, whatever its layout: the syntax tree with docstrings stripped of indentation.

    Comparing trees rather than text makes the formatter's line breaks and blank lines no difference, needs no
    formatter to be installed, and still sees every name, default, annotation and word of documentation.
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0].value.value = inspect.cleandoc(node.body[0].value.value)
    return ast.dump(tree, indent=1)


def test_the_stub_is_what_the_registry_says():
    kept = stub.PATH.read_text(encoding="utf-8")
    assert normal(kept) == normal(stub.text()), "algorithms.pyi is stale: run `make stub`, then `ruff format`"


def methods_of(cls):
    # by getattr: a method is made when it is first looked at
    found = {
        name: getattr(cls, name) for base in cls.__mro__[:-1] for name in vars(base).copy() if not name.startswith("_")
    }
    return {name: f for name, f in found.items() if inspect.isfunction(f)}


def test_every_algorithm_is_a_method_of_robot_with_its_words():
    methods = methods_of(hinge.Robot)
    for name, by_method in ALGORITHMS.items():
        first = next(iter(by_method.values()))
        assert methods[name].__doc__ == first.function.__doc__
        assert methods[name].__qualname__ == f"Robot.{name}"


def declared():
    """Method → parameters in order and which of them are keyword-only, from the stub."""
    tree = ast.parse(stub.PATH.read_text(encoding="utf-8"))
    (algorithms,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    functions = [node for node in algorithms.body if isinstance(node, ast.FunctionDef)]
    return {f.name: ([a.arg for a in f.args.args], [a.arg for a in f.args.kwonlyargs]) for f in functions}


def test_the_stub_declares_the_methods_that_are_there_with_their_parameters():
    there = {}
    for name, method in methods_of(hinge.Robot).items():
        if name not in ALGORITHMS:
            continue  # written in a file of its own, which type checkers read
        parameters = inspect.signature(method).parameters.values()
        there[name] = (
            [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD],
            [p.name for p in parameters if p.kind is p.KEYWORD_ONLY],
        )
    assert set(there) == set(ALGORITHMS)
    assert declared() == there

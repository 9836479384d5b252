"""Tables that must be complete: a row in every back end for each operation, a method in the stub for each algorithm."""

import ast
import inspect

import pytest

import hinge
from hinge.backends.llvm.block import Block
from hinge.backends.statements import REALS, SAY, Statements
from hinge.dynamics import ALGORITHMS
from hinge.graph import OPS, Graph
from hinge.graph.machine import Machine
from hinge.graph.numbers import Numbers
from hinge.robot import stub, views
from hinge.robot.algorithms import Algorithms

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


ARM = hinge.samples.planar_2r()
COMMON = ["return_status", "out", "method", "backend", "check", "joint_terms", "regroup", "parameters", "prescribed"]


FROM_THE_REGISTRY = [name for name in ALGORITHMS if stub.from_registry(name)]


DERIVATIVES = {n for n, one in vars(Algorithms).items() if hasattr(one, "__wrapped__") and not n.startswith("_")}


def test_every_algorithm_is_a_method_of_robot_with_its_words():
    assert set(ALGORITHMS) - set(FROM_THE_REGISTRY) == {f"{way}_dynamics_derivatives" for way in ("inverse", "forward")}
    for name in FROM_THE_REGISTRY:
        by_method = ALGORITHMS[name]
        first = next(iter(by_method.values()))
        view, called = views.MEMBERS.get(name, ("", name))
        assert getattr(ARM, name).__doc__ == first.function.__doc__
        owner = views.VIEWS[view].name if view else "Robot"
        assert getattr(ARM, name).__qualname__ == f"{owner}.{called}"


def declared(cls):
    """Method → parameters in order and which of them are keyword-only, from the stub."""
    tree = ast.parse(stub.PATH.read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    made = {}
    for f in (node for node in found.body if isinstance(node, ast.FunctionDef)):
        said = [a.arg for a in f.args.args], [a.arg for a in f.args.kwonlyargs if a.arg not in COMMON]
        assert made.setdefault(f.name, said) == said  # in every overload
    for node in (node for node in found.body if isinstance(node, ast.Assign)):  # a member of a view by another name
        made[node.targets[0].id] = declared(node.value.value.id)[node.value.attr]
    return made


def parameters(method):
    taken = inspect.signature(method).parameters.values()
    given = [p.name for p in taken if p.kind is p.POSITIONAL_OR_KEYWORD]
    return ["self", *given], [p.name for p in taken if p.kind is p.KEYWORD_ONLY and p.name not in COMMON]


def test_the_stub_declares_the_methods_that_are_there_with_their_parameters():
    there = {name: parameters(getattr(ARM, name)) for name in FROM_THE_REGISTRY}
    stated = declared("Algorithms")
    assert {name: stated[name] for name in there} == there
    assert set(stated) == {*FROM_THE_REGISTRY, *DERIVATIVES, *views.MEMBERS}
    for name in FROM_THE_REGISTRY:  # which all of them take
        assert set(COMMON) <= set(inspect.signature(getattr(ARM, name)).parameters)


@pytest.mark.parametrize("view", views.VIEWS)
def test_a_view_has_what_the_table_says_and_the_robot_has_it_too(view):
    linkage = hinge.samples.four_bar()
    home, made = views.VIEWS[view], getattr(linkage, view)
    for name, called in home.members.items():
        theirs, ours = getattr(made, called), getattr(linkage, name)
        assert getattr(theirs, "__func__", None) is getattr(ours, "__func__", None)
        assert (theirs.__doc__ or "").strip()
    public = {n for n in dir(type(made)) if not n.startswith("_")} - {"target"}
    assert public == set(home.members.values()) == set(declared(home.name))


def test_a_robot_has_few_names_of_its_own():
    names = [name for name in dir(hinge.Robot) if not name.startswith("_")]
    derivatives = [name for name in names if "derivative" in name or name in ("jvp", "vjp", "linearize")]
    assert len(names) - len(derivatives) <= 67
    assert len(derivatives) <= 8


def test_the_printed_loop_is_the_one_that_is_generated():
    """The example in the docstring of the batch loop has no line that the code generator does not write."""
    from hinge.backends.llvm import batch_loop, block, emit

    arm = hinge.samples.pendulum(1)
    text = emit(arm.kernel("gravity_force").program, 8, block.DOUBLE)
    shown = batch_loop.__doc__.split("in short:")[1].split("\n\n")[1].splitlines()
    for line in shown:
        code = line.split(";")[0].strip().removesuffix("…").rstrip(", ")
        assert code in text, line

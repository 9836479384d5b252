"""Habits that we are giving up: each list in ratchets.toml may only get shorter.

A new offender fails. So does a listed one that is gone: take it off the list.
"""

import ast
import tomllib
from pathlib import Path

import pytest
from test_imports import SOURCE

LISTS = tomllib.loads((Path(__file__).parent / "ratchets.toml").read_text(encoding="utf-8"))
MOST_PARAMETERS = 12
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LAWS = {"soft", "rigid"}
LAW_FILES = ("contact/laws/", "counting/")  # operation counts name the rigid bodies of the texts


def parsed():
    """Return the syntax tree of every source file by its path below hinge."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


TREES = parsed()


def module_name(file):
    parts = file.removesuffix(".py").split("/")
    return ".".join(["hinge", *(parts[:-1] if parts[-1] == "__init__" else parts)])


MODULES = {module_name(file): file for file in TREES}


def imported_names(tree):
    """Yield (module, name) for every import of hinge, inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "hinge")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "hinge":
            yield from ((node.module, alias.name) for alias in node.names)


def import_graph():
    """Return the modules that each module imports. A package that is imported for a submodule does not count."""
    graph = {}
    for file, tree in TREES.items():
        targets = set()
        for module, name in imported_names(tree):
            submodule = f"{module}.{name}"
            targets.add(submodule if submodule in MODULES else module)
        graph[module_name(file)] = {target for target in targets if target in MODULES} - {module_name(file)}
    return graph


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        for target in graph[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return seen


def import_cycles():
    """Return each group of modules that import one another, as one line of names per group."""
    graph = import_graph()
    reach = {module: reachable(graph, module) for module in graph}
    groups = {frozenset(other for other in reach[module] if module in reach[other]) for module in graph}
    return {" ".join(sorted(name.removeprefix("hinge.") for name in group)) for group in groups if group}


def definitions(node, prefix=""):
    """Yield (qualified name, function) for every function below a node."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, (*FUNCTIONS, ast.ClassDef))
        name = f"{prefix}{child.name}" if named else prefix
        if isinstance(child, FUNCTIONS):
            yield name, child
        yield from definitions(child, f"{name}." if named else prefix)


def many_parameters():
    """Return the functions with more than twelve parameters, `self` and `cls` not counted."""
    found = set()
    for file, tree in TREES.items():
        for name, function in definitions(tree):
            a = function.args
            names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs) if arg.arg not in ("self", "cls")]
            if len(names) > MOST_PARAMETERS:
                found.add(f"{file}: {name} has {len(names)}")
    return found


def cuda_above_backends():
    """Return the files outside backends that import the CUDA back end."""
    return {
        file
        for file, tree in TREES.items()
        if not file.startswith("backends/")
        and any(f"{module}.{name}".startswith("hinge.backends.cuda") for module, name in imported_names(tree))
    }


def private_names():
    """Return the private names that one file imports from another."""
    return {
        f"{file}: {module.removeprefix('hinge.')}.{name}"
        for file, tree in TREES.items()
        for module, name in imported_names(tree)
        if name.startswith("_") and not name.startswith("__")
    }


def makes_a_key(call):
    """Return whether a call builds or looks up a key by hand.

    `kernel_of`, `Memo` and `digest_of` do that. Four things count: making a Kernel and searching the cache, outside the
    back ends; a memo of a closure, which is a new key each time; a plan whose source has a closure or a formatted text.
    """
    name = ast.unparse(call.func)
    if name.endswith(("memo.kernel", "memo._results.get")) or name == "Kernel":
        return True
    if name in ("cache.key", "cache.find", "cache.keep") and call.args:
        return True
    if name.lower().endswith("memo") and call.args:
        return isinstance(call.args[0], ast.Lambda)
    if name == "Plan":
        named = [one.value for one in call.keywords if one.arg == "source"]
        source = named[0] if named else call.args[5]
        return any(isinstance(node, ast.Lambda | ast.JoinedStr) for node in ast.walk(source))
    return False


def handmade_keys():
    """Return the files outside backends that build keys by hand, with the number of times."""
    found = {}
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and not file.startswith("backends/") and makes_a_key(node):
                found[file] = found.get(file, 0) + 1
    return {f"{file}: {count}" for file, count in found.items()}


@pytest.mark.parametrize(
    "line",
    [
        "Kernel(plan, 'llvm')",
        "target.memo.kernel(plan, 'llvm')",
        "cache.find(cache.key('program', robot.name))",
        "target.memo(lambda: Call(target))",
        "Plan(name, what, inputs, outputs, trace, f'{what} {method}', memo)",
        "Plan(name, what, inputs, outputs, trace, source=(what, lambda: 0), memo=memo)",
    ],
)
def test_a_key_made_by_hand_is_seen(line):
    assert any(makes_a_key(node) for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call))


def names_a_law(node):
    attribute = isinstance(node, ast.Attribute) and node.attr in LAWS
    return attribute or (isinstance(node, ast.Constant) and node.value in LAWS)


def law_branches():
    """Return the files that ask which contact law there is, with the number of conditions."""
    found = {}
    for file, tree in TREES.items():
        if file.startswith(LAW_FILES):
            continue
        for node in ast.walk(tree):
            tested = getattr(node, "test", None) or (node if isinstance(node, ast.Compare) else None)
            if isinstance(tested, ast.Compare) and any(map(names_a_law, ast.walk(tested))):
                found.setdefault(file, set()).add((tested.lineno, tested.col_offset))
    return {f"{file}: {len(places)}" for file, places in found.items()}


RATCHETS = [import_cycles, many_parameters, cuda_above_backends, private_names, handmade_keys, law_branches]


@pytest.mark.parametrize("found", RATCHETS, ids=lambda found: found.__name__)
def test_the_list_only_gets_shorter(found):
    there, listed = found(), set(LISTS[found.__name__])
    new, gone = sorted(there - listed), sorted(listed - there)
    assert not new, f"{found.__name__}: not allowed any more:\n" + "\n".join(new)
    assert not gone, f"{found.__name__}: gone; take these off tests/house/ratchets.toml:\n" + "\n".join(gone)


def test_every_list_has_a_rule():
    assert set(LISTS) == {found.__name__ for found in RATCHETS}

"""Changes one place of hinge at a time and runs the tests that are closest to it; what no test notices is listed.

    python tests/mutants/mutants.py --number 50 --seed 3           fifty mutants of all packages
    python tests/mutants/mutants.py --number 20 --package contact  of one package, or of one file such as sim/keys.py
    python tests/mutants/mutants.py --number 50 --seed 3 --list    the changes alone, without tests
    python tests/mutants/mutants.py --number 50 --coverage FILE    first the tests that execute the changed line

FILE holds what coverage.py recorded with a context for each test, as `pytest --cov=hinge --cov-context=test` does.
Of those, tests that execute few other lines come first, because they are quick; then tests of the closest files.

The mutants are a function of sources, number, seed and package. Each is made in a copy of src/hinge, which PYTHONPATH
puts in front of the installed package; the checkout stays as it is. A test that fails without a mutant counts for none.
A survivor is a change that the tests which ran allow: either it changes nothing that a user could observe, or a test is
missing.
"""

import argparse
import ast
import collections
import contextlib
import math
import os
import queue
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/hinge"
SLOW, WAIT = 120, 10  # seconds of the processor that the tests of one file may take; on the clock, as many times those
TIMEOUT = " (ran out of time)"
CLOSEST = 12  # test files that run, unless --files says another number
NARROWEST, NEAREST, OF_FUNCTION = 15, 15, 3  # tests that execute a line: in all files, in close files, cases of one
LIMITED = """import resource, sys, pytest
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(pytest.main(sys.argv[2:]))"""
ALWAYS = ("tests/golden",)  # operation counts, which change where a formula does
OPPOSITES = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.And: "or", ast.Or: "and",
}  # fmt: skip
WORDS = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of one file: the bytes from start to end are replaced."""

    file: str  # relative to src/hinge
    start: int
    end: int
    replacement: str
    kind: str

    def apply(self, source):
        """Return the changed source."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]

    def describe(self, source):
        """Return the place, the kind and the changed lines, as one block of text."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        changed = source[first : self.start] + self.replacement.encode() + source[self.end : last]
        lines = [f"src/hinge/{self.file}:{line_of(source, self.start)}: {self.kind}"]
        for mark, text in (("-", source[first:last]), ("+", changed)):
            lines += [f"  {mark} {line}" for line in text.decode().split("\n")]
        return "\n".join(lines)


def line_of(source, offset):
    return source.count(b"\n", 0, offset) + 1


# ---- the changes that a file allows


class Places(ast.NodeVisitor):
    """Collect the mutants of a file."""

    def __init__(self, file, source):
        self.file, self.source, self.found = file, source, []
        self.lines = [0]
        for line in source.split(b"\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)

    def start(self, node):
        return self.lines[node.lineno - 1] + node.col_offset

    def end(self, node):
        return self.lines[node.end_lineno - 1] + node.end_col_offset

    def add(self, start, end, replacement, kind):
        self.found.append(Mutant(self.file, start, end, replacement, kind))

    def swap_between(self, left, right, operator, token, kind):
        """Replace the operator between two operands, which comments and brackets may surround."""
        start, end = self.end(left), self.start(right)
        place = re.compile(rb"(?<!\w)" + re.sub(rb"\\? ", rb"\\s+", re.escape(token.encode())) + rb"(?!\w)")
        code = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self.source[start:end])
        at = place.search(code)
        if at:
            self.add(start + at.start(), start + at.end(), OPPOSITES[type(operator)], kind)

    def visit_Compare(self, node):
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self.swap_between(left, right, operator, TOKENS[type(operator)], "comparison swapped")
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if type(node.op) in OPPOSITES:
            self.swap_between(node.left, node.right, node.op, TOKENS[type(node.op)], "operation swapped")
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.swap_between(left, right, node.op, TOKENS[type(node.op)], "and, or swapped")
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not | ast.USub):
            kind = "not removed" if isinstance(node.op, ast.Not) else "sign removed"
            self.add(self.start(node), self.start(node.operand), "", kind)
        self.generic_visit(node)

    def visit_Constant(self, node):
        value, text = node.value, None
        if isinstance(value, bool):
            text = str(not value)
        elif isinstance(value, int):
            text = str(value + 1)
        elif isinstance(value, float):
            text = "1.0" if value == 0.0 else repr(2.0 * value) if math.isfinite(2.0 * value) else None
        if text is not None:
            self.add(self.start(node), self.end(node), text, "constant changed")

    def visit_Tuple(self, node):
        if isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
            for k, element in enumerate(node.elts):
                rest = [self.text(other) for j, other in enumerate(node.elts) if j != k]
                text = f"({', '.join(rest)},)"
                self.add(self.start(node), self.end(node), text, f"component {self.text(element)!r} dropped")
        self.generic_visit(node)

    def visit_Call(self, node):
        for keyword in node.keywords:
            if keyword.arg not in (None, "strict"):  # strict= of zip checks what always holds
                start, end = self.start(keyword), self.end(keyword)
                after = re.compile(rb"\s*,").match(self.source, end)
                self.add(start, after.end() if after else end, "", f"keyword {keyword.arg!r} dropped")
        self.generic_visit(node)

    def text(self, node):
        return self.source[self.start(node) : self.end(node)].decode()

    def visit_statement(self, node):
        """Drop a statement that is executed for its effect."""
        self.add(self.start(node), self.end(node), "pass", "statement dropped")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            self.visit_statement(node)
        elif not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Assign(self, node):
        if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self.visit_statement(node)
        else:
            self.generic_visit(node)

    def visit_Raise(self, node):
        """The errors themselves are text, which other tests read."""
        self.add(self.start(node), self.end(node), "pass", "statement dropped")

    def visit_JoinedStr(self, node):
        """Text."""

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)

    def visit_arg(self, node):
        """An annotation."""

    def visit_FunctionDef(self, node):
        """Leave the annotation of the result out, and what the type checker alone reads."""
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    def visit_ClassDef(self, node):
        """Skip the base classes, which only name types."""
        for part in (*node.decorator_list, *node.keywords, *node.body):
            self.visit(part)

    def visit_If(self, node):
        if self.text(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.visit_statement(node)

    def visit_Continue(self, node):
        self.visit_statement(node)

    def visit_Break(self, node):
        self.visit_statement(node)


TOKENS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.And: "and", ast.Or: "or",
}  # fmt: skip


def mutants_of(file, source):
    """Return the changes that a source file has places for, in the order of the file."""
    places = Places(file, source)
    places.visit(ast.parse(source))
    return sorted(set(places.found))


def changes_program(mutant, source):
    """Whether the changed file is a program, and another one than before."""
    try:
        return ast.dump(ast.parse(mutant.apply(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def draw(sources, number, seed, package=""):
    """Return mutants without repetition: a file is drawn in proportion to its length, then a place in it.

    `sources` is a directory as src/hinge is; `package` names one of its directories or files.
    """
    texts = {path.relative_to(sources).as_posix(): path.read_bytes() for path in sorted(sources.rglob("*.py"))}
    texts = {file: text for file, text in texts.items() if belongs(file, package)}
    if not texts:
        raise SystemExit(f"mutants: there is no {package!r} in {sources}. Give a directory or a file below it.")
    rng, found, places = random.Random(f"mutants {seed}"), [], {}
    for file in rng.choices(list(texts), [len(text) for text in texts.values()], k=50 * number):
        if file not in places:
            places[file] = mutants_of(file, texts[file])
        while places[file]:
            mutant = places[file].pop(rng.randrange(len(places[file])))
            if changes_program(mutant, texts[file]):
                found.append(mutant)
                break
        if len(found) == number:
            break
    return found


def belongs(file, package):
    return not package or file == package or file.startswith(package.rstrip("/") + "/")


# ---- the tests that are close to a change


@cache
def tests_by_word(tests):
    """Return the words of every test file, and how many files have each word."""
    words = {path: set(WORDS.findall(path.read_text(encoding="utf-8"))) for path in sorted(tests.rglob("test_*.py"))}
    return words, collections.Counter(word for each in words.values() for word in each)


def closest_tests(mutant, source, tests, number):
    """Return the test files that share the rarest words with the changed place.

    The name of the function weighs most, then the path, other definitions of the file, and words in the function.
    """
    words, files_with = tests_by_word(tests)
    weights = collections.Counter()
    for word in WORDS.findall(mutant.file.removesuffix(".py").replace("/", " ")):
        weights[word] += 2.0
        for part in word.split("_"):
            weights[part] += 0.5
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = node.lineno <= line_of(source, mutant.start) <= node.end_lineno
            weights[node.name] += 6.0 if inside else 1.0
            if inside:
                for word in set(WORDS.findall(ast.get_source_segment(source.decode(), node))):
                    weights[word] += 0.5
    rarity = {word: math.log(len(words) / files_with[word]) for word in weights if files_with[word]}
    module = "hinge." + mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def closeness(path):
        text = path.read_text(encoding="utf-8")
        named = 10.0 * (module in text or path.stem == f"test_{Path(mutant.file).stem}")
        return named + sum(weights[word] * rarity[word] for word in rarity.keys() & words[path])

    return sorted(words, key=lambda path: (-closeness(path), path))[:number]


class Coverage:
    """Which tests execute a line."""

    def __init__(self, recorded):
        self.rows = sqlite3.connect(recorded, check_same_thread=False)
        self.tests = {}  # context id → its test, and the size of what it executes
        query = (
            "select context_id, context, sum(length(numbits)) from line_bits join context on context.id = context_id"
        )
        for number, name, breadth in self.rows.execute(f"{query} where context != '' group by context_id"):
            self.tests[number] = re.sub(r"\|(setup|run|teardown)$", "", name), breadth

    def tests_of(self, mutant, source, near):
        """Return tests that execute the changed statement: the narrowest first, then those of near files."""
        lines = statement_lines(source, line_of(source, mutant.start))
        query = "select context_id, numbits from line_bits join file on file.id = file_id where path like ?"
        found = {
            self.tests[number]
            for number, bits in self.rows.execute(query, (f"%/src/hinge/{mutant.file}",))
            if number in self.tests and any(line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1 for line in lines)
        }
        chosen, cases = [], collections.Counter()
        for only, number in ((None, NARROWEST), (set(near), NARROWEST + NEAREST)):
            for test, _ in sorted(found, key=lambda pair: (pair[1], pair[0])):
                file, function = test.partition("::")[0], test.partition("[")[0]
                if test not in chosen and len(chosen) < number and cases[function] < OF_FUNCTION:
                    if only is None or file in only:
                        cases[function] += 1
                        chosen.append(test)
        return chosen


def statement_lines(source, line):
    """Return the lines of the innermost statement around a line, without those of statements in it."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):  # from the outside inwards
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            inner = [one.lineno for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
            found = range(node.lineno, max(node.lineno + 1, min(inner, default=node.end_lineno + 1)))
    return found


# ---- a trial


class Trials:
    """Run tests with a copy of the sources, of which one file is changed at a time."""

    def __init__(self, sources, root, limit=SLOW, fails_anyway=None):
        self.root, self.limit = root, limit
        self.directory = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.package = self.directory / sources.name
        shutil.copytree(sources, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        # test → whether it fails without a mutant; trials at the same time share it
        self.fails_anyway = {} if fails_anyway is None else fails_anyway

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def killer(self, mutant, groups):
        """Return the first test that fails with the mutant and not without it, or "" where there is none.

        A group is a list of tests, or of files of tests, that run in one process.
        """
        path = self.package / mutant.file
        original = path.read_bytes()
        for group in groups:
            excluded = []
            while True:
                try:
                    path.write_bytes(mutant.apply(original))
                    failure = self.first_failure(group, excluded)
                finally:
                    path.write_bytes(original)
                if not failure or not self.fails_without(failure):
                    break
                excluded.append(failure.removesuffix(TIMEOUT))
            if failure:
                return failure
        return ""

    def fails_without(self, failure):
        """Whether what failed with a mutant fails with the sources as they are; what ran out of time is run again."""
        test = failure.removesuffix(TIMEOUT)
        if test not in self.fails_anyway:
            self.fails_anyway[test] = bool(self.first_failure([test]))
        return self.fails_anyway[test]

    def first_failure(self, group, excluded=()):
        """Run test files or tests; return the first test that fails, or "" where all pass."""
        group = [test for test in group if test not in excluded]
        if not group:
            return ""
        failure = self._first_failure(group, excluded)
        if failure is None or failure.endswith(TIMEOUT):  # it is not known by which test
            if len(group) == 1:
                return failure or ""
            return next(filter(None, (self.first_failure([test], excluded) for test in group)), "")
        return failure

    def _first_failure(self, group, excluded):
        """The same, or None where a test does not exist: a record of coverage may be older than the tests."""
        command = [sys.executable, "-c", LIMITED, str(self.limit), "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        command += ["-rfE", "-m", "not sweep", *(f"--deselect={name}" for name in excluded), *group]
        with subprocess.Popen(command, cwd=self.root, env=self.environment(), stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, start_new_session=True) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=WAIT * self.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with what the test started
                return group[0] + TIMEOUT
        if process.returncode == -signal.SIGXCPU:
            return group[0] + TIMEOUT
        if process.returncode in (0, 5):  # all passed, or nothing was selected
            return ""
        if process.returncode == 4:
            return None
        named = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", output, re.MULTILINE)
        return named[1] if named else group[0]

    def environment(self):
        """The environment of tests: the copy in front of the installed package, and the plain cache."""
        path = os.pathsep.join(filter(None, (str(self.directory), os.environ.get("PYTHONPATH"))))
        return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(mutants, sources, tests, root, files, workers, coverage=None):
    """Yield each mutant with the test that kills it, as soon as it is known."""
    copies, fails_anyway = queue.SimpleQueue(), {}
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        for _ in range(workers):
            copies.put(stack.enter_context(Trials(sources, root, fails_anyway=fails_anyway)))

        def killer(mutant):
            source = (sources / mutant.file).read_bytes()
            near = [path.relative_to(root).as_posix() for path in closest_tests(mutant, source, tests, files)]
            groups = [[name] for name in (*near, *ALWAYS) if (root / name).exists()]
            if coverage is not None:
                groups.insert(0, coverage.tests_of(mutant, source, near))
            trials = copies.get()
            try:
                return trials.killer(mutant, groups)
            finally:
                copies.put(trials)

        trials = {pool.submit(killer, mutant): mutant for mutant in mutants}
        for trial in as_completed(trials):
            yield trials[trial], trial.result()


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--number", type=int, default=50, help="how many mutants")
    options.add_argument("--seed", default="0", help="which mutants")
    options.add_argument("--package", default="", help="a directory or file of src/hinge; all without it")
    options.add_argument("--files", type=int, default=CLOSEST, help="how many test files run for each")
    options.add_argument("--coverage", help="what coverage.py recorded, with a context for each test")
    options.add_argument("--workers", type=int, default=os.cpu_count(), help="how many mutants at a time")
    options.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    given = options.parse_args()
    mutants = draw(SOURCES, given.number, given.seed, given.package)
    texts = {mutant: mutant.describe((SOURCES / mutant.file).read_bytes()) for mutant in mutants}
    if given.list:
        print(*texts.values(), sep="\n\n")
        return
    survivors, coverage = [], Coverage(given.coverage) if given.coverage else None
    for mutant, test in run(mutants, SOURCES, ROOT / "tests", ROOT, given.files, given.workers, coverage):
        print(f"{texts[mutant]}\n  {'killed by ' + test if test else 'SURVIVES'}\n", flush=True)
        if not test:
            survivors.append(mutant)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants killed, {len(survivors)} survivors:")
    print(*(texts[mutant] for mutant in survivors), sep="\n\n")


if __name__ == "__main__":
    main()

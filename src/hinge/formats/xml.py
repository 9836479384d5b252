"""XML into a light tree that knows its line numbers, for every robot format written in XML.

Expat reads the text; this file decides what is let through. Robot files come from strangers, so document types (and
with them entity bombs and external files) are refused, and depth, size and number of elements have a limit. Comments
and processing instructions are dropped. Nothing here recurses: a deep file cannot exhaust the stack.

    root = parse(text, "panda.urdf")
    for mass in root.children: number(mass, "value")

The attribute readers raise ModelError with the place, what is written there and what should be.
"""

from __future__ import annotations

import gc
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite, isinf, nan
from sys import float_info
from xml.parsers import expat

from hinge.errors import ModelError, Where
from hinge.model.numbers import LARGEST, RANGE

MAX_DEPTH = 500
MAX_BYTES = 64 * 2**20
MAX_ELEMENTS = 2_000_000  # a file of MAX_BYTES made of "<a/>" would otherwise fill the memory
ANY = float_info.max  # the largest a limit may be, which beyond LARGEST is none
SHOWN = 60  # how much of a long value an error message quotes

# expat's numbers for a file that stops too early, and for one in another encoding than it says
_INVALID_TOKEN = 4
_ENDS_EARLY = {3, 5, 6, 20}
_ENCODING = {18, 19}


@dataclass(slots=True)
class Element:
    """A tag with its attributes, the elements and the text directly inside it, and where it begins."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""
    where: Where = field(default_factory=Where)

    def __str__(self) -> str:
        """How messages call it: ``joint 'elbow'``, or ``<mass>`` when it has no name."""
        name = self.attributes.get("name")
        return f"{self.tag} {shown(name)!r}" if name else f"<{self.tag}>"

    def all(self, tag: str) -> Iterator[Element]:
        """The children with this tag, in file order."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child with this tag, or None."""
        return next(self.all(tag), None)


def parse(source: str | bytes, file: str = "") -> Element:
    """The outermost element of an XML text; `file` is only used to say where a fault is."""
    file = os.path.basename(file)
    data, encoding = _encoded(source, file)
    if len(data) > MAX_BYTES:
        raise ModelError(
            "size",
            f"the file has {len(data)} bytes, at most {MAX_BYTES} are read.",
            "A robot file holds no meshes: put large data in files of their own.",
            Where(file),
        )
    data, skipped = _from_declaration(data)
    # a str has been decoded already, so what its declaration says about bytes no longer counts
    parser = expat.ParserCreate(encoding)
    tree = _Tree(parser, file, skipped)
    try:
        with no_collection():
            parser.Parse(data, True)
    except ModelError:
        raise
    except expat.ExpatError as error:
        raise _fault(error, data, parser.ErrorByteIndex, tree) from None
    except (LookupError, ValueError):  # pyexpat's ways to say that there is no such codec
        raise _unreadable(data, Where(file, skipped + 1)) from None
    assert tree.root is not None  # expat refuses a text without an element
    return tree.root


@contextmanager
def no_collection() -> Iterator[None]:
    """While a tree grows nothing in it is garbage, and Python's search for some would take most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Tree:
    """Grows the tree from expat's events; `open` holds the elements not closed yet, outermost first."""

    def __init__(self, parser: expat.XMLParserType, file: str, skipped: int) -> None:
        self.parser, self.file, self.skipped = parser, file, skipped
        self.root: Element | None = None
        self.open: list[Element] = []
        self.pieces: dict[int, list[str]] = {}  # of text, by the depth of the open element they are in
        self.count = 0
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = self.doctype

    def here(self) -> Where:
        return Where(self.file, self.parser.CurrentLineNumber + self.skipped)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise ModelError(
                "depth",
                f"<{shown(tag)}> is nested more than {MAX_DEPTH} deep.",
                "The file is damaged, or not a robot.",
                self.here(),
            )
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise ModelError(
                "size",
                f"the file has more than {MAX_ELEMENTS} elements.",
                "A robot file holds no meshes: put large data in files of their own.",
                self.here(),
            )
        element = Element(tag, attributes, [], "", self.here())
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        if self.pieces:  # joined once: adding piece by piece would take quadratic time on a long mixed text
            self.open[-1].text = "".join(self.pieces.pop(len(self.open), ())).strip()
        self.open.pop()

    def characters(self, text: str) -> None:
        if not text.isspace():
            self.pieces.setdefault(len(self.open), []).append(text)

    def doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        raise ModelError(
            "doctype",
            f"the file declares a document type, <!DOCTYPE {shown(name)}>.",
            "Document types and entities are not read: remove the declaration, write out what its entities stand for.",
            self.here(),
        )


def _encoded(source: str | bytes, file: str) -> tuple[bytes, str | None]:
    """The bytes to parse, and their encoding where that is known already."""
    if isinstance(source, bytes):
        return source, None
    try:
        return source.encode(), "UTF-8"
    except UnicodeEncodeError as error:
        raise ModelError(
            "encoding",
            f"character U+{ord(source[error.start]):04X} is half of a surrogate pair, not text.",
            "Open the file in binary mode and pass the bytes, or decode it with its real encoding.",
            Where(file, source.count("\n", 0, error.start) + 1),
        ) from None


def _from_declaration(data: bytes) -> tuple[bytes, int]:
    """The bytes without blanks before ``<?xml``, which real files have and expat refuses; and the lines dropped."""
    mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    rest = data[len(mark) :].lstrip()
    dropped = data[len(mark) : len(data) - len(rest)]
    if not dropped or not rest.startswith(b"<?xml"):
        return data, 0
    return mark + rest, dropped.count(b"\n")


def _fault(error: expat.ExpatError, data: bytes, at: int, tree: _Tree) -> ModelError:
    """Expat's complaint in our words."""
    where = Where(tree.file, error.lineno + tree.skipped)
    if error.code in _ENCODING:
        return _unreadable(data, where)
    if error.code == _INVALID_TOKEN and not _is_utf8_at(data, at):
        return ModelError(
            "encoding",
            f"byte 0x{data[at]:02X} is not UTF-8.",
            'Save the file as UTF-8, or name its encoding: <?xml version="1.0" encoding="ISO-8859-1"?>.',
            where,
        )
    unclosed = f"<{shown(tree.open[-1].tag)}> of line {tree.open[-1].where.line}" if tree.open else ""
    if error.code in _ENDS_EARLY:
        what = f"the file ends before {unclosed} is closed." if unclosed else "the file ends before its first element."
        return ModelError("xml", what, "It looks cut off: fetch or export it again.", where)
    what = f"the XML is not well-formed: {expat.ErrorString(error.code)}, column {error.offset + 1}."
    hint = f"The innermost open element is {unclosed}." if unclosed else "A robot file in XML begins with <."
    return ModelError("xml", what, hint, where)


def _is_utf8_at(data: bytes, at: int) -> bool:
    """Whether decoding from here on works for the next character; true at the end of the data."""
    for length in range(1, 5):
        try:
            data[at : at + length].decode()
        except UnicodeDecodeError:
            continue
        return True
    return False


def _unreadable(data: bytes, where: Where) -> ModelError:
    declared = re.search(rb"""encoding\s*=\s*["']([^"']*)""", data[:200].replace(b"\0", b""))
    name = declared[1].decode("ascii", "replace") if declared else "?"
    return ModelError(
        "encoding",
        f'the file cannot be read as encoding="{shown(name)}", which it declares.',
        'Save it as UTF-8 and write <?xml version="1.0" encoding="UTF-8"?> on the first line.',
        where,
    )


def outermost(source: str | bytes) -> str:
    """The tag of the outermost element as far as a glance shows it, or nothing: what kind of file this may be."""
    text = source if isinstance(source, str) else source[: 2**20].decode("latin-1")
    at = 0
    while (at := text.find("<", at)) >= 0:
        skipped = next(
            (end for start, end in (("<!--", "-->"), ("<?", "?>"), ("<!", ">")) if text.startswith(start, at)), ""
        )
        if not skipped:
            return re.split(r"[\s/>]", text[at + 1 : at + 40], maxsplit=1)[0]
        at = text.find(skipped, at)
        if at < 0:
            break
    return ""


# ---- attributes ------------------------------------------------------------------------------------------------------


def attribute(element: Element, name: str, default: str | None = None) -> str:
    """The text of an attribute; required, and not blank, where no default is given."""
    value = element.attributes.get(name, default)
    if value is None or (default is None and not value.strip()):
        fault = f"has no attribute {name!r}." if value is None else f"has an empty attribute {name!r}."
        raise ModelError("missing", f"{element} {fault}", f'Write <{element.tag} {name}="…">.', element.where)
    return value


def number(element: Element, name: str, default: float | None = None, largest: float = LARGEST) -> float:
    """An attribute that holds one number in range; required where no default is given."""
    if default is not None and name not in element.attributes:
        return default
    text = _required(element, name)
    value = _float(text)
    if not -largest <= value <= largest:
        raise _not_a_number(element, name, text, text)
    return value


def numbers(element: Element, name: str, n: int, default: Sequence[float] | None = None,
            largest: float = LARGEST) -> tuple[float, ...]:  # fmt: skip
    """An attribute that holds `n` numbers in range separated by blanks; required where no default is given."""
    if default is not None and name not in element.attributes:
        return tuple(default)
    text = _required(element, name)
    parts = text.split()
    values = tuple(map(_float, parts))
    for part, value in zip(parts, values, strict=True):
        if not -largest <= value <= largest:
            raise _not_a_number(element, name, text, part)
    if len(values) != n:
        raise ModelError(
            "number",
            f"{_quoted(element, name, text)} has {len(values)} value{'s' * (len(values) != 1)}, not {n}.",
            f"Write {n} numbers separated by blanks.",
            element.where,
        )
    return values


def optional_number(element: Element, name: str) -> float | None:
    """An attribute that holds one limit, or None where it is not there."""
    return number(element, name, largest=ANY) if name in element.attributes else None


def child(element: Element, tag: str, example: str) -> Element:
    """The first child with this tag, which must be there; `example` shows how to write it."""
    found = element.first(tag)
    if found is None:
        raise ModelError("missing", f"{element} has no <{tag}>.", f"Write {example} inside it.", element.where)
    return found


def _required(element: Element, name: str) -> str:
    # an empty number is a bad number, not a missing one, so `attribute` is not used here
    if name not in element.attributes:
        return attribute(element, name)
    return element.attributes[name]


def _float(text: str) -> float:
    """The number, or NaN; Python's own spellings such as 1_000 and digits of other scripts are not numbers here."""
    try:
        return float(text) if text.isascii() and "_" not in text else nan
    except ValueError:
        return nan


def _not_a_number(element: Element, name: str, text: str, part: str) -> ModelError:
    given = _quoted(element, name, text) + (f': "{shown(part)}"' if part != text else "")
    if isfinite(_float(part)):
        return ModelError("range", f"{given} is out of range.", RANGE, element.where)
    kind = "a finite number" if isinf(_float(part)) or "nan" in part.lower() else "a number"
    what = f"{given} is not {kind}."
    hint = "Write a plain number such as 0.5 or -1e-3, without a unit."
    if "${" in text:
        hint = "This is a xacro expression: run xacro on the file first."
    elif "," in part:
        hint = "Separate the numbers by blanks, without commas."
    return ModelError("number", what, hint, element.where)


def _quoted(element: Element, name: str, text: str) -> str:
    return f'{element.tag} {name}="{shown(text)}"'


def shown(text: str) -> str:
    """A text as messages quote it: cut where it is long."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"

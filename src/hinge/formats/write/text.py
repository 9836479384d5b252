"""Robot files as text: numbers that read back to the same bits, tags with their attributes, one to a line.

Nothing here recurses: a long chain of bodies, each inside the one before, cannot exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hinge.errors import NotCovered

INDENT = "  "
# blanks other than the space are written as their numbers, or a reader would take each for a space
ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_SPECIAL = re.compile('[&<>"\t\n\r]')
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 has no others


def number(x: float) -> str:
    """The shortest text that reads back to the same number."""
    text = repr(float(x))
    return "0" if x == 0.0 else text.removesuffix(".0")


def row(values: Iterable[float]) -> str:
    """Numbers with blanks between them."""
    return " ".join(map(number, values))


@dataclass
class Tag:
    """An XML element: attributes that are None are not written."""

    name: str
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    children: list[Tag] = field(default_factory=list)

    def add(self, tag: str, /, **attributes: str | None) -> Tag:
        """A new element inside this one; "class_" is the attribute class."""
        given = {key.removesuffix("_"): value for key, value in attributes.items()}
        self.children.append(Tag(tag, given))
        return self.children[-1]

    def opening(self) -> str:
        """What stands between the brackets of its first line."""
        written = (f'{key}="{escaped(value)}"' for key, value in self.attributes.items() if value is not None)
        return " ".join([self.name, *written])


def document(root: Tag) -> str:
    """The whole file."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    stack: list[tuple[Tag | str, int]] = [(root, 0)]
    while stack:
        tag, depth = stack.pop()
        if isinstance(tag, str):
            lines.append(INDENT * depth + tag)
        elif not tag.children:
            lines.append(f"{INDENT * depth}<{tag.opening()}/>")
        else:
            lines.append(f"{INDENT * depth}<{tag.opening()}>")
            stack.append((f"</{tag.name}>", depth))
            stack.extend((child, depth + 1) for child in reversed(tag.children))
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text as an attribute has it; refuses characters that no XML file may hold."""
    wrong = _FORBIDDEN.search(text)
    if wrong:
        raise NotCovered(
            f"{text!r} has the character U+{ord(wrong[0]):04X}, which no XML file holds. Rename it, or write .toml."
        )
    return _SPECIAL.sub(lambda match: ESCAPED[match[0]], text)

"""Ways to spoil an input, by what it is made of: XML, lines of text, bytes, an archive of members.

A form has `spoil(data, rng)`, the data changed in one place, and `smaller(data)`, what is left of it with a part taken
away, largest parts first: that is how an input that fails is made shorter.
"""

import io
import re
import warnings
import xml.etree.ElementTree as ET
import zipfile
from pathlib import PurePosixPath

NUMBERS = ("0", "-0.0", "1", "-1", "3", "0.5", "1e-320", "1e-310", "1e-160", "1e-9", "1e9", "1e100", "1e160", "1e300",
           "1e308", "-1e308", "1e999", "nan", "inf", "-inf", "9223372036854775808", "-2147483649", "1" * 400, "0x10",
           "1_0", "1,5", "१", "1 2", "1 2 3", "0 0 0", "0 0 0 0", "1 2 3 4 5 6", "")  # fmt: skip
TEXTS = ("", " ", "a", "é", "\N{RIGHT-TO-LEFT OVERRIDE}", "\x1b[31m", "\0", "x" * 3000, "../x", "/", "~", "true",
         "none", "auto", "${x}", "%s", "{0}", "[0]", "package://a/b", "\ud7ff")  # fmt: skip
WHOLE = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1)
MANY = (2, 10, 300, 3000)


def many(rng):
    """How many times a thing is repeated: seldom very often, which takes long to read."""
    return rng.choices(MANY, (60, 30, 8, 2))[0]


def without_runs(parts):
    """The parts without a run of them, for shorter and shorter runs."""
    length = (len(parts) + 1) // 2
    while length:
        for at in range(0, len(parts), length):
            yield parts[:at] + parts[at + length :]
        length //= 2


class Bytes:
    """Anything: bits, numbers, and stretches cut out, repeated or put elsewhere."""

    def spoil(self, data, rng):
        data, n = bytearray(data), len(data)
        # the beginning and the end of a file are where its lengths and offsets are
        at = rng.choice((rng.randrange(n + 1), rng.randrange(min(n, 64) + 1), n - rng.randrange(min(n, 512) + 1)))
        end = min(n, at + rng.choice((1, 2, 4, 8, rng.randrange(1, 64), rng.randrange(1, n + 2))))
        change = rng.choice((0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6))  # mostly one that leaves everything in its place
        if change == 0 and at < n:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            size = rng.choice((1, 2, 4, 8))
            whole = (rng.choice(WHOLE) + rng.choice((0, 0, 1, -1))) % 256**size
            data[at : at + size] = whole.to_bytes(size, rng.choice(("little", "little", "big")))
        elif change == 2:
            elsewhere = rng.randrange(n + 1)
            data[elsewhere : elsewhere + end - at] = data[at:end]
        elif change == 3:
            del data[at:end]
        elif change == 4:
            del data[at:]
        elif change == 5:
            data[at:at] = data[at:end] * (many(rng) if end - at < 100 else 1)
        else:
            data[at:at] = rng.randbytes(rng.choice((1, 4, 50)))
        return bytes(data)

    def smaller(self, data):
        return without_runs(data)


class Lines:
    """Text with a thing a line: numbers and words replaced, lines removed, repeated and put elsewhere."""

    TOKEN = re.compile(r"[-+]?\d[\d.eE+-]*|\w+|[^\w\s]")

    def spoil(self, data, rng):
        text = data.decode("utf-8", "surrogateescape")
        lines, tokens = text.splitlines(keepends=True) or [""], list(self.TOKEN.finditer(text))
        line, change = rng.randrange(len(lines)), rng.randrange(12)
        if change < 8 and tokens:
            values = [token for token in tokens if token[0][-1].isdigit()] if change < 5 else []
            token = rng.choice(values or tokens)
            said = rng.choice(NUMBERS) if values else rng.choice((rng.choice(tokens)[0], rng.choice(TEXTS)))
            if change == 7:  # nested, or a long list
                said = rng.choice((f"[{token[0]}]", "[" * many(rng), f"[{', '.join([token[0]] * many(rng))}]"))
            return self.encoded(text[: token.start()] + said + text[token.end() :])
        if change == 8:
            del lines[line]
        elif change == 9:
            lines[line:line] = [lines[line]] * many(rng)
        elif change == 10:
            lines.insert(rng.randrange(len(lines)), lines.pop(line))
        else:
            lines.insert(line, rng.choice(("# ", '"', "", ".", ",")) + rng.choice(TEXTS) * many(rng) + "\n")
        return self.encoded("".join(lines))

    @staticmethod
    def encoded(text):
        return text.encode("utf-8", "surrogateescape")

    def smaller(self, data):
        lines = data.splitlines(keepends=True)
        yield from (b"".join(some) for some in without_runs(lines))
        for k, line in enumerate(lines):
            if len(line) < 200:
                continue
            yield b"".join([*lines[:k], line[: len(line) // 2], b"\n", *lines[k + 1 :]])


class Xml:
    """Elements and their attributes: replaced, renamed, removed, repeated, moved and nested in each other."""

    def __init__(self, words=()):
        self.words = tuple(words)  # that the format has, beside those of the input

    def spoil(self, data, rng):
        root = parsed(data)
        if root is None:
            return Bytes().spoil(data, rng)
        elements = list(root.iter())
        element = rng.choice(elements)
        parents = {child: parent for parent in elements for child in parent}
        parent = parents.get(element)
        attributes = sorted({name for one in elements for name in one.attrib} | {"name", *self.words})
        name = rng.choice(list(element.attrib) or attributes)
        change = rng.randrange(10)
        if change < 4:
            if change == 3:
                name = rng.choice(attributes)
            element.set(name, self.value(element.get(name, "0"), elements, rng))
        elif change == 4:
            element.attrib.pop(name, None)
        elif change == 5:
            element.tag = rng.choice(sorted({one.tag for one in elements} | set(self.words)))
        elif parent is None:
            return Bytes().spoil(data, rng)
        elif change == 6:
            parent.remove(element)
        elif change == 7:
            at = list(parent).index(element)
            parent[at:at] = [element] * many(rng)
        elif change == 8:
            inside = set(element.iter())
            parent.remove(element)
            rng.choice([one for one in elements if one not in inside]).append(element)
        else:
            self.nest(element, many(rng))
        return ET.tostring(root)

    @staticmethod
    def value(before, elements, rng):
        """Another text of an attribute: a number of it replaced, a value from elsewhere, or any text."""
        parts = before.split(" ")
        at = rng.randrange(len(parts))
        others = [text for one in elements for text in one.attrib.values()]
        if rng.random() < 0.5:
            return " ".join([*parts[:at], rng.choice(NUMBERS), *parts[at + 1 :]])
        return rng.choice((rng.choice(others or [""]), rng.choice(TEXTS), rng.choice(NUMBERS), before + " " + before))

    @staticmethod
    def nest(element, deep):
        """The element with one like it inside, and so on."""
        for _ in range(min(deep, 600)):
            inner = ET.SubElement(element, element.tag, element.attrib)
            if "name" in inner.attrib:
                inner.set("name", inner.get("name") + "_")
            element = inner

    def smaller(self, data):
        root = parsed(data)
        if root is None:
            yield from Bytes().smaller(data)
            return
        for parent in root.iter():
            children = list(parent)
            for some in without_runs(children):
                parent[:] = some
                yield ET.tostring(root)
            parent[:] = children
            for name in list(parent.attrib):
                value = parent.attrib.pop(name)
                yield ET.tostring(root)
                parent.set(name, value)


def parsed(data):
    try:
        return ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError):
        return None


class Npy:
    """An array as NumPy saves it: its header as text, its length said anew or not; or any byte."""

    def spoil(self, data, rng):
        end = 10 + int.from_bytes(data[8:10], "little")
        if rng.random() < 0.3 or len(data) < end:
            return Bytes().spoil(data, rng)
        header = Lines().spoil(data[10:end], rng)
        size = (len(header) % 65536).to_bytes(2, "little") if rng.random() < 0.7 else data[8:10]
        return data[:8] + size + header + data[end:]


BY_SUFFIX = {".json": Lines(), ".xml": Xml(), ".urdf": Xml(), ".npy": Npy(), ".obj": Lines()}
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def packed(members, packing=zipfile.ZIP_STORED):
    """An archive of (name, content); the same bytes each time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name are meant
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, packing)
    return file.getvalue()


def unpacked(data):
    """The members of an archive; none of what is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(one.filename, archive.read(one)) for one in archive.infolist()]
    except Exception:  # whatever a spoilt archive makes of zipfile
        return []


class Archive:
    """Members, each spoilt as what it is; removed, renamed and exchanged. With `raw` the archive's own bytes too."""

    def __init__(self, raw=False):
        self.raw = raw

    def spoil(self, data, rng):
        members = unpacked(data)
        if not members or (self.raw and rng.random() < 0.3):
            return Bytes().spoil(data, rng)
        k, change = rng.randrange(len(members)), rng.randrange(10)
        name, content = members[k]
        other = rng.randrange(len(members))
        if change < 6:
            form = BY_SUFFIX.get(PurePosixPath(name).suffix, Bytes())
            members[k] = name, (form if rng.random() < 0.8 else Bytes()).spoil(content, rng)
        elif change == 6:
            del members[k]
        elif change == 7:
            members[k] = rng.choice((name.upper(), name.removesuffix(".npy"), "x", "é", members[other][0])), content
        elif change == 8:
            members[k] = name, members[other][1]
        else:
            members.append((name + rng.choice(("", "_", ".npy")), content))
        return packed(members, rng.choice(PACKINGS) if self.raw else zipfile.ZIP_STORED)

    def smaller(self, data):
        members = unpacked(data)
        yield from (packed(some) for some in without_runs(members))
        if self.raw or not members:
            yield from Bytes().smaller(data)

"""What the XML reader refuses, each message whole, and what it lets through."""

import gc

import pytest

from hinge.errors import ModelError, Where
from hinge.formats import xml
from hinge.formats.xml import attribute, child, number, numbers, optional_number, parse


def refused(source, file="models/arm.xml"):
    with pytest.raises(ModelError) as caught:
        parse(source, file)
    return caught.value


def one(text):
    return parse(text, "arm.xml")


# ---- the tree


def test_a_tree_has_tags_attributes_text_and_lines():
    root = one('<?xml version="1.0"?>\n<!-- c -->\n<a x="1">\n  <b/>hello<?pi?> <![CDATA[<&]]>\n  <c>\n  </c></a>')
    assert (root.tag, root.attributes, root.text) == ("a", {"x": "1"}, "hello <&")
    assert [(e.tag, e.text, e.where) for e in root.children] == [
        ("b", "", Where("arm.xml", 4)),
        ("c", "", Where("arm.xml", 5)),
    ]
    assert root.where == Where("arm.xml", 3)
    assert root.first("c") is root.children[1]
    assert root.first("d") is None
    assert [e.tag for e in root.all("b")] == ["b"]


def test_text_and_bytes_give_the_same_tree():
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<a name="größe"/>'
    assert parse(text) == parse(text.encode())


@pytest.mark.parametrize("codec", ["ISO-8859-1", "windows-1252", "UTF-8", "UTF-16"])
def test_a_declared_encoding_is_used(codec):
    data = f'<?xml version="1.0" encoding="{codec}"?>\n<a name="größe"/>'.encode(codec)
    assert parse(data).attributes == {"name": "größe"}


def test_a_str_is_decoded_already_whatever_it_declares():
    assert parse('<?xml version="1.0" encoding="UTF-16"?><a name="größe"/>').attributes == {"name": "größe"}


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_blanks_before_the_declaration_and_a_byte_order_mark_are_skipped_and_lines_stay_true(mark):
    text = mark + '\n\n <?xml version="1.0"?>\n<a>\n<b/></a>'
    for source in (text, text.encode()):
        assert parse(source).children[0].where.line == 5


def test_collection_is_switched_on_again():
    refused("<a>")
    assert gc.isenabled()


# ---- what is refused


def test_a_file_that_is_cut_off_between_tags():
    error = refused('<a>\n  <b x="1">\n    <c/>\n')
    assert str(error) == (
        "arm.xml:4: the file ends before <b> of line 2 is closed.\n  It looks cut off: fetch or export it again."
    )
    assert (error.code, error.file, error.line) == ("xml", "arm.xml", 4)


def test_a_file_that_is_cut_off_inside_a_tag():
    assert str(refused('<a>\n  <b x="1')) == (
        "arm.xml:2: the file ends before <a> of line 1 is closed.\n  It looks cut off: fetch or export it again."
    )


@pytest.mark.parametrize("source", ["", b"", "  \n", "<!-- nothing -->"])
def test_an_empty_file(source):
    error = refused(source)
    assert error.what == "the file ends before its first element."
    assert error.code == "xml"


def test_tags_that_do_not_match():
    error = refused("<a>\n  <b>\n</a>")
    assert str(error) == (
        "arm.xml:3: the XML is not well-formed: mismatched tag, column 3.\n"
        "  The innermost open element is <b> of line 2."
    )
    assert error.code == "xml"


def test_something_that_is_not_xml():
    assert (
        str(refused("panda.urdf"))
        == "arm.xml:1: the XML is not well-formed: syntax error, column 1.\n  A robot file in XML begins with <."
    )


def test_an_attribute_given_twice():
    error = refused('<a>\n<b x="1" x="2"/></a>')
    assert (error.code, error.line) == ("xml", 2)
    assert "duplicate attribute" in error.what


def test_an_entity_bomb():
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY a "ha">\n'
    bomb += "".join(f'<!ENTITY {x} "{f"&{y};" * 10}">\n' for x, y in zip("bcdefghij", "abcdefghi", strict=True))
    error = refused(bomb + "]>\n<a>&j;</a>")
    assert str(error) == (
        "arm.xml:2: the file declares a document type, <!DOCTYPE lolz>.\n"
        "  Document types and entities are not read: remove the declaration, write out what its entities stand for."
    )
    assert error.code == "doctype"


def test_an_external_entity():
    error = refused('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>')
    assert error.code == "doctype"


def test_an_undeclared_entity():
    assert refused("<a>&x;</a>").code == "xml"


@pytest.mark.timeout(2)
@pytest.mark.parametrize("closed", [True, False])
def test_two_hundred_thousand_nested_tags(closed):
    error = refused("<a>\n" * 200_000 + "</a>" * 200_000 * closed)
    assert str(error) == "arm.xml:501: <a> is nested more than 500 deep.\n  The file is damaged, or not a robot."
    assert error.code == "depth"


def test_five_hundred_nested_tags_are_read():
    assert parse("<a>" * 500 + "</a>" * 500).tag == "a"


@pytest.mark.timeout(10)
def test_a_file_that_is_too_large():
    error = refused(b"<a>" + b" " * 64 * 2**20 + b"</a>")
    assert str(error) == (
        "arm.xml: the file has 67108871 bytes, at most 67108864 are read.\n"
        "  A robot file holds no meshes: put large data in files of their own."
    )
    assert error.code == "size"


def test_too_many_elements(monkeypatch):
    monkeypatch.setattr(xml, "MAX_ELEMENTS", 3)
    assert parse("<a><b/><b/></a>").tag == "a"
    error = refused("<a>\n<b/>\n<b/>\n<b/></a>")
    assert str(error) == (
        "arm.xml:4: the file has more than 3 elements.\n"
        "  A robot file holds no meshes: put large data in files of their own."
    )


def test_bytes_that_are_not_utf8():
    error = refused('<?xml version="1.0"?>\n<a name="größe"/>'.encode("latin-1"))
    assert str(error) == (
        "arm.xml:2: byte 0xF6 is not UTF-8.\n"
        '  Save the file as UTF-8, or name its encoding: <?xml version="1.0" encoding="ISO-8859-1"?>.'
    )
    assert error.code == "encoding"


@pytest.mark.parametrize("codec", ["klingon", "shift_jis", "hex", "UTF-16"])
def test_an_encoding_that_cannot_be_read(codec):
    error = refused(f'\n<?xml version="1.0" encoding="{codec}"?>\n<a/>'.encode())
    assert str(error) == (
        f'arm.xml:2: the file cannot be read as encoding="{codec}", which it declares.\n'
        '  Save it as UTF-8 and write <?xml version="1.0" encoding="UTF-8"?> on the first line.'
    )
    assert error.code == "encoding"


def test_a_str_that_is_not_text():
    assert str(refused("<a>\n\udc80</a>")) == (
        "arm.xml:2: character U+DC80 is half of a surrogate pair, not text.\n"
        "  Open the file in binary mode and pass the bytes, or decode it with its real encoding."
    )


# ---- attributes


PLAIN = "Write a plain number such as 0.5 or -1e-3, without a unit."


def message(reader, *arguments):
    with pytest.raises(ModelError) as caught:
        reader(*arguments)
    return caught.value.code, str(caught.value)


def test_numbers_that_are_numbers():
    element = one('<a one=" -1.5e-3 " three=" 1\t2\n+3. " />')
    assert number(element, "one") == -1.5e-3
    assert number(element, "none", 2.0) == 2.0
    assert optional_number(element, "none") is None
    assert numbers(element, "three", 3) == (1.0, 2.0, 3.0)
    assert numbers(element, "none", 2, (4, 5)) == (4, 5)


@pytest.mark.parametrize("value", ["1kg", "", " ", "1_000", "٣", "0x10", "1 2", "--1", "1,5"])
def test_not_a_number(value):
    code, text = message(number, one(f'<mass value="{value}"/>'), "value")
    assert code == "number"
    hint = "Separate the numbers by blanks, without commas." if "," in value else PLAIN
    assert text == f'arm.xml:1: mass value="{value}" is not a number.\n  {hint}'


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "Infinity", "1e999"])
def test_not_a_finite_number(value):
    code, text = message(number, one(f'<mass value="{value}"/>'), "value")
    assert code == "number"
    assert text == f'arm.xml:1: mass value="{value}" is not a finite number.\n  {PLAIN}'


def test_a_default_does_not_hide_a_bad_number():
    assert message(number, one('<a x="?"/>'), "x", 0.0)[0] == "number"
    assert message(optional_number, one('<a x="?"/>'), "x")[0] == "number"


def test_one_bad_number_among_several():
    assert message(numbers, one('<origin xyz="0 0 zero"/>'), "xyz", 3) == (
        "number",
        f'arm.xml:1: origin xyz="0 0 zero": "zero" is not a number.\n  {PLAIN}',
    )
    assert message(numbers, one('<origin xyz="0, 0, 0"/>'), "xyz", 3) == (
        "number",
        'arm.xml:1: origin xyz="0, 0, 0": "0," is not a number.\n  Separate the numbers by blanks, without commas.',
    )


@pytest.mark.parametrize(("value", "count"), [("0 0", "2 values"), ("1", "1 value"), ("", "0 values")])
def test_wrong_number_of_values(value, count):
    assert message(numbers, one(f'<origin xyz="{value}"/>'), "xyz", 3) == (
        "number",
        f'arm.xml:1: origin xyz="{value}" has {count}, not 3.\n  Write 3 numbers separated by blanks.',
    )


def test_an_expression_that_xacro_should_have_replaced():
    assert message(number, one('<mass value="${m / 2}"/>'), "value") == (
        "number",
        'arm.xml:1: mass value="${m / 2}" is not a number.\n  This is a xacro expression: run xacro on the file first.',
    )


def test_a_missing_attribute():
    for reader, rest in ((attribute, ()), (number, ()), (numbers, (3,))):
        assert message(reader, one("<mass/>"), "value", *rest) == (
            "missing",
            "arm.xml:1: <mass> has no attribute 'value'.\n  Write <mass value=\"…\">.",
        )
    assert message(attribute, one('<joint name="elbow" type=" "/>'), "type") == (
        "missing",
        "arm.xml:1: joint 'elbow' has an empty attribute 'type'.\n  Write <joint type=\"…\">.",
    )


def test_a_missing_child():
    assert message(child, one('<joint name="elbow"/>'), "parent", '<parent link="…"/>') == (
        "missing",
        "arm.xml:1: joint 'elbow' has no <parent>.\n  Write <parent link=\"…\"/> inside it.",
    )


def test_long_values_are_cut_in_messages():
    code, text = message(number, one(f'<a name="{"n" * 5000}" x="{"9" * 5000}kg"/>'), "x")
    assert code == "number"
    assert text == f'arm.xml:1: a x="{"9" * 59}…" is not a number.\n  {PLAIN}'

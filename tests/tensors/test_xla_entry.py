"""The handler that XLA calls: the offsets it reads by, and what it says where there is no memory."""

import ctypes
import re
from pathlib import Path

import fake_gpu
import numpy as np
import pytest

import hinge
from hinge.backends.cuda import launcher
from hinge.backends.llvm import xla_entry
from hinge.backends.llvm.spread import ABOUT

HEADER = "#define XLA_FFI_API_MAJOR {}\n#define XLA_FFI_API_MINOR {}\n"


@pytest.mark.parametrize("header", ["", HEADER.format(1, 0), HEADER.format("x", 3)])
def test_an_interface_that_is_not_known_has_no_handler(header):
    assert xla_entry.address(header) is None


def row(*numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers)


def at(thing):
    return ctypes.addressof(thing)


def test_it_says_which_version_it_is_for():
    metadata = row(0, 0, 0, -1, -1)
    extension = row(0, 1, 0, at(metadata))
    frame = row(0, at(extension))
    assert not xla_entry.address(HEADER.format(0, 1))(at(frame))
    assert np.frombuffer(metadata, np.int32)[6:9].tolist() == [0, 1, 0]
    assert not xla_entry.address(HEADER.format(0, 99))(at(frame))
    assert np.frombuffer(metadata, np.int32)[6:9].tolist() == [0, xla_entry.MINOR, 0]


def test_missing_memory_is_an_error_of_xla():
    said = {"work bytes": 1 << 62, "lanes": 1, "length": 1}
    about, states = row(*(said.get(word, 0) for word in ABOUT)), row(1)
    told = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def error(given):
        size, _, words, code = np.ctypeslib.as_array(ctypes.cast(given, ctypes.POINTER(ctypes.c_int64)), (4,)).tolist()
        told.append((size, ctypes.string_at(words), code))
        return 77

    api = row(*[0] * 6, ctypes.cast(error, ctypes.c_void_p).value)
    values = [row(at(about)), states]
    scalars = [row(5, at(value)) for value in values]
    attributes = row(*map(at, scalars))
    frame = row(*[0] * 2, at(api), *[0] * 17, at(attributes), 0)
    assert xla_entry.address(HEADER.format(0, 3))(at(frame)) == 77
    assert told == [(28, b"hinge: there is no memory for a work buffer.", 8)]


@pytest.mark.parametrize("answer", ["CUDA_SUCCESS", "CUDA_ERROR_LAUNCH_FAILED"])
def test_on_a_gpu_it_launches_in_the_stream_of_xla(monkeypatch, answer):
    driver = fake_gpu.put_in(monkeypatch, gpus=1)
    driver.contexts, driver.answer = [fake_gpu.FIRST], fake_gpu.Result[answer]
    kernel = hinge.samples.planar_2r().kernel("gravity_force", backend="cuda")
    launch = kernel.code(np.dtype(float)).launching(None, 2, (), 3)
    q, made = np.ones((3, 2)), np.zeros((3, 2))

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def stream(given):
        asked = np.ctypeslib.as_array(ctypes.cast(given, ctypes.POINTER(ctypes.c_int64)), (4,))
        assert asked[:3].tolist() == [32, 0, 55]
        asked[3] = 9

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def error(given):
        _, _, words, code = np.ctypeslib.as_array(ctypes.cast(given, ctypes.POINTER(ctypes.c_int64)), (4,)).tolist()
        assert (ctypes.string_at(words), code) == (b"hinge: a GPU does not take a kernel.", 13)
        return 77

    functions = [ctypes.cast(one, ctypes.c_void_p).value for one in (error, stream)]
    api = row(*[0] * 6, functions[0], *[0] * 3, functions[1])
    buffers = [row(0, 0, 0, x.ctypes.data) for x in (q, made)]
    given, results = row(at(buffers[0])), row(at(buffers[1]))
    values = [row(launch.place), row(3)]
    scalars = [row(5, at(value)) for value in values]
    attributes = row(*map(at, scalars))
    frame = row(
        *[0] * 2, at(api), 55, *[0] * 3, 1, 0, at(given), *[0] * 2, 1, 0, at(results), *[0] * 5, at(attributes), 0
    )
    assert launcher.handler(HEADER.format(0, 3))(at(frame)) == (None if answer == "CUDA_SUCCESS" else 77)
    assert driver.launched == [(0, 9)]
    if answer == "CUDA_SUCCESS":
        np.testing.assert_array_equal(made, hinge.samples.planar_2r().gravity_force(np.ones((3, 2))))


# the header that JAX ships, read


def offsets(header, name):
    """Where the fields of a struct begin, and its size, as a compiler lays it out."""
    body = re.search(rf"struct {name} \{{(.*?)\n\}}", header, re.S)[1]
    made, end = {}, 0
    for kind, field in re.findall(r"^\s*([\w ]+\**)\s+(\w+);", re.sub(r"//.*", "", body), re.M):
        size, whole = width(header, kind.removeprefix("const ").removeprefix("struct "))
        end = -(-end // whole) * whole
        made[field] = end
        end += size
    return made, -(-end // 8) * 8


def width(header, kind):
    """The size of a type, and what its address is a multiple of; what is no struct is an enumeration, or as small."""
    if kind.endswith("*") or kind in ("size_t", "int64_t"):
        return 8, 8
    return (offsets(header, kind)[1], 8) if f"struct {kind} {{" in header else (4, 4)


def test_the_offsets_are_those_of_the_header_that_jax_has():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    header = (Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h").read_text()

    def where(*path):
        """The offset of a field, which may be in a struct inside: struct, field, struct, field."""
        return sum(
            offsets(header, f"XLA_FFI_{struct}")[0][field] for struct, field in zip(path[::2], path[1::2], strict=True)
        )

    assert where("CallFrame", "extension_start") == xla_entry.EXTENSION
    assert where("CallFrame", "api") == xla_entry.API
    inputs = [where("CallFrame", "args", "Args", field) for field in ("size", "args")]
    outputs = [where("CallFrame", "rets", "Rets", field) for field in ("size", "rets")]
    assert (tuple(inputs), tuple(outputs)) == (xla_entry.INPUTS, xla_entry.OUTPUTS)
    assert where("CallFrame", "attrs", "Attrs", "attrs") == xla_entry.ATTRIBUTES
    assert (where("Buffer", "data"), where("Scalar", "value")) == (xla_entry.DATA, xla_entry.VALUE)
    assert where("Metadata_Extension", "metadata") == xla_entry.METADATA
    version = [where("Metadata", "api_version", "Api_Version", f"{word}_version") for word in ("major", "minor")]
    assert (tuple(version), where("Metadata", "traits")) == (xla_entry.VERSION, xla_entry.TRAITS)
    assert re.search(r"internal_api;\s+_XLA_FFI_API_STRUCT_FIELD\(XLA_FFI_Error_Create\)", header)
    assert where("Api", "internal_api") + 8 == xla_entry.ERROR
    assert where("Error_Create_Args", "errc") + 4 == xla_entry.ERROR_SIZE
    assert where("CallFrame", "ctx") == launcher.CONTEXT
    assert where("Stream_Get_Args", "stream") + 8 == launcher.STREAM_SIZE
    names = re.findall(r"_XLA_FFI_API_STRUCT_FIELD\(XLA_FFI_(\w+)\)", header)
    assert xla_entry.ERROR + 8 * (names.index("Stream_Get") - names.index("Error_Create")) == launcher.STREAM
    assert xla_entry.address(header) is not None

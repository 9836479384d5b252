"""`hinge export --cuda`: the files compile and pass their own test, here with a host for a GPU."""

import re
import shutil
import subprocess

import cuda_on_host
import numpy as np
import pytest

import hinge
from hinge.backends.cuda import parts
from hinge.backends.statements import REALS
from hinge.export import cuda_files

hosted = pytest.mark.skipif(cuda_on_host.COMPILER is None, reason="there is no C++ compiler here: g++ or clang++")
RUNTIME = (
    "#pragma once\n"
    + cuda_on_host.SHIM
    + """
#include <cstdlib>
#include <cstring>
typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
static int cudaMalloc(void **at, size_t size) { *at = malloc(size); return 0; }
static int cudaMallocAsync(void **at, size_t size, cudaStream_t) { return cudaMalloc(at, size); }
static int cudaFreeAsync(void *at, cudaStream_t) { free(at); return 0; }
static int cudaMemcpy(void *to, const void *from, size_t size, int) { memcpy(to, from, size); return 0; }
static int cudaMemset(void *to, int byte, size_t size) { memset(to, byte, size); return 0; }
static int cudaGetLastError() { return 0; }
static const char *cudaGetErrorString(int) { return ""; }
template <typename F> static void launched(long long blocks, int threads, F run)
{
    warps.clear();
    for (int k = 0; k < threads / 32; k++) warps.push_back(new std::barrier<>(32));
    for (unsigned block = 0; block < blocks; block++) {
        std::vector<std::thread> all;
        for (unsigned k = 0; k < (unsigned)threads; k++)
            all.emplace_back([=] { threadIdx.x = k; blockIdx.x = block; run(); });
        for (std::thread &one : all) one.join();
    }
}
"""
)


def tried(folder, files):
    """What the program that tries them says, and whether it is content."""
    (folder / "cuda_runtime.h").write_text(RUNTIME)
    sources = []
    for name, text in files.items():
        plain = re.sub(r"(\w+)<<<(.+?), (\d+), 0, stream>>>\((.*)\);", r"launched(\2, \3, [=] { \1(\4); });", text)
        (folder / name).write_text(plain, encoding="utf-8")
        sources += [folder / name] if name.endswith(".cu") else []
    command = [cuda_on_host.COMPILER, "-std=c++20", "-O1", "-ffp-contract=off", "-w", "-pthread", f"-I{folder}"]
    made = subprocess.run([*command, "-x", "c++", *sources, "-o", folder / "try"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:3000]
    return subprocess.run([folder / "try"], capture_output=True, text=True)


@pytest.mark.sweep
@hosted
@pytest.mark.parametrize("scalar", REALS)
def test_the_files_pass_their_own_test(tmp_path, scalar):
    robot = hinge.samples.random_tree(np.random.default_rng(3), 3, ("revolute", "spherical"))
    files = cuda_files.cuda_files(robot.target, ["inverse_dynamics", "pose"], scalar, at=robot.body_names[-1])
    ran = tried(tmp_path, files)
    assert ran.returncode == 0
    assert [line.split(":")[0].split("_", 1)[0] for line in ran.stdout.splitlines()] == ["ok tree3"] * 2


@pytest.mark.sweep
@hosted
def test_several_kernels_are_launched_one_after_another(tmp_path, monkeypatch):
    for name, limit in (
        ("REGISTERS", dict.fromkeys(REALS, 5)),
        ("MANY", dict.fromkeys(REALS, 6)),
        ("WIDEST", 3),
        ("FIRST", 2),
    ):
        monkeypatch.setattr(parts, name, limit)
    files = cuda_files.cuda_files(hinge.samples.puma560().target, ["inverse_dynamics"])
    (text,) = [text for name, text in files.items() if name.endswith("inverse_dynamics.cu")]
    assert text.count("<<<") > 2
    assert tried(tmp_path, files).returncode == 0
    wrong = {name: text.replace("known_out[] = {", "known_out[] = {1.0 + ") for name, text in files.items()}
    ran = tried(tmp_path, wrong)
    assert ran.returncode == 1
    assert ran.stdout.startswith("BAD puma560_inverse_dynamics: out")


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")
def test_nvcc_takes_the_files(tmp_path):
    files = cuda_files.cuda_files(hinge.samples.puma560().target)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    sources = [name for name in files if name.endswith(".cu")]
    subprocess.run(["nvcc", "-arch=sm_90", "--fmad=false", *sources, "-o", "try"], cwd=tmp_path, check=True)

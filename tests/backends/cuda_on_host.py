"""CUDA text run on the host: a thread of C++ for each thread of a block, and a barrier for each warp."""

import ctypes
import shutil
import subprocess

import numpy as np

from hinge.backends.cuda import emit
from hinge.backends.statements import REALS

COMPILER = shutil.which("g++") or shutil.which("clang++")
SHIM = """
#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __shared__ static
#define __align__(n)
#define __restrict__
#define __launch_bounds__(n)
using std::min;
struct double2 { double x, y; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
static double2 make_double2(double x, double y) { return {x, y}; }
static float2 make_float2(float x, float y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx;
static Index blockDim;
static std::vector<std::barrier<> *> warps;
static std::barrier<> *block_of_threads;
static void __syncthreads() { block_of_threads->arrive_and_wait(); }
static void __syncwarp() { warps[threadIdx.x / 32]->arrive_and_wait(); }
template <typename T> static T __ldcs(const T *from) { return *from; }
template <typename T> static T __ldg(const T *from) { return *from; }
template <typename T> static void __stcs(T *to, T value) { *to = value; }
template <typename T> static void __stwb(T *to, T value) { *to = value; }
"""
MAIN = """
extern "C" void launch_%s(long long blocks, int threads, %s)
{
    warps.clear();
    blockDim.x = threads;
    block_of_threads = new std::barrier<>(threads);
    for (int k = 0; k < threads / 32; k++) warps.push_back(new std::barrier<>(32));
    for (unsigned block = 0; block < blocks; block++) {
        std::vector<std::thread> all;
        for (unsigned k = 0; k < (unsigned)threads; k++)
            all.emplace_back([=] { threadIdx.x = k; blockIdx.x = block; %s(%s); });
        for (std::thread &one : all) one.join();
    }
}
"""


def run(folder, program, arrays, outs):
    """Fill `outs` as `Code.run` does."""
    real = next(one for one in REALS.values() if one.dtype == arrays[0].dtype)
    text = emit(program, real)
    first = text.kernels[0]
    taken = text.source.split(f"{first}(", 1)[1].split(")\n", 1)[0]
    names = ", ".join(one.split()[-1].removeprefix("*__restrict__ ") for one in taken.split(", "))
    mains = [MAIN % (kernel, taken, kernel, names) for kernel in text.kernels]
    (folder / "code.cpp").write_text("".join([SHIM, text.source, *mains]))
    library = folder / "code.so"
    command = [COMPILER, "-std=c++20", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-pthread"]
    made = subprocess.run([*command, "-o", library, folder / "code.cpp"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:3000]
    every, states = [*arrays, *outs], len(outs[0])
    counts = [every[k].shape[-2] for k in sorted(program.streams)]
    records = [k for k in program.streams if k >= len(arrays)]
    for k in records:  # coordinates first
        every[k] = np.ascontiguousarray(np.moveaxis(every[k], 0, -1))
    pointers = [one.ctypes.data_as(ctypes.c_void_p) for one in every]
    if text.columns:
        room = np.full((text.columns, states), 77, real.dtype)
        pointers.append(room.ctypes.data_as(ctypes.c_void_p))
    numbers = [ctypes.c_longlong(n) for n in (*counts, states)]
    loaded = ctypes.CDLL(str(library))
    for kernel, threads in zip(text.kernels, text.threads, strict=True):
        blocks = ctypes.c_longlong(-(-states // threads))
        getattr(loaded, f"launch_{kernel}")(blocks, threads, *pointers, *numbers)
    for k in records:
        outs[k - len(arrays)][...] = np.moveaxis(every[k], -1, 0)


def outs_of(program, states, number, rows=0):
    """Arrays for the results, full of what no result is."""
    made = []
    for one in program.outputs:
        shape = (states, rows, *one.shape) if one.stream else (states, len(one.entries))
        made.append(np.full(shape, 77, np.uint8 if one.whole else number))
    return made

"""Our declarations of the CUDA driver's interface against the toolkit's own header, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKS = r"""
#include <cuda.h>
#include "emmy/Runtime/CudaAbi.h"
namespace ours = emmy::runtime::cuda;
#define SAME_FIELD(A, a, B, b) static_assert(offsetof(A, a) == offsetof(B, b) && sizeof(A::a) == sizeof(B::b))
static_assert(sizeof(CUlaunchConfig) == sizeof(ours::LaunchConfig));
static_assert(alignof(CUlaunchConfig) == alignof(ours::LaunchConfig));
static_assert(offsetof(CUlaunchConfig, gridDimX) == offsetof(ours::LaunchConfig, grid));
static_assert(offsetof(CUlaunchConfig, blockDimX) == offsetof(ours::LaunchConfig, block));
SAME_FIELD(CUlaunchConfig, sharedMemBytes, ours::LaunchConfig, sharedBytes);
SAME_FIELD(CUlaunchConfig, hStream, ours::LaunchConfig, stream);
SAME_FIELD(CUlaunchConfig, attrs, ours::LaunchConfig, attributes);
SAME_FIELD(CUlaunchConfig, numAttrs, ours::LaunchConfig, numAttributes);
static_assert(sizeof(CUlaunchAttribute) == sizeof(ours::LaunchAttribute));
static_assert(alignof(CUlaunchAttribute) == alignof(ours::LaunchAttribute));
SAME_FIELD(CUlaunchAttribute, id, ours::LaunchAttribute, id);
SAME_FIELD(CUlaunchAttribute, value, ours::LaunchAttribute, value);
static_assert(offsetof(CUlaunchAttributeValue, clusterDim) == 0);
static_assert(offsetof(CUlaunchAttributeValue, programmaticStreamSerializationAllowed) == 0);
static_assert(sizeof(CUtensorMap) == sizeof(ours::TensorMap) && alignof(CUtensorMap) <= alignof(ours::TensorMap));
static_assert(sizeof(CUdevice) == sizeof(ours::Device) && sizeof(CUdeviceptr) == sizeof(ours::DevicePtr));
static_assert(sizeof(CUresult) == sizeof(ours::Result) && CUDA_SUCCESS == 0);
static_assert((int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == (int)ours::kMultiprocessorCount);
static_assert((int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == (int)ours::kCapabilityMajor);
static_assert((int)CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == (int)ours::kCapabilityMinor);
static_assert((int)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == (int)ours::kMaxDynamicSharedBytes);
static_assert((int)CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED == (int)ours::kNonPortableClusterAllowed);
static_assert((int)CU_JIT_ERROR_LOG_BUFFER == (int)ours::kErrorLogBuffer);
static_assert((int)CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == (int)ours::kErrorLogBufferBytes);
static_assert((int)CU_STREAM_CAPTURE_MODE_RELAXED == (int)ours::kCaptureRelaxed);
static_assert((int)CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == (int)ours::kClusterDimension);
constexpr int kSerialization = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
static_assert(kSerialization == (int)ours::kProgrammaticStreamSerialization);
static_assert(CU_TENSOR_MAP_SWIZZLE_32B == 1 && CU_TENSOR_MAP_SWIZZLE_64B == 2 && CU_TENSOR_MAP_SWIZZLE_128B == 3);
static_assert(CU_TENSOR_MAP_L2_PROMOTION_L2_64B == 1 && CU_TENSOR_MAP_L2_PROMOTION_L2_128B == 2);
static_assert(CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3 && CU_TENSOR_MAP_INTERLEAVE_NONE == 0);
static_assert(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE == 0);
"""
# CUtensorMapDataType by dtype, as DType.cpp lists them.
TENSOR_MAP_TYPES = {
    "f64": "FLOAT64",
    "f32": "FLOAT32",
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f8e4m3fn": "UINT8",
    "f8e5m2": "UINT8",
    "i64": "INT64",
    "i32": "INT32",
    "i16": "UINT16",
    "i8": "UINT8",
    "u8": "UINT8",
    "i1": "UINT8",
}


@pytest.fixture(scope="module")
def include() -> Path:
    folders = sorted(Path("/usr/local").glob("cuda*/include"), reverse=True)
    found = [folder for folder in folders if (folder / "cuda.h").exists()]
    if not found:
        pytest.skip("no CUDA toolkit")
    return found[0]


def test_declarations_equal_cuda_h(include: Path, tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    table = (ROOT / "lib/Runtime/DType.cpp").read_text()
    entries = re.findall(r'\{"(\w+)", "\w+", \d+, \d+, \d+, (\d+)\}', table)
    assert {name for name, _ in entries} == set(TENSOR_MAP_TYPES)
    dtypes = [f"static_assert(CU_TENSOR_MAP_DATA_TYPE_{TENSOR_MAP_TYPES[name]} == {code});" for name, code in entries]
    source = tmp_path / "check.cpp"
    source.write_text(CHECKS + "\n".join(dtypes))
    command = [compiler, "-std=c++17", "-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{include}", str(source)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_entry_points_carry_the_suffixes_of_cuda_h(include: Path) -> None:
    header = (include / "cuda.h").read_text(errors="replace")
    names = re.findall(r'\{"(cu\w+)", &driver', (ROOT / "lib/Runtime/CudaDriver.cpp").read_text())
    assert len(names) > 15
    for name in names:
        plain = re.sub(r"_v\d+$", "", name)
        renamed = re.search(rf"#define\s+{plain}\s+(?:__CUDA_API_\w+\()?(\w+)", header)
        assert (renamed.group(1) if renamed else plain) == name
        assert re.search(rf"CUDAAPI {plain}\(", header)

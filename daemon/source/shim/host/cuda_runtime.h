// The CUDA runtime as a launcher sees it, of our own making: every call is recorded or answered, nothing is executed.
// Error codes are CUDA's, so that error-check macros and fallback branches behave as on the device. The header is
// precompiled and given to every host slice with -include. The standard headers come first: shared_ptr's uses
// __noinline__ as an attribute name.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "half.h"
#include "launch.h"

// As <cassert> has it, with the user's line; headers.cpp leaves further includes of it out.
#undef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition) \
  ((condition) ? void() : ::ww::AssertFailed(#condition, __FILE__, ::ww::UserLine(__FILE__, __builtin_LINE())))
#endif

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_CB
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f

// Each needs those before it.
// clang-format off
#include "cuda_types.h"
#include "cuda_device.h"
#include "cuda_memory.h"
#include "cuda_kernels.h"
#include "cuda_functions.h"
// clang-format on

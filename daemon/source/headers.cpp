#include "source/headers.h"

#include <set>

namespace warpwright::source {
namespace embedded {
const std::map<std::string_view, std::string_view>& DeviceShim();
}
namespace {

const std::set<std::string_view> kCudaHost = {"cuda.h",
                                              "cuda_runtime.h",
                                              "cuda_runtime_api.h",
                                              "driver_types.h",
                                              "vector_types.h",
                                              "vector_functions.h",
                                              "host_defines.h",
                                              "device_launch_parameters.h",
                                              "builtin_types.h",
                                              "cuda_profiler_api.h",
                                              "math_constants.h",
                                              "cuComplex.h",
                                              "cuda_fp16.h",
                                              "cuda_fp16.hpp",
                                              "cuda_bf16.h",
                                              "cuda_bf16.hpp",
                                              "mma.h",
                                              "cooperative_groups.h",
                                              "cuda_pipeline.h",
                                              "cuda_pipeline_primitives.h",
                                              "device_functions.h",
                                              "device_atomic_functions.h",
                                              "math_functions.h",
                                              "sm_20_intrinsics.h",
                                              "sm_30_intrinsics.h",
                                              "library_types.h",
                                              "nvToolsExt.h",
                                              "curand_kernel.h",
                                              "curand.h"};

// Built into NVRTC, or irrelevant to device code.
const std::set<std::string_view> kDeviceBuiltIn = {"cuda.h",
                                                   "cuda_runtime.h",
                                                   "cuda_runtime_api.h",
                                                   "driver_types.h",
                                                   "vector_types.h",
                                                   "vector_functions.h",
                                                   "host_defines.h",
                                                   "device_launch_parameters.h",
                                                   "builtin_types.h",
                                                   "helper_cuda.h",
                                                   "cuda_profiler_api.h",
                                                   "device_functions.h",
                                                   "device_atomic_functions.h",
                                                   "math_functions.h",
                                                   "sm_20_intrinsics.h",
                                                   "sm_30_intrinsics.h",
                                                   "nvToolsExt.h"};
const std::set<std::string_view> kDeviceToolkit = {"cuda_fp16.h",          "cuda_bf16.h",
                                                   "cuda_fp8.h",           "cuda_fp6.h",
                                                   "cuda_fp4.h",           "mma.h",
                                                   "cooperative_groups.h", "math_constants.h",
                                                   "cuda_pipeline.h",      "cuda_pipeline_primitives.h",
                                                   "cuda_awbarrier.h",     "cuda_awbarrier_primitives.h",
                                                   "curand_kernel.h",      "library_types.h",
                                                   "cuComplex.h"};

const std::set<std::string_view> kStandardHost = {"algorithm",
                                                  "any",
                                                  "array",
                                                  "atomic",
                                                  "bitset",
                                                  "cassert",
                                                  "cctype",
                                                  "cerrno",
                                                  "cfenv",
                                                  "cfloat",
                                                  "chrono",
                                                  "cinttypes",
                                                  "climits",
                                                  "clocale",
                                                  "cmath",
                                                  "complex",
                                                  "condition_variable",
                                                  "cstdarg",
                                                  "cstddef",
                                                  "cstdint",
                                                  "cstdio",
                                                  "cstdlib",
                                                  "cstring",
                                                  "ctime",
                                                  "deque",
                                                  "exception",
                                                  "filesystem",
                                                  "forward_list",
                                                  "fstream",
                                                  "functional",
                                                  "future",
                                                  "initializer_list",
                                                  "iomanip",
                                                  "ios",
                                                  "iosfwd",
                                                  "iostream",
                                                  "istream",
                                                  "iterator",
                                                  "limits",
                                                  "list",
                                                  "locale",
                                                  "map",
                                                  "memory",
                                                  "mutex",
                                                  "new",
                                                  "numeric",
                                                  "optional",
                                                  "ostream",
                                                  "queue",
                                                  "random",
                                                  "ratio",
                                                  "regex",
                                                  "set",
                                                  "shared_mutex",
                                                  "sstream",
                                                  "stack",
                                                  "stdexcept",
                                                  "streambuf",
                                                  "string",
                                                  "string_view",
                                                  "system_error",
                                                  "thread",
                                                  "tuple",
                                                  "type_traits",
                                                  "typeindex",
                                                  "typeinfo",
                                                  "unordered_map",
                                                  "unordered_set",
                                                  "utility",
                                                  "valarray",
                                                  "variant",
                                                  "vector",
                                                  "version",
                                                  "assert.h",
                                                  "ctype.h",
                                                  "errno.h",
                                                  "fenv.h",
                                                  "float.h",
                                                  "inttypes.h",
                                                  "limits.h",
                                                  "locale.h",
                                                  "math.h",
                                                  "setjmp.h",
                                                  "signal.h",
                                                  "stdarg.h",
                                                  "stdbool.h",
                                                  "stddef.h",
                                                  "stdint.h",
                                                  "stdio.h",
                                                  "stdlib.h",
                                                  "string.h",
                                                  "time.h",
                                                  "unistd.h",
                                                  "sys/time.h",
                                                  "sys/types.h",
                                                  "sys/stat.h",
                                                  "fcntl.h",
                                                  "getopt.h",
                                                  "pthread.h",
                                                  "omp.h",
                                                  "libgen.h",
                                                  "float.h",
                                                  "malloc.h",
                                                  "strings.h"};

}  // namespace

const std::map<std::string, std::string>& StandIns() {
  static const std::map<std::string, std::string> headers = [] {
    std::map<std::string, std::string> map;
    for (const auto& [name, text] : embedded::DeviceShim()) map.emplace("ww_device/" + std::string(name), text);
    return map;
  }();
  return headers;
}

HeaderUse DeviceHeader(std::string_view name) {
  if (kDeviceBuiltIn.count(name)) return {HeaderUse::Kind::kReplacement, "ww_device/host.h"};
  const bool toolkit = kDeviceToolkit.count(name) || name.starts_with("cooperative_groups/") ||
                       name.starts_with("cuda/") || name.starts_with("cub/block/") || name.starts_with("cub/warp/") ||
                       name.starts_with("cub/thread/");
  if (toolkit) return {HeaderUse::Kind::kKeep, {}};
  if (name == "cub/cub.cuh") return {HeaderUse::Kind::kReplacement, "ww_device/cub.h"};
  // <cstdint> and <stdint.h> share a stand-in.
  std::string plain(name);
  if (name.ends_with(".h")) plain = "c" + std::string(name.substr(0, name.size() - 2));
  for (const std::string& candidate : {plain, std::string(name)}) {
    const std::string stand_in = "ww_device/" + candidate + ".h";
    if (StandIns().count(stand_in)) return {HeaderUse::Kind::kReplacement, stand_in};
  }
  if (kStandardHost.count(name)) return {HeaderUse::Kind::kReplacement, "ww_device/host.h"};
  return {};
}

HeaderUse HostHeader(std::string_view name) {
  // The shim has an assert that reports the user's lines, and helper_cuda.h in its folder.
  if (name == "cassert" || name == "assert.h") return {HeaderUse::Kind::kDrop, {}};
  if (kStandardHost.count(name) || name == "helper_cuda.h") return {HeaderUse::Kind::kKeep, {}};
  const bool cuda = kCudaHost.count(name) || name.starts_with("cooperative_groups/") || name.starts_with("cub/") ||
                    name.starts_with("cuda_");
  return {cuda ? HeaderUse::Kind::kDrop : HeaderUse::Kind::kUnknown, {}};
}

}  // namespace warpwright::source

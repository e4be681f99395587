// What libclang finds in a .cu file: entries, kernels, and the static features that the Feature Extractor starts from.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/kernel_spec.h"
#include "core/operation_class.h"

namespace warpwright::core {

struct ParameterInfo {
  std::string name;
  std::string type;  // as spelled: "const float *__restrict__"
  bool is_pointer = false;
  bool is_const = false;  // of the pointee
  bool is_restrict = false;
  std::optional<DType> dtype;       // element type of a pointer, type of a scalar; none: a struct or an unknown type
  std::optional<Role> likely_role;  // pointers: from const and from use
};

// One subscript or dereference of a pointer parameter (or of a shared array) inside a kernel.
enum class AccessPattern {
  kCoalesced,  // the index is affine in threadIdx.x with stride 1
  kStrided,    // affine in threadIdx.x with another stride, or the stride is a run-time value
  kBroadcast,  // does not depend on threadIdx.x
  kIndirect,   // the index comes from memory
  kUnknown,
};
std::string_view Name(AccessPattern pattern);

struct AccessInfo {
  std::string pointer;
  AccessPattern pattern = AccessPattern::kUnknown;
  bool reads = false, writes = false;
  int vector_width = 1;  // elements per access: 4 for float4
  std::string stride;    // source form, if strided: "C"
  int loop_depth = 0;
  int line = 0;
};
struct LoopInfo {
  int line = 0;
  int depth = 0;                      // 0: outermost
  std::string bound;                  // source form: "C"
  std::optional<int64_t> trip_count;  // if it is a constant
  bool thread_strided = false;        // starts at or steps by threadIdx/blockDim
  bool unrolled = false;              // #pragma unroll
  bool accumulates = false;           // carries a sum, a product, a minimum or a maximum
};

struct StaticFeatures {
  OperationClass operation = OperationClass::kUnknown;  // as the source reads; the lifted form knows better
  std::vector<LoopInfo> loops;
  std::vector<AccessInfo> accesses;
  int64_t shared_bytes = 0;  // static arrays whose size is a constant
  bool dynamic_shared = false;
  int barriers = 0, atomics = 0, shuffles = 0, votes = 0;
  int divergent_branches = 0;       // conditions that depend on threadIdx and are more than a bounds guard
  bool bounds_guard = false;        // if (i < n) or if (i >= n) return
  bool one_thread_per_row = false;  // a serial loop over a row that one thread owns
  bool const_restrict = false;      // every read-only pointer is const __restrict__
  bool launch_bounds = false;
  bool vectorized = false;  // at least one global access is wider than one element
  bool tensor_cores = false, async_copy = false, cooperative_groups = false;
  int max_vector_width = 1;
  int independent_accumulators = 0;  // the largest group of accumulators in one loop
  std::set<std::string> math;        // "expf", "__expf", "rsqrtf", "tanhf", "erff", ...
  std::set<DType> dtypes;
};

struct KernelInfo {
  std::string name;  // qualified: "ns::softmax"
  std::vector<std::string> template_parameters;
  std::vector<ParameterInfo> parameters;
  std::string file;
  int line = 0, end_line = 0;
  StaticFeatures features;
};

struct EntryInfo {
  enum class Kind { kLauncher, kKernel };
  Kind kind = Kind::kLauncher;
  std::string name;
  std::vector<ParameterInfo> parameters;
  std::vector<std::string> kernels;  // that it launches, directly or through repository functions
  // Of everything that the entry reaches: changes exactly when the entry's meaning may have changed.
  std::string slice_hash;
  std::string refusal;  // not empty: why it cannot be an entry ("uses cuBLAS (cublasSgemm)")
  int refusal_line = 0;
  int line = 0, end_line = 0;
};

std::string_view Name(EntryInfo::Kind kind);

struct Inspection {
  std::vector<EntryInfo> entries;  // in source order
  std::vector<KernelInfo> kernels;
  std::vector<std::string> headers;   // repository files that were included, relative to the root
  std::vector<std::string> warnings;  // "file:line: message"
};

}  // namespace warpwright::core

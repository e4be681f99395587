// The float64 shadow of a kernel: its source with every floating-point type made double, so that running it gives what
// the original would give without rounding. It is the truth that the accuracy budget (compare.h) measures against.
//
// The rewriting is by token, not by AST: types (float becomes double, half and bfloat16 structs around a double), math
// functions (expf and __expf become exp), literals (0.5f becomes ((double)0.5f): constants stay as the original rounds
// them). In-repository headers are inlined first, so that helpers are rewritten too. What looks at a float's bits
// (__float_as_int, inline assembly, packed half intrinsics that the prelude lacks) makes the rewriting refuse; what
// slips through does not compile, faults, or disagrees with the original, and then the shadow is dropped as well
// (oracle.h). A shadow is an improvement, never a condition.
#pragma once

#include <string>

#include "base/result.h"
#include "core/evaluator.h"
#include "core/kernel_spec.h"

namespace warpwright {

struct Shadow {
  SourceRef source;
  KernelSpec spec;  // floating-point buffers and scalars are f64
};

// Error (kUnsupported) with the reason where no shadow can be written; also where the kernel has no floating-point
// output, or is in f64.
Result<Shadow> MakeShadow(const KernelSpec& spec, const SourceRef& original);

// Buffers of the original's spec as the shadow's: floating-point ones converted, `out` and `scratch` fresh poison.
std::vector<BufferContent> ShadowInputs(const KernelSpec& spec, uint64_t seed,
                                        const std::vector<BufferContent>& buffers);

// The token rewriting by itself.
Result<std::string> RewriteToDouble(std::string_view text);

}  // namespace warpwright

// The float64 shadow of a kernel: its source with every floating-point type replaced by double, so that running it
// gives what the original would give without rounding. It is the truth that the accuracy budget (compare.h) measures
// against.
//
// The worker rewrites the text (rewrite/float64.h), or refuses if it cannot; a text that does not compile, faults, or
// disagrees with the original is dropped as well (oracle.h). A shadow is an improvement, never a requirement.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/evaluator.h"
#include "core/kernel_spec.h"

namespace warpwright::judge {

struct Shadow {
  core::SourceRef source;
  core::KernelSpec spec;  // floating-point buffers and scalars are f64
};

// Error (kUnsupported) with the reason if no shadow can be written; also if the kernel has no floating-point output, or
// is in f64.
Result<Shadow> MakeShadow(const core::KernelSpec& spec, const core::SourceRef& original, core::Evaluator& evaluator);

// Buffers of the original's spec in the shadow's form: floating-point ones converted, `out` and `scratch` fresh poison.
std::vector<core::BufferContent> ShadowInputs(const core::KernelSpec& spec, uint64_t seed,
                                              const std::vector<core::BufferContent>& buffers);

}  // namespace warpwright::judge

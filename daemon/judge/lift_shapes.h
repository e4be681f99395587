// At which shapes, and on which inputs, an entry is executed to be lifted.
//
// The manifest's small cases come first: their sizes are known to fit together. Further shapes shrink the large ones:
// every size becomes a small number, different sizes different ones, and what follows from other sizes in all cases
// follows from them here. Floating-point scalars get unusual values that differ from shape to shape, so that a literal
// made from one is recognised.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/kernel_spec.h"

namespace warpwright::lift {

using Scalars = std::map<std::string, core::ScalarValue>;

// In the order in which they should be tried; at most `count`.
std::vector<Scalars> ChooseShapes(const core::KernelSpec& spec, size_t count);

// Contents of every buffer argument, by the manifest's init as far as it matters here: integers within their bounds,
// numbers without special values. An error if a shape cannot be computed or is larger than `limit_bytes` in total.
Result<std::vector<core::BufferContent>> MakeContents(const core::KernelSpec& spec, const Scalars& scalars,
                                                      uint64_t seed, uint64_t limit_bytes);

// A buffer's dimensions as expressions. One that is stated flat, as a product, is taken apart into its factors.
std::vector<core::Expression> DimensionsOf(const core::BufferArgument& buffer);

}  // namespace warpwright::lift

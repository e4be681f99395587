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

#include "base/result.h"
#include "core/kernel_spec.h"
#include "core/lifting.h"

namespace warpwright::judge {

// Small cases with the taps, strides and flags of the one whose time counts, where that is no small one and others have
// other ones: what is written for these alone runs in none of the declared cases that are verified.
std::vector<core::Case> SmallCasesLikeTimed(const core::KernelSpec& spec);

// In the order in which they should be tried; at most `count` for all that code may ask for, and after them a few that
// are `even`, and some that are `apart` (core/lifting.h). Shapes of more than `limit_bytes` are left out. Integers
// lie within the manifest's bounds; numbers are no special values.
std::vector<core::LiftShape> MakeLiftShapes(const core::KernelSpec& spec, size_t count, uint64_t limit_bytes);

// How an entry is asked for: with these shapes, and what else the cases show.
core::LiftRequest MakeLiftRequest(const core::SourceRef& source, const core::KernelSpec& spec,
                                  const std::string& device, size_t count = 9,
                                  uint64_t limit_bytes = uint64_t{32} << 20);

// One size at a time is a number that a text names, or one more; all others are small. The largest numbers first: a
// text that takes another way beyond some size takes it there.
std::vector<core::LiftShape> MakeShapesAround(const core::KernelSpec& spec, const std::vector<int64_t>& numbers,
                                              size_t count, uint64_t limit_bytes);

}  // namespace warpwright::judge

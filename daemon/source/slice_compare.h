// Whether two slices for one entry produce the same machine code and the same launches.
//
// A compiler sees tokens: texts with equal tokens in equal contexts compile to equal code. So the slices are compared
// token by token, the repository's headers included. What may differ:
//   - layout, comments, and with them line numbers. These appear in debug information and in the value of
//     __LINE__ (so in an assert's message); no code that is meant to be portable depends on them.
//   - includes that only `first` has, named in `kept`. A header of the toolkit or of the standard library declares
//     only its own names. One of the repository is ignored if its slice holds no declaration (a slice holds
//     all whose names the entry reaches) and defines no macro that the rest of the slice, or a system header, may see.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/verdict.h"
#include "source/slice.h"

namespace warpwright::source {

// The first difference, with its line in `first`; nothing if the slices are equal. `kept` holds names as in the slices:
// "kernels/common.cuh", "stdio.h".
std::optional<core::Refused> FindDifference(const Slices& first, const Slices& second,
                                            const std::set<std::string>& kept);

}  // namespace warpwright::source

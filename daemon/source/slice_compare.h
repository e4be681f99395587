// Whether two slices for one entry give the same machine code and the same launches.
//
// A compiler sees tokens: texts with equal tokens in equal surroundings compile to equal code. So the slices are
// compared token by token, the repository's headers included. What may differ:
//   - layout, comments, and with them the numbers of lines. These are in debug information and in the value of
//     __LINE__ (so in an assert's message); no code depends on them that is meant to mean the same elsewhere.
//   - includes that only `first` has, named in `kept`. A header of the toolkit or of the standard library declares
//     names of its own. One of the repository counts as nothing where its slice holds no declaration (a slice holds
//     all whose names the entry reaches) and defines no macro that the rest of the slice, or a system header, may see.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/verdict.h"
#include "source/slice.h"

namespace warpwright::source {

// What differs, with the line in `first`; nothing where the slices are alike. `kept` holds names as in the slices:
// "kernels/common.cuh", "stdio.h".
std::optional<core::Refused> FindDifference(const Slices& first, const Slices& second,
                                            const std::set<std::string>& kept);

}  // namespace warpwright::source

// What an entry's code shares with functions of its file that it does not call: helpers, macros, constants, kernels.
// Nobody judges what those functions compute, so that a candidate must leave it as it is, or have its own.
#pragma once

#include "core/code_use.h"

namespace warpwright::source {

struct ReachableUnits;
struct SourceUnits;

// For each declaration that functions of the main file which the entry does not reach refer to, directly or indirectly
// and not through the entry: kShared where the entry reaches it too, else kOutside. Detail: its name and a digest of
// its tokens; instruction: the names of such functions that no other one of them calls, with commas. Nothing where
// nothing is shared.
core::CodeUses FindSharedCode(const SourceUnits& units, const ReachableUnits& reach, const std::string& main);

}  // namespace warpwright::source

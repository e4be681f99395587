// What an entry reaches: on the host side through its body, on the device side through the kernels that the host side
// names.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/verdict.h"
#include "source/units.h"

namespace warpwright::source {

struct ReachableUnits {
  std::vector<const Unit*> entries;  // definitions of the entry (several: overloads); empty: not found
  bool entry_is_kernel = false;
  std::set<const Unit*> host, device;
  std::vector<std::string> kernels;      // qualified, in source order
  std::vector<std::string> symbols;      // __device__ and __constant__ variables that the host side names
  std::optional<core::Refused> refusal;  // something reached on the host side that is not supported, with its line
};

// `entry` as in the manifest: "f", "ns::f", "f<float, 4>".
ReachableUnits FindReachable(const Ast& ast, const SourceUnits& units, const std::string& entry);

// Qualified names of the main file's functions with a body, in source order.
std::vector<std::string> EntryNames(const SourceUnits& units, const std::string& main);

// Content address of the tokens of everything reached, including macros and conditional directives.
std::string SliceHash(const SourceUnits& units, const ReachableUnits& reach);

}  // namespace warpwright::source

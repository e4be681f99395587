// Where blocks that share a row leave what they have found, for a second kernel.
#pragma once

#include <string>

#include "schedule/problem.h"

namespace warpwright::schedule {

struct Partials {
  std::string name;        // of the array
  std::string definition;  // of it in the module; empty: it is an argument
  std::string capacity;    // elements, as text of the launcher
  bool argument = false;   // of the entry
};
inline constexpr int64_t kPartials = 1 << 18;  // of an array in the module

// A scratch argument of the entry, if it has one of this type for `least` elements and more, else an array of the
// module.
Partials PartialsFor(const Problem& problem, size_t least, const std::string& c_type);

}  // namespace warpwright::schedule

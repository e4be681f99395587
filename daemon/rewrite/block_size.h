// What ties a kernel to one block size: repeated numbers, indices that scale by them, shared arrays of that size.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/site.h"

namespace warpwright::rewrite {

// Where the number of threads along an axis is written.
struct BlockConstant {
  int64_t value = 0;
  source::TextRange literal;     // of the main file
  std::string global;            // name of the constant or macro; empty for a literal or a local variable
  std::set<std::string> locals;  // symbols of the local variables that forward it
};

// Why the kernel cannot run with blocks of another size; nothing if it follows blockDim or the constants of `axes`.
std::optional<core::RewriteRefusal> FindHardCoded(const KernelSite& site, const std::vector<BlockConstant>& axes);

bool IsNumber(std::string_view text);  // digits only
bool MentionsToken(std::string_view text, std::string_view name);

}  // namespace warpwright::rewrite

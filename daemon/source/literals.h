// The integers that a text names: sizes at which it may take another way.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace warpwright::source {

// Of its literals, with those that are shifted by one another ("1 << 20"), up to 2^40.
std::set<int64_t> IntegerLiterals(std::string_view text);

}  // namespace warpwright::source

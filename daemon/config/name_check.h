// Which names a manifest may give.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpwright::config {

// Of an argument.
bool IsIdentifier(std::string_view text);
// Of a kernel or a case, which become parts of branch names and of file names: letters, digits, '_' and `more`.
bool IsPlainName(std::string_view text, std::string_view more, size_t limit);
// Of a function, as in C++: "ns::f<float, 4>".
bool IsEntryName(std::string_view text);

}  // namespace warpwright::config

// Lines of code that are too wide, broken where it reads best.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpwright::source {

// `line`, of code without a comment, as lines of at most `limit` columns: it goes on below, four columns further in,
// behind what binds the least, and never inside of a text. One that has no such place stays too wide.
std::vector<std::string> BrokenLine(const std::string& line, size_t limit);

// A line that is a comment, as several.
std::vector<std::string> BrokenComment(std::string line, size_t limit);

}  // namespace warpwright::source

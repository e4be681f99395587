// What a candidate's text adds to the original's, line by line, for the judge's check of dead code
// (core/added_lines.h). Lines are read as people write them, one statement in each, and not parsed: what does not look
// so is taken for a line that nothing else tells of.
#pragma once

#include <string_view>
#include <vector>

#include "core/added_lines.h"

namespace warpwright::rewrite {

std::vector<core::AddedLine> AddedLines(std::string_view original, std::string_view candidate);

}  // namespace warpwright::rewrite

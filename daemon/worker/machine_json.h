// A worker describes its machine one part per line (core/machine.h), each a JSON object with the part's name as its
// only key, so that a library that ends the process loses only the parts after it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/machine.h"

namespace warpwright::worker {

// The parts that are present, on one line.
std::string EncodeMachine(const core::Machine& machine);
// Adds the parts of one line. kCorrupt: the line is something else.
Status DecodeMachine(std::string_view line, core::Machine& machine);

}  // namespace warpwright::worker

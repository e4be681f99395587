// The numbers that compiled code names: immediate operands of floating-point instructions, and those that integers are
// compared with. What a kernel does may depend on them, however its text spells them.
#pragma once

#include <set>
#include <string>

namespace warpwright::compile {

// Finite ones; at most 4,096.
std::set<double> FindNumbers(const std::string& ptx);

}  // namespace warpwright::compile

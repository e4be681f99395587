// Pointers that the original compares with null: it does something else for layers without a bias, of which its
// formula, which is of calls with all buffers, says nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "source/ast.h"

namespace warpwright::schedule {

// Of these functions, one of which is the launcher `entry`, the parameters of the launcher that they compare with null.
// A kernel's are the launcher's of the same name; where there is none, all that the launcher only reads: `inputs`.
std::set<std::string> ComparedWithNull(const source::Ast& ast, const std::vector<CXCursor>& functions,
                                       const std::string& entry, const std::set<std::string>& buffers,
                                       const std::set<std::string>& inputs);

}  // namespace warpwright::schedule

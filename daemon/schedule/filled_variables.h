// Variables of the device, in constant memory most often, that a launcher fills before its launches. They go with the
// old launches, unless other functions of the file count on what the launcher leaves in them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/ast.h"

namespace warpwright::schedule {

bool FillsVariables(std::string_view callee);  // cudaMemcpyToSymbol

// Functions of the main file that the entry can reach, by name: their bodies show what the original computes with. Adds
// them and the entry to `cursors`.
std::set<std::string> Reached(const source::Ast& ast, CXCursor entry, std::vector<CXCursor>* cursors);

// Variables that the entry, or what it reaches, copies to with cudaMemcpyToSymbol, and that functions which do not fill
// them themselves use.
std::set<std::string> FilledForOthers(const source::Ast& ast, CXCursor entry);

}  // namespace warpwright::schedule

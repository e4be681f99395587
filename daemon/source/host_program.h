// What the host compiler compiles: the host slice without its empty lines, blanks and comments.
//
// A host slice keeps every line at its number in the user's file, so any change of a kernel's length moves the launcher
// after it. The launcher itself is unchanged, and recompiling it is most of the cost of a recording. So lines are
// removed, which makes the text equal for all candidates that differ in device code only, and the program maps lines at
// run time: the shim's location of a call (WW_HERE) and a __LINE__ that is a function argument call ::ww::UserLine.
// Compiler messages and addresses are translated here.
//
// If a __LINE__ is used otherwise (in a name, a constant or an #if), or the file has #line directives, the slice is
// compiled unchanged.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "source/slice.h"

namespace warpwright::source {

struct HostProgram {
  std::string text;                               // of the main file
  std::map<std::string, std::string> headers;     // by name
  std::map<std::string, std::vector<int>> lines;  // by file: the user's line for each line of the text

  int UserLine(const std::string& file, int line) const;
  // "src/a.cu:7: error: ..." with the user's line.
  std::string WithUserLines(std::string log) const;
};

HostProgram MakeHostProgram(const Slices& slices);

}  // namespace warpwright::source

// What the host compiler gets of a host slice: the slice without its empty lines, blanks and comments.
//
// A host slice keeps every line where the user has it, so each change of a kernel's length moves the launcher behind
// it. The launcher itself is the same, and compiling it again is most of what a recording costs. So lines are taken
// out, which makes the text equal for all candidates that differ in device code only, and the program is told at run
// time which line is which: the shim's place of a call (WW_HERE) and a __LINE__ that is a function's argument ask
// ::ww::UserLine. Messages of the compiler and addresses are translated here.
//
// Where a __LINE__ is more than that (part of a name, of a constant, of an #if), or the file has #line directives, the
// slice is compiled as it is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "source/slice.h"

namespace warpwright::source {

struct HostProgram {
  std::string text;                               // of the main file
  std::map<std::string, std::string> headers;     // by name
  std::map<std::string, std::vector<int>> lines;  // by file: of each line in the text, the user's

  int UserLine(const std::string& file, int line) const;
  // "src/a.cu:7: error: ..." with the user's line.
  std::string WithUserLines(std::string log) const;
};

HostProgram MakeHostProgram(const Slices& slices);

}  // namespace warpwright::source

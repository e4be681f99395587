// Messages of the assembler about PTX that a source wrote in asm(...), told with the source's lines.
#pragma once

#include <string>

namespace warpwright::compile {

// Whether it names lines of PTX, which the user never saw.
bool NamesPtxLines(const std::string& log);

// "ptxas application ptx input, line 51; error   : X" becomes `src/k.cu(9): error: X, in "add.f33 ..."`; a line of PTX
// that belongs to no line of a source keeps its number. `ptx` is what the assembler read, with .loc and .file.
std::string WithSourceLines(const std::string& log, const std::string& ptx);

}  // namespace warpwright::compile

// What a kernel needs, from the assembler's verbose log (ptxas -v, part of NVRTC's log) and from PTX directives.
#pragma once

#include <string>

#include "core/compiled.h"

namespace warpwright {

KernelResources ReadResources(const std::string& kernel, const std::string& symbol, const std::string& log, const std::string& ptx);
// The compiler's own messages: the log without the lines of "ptxas".
std::string WithoutAssemblerLines(const std::string& log);

}  // namespace warpwright

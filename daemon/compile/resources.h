// What a kernel needs: registers, stack, constants and launch bounds as its cubin states them; spills and static shared
// memory from the assembler's verbose messages (ptxas -v, part of NVRTC's log), since a cubin does not distinguish
// spills from other local memory, and includes the system's share in shared memory.
#pragma once

#include <string>

#include "compile/cubin.h"
#include "core/compiled.h"

namespace warpwright::compile {

core::KernelResources ReadResources(const std::string& kernel, const std::string& symbol, const std::string& log,
                                    const CubinKernel& cubin);
// The compiler's messages: the log without ptxas's resource lines.
std::string WithoutAssemblerLines(const std::string& log);

}  // namespace warpwright::compile

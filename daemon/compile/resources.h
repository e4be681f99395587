// What a kernel needs: registers, stack, constants and launch bounds as its cubin states them; spills and static shared
// memory from the assembler's verbose messages (ptxas -v, part of NVRTC's log), since a cubin does not tell spills from
// other local memory, and counts the system's share of shared memory in.
#pragma once

#include <string>

#include "compile/cubin.h"
#include "core/compiled.h"

namespace warpwright::compile {

core::KernelResources ReadResources(const std::string& kernel, const std::string& symbol, const std::string& log,
                                    const CubinKernel& cubin);
// The compiler's own messages: the log without what ptxas says about resources.
std::string WithoutAssemblerLines(const std::string& log);

}  // namespace warpwright::compile

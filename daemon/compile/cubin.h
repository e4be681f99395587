// The resources that a cubin states for its kernels, which the driver uses. A cubin is an ELF file; each kernel K has
//
//   .nv.info.K       attributes: format u8, attribute u8, then a u16 value, or a u16 size and that many bytes
//   .nv.constant0.K  its constant bank: a part that the driver fills, then the parameters
//   .nv.info         attributes of all kernels, by index into the symbol table: registers, stack frame
//   .text.K          its machine code
//
// The attribute numbers are those that cuobjdump and nvdisasm print (EIATTR_...); they have not changed since sm_50.
// Own code on top of <elf.h>: the attributes are NVIDIA's, which libelf does not know, and finding sections by name is
// one loop.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright::compile {

// An innermost loop of the machine code. `waits`: how often an iteration must wait for outstanding loads before it can
// continue, if all outstanding loads complete together. ptxas unrolls loops and schedules their loads as registers
// allow, which PTX does not show.
struct MachineLoop {
  int instructions = 0;
  int global_loads = 0, global_stores = 0;
  int waits = 0;
};

struct CubinKernel {
  int registers = 0;
  int stack_bytes = 0;
  int constant_bytes = 0;
  int max_threads = 0;  // 0: not stated
  // Those with loads, in the order of their addresses; empty if the code cannot be decoded.
  std::vector<MachineLoop> loops;
};

// By symbol. The source of the cubin is untrusted, and so is the cubin: every offset is checked.
Result<std::map<std::string, CubinKernel>> ReadCubin(std::span<const std::byte> cubin);

}  // namespace warpwright::compile

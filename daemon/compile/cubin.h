// The resources that a cubin states about its kernels, which is what a driver goes by. A cubin is an ELF file; each
// kernel K has
//
//   .nv.info.K       attributes: format u8, attribute u8, then a u16 value, or a u16 size and as many bytes
//   .nv.constant0.K  its bank of constants: a part that the driver fills, then the parameters
//   .nv.info         attributes of all kernels, by index into the symbol table: registers, stack frame
//   .text.K          its machine code
//
// The attribute numbers are those that cuobjdump and nvdisasm print (EIATTR_...); they have not changed since sm_50.
// Own above <elf.h>: what is read is NVIDIA's, which libelf knows nothing of; sections by name are a loop.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright::compile {

// An innermost loop of the machine code. `waits`: how often a turn must wait for loads that are under way before it can
// go on, if all of those arrive together. ptxas unrolls loops and orders their loads as registers allow, which PTX does
// not tell.
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
  std::vector<MachineLoop>
      loops;  // those with loads, in the order of their addresses; empty where the code cannot be read
};

// By symbol. The text behind the cubin is untrusted, and so is the cubin: every offset is checked.
Result<std::map<std::string, CubinKernel>> ReadCubin(std::span<const std::byte> cubin);

}  // namespace warpwright::compile

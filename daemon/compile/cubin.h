// The resources that a cubin states about its kernels, which is what a driver goes by. A cubin is an ELF file; each kernel K has
//
//   .nv.info.K       attributes: format u8, attribute u8, then a u16 value, or a u16 size and as many bytes
//   .nv.constant0.K  its bank of constants: a part that the driver fills, then the parameters
//   .nv.info         attributes of all kernels, by index into the symbol table: registers, stack frame
//
// The attribute numbers are those that cuobjdump and nvdisasm print (EIATTR_...); they have not changed since sm_50.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/result.h"

namespace warpwright {

struct CubinKernel {
  int registers = 0;
  int stack_bytes = 0;
  int constant_bytes = 0;
  int max_threads = 0;  // 0: not stated
};

// By symbol. The text behind the cubin is untrusted, and so is the cubin: every offset is checked.
Result<std::map<std::string, CubinKernel>> ReadCubin(std::span<const std::byte> cubin);

}  // namespace warpwright

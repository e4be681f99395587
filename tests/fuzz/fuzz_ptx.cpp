// PTX comes from NVRTC, but inline assembly lets a kernel write any text into it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)warpwright::sim::DecodePtx(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

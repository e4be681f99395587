// Objects come from a compiler that has read untrusted text.
#include <cstddef>
#include <cstdint>

#include "source/host_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)warpwright::source::ReadHostObject({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}

// Cubins come from NVRTC, for sources that no one has reviewed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compile/cubin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto kernels = warpwright::compile::ReadCubin({reinterpret_cast<const std::byte*>(data), size});
  if (kernels)
    for (const auto& [name, kernel] : *kernels)
      if (kernel.max_threads < 0 || kernel.max_threads > 1024) std::abort();
  return 0;
}

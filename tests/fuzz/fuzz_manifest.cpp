// The manifest comes from the repository that is optimized. Whatever it contains: no crash, no hang, and an error has a
// location.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto manifest = warpwright::config::ParseManifest(text, "fuzz.yml");
  if (!manifest && (manifest.error().code != warpwright::ErrorCode::kConfig || manifest.error().message.empty()))
    std::abort();
  if (manifest)
    for (const auto& kernel : manifest->kernels)
      for (const auto& argument : kernel.args)
        for (const auto& c : kernel.cases)  // what was accepted has sizes in every case
          if (std::holds_alternative<warpwright::core::BufferArgument>(argument.kind) &&
              !warpwright::core::ShapeOf(argument, c))
            std::abort();
  return 0;
}

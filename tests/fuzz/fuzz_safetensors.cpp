// Whatever the bytes are, the reader returns a file or an error; what it accepts survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "judge/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = warpwright::judge::DecodeSafetensors({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!file) return 0;
  const auto again = warpwright::judge::DecodeSafetensors(warpwright::judge::EncodeSafetensors(*file), "again");
  if (!again || *again != *file) std::abort();
  return 0;
}

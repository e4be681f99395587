// Any line: parsed or refused, and what is parsed is written back the same.
#include <cstdlib>

#include "memory/experience.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpwright;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto experience = memory::ParseExperience(line);
  if (!experience) return 0;
  const auto text = memory::FormatExperience(*experience);
  if (!text) std::abort();
  const auto again = memory::ParseExperience(*text);
  if (!again || !(*again == *experience)) std::abort();
  return 0;
}

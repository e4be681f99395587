// The scanner that decides which files a compiler may open.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "source/includes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const auto& include : warpwright::source::ScanIncludes(text))
    if (include.line < 1 || include.line > lines) std::abort();
  return 0;
}

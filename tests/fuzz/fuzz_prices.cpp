// A list of prices: no crash, errors are those of a file that a user wrote, and prices are not negative.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/price_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpwright;
  const auto list = config::ParsePrices({reinterpret_cast<const char*>(data), size}, "prices.yml");
  if (!list) {
    if (list.error().code != ErrorCode::kConfig) std::abort();
    return 0;
  }
  for (const auto& [name, vendor] : list->vendors)
    for (const auto& [model, price] : vendor.models) {
      if (price.input < 0 || price.output < 0 || price.cache_read < 0 || price.cache_write < 0) std::abort();
      if (list->Find(name, model) != price) std::abort();
    }
  return 0;
}

// What tokens cost: config/prices.yml, compiled in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/yaml_reader.h"

namespace warpwright::config {

// In 1e-9 US dollars per token, which is 0.001 dollars per million tokens.
struct TokenPrice {
  int64_t input = 0, output = 0, cache_read = 0, cache_write = 0;
  bool operator==(const TokenPrice&) const = default;
};

struct PriceList {
  struct Vendor {
    std::string date;    // on which its prices held, "2026-10-10"
    std::string source;  // where they were read
    std::map<std::string, TokenPrice, std::less<>> models;
  };
  std::map<std::string, Vendor, std::less<>> vendors;

  // A model's name may end with a version that is a date: "-20250929", "-2025-08-07".
  std::optional<TokenPrice> Find(std::string_view vendor, std::string_view model) const;
};

// The list that was compiled in.
const PriceList& Prices();
Result<PriceList> ParsePrices(std::string_view text, std::string path);
// {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75} in dollars per million tokens; without prices for a cache,
// its tokens cost what input costs.
TokenPrice ReadTokenPrice(const YamlNode& node, Diagnostics& diagnostics);

}  // namespace warpwright::config

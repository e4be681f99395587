// Text to JSON and back, the only place where JSON is parsed. What is parsed may have been written by anybody: it is
// bounded while it is read (nlohmann's SAX interface), a key that stands twice in an object is a mistake, and so are
// bytes that are no UTF-8. Values are read from and written to JSON by base/json_codec.h.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::base {

struct JsonLimits {
  size_t bytes = size_t{256} << 20;
  int depth = 64;
  size_t values = size_t{16} << 20;  // objects, lists and what is in them
  size_t text = size_t{256} << 20;   // bytes of one text or key
};

// kCorrupt, in words that repeat nothing of the input but its keys.
Result<nlohmann::json> ParseJson(std::string_view text, const JsonLimits& limits = {});
// Never throws: bytes that are no UTF-8 are replaced. `indent` < 0: one line.
std::string DumpJson(const nlohmann::json& json, int indent = -1);
// Not-a-number and infinities have no JSON form; null and two strings stand for them.
nlohmann::json NumberToJson(double value);

}  // namespace warpwright::base

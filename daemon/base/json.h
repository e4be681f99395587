// Text to JSON and back; JSON is parsed nowhere else. The input is untrusted: it is bounded while it is read
// (nlohmann's SAX interface); duplicate keys in an object are errors, and so are bytes that are not UTF-8. Values are
// read from and written to JSON by base/json_codec.h.
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
  size_t values = size_t{16} << 20;  // objects, lists and their elements
  size_t text = size_t{256} << 20;   // bytes of one text or key
};

// kCorrupt on failure; the message repeats nothing of the input but its keys.
Result<nlohmann::json> ParseJson(std::string_view text, const JsonLimits& limits = {});
// Never throws: bytes that are not UTF-8 are replaced. `indent` < 0: one line.
std::string DumpJson(const nlohmann::json& json, int indent = -1);
// NaN and infinities have no JSON form: NaN becomes null, the infinities become two strings.
nlohmann::json NumberToJson(double value);

}  // namespace warpwright::base

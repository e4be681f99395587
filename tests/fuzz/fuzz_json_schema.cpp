// A schema, and an answer behind a line feed: no crash; what providers get of a schema is a schema, and an answer that
// is accepted is accepted again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "llm/json_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpwright;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), size);
  const auto schema = llm::JsonSchema::Parse(text.substr(0, line));
  const std::string_view answer = text.substr(std::min(line + 1, size));
  if (!schema) {
    if (schema.error().code != ErrorCode::kCorrupt) std::abort();
    (void)llm::FindJson(answer);
    return 0;
  }
  if (!llm::JsonSchema::Parse(schema->Shape().dump())) std::abort();
  const auto taken = llm::TakeStructured(*schema, answer);
  if (!taken) return 0;
  const auto again = llm::TakeStructured(*schema, *taken);
  if (!again || *again != *taken) std::abort();
  return 0;
}

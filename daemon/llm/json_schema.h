// The shape of a structured answer: a small, strict part of JSON Schema, which every provider's structured output
// accepts, and our own check of what came back. Not a library: Debian's brings Qt and Poco along, and none says which
// schemas the providers refuse.
//
// A schema is one of
//   {"type": "object", "properties": {...}, "required": [all of them], "additionalProperties": false}
//   {"type": "array", "items": {...}, "minItems": n, "maxItems": n}
//   {"type": "string", "enum": [...], "minLength": n, "maxLength": n}     lengths in code points
//   {"type": "integer" or "number", "minimum": x, "maximum": x}
//   {"type": "boolean"}
//   {"anyOf": [...]}
// each with an optional "description"; "type": ["string", "null"] and the like for what may be missing. The outermost
// is an object. A model writes properties in the order of the schema: what it should think of first stands first.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::llm {

class JsonSchema {
 public:
  // kCorrupt, with the path, for everything else than the above.
  static Result<JsonSchema> Parse(std::string_view text);

  // The first fault with its path, such as "edits[1].line: 0 is less than 1": a model mends its answer by it.
  Status Check(const nlohmann::json& value) const;
  const nlohmann::ordered_json& document() const { return *document_; }
  // Without the keywords that providers' strict modes refuse (lengths and ranges), which we check ourselves.
  nlohmann::ordered_json Shape() const;

 private:
  explicit JsonSchema(std::shared_ptr<const nlohmann::ordered_json> document) : document_(std::move(document)) {}
  std::shared_ptr<const nlohmann::ordered_json> document_;
};

// The JSON document in an answer: the whole text, or its only fenced block, or the only one that is marked json.
// kCorrupt: none, or several.
Result<nlohmann::json> FindJson(std::string_view answer);
// The same, checked; what comes back is the document on one line.
Result<std::string> TakeStructured(const JsonSchema& schema, std::string_view answer);

}  // namespace warpwright::llm

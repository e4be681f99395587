#include "llm/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"
#include "base/ordered_json.h"
#include "base/utf8.h"

namespace warpwright::llm {
namespace {

using nlohmann::json;
using Schema = nlohmann::ordered_json;

constexpr base::JsonLimits kSchemaLimits{.bytes = 64 << 10, .depth = 32, .values = 4000, .text = 16 << 10};
constexpr base::JsonLimits kAnswerLimits{.bytes = 20 << 20, .depth = 32, .values = 200'000, .text = 4 << 20};

constexpr std::array<std::string_view, 7> kTypes = {"object", "array",   "string", "integer",
                                                    "number", "boolean", "null"};
constexpr std::array<std::string_view, 6> kBounds = {"minItems",  "maxItems", "minLength",
                                                     "maxLength", "minimum",  "maximum"};

tl::unexpected<Error> Wrong(const std::string& path, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, path.empty() ? std::string(what) : fmt::format("{}: {}", path, what));
}

std::string Member(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

// The types that a schema allows; empty: not a known form.
std::vector<std::string> TypesOf(const Schema& schema) {
  std::vector<std::string> types;
  const auto at = schema.find("type");
  if (at == schema.end()) return {};
  const Schema list = at->is_array() ? *at : Schema::array({*at});
  for (const auto& type : list) {
    if (!type.is_string()) return {};
    types.push_back(type.get<std::string>());
  }
  for (const auto& type : types)
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end() ||
        std::count(types.begin(), types.end(), type) > 1)
      return {};
  return types;
}

bool Allows(const Schema& schema, std::string_view type) {
  const auto types = TypesOf(schema);
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string OneLine(const Schema& value) { return base::DumpOrderedJson(value); }

bool IsCount(const Schema& value) { return value.is_number_unsigned() && value.get<uint64_t>() <= 100'000'000; }

// Which type a keyword belongs to; empty: not a keyword.
std::string_view TypeOfKeyword(std::string_view keyword) {
  if (keyword == "properties" || keyword == "required" || keyword == "additionalProperties") return "object";
  if (keyword == "items" || keyword == "minItems" || keyword == "maxItems") return "array";
  if (keyword == "enum" || keyword == "minLength" || keyword == "maxLength") return "string";
  if (keyword == "minimum" || keyword == "maximum") return "number";
  return {};
}

Status CheckSchema(const Schema& schema, const std::string& path);

Status CheckObject(const Schema& schema, const std::string& path) {
  const auto properties = schema.find("properties"), required = schema.find("required"),
             additional = schema.find("additionalProperties");
  if (properties == schema.end() || !properties->is_object() || properties->empty())
    return Wrong(path, "an object needs 'properties'");
  if (additional == schema.end() || !additional->is_boolean() || additional->get<bool>())
    return Wrong(path, "an object needs \"additionalProperties\": false");
  size_t named = 0;
  if (required != schema.end() && required->is_array())
    for (const auto& name : *required) named += name.is_string() && properties->contains(name.get<std::string>());
  if (named != properties->size() || required->size() != named)
    return Wrong(path, "'required' must name every property; let what may be missing be null");
  for (const auto& [name, child] : properties->items()) WW_TRY(CheckSchema(child, Member(path, name)));
  return {};
}

Status CheckKeywords(const Schema& schema, const std::string& path) {
  for (const auto& [keyword, value] : schema.items()) {
    if (keyword == "type") continue;
    if (keyword == "description") {
      if (!value.is_string()) return Wrong(path, "'description' must be text");
      continue;
    }
    const std::string_view type = TypeOfKeyword(keyword);
    if (type.empty()) return Wrong(path, fmt::format("unknown keyword '{}'", keyword.substr(0, 40)));
    if (!Allows(schema, type) && !(type == "number" && Allows(schema, "integer")))
      return Wrong(path, fmt::format("'{}' needs the type {}", keyword, type));
    const bool bound = std::find(kBounds.begin(), kBounds.end(), keyword) != kBounds.end();
    if (bound && !(type == "number" ? value.is_number() : IsCount(value)))
      return Wrong(path, fmt::format("'{}' must be a number", keyword));
    if (keyword == "enum" && (!value.is_array() || value.empty() ||
                              !std::all_of(value.begin(), value.end(), [](const auto& v) { return v.is_string(); })))
      return Wrong(path, "'enum' must be a list of texts");
  }
  return {};
}

Status CheckSchema(const Schema& schema, const std::string& path) {
  if (!schema.is_object()) return Wrong(path, "a schema must be an object");
  if (const auto any = schema.find("anyOf"); any != schema.end()) {
    if (schema.size() > 1 + schema.count("description") || !any->is_array() || any->empty())
      return Wrong(path, "'anyOf' must be a list of schemas, and stand alone");
    for (size_t i = 0; i < any->size(); ++i) WW_TRY(CheckSchema((*any)[i], fmt::format("{}<{}>", path, i)));
    return {};
  }
  if (TypesOf(schema).empty()) return Wrong(path, "'type' must name types of JSON");
  WW_TRY(CheckKeywords(schema, path));
  if (Allows(schema, "object")) WW_TRY(CheckObject(schema, path));
  if (Allows(schema, "array")) {
    if (!schema.contains("items")) return Wrong(path, "an array needs 'items'");
    WW_TRY(CheckSchema(schema["items"], path + "[]"));
  }
  return {};
}

std::string_view TypeName(const json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.is_boolean() ? "boolean" : "null";
}

Status CheckValue(const Schema& schema, const json& value, const std::string& path);

Status CheckCount(const Schema& schema, size_t count, std::string_view low, std::string_view high,
                  std::string_view unit, const std::string& path) {
  if (const auto least = schema.find(low); least != schema.end() && count < least->get<size_t>())
    return Wrong(path, fmt::format("{} {}, fewer than {}", count, unit, least->get<size_t>()));
  if (const auto most = schema.find(high); most != schema.end() && count > most->get<size_t>())
    return Wrong(path, fmt::format("{} {}, more than {}", count, unit, most->get<size_t>()));
  return {};
}

Status CheckMembers(const Schema& schema, const json& value, const std::string& path) {
  const Schema& properties = schema["properties"];
  for (const auto& [name, child] : properties.items())
    if (!value.contains(name)) return Wrong(path, fmt::format("'{}' is missing", name));
  for (const auto& [name, child] : value.items()) {
    if (!properties.contains(name)) return Wrong(path, fmt::format("unknown '{}'", name.substr(0, 40)));
    WW_TRY(CheckValue(properties[name], child, Member(path, name)));
  }
  return {};
}

Status CheckText(const Schema& schema, const std::string& text, const std::string& path) {
  WW_TRY(CheckCount(schema, base::CodePoints(text), "minLength", "maxLength", "characters", path));
  const auto names = schema.find("enum");
  if (names == schema.end() || std::any_of(names->begin(), names->end(), [&](const auto& n) { return n == text; }))
    return {};
  return Wrong(path, fmt::format("'{}' is not one of {}", base::Clip(text, 40), OneLine(*names)));
}

Status CheckNumber(const Schema& schema, double number, const std::string& path) {
  if (const auto least = schema.find("minimum"); least != schema.end() && number < least->get<double>())
    return Wrong(path, fmt::format("{} is less than {}", number, least->get<double>()));
  if (const auto most = schema.find("maximum"); most != schema.end() && number > most->get<double>())
    return Wrong(path, fmt::format("{} is more than {}", number, most->get<double>()));
  return {};
}

Status CheckValue(const Schema& schema, const json& value, const std::string& path) {
  if (const auto any = schema.find("anyOf"); any != schema.end()) {
    Status last;
    for (const Schema& choice : *any) {
      last = CheckValue(choice, value, path);
      if (last) return {};
    }
    return any->size() == 1 ? last : Wrong(path, "satisfies none of the choices; the last: " + last.error().message);
  }
  const std::string_view type = TypeName(value);
  if (!Allows(schema, type) && !(type == "integer" && Allows(schema, "number")))
    return Wrong(path, fmt::format("{} instead of {}", type, OneLine(schema["type"])));
  if (value.is_object()) return CheckMembers(schema, value, path);
  if (value.is_array()) {
    WW_TRY(CheckCount(schema, value.size(), "minItems", "maxItems", "items", path));
    for (size_t i = 0; i < value.size(); ++i)
      WW_TRY(CheckValue(schema["items"], value[i], fmt::format("{}[{}]", path, i)));
    return {};
  }
  if (value.is_string()) return CheckText(schema, value.get_ref<const std::string&>(), path);
  if (value.is_number()) return CheckNumber(schema, value.get<double>(), path);
  return {};
}

void RemoveBounds(Schema& schema) {
  for (const std::string_view keyword : kBounds) schema.erase(std::string(keyword));
  if (schema.contains("properties"))
    for (auto& [name, child] : schema["properties"].items()) RemoveBounds(child);
  if (schema.contains("items")) RemoveBounds(schema["items"]);
  if (schema.contains("anyOf"))
    for (auto& choice : schema["anyOf"]) RemoveBounds(choice);
}

struct Fence {
  std::string language;
  std::string_view content;
};

// Blocks between lines of three or more backticks; the closing line has at least as many and nothing else.
std::vector<Fence> FindFences(std::string_view text) {
  std::vector<Fence> fences;
  size_t ticks = 0, begin = 0;
  std::string language;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const size_t count = std::min(line.find_first_not_of('`'), line.size());
    if (ticks == 0 && count >= 3) {
      ticks = count;
      language = line.substr(count);
      begin = std::min(end + 1, text.size());
    } else if (ticks > 0 && count >= ticks && count == line.size()) {
      fences.push_back({language, text.substr(begin, at - begin)});
      ticks = 0;
    }
    at = end + 1;
  }
  return fences;
}

}  // namespace

Result<JsonSchema> JsonSchema::Parse(std::string_view text) {
  WW_ASSIGN(Schema document, base::ParseOrderedJson(text, kSchemaLimits));
  WW_TRY(CheckSchema(document, ""));
  if (TypesOf(document) != std::vector<std::string>{"object"}) return Wrong("", "the outermost must be an object");
  return JsonSchema(std::make_shared<const Schema>(std::move(document)));
}

Status JsonSchema::Check(const json& value) const { return CheckValue(*document_, value, ""); }

Schema JsonSchema::Shape() const {
  Schema shape = *document_;
  RemoveBounds(shape);
  return shape;
}

Result<json> FindJson(std::string_view answer) {
  auto whole = base::ParseJson(answer, kAnswerLimits);
  if (whole) return whole;
  std::vector<Fence> fences = FindFences(answer);
  const auto marked = [](const Fence& fence) { return fence.language == "json"; };
  if (std::any_of(fences.begin(), fences.end(), marked)) std::erase_if(fences, std::not_fn(marked));
  if (fences.empty()) return Fail(ErrorCode::kCorrupt, "neither JSON nor a fenced block: " + whole.error().message);
  if (fences.size() > 1)
    return Fail(ErrorCode::kCorrupt, fmt::format("{} fenced blocks instead of one", fences.size()));
  return base::ParseJson(fences.front().content, kAnswerLimits);
}

Result<std::string> TakeStructured(const JsonSchema& schema, std::string_view answer) {
  WW_ASSIGN(const json value, FindJson(answer));
  WW_TRY(schema.Check(value));
  return base::DumpJson(value);
}

}  // namespace warpwright::llm

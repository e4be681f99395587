#include "llm/json_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

using nlohmann::json;

std::string Object(const std::string& property) {
  return R"({"type":"object","properties":{"a":)" + property + R"(},"required":["a"],"additionalProperties":false})";
}

TEST(JsonSchema, RefusesWhatProvidersMayRefuse) {
  const struct {
    std::string schema, message;
  } rows[] = {
      {"[]", "a schema must be an object"},
      {"{", "not JSON"},
      {R"({"type":"string"})", "the outermost must be an object"},
      {R"({"type":["object","null"],"properties":{"a":{"type":"null"}},"required":["a"],"additionalProperties":false})",
       "the outermost must be an object"},
      {R"({"type":"object"})", "an object needs 'properties'"},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})", "additionalProperties"},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false})",
       "'required' must name every property"},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false})",
       "'required' must name every property"},
      {Object("{}"), "a: 'type' must name types"},
      {Object(R"({"type":"text"})"), "a: 'type' must name types"},
      {Object(R"({"type":["string","string"]})"), "a: 'type' must name types"},
      {Object(R"({"type":"string","pattern":"x"})"), "a: unknown keyword 'pattern'"},
      {Object(R"({"type":"string","minimum":1})"), "a: 'minimum' needs the type number"},
      {Object(R"({"type":"integer","enum":[1]})"), "a: 'enum' needs the type string"},
      {Object(R"({"type":"string","enum":[]})"), "a: 'enum' must be a list of texts"},
      {Object(R"({"type":"string","maxLength":-1})"), "a: 'maxLength' must be a number"},
      {Object(R"({"type":"array"})"), "a: an array needs 'items'"},
      {Object(R"({"type":"array","items":{"type":"x"}})"), "a[]: 'type' must name types"},
      {Object(R"({"anyOf":[]})"), "a: 'anyOf' must be a list"},
      {Object(R"({"anyOf":[{"type":"string"}],"type":"string"})"),
       "a: 'anyOf' must be a list of schemas, and stand alone"},
  };
  for (const auto& row : rows) {
    const auto schema = llm::JsonSchema::Parse(row.schema);
    ASSERT_FALSE(schema) << row.schema;
    EXPECT_NE(schema.error().message.find(row.message), std::string::npos)
        << row.schema << ": " << schema.error().message;
  }
}

TEST(JsonSchema, SaysWhatIsWrongAndWhere) {
  const auto schema = llm::JsonSchema::Parse(R"({"type":"object","properties":{
    "name":{"type":"string","enum":["tile","fuse"],"description":"d"},
    "n":{"type":"integer","minimum":1,"maximum":8},
    "x":{"type":["number","null"]},
    "list":{"type":"array","minItems":1,"maxItems":2,"items":
      {"type":"object","properties":{"t":{"type":"string","minLength":1,"maxLength":3}},"required":["t"],"additionalProperties":false}},
    "any":{"anyOf":[{"type":"boolean"},{"type":"string"}]}},
    "required":["name","n","x","list","any"],"additionalProperties":false})");
  ASSERT_TRUE(schema) << schema.error().message;
  const json good = {{"name", "tile"}, {"n", 3}, {"x", 1}, {"list", {{{"t", "βββ"}}}}, {"any", true}};
  EXPECT_TRUE(schema->Check(good)) << schema->Check(good).error().message;
  const struct {
    json patch;
    std::string message;
  } rows[] = {
      {{{"name", "tiles"}}, R"(name: 'tiles' is not one of ["tile","fuse"])"},
      {{{"name", 1}}, R"(name: integer instead of "string")"},
      {{{"n", 0}}, "n: 0 is less than 1"},
      {{{"n", 9}}, "n: 9 is more than 8"},
      {{{"n", 1.5}}, R"(n: number instead of "integer")"},
      {{{"n", "3"}}, R"(n: string instead of "integer")"},
      {{{"x", "y"}}, R"(x: string instead of ["number","null"])"},
      {{{"list", json::array()}}, "list: 0 items, fewer than 1"},
      {{{"list", {{{"t", "a"}}, {{"t", "a"}}, {{"t", "a"}}}}}, "list: 3 items, more than 2"},
      {{{"list", {{{"t", ""}}}}}, "list[0].t: 0 characters, fewer than 1"},
      {{{"list", {{{"t", "abcd"}}}}}, "list[0].t: 4 characters, more than 3"},
      {{{"list", {{{"u", "a"}}}}}, "list[0]: 't' is missing"},
      {{{"any", 1}}, "any: satisfies none of the choices"},
      {{{"more", 1}}, "unknown 'more'"},
  };
  for (const auto& row : rows) {
    json value = good;
    value.update(row.patch);
    const Status status = schema->Check(value);
    ASSERT_FALSE(status) << row.patch;
    EXPECT_NE(status.error().message.find(row.message), std::string::npos) << status.error().message;
  }
  for (const char* key : {"name", "n", "x", "list", "any"}) {
    json value = good;
    value.erase(key);
    EXPECT_FALSE(schema->Check(value)) << key;
  }
  EXPECT_TRUE(schema->Check(good));
  json null = good;
  null["x"] = nullptr;
  EXPECT_TRUE(schema->Check(null));
}

TEST(JsonSchema, KeepsItsOrderAndLosesItsBoundsForProviders) {
  const auto schema = llm::JsonSchema::Parse(
      R"({"type":"object","properties":{"z":{"type":"integer","minimum":1},"a":{"type":"array","items":{"type":"string","maxLength":3},"minItems":1},"m":{"anyOf":[{"type":"number","maximum":2}]}},"required":["z","a","m"],"additionalProperties":false})");
  ASSERT_TRUE(schema);
  EXPECT_EQ(
      schema->Shape().dump(),
      R"({"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"array","items":{"type":"string"}},"m":{"anyOf":[{"type":"number"}]}},"required":["z","a","m"],"additionalProperties":false})");
}

TEST(FindJson, TakesWhatModelsWrite) {
  const struct {
    const char* what;
    std::string text;
    const char* expected;  // nullptr: none
  } rows[] = {
      {"alone", " {\"a\":1}\n", R"({"a":1})"},
      {"fenced", "```json\n{\"a\":1}\n```", R"({"a":1})"},
      {"fenced without a name", "Here:\n```\n{\"a\":1}\n```\nDone.", R"({"a":1})"},
      {"beside another block", "```cuda\nx\n```\n```json\n{\"a\":1}\n```", R"({"a":1})"},
      {"with a fence in it", "````json\n{\"a\":\"```\"}\n````", R"({"a":"```"})"},
      {"indented, CR LF", "  ```json\r\n{\"a\":1}\r\n  ```\r\n", R"({"a":1})"},
      {"two", "```json\n{}\n```\n```json\n{}\n```", nullptr},
      {"open", "```json\n{\"a\":1}", nullptr},
      {"none", "I would tile it.", nullptr},
      {"twice the key", "{\"a\":1,\"a\":2}", nullptr},
      {"empty", "", nullptr},
  };
  for (const auto& row : rows) {
    const auto found = llm::FindJson(row.text);
    EXPECT_EQ(found.has_value(), row.expected != nullptr) << row.what;
    if (found && row.expected != nullptr) {
      EXPECT_EQ(found->dump(), row.expected) << row.what;
    }
  }
}

}  // namespace
}  // namespace warpwright

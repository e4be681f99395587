#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/ordered_json.h"

namespace warpwright {
namespace {

TEST(ParseJson, TakesWhatIsJson) {
  const char* const texts[] = {"null",
                               "true",
                               "-1",
                               "18446744073709551615",
                               "0.5",
                               "\"t\\u00f6\"",
                               "[]",
                               "{}",
                               " [1, {\"a\": [], \"b\": {\"a\": 2}}, null] "};
  for (const char* text : texts) {
    const auto json = base::ParseJson(text);
    ASSERT_TRUE(json) << text << ": " << json.error().message;
    EXPECT_EQ(*json, nlohmann::json::parse(text));
  }
}

TEST(ParseJson, RefusesWithAReason) {
  const base::JsonLimits limits{.bytes = 60, .depth = 3, .values = 5, .text = 4};
  const std::pair<std::string, const char*> rows[] = {
      {"", "not JSON at byte 1"},
      {"{", "not JSON at byte 2"},
      {"[1] 2", "not JSON at byte 5"},
      {"nul", "not JSON at byte 4"},
      {"\"\xff\"", "not JSON at byte 2"},
      {"[1e999]", "not JSON at byte"},
      {std::string(61, ' '), "JSON of more than 60 bytes"},
      {"[[[[]]]]", "more than 3 levels"},
      {"[1,2,3,4,5]", "more than 5 values"},
      {"\"12345\"", "a text of more than 4 bytes"},
      {"{\"12345\": 1}", "a key of more than 4 bytes"},
      {"{\"a\": 1, \"a\": 2}", "the key 'a' twice in one object"},
      {"{\"a\": {\"b\": 1, \"b\": 2}}", "the key 'b' twice in one object"},
  };
  for (const auto& [text, message] : rows) {
    const auto json = base::ParseJson(text, limits);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(json.error().message.starts_with(message)) << json.error().message << " / " << message;
  }
  EXPECT_TRUE(base::ParseJson("[[1,2]]", limits));
}

TEST(ParseOrderedJson, KeepsTheOrderWithinTheSameLimits) {
  const auto json = base::ParseOrderedJson(R"({"z":[{"b":1,"a":{"y":2,"x":3}}],"a":null})", {});
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->dump(), R"({"z":[{"b":1,"a":{"y":2,"x":3}}],"a":null})");
  for (const char* bad : {R"({"a":1,"b":2,"a":3})", "{", "\"\xff\"", "[[[[1]]]]"})
    EXPECT_EQ(base::ParseOrderedJson(bad, {.depth = 3}).error().code, ErrorCode::kCorrupt) << bad;
}

TEST(ParseJson, DeepNestsEndEarly) {
  // NOLINTNEXTLINE(bugprone-string-constructor): longer than any real one
  EXPECT_FALSE(base::ParseJson(std::string(10'000'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(base::ParseJson(objects));
}

TEST(DumpJson, NeverThrows) {
  EXPECT_EQ(base::DumpJson({{"a", "caf\xe9"}}), "{\"a\":\"caf\xef\xbf\xbd\"}");
  EXPECT_EQ(base::DumpJson({{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

TEST(NumberToJson, HasAFormForEveryNumber) {
  EXPECT_EQ(base::NumberToJson(0.5), 0.5);
  EXPECT_EQ(base::NumberToJson(std::nan("")), nullptr);
  EXPECT_EQ(base::NumberToJson(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(base::NumberToJson(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace warpwright

#include "config/yaml_reader.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(YamlReader, KeepsPlacesOrderAndQuotes) {
  auto root = config::ParseYaml("b: [1, \"2\"]\na:\n  k: text\n  n:\n", "m.yml");
  ASSERT_TRUE(root) << root.error().Format();
  ASSERT_EQ(root->entries().size(), 2u);
  EXPECT_EQ(root->entries()[0].first.text(), "b");
  const config::YamlNode& list = root->entries()[0].second;
  ASSERT_EQ(list.items().size(), 2u);
  EXPECT_EQ(*list.items()[0].AsInteger(), 1);
  EXPECT_FALSE(list.items()[1].AsInteger());
  EXPECT_EQ(*list.items()[1].AsString(), "2");
  const config::YamlNode* k = root->Find("a")->Find("k");
  EXPECT_EQ(k->line(), 3);
  EXPECT_EQ(k->column(), 6);
  EXPECT_EQ(k->path(), "m.yml");
  EXPECT_TRUE(root->Find("a")->Find("n")->IsNull());
}

struct Refused {
  const char* name;
  std::string text;
  const char* message;
  int line;
};
class YamlRefuses : public testing::TestWithParam<Refused> {};

TEST_P(YamlRefuses, WithPlace) {
  auto root = config::ParseYaml(GetParam().text, "m.yml");
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().code, ErrorCode::kConfig);
  EXPECT_NE(root.error().message.find(GetParam().message), std::string::npos) << root.error().Format();
  EXPECT_EQ(root.error().line, GetParam().line) << root.error().Format();
  EXPECT_EQ(root.error().file, "m.yml");
}

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

INSTANTIATE_TEST_SUITE_P(
    All, YamlRefuses,
    testing::Values(
        Refused{"anchor", "a: 1\nb: &x 2\n", "anchors", 2}, Refused{"alias", "a: &x 1\nb: *x\n", "anchors", 1},
        Refused{"unknown_alias", "b: *x\n", "anchor", 1}, Refused{"tag", "a: !!int 1\n", "tags", 1},
        Refused{"map_tag", "a: !m {}\n", "tags", 1}, Refused{"merge", "a: 1\n<<: {b: 2}\n", "merge keys", 2},
        Refused{"duplicate", "a: 1\nb: 2\na: 3\n", "duplicate key 'a'", 3}, Refused{"deep", Nested(21), "levels", 1},
        Refused{"very_deep", Nested(100000), "levels", 1},
        Refused{"second_document", "a: 1\n---\nb: 2\n", "second document", 3}, Refused{"empty", "", "empty", 1},
        Refused{"only_comment", "# nothing\n", "empty", 1}, Refused{"utf8", "a: 1\nb: \xff\n", "UTF-8", 2},
        Refused{"overlong", "a: \xc0\xaf", "UTF-8", 1}, Refused{"surrogate", "a: \xed\xa0\x80", "UTF-8", 1},
        Refused{"nul", std::string("a: \0", 4), "control", 1},
        Refused{"escaped_nul", "a: 1\nb: \"x\\0y\"\n", "control", 2}, Refused{"key_is_list", "[a]: 1\n", "key", 1},
        Refused{"null_key", "~: 1\n", "key", 1}, Refused{"syntax", "a: [1, 2\nb: 3\n", "", 2},
        Refused{"large", "a: " + std::string(300 << 10, 'x'), "bytes", 0}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(YamlReader, AcceptsTwentyLevels) { EXPECT_TRUE(config::ParseYaml(Nested(20), "m.yml")); }

TEST(YamlReader, NumbersAndBooleans) {
  auto root =
      config::ParseYaml("[10, -3, 1.5, 2e-3, 0x10, 1_000, .inf, true, yes, 99999999999999999999, '7']", "m.yml");
  ASSERT_TRUE(root);
  const auto& items = root->items();
  EXPECT_EQ(*items[0].AsInteger(), 10);
  EXPECT_EQ(*items[1].AsInteger(), -3);
  EXPECT_FALSE(items[2].AsInteger());
  EXPECT_EQ(*items[2].AsDouble(), 1.5);
  EXPECT_EQ(*items[3].AsDouble(), 2e-3);
  EXPECT_FALSE(items[4].AsInteger());
  EXPECT_FALSE(items[5].AsInteger());
  EXPECT_FALSE(items[6].AsDouble());
  EXPECT_TRUE(*items[7].AsBool());
  EXPECT_FALSE(items[8].AsBool());
  EXPECT_NE(items[9].AsInteger().error().message.find("64 bits"), std::string::npos);
  EXPECT_FALSE(items[10].AsInteger());
}

TEST(YamlObject, ReportsEveryErrorWithTheNearestKey) {
  auto root = config::ParseYaml("shpe: [N]\nqqqqqq: 1\norder: 200\n", "m.yml");
  ASSERT_TRUE(root);
  config::Diagnostics diagnostics;
  config::YamlObject map(*root, "a method", {"id", "shape", "order"}, diagnostics);
  EXPECT_EQ(map.String("id"), "");
  EXPECT_EQ(map.IntegerOr("order", 7, 0, 100), 0);
  ASSERT_EQ(diagnostics.size(), 4u);
  EXPECT_EQ(diagnostics.errors()[0].message, "unknown key 'shpe'; did you mean 'shape'?");
  EXPECT_EQ(diagnostics.errors()[0].line, 1);
  EXPECT_FALSE(diagnostics.errors()[0].remedy.empty());
  EXPECT_EQ(diagnostics.errors()[1].message, "unknown key 'qqqqqq'");
  EXPECT_EQ(diagnostics.errors()[2].message, "a method needs the key 'id'");
  EXPECT_EQ(diagnostics.errors()[3].line, 3);
  std::string all = diagnostics.ToStatus().error().Format();
  for (const char* part :
       {"m.yml:1:1: unknown key 'shpe'", "m.yml:2:1: unknown key 'qqqqqq'", "needs the key 'id'", "m.yml:3:8:"})
    EXPECT_NE(all.find(part), std::string::npos) << all;
}

TEST(NearestName, TranspositionsAndNothingNear) {
  constexpr std::string_view names[] = {"shape", "role", "init"};
  EXPECT_EQ(config::NearestName("sahpe", names), "shape");
  EXPECT_EQ(config::NearestName("rol", names), "role");
  EXPECT_EQ(config::NearestName("launch", names), std::nullopt);
  EXPECT_EQ(config::NearestName(std::string(100000, 'x'), names), std::nullopt);
}

}  // namespace
}  // namespace warpwright

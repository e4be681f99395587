#include "config/yaml_text.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"

namespace warpwright {
namespace {

TEST(YamlText, ComesBackFromWhereverItIsWritten) {
  for (const std::string text : {"plain",
                                 "src/include",
                                 "a b",
                                 "",
                                 "null",
                                 "~",
                                 "true",
                                 "- x",
                                 "-x",
                                 ".",
                                 "?",
                                 "a: b",
                                 "# no comment",
                                 "say \"it\"",
                                 "it's",
                                 "C:\\folder\\",
                                 "first\nsecond\r\n",
                                 "tab\there",

                                 "a, b",
                                 "[a]",
                                 "{a: b}",
                                 "*x",
                                 "&x",
                                 "%x",
                                 "@x",
                                 "caf\u00e9",
                                 " padded ",
                                 "1.5"})
    for (const std::string& written : {config::QuotedYaml(text), config::YamlScalar(text)})
      for (const std::string& document :
           {"key: " + written + "\n", "{key: " + written + ", other: 1}\n", "key: [" + written + "]\n"}) {
        EXPECT_EQ(written.find('\n'), std::string::npos);
        const auto root = config::ParseYaml(document, "a.yml");
        ASSERT_TRUE(root) << document << root.error().Format();
        const config::YamlNode* node = root->Find("key");
        ASSERT_NE(node, nullptr) << document;
        if (node->kind() == config::YamlNode::Kind::kList) {
          ASSERT_EQ(node->items().size(), 1u) << document;
          node = &node->items()[0];
        }
        EXPECT_TRUE(node->IsScalar()) << document;
        EXPECT_EQ(node->text(), text) << document;
      }
}

// Our own reader refuses them, so that nothing hides; other readers see what they are.
TEST(YamlText, EscapesControlCharacters) { EXPECT_EQ(config::QuotedYaml("\x01\x1b\x7f"), R"("\x01\x1b\x7f")"); }

TEST(YamlText, IsPlainWhereItCan) {
  for (const char* text : {"src/include", "lib-1.2", "TILE_32", "7"}) EXPECT_EQ(config::YamlScalar(text), text);
  EXPECT_EQ(config::YamlScalar("f(1) \"a\""), "\"f(1) \\\"a\\\"\"");
}

}  // namespace
}  // namespace warpwright

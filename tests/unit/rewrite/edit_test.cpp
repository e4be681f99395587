#include "rewrite/edit.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(Edits, AppliedInOrderOfPlace) {
  rewrite::Edits edits;
  edits.Replace(6, 11, "there");
  edits.Insert(0, ">> ");
  edits.Insert(11, "!");
  EXPECT_EQ(*edits.Apply("hello world\r\n\tx"), ">> hello there!\r\n\tx");
}

TEST(Edits, InsertionsAtOnePlaceKeepTheirOrder) {
  rewrite::Edits edits;
  edits.Insert(1, "1");
  edits.Insert(1, "2");
  EXPECT_EQ(*edits.Apply("ab"), "a12b");
}

TEST(Edits, OverlapsAndPlacesOutsideAreErrors) {
  rewrite::Edits overlap;
  overlap.Replace(0, 3, "x");
  overlap.Replace(2, 4, "y");
  EXPECT_FALSE(overlap.Apply("abcdef"));
  rewrite::Edits outside;
  outside.Replace(4, 9, "x");
  EXPECT_FALSE(outside.Apply("abcdef"));
}

TEST(Edits, TheSameEditTwiceIsOne) {
  rewrite::Edits edits;
  edits.Replace(1, 2, "x");
  edits.Replace(1, 2, "x");
  EXPECT_EQ(*edits.Apply("abc"), "axc");
}

TEST(Edits, OfAPartOfTheText) {
  rewrite::Edits edits;
  edits.Replace(2, 3, "X");
  EXPECT_EQ(*edits.ApplyWithin("abcdef", 1, 5), "bXde");
}

TEST(Indentation, FollowsTheFile) {
  EXPECT_EQ(rewrite::IndentUnit("void f() {\n    int a;\n        b;\n}\n"), "    ");
  EXPECT_EQ(rewrite::IndentUnit("void f() {\n\tint a;\n}\n"), "\t");
  EXPECT_EQ(rewrite::IndentUnit("void f() {\n  int a;\n}\n"), "  ");
  EXPECT_EQ(rewrite::IndentUnit("/*\n * comment\n */\nint a;\n"), "  ");
  EXPECT_EQ(rewrite::IndentAt("a\n   b c\n", 6), "   ");
}

TEST(Indentation, ReindentsLevelsAndKeepsDirectivesAtTheMargin) {
  EXPECT_EQ(rewrite::Indented("if (a) {\n  b;\n#pragma unroll\n\n    c;\n}", "    ", "\t"),
            "    if (a) {\n    \tb;\n#pragma unroll\n\n    \t\tc;\n    }");
  EXPECT_EQ(rewrite::Indented("a\nb", "  ", "  ", false), "a\n  b");
}

TEST(Indentation, DedentBringsTextOfTheFileToTwoSpaces) {
  EXPECT_EQ(rewrite::Dedented("for (;;) {\n        a;\n            b;\n    }", "    "), "for (;;) {\n  a;\n    b;\n}");
  EXPECT_EQ(rewrite::Dedented("one line", "    "), "one line");
}

TEST(Edits, ADeclarationIsFoundWithItsDescription) {
  const struct {
    std::string_view before, with;
  } rows[] = {
      {"int a;\n", ""},
      {"int a;\n\n", "// b\n  // c\n"},
      {"int a;\n", "/* b */\n"},
      {"int a;\n", "/* b\n * c\n */\n"},
      {"", "/* b\n   c */\n// d\n"},
      {"// of the file\n\n", "// b\n/* c */\n"},
      {"int a; /* b\n * c */\n", ""},
      {"int a;  // b\n", ""},
      {"// b\n\n", ""},
  };
  for (const auto& row : rows) {
    const std::string text = std::string(row.before) + std::string(row.with) + "void f();\n";
    EXPECT_EQ(rewrite::WithLeadingComment(text, static_cast<uint32_t>(text.find("void f"))), row.before.size()) << text;
  }
}

}  // namespace
}  // namespace warpwright

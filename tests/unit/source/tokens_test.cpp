#include "source/tokens.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

std::vector<std::string> Texts(std::string_view text) {
  std::vector<std::string> out;
  for (const source::Token& token : source::Lex(text)) out.emplace_back(token.text);
  return out;
}

TEST(Tokens, SplitLaunchesLiteralsAndNumbers) {
  EXPECT_EQ(Texts("k<<<g, 1e+3f>>>(a->b, x::y); // z"),
            (std::vector<std::string>{"k", "<<<", "g", ",", "1e+3f", ">>>", "(", "a", "->", "b", ",", "x", "::", "y",
                                      ")", ";"}));
  EXPECT_EQ(Texts("\"a\\\"b//\" 'x' R\"d()\" )d\" 1'000"),
            (std::vector<std::string>{"\"a\\\"b//\"", "'x'", "R\"d()\" )d\"", "1'000"}));
}

TEST(Tokens, MarkDirectivesWithTheirContinuations) {
  const auto tokens = source::Lex("int a;\n#define F(x) \\\n  x + 1\nint b;\n");
  ASSERT_EQ(tokens.size(), 15u);
  EXPECT_FALSE(tokens[2].in_directive);
  EXPECT_TRUE(tokens[3].in_directive && tokens[3].starts_line);
  EXPECT_TRUE(tokens[11].in_directive);
  EXPECT_EQ(tokens[11].line, 3);
  EXPECT_FALSE(tokens[12].in_directive);
}

TEST(Tokens, SeesThroughContinuedLines) {
  EXPECT_EQ(Texts("/* *\\\n/ a\n/\\\n/ b\n// c \\ \n d\ne"), (std::vector<std::string>{"a", "e"}));
  EXPECT_EQ(Texts("R\"(\n)\\\n\")\" x"),
            (std::vector<std::string>{"R\"(\n)\\\n\")\"", "x"}));  // nothing is joined there
  const auto tokens = source::Lex("#inc\\\nlude \"a\\\r\nb\"\nint x\\y;");
  ASSERT_EQ(tokens.size(), 8u);
  EXPECT_TRUE(tokens[1].spliced);
  EXPECT_EQ(source::Spelling(tokens[1]), "include");
  EXPECT_EQ(source::Spelling(tokens[2]), "\"ab\"");
  EXPECT_EQ(tokens[2].line, 2);
  EXPECT_TRUE(tokens[2].in_directive);
  EXPECT_FALSE(tokens[4].spliced);
  EXPECT_EQ(tokens[3].line, 4);
}

TEST(Tokens, ReadDigraphsAsWhatTheyStandFor) {
  EXPECT_EQ(Texts("%:define A %:%: B\nint a<:1:> = <%1%>; f<::T>()"),
            (std::vector<std::string>{"#", "define", "A", "##", "B", "int", "a",  "[", "1", "]", "=",
                                      "{", "1",      "}", ";",  "f", "<",   "::", "T", ">", "(", ")"}));
  EXPECT_TRUE(source::Lex("%:define A")[0].OpensDirective());
}

TEST(Tokens, NormalizedTextIgnoresCommentsAndSpaceOnly) {
  EXPECT_EQ(source::NormalizedText("int  a /* x */ = 1;\n\n// y\nint b;"), source::NormalizedText("int a = 1; int b;"));
  EXPECT_NE(source::NormalizedText("int a = 1;"), source::NormalizedText("int a = 2;"));
  EXPECT_NE(source::NormalizedText("#define A 1\nint b;"), source::NormalizedText("#define A 1 int b;"));
}

TEST(Tokens, UnterminatedInputEnds) {
  for (const char* text : {"\"abc", "/* abc", "'", "R\"(abc", "#", "\\", "R\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    source::Lex(text);
  const auto tokens = source::Lex("f(a, (b)");
  EXPECT_EQ(source::MatchingBracket(tokens, 1), tokens.size());
}

}  // namespace
}  // namespace warpwright

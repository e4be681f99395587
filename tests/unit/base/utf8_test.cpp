#include "base/utf8.h"

#include <gtest/gtest.h>

#include "base/shell.h"

namespace warpwright {
namespace {

TEST(Utf8, DecodesWellFormedCharactersOnly) {
  const struct {
    std::string_view bytes;
    uint32_t code;
    size_t length;
  } rows[] = {{"a", 'a', 1},
              {std::string_view("\0", 1), 0, 1},
              {"\x7f", 0x7f, 1},
              {"\xc2\x80", 0x80, 2},
              {"\xdf\xbf", 0x7ff, 2},
              {"\xe0\xa0\x80", 0x800, 3},
              {"\xed\x9f\xbf", 0xd7ff, 3},
              {"\xee\x80\x80", 0xe000, 3},
              {"\xf0\x90\x80\x80", 0x10000, 4},
              {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
              // a lone continuation byte, overlong forms, surrogates, beyond the last code point, truncated and
              // interrupted sequences
              {"\x80", 0, 0},
              {"\xc0\xaf", 0, 0},
              {"\xc1\xbf", 0, 0},
              {"\xe0\x9f\xbf", 0, 0},
              {"\xed\xa0\x80", 0, 0},
              {"\xf0\x8f\xbf\xbf", 0, 0},
              {"\xf4\x90\x80\x80", 0, 0},
              {"\xf5\x80\x80\x80", 0, 0},
              {"\xff", 0, 0},
              {"\xe2\x82", 0, 0},
              {"\xe2\x28\xa1", 0, 0}};
  for (const auto& row : rows) {
    const base::Character c = base::DecodeUtf8(row.bytes, 0);
    EXPECT_EQ(c.code, row.code) << testing::PrintToString(row.bytes);
    EXPECT_EQ(c.length, row.length) << testing::PrintToString(row.bytes);
  }
  EXPECT_EQ(base::DecodeUtf8("a\xc3\xa9", 1).code, 0xe9u);
}

TEST(Utf8, MakesAndCleansText) {
  EXPECT_EQ(base::ValidUtf8("a\xff\xe2\x82z\xc3\xa9"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xc3\xa9");
  EXPECT_EQ(base::CleanText("a\x1b[0m\nb\tc\xe2\x80\xae\xc2\x9b\xff", 100),
            "a [0m b c\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(base::CleanText("a\nb\tc\r", 100, true), "a\nb\tc ");
  EXPECT_EQ(base::CleanText("a\xc3\xa9z", 2), "a\xe2\x80\xa6");
}

TEST(Utf8, IsMadeVisibleOnATerminal) {
  EXPECT_EQ(base::Printable("a\tb\n\x1b[0m\x7f \"\\\" \xc3\xa9"), "a\tb\\x0a\\x1b[0m\\x7f \"\\\" \xc3\xa9");
  EXPECT_EQ(base::Printable("\x9b"
                            "0m \xc2\x9b"
                            "0m \xe2\x80\xae"),
            "\\x9b0m \\u009b0m \\u202e");
}

TEST(Utf8, CountsAndCutsByCharacter) {
  EXPECT_EQ(base::CodePoints("a\xc3\xa9\xf0\x9f\x98\x80"), 3u);
  EXPECT_EQ(base::Clip("a\xc3\xa9z", 3), "a\xc3\xa9z");
  EXPECT_EQ(base::Clip("a\xc3\xa9zz", 3), "a\xc3\xa9\xe2\x80\xa6");
  EXPECT_EQ(base::CutAtCharacter("a\xc3\xa9", 2), "a");
  EXPECT_EQ(base::CutAtCharacter("a\xc3\xa9", 3), "a\xc3\xa9");
}

TEST(Shell, QuotesWords) {
  const struct {
    const char *word, *quoted, *readable;
  } rows[] = {{"a/b.cu", "'a/b.cu'", "a/b.cu"},
              {"", "''", "''"},
              {"-x", "'-x'", "'-x'"},
              {"a b", "'a b'", "'a b'"},
              {"it's", "'it'\\''s'", "'it'\\''s'"}};
  for (const auto& row : rows) {
    EXPECT_EQ(base::ShellQuote(row.word), row.quoted);
    EXPECT_EQ(base::ShellWord(row.word), row.readable);
  }
}

}  // namespace
}  // namespace warpwright

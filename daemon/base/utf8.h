// Untrusted text as UTF-8: the only decoder, and the functions that count, cut and clean with it. Forges and JSON
// reject a truncated character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpwright::base {

struct Character {
  uint32_t code = 0;
  size_t length = 0;  // in bytes; 0: the bytes at that position are not UTF-8
};
// The character at `at`, which must be within the text. Overlong forms, surrogates and codes beyond U+10FFFF are not
// UTF-8.
Character DecodeUtf8(std::string_view text, size_t at);

// Characters that invisibly reorder, hide or join text, or end a line unexpectedly: C1 controls, bidirectional
// controls, zero-width, tag and private-use characters. C0 controls and DEL are not among them.
bool IsDeceptive(uint32_t code);

// Bytes that are not UTF-8 become U+FFFD, one for each byte.
std::string ValidUtf8(std::string_view bytes);
// Valid UTF-8 in which nothing is hidden: control characters become spaces (line feeds and tabs are kept if `lines` is
// set), and deceptive characters and bytes that are not UTF-8 become U+FFFD. At most `max_bytes`, cut at a character
// boundary with an ellipsis.
std::string CleanText(std::string_view text, size_t max_bytes, bool lines = false);

// For a terminal: makes control characters, escape sequences, deceptive characters and bytes that are not UTF-8
// visible.
std::string Printable(std::string_view text);

size_t CodePoints(std::string_view utf8);
// At most `limit` code points; in a shortened text the last one is an ellipsis.
std::string Clip(std::string_view utf8, size_t limit);
// The longest prefix of at most `bytes` that ends with a complete character.
std::string_view CutAtCharacter(std::string_view utf8, size_t bytes);

}  // namespace warpwright::base

// Text that others wrote, as UTF-8: the one decoder, and what counts, cuts and cleans by it. Forges and JSON refuse
// half a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpwright::base {

struct Character {
  uint32_t code = 0;
  size_t length = 0;  // in bytes; 0: what stands there is not UTF-8
};
// The character at `at`, which lies within the text. Overlong forms, surrogates and codes beyond U+10FFFF are not
// UTF-8.
Character DecodeUtf8(std::string_view text, size_t at);

// Turns, hides or joins text without being seen, or ends a line where nobody expects it: C1 controls, bidirectional
// ones, zero-width, tag and private characters. C0 controls and DEL are not among them.
bool IsDeceptive(uint32_t code);

// Bytes that are no UTF-8 become U+FFFD, one for each byte.
std::string ValidUtf8(std::string_view bytes);
// Valid UTF-8 in which nothing is hidden: control characters become spaces (line feeds and tabs stay where `lines` says
// so), and what is deceptive or no UTF-8 becomes U+FFFD. At most `max_bytes`, cut at a character's border with an
// ellipsis.
std::string CleanText(std::string_view text, size_t max_bytes, bool lines = false);

// For a terminal: control characters, escape sequences, what is deceptive and what is no UTF-8 made visible.
std::string Printable(std::string_view text);

size_t CodePoints(std::string_view utf8);
// At most `limit` code points; of a longer text the last one is an ellipsis.
std::string Clip(std::string_view utf8, size_t limit);
// The longest beginning of at most `bytes` that ends with a whole character.
std::string_view CutAtCharacter(std::string_view utf8, size_t bytes);

}  // namespace warpwright::base

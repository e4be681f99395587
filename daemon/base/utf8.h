// Cutting text of UTF-8 without leaving half a character, which forges and JSON refuse.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpwright {

// The longest beginning of at most `bytes` that ends with a whole character.
inline std::string_view CutAtCharacter(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace warpwright

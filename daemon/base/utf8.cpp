#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "…";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

Character DecodeUtf8(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[at + i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return {};
  uint32_t code = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[at + i])) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length};
}

bool IsDeceptive(uint32_t c) {
  return (c >= 0x80 && c < 0xa0) || c == 0xad || c == 0x34f || c == 0x61c || c == 0x115f || c == 0x1160 ||
         c == 0x17b4 || c == 0x17b5 || (c >= 0x180b && c <= 0x180f) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0x3164 || (c >= 0xfe00 && c <= 0xfe0f) ||
         c == 0xfeff || c == 0xffa0 || (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff) ||
         (c >= 0xe000 && c <= 0xf8ff);
}

std::string ValidUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = DecodeUtf8(bytes, at).length;
    text += length == 0 ? kReplacement : bytes.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return text;
}

std::string CleanText(std::string_view text, size_t max_bytes, bool lines) {
  const std::string_view kept = CutAtCharacter(text, max_bytes);
  std::string out;
  out.reserve(kept.size());
  for (size_t at = 0; at < kept.size();) {
    const Character c = DecodeUtf8(kept, at);
    if (c.length == 1 && IsControl(kept[at])) out += lines && (kept[at] == '\n' || kept[at] == '\t') ? kept[at] : ' ';
    else out += c.length == 0 || IsDeceptive(c.code) ? kReplacement : kept.substr(at, c.length);
    at += std::max<size_t>(c.length, 1);
  }
  if (kept.size() < text.size()) out += kEllipsis;
  return out;
}

std::string Printable(std::string_view text) {
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const auto [code, length] = DecodeUtf8(text, at);
    if (length == 0 || (IsControl(text[at]) && code != '\t'))
      clean += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else if (IsDeceptive(code)) clean += fmt::format("\\u{:04x}", code);
    else clean += text.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return clean;
}

size_t CodePoints(std::string_view utf8) {
  return utf8.size() - static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), IsContinuation));
}

std::string Clip(std::string_view utf8, size_t limit) {
  if (utf8.size() <= limit || CodePoints(utf8) <= limit) return std::string(utf8);
  size_t end = 0;
  for (size_t points = 0; end < utf8.size(); ++end)
    if (!IsContinuation(utf8[end]) && ++points == limit) break;
  return std::string(utf8.substr(0, end)) + std::string(kEllipsis);
}

std::string_view CutAtCharacter(std::string_view utf8, size_t bytes) {
  if (utf8.size() <= bytes) return utf8;
  while (bytes > 0 && IsContinuation(utf8[bytes])) --bytes;
  return utf8.substr(0, bytes);
}

}  // namespace warpwright::base

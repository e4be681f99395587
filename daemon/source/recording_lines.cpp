#include "source/recording_lines.h"

#include <fmt/core.h>

#include "base/json_codec.h"
#include "source/recording_lines_fields.h"

namespace warpwright::source {
Result<HexBytes> HexBytes::Parse(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  HexBytes result;
  result.bytes.resize(text.size() / 2);
  bool valid = text.size() % 2 == 0;
  for (size_t i = 0; valid && i < result.bytes.size(); ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    if (valid) result.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  if (!valid) return Fail(ErrorCode::kCorrupt, "not pairs of hexadecimal digits");
  return result;
}
std::string HexBytes::text() const {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

Result<RecordingLine> DecodeRecordingLine(std::string_view line) { return base::DecodeJson<RecordingLine>(line); }

}  // namespace warpwright::source

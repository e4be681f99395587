#include "http/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warpwright::http {
namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return fold(x) == fold(y); });
}

BodyLength Refused(int status, std::string_view reason) { return {.refusal = ErrorResponse(status, reason)}; }

}  // namespace

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (SameIgnoringCase(key, name)) return value;
  return std::nullopt;
}

HttpResponse ErrorResponse(int status, std::string_view reason) {
  return {.status = status, .body = fmt::format("{{\"error\":\"{}\"}}\n", reason)};
}

BodyLength AnnouncedLength(const HttpRequest& head, size_t limit) {
  if (head.Header("Transfer-Encoding"))
    return Refused(411, "send a Content-Length; other transfer encodings are not taken");
  if (const auto encoding = head.Header("Content-Encoding"); encoding && !SameIgnoringCase(*encoding, "identity"))
    return Refused(415, "the body must not be compressed");
  const auto count = std::count_if(head.headers.begin(), head.headers.end(),
                                   [](const auto& header) { return SameIgnoringCase(header.first, "Content-Length"); });
  if (count > 1) return Refused(400, "more than one Content-Length");
  if (count == 0) return head.method == "POST" ? Refused(411, "send a Content-Length") : BodyLength{};
  const std::string_view text = *head.Header("Content-Length");
  size_t length = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || end != text.data() + text.size()) return Refused(400, "Content-Length is not a number");
  if (code == std::errc::result_out_of_range || length > limit)
    return Refused(413, fmt::format("a body may have {} bytes", limit));
  return {.bytes = length};
}

}  // namespace warpwright::http

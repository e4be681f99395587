#include "http/retry_after.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

namespace warpwright::http {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongest = std::chrono::hours(24);

std::optional<double> Number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (read.ec != std::errc() || read.ptr != end || !(value >= 0)) return std::nullopt;
  return value;
}

milliseconds Clamped(double wait_ms) {
  return milliseconds(static_cast<int64_t>(std::clamp(wait_ms, 0.0, static_cast<double>(kLongest.count()))));
}

}  // namespace

std::optional<milliseconds> RetryAfter(const ClientResponse& response, std::chrono::system_clock::time_point now) {
  if (const auto found = response.headers.find("retry-after-ms"); found != response.headers.end())
    if (const auto number = Number(found->second)) return Clamped(*number);
  const auto found = response.headers.find("retry-after");
  if (found == response.headers.end()) return std::nullopt;
  if (const auto number = Number(found->second)) return Clamped(*number * 1000);
  if (found->second.find(':') == std::string::npos) return std::nullopt;  // a date has a time of day
  const time_t date = curl_getdate(found->second.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const auto wait = std::chrono::ceil<milliseconds>(std::chrono::system_clock::from_time_t(date) - now);
  return std::clamp(wait, milliseconds{0}, kLongest);
}

}  // namespace warpwright::http

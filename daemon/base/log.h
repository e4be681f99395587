// The log: one line per event on stderr, as text on a terminal and as JSON otherwise. There is one sink; everything
// that goes through it is redacted (base/redaction.h), bounded and has its control characters escaped, so that no
// external text can forge a line. Not spdlog, which formats text: JSON fields, redaction and bounds would all have to
// be written in a custom sink anyway.
//
//   Log(LogLevel::kInfo, "job_started", "started", {{"job", 17}, {"repo", "acme/kernels"}, {"kernel", "softmax"}});
//   {"ts":"2026-11-21T09:30:00.123Z","level":"info","event":"job_started","job":17,"repo":"acme/kernels",
//    "kernel":"softmax","message":"started"}
//
// The keys job, repo, kernel, delivery and request_id come first, in this order; others follow the message.
// Thread-safe.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/redaction.h"

namespace warpwright::base {

struct Error;

enum class LogLevel { kDebug, kInfo, kWarning, kError };
std::string_view Name(LogLevel level);  // "debug", "info", "warning", "error"
std::optional<LogLevel> ParseLogLevel(std::string_view name);

struct LogField {
  std::string key;  // a constant in the program: [a-z0-9_]
  std::variant<std::string, int64_t, double, bool> value;

  LogField(std::string k, std::string v) : key(std::move(k)), value(std::move(v)) {}
  LogField(std::string k, std::string_view v) : key(std::move(k)), value(std::string(v)) {}
  LogField(std::string k, const char* v) : key(std::move(k)), value(std::string(v)) {}
  LogField(std::string k, bool v) : key(std::move(k)), value(v) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogField(std::string k, T v) : key(std::move(k)), value(static_cast<int64_t>(v)) {}
  template <std::floating_point T>
  LogField(std::string k, T v) : key(std::move(k)), value(static_cast<double>(v)) {}
};
using LogFields = std::vector<LogField>;

// `event` is a constant in snake_case, by which lines are searched; `message` is for human readers and may contain
// untrusted text.
void Log(LogLevel level, std::string_view event, std::string_view message, const LogFields& fields = {});
// At level error: the message, with the file, line and remedy as fields if they are known.
void LogError(std::string_view event, const Error& error, LogFields fields = {});

// Fields that every line of this thread carries until the scope ends; for one key, the innermost scope wins.
class LogScope {
 public:
  explicit LogScope(LogFields fields);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  size_t before_;
};

enum class LogFormat { kAuto, kJson, kText };  // kAuto: text if stderr is a terminal
// Defaults before the first call: kAuto and kInfo.
void ConfigureLog(LogFormat format, LogLevel lowest);
// Redirects lines, without their newline, from stderr to `sink`; an empty function restores stderr. For tests.
void SetLogSink(std::function<void(std::string_view line)> sink);

}  // namespace warpwright::base

#include "base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/utf8.h"

namespace warpwright::base {
namespace {

constexpr size_t kMaxMessageBytes = 8u << 10, kMaxFieldBytes = 4u << 10, kMaxInputBytes = 256u << 10;
constexpr std::array<std::string_view, 5> kFirstKeys = {"job", "repo", "kernel", "delivery", "request_id"};

struct Sink {
  std::mutex mutex;
  std::function<void(std::string_view)> function;
  LogFormat format = LogFormat::kAuto;
  std::atomic<LogLevel> lowest = LogLevel::kInfo;
};
Sink& TheSink() {
  static Sink& sink = *new Sink;  // never destroyed: threads may log while the program ends
  return sink;
}

LogFields& ThreadFields() {
  thread_local LogFields fields;
  return fields;
}

// Control characters, and characters that reorder or hide text.
bool IsUnsafe(uint32_t c) { return c < 0x20 || c == 0x7f || IsDeceptive(c); }

void AppendEscape(std::string& out, uint32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c > 0xffff) {
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
  } else {
    out += fmt::format("\\u{:04x}", c);
  }
}

// Valid UTF-8 without unsafe characters; quotes and backslashes escaped as in JSON.
std::string Escape(std::string_view text, size_t limit) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (out.size() >= limit) {
      out += fmt::format("… ({} more bytes)", text.size() - at);
      break;
    }
    const auto [code, length] = DecodeUtf8(text, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
      continue;
    }
    if (IsUnsafe(code)) {
      AppendEscape(out, code);
    } else {
      if (code == '"' || code == '\\') out += '\\';
      out += text.substr(at, length);
    }
    at += length;
  }
  return out;
}

// Redacted before it is escaped or cut: an escape or a cut within a secret would hide it from the redactor.
std::string Safe(std::string_view text, size_t limit) { return Escape(Redact(text.substr(0, kMaxInputBytes)), limit); }

std::string ValueText(const LogField& field, bool json) {
  return std::visit(
      Overload{
          [&](const std::string& text) {
            std::string safe = Safe(text, kMaxFieldBytes);
            const bool bare = !json && !safe.empty() && safe.find_first_of(" =\"\\") == std::string::npos;
            return bare ? safe : '"' + safe + '"';
          },
          [](int64_t number) { return std::to_string(number); },
          [](double number) { return std::isfinite(number) ? fmt::format("{:.6g}", number) : std::string("null"); },
          [](bool yes) { return std::string(yes ? "true" : "false"); }},
      field.value);
}

std::string Milliseconds(std::chrono::system_clock::time_point now) {
  const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::string text = FormatUtc(now);
  text.pop_back();
  return text + fmt::format(".{:03}Z", part);
}

// The thread's fields and the line's, each key once (the innermost value), in two groups: those that come first, and
// the rest.
std::pair<std::vector<const LogField*>, std::vector<const LogField*>> Order(const LogFields& own) {
  std::vector<const LogField*> all;
  for (const LogFields* fields : {&std::as_const(ThreadFields()), &own})
    for (const LogField& field : *fields) {
      std::erase_if(all, [&](const LogField* earlier) { return earlier->key == field.key; });
      all.push_back(&field);
    }
  std::pair<std::vector<const LogField*>, std::vector<const LogField*>> out;
  for (const std::string_view key : kFirstKeys)
    for (const LogField* field : all)
      if (field->key == key) out.first.push_back(field);
  for (const LogField* field : all)
    if (std::find(kFirstKeys.begin(), kFirstKeys.end(), field->key) == kFirstKeys.end()) out.second.push_back(field);
  return out;
}

std::string JsonLine(LogLevel level, std::string_view event, std::string_view message, const LogFields& fields) {
  const auto [first, rest] = Order(fields);
  std::string line = fmt::format(R"({{"ts":"{}","level":"{}","event":"{}")",
                                 Milliseconds(std::chrono::system_clock::now()), Name(level), Escape(event, 256));
  for (const LogField* field : first)
    line += fmt::format(R"(,"{}":{})", Escape(field->key, 64), ValueText(*field, true));
  line += fmt::format(R"(,"message":"{}")", Safe(message, kMaxMessageBytes));
  for (const LogField* field : rest)
    line += fmt::format(R"(,"{}":{})", Escape(field->key, 64), ValueText(*field, true));
  return line + "}";
}

std::string TextLine(LogLevel level, std::string_view event, std::string_view message, const LogFields& fields) {
  const auto [first, rest] = Order(fields);
  std::string line = fmt::format("{} {:<7} {}", Milliseconds(std::chrono::system_clock::now()).substr(11, 12),
                                 Name(level), Escape(event, 256));
  if (!message.empty()) line += ": " + Safe(message, kMaxMessageBytes);
  for (const auto* group : {&first, &rest})
    for (const LogField* field : *group)
      line += fmt::format(" {}={}", Escape(field->key, 64), ValueText(*field, false));
  return line;
}

// As one write, so that lines of several processes on one stderr do not interleave. A log that cannot be written is not
// an error.
void WriteToStderr(std::string line) {
  line += '\n';
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

}  // namespace

std::string_view Name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "error";
}

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError})
    if (Name(level) == name) return level;
  return std::nullopt;
}

void Log(LogLevel level, std::string_view event, std::string_view message, const LogFields& fields) {
  Sink& sink = TheSink();
  if (level < sink.lowest.load(std::memory_order_relaxed)) return;
  LogFormat format = LogFormat::kAuto;
  {
    const std::lock_guard lock(sink.mutex);
    format = sink.format;
  }
  if (format == LogFormat::kAuto) format = ::isatty(STDERR_FILENO) == 1 ? LogFormat::kText : LogFormat::kJson;
  std::string line =
      format == LogFormat::kJson ? JsonLine(level, event, message, fields) : TextLine(level, event, message, fields);
  const std::lock_guard lock(sink.mutex);
  if (sink.function) sink.function(line);
  else WriteToStderr(std::move(line));
}

void LogError(std::string_view event, const Error& error, LogFields fields) {
  if (!error.file.empty()) fields.emplace_back("file", error.file);
  if (error.line > 0) fields.emplace_back("line", error.line);
  if (!error.remedy.empty()) fields.emplace_back("remedy", error.remedy);
  Log(LogLevel::kError, event, error.message, fields);
}

LogScope::LogScope(LogFields fields) : before_(ThreadFields().size()) {
  for (LogField& field : fields) ThreadFields().push_back(std::move(field));
}
LogScope::~LogScope() {
  LogFields& fields = ThreadFields();
  fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(before_), fields.end());
}

void ConfigureLog(LogFormat format, LogLevel lowest) {
  Sink& sink = TheSink();
  const std::lock_guard lock(sink.mutex);
  sink.format = format;
  sink.lowest = lowest;
}

void SetLogSink(std::function<void(std::string_view line)> function) {
  Sink& sink = TheSink();
  const std::lock_guard lock(sink.mutex);
  sink.function = std::move(function);
}

}  // namespace warpwright::base

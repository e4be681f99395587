// Errors describe failures of warpwright or its environment (a full disk, a dead worker, a bad manifest); what a
// candidate does wrong is a Verdict (core/verdict.h).
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace warpwright::base {

// Only conditions that callers branch on. The CLI maps them to exit codes (cli/exit_code.h).
enum class ErrorCode {
  kConfig,       // a file that the user wrote is wrong: exit 78
  kUsage,        // a command line is wrong: exit 2
  kEnvironment,  // something that should be installed or permitted is missing: exit 3
  kIo,           // a system call failed
  kTimeout,      // a deadline passed
  kWorkerDied,   // a child process ended before it replied
  kUnsupported,  // valid input that warpwright does not handle; the message says why
  kCorrupt,      // stored or received bytes that cannot be decoded
  kLimit,        // valid, but more work than the caller allowed
};
std::string_view Name(ErrorCode code);

// `file`, `line` and `column` (1-based, 0 = unknown) locate the cause; `remedy` says what the user can do.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
  std::string file;
  int line = 0;
  int column = 0;
  std::string remedy;

  // "file:line:column: message\n  remedy: ..." with the parts that are known.
  std::string Format() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string remedy = {}) {
  return tl::unexpected<Error>(Error{.code = code, .message = std::move(message), .remedy = std::move(remedy)});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// "open /x: No such file or directory", from errno.
tl::unexpected<Error> FailErrno(std::string_view what);

// Exhaustive std::visit: std::visit(Overload{[](A) {...}, [](B) {...}}, value).
template <typename... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overload(Fs...) -> Overload<Fs...>;

}  // namespace warpwright::base

// Used on nearly every line, so they are available without their folder's namespace.
namespace warpwright {
using base::Error;
using base::ErrorCode;
using base::Fail;
using base::FailErrno;
using base::Overload;
using base::Result;
using base::Status;
}  // namespace warpwright

#define WW_CONCAT_INNER(a, b) a##b
#define WW_CONCAT(a, b) WW_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Status or Result) to the caller.
#define WW_TRY(expression)                                                      \
  do {                                                                          \
    if (auto ww_status = (expression); !ww_status)                              \
      return tl::unexpected<::warpwright::Error>(std::move(ww_status).error()); \
  } while (false)

// WW_ASSIGN(auto x, F()): x = value of F(), or returns its error.
#define WW_ASSIGN(target, expression) WW_ASSIGN_INNER(WW_CONCAT(ww_result_, __LINE__), target, expression)
#define WW_ASSIGN_INNER(name, target, expression)                                 \
  auto name = (expression);                                                       \
  if (!name) return tl::unexpected<::warpwright::Error>(std::move(name).error()); \
  target = std::move(*name)

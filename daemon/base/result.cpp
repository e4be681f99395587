#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace warpwright::base {

std::string_view Name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kConfig: return "config";
    case ErrorCode::kUsage: return "usage";
    case ErrorCode::kEnvironment: return "environment";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kWorkerDied: return "worker_died";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kLimit: return "limit";
  }
  return "?";
}

std::string Error::Format() const {
  std::string text;
  if (!file.empty()) {
    text += file;
    if (line > 0) text += ":" + std::to_string(line);
    if (line > 0 && column > 0) text += ":" + std::to_string(column);
    text += ": ";
  }
  text += message;
  if (!remedy.empty()) text += "\n  remedy: " + remedy;
  return text;
}

tl::unexpected<Error> FailErrno(std::string_view what) {
  return Fail(ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace warpwright::base

// The outcome of the work on a kernel, or of a nightly run: decided in search/, stored by memory/ and service/, shown
// by report/ and cli/.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpwright::core {

enum class TaskOutcome : uint8_t {
  kImproved,
  kUnchanged,
  kRefused,     // the kernel cannot be optimized
  kError,       // a failure of warpwright; says nothing about the kernel
  kUnfinished,  // still being worked on
  kDetected,    // it changed; nothing else was requested
  kChecked,     // of a nightly run: nothing became slower
  kRegression,  // of a nightly run
  kIgnored,     // a maintainer requested it; not worked on
  kSuperseded,  // the kernel changed again in the meantime
  kCancelled,
};
std::string_view Name(TaskOutcome outcome);  // "improved": as stored and shown
constexpr TaskOutcome Last(TaskOutcome) { return TaskOutcome::kCancelled; }

}  // namespace warpwright::core

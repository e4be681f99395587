// How the work on a kernel, or on a night, came out: decided in search/, stored by memory/ and service/, shown by
// report/ and cli/.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpwright::core {

enum class TaskOutcome : uint8_t {
  kImproved,
  kUnchanged,
  kRefused,     // the kernel cannot be optimized
  kError,       // ours; says nothing about the kernel
  kUnfinished,  // still being worked on
  kDetected,    // it changed; nothing else was asked for
  kChecked,     // of a night: nothing became slower
  kRegression,  // of a night
  kIgnored,     // people said so; nobody worked on it
  kSuperseded,  // the kernel changed again meanwhile
  kCancelled,
};
std::string_view Name(TaskOutcome outcome);  // "improved": as stored and shown
constexpr TaskOutcome Last(TaskOutcome) { return TaskOutcome::kCancelled; }

}  // namespace warpwright::core

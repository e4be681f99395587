// The rows of `warpwright doctor` as they are made; and what the rows of the GPU share with the others.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "app/doctor_checks.h"

namespace warpwright::app {

class CheckRows {
 public:
  explicit CheckRows(const core::Machine& machine) : machine_(machine) {}

  void Add(const char* name, CheckStatus status, std::string message, std::string remedy = {}) {
    if (status == CheckStatus::kOk) remedy.clear();
    else if (remedy.empty()) remedy = "see what the worker says by hand: warpwright-worker --cache DIR --doctor cuda";
    checks_.push_back({name, status, std::move(message), std::move(remedy)});
  }
  void Ok(const char* name, std::string message) { Add(name, CheckStatus::kOk, std::move(message)); }
  void Warn(const char* name, std::string message, std::string remedy) {
    Add(name, CheckStatus::kWarning, std::move(message), std::move(remedy));
  }
  void Fail(const char* name, std::string message, std::string remedy) {
    Add(name, CheckStatus::kError, std::move(message), std::move(remedy));
  }
  // The row of a part that the worker did not come to, whose problem is a row of its own; that row is enough where it
  // came to nothing.
  void Unknown(const char* name) {
    if (machine_.toolkit) Warn(name, "not known: the worker ended before it came to this", "see the row `worker`");
  }

  std::vector<Check> Take() { return std::move(checks_); }

 private:
  const core::Machine& machine_;
  std::vector<Check> checks_;
};

// What is known of the GPU before any row is made.
struct GpuView {
  bool there = false;  // and not ignored because a simulated device was requested
  bool simulated_only = false;
  CheckStatus severity = CheckStatus::kWarning;  // of a missing driver or GPU
  const core::GpuState* state =
      nullptr;  // of the physical GPU of the device; the only one, where the device itself is not known
};
GpuView ViewGpu(const DoctorFacts& facts);
// Driver, device, its memory and state, counters.
void AddGpuRows(const core::Machine& machine, const GpuView& gpu, CheckRows& rows);

inline constexpr double kGib = 1024.0 * 1024 * 1024;
inline std::string FormatGib(double bytes) { return fmt::format("{:.1f} GiB", bytes / kGib); }

}  // namespace warpwright::app

// A clock that a test advances.
#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.h"

namespace warpwright {

class FakeClock final : public base::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + std::chrono::hours(9) +
           std::chrono::milliseconds(passed_ms_.load());
  }
  std::chrono::steady_clock::time_point Steady() const override {
    return std::chrono::steady_clock::time_point(std::chrono::milliseconds(passed_ms_.load()));
  }
  void Advance(std::chrono::milliseconds by) { passed_ms_ += by.count(); }

 private:
  std::atomic<int64_t> passed_ms_{0};
};

}  // namespace warpwright

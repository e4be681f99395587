// Time as a port, so that a test can set the time.
#pragma once

#include <chrono>
#include <string>

namespace warpwright::base {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point Now() const = 0;
  virtual std::chrono::steady_clock::time_point Steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override { return std::chrono::system_clock::now(); }
  std::chrono::steady_clock::time_point Steady() const override { return std::chrono::steady_clock::now(); }
};

// "2026-11-21T09:30:00Z".
std::string FormatUtc(std::chrono::system_clock::time_point time);

}  // namespace warpwright::base

// The moment at which all work on a task ends, shared by all threads that work on it; one of them sets it. Whoever is
// still at work then breaks off with BreakOff(): its error says nothing about what was worked on, and whoever set the
// deadline knows why everything ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "base/result.h"

namespace warpwright::base {

class Deadline {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // `clock` must outlive it.
  explicit Deadline(const Clock& clock) : clock_(clock) {}

  void Set(TimePoint end) {
    end_ = end;
    broke_off_ = false;
  }
  void Clear() {
    end_ = kNever;
    broke_off_ = false;
  }

  // What is left of `wanted`; 0 at the end.
  std::chrono::milliseconds Within(std::chrono::milliseconds wanted) const {
    const TimePoint end = end_;
    if (end == kNever) return wanted;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock_.Steady());
    return std::clamp(left, std::chrono::milliseconds(0), wanted);
  }
  bool over() const {
    const TimePoint end = end_;
    return end != kNever && clock_.Steady() >= end;
  }
  Error BreakOff() {
    broke_off_ = true;
    return {.code = ErrorCode::kTimeout, .message = "the time for this task is over"};
  }
  // Something was broken off since the deadline was set.
  bool broke_off() const { return broke_off_; }

 private:
  static constexpr TimePoint kNever = TimePoint::max();
  const Clock& clock_;
  std::atomic<TimePoint> end_ = kNever;
  std::atomic<bool> broke_off_ = false;
};

}  // namespace warpwright::base

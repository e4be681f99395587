// The moment at which all work on a task ends, shared by those who work on it in one thread. Whoever is still at work
// then breaks off with BreakOff(): its error says nothing about what was worked on, and whoever set the deadline knows
// why everything ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

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
    end_.reset();
    broke_off_ = false;
  }

  // What is left of `wanted`; 0 at the end.
  std::chrono::milliseconds Within(std::chrono::milliseconds wanted) const {
    if (!end_) return wanted;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*end_ - clock_.Steady());
    return std::clamp(left, std::chrono::milliseconds(0), wanted);
  }
  bool over() const { return end_ && clock_.Steady() >= *end_; }
  Error BreakOff() {
    broke_off_ = true;
    return {.code = ErrorCode::kTimeout, .message = "the time for this task is over"};
  }
  // Something was broken off since the deadline was set.
  bool broke_off() const { return broke_off_; }

 private:
  const Clock& clock_;
  std::optional<TimePoint> end_;
  bool broke_off_ = false;
};

}  // namespace warpwright::base

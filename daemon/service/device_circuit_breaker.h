// A circuit breaker for each device. A single failing kernel is that kernel's problem; when several different jobs in a
// row fail on a device, the device (its driver, its worker, its disk) is assumed to be the cause. The breaker opens,
// for a minute at first and twice as long after each further failure, up to half an hour; jobs that fail while the
// device is suspected keep their remaining attempts for a day. The first job that completes, with any result, closes
// the breaker. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"

namespace warpwright::service {

class DeviceCircuitBreaker {
 public:
  static constexpr int kFailures = 3, kDifferentWork = 2;
  static constexpr std::chrono::minutes kFirst{1}, kLongest{30};

  explicit DeviceCircuitBreaker(const base::Clock& clock) : clock_(clock) {}

  // Nothing may be started on the device now.
  bool IsOpen(const std::string& device) const;
  // A job on `work` ("acme/kernels softmax") failed for a reason that is not in its repository. True: the device is
  // suspected, and this was not the job's fault.
  bool RecordFailure(const std::string& device, const std::string& work);
  void RecordSuccess(const std::string& device);
  // "cuda:0 is paused for 4 min after 5 consecutive failures", for readiness and users.
  std::vector<std::string> OpenCircuits() const;

 private:
  struct Row {
    int failures = 0;            // consecutive
    std::set<std::string> work;  // that failed
    std::chrono::steady_clock::time_point until{};
    bool suspected() const { return failures >= kFailures && static_cast<int>(work.size()) >= kDifferentWork; }
  };
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Row> rows_;  // by device
};

}  // namespace warpwright::service

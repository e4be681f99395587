// A circuit breaker for each device. One kernel that fails is its own problem; when several different jobs in a row
// fail on a device, the device (its driver, its worker, its disk) is taken for the cause: it rests, a minute at first
// and twice as long after each further failure, up to half an hour, and the jobs that fail while it is suspected keep
// their tries for a day. The first that runs to an end, whatever its result, makes the device well again. Thread-safe.
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

  // Nothing may be started there now.
  bool IsOpen(const std::string& device) const;
  // A job on `work` ("acme/kernels softmax") failed for a reason that does not stand in its repository. True: the
  // device is suspected, and this was not the job's fault.
  bool RecordFailure(const std::string& device, const std::string& work);
  void RecordSuccess(const std::string& device);
  // "cuda:0 rests for 4 min after 5 failures in a row", for readiness and people.
  std::vector<std::string> OpenCircuits() const;

 private:
  struct Row {
    int failures = 0;            // in a row
    std::set<std::string> work;  // whose they were
    std::chrono::steady_clock::time_point until{};
    bool suspected() const { return failures >= kFailures && static_cast<int>(work.size()) >= kDifferentWork; }
  };
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Row> rows_;  // by device
};

}  // namespace warpwright::service

// The daemon's state in Prometheus' text format, and the endpoints' own counters.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "service/snapshot.h"

namespace warpwright::service {

// Seconds in cumulative buckets. Thread-safe.
class LatencyHistogram {
 public:
  static constexpr std::array<double, 12> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                     0.05,   0.1,   0.25,   0.5,   1,    5};
  void Observe(std::chrono::nanoseconds duration);
  // `name` with its _bucket, _sum and _count lines.
  std::string Render(std::string_view name, std::string_view help) const;

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<int64_t> nanoseconds_{0};
};

// Counted by the endpoints themselves; everything else is in the snapshot. Thread-safe.
class EndpointMetrics {
 public:
  void Answered(std::string_view listener, int status);  // listener: "webhooks", "status"
  void Refused(std::string_view listener);               // a connection beyond the limit
  LatencyHistogram webhook_seconds;                      // from the last byte of a request to its response
  std::string Render() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> answers_;
  std::map<std::string, uint64_t> refused_;
};

// At most kMaxLabels values per metric; the rest is summed up as "other". Counters and gauges of the snapshot that this
// module does not know get a HELP text derived from their name, so that none is lost.
inline constexpr size_t kMaxLabels = 64;
std::string RenderMetrics(const DaemonSnapshot& snapshot);

}  // namespace warpwright::service

#include "service/device_circuit_breaker.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::service {

bool DeviceCircuitBreaker::IsOpen(const std::string& device) const {
  const std::lock_guard lock(mutex_);
  const auto row = rows_.find(device);
  return row != rows_.end() && clock_.Steady() < row->second.until;
}

bool DeviceCircuitBreaker::RecordFailure(const std::string& device, const std::string& work) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_[device];
  ++row.failures;
  row.work.insert(work);
  if (!row.suspected()) return false;
  const auto longer = kFirst * (1 << std::min(row.failures - kFailures, 5));
  row.until = clock_.Steady() + std::min<std::chrono::steady_clock::duration>(longer, kLongest);
  return true;
}

void DeviceCircuitBreaker::RecordSuccess(const std::string& device) {
  const std::lock_guard lock(mutex_);
  rows_.erase(device);
}

std::vector<std::string> DeviceCircuitBreaker::OpenCircuits() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> resting;
  for (const auto& [device, row] : rows_)
    if (const auto left = row.until - clock_.Steady(); left > std::chrono::steady_clock::duration::zero())
      resting.push_back(fmt::format("{} is paused for {} min after {} consecutive failures", device,
                                    std::chrono::ceil<std::chrono::minutes>(left).count(), row.failures));
  return resting;
}

}  // namespace warpwright::service

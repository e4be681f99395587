// The clock of budgets of lifting: what this process has worked since the first call, whatever other processes took of
// the machine. What several threads do at once counts once: else a machine of many cores, whose threads wait for memory
// and for each other, would have less time than one of two.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>

namespace warpwright::lift {

// Of any thread.
inline double CpuSeconds() {
  static std::mutex mutex;
  static std::clock_t cpu = std::clock();
  static auto real = std::chrono::steady_clock::now();
  static double seconds = 0;
  const std::lock_guard lock(mutex);
  const std::clock_t cpu_now = std::clock();
  const auto real_now = std::chrono::steady_clock::now();
  seconds += std::min(static_cast<double>(cpu_now - cpu) / CLOCKS_PER_SEC,
                      std::chrono::duration<double>(real_now - real).count());
  cpu = cpu_now, real = real_now;
  return seconds;
}

}  // namespace warpwright::lift

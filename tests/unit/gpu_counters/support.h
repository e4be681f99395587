#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "gpu/cupti_host.h"
#include "gpu/metrics.h"

namespace warpwright::gpu {

// The library, or a skip that states what is missing.
#define WW_NEED_CUPTI(cupti)                                            \
  const auto cupti##_loaded = ::warpwright::gpu::LoadCupti();           \
  if (!cupti##_loaded) GTEST_SKIP() << cupti##_loaded.error().Format(); \
  const ::warpwright::gpu::Cupti& cupti = **cupti##_loaded

// A chip's results if every metric that it has is `value`.
inline std::map<std::string, double> Uniform(const std::vector<std::string>& metrics, double value) {
  std::map<std::string, double> values;
  for (const auto& metric : metrics) values[metric] = value;
  return values;
}

}  // namespace warpwright::gpu

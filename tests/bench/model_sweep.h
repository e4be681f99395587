// Versions of every kernel with a wide range: block sizes, tiles, factors, good and bad, made by the built-in rewrites
// alone or one on top of another. They and what a GPU measured of them are stored in a trajectory, which `bench_model`
// compares with the simulator like any other.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/result.h"

namespace warpwright {

struct SweepSetting {
  std::string worker, cache, repository;
  std::string device;             // "cuda"; "none": only make the versions
  std::string path;               // of the trajectory; what it already contains is neither made nor measured again
  std::set<std::string> kernels;  // empty: all
  double minutes = 0;             // > 0: begin no further version after that time
};

// Makes what is missing, measures what is not measured yet, in an order that covers all kernels early, and returns a
// summary of what exists.
Result<nlohmann::json> Sweep(const SweepSetting& setting);

}  // namespace warpwright

// Random contents for the arguments of a sample.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/computation_evaluate.h"
#include "tests/support/computation_samples.h"

namespace warpwright::testing {

// Owns what ArgumentValues refers to.
struct SampleArguments {
  std::map<std::string, std::vector<double>> real;
  std::map<std::string, std::vector<int64_t>> whole;
  core::ArgumentValues values;
};

SampleArguments RandomArguments(const Sample& sample, uint64_t seed);
const Sample& SampleNamed(const std::string& name);
// The only output.
core::TensorResult Evaluated(const Sample& sample, const SampleArguments& arguments,
                             const core::EvaluateOptions& options = {});

}  // namespace warpwright::testing

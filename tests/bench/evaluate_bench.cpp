// How fast forms are evaluated in float64 with bounds of their errors.
//   bench_evaluate [seconds per figure]
// Prints JSON: for each operation the terms of its sums (elements of an element-wise one) a second, of processor time
// of one core and by the wall clock on all, without bounds and with them.
#include <ctime>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/computation_evaluate.h"
#include "tests/support/computation_samples.h"

namespace {

using namespace warpwright;
namespace samples = warpwright::testing;
using nlohmann::json;

struct Shape {
  const char* name;
  std::map<std::string, int64_t> sizes;
  double terms;  // of one evaluation
};

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> shapes = {
      {"matmul with bias", {{"M", 160}, {"N", 160}, {"K", 160}}, 160.0 * 160 * 160},
      {"softmax", {{"N", 512}, {"C", 512}}, 3 * 512.0 * 512},
      {"layer norm", {{"N", 512}, {"C", 512}}, 3 * 512.0 * 512},
      {"gelu", {{"N", 1 << 19}}, 1 << 19},
      {"attention", {{"N", 192}, {"D", 64}}, 2.0 * 192 * 192 * 64},
  };
  return shapes;
}

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

json Measure(const samples::Sample& sample, const Shape& shape, bool errors, double at_least) {
  core::EvaluateOptions options;
  if (errors) options.errors = core::ErrorModel{};
  const auto evaluator = core::ComputationEvaluator::Compile(sample.computation, shape.sizes, options);
  if (!evaluator) return evaluator.error().message;
  core::ArgumentValues arguments{.scalars = sample.scalars};
  std::map<std::string, std::vector<double>> contents;
  uint64_t stream = 0;
  for (const auto& tensor : sample.computation.tensors) {
    if (!tensor.read) continue;
    const base::CounterRandom random(1, ++stream);
    size_t elements = 1;
    for (const auto& extent : tensor.shape) elements *= static_cast<size_t>(extent.Evaluate(shape.sizes).value());
    auto& values = contents[tensor.name];
    for (size_t i = 0; i < elements; ++i) values.push_back(2 * random.Uniform(i) - 1);
    arguments.tensors[tensor.name].real = values;
  }
  int runs = 0;
  const double cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID), wall = Seconds(CLOCK_MONOTONIC);
  while (Seconds(CLOCK_MONOTONIC) - wall < at_least) {
    const auto results = evaluator->Run(arguments);
    if (!results) return results.error().message;
    ++runs;
  }
  const double done = shape.terms * runs;
  return {{"terms_per_core_second", done / (Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)},
          {"terms_per_second", done / (Seconds(CLOCK_MONOTONIC) - wall)}};
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  json result;
  for (const Shape& shape : Shapes())
    for (const samples::Sample& sample : samples::Samples())
      if (sample.name == shape.name) {
        result[shape.name]["values"] = Measure(sample, shape, false, seconds);
        result[shape.name]["with_bounds"] = Measure(sample, shape, true, seconds);
      }
  std::printf("%s\n", result.dump(2).c_str());
}

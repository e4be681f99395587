#include "tests/unit/computation/sample_arguments.h"

#include <gtest/gtest.h>

#include "core/dtype.h"

namespace warpwright::testing {

SampleArguments RandomArguments(const Sample& sample, uint64_t seed) {
  SampleArguments arguments;
  arguments.values.scalars = sample.scalars;
  uint64_t stream = 0;
  for (const auto& tensor : sample.computation.tensors) {
    if (!tensor.read) continue;
    const base::CounterRandom random(seed, ++stream);
    size_t elements = 1;
    for (const auto& extent : tensor.shape) elements *= static_cast<size_t>(extent.Evaluate(sample.sizes).value());
    core::TensorContent& content = arguments.values.tensors[tensor.name];
    if (core::IsFloat(tensor.dtype)) {
      auto& values = arguments.real[tensor.name];
      // Multiples of 2^-8: exact in every format.
      for (size_t i = 0; i < elements; ++i) values.push_back(static_cast<double>(random.Below(i, 1024)) / 256 - 2);
      content.real = values;
    } else {
      auto& values = arguments.whole[tensor.name];
      const auto below = static_cast<uint64_t>(sample.index_below.at(tensor.name));
      for (size_t i = 0; i < elements; ++i) values.push_back(static_cast<int64_t>(random.Below(i, below)));
      content.integers = values;
    }
  }
  return arguments;
}

const Sample& SampleNamed(const std::string& name) {
  static const std::vector<Sample> all = Samples();
  for (const auto& sample : all)
    if (sample.name == name) return sample;
  throw std::logic_error("no sample " + name);
}

core::TensorResult Evaluated(const Sample& sample, const SampleArguments& arguments,
                             const core::EvaluateOptions& options) {
  const auto evaluator = core::ComputationEvaluator::Compile(sample.computation, sample.sizes, options);
  EXPECT_TRUE(evaluator) << evaluator.error().message;
  auto results = evaluator.value().Run(arguments.values);
  EXPECT_TRUE(results) << results.error().message;
  EXPECT_EQ(results.value().size(), 1u);
  return std::move(results.value().at(0));
}

}  // namespace warpwright::testing

// A Computation from a worker: what decodes is valid, comes back, and everything that is said about it is said without
// a crash and within bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/computation_counts.h"
#include "core/computation_digest.h"
#include "core/computation_evaluate.h"
#include "core/computation_inline.h"
#include "core/computation_json.h"
#include "core/computation_latex.h"
#include "core/computation_structure.h"
#include "core/computation_text.h"

namespace {

using namespace warpwright;

void Evaluate(const core::Computation& computation, const core::SizeValues& sizes) {
  const core::EvaluateOptions options{.errors = core::ErrorModel{}, .work_limit = 100'000, .element_limit = 100'000};
  const auto evaluator = core::ComputationEvaluator::Compile(computation, sizes, options);
  if (!evaluator) return;
  core::ArgumentValues arguments;
  for (const auto& name : computation.scalars) arguments.scalars[name] = 0.5;
  std::vector<std::vector<double>> real;
  std::vector<std::vector<int64_t>> whole;
  for (const auto& tensor : computation.tensors) {
    size_t elements = 1;
    for (const auto& extent : tensor.shape) {
      const auto value = extent.Evaluate(sizes);
      if (!value || *value > 1000 || elements > 100'000) return;
      elements *= static_cast<size_t>(*value < 0 ? 0 : *value);
    }
    real.emplace_back(elements, 1.25);
    whole.emplace_back(elements, 3);
    arguments.tensors[tensor.name] = {real.back(), whole.back()};
  }
  (void)evaluator->Run(arguments);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto computation = core::DecodeComputation({reinterpret_cast<const char*>(data), size});
  if (!computation) {
    if (computation.error().code != ErrorCode::kCorrupt || computation.error().message.empty()) std::abort();
    return 0;
  }
  const auto again = core::DecodeComputation(core::EncodeComputation(*computation));
  if (!again || !(*again == *computation)) std::abort();
  if (core::Headline(*computation).size() > 160) std::abort();
  (void)core::ComputationText(*computation);
  (void)core::ComputationLatex(*computation);
  (void)core::StructureOf(*computation);
  if (!core::Validate(core::Inlined(*computation))) std::abort();
  const auto form = core::Normalize(*computation, 20'000);
  if (form && form->digest.size() != 64) std::abort();
  for (const int64_t value : {int64_t{0}, int64_t{3}, int64_t{1} << 40}) {
    core::SizeValues sizes;
    for (const auto& name : computation->sizes) sizes[name] = value;
    (void)core::CountAt(*computation, sizes, 10'000);
    Evaluate(*computation, sizes);
  }
  return 0;
}

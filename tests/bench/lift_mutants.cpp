#include "tests/bench/lift_mutants.h"

#include <algorithm>
#include <cmath>

#include "core/computation_digest.h"
#include "core/computation_evaluate.h"
#include "core/dtype.h"
#include "tests/unit/computation/variants.h"

namespace warpwright::bench {
namespace {

struct Content {
  std::vector<double> real;
  std::vector<int64_t> integers;
};

// None: it has no value at this shape, where it reads or writes what does not exist.
std::optional<std::vector<core::TensorResult>> ValuesOf(const core::Computation& computation,
                                                        const core::KernelSpec& spec, const core::LiftShape& shape) {
  core::SizeValues sizes;
  core::ArgumentValues arguments;
  for (const auto& [name, value] : shape.scalars) {
    if (const int64_t* integer = std::get_if<int64_t>(&value)) sizes[name] = *integer;
    else arguments.scalars[name] = std::get<double>(value);
  }
  std::vector<Content> contents(shape.buffers.size());
  for (size_t b = 0; b < shape.buffers.size(); ++b) {
    const core::BufferContent& buffer = shape.buffers[b];
    const auto dtype = std::get<core::BufferArgument>(spec.Find(buffer.name)->kind).dtype;
    for (size_t i = 0; i < buffer.bytes.size() / core::SizeOf(dtype); ++i) {
      if (core::IsFloat(dtype)) contents[b].real.push_back(core::LoadAsDouble(dtype, buffer.bytes.data(), i));
      else contents[b].integers.push_back(core::LoadAsInteger(dtype, buffer.bytes.data(), i));
    }
    arguments.tensors[buffer.name] = {contents[b].real, contents[b].integers};
  }
  const auto evaluator = core::ComputationEvaluator::Compile(computation, sizes, {});
  if (!evaluator) return std::nullopt;
  auto results = evaluator->Run(arguments);
  if (!results) return std::nullopt;
  return std::move(*results);
}

bool AreSame(const std::vector<core::TensorResult>& a, const std::vector<core::TensorResult>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].name != b[k].name || a[k].written != b[k].written || a[k].integers != b[k].integers) return false;
    for (size_t e = 0; e < a[k].real.size(); ++e) {
      const double x = a[k].real[e], y = b[k].real[e];
      if (std::isnan(x) != std::isnan(y)) return false;
      if (a[k].written[e] && !std::isnan(x) && x != y && !(std::fabs(x - y) <= 1e-9 * std::fabs(x) + 1e-12))
        return false;
    }
  }
  return true;
}

}  // namespace

MutantCount CountMutants(const core::Computation& computation, const core::KernelSpec& spec,
                         const std::vector<core::LiftShape>& shapes) {
  MutantCount count;
  const auto original = core::Normalize(computation);
  if (!original) return count;
  const auto is_same = [&](const core::Computation& mutant) {
    return std::all_of(shapes.begin(), shapes.end(), [&](const core::LiftShape& shape) {
      const auto values = ValuesOf(computation, spec, shape), changed = ValuesOf(mutant, spec, shape);
      return values.has_value() == changed.has_value() && (!values || AreSame(*values, *changed));
    });
  };
  for (const testing::Mutant& mutant : testing::Mutants(computation)) {
    if (!core::Validate(mutant.computation)) continue;
    const auto form = core::Normalize(mutant.computation);
    if (!form) continue;
    ++count.mutants;
    if (form->digest != original->digest) continue;
    (is_same(mutant.computation) ? count.equal : count.false_equal).push_back(mutant.what);
  }
  return count;
}

}  // namespace warpwright::bench

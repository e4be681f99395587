#include "schedule/partials.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

// A scratch argument of the type of all sums.
std::optional<Partials> ScratchOf(const Problem& problem, size_t least) {
  for (const core::Argument& argument : problem.input.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    const EntryParameter* parameter = problem.entry.Find(argument.name);
    const core::DType wanted = problem.in_double ? core::DType::kF64 : core::DType::kF32;
    if (!buffer || !parameter || buffer->role != core::Role::kScratch || buffer->dtype != wanted) continue;
    const core::TensorArgument* tensor = problem.form.FindTensor(argument.name);
    if (tensor != nullptr && (tensor->read || tensor->written)) continue;
    const core::Size capacity = Product(buffer->shape);
    const bool small = std::any_of(problem.input.cases.begin(), problem.input.cases.end(), [&](const auto& c) {
      return ValueIn(capacity, c).value_or(0) < static_cast<int64_t>(least);
    });
    if (!small) return Partials{argument.name, "", SizeText(capacity), true};
  }
  return std::nullopt;
}

}  // namespace

Partials PartialsFor(const Problem& problem, size_t least, const std::string& c_type) {
  if (const auto scratch = ScratchOf(problem, least); scratch && c_type == problem.real()) return *scratch;
  Partials partials;
  partials.name = KernelName(problem, "partials");
  partials.capacity = std::to_string(kPartials);
  partials.definition = fmt::format(
      "// What the blocks that share a row have found; a launch reads nothing that it has not written.\n"
      "static __device__ {} {}[{}];\n",
      c_type, partials.name, kPartials);
  return partials;
}

}  // namespace warpwright::schedule

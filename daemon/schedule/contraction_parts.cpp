#include "schedule/contraction_parts.h"

#include <fmt/format.h>

#include "schedule/expression_code.h"
#include "schedule/finish_writer.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kTermsOfBlock = 512;  // at least
constexpr size_t kLeastScratch = 4096;  // of an argument that is used

core::Size ProductOf(const std::vector<Axis>& axes) {
  std::vector<core::Size> extents;
  for (const Axis& axis : axes) extents.push_back(axis.extent);
  return Product(extents);
}

int64_t TilesOf(const std::vector<Axis>& axes, int tile, const core::ScheduledCase& c) {
  return (ValueIn(ProductOf(axes), c).value_or(0) + tile - 1) / tile;
}

// Elements of the array, or of the argument, in a case.
int64_t RoomIn(const Problem& problem, const Partials& storage, const core::ScheduledCase& c) {
  if (!storage.argument) return kPartials;
  for (const core::Argument& argument : problem.input.spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind); buffer && argument.name == storage.name)
      return ValueIn(Product(buffer->shape), c).value_or(0);
  return 0;
}

}  // namespace

std::optional<SumParts> SumPartsOf(const Problem& problem, const Group& group, const ContractionGroup& contraction,
                                   const TileShape& shape) {
  const Contraction& sum = contraction.contraction;
  for (const Factor* factor : {&sum.left, &sum.right})
    if (!factor->guards.empty() || !factor->conditions.empty()) return std::nullopt;
  const core::ScheduledCase& heaviest = HeaviestCase(problem);
  const int64_t tiles = TilesOf(sum.m, shape.m, heaviest) * TilesOf(sum.n, shape.n, heaviest) *
                        ValueIn(ProductOf(sum.batch), heaviest).value_or(0);
  const int64_t multiprocessors = problem.input.chip.multiprocessors;
  if (tiles < 1 || 2 * tiles > multiprocessors) return std::nullopt;
  if (ValueIn(ProductOf(sum.k), heaviest).value_or(0) < 4 * kTermsOfBlock) return std::nullopt;
  auto rows = PlanRows(problem, group);
  if (std::holds_alternative<core::RewriteRefusal>(rows)) return std::nullopt;
  SumParts parts{.plan = std::move(std::get<RowPlan>(rows)), .blocks = shape.blocks * multiprocessors};
  if (parts.plan.passes.size() != 1) return std::nullopt;
  parts.storage = PartialsFor(problem, kLeastScratch, problem.real());
  const auto results = ValueIn(Product(problem.stage(contraction.stage).extents), heaviest);
  if (!results || 2 * *results > RoomIn(problem, parts.storage, heaviest)) return std::nullopt;
  return parts;
}

std::string NumberOfParts(const Problem& problem, const SumParts& parts, const ContractionGroup& contraction,
                          const std::string& name, const std::string& tiles) {
  const std::string terms = SizeText(ProductOf(contraction.contraction.k));
  const std::string results = Parenthesized(SizeText(Product(problem.stage(contraction.stage).extents)));
  const std::string& room = parts.storage.capacity;
  Lines lines;
  lines.Add(
      fmt::format("// Of at least {} terms each, no more than fill the chip, and none without tiles.", kTermsOfBlock));
  lines.Add(fmt::format("int {} = {};", name, CeilDivided(terms, std::to_string(kTermsOfBlock))));
  lines.Add(fmt::format("if ({0} * {1} > {2}) {0} = {2} / {1};", name, tiles, parts.blocks));
  lines.Add(fmt::format("if ({0} * {1} > {2}) {0} = {2} / {1};", name, results, Parenthesized(room)));
  lines.Add(fmt::format("if ({0} < 1) {0} = 1;", name));
  return lines.text();
}

CodeOutcome FinishSums(const Problem& problem, const Group& group, const ContractionGroup& contraction,
                       const SumParts& parts, const std::string& number_of_parts) {
  const Accumulator sum{.op = core::ReduceOp::kSum,
                        .type = core::ValueType::kReal,
                        .c_type = problem.real(),
                        .value = "sum",
                        .index = ""};
  Group values;
  for (const size_t i : group.stages)
    if (problem.stage(i).output) values.stages.push_back(i);
  Code code;
  FinishWriter finish(problem, parts.plan, parts.storage, {{problem.stage(contraction.stage).name, sum}});
  if (const auto refusal = finish.Write(values, number_of_parts, code)) return *refusal;
  if (!parts.storage.definition.empty()) code.helpers.push_back(parts.storage.definition);
  return code;
}

}  // namespace warpwright::schedule

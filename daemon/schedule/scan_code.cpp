#include "schedule/scan_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/late_stores.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;

constexpr int kVectorBytes = 16;

std::string StoreOffset(const Problem& problem, const core::Stage& stage, const VariableTexts& variables) {
  std::vector<std::string> at;
  for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
  return OffsetText(problem, ShapeOf(problem, stage.name), at);
}

}  // namespace

ScanFrame::ScanFrame(const Problem& problem, const ScanPlan& plan)
    : names(problem),
      variables(NamesOfVariables(problem.stage(plan.group.stage), {}, names)),
      rows(plan.rows, variables, names, "row", "rows"),
      axis({plan.axis}, variables, names, "i", "count") {
  variables[plan.prefix.term] = axis.index();
  sum = names.TakeOf({WordFor(plan.reduce.op), "total"});
  if (!plan.along) return;
  for (const char* constant : {"kItems", "kStep", "kWidth", "kChunks"}) names.Take(constant);
  length = names.Take("length"), parts = names.Take("parts"), part = names.Take("part"), begin = names.Take("begin"),
  end = names.Take("end");
}

ScanCode::ScanCode(const Problem& problem, ScanPlan plan)
    : problem_(problem), plan_(std::move(plan)), stage_(problem.stage(plan_.group.stage)) {
  const auto types = core::TypesOf(problem.form, stage_);
  const bool counts = types[plan_.reduce.body] == core::ValueType::kBoolean;
  sum_.op = plan_.reduce.op;
  sum_.type = counts ? core::ValueType::kInteger : types[plan_.reduce.body];
  Names names(problem);
  Lines none;
  const ExpressionCode code(problem, stage_, {}, names, none);
  sum_.c_type = counts ? "int" : code.CType(plan_.reduce.body);
}

void ScanCode::PlanPacking(int most) {
  const std::vector<Access> reads = AccessesOf(problem_, stage_);
  const Dimension of_term{{plan_.prefix.term}, plan_.axis.extent, ""},
      of_axis{{plan_.axis.variable}, plan_.axis.extent, ""};
  size_t largest = core::SizeOf(problem_.stage(plan_.group.outputs.front().stage).dtype);
  for (const Access& read : reads)
    if (IsContiguous(read, of_term)) largest = std::max(largest, core::SizeOf(read.dtype));
  packing_.width = std::min(most, kVectorBytes / static_cast<int>(largest));
  if (packing_.width == 1) return;
  packing_.conditions = {fmt::format("{} % {} == 0", Parenthesized(SizeText(plan_.axis.extent)), packing_.width)};
  for (const Access& read : reads)
    if (!read.store && IsContiguous(read, of_term))
      if (const auto needs = Divisible(read, of_term, packing_.width)) packing_.Add(read, *needs);
  for (const StageReader& output : plan_.group.outputs) {
    const core::Stage& stage = problem_.stage(output.stage);
    const Access store{stage.name, stage.dtype, true, StoredOffset(problem_, output)};
    if (!IsContiguous(store, of_axis) || !stage.domain.empty()) continue;
    if (const auto needs = Divisible(store, of_axis, packing_.width)) packing_.Add(store, *needs);
  }
}

const Access* ScanCode::HeldStore(const std::string& tensor) const {
  const auto found = std::find_if(packing_.accesses.begin(), packing_.accesses.end(),
                                  [&](const Access& a) { return a.store && a.tensor == tensor; });
  return packs() && found != packing_.accesses.end() ? &*found : nullptr;
}

std::string ScanCode::Term(ScanFrame& frame, Lines& lines, bool packed) {
  Scope scope{.variables = frame.variables};
  if (packed)
    scope.value = [&](const core::TensorRead& read) -> std::optional<std::string> {
      const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
      for (const Access& access : packing_.accesses)
        if (tensor != nullptr && !access.store && SamePlace(access, AccessOf(*tensor, read)))
          return Loaded(problem_, tensor->dtype, HeldName(access) + ".at[" + Neighbour() + "]");
      return std::nullopt;
    };
  ExpressionCode code(problem_, stage_, std::move(scope), frame.names, lines);
  const std::string value = code.Value(plan_.reduce.body, sum_.type);
  if (code.refusal()) refusal_ = code.refusal();
  return value;
}

void ScanCode::WriteOutputs(ScanFrame& frame, const std::string& value, Lines& lines, bool packed) {
  LateStores stores(problem_, frame.names, plan_.group.outputs.size() > 1);
  for (const StageReader& output : plan_.group.outputs) {
    const core::Stage& stage = problem_.stage(output.stage);
    std::map<VariableId, std::string> variables;
    for (const auto& [own, of_sum] : output.variables) variables[own] = frame.variables.at(of_sum);
    const std::string domain = output.stage == plan_.group.stage ? "" : ConditionText(stage.domain, variables);
    const Access* held = packed ? HeldStore(stage.name) : nullptr;
    if (held == nullptr) stores.Open(lines, stage, domain);
    std::string stored = value;
    core::ValueType type = sum_.type;
    if (output.stage != plan_.group.stage) {
      Scope scope{.variables = variables, .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                    return read.stage && read.tensor == stage_.name ? std::optional(value) : std::nullopt;
                  }};
      ExpressionCode code(problem_, stage, std::move(scope), frame.names, lines);
      stored = code.Root();
      type = code.TypeOf(static_cast<core::NodeId>(stage.nodes.size() - 1));
      if (code.refusal()) refusal_ = code.refusal();
    }
    stored = Stored(problem_, stage.dtype, type, stored);
    if (held != nullptr) {
      lines.Add(fmt::format("{}.at[{}] = {};", HeldName(*held), Neighbour(), stored));
      continue;
    }
    stores.Set(lines, fmt::format("{}[{}]", stage.name, StoreOffset(problem_, stage, variables)), stored);
    stores.Close(lines);
  }
  stores.Write(lines);
}

}  // namespace warpwright::schedule

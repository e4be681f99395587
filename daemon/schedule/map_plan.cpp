#include "schedule/map_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "schedule/contraction_group.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kLongestWindow = 256;  // terms that one thread sums

constexpr size_t kMostParts = 8, kMostPartNodes = 240;  // of an output: more is no text for people

std::optional<core::RewriteRefusal> CheckWindow(const Problem& problem, const core::Stage& stage) {
  for (const core::Node& node : stage.nodes) {
    const auto* reduce = std::get_if<core::Reduce>(&node);
    if (reduce == nullptr) continue;
    std::vector<core::Size> extents;
    for (const auto& variable : reduce->variables) extents.push_back(variable.extent);
    const auto terms = LargestOf(problem, Product(extents));
    if (!terms || *terms > kLongestWindow) return Refuse("a reduction is too long for one thread");
    if (IsLongProduct(problem, stage, *reduce))
      return Refuse("a product of matrices is for threads that share its factors");
    const core::VariableSet own = core::VariablesOf(*reduce);
    for (const core::Node& term : stage.nodes)
      if (const auto* read = std::get_if<core::TensorRead>(&term); read && read->stage)
        for (const core::Coordinate& at : read->at)
          if (const auto* position = std::get_if<core::Affine>(&at); position && (core::VariablesOf(*position) & own))
            return Refuse("a reduction is of results of another one");
  }
  return std::nullopt;
}

// In place is fine as long as a thread reads nothing but what it writes itself, which it does at the end: an element
// from itself, or a pair from the same pair. `windows`: of stages with reductions, whose variables are not the
// outputs', though they have the same numbers.
std::optional<core::RewriteRefusal> CheckInPlace(const std::vector<Access>& of_outputs,
                                                 const std::vector<Access>& windows) {
  const auto refuse = [](const Access& store) {
    return Refuse(store.tensor + " is changed in place, and other elements are computed from it");
  };
  for (const Access& store : of_outputs) {
    if (!store.store) continue;
    for (const Access& load : of_outputs) {
      if (load.store || store.tensor != load.tensor) continue;
      const auto own = [&](const Access& other) { return other.store && SamePlace(other, load); };
      if (std::none_of(of_outputs.begin(), of_outputs.end(), own)) return refuse(store);
    }
    for (const Access& load : windows)
      if (store.tensor == load.tensor) return refuse(store);
  }
  return std::nullopt;
}

int WidthFor(const std::vector<Access>& accesses, const Dimension& last, int bytes) {
  size_t largest = 1;
  for (const Access& access : accesses)
    if (IsContiguous(access, last)) largest = std::max(largest, core::SizeOf(access.dtype));
  return std::max(1, bytes / static_cast<int>(largest));
}

void PackNeighbours(const Problem& problem, MapPlan& plan, const std::vector<Access>& accesses, int bytes) {
  if (plan.dimensions.empty() || !plan.windows.empty()) return;
  const Dimension& last = plan.dimensions.back();
  Packing packing;
  packing.width = WidthFor(accesses, last, bytes);
  if (packing.width == 1) return;
  packing.conditions = {fmt::format("{} % {} == 0", Parenthesized(SizeText(last.extent)), packing.width)};
  for (const Access& access : accesses) {
    std::optional<std::vector<std::string>> needs;
    if (IsContiguous(access, last)) needs = Divisible(access, last, packing.width);
    if (!needs && access.store) return;
    if (needs) packing.Add(access, *needs);
  }
  for (const BufferPart& output : plan.outputs) {
    for (const core::Node& node : output.stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !IsGatheredRow(problem, output.stage, *read, last)) continue;
      const core::TensorArgument& tensor = *problem.form.FindTensor(read->tensor);
      packing.gathered.push_back(read->tensor);
      packing.bytes = std::max(packing.bytes, packing.width * static_cast<int>(core::SizeOf(tensor.dtype)));
      const core::Size& begin = std::get<core::Affine>(read->at.back()).constant;
      for (const core::Size* size : {&tensor.shape.back(), &begin}) {
        const std::string needs = fmt::format("{} % {} == 0", Parenthesized(SizeText(*size)), packing.width);
        const bool known =
            Equal(*size, last.extent) || core::IsNumber(*size, 0) ||
            std::find(packing.conditions.begin(), packing.conditions.end(), needs) != packing.conditions.end();
        if (!known) packing.conditions.push_back(needs);
      }
    }
  }
  plan.packing = std::move(packing);
}

// Parts of as many elements each, such as the halves that a rotation makes of two halves: a thread computes one of
// each.
bool HaveSameElements(const std::vector<BufferPart>& parts) {
  const auto& first = parts.front().stage.extents;
  return parts.size() <= kMostParts && std::all_of(parts.begin(), parts.end(), [&](const BufferPart& part) {
           const auto& own = part.stage.extents;
           return part.where.empty() && std::equal(own.begin(), own.end(), first.begin(), first.end(), Equal);
         });
}

// As the stages have them, if each output is whole or all have the same elements; else over the coordinates of their
// buffers.
std::variant<core::RewriteRefusal, std::vector<BufferPart>> OutputsOf(const Problem& problem, const Group& group) {
  std::vector<BufferPart> outputs;
  bool whole = true;
  size_t nodes = 0;
  for (size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    if (!stage.output) continue;
    for (const BufferPart& other : outputs) whole &= other.stage.name != stage.name;
    outputs.push_back({stage, stage.domain});
    nodes += stage.nodes.size();
  }
  if (outputs.size() > 1)
    for (const BufferPart& output : outputs) whole &= output.where.empty();
  if (whole || HaveSameElements(outputs)) return outputs;
  if (outputs.size() > kMostParts || nodes > kMostPartNodes) return Refuse("an output has too many parts to be read");
  for (BufferPart& output : outputs) {
    auto part = OverBuffer(problem, output.stage);
    if (!part) return Refuse("a part of an output has no coordinates of its own");
    output = std::move(*part);
  }
  // The inside first, which most elements are of.
  const auto elements = [&](const BufferPart& part) {
    double product = 1;
    for (const auto& guard : part.where)
      if (guard.high && guard.low)
        product *= static_cast<double>(ValueIn(*guard.high, HeaviestCase(problem)).value_or(1) -
                                       ValueIn(*guard.low, HeaviestCase(problem)).value_or(0));
      else product /= 2;
    return product;
  };
  std::stable_sort(outputs.begin(), outputs.end(), [&](const BufferPart& a, const BufferPart& b) {
    return a.stage.name == b.stage.name && elements(a) > elements(b);
  });
  return outputs;
}

}  // namespace

bool IsGatheredRow(const Problem& problem, const core::Stage& stage, const core::TensorRead& read,
                   const Dimension& last) {
  const core::TensorArgument* tensor = problem.form.FindTensor(read.tensor);
  if (tensor == nullptr || read.at.size() < 2 || AccessOf(*tensor, read).offset) return false;
  const core::VariableId inner = last.variables.back();
  const auto* fast = std::get_if<core::Affine>(&read.at.back());
  if (last.variables.size() != 1 || fast == nullptr || fast->terms.size() != 1) return false;
  const core::Affine::Term& step = fast->terms.front();
  if (step.variable != inner || step.part != core::Affine::Part::kWhole || !core::IsNumber(step.coefficient, 1) ||
      !core::IsNumber(fast->divisor, 1))
    return false;
  const auto free = core::FreeVariables(stage);
  return std::all_of(read.at.begin(), read.at.end() - 1, [&](const core::Coordinate& coordinate) {
    const auto* position = std::get_if<core::Affine>(&coordinate);
    const core::VariableSet variables =
        position ? core::VariablesOf(*position) : free[std::get<core::NodeId>(coordinate)];
    return (variables & core::SetOf(inner)) == 0;
  });
}

static std::set<std::string> ReadElsewhere(const std::vector<Access>& of_outputs, const std::vector<Access>& windows) {
  std::set<std::string> tensors;
  for (const Access& load : windows) tensors.insert(load.tensor);
  for (const Access& store : of_outputs)
    for (const Access& load : of_outputs)
      if (store.store && !load.store && !SamePlace(store, load)) tensors.insert(load.tensor);
  return tensors;
}

MapPlanOutcome PlanMap(const Problem& problem, const Group& group, int vector_bytes) {
  MapPlan plan;
  auto outputs = OutputsOf(problem, group);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&outputs)) return *refusal;
  plan.outputs = std::move(std::get<std::vector<BufferPart>>(outputs));
  if (plan.outputs.empty()) return Refuse("nothing is written");
  std::vector<Access> windows, of_outputs;
  core::VariableSet apart = 0;
  for (size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    if (const auto refusal = CheckWindow(problem, stage)) return *refusal;
    if (stage.output) continue;
    plan.windows.push_back(i);
    const auto own = AccessesOf(problem, stage);
    windows.insert(windows.end(), own.begin(), own.end());
  }
  const core::Stage& first = plan.outputs[0].stage;
  bool partial = false;
  for (const BufferPart& output : plan.outputs) {
    const core::Stage& stage = output.stage;
    if (!std::equal(stage.extents.begin(), stage.extents.end(), first.extents.begin(), first.extents.end(), Equal))
      return Refuse("the outputs have different shapes");
    const auto own = AccessesOf(problem, stage);
    of_outputs.insert(of_outputs.end(), own.begin(), own.end());
    apart |= UsedApart(problem, stage);
    for (const core::Guard& guard : output.where) apart |= core::VariablesOf(guard.value);
    partial |= !output.where.empty();
  }
  if (const auto refusal = CheckInPlace(of_outputs, windows)) return *refusal;
  plan.read_elsewhere = ReadElsewhere(of_outputs, windows);
  plan.dimensions = DimensionsOf(0, first.extents, of_outputs, apart);
  if (!partial) PackNeighbours(problem, plan, of_outputs, vector_bytes);
  return plan;
}

}  // namespace warpwright::schedule

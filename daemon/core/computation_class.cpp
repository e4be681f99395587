// The class of a whole Computation, or of some of its stages, from those of the stages.
#include <algorithm>
#include <set>

#include "core/computation_structure.h"
#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

// The stages that a stage depends on.
std::set<std::string> SourcesOf(const Computation& computation, const std::string& name) {
  std::set<std::string> sources, open = {name};
  while (!open.empty()) {
    const std::string next = *open.begin();
    open.erase(open.begin());
    for (const auto& stage : computation.stages) {
      if (stage.name != next) continue;
      for (const auto& node : stage.nodes)
        if (const auto* read = std::get_if<TensorRead>(&node);
            read != nullptr && read->stage && sources.insert(read->tensor).second)
          open.insert(read->tensor);
    }
  }
  return sources;
}

// softmax(product) times a third operand: two contractions, the second over exponentials of the first.
bool IsAttention(const Computation& computation, const ComputationStructure& structure) {
  for (const auto& second : structure.contractions) {
    const auto sources = SourcesOf(computation, second.stage);
    for (const auto& first : structure.contractions) {
      if (!sources.contains(first.stage) || first.stage == second.stage) continue;
      bool exponential = false;
      for (const auto& stage : computation.stages) {
        if (stage.name != second.stage && !sources.contains(stage.name)) continue;
        for (const auto& node : stage.nodes)
          if (const auto* call = std::get_if<Call>(&node))
            exponential = exponential || call->function == Function::kExp || call->function == Function::kExp2;
      }
      const bool normalised = std::any_of(structure.axes.begin(), structure.axes.end(), [&](const ReductionAxis& axis) {
        return axis.stage != first.stage && (axis.tensor == first.stage || sources.contains(axis.tensor));
      });
      if (exponential && normalised) return true;
    }
  }
  return false;
}

// An element needs a reduction that does not depend on all of its variables, and something beside it.
bool IsRowProgram(const Computation& computation, const std::vector<StageClass>& stages) {
  for (const auto& of_stage : stages) {
    const Stage& stage = computation.stages[of_stage.index];
    const std::vector<VariableSet> free = FreeVariables(stage);
    for (NodeId id = 0; id < stage.nodes.size(); ++id) {
      const auto* read = std::get_if<TensorRead>(&stage.nodes[id]);
      const bool of_reduction = read != nullptr && read->stage && HasReduction(*computation.FindStage(read->tensor));
      const bool reduction = std::holds_alternative<Reduce>(stage.nodes[id]);
      if (!of_reduction && !reduction) continue;
      if ((free.back() & ~free[id]) != 0) return true;
    }
  }
  return false;
}

// The partial sums of a contraction whose inner dimension was split.
bool JoinsSplitSums(const Stage& stage, const ComputationStructure& structure) {
  for (const auto& node : stage.nodes) {
    const auto* reduce = std::get_if<Reduce>(&node);
    if (reduce == nullptr) continue;
    const auto* read = std::get_if<TensorRead>(&stage.nodes[reduce->body]);
    if (reduce->op != ReduceOp::kSum || read == nullptr || !read->stage) return false;
    return std::any_of(structure.contractions.begin(), structure.contractions.end(), [&](const Contraction& c) {
      if (c.stage != read->tensor) return false;
      for (const VariableId split : c.batch) {
        const auto* position = split < read->at.size() ? std::get_if<Affine>(&read->at[split]) : nullptr;
        if (position != nullptr && (VariablesOf(*position) & VariablesOf(*reduce)) != 0) return true;
      }
      return false;
    });
  }
  return false;
}

// The class of some of the stages together. What only moves elements, or picks some, counts where nothing else is done;
// so do reductions beside an extremum's position.
OperationClass Together(const Computation& computation, const ComputationStructure& structure,
                        const std::vector<StageClass>& stages) {
  std::set<OperationClass> found;
  for (const auto& stage : stages)
    if (!IsReduction(stage.operation) || !JoinsSplitSums(computation.stages[stage.index], structure))
      found.insert(stage.operation);
  found.erase(OperationClass::kElementwise);
  const bool row_program = IsRowProgram(computation, stages);
  const bool groups = std::all_of(structure.windows.begin(), structure.windows.end(), IsGroup);
  if (row_program && groups && found.erase(OperationClass::kStencil) > 0) found.insert(OperationClass::kRowReduction);
  if (row_program && found.erase(OperationClass::kScan) > 0)  // a triangular softmax: its prefixes are rows
    found.insert(OperationClass::kRowReduction);
  for (const auto light : {OperationClass::kTranspose, OperationClass::kGather})
    if (found.size() > 1) found.erase(light);
  if (found.contains(OperationClass::kFullReduction) || found.contains(OperationClass::kArgReduction))
    found.erase(OperationClass::kRowReduction);
  if (found.contains(OperationClass::kArgReduction)) found.erase(OperationClass::kFullReduction);
  if (found.empty()) return OperationClass::kElementwise;
  if (found.size() > 1) return OperationClass::kComposition;
  return IsReduction(*found.begin()) && row_program ? OperationClass::kRowNormalization : *found.begin();
}

}  // namespace

OperationClass ClassOf(const Computation& computation, const ComputationStructure& structure) {
  return IsAttention(computation, structure) ? OperationClass::kAttention
                                             : Together(computation, structure, structure.stages);
}

std::optional<OperationClass> ClassOfLines(const Computation& computation, const ComputationStructure& structure,
                                           int first, int last) {
  std::vector<StageClass> inside;
  std::copy_if(structure.stages.begin(), structure.stages.end(), std::back_inserter(inside), [&](const StageClass& s) {
    const int line = computation.stages[s.index].line;
    return first <= line && line <= last;
  });
  if (inside.empty()) return std::nullopt;
  return Together(computation, structure, inside);
}

}  // namespace warpwright::core

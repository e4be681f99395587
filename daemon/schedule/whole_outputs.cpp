#include "schedule/whole_outputs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/affine.h"
#include "core/computation_inline.h"
#include "core/computation_walk.h"
#include "schedule/edges.h"
#include "schedule/parts.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::Stage;

constexpr size_t kMostInlinedNodes = 256;

const core::TensorRead* StageRead(const core::Node& node) {
  const auto* read = std::get_if<core::TensorRead>(&node);
  return read != nullptr && read->stage ? read : nullptr;
}

// The only reduction that nobody but this stage reads; none: there is none, or there are several.
const Stage* OwnReduction(const core::Computation& computation, const Stage& part) {
  const Stage* own = nullptr;
  for (const core::Node& node : part.nodes) {
    const core::TensorRead* read = StageRead(node);
    const Stage* from = read ? computation.FindStage(read->tensor) : nullptr;
    if (from == nullptr || from == own) continue;
    if (own != nullptr) return nullptr;
    own = from;
  }
  if (own == nullptr || !core::HasReduction(*own)) return nullptr;
  for (const Stage& other : computation.stages)
    if (&other != &part && ReadsTensor(other, own->name, true)) return nullptr;
  return own;
}

// The part with the reduction that it reads inside.
std::optional<Stage> WithReduction(const core::Computation& computation, const Stage& part, const Stage& reduction) {
  core::Computation both = computation;
  both.stages = {reduction, part};
  both = core::Inlined(both, kMostInlinedNodes);
  return both.stages.size() == 1 ? std::optional(both.stages.front()) : std::nullopt;
}

// The other way: the reduction as a stage of this name, which the rest reads.
std::vector<Stage> Staged(const Stage& whole, const std::string& name) {
  const auto reduce = std::find_if(whole.nodes.begin(), whole.nodes.end(),
                                   [](const core::Node& node) { return std::holds_alternative<core::Reduce>(node); });
  const auto at = static_cast<NodeId>(reduce - whole.nodes.begin());
  if (reduce == whole.nodes.end() || at + 1 == whole.nodes.size()) return {whole};
  Stage sum = whole, rest = whole;
  sum.name = name, sum.output = false, sum.at.clear();
  sum.nodes.resize(at + 1);
  core::TensorRead read{name, true, {}};
  for (core::VariableId v = 0; v < whole.extents.size(); ++v) read.at.emplace_back(core::AffineOf(v));
  rest.nodes[at] = std::move(read);
  core::Computation alone;
  alone.stages = {rest};
  rest = core::Inlined(alone).stages.front();  // without what only the sum needs
  return {sum, rest};
}

bool TakeWhole(core::Computation& computation, const std::string& name) {
  std::vector<const Stage*> parts;
  for (const Stage& stage : computation.stages)
    if (stage.output && stage.name == name) parts.push_back(&stage);
  if (parts.size() < 2) return false;
  // What is computed beside it is none of this trial's business.
  core::Computation alone = computation;
  std::erase_if(alone.stages, [&](const Stage& stage) { return stage.output && stage.name != name; });
  Problem shapes;
  shapes.form.tensors = computation.tensors;
  for (const Stage* part : parts) {
    const Stage* reduction = core::HasReduction(*part) ? part : OwnReduction(computation, *part);
    if (reduction == nullptr) continue;
    const auto inlined = reduction == part ? std::optional(*part) : WithReduction(computation, *part, *reduction);
    const auto over = inlined ? OverBuffer(shapes, *inlined) : std::nullopt;
    if (!over || over->where.empty()) continue;
    const auto trial = TryParts(alone, over->stage);
    if (!trial || !trial->uniform) continue;
    const std::string own = reduction->name;
    const bool inside = reduction == part;
    std::erase_if(computation.stages, [&](const Stage& stage) {
      return (stage.output && stage.name == name) || (!inside && stage.name == own);
    });
    const std::vector<Stage> whole = inside ? std::vector{over->stage} : Staged(over->stage, own);
    computation.stages.insert(computation.stages.end(), whole.begin(), whole.end());
    return true;
  }
  return false;
}

}  // namespace

core::Computation WithWholeOutputs(core::Computation computation) {
  std::set<std::string> names;
  for (const Stage& stage : computation.stages)
    if (stage.output) names.insert(stage.name);
  for (const std::string& name : names) {
    core::Computation whole = computation;
    if (TakeWhole(whole, name) && core::Validate(whole)) computation = std::move(whole);
  }
  return computation;
}

}  // namespace warpwright::schedule

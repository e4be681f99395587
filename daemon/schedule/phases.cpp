#include "schedule/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/expression_code.h"
#include "schedule/partials.h"

namespace warpwright::schedule {
namespace {

using core::Computation;
using core::Stage;

const core::TensorRead* AsRead(const core::Node& node) { return std::get_if<core::TensorRead>(&node); }

// Names of the stages that these need, with themselves, without going through `cut`.
void AddNeeded(const Computation& computation, const std::string& name, const std::string& cut,
               std::set<std::string>& needed) {
  if (name == cut || !needed.insert(name).second) return;
  for (const Stage& stage : computation.stages) {
    if (stage.name != name) continue;
    for (const core::Node& node : stage.nodes)
      if (const auto* read = AsRead(node); read && read->stage) AddNeeded(computation, read->tensor, cut, needed);
  }
}

// Which arguments the stages read and write.
void UpdateTensors(Computation& computation) {
  for (core::TensorArgument& tensor : computation.tensors) {
    tensor.read = tensor.written = false;
    for (const Stage& stage : computation.stages) {
      tensor.read |= ReadsTensor(stage, tensor.name, false);
      tensor.written |= stage.output && stage.name == tensor.name;
    }
  }
}

bool SameShape(const std::vector<core::Size>& a, const std::vector<core::Size>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), Equal);
}

class Cut {
 public:
  Cut(const Computation& computation, const Stage& stage, core::DType real)
      : computation_(computation), stage_(stage), real_(real) {
    AddNeeded(computation, stage.name, "", before_);
    for (const Stage& output : computation.stages)
      if (output.output && !before_.contains(output.name)) AddNeeded(computation, output.name, stage.name, after_);
  }

  // Whether both sides stand for themselves: nothing is reduced twice, and nothing is read after it was overwritten.
  bool IsClean() const {
    if (after_.empty()) return false;
    bool read = false;
    for (const Stage& stage : computation_.stages) {
      const bool early = before_.contains(stage.name), late = after_.contains(stage.name);
      if (early && late && core::HasReduction(stage)) return false;
      read |= late && ReadsTensor(stage, stage_.name, true);
      for (const Stage& output : computation_.stages)
        if (late && output.output && before_.contains(output.name) && ReadsTensor(stage, output.name, false))
          return false;
    }
    return read;
  }

  bool CanStoreIn(const core::Argument& argument) const {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || !HoldsValue(buffer->dtype)) return false;
    const std::string& name = argument.name;
    // Whoever needs what was there before would read the intermediate.
    for (const Stage& stage : computation_.stages)
      if (ReadsTensor(stage, name, false) || (before_.contains(name) && stage.name == name)) return false;
    if (buffer->role == core::Role::kScratch)
      return Polynomial::Of(Product(buffer->shape)) == Polynomial::Of(Product(stage_.extents)) &&
             computation_.FindStage(name) == nullptr;
    return buffer->role == core::Role::kOut && SameShape(buffer->shape, stage_.extents) && IsWhollyWritten(name);
  }

  Phases Through(const std::string& storage, core::DType dtype) const {
    Phases phases{Side(before_), Side(after_), "", ""};
    phases.first.stages.push_back(CopyTo(storage, dtype));
    const bool single = stage_.extents.empty();
    for (Computation* side : {&phases.first, &phases.second}) {
      auto found = std::find_if(side->tensors.begin(), side->tensors.end(),
                                [&](const core::TensorArgument& tensor) { return tensor.name == storage; });
      if (found == side->tensors.end()) found = side->tensors.insert(found, {.name = storage, .shape = {}});
      found->dtype = dtype;
      found->shape = single ? std::vector{core::Size::Constant(1)} : stage_.extents;
    }
    for (Stage& stage : phases.second.stages)
      for (core::Node& node : stage.nodes)
        if (auto* read = std::get_if<core::TensorRead>(&node); read && read->stage) {
          if (!after_.contains(read->tensor)) read->stage = false;  // it is there by now
          if (read->tensor != stage_.name) continue;
          read->tensor = storage;
          if (single) read->at = {core::AffineOf(core::Size::Constant(0))};
        }
    UpdateTensors(phases.first);
    UpdateTensors(phases.second);
    // What only the second one reads is not the first one's to use.
    for (core::TensorArgument& tensor : phases.first.tensors)
      tensor.read |= phases.second.FindTensor(tensor.name)->read;
    return phases;
  }

  // A narrower buffer of the entry held this value, or one that is made of it, rounded alike: the judge compares.
  bool HoldsValue(core::DType dtype) const {
    if (core::TypesOf(computation_, stage_).back() != core::ValueType::kReal) return false;
    return dtype == real_ || dtype == core::DType::kF16 || dtype == core::DType::kBF16;
  }

 private:
  using Polynomial = core::Polynomial;

  Stage CopyTo(const std::string& storage, core::DType dtype) const {
    Stage copy{.name = storage, .output = true, .dtype = dtype, .extents = stage_.extents, .line = stage_.line};
    core::TensorRead read{stage_.name, true, {}};
    for (core::VariableId v = 0; v < stage_.extents.size(); ++v) read.at.emplace_back(core::AffineOf(v));
    if (stage_.extents.empty()) copy.extents = {core::Size::Constant(1)};
    copy.nodes = {std::move(read)};
    return copy;
  }
  bool IsWhollyWritten(const std::string& name) const {
    return std::any_of(computation_.stages.begin(), computation_.stages.end(), [&](const Stage& stage) {
      return stage.output && stage.name == name && stage.at.empty() && stage.domain.empty() &&
             SameShape(stage.extents, stage_.extents);
    });
  }
  Computation Side(const std::set<std::string>& names) const {
    Computation side = computation_;
    std::erase_if(side.stages, [&](const Stage& stage) { return !names.contains(stage.name); });
    return side;
  }

  const Computation& computation_;
  const Stage& stage_;
  const core::DType real_;
  std::set<std::string> before_, after_;  // stages; with the cut one, without it
};

bool IsWorthMemory(const Computation& computation, const Stage& stage) {
  const auto parts = std::count_if(computation.stages.begin(), computation.stages.end(),
                                   [&](const Stage& s) { return s.name == stage.name; });
  return !stage.output && parts == 1;
}

// The reduction's terms as a stage of their own, where they are made of other reductions: the loss of every row as what
// the whole loss sums up.
std::optional<Computation> WithTermsApart(const Computation& computation, size_t at) {
  const Stage& stage = computation.stages[at];
  const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
  if (reduce == nullptr || !reduce->guards.empty() || core::IsArg(reduce->op) || !stage.domain.empty())
    return std::nullopt;
  const bool of_reductions = std::any_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
    const auto* read = AsRead(node);
    const Stage* from = read && read->stage ? computation.FindStage(read->tensor) : nullptr;
    return from != nullptr && core::HasReduction(*from);
  });
  if (!of_reductions) return std::nullopt;
  Stage terms = stage;
  terms.name = stage.name + "_terms", terms.output = false, terms.at.clear();
  terms.nodes.resize(reduce->body + 1);
  core::TensorRead read{terms.name, true, {}};
  core::Reduce sum = *reduce;
  std::map<core::VariableId, core::Affine> renumbered;
  for (core::VariableId v = 0; v < stage.extents.size(); ++v) read.at.emplace_back(core::AffineOf(v));
  for (auto& variable : sum.variables) {
    const auto id = static_cast<core::VariableId>(terms.extents.size());
    renumbered[variable.id] = core::AffineOf(id);
    read.at.emplace_back(core::AffineOf(id));
    terms.extents.push_back(variable.extent);
    variable.id = id;
  }
  bool expressed = true;
  for (core::Node& node : terms.nodes)
    core::ForEachPosition(node, [&](core::Affine& position) {
      const auto replaced = core::Substituted(position, renumbered);
      expressed &= replaced.has_value();
      if (replaced) position = *replaced;
    });
  if (!expressed) return std::nullopt;
  sum.body = 0;
  Computation apart = computation;
  apart.stages[at].nodes = {std::move(read), std::move(sum)};
  apart.stages.insert(apart.stages.begin() + static_cast<std::ptrdiff_t>(at), std::move(terms));
  return apart;
}

// Few enough for an array of the module at all sizes that are timed.
bool IsShort(const Problem& problem, const Stage& stage) {
  return LargestOf(problem, Product(stage.extents)).value_or(INT64_MAX) <= kPartials;
}

}  // namespace

std::vector<PlaceToCut> PlacesToCut(const Computation& computation) {
  std::vector<PlaceToCut> places, whole;
  // What the original stored was often finished terms: rounded as they are, not as the sum that they are made of.
  for (size_t i = 0; i < computation.stages.size(); ++i)
    if (auto apart = WithTermsApart(computation, i)) places.push_back({std::move(*apart), i});
  for (size_t i = 0; i < computation.stages.size(); ++i)
    if (IsWorthMemory(computation, computation.stages[i])) whole.push_back({computation, i});
  // What has the most variables first: it is the product, not the statistics of its rows.
  std::stable_sort(whole.begin(), whole.end(), [](const PlaceToCut& a, const PlaceToCut& b) {
    return a.computation.stages[a.stage].extents.size() > b.computation.stages[b.stage].extents.size();
  });
  places.insert(places.end(), whole.begin(), whole.end());
  return places;
}

std::optional<Phases> CutAt(const Problem& problem, const PlaceToCut& place) {
  const Stage& stage = place.computation.stages[place.stage];
  const core::DType real = problem.in_double ? core::DType::kF64 : core::DType::kF32;
  const Cut cut(place.computation, stage, real);
  if (!cut.IsClean()) return std::nullopt;
  const auto& arguments = problem.input.spec.args;
  // What sums are formed in, wherever it stands: a narrower output before it would round what the original did not.
  const auto with_type = [&](bool wide) {
    return std::find_if(arguments.begin(), arguments.end(), [&](const core::Argument& argument) {
      return cut.CanStoreIn(argument) && (std::get<core::BufferArgument>(argument.kind).dtype == real) == wide;
    });
  };
  auto storage = with_type(true);
  if (storage == arguments.end()) storage = with_type(false);
  if (storage != arguments.end())
    return cut.Through(storage->name, std::get<core::BufferArgument>(storage->kind).dtype);
  if (!IsShort(problem, stage) || !cut.HoldsValue(real)) return std::nullopt;
  const std::string name = KernelName(problem, "results");
  const core::Size count = Product(stage.extents);
  Phases phases = cut.Through(name, real);
  const bool fixed = count.Variables().empty();
  phases.definition = fmt::format(
      "// Between two kernels of a launch, which reads nothing that it has not written.\n"
      "static __device__ __align__(16) {} {}[{}];\n",
      problem.real(), name, fixed ? SizeText(count) : std::to_string(kPartials));
  if (!fixed) phases.condition = fmt::format("{} <= {}", SizeText(count), kPartials);
  return phases;
}

}  // namespace warpwright::schedule

#include "schedule/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/expression_code.h"
#include "schedule/factors_apart.h"
#include "schedule/partials.h"

namespace warpwright::schedule {
namespace {

using core::Computation;
using core::Stage;

const core::TensorRead* AsRead(const core::Node& node) { return std::get_if<core::TensorRead>(&node); }

// Names of the stages that these need, with themselves, without going through those of `cut`.
void AddNeeded(const Computation& computation, const std::string& name, const std::set<std::string>& cut,
               std::set<std::string>& needed) {
  if (cut.contains(name) || !needed.insert(name).second) return;
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

// A narrower extent that is rounded down from the wider one to a multiple: "2 * ((height - 2) / 2)" of "height - 2".
bool IsRoundedDown(const core::Size& size, const core::Size& from) {
  const int64_t multiple = core::Polynomial::Of(size).Content();
  if (multiple < 2) return false;
  const auto rounded = core::Size::Parse(fmt::format("{0} * (({1}) / {0})", multiple, from.text()));
  return rounded && core::Polynomial::Of(*rounded) == core::Polynomial::Of(size);
}

// Groups and the elements of a group as one: "OC" of "G" and "OC / G", which together are no more.
std::vector<core::Size> WithGroupsJoined(std::vector<core::Size> extents) {
  const auto join = [&](size_t quotient, size_t groups) {
    for (const std::string& name : extents[quotient].Variables()) {
      const auto size = core::Size::Parse(fmt::format("{} / ({})", name, extents[groups].text()));
      if (!size || !Equal(*size, extents[quotient])) continue;
      extents[quotient] = *core::Size::Parse(name);
      extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(groups));
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < extents.size(); ++i)
    for (size_t j = 0; i < extents.size() && j < extents.size(); ++j)
      if (i != j && !extents[j].Variables().empty() && join(i, j)) i = j = 0;
  return extents;
}

// Whether so many elements have room in the shape at all sizes.
bool HasRoom(const std::vector<core::Size>& shape, const std::vector<core::Size>& extents) {
  const core::Polynomial all = core::Polynomial::Of(Product(shape));
  if (all == core::Polynomial::Of(Product(extents)) || all == core::Polynomial::Of(Product(WithGroupsJoined(extents))))
    return true;
  return std::equal(shape.begin(), shape.end(), extents.begin(), extents.end(),
                    [](const core::Size& room, const core::Size& extent) {
                      return Equal(room, extent) || IsRoundedDown(extent, room);
                    });
}

bool IsWorthMemory(const Computation& computation, const Stage& stage) {
  const auto parts = std::count_if(computation.stages.begin(), computation.stages.end(),
                                   [&](const Stage& s) { return s.name == stage.name; });
  return !stage.output && parts == 1;
}

// Where an intermediate lies.
struct Storage {
  std::string name;
  core::DType dtype = core::DType::kF32;
};

// The computation up to a stage, and the rest. Reductions that both sides need are cut as well: the mean beside the
// variance.
class Cut {
 public:
  Cut(const PlaceToCut& place, core::DType real)
      : computation_(place.computation),
        stage_(computation_.stages[place.stage]),
        real_(real),
        most_(place.together ? kMostTogether : 1),
        cut_{stage_.name} {
    const Computation& computation = computation_;
    while (cut_.size() <= most_) {
      before_.clear(), after_.clear();
      for (const std::string& name : cut_) AddNeeded(computation, name, {}, before_);
      for (const Stage& output : computation.stages)
        if (output.output && !before_.contains(output.name)) AddNeeded(computation, output.name, cut_, after_);
      const size_t known = cut_.size();
      for (const Stage& both : computation.stages)
        if (before_.contains(both.name) && after_.contains(both.name) && core::HasReduction(both))
          cut_.insert(both.name);
      if (cut_.size() == known) break;
    }
  }

  // Whether both sides stand for themselves: nothing is reduced twice, and nothing is read after it was overwritten. A
  // cut that is the same without the others is one that was tried before.
  bool IsClean() const {
    if (most_ > 1 && cut_.size() == 1) return false;
    if (after_.empty() || cut_.size() > most_) return false;
    bool read = false, more_than_copies = false;
    for (const Stage& stage : computation_.stages) {
      const bool late = after_.contains(stage.name);
      more_than_copies |= late && !IsCopy(stage);
      if (cut_.contains(stage.name) && !IsWorthMemory(computation_, stage)) return false;
      read |= late && ReadsTensor(stage, stage_.name, true);
      for (const Stage& output : computation_.stages)
        if (late && output.output && before_.contains(output.name) && ReadsTensor(stage, output.name, false))
          return false;
    }
    return read && more_than_copies;
  }

  // What has the most variables first.
  std::vector<const Stage*> CutStages() const {
    std::vector<const Stage*> stages;
    for (const Stage& stage : computation_.stages)
      if (cut_.contains(stage.name)) stages.push_back(&stage);
    std::stable_sort(stages.begin(), stages.end(),
                     [](const Stage* a, const Stage* b) { return a->extents.size() > b->extents.size(); });
    return stages;
  }

  bool CanStoreIn(const core::Argument& argument, const Stage& stage) const {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || !HoldsValue(buffer->dtype, stage)) return false;
    const std::string& name = argument.name;
    // Whoever needs what was there before would read the intermediate.
    for (const Stage& other : computation_.stages)
      if (ReadsTensor(other, name, false) || (before_.contains(name) && other.name == name)) return false;
    if (buffer->role == core::Role::kScratch && computation_.FindStage(name) == nullptr)
      return HasRoom(buffer->shape, stage.extents);
    // Its own elements take the place of what they are made of, in a scratch buffer too, where a phase before was cut.
    const bool is_free = buffer->role == core::Role::kScratch
                             ? HasRoom(buffer->shape, stage.extents)
                             : buffer->role == core::Role::kOut && SameShape(buffer->shape, stage.extents);
    return is_free && IsWhollyWritten(name, stage);
  }

  // `storage`: of each stage that is cut.
  Phases Through(const std::map<std::string, Storage>& storage) const {
    Phases phases{Side(before_), Side(after_), "", {}};
    for (const Stage* stage : CutStages()) {
      const Storage& own = storage.at(stage->name);
      phases.first.stages.push_back(CopyTo(*stage, own));
      for (Computation* side : {&phases.first, &phases.second}) {
        auto found = std::find_if(side->tensors.begin(), side->tensors.end(),
                                  [&](const core::TensorArgument& tensor) { return tensor.name == own.name; });
        if (found == side->tensors.end()) found = side->tensors.insert(found, {.name = own.name, .shape = {}});
        found->dtype = own.dtype;
        found->shape = stage->extents.empty() ? std::vector{core::Size::Constant(1)} : stage->extents;
      }
    }
    for (Stage& stage : phases.second.stages)
      for (core::Node& node : stage.nodes)
        if (auto* read = std::get_if<core::TensorRead>(&node); read && read->stage) {
          if (!after_.contains(read->tensor)) read->stage = false;  // it is there by now
          const auto found = storage.find(read->tensor);
          if (found == storage.end()) continue;
          read->tensor = found->second.name;
          if (read->at.empty()) read->at = {core::AffineOf(core::Size::Constant(0))};
        }
    std::erase_if(phases.second.stages, IsItself);  // it is stored by now
    UpdateTensors(phases.first);
    UpdateTensors(phases.second);
    // What only the second one reads is not the first one's to use.
    for (core::TensorArgument& tensor : phases.first.tensors)
      tensor.read |= phases.second.FindTensor(tensor.name)->read;
    return phases;
  }

  // A narrower buffer of the entry held this value, or one that is made of it, rounded alike: the judge compares.
  bool HoldsValue(core::DType dtype, const Stage& stage) const {
    if (core::TypesOf(computation_, stage).back() != core::ValueType::kReal) return false;
    return dtype == real_ || dtype == core::DType::kF16 || dtype == core::DType::kBF16;
  }

 private:
  static constexpr size_t kMostTogether = 4;

  Stage CopyTo(const Stage& stage, const Storage& to) const {
    Stage copy{.name = to.name, .output = true, .dtype = to.dtype, .extents = stage.extents, .line = stage.line};
    core::TensorRead read{stage.name, true, {}};
    for (core::VariableId v = 0; v < stage.extents.size(); ++v) read.at.emplace_back(core::AffineOf(v));
    if (stage.extents.empty()) copy.extents = {core::Size::Constant(1)};
    copy.nodes = {std::move(read)};
    return copy;
  }
  bool IsCopy(const Stage& stage) const {
    const auto* read = stage.nodes.size() == 1 ? AsRead(stage.nodes[0]) : nullptr;
    return read != nullptr && read->stage && read->tensor == stage_.name;
  }
  // An output that takes each of its elements from itself.
  static bool IsItself(const Stage& stage) {
    const auto* read = stage.nodes.size() == 1 ? AsRead(stage.nodes[0]) : nullptr;
    if (read == nullptr || read->stage || read->tensor != stage.name || !stage.output || !stage.at.empty())
      return false;
    for (core::VariableId v = 0; v < read->at.size(); ++v)
      if (read->at[v] != core::Coordinate(core::AffineOf(v))) return false;
    return true;
  }
  bool IsWhollyWritten(const std::string& name, const Stage& like) const {
    return std::any_of(computation_.stages.begin(), computation_.stages.end(), [&](const Stage& stage) {
      return stage.output && stage.name == name && stage.at.empty() && stage.domain.empty() &&
             SameShape(stage.extents, like.extents);
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
  const size_t most_;                           // stages that are cut
  std::set<std::string> cut_, before_, after_;  // stages; with the cut ones, without them
};

// How many of the stage's reads are of other stages' reductions, where it has none itself.
int ReductionsOf(const Computation& computation, const Stage& stage) {
  if (core::HasReduction(stage)) return 0;
  return static_cast<int>(std::count_if(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
    const auto* read = AsRead(node);
    const Stage* from = read && read->stage ? computation.FindStage(read->tensor) : nullptr;
    return from != nullptr && core::HasReduction(*from);
  }));
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
  terms.name = computation.FreeName(stage.name + "_terms"), terms.output = false, terms.at.clear();
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

// Whether the stage has more elements than any reduction that it reads: each of them several times.
bool SpreadsReductions(const Computation& computation, size_t at) {
  const Stage& stage = computation.stages[at];
  return std::none_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
    const auto* read = AsRead(node);
    const Stage* from = read && read->stage ? computation.FindStage(read->tensor) : nullptr;
    return from != nullptr && core::HasReduction(*from) && from->extents.size() >= stage.extents.size();
  });
}

// Few enough for an array of the module at all sizes that are timed.
bool IsShort(const Problem& problem, const Stage& stage) {
  return LargestOf(problem, Product(stage.extents)).value_or(INT64_MAX) <= kPartials;
}

// What an entry keeps between its kernels, it keeps in no fewer bits than any of its scratch buffers have.
bool KeepsAllIn(const Problem& problem, core::DType real) {
  bool keeps = false;
  for (const core::Argument& argument : problem.input.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role != core::Role::kScratch || !core::IsFloat(buffer->dtype)) continue;
    if (buffer->dtype != real) return false;
    keeps = true;
  }
  return keeps;
}

// An argument that has room for the stage, and is no other one's. What sums are formed in first, wherever it stands: a
// narrower output before it would round what the original did not. A scratch buffer before an output, which a later
// product could not write while others read it.
std::optional<Storage> ArgumentFor(const Problem& problem, const Cut& cut, const Stage& stage, core::DType real,
                                   const std::map<std::string, Storage>& taken) {
  std::optional<Storage> best;
  const auto rank = [&](core::DType dtype, core::Role role) {
    return std::pair(dtype == real, role == core::Role::kScratch);
  };
  std::pair<bool, bool> of_best;
  const bool keeps_all = KeepsAllIn(problem, real);
  for (const core::Argument& argument : problem.input.spec.args) {
    const bool free =
        std::none_of(taken.begin(), taken.end(), [&](const auto& other) { return other.second.name == argument.name; });
    if (!free || !cut.CanStoreIn(argument, stage)) continue;
    const auto& buffer = std::get<core::BufferArgument>(argument.kind);
    if (keeps_all && buffer.dtype != real) continue;
    const auto own = rank(buffer.dtype, buffer.role);
    if (best && own <= of_best) continue;
    best = Storage{argument.name, buffer.dtype};
    of_best = own;
  }
  return best;
}

}  // namespace

std::vector<PlaceToCut> PlacesToCut(const Computation& computation) {
  std::vector<PlaceToCut> places, whole;
  // What the original stored was often finished factors and terms: rounded as they are, not as the sum that they are
  // made of.
  for (FactorApart& factor : FactorsApart(computation)) places.push_back({std::move(factor.computation), factor.stage});
  for (FactorApart& of : FunctionsApart(computation)) places.push_back({std::move(of.computation), of.stage});
  std::vector<PlaceToCut> spread;
  for (size_t i = 0; i < computation.stages.size(); ++i)
    if (auto apart = WithTermsApart(computation, i))
      (SpreadsReductions(*apart, i) ? spread : places).push_back({std::move(*apart), i});
  for (size_t i = 0; i < computation.stages.size(); ++i)
    if (IsWorthMemory(computation, computation.stages[i])) whole.push_back({computation, i});
  // What has the most variables first: it is the product, not the statistics of its rows. What two products come to
  // together comes before each of them.
  const auto order = [&](const PlaceToCut& place) {
    const Stage& stage = computation.stages[place.stage];
    return std::pair(stage.extents.size(), ReductionsOf(computation, stage) >= 2);
  };
  std::stable_sort(whole.begin(), whole.end(),
                   [&](const PlaceToCut& a, const PlaceToCut& b) { return order(a) > order(b); });
  places.insert(places.end(), whole.begin(), whole.end());
  for (PlaceToCut& place : spread) places.push_back(std::move(place));
  for (PlaceToCut& place : whole) place.together = true;
  places.insert(places.end(), whole.begin(), whole.end());
  return places;
}

std::optional<Phases> CutAt(const Problem& problem, const PlaceToCut& place) {
  const core::DType real = problem.in_double ? core::DType::kF64 : core::DType::kF32;
  const Cut cut(place, real);
  if (!cut.IsClean()) return std::nullopt;
  std::map<std::string, Storage> storage;
  std::string definitions;
  std::vector<std::string> conditions;
  for (const Stage* each : cut.CutStages()) {
    if (auto argument = ArgumentFor(problem, cut, *each, real, storage)) {
      storage[each->name] = std::move(*argument);
      continue;
    }
    if (!IsShort(problem, *each) || !cut.HoldsValue(real, *each)) return std::nullopt;
    const std::string name = KernelName(problem, "results");
    const core::Size count = Product(each->extents);
    const bool fixed = count.Variables().empty();
    definitions += fmt::format(
        "// Between two kernels of a launch, which reads nothing that it has not written.\n"
        "static __device__ __align__(16) {} {}[{}];\n",
        problem.real(), name, fixed ? SizeText(count) : std::to_string(kPartials));
    // In 64 bits: a count that overflows would pass for a small one.
    if (!fixed) conditions.push_back(fmt::format("{} <= {}", WidenedProduct(SizeText(count)), kPartials));
    storage[each->name] = {name, real};
  }
  Phases phases = cut.Through(storage);
  phases.definition = std::move(definitions);
  phases.conditions = std::move(conditions);
  return phases;
}

}  // namespace warpwright::schedule

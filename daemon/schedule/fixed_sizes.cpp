#include "schedule/fixed_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/kernel_text.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kSmall = 16;

std::optional<int64_t> SmallValue(const core::Size& size, const core::ScheduledCase& c) {
  const auto value = size.Evaluate(c.sizes);
  return value && *value >= 0 && *value <= kSmall ? std::optional<int64_t>(*value) : std::nullopt;
}

// Names by what they are used for, in the first case.
class Uses {
 public:
  Uses(const core::ScheduledCase& c, const core::Computation& computation) : case_(c) {
    for (const core::TensorArgument& tensor : computation.tensors)
      for (const core::Size& extent : tensor.shape) dimensions_.insert(extent.text());
    for (const core::Stage& stage : computation.stages) Add(stage);
  }
  std::set<std::string> names() const {
    std::set<std::string> names = small_;
    for (const std::string& extent : extents_) names.erase(extent);
    return names;
  }

 private:
  void Add(const core::Stage& stage) {
    const bool reduces = core::HasReduction(stage);
    for (const core::Size& extent : stage.extents) extents_.insert(extent.text());
    for (const core::Node& node : stage.nodes) {
      if (const auto* reduce = std::get_if<core::Reduce>(&node))
        for (const auto& variable : reduce->variables)
          if (SmallValue(variable.extent, case_)) AddLength(variable.extent);
      if (!reduces) continue;  // "i * stride + r * dilation - pad" of a window
      core::ForEachPosition(node, [&](const core::Affine& position) {
        if (position.terms.size() < 2) return;
        AddNames(position.constant);
        for (const auto& term : position.terms) AddNames(term.coefficient);
      });
    }
  }
  // In "2 * r + 1" r is of a window; in "D - 2" D is what one has moved over.
  void AddLength(const core::Size& extent) {
    const auto names = extent.Variables();
    for (const std::string& name : names)
      if (extent.text() == name || !dimensions_.contains(name)) small_.insert(name);
  }
  void AddNames(const core::Size& size) {
    for (const std::string& name : size.Variables()) small_.insert(name);
  }
  const core::ScheduledCase& case_;
  std::set<std::string> small_, extents_, dimensions_;
};

// Its names as numbers, where they have any.
std::optional<core::Size> Bound(const core::Size& size, const std::map<std::string, int64_t>& sizes) {
  const auto names = size.Variables();
  if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return sizes.contains(name); }))
    return size;
  std::string text = size.text();
  for (const auto& [name, value] : sizes) text = WithWord(std::move(text), name, std::to_string(value));
  const auto bound = core::Size::Parse(text);
  if (!bound) return std::nullopt;
  return core::Polynomial::Of(*bound).ToExpression();
}

}  // namespace

std::map<std::string, int64_t> SmallSizes(const core::Scheduling& scheduling, const Entry& entry) {
  std::map<std::string, int64_t> sizes;
  if (scheduling.cases.empty()) return sizes;
  const core::ScheduledCase& first = scheduling.cases.front();
  const Uses uses(first, scheduling.computation);
  for (const std::string& name : uses.names()) {
    const EntryParameter* parameter = entry.Find(name);
    const auto value = first.sizes.find(name);
    if (parameter == nullptr || parameter->buffer || value == first.sizes.end()) continue;
    const bool same = std::all_of(scheduling.cases.begin(), scheduling.cases.end(), [&](const auto& c) {
      const auto other = c.sizes.find(name);
      return other != c.sizes.end() && other->second == value->second;
    });
    if (same && value->second >= 0 && value->second <= kSmall) sizes[name] = value->second;
  }
  return sizes;
}

std::optional<core::Computation> WithSizes(core::Computation computation, const std::map<std::string, int64_t>& sizes) {
  bool all = true;
  const auto bind = [&](core::Size& size) {
    auto bound = Bound(size, sizes);
    all = all && bound.has_value();
    if (bound) size = std::move(*bound);
  };
  for (core::TensorArgument& tensor : computation.tensors)
    for (core::Size& extent : tensor.shape) bind(extent);
  for (core::Stage& stage : computation.stages) core::ForEachSize(stage, bind);
  if (!all) return std::nullopt;
  return computation;
}

void BindShapes(core::KernelSpec& spec, const std::map<std::string, int64_t>& sizes) {
  for (core::Argument& argument : spec.args)
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (core::Expression& extent : buffer->shape)
        if (auto bound = Bound(extent, sizes)) extent = std::move(*bound);
}

std::string ConditionOfSizes(const std::map<std::string, int64_t>& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += fmt::format("{}{} == {}", text.empty() ? "" : " && ", name, value);
  return text;
}

}  // namespace warpwright::schedule

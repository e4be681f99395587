#include "lift/form_choice.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/computation_counts.h"
#include "core/computation_walk.h"

namespace warpwright::lift {
namespace {

using core::Computation;

// The nodes below one that read arguments.
std::set<core::NodeId> ReadsBelow(const core::Stage& stage, core::NodeId id) {
  std::set<core::NodeId> reads;
  const core::Node& node = stage.nodes[id];
  if (const auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && !read->stage) reads.insert(id);
  core::ForEachArgument(node, [&](core::NodeId argument) { reads.merge(ReadsBelow(stage, argument)); });
  return reads;
}

// Assumptions of a size, beside those of what divides what.
std::ptrdiff_t SizesWithOneValue(const Computation& computation) {
  const auto& all = computation.assumptions;
  return std::count_if(all.begin(), all.end(), [](const auto& one) { return one.find(" % ") == one.npos; });
}

bool HasQuotients(const Computation& computation) {
  bool has = false;
  for (const core::Stage& stage : computation.stages)
    for (const core::Node& node : stage.nodes)
      core::ForEachPosition(node, [&](const core::Affine& position) {
        for (const core::Affine::Term& term : position.terms)
          has |= term.part == core::Affine::Part::kQuotient && term.modulus && !term.modulus->Variables().empty();
      });
  return has;
}

std::optional<double> WorkAt(const Computation& computation, const core::Sizes& sizes) {
  const auto counts = core::CountAt(computation, sizes);
  if (!counts || core::BrokenAssumption(computation, sizes)) return std::nullopt;
  return static_cast<double>(counts->operations.Flops());
}

}  // namespace

bool MultipliesTwice(const Computation& computation) {
  std::set<std::set<std::string>> multiplied;
  for (const core::Stage& stage : computation.stages)
    for (const core::Node& node : stage.nodes) {
      const auto* sum = std::get_if<core::Reduce>(&node);
      if (sum == nullptr || sum->op != core::ReduceOp::kSum) continue;
      const auto* product = std::get_if<core::Nary>(&stage.nodes[sum->body]);
      if (product == nullptr || product->op != core::ReduceOp::kProduct) continue;
      const std::set<core::NodeId> reads = ReadsBelow(stage, sum->body);
      if (reads.size() < 2) continue;
      std::set<std::string> arguments;
      for (const core::NodeId read : reads) arguments.insert(std::get<core::TensorRead>(stage.nodes[read]).tensor);
      if (!multiplied.insert(std::move(arguments)).second) return true;
    }
  return false;
}

bool IsLessWork(const Computation& a, const Computation& b, const std::vector<core::Sizes>& sizes) {
  constexpr int kCounted = 3;
  constexpr double kLess = 0.95;
  double of_a = 0, of_b = 0;
  int counted = 0;
  for (const core::Sizes& at : sizes) {
    const auto here = WorkAt(a, at), there = WorkAt(b, at);
    if (!here || !there) continue;
    of_a += *here, of_b += *there;
    if (++counted == kCounted) break;
  }
  return counted > 0 && of_a < kLess * of_b;
}

bool IsOfAllSizes(const Computation& computation) {
  return SizesWithOneValue(computation) == 0 && !HasQuotients(computation);
}

bool IsMoreGeneral(const Computation& a, const Computation& b) {
  const std::pair of_a(SizesWithOneValue(a), HasQuotients(a)), of_b(SizesWithOneValue(b), HasQuotients(b));
  return of_a < of_b;
}

}  // namespace warpwright::lift

#include "lift/element_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "lift/canonical.h"
#include "lift/cpu_time.h"
#include "lift/memory_shadow.h"
#include "lift/point_evaluation.h"

namespace warpwright::lift {
namespace {

using core::DifferenceKind;

constexpr size_t kMaxThresholds = 64;
constexpr double kLargestThreshold = 0x1p20;  // beside larger ones nothing else would be visible
constexpr size_t kMaxForForms = 400'000;      // nodes: beyond that, only values are compared
// Rounding errors of another order of operations, over the worst case of the original's.
constexpr double kOwnRounding = 4;
constexpr double kRoundoffs = 8, kRoundoffsOfHalves = 2;  // that any candidate may add
constexpr double kLiteralFactor = 4;
// A tolerance of more than that share of the value says nothing.
constexpr double kTellingShare = 0.05;
constexpr uint64_t kSeed = 0x657175697661;  // of the inputs

std::vector<ExprId> RootsOf(std::span<const ElementPair> pairs, std::span<const DataBranch> branches) {
  std::vector<ExprId> roots;
  for (const ElementPair& pair : pairs) {
    roots.push_back(pair.original);
    roots.push_back(pair.candidate);
  }
  for (const DataBranch& branch : branches) roots.push_back(branch.predicate);
  return roots;
}

// Literals that values are compared with.
std::vector<double> ThresholdsOf(const Graph& graph, std::span<const ExprId> nodes) {
  std::set<double> thresholds;
  for (const ExprId id : nodes) {
    const Expr& e = graph[id];
    const bool compares = (e.op == ExprOp::kCompare && sim::IsFloat(e.from)) ||
                          ((e.op == ExprOp::kMin || e.op == ExprOp::kMax) && sim::IsFloat(e.type));
    if (!compares || thresholds.size() >= kMaxThresholds) continue;
    for (const ExprId arg : e.arguments()) {
      if (graph[arg].op != ExprOp::kConst) continue;
      const double value = ConstantValue(e.op == ExprOp::kCompare ? e.from : e.type, graph[arg].payload);
      if (std::fabs(value) <= kLargestThreshold) thresholds.insert(value);
    }
  }
  return {thresholds.begin(), thresholds.end()};
}

class ElementsOnInputs {
 public:
  ElementsOnInputs(const Graph& graph, std::span<const ElementPair> pairs, const ComparisonSetting& setting)
      : graph_(graph), pairs_(pairs), setting_(setting), values_(graph, RootsOf(pairs, setting.branches)) {
    told_.assign(pairs.size(), false);
    same_form_.assign(pairs.size(), false);
    thresholds_ = ThresholdsOf(graph, values_.nodes());
  }

  ComparedElements Run() {
    CompareForms();
    for (int range = 0; range < kPointRanges; ++range) {
      if (!result_.inputs.empty() && CpuSeconds() > setting_.cpu_deadline) break;
      TryPoint(static_cast<PointRange>(range), kSeed + static_cast<uint64_t>(range));
    }
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (told_[i] || same_form_[i]) continue;
      if (result_.untested++ == 0) result_.untested_example = pairs_[i];
    }
    for (const auto& [kind, difference] : clearest_) result_.differences.push_back(difference);
    return std::move(result_);
  }

 private:
  void CompareForms() {
    if (values_.nodes().size() > kMaxForForms) return;
    FormGraph forms(setting_.node_limit);
    std::vector<bool> integers;
    for (const core::DType dtype : setting_.dtypes) integers.push_back(!core::IsFloat(dtype));
    forms.SetIntegerBuffers(std::move(integers));
    const std::vector<ExprId> roots = RootsOf(pairs_, {});
    const CanonicalRoots canonical = Canonicalise(graph_, roots, forms);
    if (forms.full()) return;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const FormId original = canonical.forms[2 * i], candidate = canonical.forms[2 * i + 1];
      same_form_[i] = original != 0 && original == candidate;
      result_.same_form += same_form_[i] ? 1 : 0;
    }
  }

  bool IsOnTracedPath() const {
    return std::all_of(setting_.branches.begin(), setting_.branches.end(), [&](const DataBranch& branch) {
      const PointValue& v = values_[branch.predicate];
      return ((v.bits & 1) != 0) == branch.taken;
    });
  }

  void TryPoint(PointRange range, uint64_t seed) {
    std::vector<core::BufferContent> contents =
        MakePoint(*setting_.spec, setting_.shape->buffers, range, seed, thresholds_);
    values_.Run([&](uint16_t buffer, uint64_t element) -> uint64_t {
      if (buffer >= contents.size()) return 0;
      const size_t bytes = core::SizeOf(setting_.dtypes[buffer]);
      uint64_t bits = 0;
      if (element < contents[buffer].bytes.size() / bytes)
        std::memcpy(&bits, contents[buffer].bytes.data() + element * bytes, bytes);
      return bits;
    });
    if (!IsOnTracedPath()) return;
    result_.inputs.push_back(std::move(contents));
    for (size_t i = 0; i < pairs_.size(); ++i) Compare(i);
  }

  // An expression's value as the output's type.
  PointValue Value(ExprId id, sim::Type type) const {
    PointValue v = values_[id];
    if (graph_[id].type == type) return v;
    v.real = ConstantValue(type, v.bits);
    if (v.rounding > 0 || v.literal > 0) v.literal = v.rounding = INFINITY;
    return v;
  }

  void Compare(size_t i) {
    const ElementPair& pair = pairs_[i];
    const core::DType dtype = setting_.dtypes[pair.buffer];
    const sim::Type type = TypeOf(dtype);
    const PointValue original = Value(pair.original, type), candidate = Value(pair.candidate, type);
    const double computed = ConstantValue(type, candidate.bits);
    ElementDifference difference{
        .pair = pair, .input = result_.inputs.size() - 1, .expected = original.real, .computed = computed};
    if (!core::IsFloat(dtype)) {
      if (!std::isfinite(original.rounding)) return;
      told_[i] = true;
      difference.excess = 1e30;
      if (original.bits != candidate.bits) Keep(difference);
      return;
    }
    if (!std::isfinite(ConstantValue(type, original.bits)) || !std::isfinite(original.real)) return;
    const double own = SizeOf(dtype) == 2 ? kRoundoffsOfHalves : kRoundoffs;
    const double allowed = kOwnRounding * original.rounding + own * UnitRoundoff(type) * std::fabs(original.real);
    if (std::isfinite(allowed)) {
      told_[i] = told_[i] || allowed <= kTellingShare * std::fabs(original.real);
      const double error = std::fabs(computed - original.real);
      if (!(error <= allowed)) {
        difference.kind = DifferenceKind::kAccuracy;
        difference.excess = std::isfinite(error) && allowed > 0 ? error / allowed : 1e30;
        Keep(difference);
      }
    }
    const double literal = kLiteralFactor * (original.literal + candidate.literal);
    if (same_form_[i] || !std::isfinite(literal) || !std::isfinite(candidate.real)) return;
    told_[i] = told_[i] || literal <= kTellingShare * std::fabs(original.real);
    const double apart = std::fabs(candidate.real - original.real);
    if (apart <= literal) return;
    difference.kind = DifferenceKind::kFunction;
    difference.computed = candidate.real;
    difference.excess = allowed > 0 && std::isfinite(allowed) ? apart / allowed : std::isfinite(allowed) ? 1e30 : 0;
    Keep(difference);
  }

  void Keep(const ElementDifference& difference) {
    const auto [place, added] = clearest_.emplace(difference.kind, difference);
    if (!added && difference.excess > place->second.excess) place->second = difference;
  }

  const Graph& graph_;
  std::span<const ElementPair> pairs_;
  const ComparisonSetting& setting_;
  PointEvaluation values_;
  std::vector<double> thresholds_;
  std::vector<bool> told_, same_form_;
  std::map<DifferenceKind, ElementDifference> clearest_;
  ComparedElements result_;
};

}  // namespace

ComparedElements CompareElements(const Graph& graph, std::span<const ElementPair> pairs,
                                 const ComparisonSetting& setting) {
  return ElementsOnInputs(graph, pairs, setting).Run();
}

}  // namespace warpwright::lift

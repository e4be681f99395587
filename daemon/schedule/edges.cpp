#include "schedule/edges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "core/affine.h"
#include "core/computation_evaluate.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using Sizes = std::map<std::string, int64_t>;

constexpr int64_t kSmallest = 11, kSteps = 3;  // sizes that no window of a few elements fills
constexpr int kTrials = 2;
constexpr double kNear = 1e-4;
constexpr uint64_t kWork = 50'000'000;

class EdgeWriter {
 public:
  EdgeWriter(const core::Computation& computation, const core::Stage& inside, std::optional<Edge> edge)
      : computation_(computation), inside_(inside), edge_(edge) {}

  core::Computation Write() {
    core::Computation edged = computation_;
    core::Stage whole = inside_;
    whole.domain.clear();
    std::vector<NodeId> moved;
    for (core::Node node : inside_.nodes) {
      core::ForEachArgument(node, [&](NodeId& arg) { arg = moved[arg]; });
      if (auto* read = std::get_if<core::TensorRead>(&node); read && edge_) PutInside(*read);
      moved.push_back(Add(std::move(node)));
    }
    whole.nodes = std::move(nodes_);
    std::erase_if(edged.stages, [](const core::Stage& stage) { return stage.output; });
    edged.stages.push_back(std::move(whole));
    return edged;
  }

 private:
  NodeId Add(core::Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  NodeId AddOf(core::ReduceOp op, NodeId a, NodeId b) { return Add(core::Nary{op, {a, b}}); }

  void PutInside(core::TensorRead& read) {
    const core::TensorArgument* tensor = computation_.FindTensor(read.tensor);
    for (size_t d = 0; tensor != nullptr && d < read.at.size(); ++d) {
      const auto* position = std::get_if<core::Affine>(&read.at[d]);
      if (position == nullptr || position->terms.empty()) continue;
      const NodeId at = Add(core::IndexValue{*position}), zero = Add(core::Constant{0});
      const NodeId count = Add(core::SizeValue{tensor->shape[d]});
      if (edge_ == Edge::kClamped) {
        const NodeId last = AddOf(core::ReduceOp::kSum, count, Add(core::Constant{-1}));
        read.at[d] = AddOf(core::ReduceOp::kMin, AddOf(core::ReduceOp::kMax, at, zero), last);
        continue;
      }
      const NodeId before = Add(core::Compare{core::Comparison::kLess, at, zero});
      const NodeId within = Add(core::Compare{core::Comparison::kLess, at, count});
      const NodeId minus = AddOf(core::ReduceOp::kProduct, Add(core::Constant{-1}), count);
      const NodeId from_start = Add(core::Select{within, at, AddOf(core::ReduceOp::kSum, at, minus)});
      read.at[d] = Add(core::Select{before, AddOf(core::ReduceOp::kSum, at, count), from_start});
    }
  }

  const core::Computation& computation_;
  const core::Stage& inside_;
  const std::optional<Edge> edge_;  // none: positions are as they are
  std::vector<core::Node> nodes_;
};

// The ends of what a reduction's terms read.
class EndTaker {
 public:
  EndTaker(const Problem& problem, const core::Stage& stage, const core::Reduce& reduce)
      : problem_(problem), stage_(stage), reduce_(reduce) {}

  bool Ends(const core::Guard& guard) {
    bool ends = false;
    if (!core::IsNumber(guard.value.divisor, 1)) return false;
    for (NodeId id = 0; id < reduce_.body + 1; ++id) {
      const auto* read = std::get_if<core::TensorRead>(&stage_.nodes[id]);
      const core::TensorArgument* tensor = read && !read->stage ? problem_.form.FindTensor(read->tensor) : nullptr;
      for (size_t d = 0; tensor != nullptr && d < read->at.size(); ++d) {
        const bool whole = guard.low && core::IsNumber(*guard.low, 0) && guard.high &&
                           core::Polynomial::Of(*guard.high) == core::Polynomial::Of(tensor->shape[d]);
        if (!whole || !(read->at[d] == core::Coordinate(guard.value))) continue;
        ended_.insert(id);
        ends = true;
      }
    }
    zero_ = zero_ && (!ends || IsZeroOutside(problem_, guard));
    return ends;
  }
  std::optional<Edge> TheirEdge() const {
    if (reduce_.op == core::ReduceOp::kSum && Vanishes(reduce_.body)) return Edge::kZero;
    if (!ended_.contains(reduce_.body) || TakesUnordered(problem_)) return std::nullopt;
    if (reduce_.op == core::ReduceOp::kMax) return Edge::kLowest;
    if (reduce_.op == core::ReduceOp::kMin) return Edge::kHighest;
    return std::nullopt;
  }

 private:
  bool IsKnown(NodeId id) const {
    const core::Node& node = stage_.nodes[id];
    return std::holds_alternative<core::Constant>(node) || std::holds_alternative<core::IndexValue>(node);
  }
  // 0 where what ends is 0.
  bool Vanishes(NodeId id) const {
    if (ended_.contains(id)) return true;
    const auto* nary = std::get_if<core::Nary>(&stage_.nodes[id]);
    if (nary == nullptr) return false;
    const auto vanishes = [&](NodeId arg) { return Vanishes(arg); };
    if (nary->op == core::ReduceOp::kSum) return std::all_of(nary->args.begin(), nary->args.end(), vanishes);
    if (nary->op != core::ReduceOp::kProduct) return false;
    const auto is_finite = [&](NodeId arg) { return zero_ || vanishes(arg) || IsKnown(arg); };
    return std::any_of(nary->args.begin(), nary->args.end(), vanishes) &&
           std::all_of(nary->args.begin(), nary->args.end(), is_finite);
  }

  const Problem& problem_;
  const core::Stage& stage_;
  const core::Reduce& reduce_;
  std::set<NodeId> ended_;  // reads
  bool zero_ = true;        // beyond all of their ends
};

// Random content for every argument.
struct Content {
  Content(const core::Computation& computation, const Sizes& sizes) {
    std::mt19937_64 random(1);
    for (const std::string& scalar : computation.scalars)
      arguments.scalars[scalar] = std::uniform_real_distribution<double>(0.25, 1.25)(random);
    for (const core::TensorArgument& tensor : computation.tensors) {
      int64_t count = 1;
      for (const core::Size& extent : tensor.shape) count *= std::max<int64_t>(0, extent.Evaluate(sizes).value_or(0));
      if (core::IsFloat(tensor.dtype)) {
        auto& values = real[tensor.name];
        std::generate_n(std::back_inserter(values), count,
                        [&] { return std::uniform_real_distribution<double>(0, 1)(random); });
        arguments.tensors[tensor.name].real = values;
      } else {
        auto& values = integers[tensor.name];
        std::generate_n(std::back_inserter(values), count, [&] { return static_cast<int64_t>(random() % 100); });
        arguments.tensors[tensor.name].integers = values;
      }
    }
  }
  core::ArgumentValues arguments;
  std::map<std::string, std::vector<double>> real;
  std::map<std::string, std::vector<int64_t>> integers;
};

std::optional<core::TensorResult> ResultOf(const core::Computation& computation, const Sizes& sizes,
                                           const Content& content) {
  core::EvaluateOptions options;
  options.work_limit = kWork;
  const auto evaluator = core::ComputationEvaluator::Compile(computation, sizes, options);
  if (!evaluator) return std::nullopt;
  auto results = evaluator->Run(content.arguments);
  if (!results || results->size() != 1) return std::nullopt;
  return std::move(results->front());
}

bool AreNear(const core::TensorResult& a, const core::TensorResult& b) {
  const auto near = [](double x, double y) { return std::abs(x - y) <= kNear * (1 + std::abs(x)); };
  return a.shape == b.shape && std::equal(a.real.begin(), a.real.end(), b.real.begin(), b.real.end(), near) &&
         std::equal(a.integers.begin(), a.integers.end(), b.integers.begin(), b.integers.end());
}

}  // namespace

std::optional<Edge> TakeEnds(const Problem& problem, core::Stage& stage) {
  std::optional<Edge> edge;
  core::Stage taken = stage;
  for (NodeId id = 0; id < stage.nodes.size(); ++id) {
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes[id]);
    if (reduce == nullptr) continue;
    EndTaker taker(problem, stage, *reduce);
    auto& guards = std::get<core::Reduce>(taken.nodes[id]).guards;
    std::erase_if(guards, [&](const core::Guard& guard) { return taker.Ends(guard); });
    if (guards.size() == reduce->guards.size()) continue;
    const auto own = taker.TheirEdge();
    if (!own || (edge && edge != own)) return std::nullopt;
    edge = own;
  }
  if (edge) stage = std::move(taken);
  return edge;
}

std::optional<PartsTrial> TryParts(const core::Computation& computation, const core::Stage& inside) {
  PartsTrial found{.whole = true, .uniform = true, .edge = {}};
  std::vector<Edge> edges = {Edge::kClamped, Edge::kWrapped};
  for (int trial = 0; trial < kTrials; ++trial) {
    Sizes sizes;
    int64_t next = kSmallest + kSteps * trial;
    for (const std::string& name : computation.sizes) sizes[name] = next += trial + 1;
    const Content content(computation, sizes);
    const auto value = ResultOf(computation, sizes, content);
    if (!value) return std::nullopt;
    found.whole &= value->whole;
    const auto is_same = [&](std::optional<Edge> edge) {
      const core::Computation edged = EdgeWriter(computation, inside, edge).Write();
      const auto other = core::Validate(edged) ? ResultOf(edged, sizes, content) : std::nullopt;
      return other && AreNear(*value, *other);
    };
    found.uniform = found.uniform && value->whole && is_same(std::nullopt);
    std::erase_if(edges, [&](Edge edge) { return !value->whole || !is_same(edge); });
  }
  if (!edges.empty()) found.edge = edges.front();
  return found;
}

}  // namespace warpwright::schedule

#include "schedule/joined_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "schedule/problem.h"

namespace warpwright::schedule {
namespace {

using core::Affine;
using core::NodeId;
using core::Polynomial;
using core::Stage;
using core::VariableId;

// A sum's value times a number that sizes make, times other values: "1 / n * t1[i] * g[i]".
struct Scaled {
  NodeId term = 0, read = 0;  // the product, or the read itself
  std::vector<NodeId> factors = {};
  Polynomial numerator{1}, denominator{1};  // of those that sizes make
  std::vector<NodeId> others = {};          // the other ones
};

// The number as a quotient of sizes, where it is one.
bool AddFactor(const Stage& stage, NodeId id, Polynomial& numerator, Polynomial& denominator) {
  const core::Node& node = stage.nodes[id];
  if (const auto* size = std::get_if<core::SizeValue>(&node)) {
    numerator = numerator * Polynomial::Of(size->size);
    return true;
  }
  const auto* constant = std::get_if<core::Constant>(&node);
  if (constant != nullptr && core::IsWhole(constant->value)) {
    numerator = numerator * Polynomial(static_cast<int64_t>(constant->value));
    return true;
  }
  const auto* call = std::get_if<core::Call>(&node);
  if (call != nullptr && call->function == core::Function::kReciprocal)
    return AddFactor(stage, call->args[0], denominator, numerator);
  const auto* nary = std::get_if<core::Nary>(&node);
  return nary != nullptr && nary->op == core::ReduceOp::kProduct &&
         std::all_of(nary->args.begin(), nary->args.end(),
                     [&](NodeId arg) { return AddFactor(stage, arg, numerator, denominator); });
}

// The sum of an intermediate, without conditions.
const core::Reduce* WholeSumOf(const Stage& stage) {
  const core::Reduce* reduce = RootSumOf(stage);
  return reduce != nullptr && reduce->guards.empty() && !stage.output && stage.domain.empty() ? reduce : nullptr;
}

bool IsRead(const core::Computation& computation, const std::string& name) {
  return std::any_of(computation.stages.begin(), computation.stages.end(),
                     [&](const Stage& stage) { return ReadsTensor(stage, name, true); });
}

// The terms of two sums as those of one, with the variables of the first.
// `at`: where the second is read, in the index variables of the first; `times`: how often the first has each of its
// terms.
std::optional<Stage> JoinedSum(const Stage& many, const Stage& few, const std::vector<Affine>& at, Polynomial& times) {
  const core::Reduce &wide = *WholeSumOf(many), &narrow = *WholeSumOf(few);
  std::map<VariableId, Affine> places;
  for (VariableId v = 0; v < at.size(); ++v) places[v] = at[v];
  std::set<VariableId> taken;
  for (const auto& variable : narrow.variables) {
    const auto like = std::find_if(wide.variables.begin(), wide.variables.end(), [&](const auto& w) {
      return !taken.contains(w.id) && Polynomial::Of(w.extent) == Polynomial::Of(variable.extent);
    });
    if (like == wide.variables.end()) return std::nullopt;
    taken.insert(like->id);
    places[variable.id] = core::AffineOf(like->id);
  }
  for (const auto& variable : wide.variables)
    if (!taken.contains(variable.id)) times = times * Polynomial::Of(variable.extent);
  Stage joined = many;
  joined.nodes.resize(wide.body + 1);
  const auto first = static_cast<NodeId>(joined.nodes.size());
  for (NodeId id = 0; id <= narrow.body; ++id) {
    core::Node node = few.nodes[id];
    bool placed = true;
    core::ForEachArgument(node, [&](NodeId& arg) { arg += first; });
    core::ForEachPosition(node, [&](Affine& position) {
      const auto there = core::Substituted(position, places);
      placed &= there.has_value();
      if (there) position = *there;
    });
    if (!placed) return std::nullopt;
    joined.nodes.push_back(std::move(node));
  }
  joined.nodes.emplace_back(core::Nary{core::ReduceOp::kSum, {wide.body, first + narrow.body}});
  core::Reduce sum = wide;
  sum.body = static_cast<NodeId>(joined.nodes.size() - 1);
  joined.nodes.emplace_back(std::move(sum));
  return joined;
}

class SumJoiner {
 public:
  explicit SumJoiner(core::Computation computation) : computation_(std::move(computation)) {}

  // The computation with all that can be joined; none: there is nothing, or a sum is needed by itself as well.
  std::optional<core::Computation> Done() {
    for (at_ = 0; at_ < computation_.stages.size(); ++at_)
      while (JoinOne()) {
      }
    const bool all = std::none_of(replaced_.begin(), replaced_.end(),
                                  [&](const std::string& name) { return IsRead(computation_, name); });
    if (made_.empty() || !all) return std::nullopt;
    for (bool again = true; again;)
      again = std::erase_if(computation_.stages,
                            [&](const Stage& stage) { return !stage.output && !IsRead(computation_, stage.name); }) > 0;
    return std::move(computation_);
  }

 private:
  struct Made {
    std::string many, few;
    std::vector<Affine> at;
    std::string name;
  };

  Stage& reader() { return computation_.stages[at_]; }

  std::optional<Scaled> AsScaled(NodeId id) {
    Scaled scaled{.term = id};
    const auto is_sum = [&](NodeId node) {
      const auto* read = std::get_if<core::TensorRead>(&reader().nodes[node]);
      const Stage* from = read != nullptr && read->stage ? computation_.FindStage(read->tensor) : nullptr;
      return from != nullptr && WholeSumOf(*from) != nullptr &&
             core::TypesOf(computation_, *from).back() == core::ValueType::kReal;
    };
    int sums = 0;
    const auto add = [&](const auto& self, NodeId node) -> void {
      const auto* product = std::get_if<core::Nary>(&reader().nodes[node]);
      if (product != nullptr && product->op == core::ReduceOp::kProduct) {
        for (const NodeId arg : product->args) self(self, arg);
      } else if (is_sum(node)) {
        scaled.read = node, ++sums;
      } else {
        scaled.factors.push_back(node);
        if (!AddFactor(reader(), node, scaled.numerator, scaled.denominator)) scaled.others.push_back(node);
      }
    };
    add(add, id);
    return sums == 1 ? std::optional(scaled) : std::nullopt;
  }

  bool Same(NodeId a, NodeId b) {
    if (a == b) return true;
    core::Node left = reader().nodes[a], right = reader().nodes[b];
    std::vector<NodeId> of_left, of_right;
    core::ForEachArgument(left, [&](NodeId& id) { of_left.push_back(std::exchange(id, 0)); });
    core::ForEachArgument(right, [&](NodeId& id) { of_right.push_back(std::exchange(id, 0)); });
    return left == right && std::equal(of_left.begin(), of_left.end(), of_right.begin(), of_right.end(),
                                       [&](NodeId x, NodeId y) { return Same(x, y); });
  }
  bool SameOthers(const Scaled& a, const Scaled& b) {
    return a.others.size() == b.others.size() && std::is_permutation(a.others.begin(), a.others.end(), b.others.begin(),
                                                                     [&](NodeId x, NodeId y) { return Same(x, y); });
  }

  // Where the second is read, by the index variables of the first.
  std::optional<std::vector<Affine>> PlacesOf(const Scaled& few, const Scaled& many) {
    std::map<VariableId, Affine> index;
    const auto& wide = std::get<core::TensorRead>(reader().nodes[many.read]);
    for (VariableId v = 0; v < wide.at.size(); ++v) {
      const auto* position = std::get_if<Affine>(&wide.at[v]);
      const auto variable = position != nullptr ? core::AsVariable(*position) : std::nullopt;
      if (!variable || !index.try_emplace(*variable, core::AffineOf(v)).second) return std::nullopt;
    }
    std::vector<Affine> places;
    for (const core::Coordinate& at : std::get<core::TensorRead>(reader().nodes[few.read]).at) {
      const auto* position = std::get_if<Affine>(&at);
      if (position == nullptr) return std::nullopt;
      for (const Affine::Term& term : position->terms)
        if (!index.contains(term.variable)) return std::nullopt;
      auto place = core::Substituted(*position, index);
      if (!place) return std::nullopt;
      places.push_back(std::move(*place));
    }
    return places;
  }

  // The name of the joined sum, which stands before the reader; empty: they cannot be joined.
  std::string NameOfJoined(const Scaled& many, const Scaled& few) {
    const std::string wide = std::get<core::TensorRead>(reader().nodes[many.read]).tensor,
                      narrow = std::get<core::TensorRead>(reader().nodes[few.read]).tensor;
    if (wide == narrow || !SameOthers(many, few)) return "";
    const auto places = PlacesOf(few, many);
    if (!places) return "";
    Polynomial times{1};
    auto joined = JoinedSum(*computation_.FindStage(wide), *computation_.FindStage(narrow), *places, times);
    const Polynomial left = few.numerator * many.denominator, right = many.numerator * few.denominator * times;
    if (!joined || !left.valid() || !(left == right)) return "";
    for (const Made& made : made_)
      if (made.many == wide && made.few == narrow && made.at == *places) return made.name;
    joined->name = computation_.FreeName(wide + "_and_" + narrow);
    made_.push_back({wide, narrow, *places, joined->name});
    replaced_.insert(wide);
    computation_.stages.insert(computation_.stages.begin() + static_cast<std::ptrdiff_t>(at_), std::move(*joined));
    ++at_;
    return made_.back().name;
  }

  bool JoinOne() {
    for (NodeId id = 0; id < reader().nodes.size(); ++id) {
      const auto* sum = std::get_if<core::Nary>(&reader().nodes[id]);
      if (sum == nullptr || sum->op != core::ReduceOp::kSum) continue;
      std::vector<Scaled> terms;
      for (const NodeId arg : sum->args)
        if (auto scaled = AsScaled(arg)) terms.push_back(std::move(*scaled));
      for (const Scaled& many : terms)
        for (const Scaled& few : terms) {
          if (&many == &few) continue;
          const std::string name = NameOfJoined(many, few);
          if (name.empty()) continue;
          Replace(id, many, few, name);
          return true;
        }
    }
    return false;
  }

  // Both terms by the joined one, in a sum of the reader.
  void Replace(NodeId sum, const Scaled& many, const Scaled& few, const std::string& name) {
    const std::vector<core::Node>& old = reader().nodes;
    std::vector<core::Node> nodes(old.begin(), old.begin() + sum);
    core::TensorRead read = std::get<core::TensorRead>(old[many.read]);
    read.tensor = name;
    nodes.emplace_back(std::move(read));
    if (!many.factors.empty()) {
      core::Nary product{core::ReduceOp::kProduct, many.factors};
      product.args.push_back(static_cast<NodeId>(nodes.size() - 1));
      nodes.emplace_back(std::move(product));
    }
    core::Nary rest = std::get<core::Nary>(old[sum]);
    for (const NodeId term : {many.term, few.term})  // once: one of them may be there twice
      rest.args.erase(std::find(rest.args.begin(), rest.args.end(), term));
    rest.args.push_back(static_cast<NodeId>(nodes.size() - 1));
    if (rest.args.size() > 1) nodes.emplace_back(std::move(rest));
    else nodes.push_back(nodes.back());
    const auto more = static_cast<NodeId>(nodes.size() - 1 - sum);
    for (size_t id = sum + 1; id < old.size(); ++id) {
      core::Node node = old[id];
      core::ForEachArgument(node, [&](NodeId& arg) { arg += arg >= sum ? more : 0; });
      nodes.push_back(std::move(node));
    }
    reader().nodes = std::move(nodes);
    reader() = WithoutUnused(std::move(reader()));
  }

  core::Computation computation_;
  size_t at_ = 0;  // the stage that is looked at
  std::vector<Made> made_;
  std::set<std::string> replaced_;
};

}  // namespace

core::Computation WithJoinedSums(const core::Computation& computation) {
  auto joined = SumJoiner(computation).Done();
  if (joined) return std::move(*joined);
  return computation;
}

}  // namespace warpwright::schedule

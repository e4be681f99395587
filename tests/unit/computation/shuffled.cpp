#include <algorithm>
#include <set>

#include "base/random.h"
#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"
#include "tests/unit/computation/variants.h"

namespace warpwright::testing {
namespace {

using core::Affine;
using core::Computation;
using core::Node;
using core::NodeId;
using core::Stage;
using core::VariableId;

class Shuffle {
 public:
  Shuffle(const Computation& computation, uint64_t seed) : c_(computation), random_(seed, 17) {}

  Computation Run(std::map<std::string, std::string>* names) {
    Rename(names);
    DoubleAStage();
    InsertIdentity();
    for (auto& stage : c_.stages) Associate(stage);
    for (size_t s = 0; s < c_.stages.size(); ++s) PermuteIndices(s);
    for (auto& stage : c_.stages) RenumberReductions(stage);
    for (auto& stage : c_.stages) ReorderNodes(stage);
    for (auto& stage : c_.stages) ShuffleArguments(stage);
    ReorderStages();
    return std::move(c_);
  }

 private:
  size_t Below(size_t bound) { return static_cast<size_t>(random_.Below(next_++, bound)); }
  template <typename T>
  void Mix(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }
  template <typename Visit>
  void EachSize(const Visit& visit) {
    const auto position = [&](Affine& a) {
      visit(a.constant), visit(a.divisor);
      for (auto& term : a.terms) {
        visit(term.coefficient);
        if (term.modulus) visit(*term.modulus);
      }
    };
    const auto guard = [&](core::Guard& g) {
      if (g.low) visit(*g.low);
      if (g.high) visit(*g.high);
    };
    for (auto& tensor : c_.tensors)
      for (auto& size : tensor.shape) visit(size);
    for (auto& stage : c_.stages) {
      for (auto& size : stage.extents) visit(size);
      for (auto& g : stage.domain) guard(g), position(g.value);
      for (auto& a : stage.at) position(a);
      for (auto& node : stage.nodes) {
        core::ForEachPosition(node, position);
        if (auto* size = std::get_if<core::SizeValue>(&node)) visit(size->size);
        if (auto* reduce = std::get_if<core::Reduce>(&node)) {
          for (auto& variable : reduce->variables) visit(variable.extent);
          for (auto& g : reduce->guards) guard(g);
        }
      }
    }
  }

  void Rename(std::map<std::string, std::string>* told) {
    std::map<std::string, std::string> names;
    const auto rename = [&](std::string& name, const char* prefix) {
      const auto [at, added] = names.emplace(name, "");
      if (added) at->second = prefix + std::to_string(Below(1000)) + "_" + std::to_string(names.size());
      name = at->second;
    };
    for (auto& name : c_.sizes) rename(name, "size");
    for (auto& name : c_.scalars) rename(name, "scalar");
    for (auto& tensor : c_.tensors) rename(tensor.name, "buffer");
    for (auto& stage : c_.stages) rename(stage.name, "stage");
    EachSize([&](core::Size& size) {
      size = *core::Polynomial::Of(size, [&](const std::string& name) { return names.at(name); }).ToExpression();
    });
    for (auto& stage : c_.stages)
      for (auto& node : stage.nodes) {
        if (auto* read = std::get_if<core::TensorRead>(&node)) read->tensor = names.at(read->tensor);
        if (auto* read = std::get_if<core::ScalarRead>(&node)) read->name = names.at(read->name);
      }
    Mix(c_.sizes);
    Mix(c_.scalars);
    if (told != nullptr) *told = names;
  }

  // Some readers read a copy.
  void DoubleAStage() {
    const size_t at = Below(c_.stages.size());
    if (c_.stages[at].output) return;
    Stage copy = c_.stages[at];
    copy.name = "copy";
    for (size_t i = at + 1; i < c_.stages.size(); ++i)
      for (auto& node : c_.stages[i].nodes)
        if (auto* read = std::get_if<core::TensorRead>(&node);
            read != nullptr && read->stage && read->tensor == c_.stages[at].name && Below(2) == 0)
          read->tensor = "copy";
    c_.stages.insert(c_.stages.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(copy));
  }
  // A stage that is only another, or that loads an argument.
  void InsertIdentity() {
    const size_t at = Below(c_.stages.size());
    for (auto& node : c_.stages[at].nodes) {
      auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || Below(2) == 0) continue;
      Stage identity{.name = "identity"};
      const core::TensorArgument* tensor = c_.FindTensor(read->tensor);
      identity.extents = read->stage ? c_.FindStage(read->tensor)->extents : tensor->shape;
      core::TensorRead inner{.tensor = read->tensor, .stage = read->stage};
      for (VariableId v = 0; v < identity.extents.size(); ++v) inner.at.emplace_back(core::AffineOf(v));
      identity.nodes = {inner};
      read->tensor = identity.name;
      read->stage = true;
      c_.stages.insert(c_.stages.begin() + static_cast<std::ptrdiff_t>(at), std::move(identity));
      return;
    }
  }

  // a + b + c as (a + b) + c, at the end of the list: ReorderNodes puts all in order.
  void Associate(Stage& stage) {
    const size_t count = stage.nodes.size();
    std::vector<Node> nodes;
    std::vector<NodeId> moved(count);
    for (size_t i = 0; i < count; ++i) {
      Node node = stage.nodes[i];
      core::ForEachArgument(node, [&](NodeId& arg) { arg = moved[arg]; });
      auto* nary = std::get_if<core::Nary>(&node);
      if (nary != nullptr && nary->args.size() > 2) {
        Mix(nary->args);
        const NodeId last = nary->args.back();
        nary->args.pop_back();
        nodes.push_back(*nary);
        node = core::Nary{nary->op, {static_cast<NodeId>(nodes.size() - 1), last}};
      }
      moved[i] = static_cast<NodeId>(nodes.size());
      nodes.push_back(std::move(node));
    }
    stage.nodes = std::move(nodes);
  }

  // Another order of the index variables; readers of an intermediate stage follow, an output says where it writes.
  void PermuteIndices(size_t s) {
    Stage& stage = c_.stages[s];
    const size_t rank = stage.extents.size();
    for (const auto& other : c_.stages)
      if (!stage.output && &other != &stage && other.name == stage.name) return;
    std::vector<VariableId> to(rank);  // variable v is to[v] now
    for (VariableId v = 0; v < rank; ++v) to[v] = v;
    Mix(to);
    std::map<VariableId, Affine> replacements;
    std::vector<core::Size> extents(rank);
    for (VariableId v = 0; v < rank; ++v) {
      replacements[v] = core::AffineOf(to[v]);
      extents[to[v]] = stage.extents[v];
    }
    stage.extents = extents;
    if (stage.output && stage.at.empty())
      for (VariableId v = 0; v < rank; ++v) stage.at.push_back(core::AffineOf(v));
    const auto replace = [&](Affine& a) { a = core::Substituted(a, replacements).value(); };
    for (auto& a : stage.at) replace(a);
    for (auto& guard : stage.domain) replace(guard.value);
    for (auto& node : stage.nodes) core::ForEachPosition(node, replace);
    if (stage.output) return;
    for (auto& reader : c_.stages)
      for (auto& node : reader.nodes) {
        auto* read = std::get_if<core::TensorRead>(&node);
        if (read == nullptr || !read->stage || read->tensor != stage.name) continue;
        std::vector<core::Coordinate> at(rank);
        for (VariableId v = 0; v < rank; ++v) at[to[v]] = read->at[v];
        read->at = std::move(at);
      }
  }

  void RenumberReductions(Stage& stage) {
    std::vector<VariableId> used;
    for (const auto& node : stage.nodes)
      if (const auto* reduce = std::get_if<core::Reduce>(&node))
        for (const auto& variable : reduce->variables)
          if (std::find(used.begin(), used.end(), variable.id) == used.end()) used.push_back(variable.id);
    std::vector<VariableId> fresh;
    for (VariableId v = 0; v < used.size() + 3; ++v) fresh.push_back(static_cast<VariableId>(stage.extents.size()) + v);
    Mix(fresh);
    std::map<VariableId, VariableId> renumbered;
    std::map<VariableId, Affine> replacements;
    for (size_t i = 0; i < used.size(); ++i) {
      renumbered[used[i]] = fresh[i];
      replacements[used[i]] = core::AffineOf(fresh[i]);
    }
    for (auto& node : stage.nodes) {
      core::ForEachPosition(node, [&](Affine& a) { a = core::Substituted(a, replacements).value(); });
      auto* reduce = std::get_if<core::Reduce>(&node);
      if (reduce == nullptr) continue;
      for (auto& variable : reduce->variables) variable.id = renumbered.at(variable.id);
      Mix(reduce->variables);
      Mix(reduce->guards);
    }
    Mix(stage.domain);
  }

  // Any order in which arguments precede; with a node that nobody needs.
  void ReorderNodes(Stage& stage) {
    const size_t count = stage.nodes.size();
    std::vector<Node> nodes = {core::Constant{static_cast<double>(Below(100))}};
    std::vector<NodeId> moved(count, 0);
    std::vector<bool> placed(count);
    for (size_t done = 0; done < count; ++done) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < count; ++i) {
        bool free = !placed[i] && (i + 1 < count || done + 1 == count);
        core::ForEachArgument(stage.nodes[i], [&](NodeId arg) { free = free && placed[arg]; });
        if (free) ready.push_back(i);
      }
      const size_t i = ready[Below(ready.size())];
      Node node = stage.nodes[i];
      core::ForEachArgument(node, [&](NodeId& arg) { arg = moved[arg]; });
      placed[i] = true;
      moved[i] = static_cast<NodeId>(nodes.size());
      nodes.push_back(std::move(node));
    }
    stage.nodes = std::move(nodes);
  }
  void ShuffleArguments(Stage& stage) {
    for (auto& node : stage.nodes) {
      if (auto* nary = std::get_if<core::Nary>(&node)) Mix(nary->args);
      if (auto* logic = std::get_if<core::Logic>(&node)) Mix(logic->args);
      auto* compare = std::get_if<core::Compare>(&node);
      if (compare != nullptr && compare->op >= core::Comparison::kEqual && Below(2) == 0)
        std::swap(compare->left, compare->right);
    }
  }

  void ReorderStages() {
    std::vector<Stage> ordered, left = std::move(c_.stages);
    std::set<std::string> later;
    while (!left.empty()) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < left.size(); ++i) {
        std::set<std::string> missing;
        for (const auto& other : left) missing.insert(other.name);
        bool free = true;
        for (const auto& node : left[i].nodes)
          if (const auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && read->stage)
            free = free && !missing.contains(read->tensor);
        if (free) ready.push_back(i);
      }
      const size_t i = ready[Below(ready.size())];
      ordered.push_back(left[i]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
    c_.stages = std::move(ordered);
  }

  Computation c_;
  base::CounterRandom random_;
  uint64_t next_ = 0;
};

}  // namespace

Computation Shuffled(const Computation& computation, uint64_t seed, std::map<std::string, std::string>* names) {
  return Shuffle(computation, seed).Run(names);
}

}  // namespace warpwright::testing

#include "lift/form_structure.h"

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::lift {
namespace {

using core::Affine;
using core::Computation;
using core::Guard;
using core::Node;
using core::NodeId;
using core::Stage;

class StructureHash {
 public:
  uint64_t Of(const Computation& computation) {
    for (const Stage& stage : computation.stages) {
      Text(stage.name);
      for (const size_t n : {stage.extents.size(), stage.at.size(), stage.nodes.size(), size_t{stage.output}})
        Number(n);
      for (const Affine& at : stage.at) Index(at);
      Guards(stage.domain);
      for (const Node& node : stage.nodes) {
        Number(node.index());
        std::visit([this](const auto& n) { Fields(n); }, node);
      }
    }
    return hash_;
  }

 private:
  void Number(uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  void Text(const std::string& text) { Number(std::hash<std::string>{}(text)); }
  void Index(const Affine& affine) {
    Number(affine.terms.size());
    for (const Affine::Term& term : affine.terms) {
      Number(term.variable);
      Number(static_cast<uint64_t>(term.part));
    }
  }
  void Guards(const std::vector<Guard>& guards) {
    Number(guards.size());
    for (const Guard& guard : guards) {
      Index(guard.value);
      Number(guard.low.has_value() * 2 + guard.high.has_value());
    }
  }
  void Ids(const std::vector<NodeId>& ids) {
    Number(ids.size());
    for (const NodeId id : ids) Number(id);
  }
  void Fields(const core::Constant&) {}
  void Fields(const core::ScalarRead& n) { Text(n.name); }
  void Fields(const core::SizeValue&) {}
  void Fields(const core::IndexValue& n) { Index(n.index); }
  void Fields(const core::TensorRead& n) {
    Text(n.tensor);
    Number(n.stage);
    for (const core::Coordinate& at : n.at) {
      Number(at.index());
      if (const NodeId* id = std::get_if<NodeId>(&at)) Number(*id);
      else Index(std::get<Affine>(at));
    }
  }
  void Fields(const core::Reduce& n) {
    Number(static_cast<uint64_t>(n.op));
    Number(n.variables.size());
    Guards(n.guards);
    Number(n.body);
    if (n.index) Index(*n.index);
  }
  void Fields(const core::Nary& n) {
    Number(static_cast<uint64_t>(n.op));
    Ids(n.args);
  }
  void Fields(const core::Call& n) {
    Number(static_cast<uint64_t>(n.function));
    Ids(n.args);
  }
  void Fields(const core::Compare& n) {
    Number(static_cast<uint64_t>(n.op));
    Ids({n.left, n.right});
  }
  void Fields(const core::Logic& n) {
    Number(static_cast<uint64_t>(n.op));
    Ids(n.args);
  }
  void Fields(const core::Select& n) { Ids({n.condition, n.then, n.otherwise}); }
  void Fields(const core::Convert& n) {
    Number(static_cast<uint64_t>(n.to));
    Number(n.arg);
  }

  uint64_t hash_ = 0x243f6a8885a308d3u;
};

}  // namespace

uint64_t StructureOf(const core::Computation& computation) { return StructureHash().Of(computation); }

}  // namespace warpwright::lift

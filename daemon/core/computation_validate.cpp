#include <algorithm>
#include <map>
#include <set>

#include "core/computation.h"
#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxStages = 64, kMaxTensors = 64, kMaxNodes = 4096, kMaxEdges = 65'536, kMaxRank = 8;
constexpr size_t kMaxTerms = 32, kMaxGuards = 64, kMaxName = 100, kMaxTexts = 64, kMaxText = 1000;

tl::unexpected<Error> Bad(const std::string& message) { return Fail(ErrorCode::kCorrupt, message); }

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

struct StageFacts {
  size_t rank = 0;
  bool output = false;
  DType dtype = DType::kF32;
  std::vector<Size> extents;
};

// Checks one stage, its nodes in order.
class StageCheck {
 public:
  StageCheck(const Computation& computation, const std::set<std::string>& sizes,
             const std::map<std::string, StageFacts>& before, const Stage& stage)
      : computation_(computation), sizes_(sizes), before_(before), stage_(stage) {}

  Status Run() {
    WW_TRY(Header());
    if (stage_.nodes.empty() || stage_.nodes.size() > kMaxNodes) return Bad("no nodes, or more than 4,096");
    WW_TRY(Order());
    types_ = TypesOf(computation_, stage_);
    bound_.resize(stage_.nodes.size());
    for (size_t i = 0; i < stage_.nodes.size(); ++i) {
      ForEachArgument(stage_.nodes[i], [&](NodeId arg) { bound_[i] |= bound_[arg]; });
      const Status status = CheckNode(i);
      if (!status) return Bad("node " + std::to_string(i) + ": " + status.error().message);
    }
    const VariableSet free = FreeVariables(stage_).back();
    if ((free & ~IndexVariables()) != 0) return Bad("a variable of a reduction is used outside it");
    return {};
  }

 private:
  VariableSet IndexVariables() const { return SetOf(static_cast<VariableId>(stage_.extents.size())) - 1; }

  Status CheckSize(const Size& size) const {
    for (const auto& name : size.Variables())
      if (!sizes_.contains(name)) return Bad("the size '" + name + "' is not an argument");
    return {};
  }
  // `variables`: those that may occur.
  Status CheckPosition(const Affine& position, VariableSet variables) const {
    if (position.terms.size() > kMaxTerms) return Bad("a position of more than 32 terms");
    WW_TRY(CheckSize(position.constant));
    WW_TRY(CheckSize(position.divisor));
    for (size_t i = 0; i < position.terms.size(); ++i) {
      const auto& term = position.terms[i];
      if (term.variable >= kMaxVariables || (variables & SetOf(term.variable)) == 0) return Bad("an unknown variable");
      WW_TRY(CheckSize(term.coefficient));
      if (term.modulus.has_value() != (term.part != Affine::Part::kWhole)) return Bad("a part without its modulus");
      if (term.modulus) {
        WW_TRY(CheckSize(*term.modulus));
      }
      if (i == 0) continue;
      const auto& last = position.terms[i - 1];
      if (std::tie(last.variable, last.part) > std::tie(term.variable, term.part) ||
          (std::tie(last.variable, last.part, last.modulus) == std::tie(term.variable, term.part, term.modulus)))
        return Bad("terms that are not in order");
    }
    return {};
  }
  Status CheckGuards(const std::vector<Guard>& guards, VariableSet variables) const {
    if (guards.size() > kMaxGuards) return Bad("more than 64 guards");
    for (const auto& guard : guards) {
      WW_TRY(CheckPosition(guard.value, variables));
      WW_TRY(CheckSize(guard.low.value_or(Size())));
      WW_TRY(CheckSize(guard.high.value_or(Size())));
    }
    return {};
  }

  Status Header() const {
    const size_t rank = stage_.extents.size();
    if (!IsName(stage_.name)) return Bad("a name that is empty, too long or not printable");
    if (rank > kMaxRank || stage_.at.size() > kMaxRank) return Bad("more than 8 dimensions");
    for (const auto& extent : stage_.extents) WW_TRY(CheckSize(extent));
    WW_TRY(CheckGuards(stage_.domain, IndexVariables()));
    for (const auto& position : stage_.at) WW_TRY(CheckPosition(position, IndexVariables()));
    const TensorArgument* tensor = computation_.FindTensor(stage_.name);
    const auto part = before_.find(stage_.name);
    if (part != before_.end() && part->second.output != stage_.output)
      return Bad("an output and an intermediate stage of one name");
    if (!stage_.output) {
      if (tensor != nullptr) return Bad("an intermediate stage with the name of an argument");
      if (!stage_.at.empty()) return Bad("an intermediate stage with coordinates");
      if (part != before_.end() && part->second.extents != stage_.extents) return Bad("parts with different extents");
      return {};
    }
    if (tensor == nullptr || !tensor->written) return Bad("no argument of this name is written");
    if (tensor->dtype != stage_.dtype) return Bad("another type than its argument");
    if ((stage_.at.empty() ? rank : stage_.at.size()) != tensor->shape.size())
      return Bad("another rank than its argument");
    return {};
  }

  Status Order() const {
    size_t edges = 0;
    for (size_t i = 0; i < stage_.nodes.size(); ++i) {
      bool before = true;
      ForEachArgument(stage_.nodes[i], [&](NodeId arg) { before = before && arg < i, ++edges; });
      if (!before) return Bad("node " + std::to_string(i) + ": an argument that does not precede it");
    }
    if (edges > kMaxEdges) return Bad("more than 65,536 arguments");
    // Before anything makes a set of variables.
    for (const auto& node : stage_.nodes) {
      bool known = true;
      ForEachPosition(node, [&](const Affine& position) {
        for (const auto& term : position.terms) known = known && term.variable < kMaxVariables;
      });
      if (const auto* reduce = std::get_if<Reduce>(&node))
        for (const auto& variable : reduce->variables) known = known && variable.id < kMaxVariables;
      if (!known) return Bad("more than 64 variables");
    }
    return {};
  }

  Status CheckRead(const TensorRead& read) const {
    size_t rank = 0;
    if (read.stage) {
      const auto found = before_.find(read.tensor);
      if (found == before_.end()) return Bad("no stage '" + read.tensor + "' precedes it");
      rank = found->second.rank;
    } else {
      const TensorArgument* tensor = computation_.FindTensor(read.tensor);
      if (tensor == nullptr || !tensor->read) return Bad("no argument '" + read.tensor + "' is read");
      rank = tensor->shape.size();
    }
    if (read.at.size() != rank) return Bad("'" + read.tensor + "' has another rank");
    for (const auto& coordinate : read.at) {
      const auto* node = std::get_if<NodeId>(&coordinate);
      if (node != nullptr && types_[*node] != ValueType::kInteger) return Bad("a coordinate that is not an integer");
    }
    return {};
  }
  Status CheckReduce(const Reduce& reduce, size_t node) {
    if (reduce.index.has_value() != IsArg(reduce.op)) return Bad("an index belongs to an arg reduction");
    if (reduce.variables.size() > kMaxVariables) return Bad("more than 64 variables");
    VariableSet own = 0;
    for (const auto& variable : reduce.variables) {
      WW_TRY(CheckSize(variable.extent));
      if (variable.id < stage_.extents.size() || (own & SetOf(variable.id)) != 0 ||
          (bound_[node] & SetOf(variable.id)) != 0)
        return Bad("a variable that is taken");
      own |= SetOf(variable.id);
    }
    bound_[node] |= own;
    return CheckGuards(reduce.guards, ~VariableSet{0});
  }
  Status Expect(NodeId arg, ValueType type, const char* what) const {
    if (types_[arg] == type) return {};
    return Bad(what);
  }
  // What all arguments must be, for those nodes that demand something.
  Status CheckNode(size_t i) {
    const Node& node = stage_.nodes[i];
    Status status;
    ForEachPosition(node, [&](const Affine& position) {
      if (status) status = CheckPosition(position, ~VariableSet{0});
    });
    WW_TRY(status);
    return std::visit(Overload{[](const Constant&) -> Status { return {}; },
                               [&](const ScalarRead& read) -> Status {
                                 const auto& scalars = computation_.scalars;
                                 if (std::find(scalars.begin(), scalars.end(), read.name) != scalars.end()) return {};
                                 return Bad("no scalar '" + read.name + "'");
                               },
                               [&](const SizeValue& value) { return CheckSize(value.size); },
                               [](const IndexValue&) -> Status { return {}; },
                               [&](const TensorRead& read) { return CheckRead(read); },
                               [&](const Reduce& reduce) { return CheckReduce(reduce, i); },
                               [](const Nary& nary) -> Status {
                                 if (nary.args.size() < 2 || IsArg(nary.op))
                                   return Bad("fewer than two arguments, or no such operation");
                                 return {};
                               },
                               [&](const Call& call) -> Status {
                                 if (call.args.size() != Arity(call.function))
                                   return Bad("another number of arguments");
                                 if (!IsInteger(call.function)) return {};
                                 for (const NodeId arg : call.args)
                                   WW_TRY(Expect(arg, ValueType::kInteger, "an integer function of a real number"));
                                 return {};
                               },
                               [](const Compare&) -> Status { return {}; },
                               [&](const Logic& logic) -> Status {
                                 if (logic.args.empty() || (logic.op == Logic::Op::kNot && logic.args.size() != 1))
                                   return Bad("another number of arguments");
                                 for (const NodeId arg : logic.args)
                                   WW_TRY(Expect(arg, ValueType::kBoolean, "logic of a number"));
                                 return {};
                               },
                               [&](const Select& select) {
                                 return Expect(select.condition, ValueType::kBoolean, "a condition that is a number");
                               },
                               [](const Convert&) -> Status { return {}; }},
                      node);
  }

  const Computation& computation_;
  const std::set<std::string>& sizes_;
  const std::map<std::string, StageFacts>& before_;
  const Stage& stage_;
  std::vector<ValueType> types_;
  std::vector<VariableSet> bound_;  // by node: variables of the reductions in it
};

Status CheckArguments(const Computation& computation, std::set<std::string>& sizes) {
  if (computation.tensors.size() > kMaxTensors || computation.sizes.size() > kMaxTensors ||
      computation.scalars.size() > kMaxTensors)
    return Bad("more than 64 arguments");
  std::set<std::string> names;
  const auto add = [&](const std::string& name) { return IsName(name) && names.insert(name).second; };
  for (const auto& name : computation.sizes) {
    if (!add(name)) return Bad("an argument whose name is bad or taken");
    sizes.insert(name);
  }
  for (const auto& name : computation.scalars)
    if (!add(name)) return Bad("an argument whose name is bad or taken");
  for (const auto& tensor : computation.tensors) {
    if (!add(tensor.name)) return Bad("an argument whose name is bad or taken");
    if (tensor.shape.size() > kMaxRank) return Bad("'" + tensor.name + "' has more than 8 dimensions");
    for (const auto& extent : tensor.shape)
      for (const auto& name : extent.Variables())
        if (!sizes.contains(name)) return Bad("the size '" + name + "' of '" + tensor.name + "' is not an argument");
  }
  return {};
}

}  // namespace

Status Validate(const Computation& computation) {
  if (computation.stages.empty() || computation.stages.size() > kMaxStages) return Bad("no stages, or more than 64");
  std::set<std::string> sizes;
  WW_TRY(CheckArguments(computation, sizes));
  std::map<std::string, StageFacts> before;
  for (const auto& stage : computation.stages) {
    const Status status = StageCheck(computation, sizes, before, stage).Run();
    if (!status) return Bad("stage '" + stage.name.substr(0, kMaxName) + "': " + status.error().message);
    const size_t rank = stage.output ? computation.FindTensor(stage.name)->shape.size() : stage.extents.size();
    before.emplace(stage.name, StageFacts{rank, stage.output, stage.dtype, stage.extents});
  }
  if (computation.assumptions.size() > kMaxTexts) return Bad("more than 64 assumptions");
  for (const auto& assumption : computation.assumptions)
    if (assumption.size() > kMaxText) return Bad("an assumption of more than 1,000 characters");
  return {};
}

}  // namespace warpwright::core

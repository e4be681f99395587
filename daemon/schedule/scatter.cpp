// schedule_scatter: sums by key: out[b] = sum_{r : key[r] == b} x[r], as histograms, counts by class and gradients of
// embeddings have them. Every term is added where its key says, once, instead of being asked for by every result. Few
// results are first summed in shared memory, a copy for each block, so that equal keys do not queue up at one address
// of the chip.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/affine.h"
#include "schedule/contraction_axes.h"
#include "schedule/expression_code.h"
#include "schedule/schedules.h"
#include "schedule/stage_readers.h"

namespace warpwright::schedule {
namespace {

using core::NodeId;
using core::VariableId;

constexpr int64_t kCopyBytes = 32 * 1024;  // of a block's copy of the results: half of what lets two blocks run
constexpr int64_t kLeastTerms = 16;        // at least

struct ScatterPlan {
  size_t stage = 0;   // the sum's
  size_t output = 0;  // the stage that is stored: the sum's, or its only reader
  core::Reduce reduce;
  NodeId key = 0, value = 0;
  Axis bin;                  // the variable that the key is compared with
  std::vector<Axis> others;  // the other ones of the results
  std::vector<Axis> terms;
  bool adds = false;  // to what the output holds already
};
using ScatterPlanOutcome = std::variant<core::RewriteRefusal, ScatterPlan>;

// The reader's value is the sum, or the sum and the element that it replaces.
std::optional<bool> AddsToItself(const Problem& problem, const core::Stage& reader, const std::string& sum) {
  const auto is_sum = [&](NodeId id) {
    const auto* read = std::get_if<core::TensorRead>(&reader.nodes[id]);
    return read != nullptr && read->stage && read->tensor == sum;
  };
  const auto root = static_cast<NodeId>(reader.nodes.size() - 1);
  if (is_sum(root)) return false;
  const auto* nary = std::get_if<core::Nary>(&reader.nodes[root]);
  if (nary == nullptr || nary->op != core::ReduceOp::kSum || nary->args.size() != 2) return std::nullopt;
  for (const bool first : {true, false}) {
    const NodeId own = nary->args[first ? 0 : 1], other = nary->args[first ? 1 : 0];
    const auto* read = std::get_if<core::TensorRead>(&reader.nodes[own]);
    if (!is_sum(other) || read == nullptr || read->stage || read->tensor != reader.name) continue;
    const auto from = FlatOffsetOf(ShapeOf(problem, reader.name), read->at);
    const auto to = FlatOffsetOf(ShapeOf(problem, reader.name), StoredAt(reader));
    if (from && to && from->coefficients == to->coefficients && Equal(from->constant, to->constant)) return true;
  }
  return std::nullopt;
}

std::optional<core::RewriteRefusal> FindKey(const core::Stage& stage, ScatterPlan& plan) {
  const auto* select = std::get_if<core::Select>(&stage.nodes[plan.reduce.body]);
  const auto* compare = select ? std::get_if<core::Compare>(&stage.nodes[select->condition]) : nullptr;
  const auto* otherwise = select ? std::get_if<core::Constant>(&stage.nodes[select->otherwise]) : nullptr;
  if (compare == nullptr || compare->op != core::Comparison::kEqual || otherwise == nullptr || otherwise->value != 0)
    return Refuse("the terms are not chosen by a key");
  const auto free = core::FreeVariables(stage);
  const core::VariableSet own = core::VariablesOf(plan.reduce);
  for (const bool left : {true, false}) {
    const NodeId key = left ? compare->left : compare->right, bin = left ? compare->right : compare->left;
    const auto* index = std::get_if<core::IndexValue>(&stage.nodes[bin]);
    const auto variable = index ? core::AsVariable(index->index) : std::nullopt;
    if (!variable || *variable >= stage.extents.size() || (free[key] & ~own) != 0) continue;
    if ((free[select->then] & core::SetOf(*variable)) != 0) return Refuse("what is added depends on the key's result");
    plan.key = key;
    plan.value = select->then;
    plan.bin = {*variable, stage.extents[*variable]};
    return std::nullopt;
  }
  return Refuse("the key is not compared with a position");
}

ScatterPlanOutcome PlanScatter(const Problem& problem, const Group& group) {
  auto reduced = ReducedGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&reduced)) return *refusal;
  const auto& found = std::get<ReducedGroup>(reduced);
  const core::Stage& stage = problem.stage(found.stage);
  const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
  if (reduce == nullptr || reduce->op != core::ReduceOp::kSum) return Refuse("no sum by key");
  ScatterPlan plan{.stage = found.stage, .output = found.outputs.front().stage, .reduce = *reduce};
  if (const auto refusal = FindKey(stage, plan)) return *refusal;
  if (found.outputs.size() != 1) return Refuse("sums by key are used in several stages");
  if (!stage.domain.empty() || !problem.stage(plan.output).domain.empty())
    return Refuse("only a part of the output is computed");
  if (core::TypesOf(problem.form, stage)[plan.key] != core::ValueType::kInteger) return Refuse("keys are no integers");
  core::VariableSet own = core::VariablesOf(*reduce);
  for (const core::Guard& guard : reduce->guards)
    if ((core::VariablesOf(guard.value) & ~own) != 0) return Refuse("terms are left out by result");
  if (plan.output != plan.stage) {
    const auto adds = AddsToItself(problem, problem.stage(plan.output), stage.name);
    if (!adds) return Refuse("sums by key are used further");
    plan.adds = *adds;
  }
  for (const auto& [own_variable, of_sum] : found.outputs.front().variables)
    if (own_variable != of_sum) return Refuse("sums by key are stored in another order");
  for (VariableId v = 0; v < stage.extents.size(); ++v)
    if (v != plan.bin.variable) plan.others.push_back({v, stage.extents[v]});
  for (const auto& variable : reduce->variables) plan.terms.push_back({variable.id, variable.extent});
  const core::Stage& output = problem.stage(plan.output);
  for (const core::Node& node : stage.nodes)
    if (const auto* read = std::get_if<core::TensorRead>(&node); read && read->tensor == output.name)
      return Refuse(output.name + " is changed in place, and terms are computed from it");
  switch (output.dtype) {
    case core::DType::kF32:
    case core::DType::kF64:
    case core::DType::kI32:
    case core::DType::kU32: return plan;
    default: return Refuse("there are no atomic additions of its type");
  }
}

class ScatterWriter {
 public:
  ScatterWriter(const Problem& problem, const Group& group, ScatterPlan plan, int blocks)
      : problem_(problem),
        group_(group),
        plan_(std::move(plan)),
        stage_(problem.stage(plan_.stage)),
        output_(problem.stage(plan_.output)),
        blocks_(blocks),
        type_(CTypeOf(output_.dtype)) {
    const auto bytes = static_cast<int64_t>(core::SizeOf(output_.dtype));
    const auto bins = LargestOf(problem, plan_.bin.extent);
    shared_ = plan_.others.empty() && bins && *bins * bytes <= kCopyBytes;
  }

  CodeOutcome Write() {
    Code code;
    const bool fixed = plan_.bin.extent.Variables().empty();
    const std::string block = std::to_string(kThreads);
    Lines launch;
    if (!plan_.adds) launch.Add(ClearText());
    std::vector<std::string> extents;
    for (const auto* axes : {&plan_.terms, &plan_.others})
      for (const Axis& axis : *axes) extents.push_back(Parenthesized(SizeText(axis.extent)));
    const std::string work = fmt::format("{}", fmt::join(extents, " * "));
    const std::string blocks = problem_.fresh_name("blocks");
    const int64_t most = int64_t{blocks_} * problem_.input.chip.multiprocessors;
    if (shared_) {
      const std::string name = KernelName(problem_, "by_key");
      const KernelArguments arguments = WriteShared(name, fixed, code);
      const std::string bins = Parenthesized(SizeText(plan_.bin.extent));
      const std::string bytes = fixed ? "0" : fmt::format("{} * sizeof({})", bins, type_);
      Lines own(fixed ? 0 : 1);
      own.Add(fmt::format("int {} = {};", blocks, CeilDivided(work, std::to_string(kLeastTerms * kThreads))));
      own.Add(fmt::format("// {} for each multiprocessor: more would add to the same results more often.", blocks_));
      own.Add(fmt::format("if ({1} > {0}) {1} = {0};", most, blocks));
      own.Add(Launch(problem_, name, blocks, block, arguments.values, bytes));
      if (!fixed)
        launch.Open(fmt::format("if ({} <= {})", bins, kCopyBytes / static_cast<int64_t>(core::SizeOf(output_.dtype))));
      launch.Append(own);
    }
    if (!shared_ || !fixed) {
      const std::string name = KernelName(problem_, shared_ ? "by_many_keys" : "by_key");
      const KernelArguments arguments = WriteDirect(name, code);
      if (shared_) launch.Else();
      launch.Add(Launch(problem_, name, CeilDivided(work, block), block, arguments.values));
      if (shared_) launch.Close();
    }
    if (refusal_) return *refusal_;
    code.launch = launch.text();
    code.notes = {shared_ ? "every term once, summed in shared memory first"
                          : "every term once, added where its key says"};
    return code;
  }

 private:
  static constexpr int kThreads = 256;

  struct Frame {
    Frame(const Problem& problem, const core::Stage& stage, const ScatterPlan& plan)
        : names(problem),
          variables(Named(stage, plan, names)),
          items(Joined(plan), variables, names, "item", "items") {}
    static VariableTexts Named(const core::Stage& stage, const ScatterPlan& plan, Names& names) {
      VariableTexts variables = NamesOfVariables(stage, plan.terms, names);
      std::string& term = variables[plan.terms.front().variable];
      if (plan.terms.size() > 1 || term != "r0") return variables;  // a name without a meaning
      names.Release(term);
      term = names.TakeOf({"i", "r0"});
      return variables;
    }
    // Terms first, so that neighbouring threads have neighbouring results of one key.
    static std::vector<Axis> Joined(const ScatterPlan& plan) {
      std::vector<Axis> axes = plan.terms;
      axes.insert(axes.end(), plan.others.begin(), plan.others.end());
      return axes;
    }
    Names names;
    VariableTexts variables;
    FlatAxis items;
  };

  std::string ClearText() const {
    if (const auto own = problem_.entry.clears.find(output_.name); own != problem_.entry.clears.end())
      return own->second.statement;
    std::vector<std::string> extents = {fmt::format("sizeof({})", type_)};
    for (const core::Size& extent : ShapeOf(problem_, output_.name)) extents.push_back(Parenthesized(SizeText(extent)));
    const std::string bytes = fmt::format("{}", fmt::join(extents, " * "));
    if (problem_.entry.stream.empty()) return fmt::format("cudaMemset({}, 0, {});", output_.name, bytes);
    return fmt::format("cudaMemsetAsync({}, 0, {}, {});", output_.name, bytes, problem_.entry.stream);
  }

  std::optional<int64_t> FixedBins() const {
    return plan_.bin.extent.Variables().empty() ? LargestOf(problem_, plan_.bin.extent) : std::nullopt;
  }
  // How many results there are, as the entry calls it.
  std::string BinsText() const {
    const auto clear = problem_.entry.clears.find(output_.name);
    if (const auto fixed = FixedBins(); fixed && clear != problem_.entry.clears.end())
      if (const auto name = clear->second.constants.find(*fixed); name != clear->second.constants.end())
        return name->second;
    return Parenthesized(SizeText(plan_.bin.extent));
  }
  // Of a key that can be none of the results: bytes are not negative, and there may be a result for each.
  std::string InsideText(const std::string& key) const {
    const auto* read = std::get_if<core::TensorRead>(&stage_.nodes[plan_.key]);
    const EntryParameter* buffer = read != nullptr ? problem_.entry.Find(read->tensor) : nullptr;
    const bool byte = buffer != nullptr && buffer->dtype == core::DType::kU8;
    if (byte && FixedBins().value_or(0) >= 256) return "";
    return fmt::format("{}{} < {}", byte ? "" : key + " >= 0 && ", key, BinsText());
  }

  // Adds the term of the present item to `target` of its key.
  void WriteTerm(Frame& frame, Lines& lines, const std::function<std::string(const std::string&)>& target) {
    ExpressionCode code(problem_, stage_, Scope{.variables = frame.variables}, frame.names, lines);
    const std::string guards = ConditionText(plan_.reduce.guards, frame.variables);
    if (!guards.empty()) lines.Open(fmt::format("if ({})", guards));
    const std::string key = frame.names.TakeOf({"key", "bin"});
    lines.Add(
        fmt::format("const {} {} = {};", code.CType(plan_.key), key, code.Value(plan_.key, core::ValueType::kInteger)));
    frame.variables[plan_.bin.variable] = key;
    const std::string inside = InsideText(key);
    if (!inside.empty()) lines.Open(fmt::format("if ({})", inside));
    const bool real = core::IsFloat(output_.dtype);
    const auto type = real ? core::ValueType::kReal : core::ValueType::kInteger;
    lines.Add(fmt::format("atomicAdd(&{}, {});", target(key), code.Value(plan_.value, type)));
    if (!inside.empty()) lines.Close();
    if (!guards.empty()) lines.Close();
    if (code.refusal()) refusal_ = code.refusal();
  }

  // The output's element of a key.
  std::string Element(const Frame& frame, const std::string& key) const {
    auto variables = frame.variables;
    variables[plan_.bin.variable] = key;
    std::vector<std::string> at;
    for (const auto& position : StoredAt(output_)) at.push_back(PositionText(position, variables));
    return fmt::format("{}[{}]", output_.name, OffsetText(problem_, ShapeOf(problem_, output_.name), at));
  }

  KernelArguments WriteShared(const std::string& name, bool fixed, Code& code) {
    Frame frame(problem_, stage_, plan_);
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    const std::string bins = frame.names.TakeOf({"bins", "of_key"}), b = frame.names.TakeOf({"b", "own_bin"});
    const std::string extent = BinsText();
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add("//");
    kernel.Add("// Every block counts for itself in shared memory, and adds what it has to the others'.");
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", kThreads), name, arguments.parameters));
    Lines body(1);
    body.Add(fixed ? fmt::format("__shared__ {} {}[{}];", type_, bins, extent)
                   : fmt::format("extern __shared__ {} {}[];", type_, bins));
    const std::string zero = core::IsFloat(output_.dtype) ? (type_ == "double" ? "0.0" : "0.0f") : "0";
    const std::string each = fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += blockDim.x)", b, extent);
    body.Add(fmt::format("{} {}[{}] = {};", each, bins, b, zero));
    body.Add("__syncthreads();");
    frame.items.DeclareExtents(body);
    const std::string& item = frame.items.index();
    const std::string type = problem_.wide ? "long long" : "int";
    body.Open(
        fmt::format("for ({0} {1} = blockIdx.x * blockDim.x + threadIdx.x; {1} < {2}; {1} += gridDim.x * blockDim.x)",
                    type, item, frame.items.count()));
    if (!frame.items.single()) frame.items.Decode(body, item);
    WriteTerm(frame, body, [&](const std::string& key) { return fmt::format("{}[{}]", bins, key); });
    body.Close();
    body.Add("__syncthreads();");
    body.Open(each);
    body.Add(fmt::format("if ({0}[{1}] != {2}) atomicAdd(&{3}, {0}[{1}]);", bins, b, zero, Element(frame, b)));
    body.Close();
    kernel.Append(body);
    kernel.Add("}");
    code.kernels += kernel.text();
    return arguments;
  }

  KernelArguments WriteDirect(const std::string& name, Code& code) {
    Frame frame(problem_, stage_, plan_);
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel;
    if (!code.kernels.empty()) kernel.Add("\n// The same where there are too many keys for shared memory.");
    else kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", kThreads), name, arguments.parameters));
    Lines body(1);
    frame.items.DeclareExtents(body);
    const std::string& item = frame.items.index();
    body.Add(fmt::format("const {} {} = {} * blockDim.x + threadIdx.x;", problem_.wide ? "long long" : "int", item,
                         problem_.wide ? "static_cast<long long>(blockIdx.x)" : "blockIdx.x"));
    body.Add(fmt::format("if ({} >= {}) return;", item, frame.items.count()));
    if (!frame.items.single()) frame.items.Decode(body, item);
    WriteTerm(frame, body, [&](const std::string& key) { return Element(frame, key); });
    kernel.Append(body);
    kernel.Add("}");
    code.kernels += kernel.text();
    return arguments;
  }

  const Problem& problem_;
  const Group& group_;
  const ScatterPlan plan_;
  const core::Stage &stage_, &output_;
  const int blocks_;
  const std::string type_;
  bool shared_ = false;
  std::optional<core::RewriteRefusal> refusal_;
};

CodeOutcome EmitScatter(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  ScatterPlanOutcome plan = PlanScatter(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  return ScatterWriter(problem, group, std::move(std::get<ScatterPlan>(plan)),
                       IntegerOf(parameters, "blocks_per_multiprocessor"))
      .Write();
}

}  // namespace

Schedule ScatterSchedule() {
  return {.id = "schedule_scatter",
          .title = "every term added where its key says",
          .parameters = {{"blocks_per_multiprocessor", {"8", "4", "16"}}},
          .emit = EmitScatter};
}

}  // namespace warpwright::schedule

// schedule_map: every output element by itself, in the order in which it lies in memory: elementwise formulas with
// broadcasting, gathers and shifts, and short windows (pools, filters) that a thread walks alone. Neighbours that lie
// side by side in memory are loaded and stored together, where addresses and sizes allow it when the launcher is
// called.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/affine.h"
#include "schedule/dimensions.h"
#include "schedule/expression_code.h"
#include "schedule/parts.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kLongestWindow = 256;  // terms that one thread sums

constexpr size_t kMostParts = 8, kMostPartNodes = 240;  // of an output: more is no text for people

struct MapPlan {
  std::vector<BufferPart> outputs;  // parts of one buffer beside each other
  std::vector<size_t> windows;      // stages
  std::vector<Dimension> dimensions;
  Packing packing;
};
using PlanOutcome = std::variant<core::RewriteRefusal, MapPlan>;

std::optional<core::RewriteRefusal> CheckWindow(const Problem& problem, const core::Stage& stage) {
  for (const core::Node& node : stage.nodes) {
    const auto* reduce = std::get_if<core::Reduce>(&node);
    if (reduce == nullptr) continue;
    std::vector<core::Size> extents;
    for (const auto& variable : reduce->variables) extents.push_back(variable.extent);
    const auto terms = LargestOf(problem, Product(extents));
    if (!terms || *terms > kLongestWindow) return Refuse("a reduction is too long for one thread");
  }
  return std::nullopt;
}

// In place is fine as long as every element is computed from itself.
std::optional<core::RewriteRefusal> CheckInPlace(const std::vector<Access>& accesses) {
  for (const Access& store : accesses)
    for (const Access& load : accesses)
      if (store.store && !load.store && store.tensor == load.tensor && !SamePlace(store, load))
        return Refuse(store.tensor + " is changed in place, and other elements are computed from it");
  return std::nullopt;
}

int WidthFor(const std::vector<Access>& accesses, const Dimension& last, int bytes) {
  size_t largest = 1;
  for (const Access& access : accesses)
    if (IsContiguous(access, last)) largest = std::max(largest, core::SizeOf(access.dtype));
  return std::max(1, bytes / static_cast<int>(largest));
}

// A read whose last coordinate runs with the dimension and whose others do not know it: of rows that data names.
bool IsGatheredRow(const Problem& problem, const core::Stage& stage, const core::TensorRead& read,
                   const Dimension& last) {
  const core::TensorArgument* tensor = problem.form.FindTensor(read.tensor);
  if (tensor == nullptr || read.at.size() < 2 || AccessOf(*tensor, read).offset) return false;
  const core::VariableId inner = last.variables.back();
  const auto* fast = std::get_if<core::Affine>(&read.at.back());
  if (last.variables.size() != 1 || fast == nullptr || core::AsVariable(*fast) != inner) return false;
  const auto free = core::FreeVariables(stage);
  return std::all_of(read.at.begin(), read.at.end() - 1, [&](const core::Coordinate& coordinate) {
    const auto* position = std::get_if<core::Affine>(&coordinate);
    const core::VariableSet variables =
        position ? core::VariablesOf(*position) : free[std::get<core::NodeId>(coordinate)];
    return (variables & core::SetOf(inner)) == 0;
  });
}

void PlanPacking(const Problem& problem, MapPlan& plan, const std::vector<Access>& accesses, int bytes) {
  if (plan.dimensions.empty() || !plan.windows.empty()) return;
  const Dimension& last = plan.dimensions.back();
  Packing packing;
  packing.width = WidthFor(accesses, last, bytes);
  if (packing.width == 1) return;
  packing.conditions = {fmt::format("{} % {} == 0", Parenthesized(SizeText(last.extent)), packing.width)};
  for (const Access& access : accesses) {
    std::optional<std::vector<std::string>> needs;
    if (IsContiguous(access, last)) needs = Divisible(access, last, packing.width);
    if (!needs && access.store) return;
    if (needs) packing.Add(access, *needs);
  }
  for (const BufferPart& output : plan.outputs) {
    for (const core::Node& node : output.stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !IsGatheredRow(problem, output.stage, *read, last)) continue;
      const core::TensorArgument& tensor = *problem.form.FindTensor(read->tensor);
      packing.gathered.push_back(read->tensor);
      packing.bytes = std::max(packing.bytes, packing.width * static_cast<int>(core::SizeOf(tensor.dtype)));
      if (!Equal(tensor.shape.back(), last.extent))
        packing.conditions.push_back(
            fmt::format("{} % {} == 0", Parenthesized(SizeText(tensor.shape.back())), packing.width));
    }
  }
  plan.packing = std::move(packing);
}

// As the stages have them, if each output is whole; else over the coordinates of their buffers.
std::variant<core::RewriteRefusal, std::vector<BufferPart>> OutputsOf(const Problem& problem, const Group& group) {
  std::vector<BufferPart> outputs;
  bool whole = true;
  size_t nodes = 0;
  for (size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    if (!stage.output) continue;
    for (const BufferPart& other : outputs) whole &= other.stage.name != stage.name;
    outputs.push_back({stage, stage.domain});
    nodes += stage.nodes.size();
  }
  if (outputs.size() > 1)
    for (const BufferPart& output : outputs) whole &= output.where.empty();
  if (whole) return outputs;
  if (outputs.size() > kMostParts || nodes > kMostPartNodes) return Refuse("an output has too many parts to be read");
  for (BufferPart& output : outputs) {
    auto part = OverBuffer(problem, output.stage);
    if (!part) return Refuse("a part of an output has no coordinates of its own");
    output = std::move(*part);
  }
  // The inside first, which most elements are of.
  const auto elements = [&](const BufferPart& part) {
    double product = 1;
    for (const auto& guard : part.where)
      if (guard.high && guard.low)
        product *= static_cast<double>(ValueIn(*guard.high, HeaviestCase(problem)).value_or(1) -
                                       ValueIn(*guard.low, HeaviestCase(problem)).value_or(0));
      else product /= 2;
    return product;
  };
  std::stable_sort(outputs.begin(), outputs.end(), [&](const BufferPart& a, const BufferPart& b) {
    return a.stage.name == b.stage.name && elements(a) > elements(b);
  });
  return outputs;
}

PlanOutcome PlanMap(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  MapPlan plan;
  auto outputs = OutputsOf(problem, group);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&outputs)) return *refusal;
  plan.outputs = std::move(std::get<std::vector<BufferPart>>(outputs));
  if (plan.outputs.empty()) return Refuse("nothing is written");
  std::vector<Access> accesses, of_outputs;
  core::VariableSet apart = 0;
  for (size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    if (const auto refusal = CheckWindow(problem, stage)) return *refusal;
    if (stage.output) continue;
    plan.windows.push_back(i);
    const auto own = AccessesOf(problem, stage);
    accesses.insert(accesses.end(), own.begin(), own.end());
  }
  const core::Stage& first = plan.outputs[0].stage;
  bool partial = false;
  for (const BufferPart& output : plan.outputs) {
    const core::Stage& stage = output.stage;
    if (!std::equal(stage.extents.begin(), stage.extents.end(), first.extents.begin(), first.extents.end(), Equal))
      return Refuse("the outputs have different shapes");
    const auto own = AccessesOf(problem, stage);
    of_outputs.insert(of_outputs.end(), own.begin(), own.end());
    apart |= UsedApart(problem, stage);
    for (const core::Guard& guard : output.where) apart |= core::VariablesOf(guard.value);
    partial |= !output.where.empty();
  }
  accesses.insert(accesses.end(), of_outputs.begin(), of_outputs.end());
  if (const auto refusal = CheckInPlace(accesses)) return *refusal;
  plan.dimensions = DimensionsOf(0, first.extents, of_outputs, apart);
  if (!partial) PlanPacking(problem, plan, of_outputs, IntegerOf(parameters, "vector_bytes"));
  return plan;
}

class MapWriter {
 public:
  MapWriter(const Problem& problem, const Group& group, MapPlan plan, int block_size, Padding padding)
      : problem_(problem),
        group_(group),
        plan_(std::move(plan)),
        block_(std::to_string(block_size)),
        padding_(padding),
        names_(problem) {}

  CodeOutcome Write() {
    Code code;
    name_ = KernelName(problem_, "elements");
    if (packs()) {
      packed_ = MakePackedType(problem_, plan_.packing);
      helpers_.push_back(packed_.definition);
      if (!packed_.store_definition.empty()) helpers_.push_back(packed_.store_definition);
      names_.Take("kWidth");
      k_ = names_.TakeOf({"k", "item"});
    }
    index_ = names_.Take(plan_.dimensions.size() == 1 ? "i" : "index");
    if (plan_.dimensions.size() == 1) plan_.dimensions[0].name = index_;
    else NameDimensions(plan_.dimensions, names_);
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    if (packs()) kernel.Add("template <int kWidth>");
    kernel.Add(Head("__global__ void", name_, arguments.parameters));
    Lines body(1);
    WriteBody(body);
    if (refusal_) return *refusal_;
    kernel.Append(body);
    kernel.Add("}");
    code.kernels = kernel.text();
    code.launch = WriteLaunch(arguments);
    code.helpers = helpers_;
    code.notes = {packs() ? fmt::format("{} elements for each access", plan_.packing.width)
                          : "one kernel for all elements"};
    return code;
  }

 private:
  bool packs() const { return plan_.packing.packs(); }

  void WriteIndices(Lines& body) {
    if (plan_.dimensions.empty()) return;
    const std::string block = problem_.wide ? "static_cast<long long>(blockIdx.x)" : "blockIdx.x";
    const std::string thread = block + " * blockDim.x + threadIdx.x";
    body.Add(fmt::format("const {} {} = {};", problem_.wide ? "long long" : "int", index_,
                         packs() ? "(" + thread + ") * kWidth" : thread));
    body.Add(fmt::format("if ({} >= {}) return;", index_, TotalText(problem_, plan_.dimensions)));
    if (plan_.dimensions.size() > 1)
      WriteCoordinates(plan_.dimensions, problem_.wide ? "long long" : "int", index_, names_, body);
  }

  std::string OffsetOf(const Access& access, const std::map<core::VariableId, std::string>& variables) const {
    if (!IsDense(access, plan_.dimensions)) return OffsetText(*access.offset, variables);
    const auto& last = plan_.dimensions.empty() ? "0" : variables.at(plan_.dimensions.back().variables.back());
    return last.ends_with("+ " + k_) && packs() ? index_ + " + " + k_ : index_;
  }

  void WriteBody(Lines& body) {
    WriteIndices(body);
    const auto variables = VariableNames(plan_.dimensions);
    for (const Access& access : plan_.packing.accesses) {
      held_.push_back(names_.TakeOf({access.tensor + "_pack", access.tensor + "_new"}));
      if (access.store)
        body.Add(fmt::format("{}<{}, kWidth> {};", packed_.name, ElementTypeOf(problem_, access), held_.back()));
      else body.Add(packed_.Load(held_.back(), access.tensor + " + " + OffsetOf(access, variables)));
    }
    Lines inner(body.level() + (packs() ? 1 : 0));
    auto inside = variables;
    if (packs()) inside[plan_.dimensions.back().variables.back()] += " + " + k_;
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const BufferPart& part = plan_.outputs[i];
      const bool after = i > 0 && plan_.outputs[i - 1].stage.name == part.stage.name;
      const bool before = i + 1 < plan_.outputs.size() && plan_.outputs[i + 1].stage.name == part.stage.name;
      WritePart(part, after, before, inside, body, inner);
    }
    if (!packs()) {
      body.Append(inner);
      return;
    }
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kWidth; ++{0})", k_));
    body.Append(inner);
    body.Close();
    for (size_t p = 0; p < plan_.packing.accesses.size(); ++p) {
      const Access& access = plan_.packing.accesses[p];
      if (!access.store) continue;
      body.Add(packed_.Store(held_[p], access.tensor + " + " + OffsetOf(access, variables)));
    }
  }

  std::optional<std::string> HeldElement(const Access& access) const {
    for (size_t p = 0; p < held_.size(); ++p) {
      const Access& pack = plan_.packing.accesses[p];
      if (pack.store == access.store && SamePlace(pack, access)) return fmt::format("{}.at[{}]", held_[p], k_);
    }
    return std::nullopt;
  }

  // One part of an output, as a branch where there are several.
  void WritePart(const BufferPart& part, bool after, bool before,
                 const std::map<core::VariableId, std::string>& variables, Lines& outer, Lines& inner) {
    const std::string condition = ConditionText(part.where, variables);
    if (condition.empty()) {
      WriteOutput(part.stage, variables, outer, inner);
      return;
    }
    if (after) inner.Else(fmt::format("else if ({})", condition));
    else inner.Open(fmt::format("if ({})", condition));
    const Names outside = names_;
    const auto windows = windows_;
    WriteOutput(part.stage, variables, inner, inner);
    names_ = outside;
    windows_ = windows;
    if (!before) inner.Close();
  }

  void WriteOutput(const core::Stage& stage, const std::map<core::VariableId, std::string>& variables, Lines& outer,
                   Lines& inner) {
    ExpressionCode* writing = nullptr;
    Lines* to = &outer;
    Scope scope{variables, [&](const core::TensorRead& read) -> std::optional<std::string> {
                  const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
                  if (tensor == nullptr) return WindowValue(read, variables, *to);
                  if (const auto found = gathered_.find(&read); found != gathered_.end())
                    return Loaded(problem_, tensor->dtype, fmt::format("{}.at[{}]", found->second, k_));
                  const Access access = AccessOf(*tensor, read);
                  if (!access.offset) return std::nullopt;
                  const auto held = HeldElement(access);
                  const std::string element =
                      held ? *held : fmt::format("{}[{}]", read.tensor, OffsetOf(access, writing->scope().variables));
                  return Loaded(problem_, tensor->dtype, element);
                }};
    scope.padding = padding_;
    ExpressionCode code(problem_, stage, scope, names_, outer);
    writing = &code;
    const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
    if (packs()) LoadGathered(stage, code, outer);
    if (packs()) code.Hoist(core::SetOf(plan_.dimensions.back().variables.back()), root);
    code.To(inner);
    to = &inner;
    const std::string value = Stored(problem_, stage.dtype, code.TypeOf(root), code.Root());
    if (code.refusal()) refusal_ = code.refusal();
    const Access store{stage.name, stage.dtype, true, FlatOffsetOf(ShapeOf(problem_, stage.name), StoredAt(stage))};
    if (const auto element = HeldElement(store)) {
      inner.Add(fmt::format("{} = {};", *element, value));
      return;
    }
    std::vector<std::string> at;
    for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
    const std::string offset =
        store.offset ? OffsetOf(store, variables) : OffsetText(problem_, ShapeOf(problem_, stage.name), at);
    inner.Add(fmt::format("{}[{}] = {};", stage.name, offset, value));
  }

  // Neighbours at a place that data says, as the rows of a table.
  void LoadGathered(const core::Stage& stage, ExpressionCode& code, Lines& outer) {
    const auto inside = code.scope().variables;
    code.scope().variables = VariableNames(plan_.dimensions);
    for (const core::Node& node : stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !IsGatheredRow(problem_, stage, *read, plan_.dimensions.back())) continue;
      const std::string address = code.Address(*read);
      const std::string name = names_.TakeOf({read->tensor + "_pack", read->tensor + "_row"});
      outer.Add(packed_.Load(name, address));
      gathered_[read] = name;
    }
    code.scope().variables = inside;
  }

  // A window's value, computed where it is read; once for each position.
  std::optional<std::string> WindowValue(const core::TensorRead& read,
                                         const std::map<core::VariableId, std::string>& reader, Lines& lines) {
    const core::Stage* stage = problem_.form.FindStage(read.tensor);
    if (stage == nullptr) return std::nullopt;
    std::map<core::VariableId, std::string> variables;
    std::string key = read.tensor;
    for (core::VariableId v = 0; v < read.at.size(); ++v) {
      const auto* position = std::get_if<core::Affine>(&read.at[v]);
      if (position == nullptr) return std::nullopt;
      variables[v] = PositionText(*position, reader);
      key += "," + variables[v];
    }
    if (const auto found = windows_.find(key); found != windows_.end()) return found->second;
    Scope scope{variables, [&](const core::TensorRead& inner) -> std::optional<std::string> {
                  if (problem_.form.FindTensor(inner.tensor) != nullptr) return std::nullopt;
                  return WindowValue(inner, variables, lines);
                }};
    scope.padding = padding_;
    ExpressionCode code(problem_, *stage, scope, names_, lines);
    // What its terms share comes before the loop over them.
    if (const auto* reduce = std::get_if<core::Reduce>(&stage->nodes.back()))
      code.Hoist(core::VariablesOf(*reduce), reduce->body);
    const std::string value = code.Root();
    if (code.refusal()) refusal_ = code.refusal();
    windows_[key] = value;
    return value;
  }

  std::string WriteLaunch(const KernelArguments& arguments) {
    Lines launch;
    const std::string total = plan_.dimensions.empty() ? "1" : TotalText(problem_, plan_.dimensions);
    if (!packs()) {
      const std::string block = plan_.dimensions.empty() ? "1" : block_;
      launch.Add(Launch(problem_, name_, CeilDivided(total, block), block, arguments.values));
      return launch.text();
    }
    const int width = plan_.packing.width;
    launch.Open(fmt::format("if ({})", PackingCondition(problem_, plan_.packing, helpers_)));
    const bool sum = total.find(" + ") != std::string::npos || total.find(" - ") != std::string::npos;
    const std::string packs_of = fmt::format("{} / {}", sum ? Parenthesized(total) : total, width);
    launch.Add(
        Launch(problem_, fmt::format("{}<{}>", name_, width), CeilDivided(packs_of, block_), block_, arguments.values));
    launch.Else();
    launch.Add(Launch(problem_, name_ + "<1>", CeilDivided(total, block_), block_, arguments.values));
    launch.Close();
    return launch.text();
  }

  const Problem& problem_;
  const Group& group_;
  MapPlan plan_;
  const std::string block_;
  const Padding padding_;
  Names names_;
  std::string name_, index_, k_;
  PackedType packed_;
  std::vector<std::string> held_;  // by packed access: the variable
  std::vector<std::string> helpers_;
  std::map<const core::TensorRead*, std::string> gathered_;  // the variable that holds its neighbours
  std::map<std::string, std::string> windows_;
  std::optional<core::RewriteRefusal> refusal_;
};

CodeOutcome EmitMap(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  PlanOutcome plan = PlanMap(problem, group, parameters);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  return MapWriter(problem, group, std::move(std::get<MapPlan>(plan)), IntegerOf(parameters, "block_size"),
                   PaddingOf(parameters))
      .Write();
}

}  // namespace

Schedule MapSchedule() {
  return {.id = "schedule_map",
          .title = "elements in memory order",
          .parameters = {{"vector_bytes", {"16", "8"}}, {"block_size", {"256", "512", "128"}}, kPadding},
          .emit = EmitMap};
}

}  // namespace warpwright::schedule

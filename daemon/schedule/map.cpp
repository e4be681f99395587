// schedule_map: every output element by itself, in the order in which it lies in memory: elementwise formulas with
// broadcasting, gathers and shifts, and short windows (pools, filters) that a thread walks alone. Neighbours that lie
// side by side in memory are loaded and stored together, where addresses and sizes allow it when the launcher is
// called.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/dimensions.h"
#include "schedule/expression_code.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kLongestWindow = 256;  // terms that one thread sums

constexpr const char* kPacked = R"(// kWidth neighbours, which one access moves.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Packed {
  T at[kWidth];
};

)";

struct MapPlan {
  std::vector<size_t> outputs;  // stages
  std::vector<size_t> windows;
  std::vector<Dimension> dimensions;
  std::vector<Access> packed;  // each element once; stores too. Empty: no vector access
  std::vector<std::string> conditions;
  int width = 1;
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
      if (store.store && !load.store && store.tensor == load.tensor &&
          !(store.offset && load.offset && store.offset->coefficients == load.offset->coefficients &&
            Equal(store.offset->constant, load.offset->constant)))
        return Refuse(store.tensor + " is changed in place, and other elements are computed from it");
  return std::nullopt;
}

int WidthFor(const std::vector<Access>& accesses, const Dimension& last, int bytes) {
  size_t largest = 1;
  for (const Access& access : accesses)
    if (IsContiguous(access, last)) largest = std::max(largest, core::SizeOf(access.dtype));
  return std::max(1, bytes / static_cast<int>(largest));
}

void PlanPacking(MapPlan& plan, const std::vector<Access>& accesses, int bytes) {
  if (plan.dimensions.empty() || !plan.windows.empty()) return;
  const Dimension& last = plan.dimensions.back();
  plan.width = WidthFor(accesses, last, bytes);
  if (plan.width == 1) return;
  const auto add = [](auto& to, auto&& value, const auto& same) {
    if (std::none_of(to.begin(), to.end(), same)) to.push_back(value);
  };
  for (const Access& access : accesses) {
    std::optional<std::vector<std::string>> needs;
    if (IsContiguous(access, last)) needs = Divisible(access, plan.dimensions, plan.width);
    if (!needs && access.store) {
      plan.packed.clear();
      plan.width = 1;
      return;
    }
    if (!needs) continue;
    for (const std::string& need : *needs) add(plan.conditions, need, [&](const auto& c) { return c == need; });
    add(plan.packed, access, [&](const Access& other) {
      return other.tensor == access.tensor && other.store == access.store &&
             other.offset->coefficients == access.offset->coefficients &&
             Equal(other.offset->constant, access.offset->constant);
    });
  }
  const std::string extent = Parenthesized(SizeText(last.extent));
  plan.conditions.insert(plan.conditions.begin(), fmt::format("{} % {} == 0", extent, plan.width));
}

PlanOutcome PlanMap(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  MapPlan plan;
  for (size_t i : group.stages) (problem.stage(i).output ? plan.outputs : plan.windows).push_back(i);
  std::vector<Access> accesses;
  core::VariableSet apart = 0;
  for (size_t i : group.stages) {
    if (const auto refusal = CheckWindow(problem, problem.stage(i))) return *refusal;
    const auto own = AccessesOf(problem, problem.stage(i));
    accesses.insert(accesses.end(), own.begin(), own.end());
  }
  if (plan.outputs.empty()) return Refuse("nothing is written");
  if (const auto refusal = CheckInPlace(accesses)) return *refusal;
  const core::Stage& first = problem.stage(plan.outputs[0]);
  std::vector<Access> of_outputs;
  for (size_t i : plan.outputs) {
    const core::Stage& stage = problem.stage(i);
    if (!stage.domain.empty()) return Refuse("the outputs are only a part of a box");
    if (i != plan.outputs[0] && stage.name == first.name) return Refuse(stage.name + " is computed in several parts");
    if (!std::equal(stage.extents.begin(), stage.extents.end(), first.extents.begin(), first.extents.end(), Equal))
      return Refuse("the outputs have different shapes");
    const auto own = AccessesOf(problem, stage);
    of_outputs.insert(of_outputs.end(), own.begin(), own.end());
    apart |= UsedApart(problem, stage);
  }
  plan.dimensions = DimensionsOf(first.extents, of_outputs, apart);
  PlanPacking(plan, of_outputs, IntegerOf(parameters, "vector_bytes"));
  return plan;
}

class MapWriter {
 public:
  MapWriter(const Problem& problem, const Group& group, MapPlan plan, int block_size)
      : problem_(problem), group_(group), plan_(std::move(plan)), block_size_(block_size), names_(problem) {}

  CodeOutcome Write() {
    name_ = KernelName(problem_, "elements");
    packed_type_ = packs() ? problem_.fresh_name("Packed") : "";
    if (packs()) names_.Take("kWidth");
    index_ = names_.Take(plan_.dimensions.size() == 1 ? "i" : "index");
    if (plan_.dimensions.size() == 1) plan_.dimensions[0].name = index_;
    else NameDimensions(plan_.dimensions, names_);
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel;
    kernel.Add(FormulaComment(problem_, group_).substr(0, FormulaComment(problem_, group_).rfind('\n')));
    if (packs()) kernel.Add("template <int kWidth>");
    kernel.Add(Head("__global__ void", name_, arguments.parameters));
    Lines body(1);
    WriteBody(body);
    if (refusal_) return *refusal_;
    kernel.Append(body);
    kernel.Add("}");
    Code code;
    if (packs()) {
      code.helpers = kPacked;
      for (size_t at = code.helpers.find("Packed"); packed_type_ != "Packed" && at != std::string::npos;
           at = code.helpers.find("Packed", at + packed_type_.size()))
        code.helpers.replace(at, 6, packed_type_);
    }
    code.kernels = kernel.text();
    code.launch = WriteLaunch(arguments);
    code.notes = {packs() ? fmt::format("{} elements for each access", plan_.width) : "one kernel for all elements"};
    return code;
  }

 private:
  bool packs() const { return plan_.width > 1 && !plan_.packed.empty(); }
  std::string Total() const {
    std::vector<core::Size> extents;
    for (const Dimension& d : plan_.dimensions) extents.push_back(d.extent);
    const std::string text = SizeText(Product(extents));
    const bool product = text.find('*') != std::string::npos;
    return problem_.wide && product
               ? "static_cast<size_t>(" + text.substr(0, text.find(" *")) + ")" + text.substr(text.find(" *"))
               : text;
  }

  void WriteIndices(Lines& body) {
    if (plan_.dimensions.empty()) return;
    const std::string type = problem_.wide ? "size_t" : "int";
    const std::string block = problem_.wide ? "static_cast<size_t>(blockIdx.x)" : "blockIdx.x";
    const std::string thread = block + " * blockDim.x + threadIdx.x";
    body.Add(fmt::format("const {} {} = {};", type, index_, packs() ? "(" + thread + ") * kWidth" : thread));
    body.Add(fmt::format("if ({} >= {}) return;", index_, Total()));
    if (plan_.dimensions.size() == 1) return;
    std::string rest = index_;
    for (size_t d = plan_.dimensions.size(); d-- > 0;) {
      const std::string extent = Parenthesized(SizeText(plan_.dimensions[d].extent));
      const std::string value = d == 0 ? rest : fmt::format("{} % {}", rest, extent);
      body.Add(fmt::format("const int {} = {};", plan_.dimensions[d].name, value));
      rest += " / " + extent;
    }
  }

  std::string OffsetOf(const Access& access) {
    if (IsDense(access, plan_.dimensions)) return index_;
    return OffsetText(problem_, *access.offset, VariableNames(plan_.dimensions));
  }

  std::string ElementType(const Access& access) const {
    const EntryParameter* parameter = problem_.entry.Find(access.tensor);
    return parameter ? parameter->type : CTypeOf(access.dtype);
  }

  void WriteBody(Lines& body) {
    WriteIndices(body);
    std::vector<std::string> held;  // by packed access: the variable
    for (const Access& access : plan_.packed) {
      held.push_back(packs() ? names_.TakeOf({access.tensor + (access.store ? "_out" : "_in"), access.tensor + "_pack"})
                             : "");
      if (!packs()) continue;
      const std::string type = fmt::format("{}<{}, kWidth>", packed_type_, ElementType(access));
      if (access.store) body.Add(fmt::format("{} {};", type, held.back()));
      else
        body.Add(fmt::format("const {} {} = *reinterpret_cast<const {}*>({} + {});", type, held.back(), type,
                             access.tensor, OffsetOf(access)));
    }
    const std::string k = packs() ? names_.TakeOf({"k", "item"}) : "";
    auto variables = VariableNames(plan_.dimensions);
    if (packs()) variables[plan_.dimensions.back().variables.back()] += " + " + k;
    Lines inner(body.level() + (packs() ? 1 : 0));
    for (size_t i : plan_.outputs) WriteOutput(problem_.stage(i), variables, held, k, body, inner);
    if (!packs()) {
      body.Append(inner);
      return;
    }
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {} = 0; {} < kWidth; ++{})", k, k, k));
    body.Append(inner);
    body.Close();
    for (size_t p = 0; p < plan_.packed.size(); ++p) {
      const Access& access = plan_.packed[p];
      if (!access.store) continue;
      body.Add(fmt::format("*reinterpret_cast<{}<{}, kWidth>*>({} + {}) = {};", packed_type_, ElementType(access),
                           access.tensor, OffsetOf(access), held[p]));
    }
  }

  std::optional<std::string> HeldElement(const Access& access, const std::vector<std::string>& held,
                                         const std::string& k) {
    for (size_t p = 0; packs() && p < plan_.packed.size(); ++p) {
      const Access& pack = plan_.packed[p];
      if (pack.tensor == access.tensor && pack.store == access.store && access.offset &&
          pack.offset->coefficients == access.offset->coefficients &&
          Equal(pack.offset->constant, access.offset->constant))
        return fmt::format("{}.at[{}]", held[p], k);
    }
    return std::nullopt;
  }

  void WriteOutput(const core::Stage& stage, const std::map<core::VariableId, std::string>& variables,
                   const std::vector<std::string>& held, const std::string& k, Lines& outer, Lines& inner) {
    ExpressionCode* writing = nullptr;
    Lines* to = &outer;
    Scope scope{variables, [&](const core::TensorRead& read) -> std::optional<std::string> {
                  if (read.stage && problem_.form.FindTensor(read.tensor) == nullptr)
                    return WindowValue(read, *writing, *to);
                  const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
                  if (tensor == nullptr) return std::nullopt;
                  const Access access{read.tensor, tensor->dtype, false, FlatOffsetOf(tensor->shape, read.at)};
                  if (const auto element = HeldElement(access, held, k))
                    return Loaded(problem_, tensor->dtype, *element);
                  if (!access.offset) return std::nullopt;
                  const std::string offset = IsDense(access, plan_.dimensions)
                                                 ? packs() ? index_ + " + " + k : index_
                                                 : OffsetText(problem_, *access.offset, writing->scope().variables);
                  return Loaded(problem_, tensor->dtype, fmt::format("{}[{}]", read.tensor, offset));
                }};
    ExpressionCode code(problem_, stage, scope, names_, outer);
    writing = &code;
    const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
    if (packs()) code.Hoist(core::SetOf(plan_.dimensions.back().variables.back()), root);
    code.To(inner);
    to = &inner;
    const std::string value = Stored(problem_, stage.dtype, code.TypeOf(root), code.Root());
    if (code.refusal()) refusal_ = code.refusal();
    const Access store{stage.name, stage.dtype, true, FlatOffsetOf(ShapeOf(problem_, stage.name), StoredAt(stage))};
    if (const auto element = HeldElement(store, held, k)) {
      inner.Add(fmt::format("{} = {};", *element, value));
      return;
    }
    std::string offset;
    if (store.offset) {
      offset = IsDense(store, plan_.dimensions) ? index_ : OffsetText(problem_, *store.offset, variables);
    } else {
      std::vector<std::string> at;
      for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
      offset = OffsetText(problem_, ShapeOf(problem_, stage.name), at);
    }
    inner.Add(fmt::format("{}[{}] = {};", stage.name, offset, value));
  }

  // A window's value, computed where it is read; once for each position.
  std::optional<std::string> WindowValue(const core::TensorRead& read, ExpressionCode& reader, Lines& lines) {
    const core::Stage* stage = problem_.form.FindStage(read.tensor);
    if (stage == nullptr) return std::nullopt;
    std::map<core::VariableId, std::string> variables;
    std::string key = read.tensor;
    for (core::VariableId v = 0; v < read.at.size(); ++v) {
      const auto* position = std::get_if<core::Affine>(&read.at[v]);
      if (position == nullptr) return std::nullopt;
      variables[v] = PositionText(*position, reader.scope().variables);
      key += "," + variables[v];
    }
    if (const auto found = windows_.find(key); found != windows_.end()) return found->second;
    std::unique_ptr<ExpressionCode> code;
    Scope scope{variables, [&](const core::TensorRead& inner) -> std::optional<std::string> {
                  if (inner.stage && problem_.form.FindTensor(inner.tensor) == nullptr)
                    return WindowValue(inner, *code, lines);
                  return std::nullopt;
                }};
    code = std::make_unique<ExpressionCode>(problem_, *stage, scope, names_, lines);
    const std::string value = code->Root();
    if (code->refusal()) refusal_ = code->refusal();
    windows_[key] = value;
    return value;
  }

  std::string WriteLaunch(const KernelArguments& arguments) {
    Lines launch;
    const std::string block = std::to_string(block_size_);
    if (plan_.dimensions.empty()) {
      launch.Add(Launch(problem_, name_, "1", "1", arguments.values));
      return launch.text();
    }
    const std::string total = Total();
    if (!packs()) {
      launch.Add(Launch(problem_, name_, CeilDivided(total, block), block, arguments.values));
      return launch.text();
    }
    std::vector<std::string> buffers;
    int bytes = 1;
    for (const Access& access : plan_.packed) {
      if (std::find(buffers.begin(), buffers.end(), access.tensor) == buffers.end()) buffers.push_back(access.tensor);
      bytes = std::max(bytes, plan_.width * static_cast<int>(core::SizeOf(access.dtype)));
    }
    const std::string aligned = "aligned";
    launch.Add(fmt::format("const bool {} = {};", aligned, AlignedText(problem_, buffers, bytes)));
    launch.Open(fmt::format("if ({} && {})", aligned, fmt::join(plan_.conditions, " && ")));
    const std::string groups = fmt::format("{} / {}", Parenthesized(total), plan_.width);
    launch.Add(Launch(problem_, fmt::format("{}<{}>", name_, plan_.width), CeilDivided(groups, block), block,
                      arguments.values));
    launch.Else();
    launch.Add(Launch(problem_, name_ + "<1>", CeilDivided(total, block), block, arguments.values));
    launch.Close();
    return launch.text();
  }

  const Problem& problem_;
  const Group& group_;
  MapPlan plan_;
  const int block_size_;
  Names names_;
  std::string name_, packed_type_, index_;
  std::map<std::string, std::string> windows_;
  std::optional<core::RewriteRefusal> refusal_;
};

CodeOutcome EmitMap(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  PlanOutcome plan = PlanMap(problem, group, parameters);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  return MapWriter(problem, group, std::move(std::get<MapPlan>(plan)), IntegerOf(parameters, "block_size")).Write();
}

}  // namespace

Schedule MapSchedule() {
  return {.id = "schedule_map",
          .title = "elements in memory order",
          .parameters = {{"vector_bytes", {"16", "8"}}, {"block_size", {"256", "512", "128"}}},
          .emit = EmitMap};
}

}  // namespace warpwright::schedule

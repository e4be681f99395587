// schedule_map: every output element by itself, in the order in which it lies in memory: elementwise formulas with
// broadcasting, gathers and shifts, and short windows (pools, filters) that a thread walks alone. Neighbours that lie
// side by side in memory are loaded and stored together, where addresses and sizes allow it when the launcher is
// called.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/computation_walk.h"
#include "schedule/expression_code.h"
#include "schedule/fixed_sizes.h"
#include "schedule/late_stores.h"
#include "schedule/map_plan.h"
#include "schedule/overlaps.h"
#include "schedule/schedules.h"
#include "schedule/written_terms.h"

namespace warpwright::schedule {
namespace {

constexpr std::string_view kTile = "32x8";
constexpr size_t kMostWrittenTerms = 27;

struct BlockShape {
  int x = 256, y = 1;
};

class MapWriter {
 public:
  MapWriter(const Problem& problem, const Group& group, MapPlan plan, BlockShape shape)
      : problem_(problem),
        group_(group),
        plan_(std::move(plan)),
        shape_(shape),
        block_(std::to_string(shape.x)),
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
    if (!tiled()) index_ = names_.Take(plan_.dimensions.size() == 1 ? "i" : "index");
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
  bool tiled() const { return shape_.y > 1; }
  std::string Integer() const { return problem_.wide ? "long long" : "int"; }

  // A block is a tile of the last two dimensions. A grid has at most 65,535 blocks along y and z: loops go on from
  // there.
  void WriteTile(Lines& body) {
    const size_t outer = plan_.dimensions.size() - 2;
    const Dimension &rows = plan_.dimensions[outer], &columns = plan_.dimensions[outer + 1];
    const std::string &column = columns.name, &row = rows.name;
    // The width fits into an int, and the rows before are counted in as many bits as they need.
    body.Add(fmt::format("const int {} = blockIdx.x * blockDim.x + threadIdx.x;", column));
    const auto named = [&](const Dimension& dimension, const char* wish) {
      const std::string text = SizeText(dimension.extent);
      if (Parenthesized(text) == text) return text;
      const std::string name = names_.TakeOf({wish, dimension.name + "_end"});
      body.Add(fmt::format("const int {} = {};", name, text));
      return name;
    };
    const std::string width = named(columns, "width"), height = named(rows, "height");
    body.Add(fmt::format("if ({} >= {}) return;", column, width));
    const auto loop = [&](const std::string& name, const std::string& first, const std::string& end,
                          const std::string& step) {
      body.Open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", Integer(), name, first, end, step));
    };
    tile_index_ = fmt::format("{} * {}", row, width);
    if (outer > 0) {
      std::vector<Dimension> planes(plan_.dimensions.begin(), plan_.dimensions.end() - 2);
      const std::string plane = outer == 1 ? planes[0].name : names_.TakeOf({"plane", "plane_index"});
      tile_index_ = fmt::format("({} * {} + {}) * {}", plane, height, row, width);
      loop(plane, "blockIdx.z", TotalText(problem_, planes), "gridDim.z");
      if (outer > 1) WriteCoordinates(planes, Integer(), plane, names_, body);
    }
    loop(row, "blockIdx.y * blockDim.y + threadIdx.y", height, "gridDim.y * blockDim.y");
  }
  void CloseTile(Lines& body) const {
    body.Close();
    if (plan_.dimensions.size() > 2) body.Close();
  }

  void WriteIndices(Lines& body) {
    if (plan_.dimensions.empty()) return;
    if (tiled()) return WriteTile(body);
    const std::string block = problem_.wide ? "static_cast<long long>(blockIdx.x)" : "blockIdx.x";
    const std::string thread = block + " * blockDim.x + threadIdx.x";
    body.Add(fmt::format("const {} {} = {};", problem_.wide ? "long long" : "int", index_,
                         packs() ? "(" + thread + ") * kWidth" : thread));
    body.Add(fmt::format("if ({} >= {}) return;", index_, TotalText(problem_, plan_.dimensions)));
    if (plan_.dimensions.size() > 1)
      WriteCoordinates(plan_.dimensions, problem_.wide ? "long long" : "int", index_, names_, body);
  }

  std::string OffsetOf(const Access& access, const std::map<core::VariableId, std::string>& variables) const {
    if (tiled() && IsDense(access, plan_.dimensions))
      return tile_index_ + " + " + variables.at(plan_.dimensions.back().variables.back());
    if (!IsDense(access, plan_.dimensions)) return OffsetText(*access.offset, variables);
    const auto& last = plan_.dimensions.empty() ? "0" : variables.at(plan_.dimensions.back().variables.back());
    return last.ends_with("+ " + k_) && packs() ? index_ + " + " + k_ : index_;
  }

  void WriteBody(Lines& body) {
    WriteIndices(body);
    const auto variables = VariableNames(plan_.dimensions);
    for (const Access& access : plan_.packing.accesses) {
      held_.push_back(names_.TakeOf(access.store ? std::vector{access.tensor + "_new", access.tensor + "_result"}
                                                 : std::vector{access.tensor + "_pack", access.tensor + "_values"}));
      if (access.store)
        body.Add(fmt::format("{}<{}, kWidth> {};", packed_.name, ElementTypeOf(problem_, access), held_.back()));
      else body.Add(packed_.Load(held_.back(), access.tensor + " + " + OffsetOf(access, variables)));
    }
    Lines inner(body.level() + (packs() ? 1 : 0));
    auto inside = variables;
    if (packs()) inside[plan_.dimensions.back().variables.back()] += " + " + k_;
    LateStores late(problem_, names_, StoresSeveral());
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const BufferPart& part = plan_.outputs[i];
      const bool after = i > 0 && plan_.outputs[i - 1].stage.name == part.stage.name;
      const bool before = i + 1 < plan_.outputs.size() && plan_.outputs[i + 1].stage.name == part.stage.name;
      WritePart(part, after, before, inside, late, body, inner);
    }
    late.Write(inner);
    if (!packs()) {
      body.Append(inner);
      if (tiled()) CloseTile(body);
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

  // A thread stores several elements: of several outputs, or of parts that are not branches.
  bool StoresSeveral() const {
    std::set<std::string> outputs;
    for (const BufferPart& part : plan_.outputs) outputs.insert(part.stage.name);
    return outputs.size() > 1 || (plan_.outputs.size() > 1 && plan_.outputs[0].where.empty());
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
                 const std::map<core::VariableId, std::string>& variables, LateStores& late, Lines& outer,
                 Lines& inner) {
    const std::string condition = ConditionText(part.where, variables);
    if (condition.empty()) {
      if (!packs()) late.Open(inner, part.stage, "");
      return WriteOutput(part.stage, variables, late, outer, inner);
    }
    if (after) late.Else(inner, condition);
    else late.Open(inner, part.stage, condition);
    const Names outside = names_;
    const auto windows = windows_;
    WriteOutput(part.stage, variables, late, inner, inner);
    names_ = outside;
    windows_ = windows;
    if (!before) late.Close(inner);
  }

  void WriteOutput(const core::Stage& stage, const std::map<core::VariableId, std::string>& variables, LateStores& late,
                   Lines& outer, Lines& inner) {
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
    late.Set(inner, fmt::format("{}[{}]", stage.name, offset), value);
  }

  // Neighbours at a place that data says, as the rows of a table.
  void LoadGathered(const core::Stage& stage, ExpressionCode& code, Lines& outer) {
    const auto inside = code.scope().variables;
    code.scope().variables = VariableNames(plan_.dimensions);
    for (const core::Node& node : stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || !IsGatheredRow(problem_, stage, *read, plan_.dimensions.back())) continue;
      const std::string address = code.Address(*read);
      std::string& name = rows_[address];
      if (name.empty()) {
        name = names_.TakeOf({read->tensor + "_pack", read->tensor + "_row"});
        outer.Add(packed_.Load(name, address));
      }
      gathered_[read] = name;
    }
    code.scope().variables = inside;
  }

  // The stages that find an extremum's position, and the extremum, of the same terms.
  const core::Stage* Sibling(const core::Stage& stage, bool wants_position) const {
    const auto* own = std::get_if<core::Reduce>(&stage.nodes.back());
    if (own == nullptr) return nullptr;
    for (const size_t i : plan_.windows) {
      const core::Stage& other = problem_.stage(i);
      const auto* reduce = std::get_if<core::Reduce>(&other.nodes.back());
      if (&other == &stage || reduce == nullptr || core::IsArg(reduce->op) != wants_position) continue;
      const core::ReduceOp position = wants_position ? reduce->op : own->op,
                           value = wants_position ? own->op : reduce->op;
      const bool largest = position == core::ReduceOp::kArgMaxFirst || position == core::ReduceOp::kArgMaxLast;
      if (value != (largest ? core::ReduceOp::kMax : core::ReduceOp::kMin)) continue;
      const bool same = reduce->variables == own->variables && reduce->guards == own->guards &&
                        reduce->body == own->body && other.extents == stage.extents &&
                        other.nodes.size() == stage.nodes.size() &&
                        std::equal(other.nodes.begin(), other.nodes.end() - 1, stage.nodes.begin());
      if (same) return &other;
    }
    return nullptr;
  }
  const core::Stage* PositionOf(const core::Stage& stage) const {
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
    return reduce && !core::IsArg(reduce->op) ? Sibling(stage, true) : nullptr;
  }
  const core::Stage* ExtremumOf(const core::Stage& stage) const {
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
    return reduce && core::IsArg(reduce->op) ? Sibling(stage, false) : nullptr;
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
    // Where the position of an extremum is asked for too, one walk finds both.
    if (const core::Stage* position = PositionOf(*stage)) {
      core::TensorRead both = read;
      both.tensor = position->name;
      WindowValue(both, reader, lines);
      if (const auto found = windows_.find(key); found != windows_.end()) return found->second;
    }
    Scope scope{variables, [&](const core::TensorRead& inner) -> std::optional<std::string> {
                  if (problem_.form.FindTensor(inner.tensor) != nullptr) return std::nullopt;
                  return WindowValue(inner, variables, lines);
                }};
    ExpressionCode code(problem_, *stage, scope, names_, lines);
    // What its terms share comes before the loop over them.
    if (const auto* reduce = std::get_if<core::Reduce>(&stage->nodes.back()))
      code.Hoist(core::VariablesOf(*reduce), reduce->body);
    const std::string value = code.Root();
    if (code.refusal()) refusal_ = code.refusal();
    windows_[key] = value;
    if (const core::Stage* extremum = ExtremumOf(*stage))
      if (const auto best = code.BestOf(static_cast<core::NodeId>(stage->nodes.size() - 1)))
        windows_[extremum->name + key.substr(read.tensor.size())] = *best;
    return value;
  }

  std::string WriteTiledLaunch(const KernelArguments& arguments) {
    const size_t outer = plan_.dimensions.size() - 2;
    const auto blocks = [&](size_t d, int threads) {
      return CeilDivided(SizeText(plan_.dimensions[d].extent), std::to_string(threads));
    };
    const std::vector<Dimension> planes(plan_.dimensions.begin(), plan_.dimensions.end() - 2);
    const std::string grid = problem_.fresh_name("grid");
    Lines launch;
    launch.Add(fmt::format("dim3 {}({}, {}{});", grid, blocks(outer + 1, shape_.x), blocks(outer, shape_.y),
                           outer > 0 ? ", " + TotalText(problem_, planes) : ""));
    launch.Add("// More than a grid can have are taken in turn.");
    launch.Add(fmt::format("if ({0}.y > 65535) {0}.y = 65535;", grid));
    if (outer > 0) launch.Add(fmt::format("if ({0}.z > 65535) {0}.z = 65535;", grid));
    launch.Add(Launch(problem_, name_, grid, fmt::format("dim3({}, {})", shape_.x, shape_.y), arguments.values));
    return launch.text();
  }

  std::string WriteLaunch(const KernelArguments& arguments) {
    Lines launch;
    if (tiled()) return WriteTiledLaunch(arguments);
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
  const BlockShape shape_;
  const std::string block_;  // threads along x
  Names names_;
  std::string name_, index_, k_;
  std::string tile_index_;  // where a thread's row begins, in tensors that lie as the outputs do
  PackedType packed_;
  std::vector<std::string> held_;  // by packed access: the variable
  std::vector<std::string> helpers_;
  std::map<const core::TensorRead*, std::string> gathered_;  // the variable that holds its neighbours
  std::map<std::string, std::string> rows_;                  // the same by address
  std::map<std::string, std::string> windows_;
  std::optional<core::RewriteRefusal> refusal_;
};

// Neighbours above and below are read by a block again where it is a tile.
bool ReadsNeighbours(const MapPlan& plan) {
  if (!plan.windows.empty()) return true;
  for (const BufferPart& output : plan.outputs) {
    std::map<std::string, const core::TensorRead*> first;
    for (const core::Node& node : output.stage.nodes)
      if (const auto* read = std::get_if<core::TensorRead>(&node); read && !read->stage)
        if (const auto [at, is_new] = first.emplace(read->tensor, read); !is_new && !(*at->second == *read))
          return true;
  }
  return false;
}

BlockShape BlockFor(const MapPlan& plan, const std::string& asked) {
  const bool may_tile = plan.dimensions.size() >= 2 && !plan.packing.packs();
  if (may_tile && (asked == kTile || (asked == "auto" && ReadsNeighbours(plan)))) return {32, 8};
  if (asked == "auto" || asked == kTile) return {256, 1};
  return {std::stoi(asked), 1};
}

// Whether a term's number decides what it weighs or whether it counts, as in a stencil whose weights are lifted as
// "2 - x % 2": a few terms then say more than a loop over them.
bool IsWeighedByNumber(const core::Stage& stage) {
  const std::vector<core::VariableSet> free = core::FreeVariables(stage);
  for (const core::Node& node : stage.nodes) {
    const auto* reduce = std::get_if<core::Reduce>(&node);
    if (reduce == nullptr) continue;
    const core::VariableSet inner = core::VariablesOf(*reduce);
    const auto of_terms = [&](const core::Affine& value) {
      const core::VariableSet all = core::VariablesOf(value);
      return all != 0 && (all & ~inner) == 0;
    };
    if (std::any_of(reduce->guards.begin(), reduce->guards.end(), [&](const auto& g) { return of_terms(g.value); }))
      return true;
    for (core::NodeId id = 0; id < reduce->body + 1; ++id)
      if (const auto* index = std::get_if<core::IndexValue>(&stage.nodes[id]); index && of_terms(index->index))
        return true;
  }
  return false;
}

CodeOutcome EmitMap(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  Problem written = problem;
  for (core::Stage& stage : written.form.stages)
    if (IsWeighedByNumber(stage)) stage = WithWrittenTerms(problem, stage, kMostWrittenTerms).value_or(stage);
  MapPlanOutcome plan = PlanMap(written, group, IntegerOf(parameters, "vector_bytes"));
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  auto& planned = std::get<MapPlan>(plan);
  const BlockShape block = BlockFor(planned, parameters.at("block_size"));
  std::set<std::string> outputs;
  for (const BufferPart& output : planned.outputs) outputs.insert(output.stage.name);
  const std::vector<std::string> apart = ApartConditions(problem, outputs, planned.read_elsewhere);
  CodeOutcome outcome = MapWriter(written, group, std::move(planned), block).Write();
  if (auto* code = std::get_if<Code>(&outcome))
    code->conditions.insert(code->conditions.end(), apart.begin(), apart.end());
  return outcome;
}

}  // namespace

Schedule MapSchedule() {
  return {.id = "schedule_map",
          .title = "elements in memory order",
          .parameters = {kPadding,
                         kSizes,
                         {"vector_bytes", {"16", "8"}},
                         {"block_size", {"auto", "256", "512", "128", kTile}}},
          .emit = EmitMap};
}

}  // namespace warpwright::schedule

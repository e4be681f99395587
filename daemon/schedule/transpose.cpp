// schedule_transpose: outputs whose inputs lie in another order, element by element. A block moves a square tile
// through shared memory: it reads along the input's fast axis and writes along the output's.
#include <fmt/format.h>

#include <algorithm>

#include "core/polynomial.h"
#include "schedule/dimensions.h"
#include "schedule/expression_code.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int kTile = 32;

struct TransposePlan {
  core::Stage stage;
  std::vector<Dimension> dimensions;
  size_t input_axis = 0;           // the dimension along which the input is contiguous; the output is along the last
  std::vector<Access> transposed;  // reads that go through tiles, each place once
};
using PlanOutcome = std::variant<core::RewriteRefusal, TransposePlan>;

PlanOutcome PlanTranspose(const Problem& problem, const Group& group) {
  if (group.stages.size() != 1) return Refuse("it is computed in several stages");
  TransposePlan plan;
  plan.stage = problem.stage(group.stages[0]);
  if (core::HasReduction(plan.stage) || !plan.stage.domain.empty()) return Refuse("elements are more than a copy");
  const std::vector<Access> accesses = AccessesOf(problem, plan.stage);
  plan.dimensions = DimensionsOf(0, plan.stage.extents, accesses, UsedApart(problem, plan.stage));
  if (plan.dimensions.size() < 2) return Refuse("nothing changes its order");
  if (!IsContiguous(accesses.back(), plan.dimensions.back())) return Refuse("the output is not written along memory");
  std::optional<size_t> input_axis;
  for (const Access& access : accesses) {
    if (access.store) continue;
    if (access.tensor == plan.stage.name) return Refuse(access.tensor + " is changed in place");
    for (size_t d = 0; d + 1 < plan.dimensions.size(); ++d) {
      if (!IsContiguous(access, plan.dimensions[d])) continue;
      if (!access.offset->coefficients.contains(plan.dimensions.back().variables.back())) continue;
      if (input_axis && *input_axis != d) return Refuse("inputs lie in several orders");
      input_axis = d;
      const bool known = std::any_of(plan.transposed.begin(), plan.transposed.end(),
                                     [&](const Access& other) { return SamePlace(other, access); });
      if (!known) plan.transposed.push_back(access);
    }
  }
  if (!input_axis) return Refuse("no input lies in another order than the output");
  if (plan.transposed.size() > 2) return Refuse("too many inputs are turned");
  plan.input_axis = *input_axis;
  return plan;
}

class TransposeWriter {
 public:
  TransposeWriter(const Problem& problem, const Group& group, TransposePlan plan, int rows)
      : problem_(problem), group_(group), plan_(std::move(plan)), rows_(rows), names_(problem) {}

  CodeOutcome Write() {
    const std::string name = KernelName(problem_, "tiles");
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    tile_ = names_.Take("kTile");
    step_ = names_.Take("kRows");
    NameDimensions(plan_.dimensions, names_);
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", kTile * rows_), name, arguments.parameters));
    Lines body(1);
    WriteTiles(body);
    if (refusal_) return *refusal_;
    kernel.Append(body);
    kernel.Add("}");
    Code code;
    code.kernels = kernel.text();
    std::string grid = fmt::format("{} * {}", Parenthesized(Tiles(plan_.input_axis)), Parenthesized(Tiles(Last())));
    for (size_t d = 0; d < Last(); ++d)
      if (d != plan_.input_axis) grid += " * " + Parenthesized(SizeText(plan_.dimensions[d].extent));
    code.launch = Launch(problem_, name, grid, fmt::format("dim3({}, {})", kTile, rows_), arguments.values) + "\n";
    code.notes = {"through tiles in shared memory"};
    return code;
  }

 private:
  size_t Last() const { return plan_.dimensions.size() - 1; }
  std::string Tiles(size_t d, const std::string& tile = std::to_string(kTile)) const {
    return CeilDivided(SizeText(plan_.dimensions[d].extent), tile);
  }

  void WriteTiles(Lines& body) {
    const Dimension &input_axis = plan_.dimensions[plan_.input_axis], &last = plan_.dimensions[Last()];
    body.Add(fmt::format("constexpr int {} = {}, {} = {};", tile_, kTile, step_, rows_));
    std::vector<std::string> tiles;
    for (const Access& access : plan_.transposed) {
      tiles.push_back(names_.Take(access.tensor + "_tile"));
      body.Add(fmt::format("__shared__ {} {}[{}][{} + 1];  // a column of padding keeps banks apart",
                           ElementTypeOf(problem_, access), tiles.back(), tile_, tile_));
    }
    const std::string across = names_.Take("tiles_" + last.name), along = names_.Take("tiles_" + input_axis.name);
    body.Add(fmt::format("const int {} = {};", across, Tiles(Last(), tile_)));
    const bool more = plan_.dimensions.size() > 2;
    if (more) body.Add(fmt::format("const int {} = {};", along, Tiles(plan_.input_axis, tile_)));
    const std::string last_begin = names_.Take(last.name + "_begin"),
                      turned_begin = names_.Take(input_axis.name + "_begin");
    body.Add(fmt::format("const int {} = blockIdx.x % {} * {};", last_begin, across, tile_));
    body.Add(
        fmt::format("const int {} = blockIdx.x / {}{} * {};", turned_begin, across, more ? " % " + along : "", tile_));
    std::string rest = fmt::format("blockIdx.x / {} / {}", across, along);
    for (size_t d = Last(), left = plan_.dimensions.size() - 2; d-- > 0;) {
      if (d == plan_.input_axis) continue;
      const std::string extent = Parenthesized(SizeText(plan_.dimensions[d].extent));
      const std::string type = problem_.wide ? "long long" : "int";
      body.Add(
          fmt::format("const {} {} = {}{};", type, plan_.dimensions[d].name, rest, --left > 0 ? " % " + extent : ""));
      rest += " / " + extent;
    }
    WriteLoop(body, input_axis, last, turned_begin, last_begin, [&](Lines& lines) {
      auto variables = VariableNames(plan_.dimensions);
      for (size_t t = 0; t < plan_.transposed.size(); ++t)
        lines.Add(fmt::format("{}[{}][threadIdx.x] = {}[{}];", tiles[t], j_, plan_.transposed[t].tensor,
                              OffsetText(*plan_.transposed[t].offset, variables)));
    });
    body.Add("__syncthreads();");
    WriteLoop(body, last, input_axis, last_begin, turned_begin, [&](Lines& lines) { WriteStore(tiles, lines); });
  }

  // Over a tile: threads along `fast`, steps along `slow`.
  template <typename Inner>
  void WriteLoop(Lines& body, const Dimension& fast, const Dimension& slow, const std::string& fast_begin,
                 const std::string& slow_begin, const Inner& inner) {
    if (j_.empty()) j_ = names_.TakeOf({"j", "step"});
    const std::string type = problem_.wide ? "long long" : "int";
    body.Open(fmt::format("for (int {0} = threadIdx.y; {0} < {1}; {0} += {2})", j_, tile_, step_));
    body.Add(fmt::format("const {} {} = {} + threadIdx.x;", type, fast.name, fast_begin));
    body.Add(fmt::format("const {} {} = {} + {};", type, slow.name, slow_begin, j_));
    body.Open(
        fmt::format("if ({} < {} && {} < {})", slow.name, SizeText(slow.extent), fast.name, SizeText(fast.extent)));
    inner(body);
    body.Close();
    body.Close();
  }

  void WriteStore(const std::vector<std::string>& tiles, Lines& lines) {
    const auto variables = VariableNames(plan_.dimensions);
    Scope scope{variables, [&](const core::TensorRead& read) -> std::optional<std::string> {
                  const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
                  if (tensor == nullptr) return std::nullopt;
                  const Access access = AccessOf(*tensor, read);
                  for (size_t t = 0; t < plan_.transposed.size(); ++t)
                    if (SamePlace(plan_.transposed[t], access))
                      return Loaded(problem_, tensor->dtype, fmt::format("{}[threadIdx.x][{}]", tiles[t], j_));
                  return std::nullopt;
                }};
    ExpressionCode code(problem_, plan_.stage, scope, names_, lines);
    const auto root = static_cast<core::NodeId>(plan_.stage.nodes.size() - 1);
    const bool copies = std::holds_alternative<core::TensorRead>(plan_.stage.nodes[root]) &&
                        plan_.transposed.size() == 1 && plan_.transposed[0].dtype == plan_.stage.dtype;
    const std::string value = copies ? fmt::format("{}[threadIdx.x][{}]", tiles[0], j_)
                                     : Stored(problem_, plan_.stage.dtype, code.TypeOf(root), code.Root());
    const auto offset = FlatOffsetOf(ShapeOf(problem_, plan_.stage.name), StoredAt(plan_.stage));
    lines.Add(fmt::format("{}[{}] = {};", plan_.stage.name, OffsetText(*offset, variables), value));
    if (code.refusal()) refusal_ = code.refusal();
  }

  const Problem& problem_;
  const Group& group_;
  TransposePlan plan_;
  const int rows_;
  Names names_;
  std::string tile_, step_, j_;
  std::optional<core::RewriteRefusal> refusal_;
};

CodeOutcome EmitTranspose(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  PlanOutcome plan = PlanTranspose(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  return TransposeWriter(problem, group, std::move(std::get<TransposePlan>(plan)), IntegerOf(parameters, "threads"))
      .Write();
}

}  // namespace

Schedule TransposeSchedule() {
  return {.id = "schedule_transpose",
          .title = "tiles in shared memory",
          .parameters = {{"threads", {"8", "16", "4"}}},
          .emit = EmitTranspose};
}

}  // namespace warpwright::schedule

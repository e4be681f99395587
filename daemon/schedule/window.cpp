// schedule_window: stencils, filters and windows of fixed size. A thread computes a small tile of neighbouring outputs
// and holds what these need of an input in registers, each element once: rows that lie side by side in memory are
// loaded by one access, and all loads of a tile are under way at once.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/affine.h"
#include "schedule/expression_code.h"
#include "schedule/fixed_sizes.h"
#include "schedule/late_stores.h"
#include "schedule/overlaps.h"
#include "schedule/schedules.h"
#include "schedule/window_plan.h"
#include "schedule/window_zeros.h"

namespace warpwright::schedule {
namespace {

constexpr int kThreads = 256, kLanes = 32;

class WindowWriter {
 public:
  WindowWriter(const Problem& problem, WindowPlan plan, std::optional<LeftOut> left_out)
      : problem_(problem), plan_(std::move(plan)), left_out_(std::move(left_out)), names_(problem) {
    for (size_t i = 0; i < plan_.form.stages.size(); ++i) group_.stages.push_back(i);
    const int64_t columns = ValueIn(plan_.extents.back(), HeaviestCase(problem)).value_or(kLanes);
    const auto useful = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, columns / plan_.width)));
    lanes_ = static_cast<int>(std::clamp<uint64_t>(useful, 8, plan_.row ? kLanes : kThreads));
  }

  CodeOutcome Write() {
    Code code;
    const std::string name = KernelName(problem_, "window");
    if (packs()) {
      packed_ = MakePackedType(problem_, plan_.packing);
      helpers_ = {packed_.definition, packed_.store_definition};
      names_.Take("kWidth");
      k_ = names_.TakeOf({"k", "item"});
    }
    NameIndices();
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel, body(1);
    kernel.AddAll(FormulaComment(problem_, group_));
    for (const WindowOutput& output : plan_.outputs)
      if (!IsInMemory(output.edge)) {
        kernel.Add(fmt::format("// Beyond the edges of what it reads stands {}.", output.edge == Edge::kZero ? "0"
                                                                                  : output.edge == Edge::kLowest
                                                                                      ? "less than everything"
                                                                                      : "more than everything"));
        break;
      }
    if (packs()) kernel.Add("template <int kWidth>");
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", kThreads), name, arguments.parameters));
    OpenLoops(body);
    if (left_out_) WriteCareful(body);
    for (size_t w = 0; w < plan_.windows.size(); ++w) WriteLoads(w, body);
    WriteOutputs(body);
    while (body.level() > 1) body.Close();
    if (refusal_) return *refusal_;
    kernel.Append(body);
    kernel.Add("}");
    code.kernels = kernel.text();
    code.launch = WriteLaunch(name, arguments);
    code.helpers = helpers_;
    code.notes = {
        fmt::format("{} by {} outputs for each thread, with what they need in registers", plan_.rows, plan_.width)};
    return code;
  }

 private:
  bool packs() const { return plan_.width > 1; }
  bool many() const { return plan_.rows > 1; }
  const std::string& NameOf(core::VariableId v) const { return dimensions_[v].name; }
  const core::Size& ExtentOf(core::VariableId v) const { return plan_.extents[v]; }
  std::string Count(core::VariableId v) const { return SizeText(ExtentOf(v)); }

  void NameIndices() {
    for (core::VariableId v = 0; v < plan_.extents.size(); ++v) dimensions_.push_back({{v}, plan_.extents[v], ""});
    NameDimensions(dimensions_, names_);
    if (many()) names_.Take("kRows"), j_ = names_.TakeOf({"j", "own_row"});
    for (const Window& window : plan_.windows) arrays_.push_back(names_.Take(window.tensor + "_window"));
    for (core::VariableId v = 0; v < plan_.extents.size(); ++v)
      if (v != plan_.col && v != plan_.row) planes_.push_back(dimensions_[v]);
  }

  // A grid has at most 65,535 blocks along y and z: loops go on from there.
  void OpenLoops(Lines& body) {
    if (many())
      body.Add(fmt::format("constexpr int kRows = {};  // outputs of a thread, one below the other", plan_.rows));
    const std::string thread = "blockIdx.x * blockDim.x + threadIdx.x", &col = NameOf(plan_.col);
    body.Add(fmt::format("const int {} = {};", col, packs() ? "(" + thread + ") * kWidth" : thread));
    body.Add(fmt::format("if ({} >= {}) return;", col, Count(plan_.col)));
    if (!planes_.empty()) {
      const std::string plane = planes_.size() == 1 ? planes_[0].name : names_.TakeOf({"plane_index", "planes_index"});
      body.Open(
          fmt::format("for (int {0} = blockIdx.z; {0} < {1}; {0} += gridDim.z)", plane, TotalText(problem_, planes_)));
      if (planes_.size() > 1) WriteCoordinates(planes_, "int", plane, names_, body);
    }
    if (!plan_.row) return;
    const std::string times = many() ? " * kRows" : "";
    const std::string first = "blockIdx.y * blockDim.y + threadIdx.y";
    body.Open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += gridDim.y * blockDim.y{3})", NameOf(*plan_.row),
                          many() ? "(" + first + ")" + times : first, Count(*plan_.row), times));
  }

  std::map<core::VariableId, std::string> Variables() const {
    std::map<core::VariableId, std::string> variables;
    for (core::VariableId v = 0; v < plan_.extents.size(); ++v) variables[v] = NameOf(v);
    return variables;
  }

  // What an output is where its terms beyond the edges must be left out.
  void WriteCareful(Lines& body) {
    careful_ = names_.TakeOf({"careful", "result_at"});
    body.Add(
        "// Beyond the edges stands 0, of which an infinite weight makes no number: such terms are left out then.");
    const Names outer = names_;
    auto variables = Variables();
    const std::string col = names_.TakeOf({"at_" + NameOf(plan_.col), "at_col"});
    variables[plan_.col] = col;
    std::string parameters = "int " + col;
    if (plan_.row) {
      const std::string row = names_.TakeOf({"at_" + NameOf(*plan_.row), "at_row"});
      variables[*plan_.row] = row;
      parameters = "int " + row + ", " + parameters;
    }
    body.Open(fmt::format("auto {} = [&]({})", careful_, parameters));
    ExpressionCode own(problem_, left_out_->output, Scope{variables}, names_, body);
    const std::string value = own.Root();
    if (own.refusal()) refusal_ = own.refusal();
    body.Add(fmt::format("return {};", value));
    body.Close(";");
    names_ = outer;
  }
  std::string Careful(const std::string& value, const std::map<core::VariableId, std::string>& variables,
                      Lines& lines) {
    if (!left_out_) return value;
    const std::string result = names_.TakeOf({"result", "filled"});
    const std::string row = plan_.row ? variables.at(*plan_.row) + ", " : "";
    lines.Add(fmt::format("{} {} = {};", problem_.real(), result, value));
    lines.Add(fmt::format("if (isnan({0})) {0} = {1}({2}{3});", result, careful_, row, variables.at(plan_.col)));
    return result;
  }

  // A position that is kept inside of its dimension, by a device function.
  std::string Kept(const std::string& at, const std::string& count, Edge edge) {
    const bool wraps = edge == Edge::kWrapped;
    const std::string name = problem_.shared_name(wraps ? "wrapped" : "clamped");
    const std::string helper =
        wraps ? fmt::format(
                    "// Beyond one edge comes the other one.\n"
                    "__device__ __forceinline__ int {}(int at, int count) {{\n"
                    "  return at < 0 ? max(at + count, 0) : at < count ? at : min(at - count, count - 1);\n"
                    "}}\n",
                    name)
              : fmt::format(
                    "// Beyond an edge stands what stands at it.\n"
                    "__device__ __forceinline__ int {}(int at, int count) {{\n"
                    "  return min(max(at, 0), count - 1);\n"
                    "}}\n",
                    name);
    if (std::find(helpers_.begin(), helpers_.end(), helper) == helpers_.end()) helpers_.push_back(helper);
    return fmt::format("{}({}, {})", name, at, count);
  }
  static std::string Sum(const std::string& text, int64_t offset) {
    if (offset == 0) return text;
    return fmt::format("{} {} {}", text, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
  }
  static std::string Times(int64_t stride, const std::string& text) {
    return stride == 1 ? text : fmt::format("{} * {}", stride, Parenthesized(text));
  }

  std::string ElementType(const Window& window) const {
    if (core::IsFloat(window.dtype)) return problem_.real();
    const bool narrow = core::SizeOf(window.dtype) < 4;
    return narrow ? "int" : CTypeOf(window.dtype);
  }

  // What stands beyond the edges, where that is no element.
  std::string Beyond(const Window& window) const {
    const core::ReduceOp op = window.edge == Edge::kZero     ? core::ReduceOp::kSum
                              : window.edge == Edge::kLowest ? core::ReduceOp::kMax
                                                             : core::ReduceOp::kMin;
    return NeutralText(problem_, op, core::IsFloat(window.dtype) ? core::ValueType::kReal : core::ValueType::kInteger);
  }
  // An element where the conditions hold, and else what is beyond the edges.
  std::string Inside(const Window& window, const std::vector<std::string>& conditions, const std::string& text) const {
    if (conditions.empty()) return text;
    return fmt::format("{} ? {} : {}", fmt::join(conditions, " && "), text, Beyond(window));
  }

  // Where a row of the window begins, in memory; `y`: which row. Its positions are in memory as they are where the
  // conditions, which are added, hold.
  std::string RowOffset(const Window& window, const std::string& y, std::vector<std::string>& conditions) {
    const core::TensorArgument& tensor = *problem_.form.FindTensor(window.tensor);
    const auto variables = Variables();
    std::vector<std::string> at;
    for (size_t d = 0; d + 1 < tensor.shape.size(); ++d) {
      const std::string count = SizeText(tensor.shape[d]);
      if (window.row_at == d) {
        std::string row = Times(window.row_stride, NameOf(*plan_.row));
        if (!y.empty()) row += " + " + y;
        const bool plain = y.empty() && window.row_stride == 1 && window.top == 0;
        if (plain && Equal(tensor.shape[d], ExtentOf(*plan_.row))) at.push_back(row);
        else at.push_back(KeptRow(window, Sum(row, window.top), count, conditions));
        continue;
      }
      const std::string position = PositionText(window.others[d], variables);
      const auto variable = core::AsVariable(window.others[d]);
      const bool inside = window.others[d].terms.empty() || (variable && Equal(tensor.shape[d], ExtentOf(*variable)));
      at.push_back(inside ? position : KeptRow(window, position, count, conditions));
    }
    at.push_back("0");
    return OffsetText(problem_, tensor.shape, at);
  }
  std::string KeptRow(const Window& window, const std::string& position, const std::string& count,
                      std::vector<std::string>& conditions) {
    if (!IsInMemory(window.edge)) {
      const std::string at = position.find(" + ") != std::string::npos || position.find(" - ") != std::string::npos
                                 ? position
                                 : Parenthesized(position);
      conditions.push_back(fmt::format("{} >= 0", at));
      conditions.push_back(fmt::format("{} < {}", at, count));
    }
    return Kept(position, count, window.edge);
  }

  void WriteLoads(size_t w, Lines& body) {
    const Window& window = plan_.windows[w];
    const core::TensorArgument& tensor = *problem_.form.FindTensor(window.tensor);
    const std::string& array = arrays_[w];
    const int64_t rows_over = window.bottom - window.top + 1 - window.row_stride;
    const bool single = window.row_at ? window.RowCount(plan_.rows) == 1 : true;
    const std::string rows = single   ? ""
                             : many() ? Sum(Times(window.row_stride, "kRows"), rows_over)
                                      : std::to_string(window.RowCount(1));
    const int64_t columns_over = window.right - window.left + 1 - window.col_stride;
    const std::string columns =
        packs() ? Sum(Times(window.col_stride, "kWidth"), columns_over) : std::to_string(window.ColumnCount(1));
    const EntryParameter* parameter = problem_.entry.Find(window.tensor);
    const std::string type = parameter ? parameter->type : CTypeOf(window.dtype);
    body.Add(fmt::format("{} {}{}[{}];", ElementType(window), array, single ? "" : "[" + rows + "]", columns));
    const Names outer = names_;
    const std::string y = single ? "" : names_.TakeOf({"y", "r", "window_row"});
    if (!single) {
      body.Add("#pragma unroll");
      body.Open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", y, rows));
    }
    const std::string from = names_.TakeOf({"from", "row_begin"});
    std::vector<std::string> is_row;
    const std::string offset = RowOffset(window, y, is_row);
    if (!is_row.empty()) {
      const std::string inside = names_.TakeOf({"inside", "is_row", window.tensor + "_has_row"});
      body.Add(fmt::format("const bool {} = {};", inside, fmt::join(is_row, " && ")));
      is_row = {inside};
    }
    body.Add(fmt::format("const {}* {} = {}{};", type, from, window.tensor, offset == "0" ? "" : " + " + offset));
    const std::string target = array + (single ? "" : "[" + y + "]");
    const std::string& col = NameOf(plan_.col);
    const std::string count = SizeText(tensor.shape.back());
    const auto element = [&](const std::string& at) {
      return Inside(window, is_row, Loaded(problem_, window.dtype, fmt::format("{}[{}]", from, at)));
    };
    // One that may be beyond an edge of the row, left (`is_column` says when not) or right.
    const auto outer_element = [&](const std::string& at, const std::string& is_column) {
      if (IsInMemory(window.edge)) return element(Kept(at, count, window.edge));
      auto conditions = is_row;
      conditions.push_back(is_column);
      return Inside(window, conditions, Loaded(problem_, window.dtype, fmt::format("{}[{}]", from, at)));
    };
    const bool straight = window.packs || (window.col_stride == 1 && window.left == 0 && window.right == 0 &&
                                           Equal(tensor.shape.back(), ExtentOf(plan_.col)));
    if (straight) {
      for (int64_t x = window.left; x < 0; ++x)
        body.Add(fmt::format("{}[{}] = {};", target, x - window.left,
                             outer_element(Sum(col, x), fmt::format("{} >= {}", col, -x))));
      if (packs() && window.packs) {
        const std::string pack = names_.TakeOf({window.tensor + "_pack", window.tensor + "_neighbours"});
        body.Add(packed_.Load(pack, from + " + " + col));
        body.Add("#pragma unroll");
        body.Add(fmt::format("for (int {0} = 0; {0} < kWidth; ++{0}) {1}[{2}] = {3};", k_, target,
                             Sum(k_, -window.left),
                             Inside(window, is_row, Loaded(problem_, window.dtype, pack + ".at[" + k_ + "]"))));
      } else {
        body.Add(fmt::format("{}[{}] = {};", target, -window.left, element(col)));
      }
      for (int64_t x = 1; x <= window.right; ++x) {
        const std::string base = packs() ? Sum("kWidth", x - 1) : std::to_string(x);
        const std::string index = packs() ? Sum("kWidth", x - 1 - window.left) : std::to_string(x - window.left);
        const std::string at = col + " + " + base;
        body.Add(fmt::format("{}[{}] = {};", target, index, outer_element(at, at + " < " + count)));
      }
    } else {
      const std::string x = names_.TakeOf({"x", "c", "window_col"});
      const std::string at = Sum(Times(window.col_stride, col) + " + " + x, window.left);
      body.Add("#pragma unroll");
      body.Add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", x, columns, target,
                           outer_element(at, fmt::format("{0} >= 0 && {0} < {1}", at, count))));
    }
    if (single) return;  // its names are those of the kernel
    body.Close();
    names_ = outer;
  }

  // The element of a window as the inner loops know it.
  std::optional<std::string> Held(const core::TensorRead& read, Edge edge) const {
    const auto place = plan_.PlaceOf(read, edge);
    if (!place) return std::nullopt;
    const Window& window = plan_.windows[place->window];
    const auto index = [](const std::string& variable, int64_t stride, int64_t offset) {
      return variable.empty() ? std::to_string(offset) : Sum(Times(stride, variable), offset);
    };
    const bool single = window.row_at ? window.RowCount(plan_.rows) == 1 : true;
    return arrays_[place->window] + (single ? "" : "[" + index(j_, window.row_stride, place->row) + "]") + "[" +
           index(k_, window.col_stride, place->col) + "]";
  }

  std::string ElementTypeOf(const core::Stage& stage) const {
    return schedule::ElementTypeOf(problem_, Access{stage.name, stage.dtype, true, FlatOffset{}});
  }

  void WriteOutputs(Lines& body) {
    auto variables = Variables();
    if (many()) {
      body.Add("#pragma unroll");
      body.Open(fmt::format("for (int {0} = 0; {0} < kRows; ++{0})", j_));
      variables[*plan_.row] += " + " + j_;
      body.Open(fmt::format("if ({} < {})", variables[*plan_.row], Count(*plan_.row)));
    }
    const bool several = plan_.outputs.size() > 1;
    LateStores late(problem_, names_, several);
    Lines packs_stored(body.level());
    for (const WindowOutput& output : plan_.outputs)
      WriteOutput(output, variables, late, several ? packs_stored : body, body);
    late.Write(body);
    body.Append(packs_stored);
  }

  std::string OffsetIn(const core::Stage& stage, const std::map<core::VariableId, std::string>& variables) const {
    std::vector<std::string> at;
    for (core::VariableId v = 0; v < plan_.extents.size(); ++v) at.push_back(variables.at(v));
    return OffsetText(problem_, ShapeOf(problem_, stage.name), at);
  }

  std::string ValueOf(const core::Stage& stage, Edge edge, const std::map<core::VariableId, std::string>& variables,
                      Lines& lines) {
    Scope scope{variables, [this, edge](const core::TensorRead& read) { return Held(read, edge); }};
    ExpressionCode code(problem_, stage, scope, names_, lines);
    const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
    const std::string value = Stored(problem_, stage.dtype, code.TypeOf(root), Careful(code.Root(), variables, lines));
    if (code.refusal()) refusal_ = code.refusal();
    return value;
  }

  // `stored`: where stores of packs go.
  void WriteOutput(const WindowOutput& output, const std::map<core::VariableId, std::string>& variables,
                   LateStores& late, Lines& stored, Lines& body) {
    if (!packs()) return WriteSingle(output, variables, late, body);
    const core::Stage& stage = output.inside.stage;
    auto inside = variables;
    const Names outer = names_;
    const std::string target = names_.TakeOf({stage.name + "_pack", stage.name + "_new"});
    body.Add(fmt::format("{}<{}, kWidth> {};", packed_.name, ElementTypeOf(stage), target));
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kWidth; ++{0})", k_));
    inside[plan_.col] += " + " + k_;
    WriteValue(output, inside, target + ".at[" + k_ + "]", "", body);
    body.Close();
    if (!output.inside.where.empty() && output.borders.empty()) WriteGuardedStore(output, variables, target, stored);
    else stored.Add(packed_.Store(target, stage.name + " + " + OffsetIn(stage, variables)));
    if (&stored == &body) names_ = outer;
  }

  void WriteSingle(const WindowOutput& output, const std::map<core::VariableId, std::string>& variables,
                   LateStores& late, Lines& body) {
    const core::Stage& stage = output.inside.stage;
    const Names outer = names_;
    const std::string element = fmt::format("{}[{}]", stage.name, OffsetIn(stage, variables));
    late.Open(body, stage, output.borders.empty() ? ConditionText(output.inside.where, variables) : "");
    if (output.borders.empty()) {
      late.Set(body, element, ValueOf(stage, output.edge, variables, body));
    } else {
      const std::string own = names_.TakeOf({"value", stage.name + "_value"});
      WriteValue(output, variables, own, ElementTypeOf(stage) + " ", body);
      late.Set(body, element, own);
      if (plan_.outputs.size() == 1) names_ = outer;
    }
    late.Close(body);
  }

  // The formula of the inside, and that of elements at edges.
  void WriteValue(const WindowOutput& output, const std::map<core::VariableId, std::string>& inside,
                  const std::string& own, const std::string& declaration, Lines& body) {
    const auto assign = [&](const core::Stage& stage, const std::string& type) {
      const Names outer = names_;
      const std::string value = ValueOf(stage, output.edge, inside, body);
      body.Add(fmt::format("{}{} = {};", type, own, value));
      if (type.empty()) names_ = outer;
    };
    const bool one_border = output.borders.size() == 1 && output.borders.front().where.empty();
    assign(one_border ? output.borders.front().stage : output.inside.stage, declaration);
    if (one_border) {
      body.Open(fmt::format("if ({})", ConditionText(output.inside.where, inside)));
      assign(output.inside.stage, "");
      body.Close();
      return;
    }
    for (size_t b = 0; b < output.borders.size(); ++b) {
      const BufferPart& border = output.borders[b];
      const std::string condition = ConditionText(border.where, inside);
      if (b == 0) body.Open(fmt::format("if ({})", condition));
      else body.Else(fmt::format("else if ({})", condition));
      assign(border.stage, "");
    }
    if (!output.borders.empty()) body.Close();
  }

  // Outputs that are written in a box only: all of a pack, or each element that is inside.
  void WriteGuardedStore(const WindowOutput& output, const std::map<core::VariableId, std::string>& variables,
                         const std::string& target, Lines& body) {
    const core::Stage& stage = output.inside.stage;
    auto last = variables, each = variables;
    last[plan_.col] += " + kWidth - 1";
    each[plan_.col] += " + " + k_;
    std::string both = ConditionText(output.inside.where, variables);
    const std::string ends = ConditionText(output.inside.where, last);
    if (ends != both) both += " && " + ends;
    body.Open(fmt::format("if ({})", both));
    body.Add(packed_.Store(target, stage.name + " + " + OffsetIn(stage, variables)));
    body.Else();
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kWidth; ++{0})", k_));
    body.Add(fmt::format("if ({}) {}[{}] = {}.at[{}];", ConditionText(output.inside.where, each), stage.name,
                         OffsetIn(stage, each), target, k_));
    body.Close();
    body.Close();
  }

  std::string WriteLaunch(const std::string& name, const KernelArguments& arguments) {
    Lines launch;
    const int height = plan_.row ? kThreads / lanes_ : 1;
    std::string rest;
    if (plan_.row || !planes_.empty()) {
      const std::string blocks = problem_.fresh_name("row_blocks");
      launch.Add("// More blocks than a grid can have are taken in turn.");
      launch.Add(fmt::format("int {} = {};", blocks,
                             plan_.row ? CeilDivided(Count(*plan_.row), std::to_string(height * plan_.rows)) : "1"));
      launch.Add(fmt::format("if ({0} > 65535) {0} = 65535;", blocks));
      rest += ", " + blocks;
    }
    if (!planes_.empty()) {
      const std::string planes = problem_.fresh_name("planes");
      launch.Add(fmt::format("int {} = {};", planes, TotalText(problem_, planes_)));
      launch.Add(fmt::format("if ({0} > 65535) {0} = 65535;", planes));
      rest += ", " + planes;
    }
    const std::string block = height == 1 ? std::to_string(lanes_) : fmt::format("dim3({}, {})", lanes_, height);
    const auto grid = [&](int width) {
      const std::string columns = CeilDivided(Count(plan_.col), std::to_string(lanes_ * width));
      return rest.empty() ? columns : fmt::format("dim3({}{})", columns, rest);
    };
    if (!packs()) {
      launch.Add(Launch(problem_, name, grid(1), block, arguments.values));
      return launch.text();
    }
    launch.Open(fmt::format("if ({})", PackingCondition(problem_, plan_.packing, helpers_)));
    launch.Add(Launch(problem_, fmt::format("{}<{}>", name, plan_.width), grid(plan_.width), block, arguments.values));
    launch.Else();
    launch.Add(Launch(problem_, name + "<1>", grid(1), block, arguments.values));
    launch.Close();
    return launch.text();
  }

  const Problem& problem_;
  WindowPlan plan_;
  const std::optional<LeftOut> left_out_;
  std::string careful_;
  Group group_;  // all stages of the plan's form
  Names names_;
  int lanes_ = kLanes;  // threads of a block along the columns
  std::vector<Dimension> dimensions_, planes_;
  std::vector<std::string> arrays_;  // by window
  std::string j_, k_;
  PackedType packed_;
  std::vector<std::string> helpers_;
  std::optional<core::RewriteRefusal> refusal_;
};

std::vector<std::string> Apart(const Problem& problem, const WindowPlan& plan) {
  std::set<std::string> outputs, inputs;
  for (const WindowOutput& output : plan.outputs) outputs.insert(output.inside.stage.name);
  for (const Window& window : plan.windows) inputs.insert(window.tensor);
  return ApartConditions(problem, outputs, inputs);
}

CodeOutcome EmitWindow(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  const std::string& rows = parameters.at("rows_per_thread");
  const WindowChoice choice{.rows = rows == "auto" ? 0 : IntegerOf(parameters, "rows_per_thread"),
                            .vector_bytes = IntegerOf(parameters, "vector_bytes")};
  WindowPlanOutcome outcome = PlanWindows(problem, group, choice);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
  WindowPlan& plan = std::get<WindowPlan>(outcome);
  std::optional<LeftOut> left_out;
  if (plan.outputs.front().edge != Edge::kZero)
    if (auto filled = PlanWithZeros(problem, group, choice))
      plan = std::move(filled->plan), left_out = std::move(filled->left_out);
  Problem written = problem;
  written.form = plan.form;
  std::vector<std::string> conditions = Apart(problem, plan);
  CodeOutcome code = WindowWriter(written, std::move(plan), std::move(left_out)).Write();
  if (auto* written_code = std::get_if<Code>(&code)) written_code->conditions = std::move(conditions);
  return code;
}

}  // namespace

Schedule WindowSchedule() {
  return {.id = "schedule_window",
          .title = "neighbourhoods in registers",
          .parameters = {kPadding,
                         kSizes,
                         {"rows_per_thread", {"auto", "2", "8", "1"}},
                         {"vector_bytes", {"16", "8", "4"}}},
          .emit = EmitWindow};
}

}  // namespace warpwright::schedule

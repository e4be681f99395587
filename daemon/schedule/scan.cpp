// schedule_scan: running sums, products and extrema along an axis: value[i] = sum_{r <= i} x[r], also without i itself
// and from the end. A block scans a row, or a part of one where there are few rows: every thread a few neighbours,
// whose sums the warps add up. What stands before a part is made of the totals of the parts before it, which a kernel
// of their own leaves in order, so that the result is the same in every run. Where the axis lies across memory, every
// thread walks a column.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "schedule/contraction_axes.h"
#include "schedule/expression_code.h"
#include "schedule/partials.h"
#include "schedule/reduction_code.h"
#include "schedule/scan_plan.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;

constexpr size_t kLeastPartials = 1024;    // of a scratch argument that is used
constexpr int kNeighbours = 4;             // neighbours of a thread
constexpr int64_t kElementsOfPart = 4096;  // at least

// One kernel of a scan: its names, and the variables of a result.
struct Frame {
  Frame(const Problem& problem, const ScanPlan& plan)
      : names(problem),
        variables(NamesOfVariables(problem.stage(plan.group.stage), {}, names)),
        rows(plan.rows, variables, names, "row", "rows"),
        axis({plan.axis}, variables, names, "i", "count") {
    variables[plan.prefix.term] = axis.index();
    sum = names.TakeOf({WordFor(plan.reduce.op), "total"});
    if (!plan.along) return;
    for (const char* constant : {"kItems", "kStep"}) names.Take(constant);
    length = names.Take("length"), parts = names.Take("parts"), part = names.Take("part"), begin = names.Take("begin"),
    end = names.Take("end");
  }
  Names names;
  VariableTexts variables;
  FlatAxis rows, axis;
  std::string sum, length, parts, part, begin, end;
};

class ScanWriter {
 public:
  ScanWriter(const Problem& problem, const Group& group, ScanPlan plan, int threads)
      : problem_(problem),
        group_(group),
        plan_(std::move(plan)),
        stage_(problem.stage(plan_.group.stage)),
        threads_(threads) {
    const auto types = core::TypesOf(problem.form, stage_);
    sum_.op = plan_.reduce.op;
    sum_.type =
        types[plan_.reduce.body] == core::ValueType::kBoolean ? core::ValueType::kInteger : types[plan_.reduce.body];
    Names names(problem);
    Lines none;
    const ExpressionCode code(problem, stage_, {}, names, none);
    sum_.c_type = types[plan_.reduce.body] == core::ValueType::kBoolean ? "int" : code.CType(plan_.reduce.body);
    const auto& heaviest = HeaviestCase(problem);
    const int64_t length = ValueIn(plan_.axis.extent, heaviest).value_or(1);
    int64_t rows = 1;
    for (const Axis& row : plan_.rows) rows *= ValueIn(row.extent, heaviest).value_or(1);
    const int64_t multiprocessors = problem.input.chip.multiprocessors;
    most_parts_ = std::max<int64_t>(1, 4 * multiprocessors / std::max<int64_t>(1, rows));
    if (length <= kElementsOfPart) most_parts_ = 1;
    const auto useful =
        std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, (length + kNeighbours - 1) / kNeighbours)));
    // Columns are spread over the chip in small blocks.
    const auto share = std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, rows / multiprocessors)));
    if (!plan_.along) threads_ = std::clamp(static_cast<int>(std::min<uint64_t>(share, 1024)), 32, threads_);
    else if (most_parts_ == 1) threads_ = std::clamp(static_cast<int>(std::min<uint64_t>(useful, 1024)), 32, threads_);
  }

  CodeOutcome Write() {
    Code code = plan_.along ? WriteAlong() : WriteAcross();
    if (refusal_) return *refusal_;
    return code;
  }

 private:
  bool splits() const { return most_parts_ > 1; }
  std::string RowsText() const {
    std::vector<std::string> extents;
    for (const Axis& row : plan_.rows) extents.push_back(Parenthesized(SizeText(row.extent)));
    return extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, " * "));
  }
  std::string Neutral() const { return NeutralText(problem_, sum_.op, sum_.type); }
  std::string CombinedWith(const std::string& a, const std::string& b) const {
    return CombinedText(problem_, sum_.op, sum_.type, a, b);
  }

  // The body of the sum at the present position.
  std::string Term(Frame& frame, Lines& lines) {
    ExpressionCode code(problem_, stage_, Scope{.variables = frame.variables}, frame.names, lines);
    const std::string value = code.Value(plan_.reduce.body, sum_.type);
    if (code.refusal()) refusal_ = code.refusal();
    return value;
  }

  // The outputs at the present position, where the result is called `value`.
  void WriteOutputs(Frame& frame, const std::string& value, Lines& lines) {
    for (const StageReader& output : plan_.group.outputs) {
      const core::Stage& stage = problem_.stage(output.stage);
      std::map<VariableId, std::string> variables;
      for (const auto& [own, of_sum] : output.variables) variables[own] = frame.variables.at(of_sum);
      const std::string domain = output.stage == plan_.group.stage ? "" : ConditionText(stage.domain, variables);
      if (!domain.empty()) lines.Open(fmt::format("if ({})", domain));
      std::string stored = value;
      core::ValueType type = sum_.type;
      if (output.stage != plan_.group.stage) {
        Scope scope{.variables = variables, .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                      return read.stage && read.tensor == stage_.name ? std::optional(value) : std::nullopt;
                    }};
        ExpressionCode code(problem_, stage, std::move(scope), frame.names, lines);
        stored = code.Root();
        type = code.TypeOf(static_cast<core::NodeId>(stage.nodes.size() - 1));
        if (code.refusal()) refusal_ = code.refusal();
      }
      std::vector<std::string> at;
      for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
      lines.Add(fmt::format("{}[{}] = {};", stage.name, OffsetText(problem_, ShapeOf(problem_, stage.name), at),
                            Stored(problem_, stage.dtype, type, stored)));
      if (!domain.empty()) lines.Close();
    }
  }

  // The row and the part of this block, and where the part begins and ends.
  void WritePlace(Frame& frame, Lines& body) const {
    frame.rows.DeclareExtents(body);
    frame.axis.DeclareExtents(body);
    const std::string row = splits() ? "blockIdx.x / " + frame.parts : "blockIdx.x";
    if (!frame.rows.empty()) body.Add(fmt::format("const int {} = {};", frame.rows.index(), row));
    if (!frame.rows.single() && !frame.rows.empty()) frame.rows.Decode(body, frame.rows.index());
    if (!splits()) return;
    const std::string part = frame.rows.empty() ? "blockIdx.x" : "blockIdx.x % " + frame.parts;
    body.Add(fmt::format("const int {} = {};", frame.part, part));
    body.Add("// Of whole steps.");
    const std::string &parts = frame.parts, &length = frame.length;
    body.Add(fmt::format("const int {} = (({} + kStep - 1) / kStep + {} - 1) / {} * kStep;", length, frame.axis.count(),
                         parts, parts));
    body.Add(fmt::format("const int {0} = {1} * {2}, {3} = min({0} + {2}, {4});", frame.begin, frame.part, length,
                         frame.end, frame.axis.count()));
  }
  void WriteStep(Lines& body) const {
    body.Add(fmt::format("constexpr int kItems = {}, kStep = {} * kItems;", kNeighbours, threads_));
  }
  // Declares the position of the `item`th element in the order of the scan, and opens a block where it exists.
  void OpenPosition(const Frame& frame, const std::string& item, Lines& lines) const {
    const std::string& count = frame.axis.count();
    if (plan_.prefix.backwards) {
      lines.Add(fmt::format("const int {} = {} - 1 - {};", frame.axis.index(), count, Parenthesized(item)));
      lines.Open(fmt::format("if ({} >= 0)", frame.axis.index()));
    } else {
      lines.Add(fmt::format("const int {} = {};", frame.axis.index(), item));
      lines.Open(fmt::format("if ({} < {})", frame.axis.index(), count));
    }
  }

  void WriteTotals(const Partials& partials, KernelArguments arguments, const std::string& name, Code& code) {
    Frame frame(problem_, plan_);
    Accumulator total = sum_;
    total.value = frame.sum;
    if (partials.argument)
      arguments.parameters.push_back(fmt::format("{}* __restrict__ {}", sum_.c_type, partials.name));
    arguments.parameters.push_back("int " + frame.parts);
    Lines kernel;
    kernel.Add(fmt::format("// The {} over every part of a row.", WordFor(sum_.op)));
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", threads_), name, arguments.parameters));
    Lines body(1);
    WriteStep(body);
    WritePlace(frame, body);
    for (const std::string& line : Declared(problem_, total)) body.Add(line);
    const std::string& index = frame.axis.index();
    const std::string item = plan_.prefix.backwards ? frame.names.TakeOf({"item", "from_end"}) : index;
    body.Open(
        fmt::format("for (int {0} = {1} + threadIdx.x; {0} < {2}; {0} += blockDim.x)", item, frame.begin, frame.end));
    if (plan_.prefix.backwards) body.Add(fmt::format("const int {} = {} - 1 - {};", index, frame.axis.count(), item));
    const std::string term = Term(frame, body);
    for (const std::string& line : Updated(problem_, total, term, "")) body.Add(line);
    body.Close();
    body.Add(Combined(problem_, total, Team::kBlock, code.helpers));
    body.Add(fmt::format("if (threadIdx.x == 0) {}[blockIdx.x] = {};", partials.name, total.value));
    kernel.Append(body);
    kernel.Add("}");
    code.kernels += kernel.text() + "\n";
  }

  // What stands before this block's part, from the totals of the parts before it.
  void WriteBefore(Frame& frame, const Partials& partials, const std::string& before, Lines& body, Code& code) {
    Accumulator earlier = sum_;
    earlier.value = before;
    for (const std::string& line : Declared(problem_, earlier)) body.Add(line);
    if (!splits()) return;
    const std::string p = frame.names.TakeOf({"p", "earlier_part"});
    const std::string first = frame.rows.empty() ? "" : fmt::format("{} * {} + ", frame.rows.index(), frame.parts);
    body.Open(fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += blockDim.x)", p, frame.part));
    for (const std::string& line : Updated(problem_, earlier, fmt::format("{}[{}{}]", partials.name, first, p), ""))
      body.Add(line);
    body.Close();
    body.Add(Combined(problem_, earlier, Team::kBlock, code.helpers));
  }

  void WriteScan(const Partials& partials, KernelArguments arguments, const std::string& name, Code& code) {
    Frame frame(problem_, plan_);
    if (splits() && partials.argument)
      arguments.parameters.push_back(fmt::format("const {}* __restrict__ {}", sum_.c_type, partials.name));
    if (splits()) arguments.parameters.push_back("int " + frame.parts);
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add("//");
    kernel.Add(
        fmt::format("// A block scans {} of a row, {} elements a step: {} by each thread, then over the threads.",
                    splits() ? "a part" : "all", threads_ * kNeighbours, kNeighbours));
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", threads_), name, arguments.parameters));
    Lines body(1);
    WriteStep(body);
    WritePlace(frame, body);
    const std::string before = frame.names.Take("before"), sums = frame.names.Take(frame.sum + "s");
    const std::string first = frame.names.Take("first"), k = frame.names.TakeOf({"k", "item_of_thread"});
    const std::string total = frame.names.TakeOf({"total", "step_total"}), earlier = frame.names.Take("earlier");
    WriteBefore(frame, partials, before, body, code);
    body.Open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += kStep)", first, splits() ? frame.begin : "0",
                          splits() ? frame.end : frame.axis.count()));
    const std::string item = fmt::format("{} + threadIdx.x * kItems + {}", first, k);
    body.Add(fmt::format("{0} {1}[kItems], {2} = {3};", sum_.c_type, sums, frame.sum, Neutral()));
    const auto each = [&](const auto& inside) {
      body.Add("#pragma unroll");
      body.Open(fmt::format("for (int {0} = 0; {0} < kItems; ++{0})", k));
      inside();
      body.Close();
    };
    each([&] {
      if (plan_.prefix.exclusive) body.Add(fmt::format("{}[{}] = {};", sums, k, frame.sum));
      OpenPosition(frame, item, body);
      Accumulator own = sum_;
      own.value = frame.sum;
      const std::string term = Term(frame, body);
      for (const std::string& line : Updated(problem_, own, term, "")) body.Add(line);
      body.Close();
      if (!plan_.prefix.exclusive) body.Add(fmt::format("{}[{}] = {};", sums, k, frame.sum));
    });
    const std::string prefix = problem_.shared_name("block_prefix_" + WordFor(sum_.op));
    code.helpers.push_back(BlockPrefixFunction(problem_, sum_, prefix));
    body.Add(fmt::format("{} {};", sum_.c_type, total));
    body.Add(fmt::format("const {} {} = {};", sum_.c_type, earlier,
                         CombinedWith(before, fmt::format("{}({}, {})", prefix, frame.sum, total))));
    each([&] {
      OpenPosition(frame, item, body);
      const std::string value = frame.names.TakeOf({"value", "running"});
      body.Add(
          fmt::format("const {} {} = {};", sum_.c_type, value, CombinedWith(earlier, fmt::format("{}[{}]", sums, k))));
      WriteOutputs(frame, value, body);
      body.Close();
    });
    Accumulator carried = sum_;
    carried.value = before;
    for (const std::string& line : Updated(problem_, carried, total, "")) body.Add(line);
    body.Close();
    kernel.Append(body);
    kernel.Add("}");
    code.kernels += kernel.text();
  }

  // Totals are not stored in the output, even where the sum is one.
  void DropOutput(KernelArguments& arguments) const {
    for (const core::Node& node : stage_.nodes)
      if (const auto* read = std::get_if<core::TensorRead>(&node); read && read->tensor == stage_.name) return;
    for (size_t i = arguments.parameters.size(); stage_.output && i-- > 0;) {
      if (!arguments.parameters[i].ends_with(" " + stage_.name)) continue;
      arguments.parameters.erase(arguments.parameters.begin() + static_cast<std::ptrdiff_t>(i));
      arguments.values.erase(arguments.values.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  Code WriteAlong() {
    Code code;
    const Partials partials = splits() ? PartialsFor(problem_, kLeastPartials, sum_.c_type) : Partials{};
    if (!partials.definition.empty()) code.helpers.push_back(partials.definition);
    const std::string scan = KernelName(problem_, "scan");
    KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines launch;
    const std::string rows = RowsText();
    if (!splits()) {
      WriteScan(partials, arguments, scan, code);
      launch.Add(Launch(problem_, scan, rows, std::to_string(threads_), arguments.values));
      code.notes = {"a block for each row"};
      code.launch = launch.text();
      return code;
    }
    const Group sum_only{{plan_.group.stage}};
    KernelArguments of_totals = ArgumentsOf(problem_, sum_only);
    DropOutput(of_totals);
    const std::string totals = KernelName(problem_, "totals"), parts = problem_.fresh_name("parts");
    WriteTotals(partials, of_totals, totals, code);
    WriteScan(partials, arguments, scan, code);
    for (KernelArguments* each : {&arguments, &of_totals}) {
      if (partials.argument) each->values.push_back(partials.name);
      each->values.push_back(parts);
    }
    launch.Add(fmt::format("// Every part has at least {} elements, and there are no more than fill the chip.",
                           kElementsOfPart));
    launch.Add(
        fmt::format("int {} = {};", parts, CeilDivided(SizeText(plan_.axis.extent), std::to_string(kElementsOfPart))));
    launch.Add(fmt::format("if ({1} > {0}) {1} = {0};", most_parts_, parts));
    if (!plan_.rows.empty() || partials.argument)
      launch.Add(
          fmt::format("if (static_cast<long long>({}) * {} > {}) {} = 1;", rows, parts, partials.capacity, parts));
    launch.Add(fmt::format("if ({0} < 1) {0} = 1;", parts));
    const std::string grid = rows == "1" ? parts : rows + " * " + parts, block = std::to_string(threads_);
    launch.Add(fmt::format("if ({} > 1) {}", parts, Launch(problem_, totals, grid, block, of_totals.values)));
    launch.Add(Launch(problem_, scan, grid, block, arguments.values));
    code.launch = launch.text();
    code.notes = {"several blocks for each row: totals of parts, then the scan"};
    return code;
  }

  Code WriteAcross() {
    Code code;
    Frame frame(problem_, plan_);
    const std::string name = KernelName(problem_, "columns");
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", threads_), name, arguments.parameters));
    Lines body(1);
    frame.rows.DeclareExtents(body);
    frame.axis.DeclareExtents(body);
    const std::string& column = frame.rows.index();
    body.Add(fmt::format("const int {} = blockIdx.x * blockDim.x + threadIdx.x;", column));
    body.Add(fmt::format("if ({} >= {}) return;", column, frame.rows.count()));
    if (!frame.rows.single()) frame.rows.Decode(body, column);
    Accumulator sum = sum_;
    sum.value = frame.sum;
    for (const std::string& line : Declared(problem_, sum)) body.Add(line);
    const std::string &index = frame.axis.index(), &count = frame.axis.count();
    body.Open(plan_.prefix.backwards ? fmt::format("for (int {0} = {1} - 1; {0} >= 0; --{0})", index, count)
                                     : fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", index, count));
    const std::string next = frame.names.TakeOf({"next", "term"});
    const std::string term = Term(frame, body);
    body.Add(fmt::format("const {} {} = {};", sum_.c_type, next, term));  // before it is overwritten in place
    if (plan_.prefix.exclusive) WriteOutputs(frame, sum.value, body);
    for (const std::string& line : Updated(problem_, sum, next, "")) body.Add(line);
    if (!plan_.prefix.exclusive) WriteOutputs(frame, sum.value, body);
    body.Close();
    kernel.Append(body);
    kernel.Add("}");
    code.kernels = kernel.text();
    const std::string block = std::to_string(threads_);
    code.launch = Launch(problem_, name, CeilDivided(RowsText(), block), block, arguments.values) + "\n";
    code.notes = {"a thread for each column"};
    return code;
  }

  const Problem& problem_;
  const Group& group_;
  const ScanPlan plan_;
  const core::Stage& stage_;
  int threads_;
  int64_t most_parts_ = 1;
  Accumulator sum_;
  std::optional<core::RewriteRefusal> refusal_;
};

CodeOutcome EmitScan(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  ScanPlanOutcome plan = PlanScan(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  return ScanWriter(problem, group, std::move(std::get<ScanPlan>(plan)), IntegerOf(parameters, "threads")).Write();
}

}  // namespace

Schedule ScanSchedule() {
  return {.id = "schedule_scan",
          .title = "running sums by blocks",
          .parameters = {{"threads", {"256", "512", "128"}}},
          .emit = EmitScan};
}

}  // namespace warpwright::schedule

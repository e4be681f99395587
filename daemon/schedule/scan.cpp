// schedule_scan: running sums, products and extrema along an axis: value[i] = sum_{r <= i} x[r], also without i itself
// and from the end. A block scans a row, or a part of one where there are few rows: every warp a stretch, chunk by
// chunk of neighbours that one access moves, and the warps then add one another's sums. What stands before a part is
// made of the totals of the parts before it, which a kernel of their own leaves in order, so that the result is the
// same in every run. Where the axis lies across memory, every thread walks a column.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "core/computation_inline.h"
#include "schedule/partials.h"
#include "schedule/scan_code.h"
#include "schedule/schedules.h"
#include "schedule/written_terms.h"

namespace warpwright::schedule {
namespace {

constexpr size_t kLeastPartials = 1024;    // of a scratch argument that is used
constexpr int kItems = 16, kFewItems = 4;  // elements of a thread in a step
constexpr int64_t kLongRow = 2048;         // from here on a thread has many
constexpr int64_t kElementsOfPart = 4096;  // at least
constexpr size_t kMostWrittenTerms = 4;

class ScanWriter : ScanCode {
 public:
  ScanWriter(const Problem& problem, const Group& group, ScanPlan plan, int threads)
      : ScanCode(problem, std::move(plan)), group_(group), threads_(threads) {
    const auto& heaviest = HeaviestCase(problem);
    const int64_t length = ValueIn(plan_.axis.extent, heaviest).value_or(1);
    int64_t rows = 1;
    for (const Axis& row : plan_.rows) rows *= ValueIn(row.extent, heaviest).value_or(1);
    const int64_t multiprocessors = problem.input.chip.multiprocessors;
    most_parts_ = std::max<int64_t>(1, 4 * multiprocessors / std::max<int64_t>(1, rows));
    if (length <= kElementsOfPart) most_parts_ = 1;
    items_ = length < kLongRow ? kFewItems : kItems;
    const auto useful = std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, (length + items_ - 1) / items_)));
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
  // The row and the part of this block, and where the part begins and ends.
  void WritePlace(ScanFrame& frame, Lines& body) const {
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
    body.Add(fmt::format("constexpr int kItems = {}, kStep = {} * kItems;", items_, threads_));
  }
  // The position of the element that is `item`th in the order of the scan.
  std::string PositionOf(const ScanFrame& frame, const std::string& item) const {
    if (!plan_.prefix.backwards) return item;
    return fmt::format("{} - 1 - {}", frame.axis.count(), Parenthesized(item));
  }

  void WriteTotals(const Partials& partials, KernelArguments arguments, const std::string& name, Code& code) {
    ScanFrame frame(problem_, plan_);
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
    body.Add("#pragma unroll 8");
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
  void WriteBefore(ScanFrame& frame, const Partials& partials, const std::string& before, Lines& body, Code& code) {
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

  // Texts of a step: what a thread's part of it is called.
  struct Step {
    std::string own, chunk, item, sums, parts, of_warp;
  };

  void WriteScan(const Partials& partials, KernelArguments arguments, const std::string& name, Code& code) {
    ScanFrame frame(problem_, plan_);
    if (splits() && partials.argument)
      arguments.parameters.push_back(fmt::format("const {}* __restrict__ {}", sum_.c_type, partials.name));
    if (splits()) arguments.parameters.push_back("int " + frame.parts);
    k_ = frame.names.TakeOf({"k", "neighbour"});
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add("//");
    kernel.Add(
        fmt::format("// A block scans {} of a row, {} elements a step. A warp takes those that lie side by side, {} by",
                    splits() ? "a part" : "all", threads_ * items_, items_));
    kernel.Add("// each thread; then the warps add what those before them have.");
    if (packs()) kernel.Add("template <int kWidth>");
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", threads_), name, arguments.parameters));
    Lines body(1);
    if (!packs()) body.Add("constexpr int kWidth = 1;");
    body.Add(
        fmt::format("constexpr int kItems = {}, kChunks = kItems / kWidth, kStep = {} * kItems;", items_, threads_));
    WritePlace(frame, body);
    const std::string before = frame.names.Take("before"), first = frame.names.Take("first");
    WriteBefore(frame, partials, before, body, code);
    body.Open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += kStep)", first, splits() ? frame.begin : "0",
                          splits() ? frame.end : frame.axis.count()));
    Step step;
    step.own = frame.names.Take("own"), step.chunk = frame.names.TakeOf({"chunk", "own_chunk"});
    step.item = frame.names.TakeOf({"item", "own_item"}), step.sums = frame.names.Take(frame.sum + "s");
    step.parts = frame.names.TakeOf({"of_thread", "of_own_thread"}), step.of_warp = frame.names.Take("of_warp");
    body.Add(fmt::format("const int {} = {} + threadIdx.x / 32 * 32 * kItems + threadIdx.x % 32 * kWidth;", step.own,
                         first));
    body.Add(fmt::format("{0} {1}[kChunks][kWidth], {2}[kChunks];", sum_.c_type, step.sums, step.parts));
    WriteChunks(frame, step, body);
    const std::string total = frame.names.TakeOf({"total", "step_total"}), earlier = frame.names.Take("earlier");
    WriteWarp(step, body, code);
    const std::string warps = problem_.shared_name("warps_before_" + WordFor(sum_.op));
    code.helpers.push_back(WarpsBeforeFunction(problem_, sum_, warps));
    body.Add(fmt::format("{} {};", sum_.c_type, total));
    body.Add(fmt::format("const {} {} = {};", sum_.c_type, earlier,
                         CombinedWith(before, fmt::format("{}({}, {})", warps, step.of_warp, total))));
    WriteResults(frame, step, earlier, body);
    Accumulator carried = sum_;
    carried.value = before;
    for (const std::string& line : Updated(problem_, carried, total, "")) body.Add(line);
    body.Close();
    kernel.Append(body);
    kernel.Add("}");
    code.kernels += kernel.text();
  }

  static void OpenChunks(const Step& step, Lines& body) {
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kChunks; ++{0})", step.chunk));
    body.Add(fmt::format("const int {} = {} + {} * 32 * kWidth;", step.item, step.own, step.chunk));
  }
  void OpenNeighbours(const Step& step, const ScanFrame& frame, Lines& body) const {
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kWidth; ++{0})", k_));
    body.Add(fmt::format("const int {} = {};", frame.axis.index(), PositionOf(frame, step.item + " + " + k_)));
  }
  // Where neighbours that one access moves begin, at the present item.
  std::string PackAddress(const ScanFrame& frame, const Step& step, const Access& access) const {
    auto variables = frame.variables;
    const std::string first =
        plan_.prefix.backwards ? fmt::format("({} - kWidth - {})", frame.axis.count(), step.item) : step.item;
    variables[access.store ? plan_.axis.variable : plan_.prefix.term] = first;
    return access.tensor + " + " + OffsetText(*access.offset, variables);
  }

  // What a thread has of every chunk, summed up in the order of the scan.
  void WriteChunks(ScanFrame& frame, const Step& step, Lines& body) {
    const Names outer = frame.names;
    OpenChunks(step, body);
    body.Add(fmt::format("{} {} = {};", sum_.c_type, frame.sum, Neutral()));
    body.Open(fmt::format("if ({} < {})", step.item, frame.axis.count()));
    for (const Access& access : packing_.accesses)
      if (packs() && !access.store) body.Add(packed_.Load(HeldName(access), PackAddress(frame, step, access)));
    OpenNeighbours(step, frame, body);
    const std::string kept = fmt::format("{}[{}][{}] = {};", step.sums, step.chunk, k_, frame.sum);
    if (plan_.prefix.exclusive) body.Add(kept);
    Accumulator own = sum_;
    own.value = frame.sum;
    const std::string term = Term(frame, body, packs());
    for (const std::string& line : Updated(problem_, own, term, "")) body.Add(line);
    if (!plan_.prefix.exclusive) body.Add(kept);
    body.Close();
    body.Close();
    body.Add(fmt::format("{}[{}] = {};", step.parts, step.chunk, frame.sum));
    body.Close();
    frame.names = outer;
  }

  // What stands before a thread's neighbours in its warp's elements, chunk by chunk.
  void WriteWarp(const Step& step, Lines& body, Code& code) {
    const std::string prefix = problem_.shared_name("warp_prefix_" + WordFor(sum_.op));
    code.helpers.push_back(WarpPrefixFunction(problem_, sum_, prefix));
    Accumulator warp = sum_;
    warp.value = step.of_warp;
    for (const std::string& line : Declared(problem_, warp)) body.Add(line);
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kChunks; ++{0})", step.chunk));
    body.Add(fmt::format("{} of_chunk;", sum_.c_type));
    body.Add(
        fmt::format("{0}[{1}] = {2};", step.parts, step.chunk,
                    CombinedWith(step.of_warp, fmt::format("{}({}[{}], of_chunk)", prefix, step.parts, step.chunk))));
    for (const std::string& line : Updated(problem_, warp, "of_chunk", "")) body.Add(line);
    body.Close();
  }

  void WriteResults(ScanFrame& frame, const Step& step, const std::string& earlier, Lines& body) {
    OpenChunks(step, body);
    body.Open(fmt::format("if ({} < {})", step.item, frame.axis.count()));
    for (const Access& access : packing_.accesses)
      if (packs() && access.store)
        body.Add(fmt::format("{}<{}, kWidth> {};", packed_.name, ElementTypeOf(problem_, access), HeldName(access)));
    const std::string start = frame.names.TakeOf({"start", "before_thread"});
    body.Add(fmt::format("const {} {} = {};", sum_.c_type, start,
                         CombinedWith(earlier, fmt::format("{}[{}]", step.parts, step.chunk))));
    OpenNeighbours(step, frame, body);
    const std::string value = frame.names.TakeOf({"value", "running"});
    body.Add(fmt::format("const {} {} = {};", sum_.c_type, value,
                         CombinedWith(start, fmt::format("{}[{}][{}]", step.sums, step.chunk, k_))));
    WriteOutputs(frame, value, body, packs());
    body.Close();
    for (const Access& access : packing_.accesses)
      if (packs() && access.store) body.Add(packed_.Store(HeldName(access), PackAddress(frame, step, access)));
    body.Close();
    body.Close();
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

  void AddScanLaunch(const std::string& name, const std::string& grid, const KernelArguments& arguments, Code& code,
                     Lines& launch) const {
    const std::string block = std::to_string(threads_);
    if (!packs()) return launch.Add(Launch(problem_, name, grid, block, arguments.values));
    launch.Open(fmt::format("if ({})", PackingCondition(problem_, packing_, code.helpers)));
    launch.Add(Launch(problem_, fmt::format("{}<{}>", name, packing_.width), grid, block, arguments.values));
    launch.Else();
    launch.Add(Launch(problem_, name + "<1>", grid, block, arguments.values));
    launch.Close();
  }

  Code WriteAlong() {
    Code code;
    const Partials partials = splits() ? PartialsFor(problem_, kLeastPartials, sum_.c_type) : Partials{};
    if (!partials.definition.empty()) code.helpers.push_back(partials.definition);
    const std::string scan = KernelName(problem_, "scan");
    KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines launch;
    const std::string rows = RowsText();
    PlanPacking(items_);
    if (packs()) {
      packed_ = MakePackedType(problem_, packing_);
      code.helpers.push_back(packed_.definition);
      if (!packed_.store_definition.empty()) code.helpers.push_back(packed_.store_definition);
    }
    if (!splits()) {
      WriteScan(partials, arguments, scan, code);
      AddScanLaunch(scan, rows, arguments, code, launch);
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
    AddScanLaunch(scan, grid, arguments, code, launch);
    code.launch = launch.text();
    code.notes = {"several blocks for each row: totals of parts, then the scan"};
    return code;
  }

  Code WriteAcross() {
    Code code;
    ScanFrame frame(problem_, plan_);
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

  const Group& group_;
  int threads_;
  int64_t most_parts_ = 1;
  int items_ = kItems;
  PackedType packed_;
};

CodeOutcome EmitScan(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  // Terms that are sums of few others, as the trapezoidal rule has them, are written out.
  Problem written = problem;
  Group all;
  written.form.stages.clear();
  for (const size_t i : group.stages)
    written.form.stages.push_back(
        WithWrittenTerms(problem, problem.stage(i), kMostWrittenTerms).value_or(problem.stage(i)));
  written.form = core::WithoutMaps(written.form);
  for (size_t i = 0; i < written.form.stages.size(); ++i) all.stages.push_back(i);
  ScanPlanOutcome plan = PlanScan(written, all);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  return ScanWriter(written, all, std::move(std::get<ScanPlan>(plan)), IntegerOf(parameters, "threads")).Write();
}

}  // namespace

Schedule ScanSchedule() {
  return {.id = "schedule_scan",
          .title = "running sums by blocks",
          .parameters = {{"threads", {"256", "512", "128"}}},
          .emit = EmitScan};
}

}  // namespace warpwright::schedule

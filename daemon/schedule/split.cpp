// schedule_split: few and long rows, down to a single one (full reductions). Several blocks share a row and leave
// partial results, which a second kernel combines and makes the outputs of. The partial results stand in a scratch
// argument of the entry, if it has one that is long enough, else in an array of the module, of which every launch reads
// only what it wrote itself.
#include <fmt/format.h>

#include <algorithm>

#include "core/polynomial.h"
#include "schedule/row_writer.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kPartials = 1 << 16;  // of the array
constexpr int64_t kTermsOfThread = 16;  // that a thread should have at least
constexpr int kThreads = 256, kColumnThreads = 8;

struct Storage {
  std::string name, definition, capacity;
  bool argument = false;
};

// A scratch argument of the type of all sums.
std::optional<Storage> ScratchOf(const Problem& problem, size_t statistics) {
  for (const core::Argument& argument : problem.input.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    const EntryParameter* parameter = problem.entry.Find(argument.name);
    const core::DType wanted = problem.in_double ? core::DType::kF64 : core::DType::kF32;
    if (!buffer || !parameter || buffer->role != core::Role::kScratch || buffer->dtype != wanted) continue;
    const core::Size capacity = Product(buffer->shape);
    const bool small = std::any_of(problem.input.cases.begin(), problem.input.cases.end(), [&](const auto& c) {
      return ValueIn(capacity, c).value_or(0) < static_cast<int64_t>(statistics);
    });
    if (!small) return Storage{argument.name, "", SizeText(capacity), true};
  }
  return std::nullopt;
}

Storage StorageFor(const Problem& problem, size_t statistics, const std::string& c_type) {
  if (const auto scratch = ScratchOf(problem, statistics); scratch && c_type == problem.real()) return *scratch;
  Storage storage;
  storage.name = KernelName(problem, "partials");
  storage.capacity = std::to_string(kPartials);
  storage.definition = fmt::format(
      "// What the blocks that share a row have found; a launch reads nothing that it has not written.\n"
      "static __device__ {} {}[{}];\n",
      c_type, storage.name, kPartials);
  return storage;
}

class FinishWriter {
 public:
  FinishWriter(const Problem& problem, const RowPlan& plan, const Storage& storage,
               std::vector<std::pair<std::string, Accumulator>> results)
      : problem_(problem), plan_(plan), storage_(storage), results_(std::move(results)), names_(problem) {}

  // The kernel; its launch and helpers go to `code`.
  std::optional<core::RewriteRefusal> Write(const Group& values, const std::string& number_of_parts, Code& code) {
    const bool rows = !plan_.row_dimensions.empty();
    const std::string name = KernelName(problem_, "finish");
    std::set<std::string> more;
    for (const auto& extent : plan_.rows)
      for (const std::string& size : extent.Variables()) more.insert(size);
    KernelArguments arguments = ArgumentsOf(problem_, values, more);
    if (storage_.argument) {
      arguments.parameters.push_back(fmt::format("const {}* __restrict__ {}", problem_.real(), storage_.name));
      arguments.values.push_back(storage_.name);
    }
    const std::string parts = names_.Take("parts");
    arguments.parameters.push_back("int " + parts);
    arguments.values.push_back(number_of_parts);
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, values));
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", kThreads), name, arguments.parameters));
    Lines body(1);
    const std::string row = rows ? WriteRow(body) : "";
    const Team team = rows ? Team::kWarp : Team::kBlock;
    WriteSums(team, row, parts, body, code.helpers);
    WriteValues(body);
    if (refusal_) return refusal_;
    kernel.Append(body);
    kernel.Add("}");
    code.kernels += "\n" + kernel.text();
    const std::string total = rows ? TotalText(problem_, plan_.row_dimensions) : "1";
    code.launch += Launch(problem_, name, rows ? CeilDivided(total, "8") : "1",
                          rows ? "dim3(32, 8)" : std::to_string(kThreads), arguments.values) +
                   "\n";
    return std::nullopt;
  }

 private:
  std::string WriteRow(Lines& body) {
    const std::string row = names_.TakeOf({"row", "row_index"});
    dimensions_ = plan_.row_dimensions;
    if (dimensions_.size() == 1) dimensions_[0].name = row;
    else NameDimensions(dimensions_, names_);
    const std::string type = problem_.wide ? "long long" : "int";
    body.Add(fmt::format("const {} {} = blockIdx.x * blockDim.y + threadIdx.y;", type, row));
    body.Add(fmt::format("if ({} >= {}) return;", row, TotalText(problem_, dimensions_)));
    if (dimensions_.size() > 1) WriteCoordinates(dimensions_, type, row, names_, body);
    return row;
  }

  void WriteSums(Team team, const std::string& row, const std::string& parts, Lines& body,
                 std::vector<std::string>& helpers) {
    for (auto& [stage, accumulator] : results_) {
      accumulator.value = names_.TakeOf({accumulator.value});
      for (const std::string& line : Declared(problem_, accumulator)) body.Add(line);
    }
    const std::string part = names_.TakeOf({"part", "p"});
    body.Open(fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += {2})", part, parts,
                          team == Team::kWarp ? "32" : "blockDim.x"));
    size_t number = 0;
    for (const auto& [stage, accumulator] : results_) {
      std::string at =
          number == 0 ? part : fmt::format("{}{} + {}", number == 1 ? "" : fmt::format("{} * ", number), parts, part);
      if (!row.empty())
        at = fmt::format("{} * {} + {}", Parenthesized(at), Parenthesized(TotalText(problem_, dimensions_)), row);
      for (const std::string& line : Updated(problem_, accumulator, fmt::format("{}[{}]", storage_.name, at), ""))
        body.Add(line);
      ++number;
    }
    body.Close();
    for (const auto& [stage, accumulator] : results_) body.Add(Combined(problem_, accumulator, team, helpers));
  }

  void WriteValues(Lines& body) {
    body.Open("if (threadIdx.x == 0)");
    const auto variables = VariableNames(dimensions_);
    for (size_t m : plan_.values) {
      const core::Stage& stage = plan_.members[m].stage;
      Scope scope{variables, [&](const core::TensorRead& read) -> std::optional<std::string> {
                    for (const auto& [name, accumulator] : results_)
                      if (read.stage && read.tensor == name) return accumulator.value;
                    return std::nullopt;
                  }};
      ExpressionCode code(problem_, stage, scope, names_, body);
      const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
      const std::string value = Stored(problem_, stage.dtype, code.TypeOf(root), code.Root());
      std::vector<std::string> at;
      for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
      body.Add(fmt::format("{}[{}] = {};", stage.name, OffsetText(problem_, ShapeOf(problem_, stage.name), at), value));
      if (code.refusal()) refusal_ = code.refusal();
    }
    body.Close();
  }

  const Problem& problem_;
  const RowPlan& plan_;
  const Storage& storage_;
  std::vector<std::pair<std::string, Accumulator>> results_;
  Names names_;
  std::vector<Dimension> dimensions_;
  std::optional<core::RewriteRefusal> refusal_;
};

// How many parts a row gets when the launcher is called: as many as there is room for, none without work.
std::string PartsText(const std::string& parts, const RowPlan& plan, const Storage& storage, size_t statistics,
                      int64_t terms, int64_t blocks) {
  const std::string columns = SizeText(Product(plan.members[plan.passes[0].members[0]].columns));
  Lines text;
  std::string room = storage.capacity;
  if (statistics > 1) room = fmt::format("{} / {}", Parenthesized(room), statistics);
  if (!plan.rows.empty())
    room = fmt::format("{} / {}", Parenthesized(room), Parenthesized(SizeText(Product(plan.rows))));
  text.Add(fmt::format("// Every block has at least {} terms, and there are no more than fill the chip.", terms));
  text.Add(fmt::format("int {} = {};", parts, CeilDivided(columns, std::to_string(terms))));
  text.Add(fmt::format("if ({1} > {0}) {1} = {0};", blocks, parts));
  if (storage.argument || !plan.rows.empty()) text.Add(fmt::format("if ({1} > {0}) {1} = {0};", room, parts));
  if (plan.rows.empty()) text.Add(fmt::format("if ({0} < 1) {0} = 1;", parts));
  return text.text();
}

CodeOutcome EmitSplit(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  RowPlanOutcome outcome = PlanRows(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
  RowPlan& plan = std::get<RowPlan>(outcome);
  size_t statistics = 0;
  for (const RowMember& member : plan.members) {
    if (member.statistic() && core::IsArg(member.reduce->op)) return Refuse("positions are not split over blocks");
    if (member.statistic()) ++statistics;
  }
  if (plan.passes.size() != 1) return Refuse("a row is walked more than once");
  const int64_t rows = ValueIn(Product(plan.rows), HeaviestCase(problem)).value_or(1);
  const RowLayout layout = LayoutOf(plan);
  const int64_t multiprocessors = problem.input.chip.multiprocessors;
  const int64_t blocks = layout == RowLayout::kAcross ? (rows + 31) / 32 : rows;
  if (blocks >= 2 * multiprocessors) return Refuse("there are enough rows for all multiprocessors");
  const auto largest = LargestOf(problem, Product(plan.rows));
  if (!largest || *largest * static_cast<int64_t>(statistics) > kPartials) return Refuse("there are too many rows");

  std::string c_type = problem.real();
  for (const RowMember& member : plan.members)
    if (member.statistic()) {
      const auto types = core::TypesOf(problem.form, member.stage);
      const bool real = types[member.reduce->body] == core::ValueType::kReal;
      if (real != (types[plan.members[plan.passes[0].members[0]].reduce->body] == core::ValueType::kReal))
        return Refuse("statistics are of different types");
      if (!real) c_type = "int";
    }
  const Storage storage = StorageFor(problem, statistics, c_type);
  RowShape shape;
  shape.team = layout == RowLayout::kAcross ? Team::kColumn : Team::kBlock;
  shape.threads = shape.team == Team::kColumn ? kColumnThreads : kThreads;
  shape.teams = shape.team == Team::kColumn ? 32 : 1;
  shape.partials = storage.name;
  shape.parts = problem.fresh_name("parts");
  shape.partials_are_argument = storage.argument;
  const int waves = IntegerOf(parameters, "blocks_per_multiprocessor");
  const int64_t most = std::max<int64_t>(1, waves * multiprocessors / std::max<int64_t>(1, blocks));
  const int64_t terms = kTermsOfThread * shape.threads;

  Group values;
  for (size_t i : group.stages)
    if (problem.stage(i).output) values.stages.push_back(i);
  RowWriter writer(problem, group, plan, shape);
  CodeOutcome first = writer.Write();
  if (std::holds_alternative<core::RewriteRefusal>(first)) return first;
  Code& code = std::get<Code>(first);
  if (!storage.definition.empty()) code.helpers.push_back(storage.definition);
  FinishWriter finish(problem, plan, storage, writer.Results());
  if (const auto refusal = finish.Write(values, shape.parts, code)) return *refusal;
  Lines launch;
  launch.AddAll(PartsText(shape.parts, plan, storage, statistics, terms, most));
  if (plan.rows.empty()) {
    launch.AddAll(code.launch);
  } else {
    // Where there is no room for several parts, or nothing to split, one block does all of a row.
    RowShape alone = shape;
    alone.partials.clear();
    CodeOutcome single = RowWriter(problem, group, plan, alone).Write();
    if (std::holds_alternative<core::RewriteRefusal>(single)) return single;
    Code& whole = std::get<Code>(single);
    for (std::string& helper : whole.helpers)
      if (std::find(code.helpers.begin(), code.helpers.end(), helper) == code.helpers.end())
        code.helpers.push_back(std::move(helper));
    code.kernels += "\n" + whole.kernels;
    launch.Open(fmt::format("if ({} > 1)", shape.parts));
    launch.AddAll(code.launch);
    launch.Else();
    launch.AddAll(whole.launch);
    launch.Close();
  }
  code.launch = launch.text();
  code.notes = {"several blocks for each row, whose results a second kernel combines"};
  return first;
}

}  // namespace

Schedule SplitSchedule() {
  return {.id = "schedule_split",
          .title = "several blocks for each row",
          .parameters = {{"blocks_per_multiprocessor", {"4", "2", "8"}}},
          .emit = EmitSplit};
}

}  // namespace warpwright::schedule

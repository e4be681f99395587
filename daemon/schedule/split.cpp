// schedule_split: few and long rows, down to a single one (full reductions). Several blocks share a row and leave
// partial results, which a second kernel combines and makes the outputs of. The partial results stand in a scratch
// argument of the entry, if it has one that is long enough, else in an array of the module, of which every launch reads
// only what it wrote itself.
#include <fmt/format.h>

#include <algorithm>

#include "core/polynomial.h"
#include "schedule/finish_writer.h"
#include "schedule/row_writer.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kTermsOfThread = 16;  // that a thread should have at least
constexpr int kBlockThreads = 256, kColumnThreads = 8;

// How many parts a row gets when the launcher is called: as many as there is room for, none without work.
std::string PartsText(const std::string& parts, const RowPlan& plan, const Partials& storage, size_t statistics,
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

// What all partial results are stored as; nothing where they need more than one type.
std::optional<std::string> TypeOfStatistics(const Problem& problem, const RowPlan& plan) {
  std::optional<bool> real;
  for (const RowMember& member : plan.members) {
    if (!member.statistic()) continue;
    const bool this_real = core::TypesOf(problem.form, member.stage)[member.reduce->body] == core::ValueType::kReal;
    if (real.value_or(this_real) != this_real) return std::nullopt;
    real = this_real;
  }
  return real.value_or(true) ? problem.real() : "int";
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
  const RowLayout layout = LayoutOf(problem, plan);
  const int64_t multiprocessors = problem.input.chip.multiprocessors;
  const int64_t blocks = layout == RowLayout::kAcross ? (rows + 31) / 32 : rows;
  if (blocks >= 2 * multiprocessors) return Refuse("there are enough rows for all multiprocessors");
  const auto largest = LargestOf(problem, Product(plan.rows));
  if (!largest || *largest * static_cast<int64_t>(statistics) > kPartials) return Refuse("there are too many rows");

  const std::optional<std::string> c_type = TypeOfStatistics(problem, plan);
  if (!c_type) return Refuse("statistics are of different types");
  const Partials storage = PartialsFor(problem, statistics, *c_type);
  RowShape shape;
  shape.team = layout == RowLayout::kAcross ? Team::kColumn : Team::kBlock;
  shape.threads = shape.team == Team::kColumn ? kColumnThreads : kBlockThreads;
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

// schedule_rows: statistics of rows that lie along memory, and what is made of them: softmax, norms, losses, sums,
// extrema and their positions, matrix-vector products. A warp or a block walks a row; statistics that do not need one
// another share a pass. schedule_columns: the same where neighbouring rows lie side by side, by neighbouring threads.
#include <algorithm>
#include <bit>

#include "schedule/overlaps.h"
#include "schedule/row_writer.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kShortRow = 16, kManyRows = 1 << 16;
constexpr int64_t kLongestAlone = 64;       // of so many rows, whose neighbours lie side by side
constexpr int kTeamsAlone = 128;            // of one thread each
constexpr int64_t kWarpColumns = 1024;      // up to here a warp walks a row
constexpr int64_t kItemsOfThread = 16;      // that a thread of a block should have at least
constexpr int64_t kLongestWhole = 1 << 14;  // that one block reduces alone where there are no rows

int64_t ColumnsOf(const Problem& problem, const RowPlan& plan) {
  int64_t largest = 1;
  for (const RowMember& member : plan.members)
    if (member.statistic())
      largest = std::max(largest, ValueIn(Product(member.columns), HeaviestCase(problem)).value_or(1));
  return largest;
}
int64_t RowsOf(const Problem& problem, const RowPlan& plan) {
  return ValueIn(Product(plan.rows), HeaviestCase(problem)).value_or(1);
}

// One for each row, as windows of pools have.
bool HasOnlyValues(const RowPlan& plan) {
  return std::all_of(plan.members.begin(), plan.members.end(),
                     [](const RowMember& member) { return member.statistic() || member.columns.empty(); });
}

RowShape ShapeOfRows(const Problem& problem, const RowPlan& plan, const ParameterValues& parameters) {
  RowShape shape;
  const int64_t columns = ColumnsOf(problem, plan), rows = RowsOf(problem, plan);
  const std::string& threads = parameters.at("threads");
  int64_t chosen = 0;
  if (threads == "auto") {
    const bool fills = rows >= 8 * int64_t{problem.input.chip.multiprocessors};
    chosen = fills && columns <= kWarpColumns
                 ? 32
                 : std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(
                                           std::max<int64_t>(1, columns / (fills ? kItemsOfThread : 4))))),
                                       64, 1024);
  } else {
    chosen = IntegerOf(parameters, "threads");
  }
  shape.threads = static_cast<int>(chosen);
  shape.team = chosen == 32 ? Team::kWarp : Team::kBlock;
  shape.teams = chosen == 32 ? 8 : 1;
  return shape;
}

// Where a row's results may take the place of what other rows are made of, the launcher asks.
CodeOutcome Write(const Problem& problem, const Group& group, RowPlan plan, const RowShape& shape) {
  std::set<std::string> outputs;
  for (const RowMember& member : plan.members)
    if (!member.statistic()) outputs.insert(member.stage.name);
  std::vector<std::string> apart = ApartConditions(problem, outputs, plan.read_elsewhere);
  CodeOutcome outcome = RowWriter(problem, group, std::move(plan), shape).Write();
  if (auto* code = std::get_if<Code>(&outcome))
    code->conditions.insert(code->conditions.end(), apart.begin(), apart.end());
  return outcome;
}

CodeOutcome EmitRows(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  RowPlanOutcome outcome = PlanRows(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
  RowPlan& plan = std::get<RowPlan>(outcome);
  if (LayoutOf(problem, plan) == RowLayout::kAcross) return Refuse("the terms of a row are not neighbours in memory");
  if (plan.rows.empty() && ColumnsOf(problem, plan) > kLongestWhole) return Refuse("one block is too few for it");
  if (HasOnlyValues(plan) && ColumnsOf(problem, plan) <= kShortRow && RowsOf(problem, plan) > kManyRows)
    return Refuse("rows are so short that a thread walks each alone");
  const RowShape shape = ShapeOfRows(problem, plan, parameters);
  return Write(problem, group, std::move(plan), shape);
}

CodeOutcome EmitColumns(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  RowPlanOutcome outcome = PlanRows(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
  RowPlan& plan = std::get<RowPlan>(outcome);
  if (LayoutOf(problem, plan) != RowLayout::kAcross) return Refuse("neighbouring rows are not neighbours in memory");
  const int64_t columns = ColumnsOf(problem, plan);
  if (HasOnlyValues(plan) && (columns <= kShortRow || (columns <= kLongestAlone && RowsOf(problem, plan) > kManyRows)))
    return Refuse("columns are so short that a thread walks each alone");
  RowShape shape;
  shape.team = Team::kColumn;
  shape.teams = 32;
  shape.threads = IntegerOf(parameters, "threads");
  // Of many short ones there are enough threads: none waits for another one.
  const bool is_default = parameters.at("threads") == ColumnsSchedule().parameters[0].values.front();
  if (is_default && columns <= kLongestAlone && RowsOf(problem, plan) > kManyRows) {
    shape.teams = kTeamsAlone;
    shape.threads = 1;
  }
  return Write(problem, group, std::move(plan), shape);
}

}  // namespace

Schedule RowsSchedule() {
  return {.id = "schedule_rows",
          .title = "a team of threads for each row",
          .parameters = {{"threads", {"auto", "32", "256", "1024"}}},
          .emit = EmitRows};
}

Schedule ColumnsSchedule() {
  return {.id = "schedule_columns",
          .title = "neighbouring rows by neighbouring threads",
          .parameters = {{"threads", {"16", "8", "32"}}},
          .emit = EmitColumns};
}

}  // namespace warpwright::schedule

#include "memory/trajectory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "memory/sqlite.h"
#include "memory/step_json.h"

namespace warpwright {
namespace {

constexpr int32_t kApplicationId = 0x57575452;  // "WWTR"
constexpr size_t kMaxTextBytes = 8 << 20, kMaxOutcomeBytes = 48 << 20;

// Index i leads from schema i to i + 1. Never change an entry that was released: append one.
constexpr const char* kMigrations[] = {
    R"(CREATE TABLE task (
         id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, kernel TEXT NOT NULL, base TEXT NOT NULL,
         device TEXT NOT NULL, config TEXT NOT NULL, result TEXT, started TEXT NOT NULL, finished TEXT);
       CREATE TABLE step (
         id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE, identity TEXT NOT NULL,
         kind TEXT NOT NULL, base TEXT NOT NULL, candidate TEXT NOT NULL, method TEXT NOT NULL, record TEXT NOT NULL,
         outcome TEXT, started TEXT NOT NULL, finished TEXT, UNIQUE (task, identity));
       CREATE INDEX step_by_candidate ON step(task, kind, candidate);
       CREATE TABLE content (hash TEXT PRIMARY KEY, text TEXT NOT NULL);
       CREATE TABLE candidate (
         task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE, hash TEXT NOT NULL REFERENCES content(hash),
         parent TEXT NOT NULL, method TEXT NOT NULL, parameters TEXT NOT NULL, summary TEXT NOT NULL,
         PRIMARY KEY (task, hash));
       CREATE INDEX candidate_by_content ON candidate(hash);)"};

constexpr std::pair<StepKind, std::string_view> kStepKinds[] = {
    {StepKind::kBaseline, "baseline"}, {StepKind::kPlan, "plan"},         {StepKind::kRewrite, "rewrite"},
    {StepKind::kEvaluate, "evaluate"}, {StepKind::kRepair, "repair"}, {StepKind::kAccept, "accept"}};

std::string TaskIdentity(const TaskKey& key) {
  return Hasher().Add(key.kernel).Add(key.base_hash).Add(key.device).Add(key.config_digest).Finish();
}

// The repair that mended a failed step: a later step that names it and passed.
void LinkRepairs(TrajectoryView& view) {
  for (const StepView& step : view.steps) {
    if (step.record.repairs == 0 || !step.outcome || !step.outcome->verdict || !Passed(*step.outcome->verdict))
      continue;
    for (StepView& failed : view.steps)
      if (failed.id == step.record.repairs) failed.mended_by = step.id;
  }
}

}  // namespace

std::string_view Name(StepKind kind) {
  for (const auto& [value, name] : kStepKinds)
    if (value == kind) return name;
  return "?";
}
std::optional<StepKind> ParseStepKind(std::string_view name) {
  for (const auto& [value, text] : kStepKinds)
    if (text == name) return value;
  return std::nullopt;
}

struct Trajectory::State {
  Sqlite db;
  const Clock* clock = nullptr;
  SystemClock system_clock;

  std::string Now() const { return FormatUtc((clock != nullptr ? *clock : system_clock).Now()); }
  Result<StepView> ReadStep(const SqliteRows& rows) const;     // id, record, outcome, started, finished
  Result<TaskSummary> ReadTask(const SqliteRows& rows) const;  // as kTaskColumns
};

namespace {
constexpr char kTaskColumns[] =
    "SELECT id, kernel, base, device, config, result, started, finished, "
    "(SELECT count(*) FROM step WHERE task = task.id), "
    "(SELECT count(*) FROM step WHERE task = task.id AND kind = 'evaluate' AND outcome IS NOT NULL) FROM task ";
}

Result<StepView> Trajectory::State::ReadStep(const SqliteRows& rows) const {
  StepView step;
  step.id = rows.Integer(0);
  WW_ASSIGN(step.record, DecodeStep(rows.Text(1)));
  if (!rows.IsNull(2)) {
    WW_ASSIGN(step.outcome, DecodeOutcome(rows.Text(2)));
  }
  step.started = rows.Text(3);
  step.finished = rows.Text(4);
  return step;
}

Result<TaskSummary> Trajectory::State::ReadTask(const SqliteRows& rows) const {
  TaskSummary task;
  task.id = rows.Integer(0);
  task.key = {rows.Text(1), rows.Text(2), rows.Text(3), rows.Text(4)};
  if (!rows.IsNull(5)) {
    WW_ASSIGN(task.result, DecodeResult(rows.Text(5)));
  }
  task.started = rows.Text(6);
  task.finished = rows.Text(7);
  task.steps = static_cast<int>(rows.Integer(8));
  task.evaluations = static_cast<int>(rows.Integer(9));
  return task;
}

Trajectory::Trajectory(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trajectory::Trajectory(Trajectory&&) noexcept = default;
Trajectory& Trajectory::operator=(Trajectory&&) noexcept = default;
Trajectory::~Trajectory() = default;

Result<Trajectory> Trajectory::Open(const std::filesystem::path& path, const Clock* clock) {
  WW_ASSIGN(Sqlite db, Sqlite::Open(path, kApplicationId));
  WW_TRY(db.Migrate(kMigrations));
  auto state = std::make_unique<State>();
  state->db = std::move(db);
  state->clock = clock;
  return Trajectory(std::move(state));
}

Result<Trajectory::BegunTask> Trajectory::BeginTask(const TaskKey& key) {
  WW_ASSIGN(auto transaction, SqliteTransaction::Begin(state_->db));
  const std::string identity = TaskIdentity(key);
  {
    WW_ASSIGN(SqliteRows rows, state_->db.Prepare("SELECT id, result FROM task WHERE identity = ?"));
    WW_ASSIGN(const bool found, rows.Bind(identity).Next());
    if (found) {
      BegunTask task{rows.Integer(0), true, std::nullopt};
      if (!rows.IsNull(1)) {
        WW_ASSIGN(task.result, DecodeResult(rows.Text(1)));
      }
      return task;
    }
  }
  WW_ASSIGN(
      SqliteRows insert,
      state_->db.Prepare("INSERT INTO task(identity, kernel, base, device, config, started) VALUES (?,?,?,?,?,?)"));
  WW_TRY(insert.Bind(identity)
             .Bind(key.kernel)
             .Bind(key.base_hash)
             .Bind(key.device)
             .Bind(key.config_digest)
             .Bind(state_->Now())
             .Run());
  const BegunTask task{state_->db.last_insert_id(), false, std::nullopt};
  WW_TRY(transaction.Commit());
  return task;
}

Status Trajectory::FinishTask(TaskId task, const TaskResult& result) {
  WW_ASSIGN(SqliteRows rows, state_->db.Prepare("UPDATE task SET result = ?, finished = ? WHERE id = ? RETURNING id"));
  WW_ASSIGN(const bool found, rows.Bind(EncodeResult(result)).Bind(state_->Now()).Bind(task).Next());
  if (!found) return Fail(ErrorCode::kUsage, fmt::format("there is no task {}", task));
  return rows.Run();
}

Status Trajectory::DiscardTask(TaskId task) {
  WW_ASSIGN(auto transaction, SqliteTransaction::Begin(state_->db));
  WW_ASSIGN(SqliteRows remove, state_->db.Prepare("DELETE FROM task WHERE id = ?"));
  WW_TRY(remove.Bind(task).Run());
  WW_TRY(state_->db.Execute("DELETE FROM content WHERE hash NOT IN (SELECT hash FROM candidate)"));
  return transaction.Commit();
}

Result<Trajectory::BegunStep> Trajectory::Begin(TaskId task, const StepRecord& record) {
  WW_ASSIGN(auto transaction, SqliteTransaction::Begin(state_->db));
  const std::string identity = StepIdentity(record);
  {
    WW_ASSIGN(SqliteRows rows, state_->db.Prepare("SELECT id, outcome FROM step WHERE task = ? AND identity = ?"));
    WW_ASSIGN(const bool found, rows.Bind(task).Bind(identity).Next());
    if (found) {
      BegunStep step{rows.Integer(0), std::nullopt};
      if (!rows.IsNull(1)) {
        WW_ASSIGN(step.outcome, DecodeOutcome(rows.Text(1)));
      }
      return step;
    }
  }
  WW_ASSIGN(SqliteRows insert,
            state_->db.Prepare("INSERT INTO step(task, identity, kind, base, candidate, method, record, started) "
                               "VALUES (?,?,?,?,?,?,?,?)"));
  WW_TRY(insert.Bind(task)
             .Bind(identity)
             .Bind(Name(record.kind))
             .Bind(record.base)
             .Bind(record.candidate)
             .Bind(record.method)
             .Bind(EncodeStep(record))
             .Bind(state_->Now())
             .Run());
  const BegunStep step{state_->db.last_insert_id(), std::nullopt};
  WW_TRY(transaction.Commit());
  return step;
}

Status Trajectory::Finish(StepId step, const StepOutcome& outcome) {
  const std::string json = EncodeOutcome(outcome);
  if (json.size() > kMaxOutcomeBytes)
    return Fail(ErrorCode::kUnsupported, fmt::format("the outcome of step {} has {} bytes", step, json.size()));
  WW_ASSIGN(
      SqliteRows rows,
      state_->db.Prepare("UPDATE step SET outcome = ?, finished = ? WHERE id = ? AND outcome IS NULL RETURNING id"));
  WW_ASSIGN(const bool found, rows.Bind(json).Bind(state_->Now()).Bind(step).Next());
  if (!found) return Fail(ErrorCode::kUsage, fmt::format("step {} does not exist or is finished already", step));
  return rows.Run();
}

Status Trajectory::PutCandidate(TaskId task, const Candidate& candidate) {
  if (candidate.text.size() > kMaxTextBytes)
    return Fail(ErrorCode::kUnsupported, fmt::format("the candidate has {} bytes", candidate.text.size()));
  if (Sha256(candidate.text) != candidate.hash)
    return Fail(ErrorCode::kUsage, "the candidate's hash is not that of its text");
  WW_ASSIGN(auto transaction, SqliteTransaction::Begin(state_->db));
  WW_ASSIGN(SqliteRows content,
            state_->db.Prepare("INSERT INTO content(hash, text) VALUES (?,?) ON CONFLICT DO NOTHING"));
  WW_TRY(content.Bind(candidate.hash).Bind(candidate.text).Run());
  WW_ASSIGN(
      SqliteRows rows,
      state_->db.Prepare("INSERT INTO candidate(task, hash, parent, method, parameters, summary) VALUES (?,?,?,?,?,?) "
                         "ON CONFLICT DO NOTHING"));
  WW_TRY(rows.Bind(task)
             .Bind(candidate.hash)
             .Bind(candidate.parent)
             .Bind(candidate.method)
             .Bind(EncodeParameters(candidate.parameters))
             .Bind(candidate.summary)
             .Run());
  return transaction.Commit();
}

Result<std::optional<Candidate>> Trajectory::FindCandidate(TaskId task, std::string_view hash) {
  WW_ASSIGN(SqliteRows rows,
            state_->db.Prepare(
                "SELECT hash, text, parent, method, parameters, summary FROM candidate JOIN content USING (hash) "
                "WHERE task = ? AND hash = ?"));
  WW_ASSIGN(const bool found, rows.Bind(task).Bind(hash).Next());
  if (!found) return std::optional<Candidate>();
  Candidate candidate{rows.Text(0), rows.Text(1), rows.Text(2), rows.Text(3), {}, rows.Text(5)};
  WW_ASSIGN(candidate.parameters, DecodeParameters(rows.Text(4)));
  if (Sha256(candidate.text) != candidate.hash)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the stored text of candidate {} is not the one that was put there", candidate.hash));
  return std::optional(std::move(candidate));
}

Result<std::optional<StepOutcome>> Trajectory::FindEvaluation(TaskId task, std::string_view candidate) {
  WW_ASSIGN(SqliteRows rows,
            state_->db.Prepare(
                "SELECT outcome FROM step WHERE task = ? AND kind IN ('baseline', 'evaluate') AND candidate = ? "
                "AND outcome IS NOT NULL ORDER BY id LIMIT 1"));
  WW_ASSIGN(const bool found, rows.Bind(task).Bind(candidate).Next());
  if (!found) return std::optional<StepOutcome>();
  WW_ASSIGN(StepOutcome outcome, DecodeOutcome(rows.Text(0)));
  return std::optional(std::move(outcome));
}

Result<TrajectoryView> Trajectory::View(TaskId task) {
  TrajectoryView view;
  {
    WW_ASSIGN(SqliteRows rows, state_->db.Prepare(std::string(kTaskColumns) + "WHERE id = ?"));
    WW_ASSIGN(const bool found, rows.Bind(task).Next());
    if (!found) return Fail(ErrorCode::kUsage, fmt::format("there is no task {}", task));
    WW_ASSIGN(view.task, state_->ReadTask(rows));
  }
  WW_ASSIGN(SqliteRows steps,
            state_->db.Prepare("SELECT id, record, outcome, started, finished FROM step WHERE task = ? "
                               "AND kind NOT IN ('diagnose', 'publish') ORDER BY id"));  // of the first schema, never used
  steps.Bind(task);
  while (true) {
    WW_ASSIGN(const bool more, steps.Next());
    if (!more) break;
    WW_ASSIGN(view.steps.emplace_back(), state_->ReadStep(steps));
  }
  WW_ASSIGN(SqliteRows candidates,
            state_->db.Prepare("SELECT hash, parent, method, summary, parameters FROM candidate WHERE task = ?"));
  candidates.Bind(task);
  while (true) {
    WW_ASSIGN(const bool more, candidates.Next());
    if (!more) break;
    CandidateView candidate{candidates.Text(0), candidates.Text(1), candidates.Text(2), candidates.Text(3), {}};
    WW_ASSIGN(candidate.parameters, DecodeParameters(candidates.Text(4)));
    view.candidates.emplace(candidate.hash, std::move(candidate));
  }
  LinkRepairs(view);
  return view;
}

Result<std::vector<TaskSummary>> Trajectory::Tasks() {
  WW_ASSIGN(SqliteRows rows, state_->db.Prepare(std::string(kTaskColumns) + "ORDER BY id DESC"));
  std::vector<TaskSummary> tasks;
  while (true) {
    WW_ASSIGN(const bool more, rows.Next());
    if (!more) return tasks;
    WW_ASSIGN(tasks.emplace_back(), state_->ReadTask(rows));
  }
}

}  // namespace warpwright

#include "memory/trajectory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/hash.h"
#include "memory/sqlite.h"
#include "memory/step_json.h"

namespace warpwright::memory {
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
       CREATE INDEX candidate_by_content ON candidate(hash);)",
    R"(ALTER TABLE candidate ADD COLUMN agent TEXT NOT NULL DEFAULT '';
       ALTER TABLE candidate ADD COLUMN question TEXT NOT NULL DEFAULT '';)"};

constexpr std::pair<StepKind, std::string_view> kStepKinds[] = {{StepKind::kBaseline, "baseline"},
                                                                {StepKind::kPlan, "plan"},
                                                                {StepKind::kRewrite, "rewrite"},
                                                                {StepKind::kEvaluate, "evaluate"},
                                                                {StepKind::kRepair, "repair"},
                                                                {StepKind::kAccept, "accept"},
                                                                {StepKind::kLift, "lift"},
                                                                {StepKind::kAsk, "ask"},
                                                                {StepKind::kCarry, "carry"},
                                                                {StepKind::kRecall, "recall"},
                                                                {StepKind::kLiftSegments, "lift_segments"}};

std::string TaskIdentity(const TaskKey& key) {
  return base::Hasher().Add(key.kernel).Add(key.base_hash).Add(key.device).Add(key.config_digest).Finish();
}

std::optional<core::Origin> OriginOf(const std::string& agent, std::string question) {
  const auto role = base::ParseName<core::AgentRole>(agent);
  return role ? std::optional(core::Origin{*role, std::move(question)}) : std::nullopt;
}

// Links a failed step to its repair: a later step that names it and passed.
void LinkRepairs(TrajectoryView& view) {
  for (const StepView& step : view.steps) {
    if (step.record.repairs == 0 || !step.outcome || !step.outcome->verdict || !core::Passed(*step.outcome->verdict))
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

struct Trajectory::State {
  State(SQLite::Database d, const base::Clock* c) : db(std::move(d)), clock(c) {}

  SQLite::Database db;
  const base::Clock* clock;
  base::SystemClock system_clock;

  std::string Now() const { return base::FormatUtc((clock != nullptr ? *clock : system_clock).Now()); }
  Result<StepView> ReadStep(const SQLite::Statement& rows) const;     // id, record, outcome, started, finished
  Result<TaskSummary> ReadTask(const SQLite::Statement& rows) const;  // as kTaskColumns
};

namespace {
constexpr char kTaskColumns[] =
    "SELECT id, kernel, base, device, config, result, started, finished, "
    "(SELECT count(*) FROM step WHERE task = task.id), "
    "(SELECT count(DISTINCT json_extract(record, '$.round')) FROM step WHERE task = task.id AND kind = 'evaluate' "
    "AND outcome IS NOT NULL AND json_extract(record, '$.round') > 0), "
    "(SELECT count(*) FROM step WHERE task = task.id AND kind IN ('evaluate', 'rewrite')), "
    "(SELECT count(DISTINCT candidate) FROM step WHERE task = task.id AND kind = 'evaluate' AND outcome IS NOT NULL) "
    "FROM task ";
}

Result<StepView> Trajectory::State::ReadStep(const SQLite::Statement& rows) const {
  StepView step;
  step.id = rows.getColumn(0).getInt64();
  WW_ASSIGN(step.record, DecodeStep(rows.getColumn(1).getString()));
  if (!rows.isColumnNull(2)) {
    WW_ASSIGN(step.outcome, DecodeOutcome(rows.getColumn(2).getString()));
  }
  step.started = rows.getColumn(3).getString();
  step.finished = rows.getColumn(4).getString();
  return step;
}

Result<TaskSummary> Trajectory::State::ReadTask(const SQLite::Statement& rows) const {
  TaskSummary task;
  task.id = rows.getColumn(0).getInt64();
  task.key = {rows.getColumn(1), rows.getColumn(2), rows.getColumn(3), rows.getColumn(4)};
  if (!rows.isColumnNull(5)) {
    WW_ASSIGN(task.result, DecodeResult(rows.getColumn(5).getString()));
  }
  task.started = rows.getColumn(6).getString();
  task.finished = rows.getColumn(7).getString();
  task.steps = rows.getColumn(8).getInt();
  task.counts = {rows.getColumn(9).getInt(), rows.getColumn(10).getInt(), rows.getColumn(11).getInt()};
  return task;
}

Trajectory::Trajectory(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trajectory::Trajectory(Trajectory&&) noexcept = default;
Trajectory& Trajectory::operator=(Trajectory&&) noexcept = default;
Trajectory::~Trajectory() = default;

Result<Trajectory> Trajectory::Open(const std::filesystem::path& path, const base::Clock* clock) {
  WW_ASSIGN(SQLite::Database db, OpenDatabase(path, kApplicationId));
  WW_TRY(Migrate(db, kMigrations));
  return Trajectory(std::make_unique<State>(std::move(db), clock));
}

Result<Trajectory::StartedTask> Trajectory::BeginTask(const TaskKey& key) {
  State& s = *state_;
  return InTransaction(s.db, [&]() -> Result<StartedTask> {
    const std::string identity = TaskIdentity(key);
    if (SQLite::Statement rows = Prepare(s.db, "SELECT id, result FROM task WHERE identity = ?", identity);
        rows.executeStep()) {
      StartedTask task{rows.getColumn(0), std::nullopt};
      if (!rows.isColumnNull(1)) {
        WW_ASSIGN(task.result, DecodeResult(rows.getColumn(1).getString()));
      }
      return task;
    }
    Prepare(s.db, "INSERT INTO task(identity, kernel, base, device, config, started) VALUES (?,?,?,?,?,?)", identity,
            key.kernel, key.base_hash, key.device, key.config_digest, s.Now())
        .exec();
    return StartedTask{s.db.getLastInsertRowid(), std::nullopt};
  });
}

Status Trajectory::FinishTask(TaskId task, const TaskResult& result) {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Status {
    const int found =
        Prepare(s.db, "UPDATE task SET result = ?, finished = ? WHERE id = ?", EncodeResult(result), s.Now(), task)
            .exec();
    if (found == 0) return Fail(ErrorCode::kUsage, fmt::format("there is no task {}", task));
    return {};
  });
}

Status Trajectory::DiscardTask(TaskId task) {
  State& s = *state_;
  return InTransaction(s.db, [&] {
    Prepare(s.db, "DELETE FROM task WHERE id = ?", task).exec();
    s.db.exec("DELETE FROM content WHERE hash NOT IN (SELECT hash FROM candidate)");
  });
}

Result<Trajectory::StartedStep> Trajectory::Begin(TaskId task, const StepRecord& record) {
  State& s = *state_;
  return InTransaction(s.db, [&]() -> Result<StartedStep> {
    const std::string identity = StepIdentity(record);
    if (SQLite::Statement rows =
            Prepare(s.db, "SELECT id, outcome FROM step WHERE task = ? AND identity = ?", task, identity);
        rows.executeStep()) {
      StartedStep step{rows.getColumn(0), std::nullopt};
      if (!rows.isColumnNull(1)) {
        WW_ASSIGN(step.outcome, DecodeOutcome(rows.getColumn(1).getString()));
      }
      return step;
    }
    Prepare(s.db,
            "INSERT INTO step(task, identity, kind, base, candidate, method, record, started) VALUES (?,?,?,?,?,?,?,?)",
            task, identity, std::string(Name(record.kind)), record.base, record.candidate, record.method,
            EncodeStep(record), s.Now())
        .exec();
    return StartedStep{s.db.getLastInsertRowid(), std::nullopt};
  });
}

Result<bool> Trajectory::IsFinished(TaskId task, const StepRecord& record) {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Result<bool> {
    return Prepare(s.db, "SELECT id FROM step WHERE task = ? AND identity = ? AND outcome IS NOT NULL", task,
                   StepIdentity(record))
        .executeStep();
  });
}

Status Trajectory::Finish(StepId step, const StepOutcome& outcome) {
  const std::string json = EncodeOutcome(outcome);
  if (json.size() > kMaxOutcomeBytes)
    return Fail(ErrorCode::kUnsupported, fmt::format("the outcome of step {} has {} bytes", step, json.size()));
  State& s = *state_;
  return Guarded(s.db, [&]() -> Status {
    const int found =
        Prepare(s.db, "UPDATE step SET outcome = ?, finished = ? WHERE id = ? AND outcome IS NULL", json, s.Now(), step)
            .exec();
    if (found == 0) return Fail(ErrorCode::kUsage, fmt::format("step {} does not exist or is finished already", step));
    return {};
  });
}

Status Trajectory::PutCandidate(TaskId task, const core::Candidate& candidate) {
  if (candidate.text.size() > kMaxTextBytes)
    return Fail(ErrorCode::kUnsupported, fmt::format("the candidate has {} bytes", candidate.text.size()));
  if (base::Sha256(candidate.text) != candidate.hash)
    return Fail(ErrorCode::kUsage, "the candidate's hash is not that of its text");
  State& s = *state_;
  return InTransaction(s.db, [&] {
    Prepare(s.db, "INSERT INTO content(hash, text) VALUES (?,?) ON CONFLICT DO NOTHING", candidate.hash, candidate.text)
        .exec();
    Prepare(s.db,
            "INSERT INTO candidate(task, hash, parent, method, parameters, summary, agent, question) "
            "VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
            task, candidate.hash, candidate.parent, candidate.method, EncodeParameters(candidate.parameters),
            candidate.summary, candidate.origin ? std::string(core::Name(candidate.origin->agent)) : std::string(),
            candidate.origin ? candidate.origin->question : std::string())
        .exec();
  });
}

Result<std::optional<core::Candidate>> Trajectory::FindCandidate(TaskId task, std::string_view hash) {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Result<std::optional<core::Candidate>> {
    SQLite::Statement rows = Prepare(s.db,
                                     "SELECT hash, text, parent, method, parameters, summary, agent, question "
                                     "FROM candidate JOIN content USING (hash) "
                                     "WHERE task = ? AND hash = ?",
                                     task, std::string(hash));
    if (!rows.executeStep()) return std::optional<core::Candidate>();
    core::Candidate candidate{.hash = rows.getColumn(0),
                              .text = rows.getColumn(1),
                              .parent = rows.getColumn(2),
                              .method = rows.getColumn(3),
                              .summary = rows.getColumn(5),
                              .origin = OriginOf(rows.getColumn(6), rows.getColumn(7))};
    WW_ASSIGN(candidate.parameters, DecodeParameters(rows.getColumn(4).getString()));
    if (base::Sha256(candidate.text) != candidate.hash)
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("the stored text of candidate {} is not the one that was put there", candidate.hash));
    return std::optional(std::move(candidate));
  });
}

Result<std::optional<StepOutcome>> Trajectory::FindEvaluation(TaskId task, std::string_view candidate) {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Result<std::optional<StepOutcome>> {
    SQLite::Statement rows =
        Prepare(s.db,
                "SELECT outcome FROM step WHERE task = ? AND kind IN ('baseline', 'evaluate') AND candidate = ? "
                "AND outcome IS NOT NULL ORDER BY id LIMIT 1",
                task, std::string(candidate));
    if (!rows.executeStep()) return std::optional<StepOutcome>();
    WW_ASSIGN(StepOutcome outcome, DecodeOutcome(rows.getColumn(0).getString()));
    return std::optional(std::move(outcome));
  });
}

Result<TrajectoryView> Trajectory::View(TaskId task) {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Result<TrajectoryView> {
    TrajectoryView view;
    if (SQLite::Statement rows = Prepare(s.db, std::string(kTaskColumns) + "WHERE id = ?", task); rows.executeStep()) {
      WW_ASSIGN(view.task, s.ReadTask(rows));
    } else {
      return Fail(ErrorCode::kUsage, fmt::format("there is no task {}", task));
    }
    SQLite::Statement steps =
        Prepare(s.db,
                "SELECT id, record, outcome, started, finished FROM step WHERE task = ? "
                "AND kind NOT IN ('diagnose', 'publish') ORDER BY id",  // kinds of the first schema, never used
                task);
    while (steps.executeStep()) {
      WW_ASSIGN(view.steps.emplace_back(), s.ReadStep(steps));
    }
    SQLite::Statement candidates = Prepare(
        s.db, "SELECT hash, parent, method, summary, parameters, agent, question FROM candidate WHERE task = ?", task);
    while (candidates.executeStep()) {
      auto candidate = candidates.getColumns<CandidateView, 4>();
      WW_ASSIGN(candidate.parameters, DecodeParameters(candidates.getColumn(4).getString()));
      candidate.origin = OriginOf(candidates.getColumn(5), candidates.getColumn(6));
      view.candidates.emplace(candidate.hash, std::move(candidate));
    }
    LinkRepairs(view);
    return view;
  });
}

Result<TaskCounts> Trajectory::Counts(TaskId task) {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Result<TaskCounts> {
    SQLite::Statement rows = Prepare(s.db, std::string(kTaskColumns) + "WHERE id = ?", task);
    if (!rows.executeStep()) return Fail(ErrorCode::kUsage, fmt::format("there is no task {}", task));
    WW_ASSIGN(const TaskSummary summary, s.ReadTask(rows));
    return summary.counts;
  });
}

Result<std::vector<TaskSummary>> Trajectory::Tasks() {
  State& s = *state_;
  return Guarded(s.db, [&]() -> Result<std::vector<TaskSummary>> {
    SQLite::Statement rows = Prepare(s.db, std::string(kTaskColumns) + "ORDER BY id DESC");
    std::vector<TaskSummary> tasks;
    while (rows.executeStep()) {
      WW_ASSIGN(tasks.emplace_back(), s.ReadTask(rows));
    }
    return tasks;
  });
}

}  // namespace warpwright::memory

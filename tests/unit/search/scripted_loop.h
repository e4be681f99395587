// The refine loop with everything around it scripted: a judge that knows the worth of every line, transformations that
// add one, a clock that a test moves, and a trajectory that can be killed at any write. Nothing is compiled, run or
// timed.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/entry_text.h"
#include "core/plan.h"
#include "search/refine.h"
#include "tests/support/memory_folder.h"
#include "tests/unit/judge/specs.h"
#include "tests/unit/service/fake_clock.h"

namespace warpwright {

// The effect of a line of a kernel's text.
struct Worth {
  double gain = 1;
  std::map<std::string, double> gain_of_case;  // if it differs
  std::optional<core::Verdict> fails;
};
// By line: "fast", "tiled tile=64x64x8".
using Script = std::map<std::string, Worth>;

inline std::string LineOf(const std::string& method, const core::Parameters& parameters) {
  std::string line = method;
  for (const auto& [name, value] : parameters) line += " " + name + "=" + value;
  return line;
}

// Judges a text by its lines.
class ScriptedJudge final : public judge::Reviewer {
 public:
  ScriptedJudge(const Script& script, FakeClock& clock) : deadline(clock), script_(script), clock_(clock) {}

  Result<judge::Baseline> Prepare() override {
    ++prepared;
    WW_TRY(Spend(per_preparation));
    judge::Baseline baseline;
    baseline.original = refuses_original ? core::Verdict(*refuses_original) : Judge("");
    return baseline;
  }
  Result<core::Verdict> Evaluate(const core::SourceRef& candidate, core::Evaluator&,
                                 judge::VerificationLevel effort) override {
    (effort == judge::VerificationLevel::kFull ? full : quick).push_back(candidate.text);
    WW_TRY(Spend(effort == judge::VerificationLevel::kFull ? per_full_review.value_or(per_review) : per_review));
    if (effort == judge::VerificationLevel::kFull)
      for (const auto& [line, verdict] : full_verdicts)
        if (candidate.text.find("// " + line + "\n") != std::string::npos) return verdict;
    return Judge(candidate.text);
  }
  const std::vector<std::string>& notes() const override { return notes_; }
  // Somebody works so long, or until the deadline.
  Status Spend(std::chrono::milliseconds time) {
    const auto left = deadline.Within(time);
    clock_.Advance(left);
    return left < time ? Status(Fail(deadline.BreakOff())) : Status();
  }

  double original_us = 100, case_weight = 1;
  std::vector<std::string> cases = {"n"};
  std::optional<core::Refused> refuses_original;
  std::map<std::string, core::Verdict> full_verdicts;  // of texts with this line
  std::chrono::milliseconds per_preparation{0}, per_review{0};
  std::optional<std::chrono::milliseconds> per_full_review;
  base::Deadline deadline;
  std::vector<std::string> quick, full;  // texts that were judged
  int prepared = 0;

 private:
  core::Verdict Judge(const std::string& text) const {
    core::Measured measured;
    measured.device = "sim:h200";
    for (const std::string& name : cases) {
      double gain = 1;
      for (const auto& [line, worth] : script_) {
        if (text.find("// " + line + "\n") == std::string::npos) continue;
        if (worth.fails) return *worth.fails;
        const auto own = worth.gain_of_case.find(name);
        gain *= own == worth.gain_of_case.end() ? worth.gain : own->second;
      }
      core::CaseMeasurement c;
      c.case_name = name;
      c.weight = case_weight;
      c.time_us = original_us / gain;
      core::LaunchReport launch;
      launch.kernel = "k";
      launch.time.total_us = c.time_us;
      c.launches = {launch};
      measured.cases.push_back(std::move(c));
    }
    return measured;
  }
  const Script& script_;
  FakeClock& clock_;
  std::vector<std::string> notes_;
};

// Of a text, what is no space, and not what splicing adds.
inline std::string Tokens(std::string text) {
  constexpr std::string_view kSpliced = "// spliced\n";
  for (size_t at; (at = text.find(kSpliced)) != std::string::npos;) text.erase(at, kSpliced.size());
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

// A transformation adds its line, unless the text already has it.
class ScriptedWorker final : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef&) override {
    if (inspecting) WW_TRY(inspecting());
    return core::Inspection{};
  }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    if (request.transform == core::kEntryText)
      return core::RewriteOutcome(core::Rewritten{request.source.text, {"slice " + Tokens(request.source.text)}, {}});
    const std::string line = LineOf(request.transform, request.parameters);
    if (const auto refusal = refuses.find(line); refusal != refuses.end())
      return core::RewriteOutcome(core::RewriteRefusal{refusal->second, 7});
    const std::string added = "// " + line + "\n";
    if (request.source.text.find(added) != std::string::npos)
      return core::RewriteOutcome(core::Rewritten{request.source.text, {}});
    return core::RewriteOutcome(core::Rewritten{request.source.text + added, {"adds " + line}});
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override {
    if (splice_refuses) return core::SpliceOutcome(*splice_refuses);
    return core::SpliceOutcome(core::Rewritten{request.edited + "// spliced\n", {}});
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest&) override {
    return Fail(ErrorCode::kUnsupported, "nothing runs here");
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override {
    return Fail(ErrorCode::kUnsupported, "nothing runs here");
  }

  std::function<Status()> inspecting;          // takes its time
  std::map<std::string, std::string> refuses;  // line -> reason
  std::optional<core::Refused> splice_refuses;
};

class ScriptedExperience final : public memory::ExperienceStore {
 public:
  Status Append(const memory::Experience& experience) override {
    appended.push_back(experience);
    return {};
  }
  Result<memory::ExperienceMatches> Query(const memory::ExperienceKey&) override { return answer; }
  memory::ExperienceMatches answer;
  std::vector<memory::Experience> appended;
};

class ScriptedLoop {
 public:
  ScriptedLoop() : folder_(MemoryFolder("loop")), judge(script, clock) {
    task.spec = ElementwiseSpec(core::DType::kF32, 1000);
    task.original = {"/tree", "kernels/k.cu", "float x;\n"};
    task.device = "sim:h200";
    task.chip.id = "h200";
    task.chip.arch = "sm_90";
    task.chip.multiprocessors = 132;
    task.chip.clock_ghz = 1.7;
    task.chip.dram_bytes_per_second = 4e12;
    library.policy.roofline_field =
        static_cast<size_t>(core::FindEvidenceField("roofline_pct") - core::EvidenceFields().data());
    library.policy.roofline_at_least = 92;
  }

  void SetCases(const std::vector<std::string>& names) {
    judge.cases = names;
    task.spec.cases.clear();
    for (const std::string& name : names) task.spec.cases.push_back(MakeCase(name, {{"n", int64_t{1000}}}));
  }

  // A method that the policy always calls for, before those that are added later.
  skills::MethodCard& AddCard(const std::string& id, std::vector<skills::MethodParameter> parameters = {}) {
    skills::MethodCard& card = library.methods[id];
    card.id = card.transform = id;
    card.intent = "add a line";
    card.gain_typical = 2;
    card.parameters = std::move(parameters);
    library.policy.fallback.push_back({id, 0.9 / static_cast<double>(library.methods.size()), "it may help"});
    return card;
  }
  // A method with one line and no parameters.
  void AddMethod(const std::string& id, Worth worth) {
    AddCard(id);
    script[id] = std::move(worth);
  }

  // Like a new process, on the same trajectory.
  Result<search::RefineResult> Run() {
    WW_ASSIGN(memory::Trajectory trajectory, memory::Trajectory::Open(path(), &clock));
    search::RefineServices services{.judge = judge,
                                    .candidates = worker,
                                    .skills = library,
                                    .experience = experience,
                                    .trajectory = trajectory,
                                    .clock = clock,
                                    .fresh_worker = [&] { ++fresh_workers; },
                                    .progress = {},
                                    .lift = lift,
                                    .tools = tools,
                                    .warn = {},
                                    .team = team,
                                    .selector = selector,
                                    .deadline = &judge.deadline};
    return search::Refine(task, services);
  }
  memory::TrajectoryView View() {
    auto trajectory = memory::Trajectory::Open(path());
    const auto tasks = trajectory ? trajectory->Tasks() : Fail(trajectory.error());
    if (!tasks || tasks->empty()) return {};
    auto view = trajectory->View(tasks->front().id);
    return view ? std::move(*view) : memory::TrajectoryView();
  }
  // One line for each step: "1 evaluate fast: measured 2.00", "1 accept fast: new base, 2.00x over the one before".
  std::vector<std::string> Story();

  std::function<Result<core::LiftOutcome>()> lift;             // empty: not asked
  std::function<Result<agents::Team>(memory::Journal&)> team;  // empty: built in
  const search::Selector* selector = nullptr;

  std::filesystem::path path() const { return folder_.path() / "trajectory.sqlite"; }

 private:
  base::TemporaryDirectory folder_;

 public:
  FakeClock clock;
  Script script;
  ScriptedJudge judge;
  ScriptedWorker worker;
  ScriptedExperience experience;
  skills::SkillLibrary library;
  std::function<std::vector<core::ToolFinding>(const core::SourceRef&, const core::Measured&)> tools;
  search::RefineTask task;
  int fresh_workers = 0;
};

inline void ExecuteSql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// Makes the database itself refuse every write after the first `writes`, until it is revived.
inline void DieAfter(const std::filesystem::path& path, int writes) {
  ASSERT_TRUE(memory::Trajectory::Open(path));
  std::string sql = "CREATE TABLE life(writes INTEGER); INSERT INTO life VALUES (" + std::to_string(writes) + ");";
  for (const std::string event :
       {"INSERT ON task", "UPDATE ON task", "INSERT ON step", "UPDATE ON step", "INSERT ON candidate"})
    sql += "CREATE TRIGGER \"" + event + "\" AFTER " + event +
           " BEGIN SELECT CASE WHEN (SELECT writes FROM life) <= 0 THEN RAISE(ABORT, 'killed') END; UPDATE life SET "
           "writes = writes - 1; END;";
  ExecuteSql(path, sql);
}
inline void Revive(const std::filesystem::path& path) { ExecuteSql(path, "UPDATE life SET writes = 1000000"); }

// Leaves out what differs from run to run.
inline std::string Tell(const memory::StepView& step) {
  std::string text = std::to_string(step.record.round) + " " + std::string(memory::Name(step.record.kind));
  if (!step.record.method.empty()) text += " " + LineOf(step.record.method, step.record.parameters);
  if (!step.outcome) return text + " ...";
  const memory::StepOutcome& outcome = *step.outcome;
  if (step.record.kind != memory::StepKind::kEvaluate) return text + ": " + outcome.summary;
  char gain[32];
  std::snprintf(gain, sizeof gain, " %.2f", outcome.gain);
  return text + ": " + std::string(core::VerdictName(*outcome.verdict)) + (outcome.gain > 0 ? gain : "");
}

inline std::vector<std::string> ScriptedLoop::Story() {
  std::vector<std::string> story;
  for (const memory::StepView& step : View().steps) story.push_back(Tell(step));
  return story;
}

}  // namespace warpwright

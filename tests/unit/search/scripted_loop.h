// The refine loop with everything around it scripted: a judge that knows of every line what it is worth,
// transformations that add one, a clock that a test moves, and a trajectory that can be killed at any write. Nothing is
// compiled, run or timed.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "core/plan.h"
#include "search/refine.h"
#include "tests/unit/judge/specs.h"
#include "tests/unit/service/fake_clock.h"

namespace warpwright {

// What a line of a kernel's text does.
struct Worth {
  double gain = 1;
  std::map<std::string, double> gain_of_case;  // where it is another
  std::optional<Verdict> fails;
};
// By line: "fast", "tiled tile=64x64x8".
using Script = std::map<std::string, Worth>;

inline std::string LineOf(const std::string& method, const Parameters& parameters) {
  std::string line = method;
  for (const auto& [name, value] : parameters) line += " " + name + "=" + value;
  return line;
}

// Judges a text by its lines.
class ScriptedJudge final : public Reviewer {
 public:
  ScriptedJudge(const Script& script, FakeClock& clock) : script_(script), clock_(clock) {}

  Result<Baseline> Prepare() override {
    ++prepared;
    Baseline baseline;
    baseline.original = refuses_original ? Verdict(*refuses_original) : Judge("");
    return baseline;
  }
  Result<Verdict> Evaluate(const SourceRef& candidate, Evaluator&, Effort effort) override {
    (effort == Effort::kFull ? full : quick).push_back(candidate.text);
    clock_.Advance(per_review);
    if (effort == Effort::kFull)
      for (const auto& [line, verdict] : full_verdicts)
        if (candidate.text.find("// " + line + "\n") != std::string::npos) return verdict;
    return Judge(candidate.text);
  }
  const std::vector<std::string>& notes() const override { return notes_; }

  double original_us = 100;
  std::vector<std::string> cases = {"n"};
  std::optional<Refused> refuses_original;
  std::map<std::string, Verdict> full_verdicts;  // of texts with this line
  std::chrono::milliseconds per_review{0};
  std::vector<std::string> quick, full;  // texts that were judged
  int prepared = 0;

 private:
  Verdict Judge(const std::string& text) const {
    Measured measured;
    measured.device = "sim:h200";
    for (const std::string& name : cases) {
      double gain = 1;
      for (const auto& [line, worth] : script_) {
        if (text.find("// " + line + "\n") == std::string::npos) continue;
        if (worth.fails) return *worth.fails;
        const auto own = worth.gain_of_case.find(name);
        gain *= own == worth.gain_of_case.end() ? worth.gain : own->second;
      }
      CaseMeasurement c;
      c.case_name = name;
      c.time_us = original_us / gain;
      LaunchReport launch;
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

// A transformation adds its line, unless the text has it already.
class ScriptedWorker final : public Evaluator {
 public:
  Result<Inspection> Inspect(const SourceRef&) override { return Inspection{}; }
  Result<RewriteOutcome> Rewrite(const RewriteRequest& request) override {
    const std::string line = LineOf(request.transform, request.parameters);
    if (const auto refusal = refuses.find(line); refusal != refuses.end())
      return RewriteOutcome(RewriteRefusal{refusal->second, 7});
    const std::string added = "// " + line + "\n";
    if (request.source.text.find(added) != std::string::npos) return RewriteOutcome(Rewritten{request.source.text, {}});
    return RewriteOutcome(Rewritten{request.source.text + added, {"adds " + line}});
  }
  Result<SpliceOutcome> Splice(const SpliceRequest& request) override {
    if (splice_refuses) return SpliceOutcome(*splice_refuses);
    return SpliceOutcome(Rewritten{request.edited + "// spliced\n", {}});
  }
  Result<ExecuteOutcome> Execute(const ExecuteRequest&) override {
    return Fail(ErrorCode::kUnsupported, "nothing runs here");
  }
  Result<TimeOutcome> Time(const TimeRequest&) override { return Fail(ErrorCode::kUnsupported, "nothing runs here"); }

  std::map<std::string, std::string> refuses;  // line -> reason
  std::optional<Refused> splice_refuses;
};

class ScriptedExperience final : public ExperienceStore {
 public:
  Status Append(const Experience& experience) override {
    appended.push_back(experience);
    return {};
  }
  Result<ExperienceAnswer> Query(const ExperienceKey&) override { return answer; }
  ExperienceAnswer answer;
  std::vector<Experience> appended;
};

class ScriptedLoop {
 public:
  ScriptedLoop() : folder_(*TemporaryDirectory::Create("loop")), judge(script, clock) {
    task.spec = ElementwiseSpec(DType::kF32, 1000);
    task.original = {"/tree", "kernels/k.cu", "float x;\n"};
    task.device = "sim:h200";
    task.chip.id = "h200";
    task.chip.arch = "sm_90";
    task.chip.multiprocessors = 132;
    task.chip.clock_ghz = 1.7;
    task.chip.dram_bytes_per_second = 4e12;
    library.policy.roofline_field = static_cast<size_t>(FindEvidenceField("roofline_pct") - EvidenceFields().data());
    library.policy.roofline_at_least = 92;
  }

  void SetCases(const std::vector<std::string>& names) {
    judge.cases = names;
    task.spec.cases.clear();
    for (const std::string& name : names) task.spec.cases.push_back(MakeCase(name, {{"n", int64_t{1000}}}));
  }

  // A method that the policy always calls for, before those that are added later.
  MethodCard& AddCard(const std::string& id, std::vector<MethodParameter> parameters = {}) {
    MethodCard& card = library.methods[id];
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

  // As a new process would, on the same trajectory.
  Result<RefineResult> Run() {
    WW_ASSIGN(Trajectory trajectory, Trajectory::Open(path(), &clock));
    RefineServices services{.judge = judge,
                            .candidates = worker,
                            .skills = library,
                            .experience = experience,
                            .trajectory = trajectory,
                            .clock = clock,
                            .fresh_worker = [&] { ++fresh_workers; },
                            .progress = {},
                            .tools = tools,
                            .notice = {}};
    return Refine(task, services);
  }
  TrajectoryView View() {
    auto trajectory = Trajectory::Open(path());
    const auto tasks = trajectory ? trajectory->Tasks() : Fail(trajectory.error());
    if (!tasks || tasks->empty()) return {};
    auto view = trajectory->View(tasks->front().id);
    return view ? std::move(*view) : TrajectoryView();
  }
  // One line a step: "1 evaluate fast: measured 2.00", "1 accept fast: new base, 2.00x over the one before".
  std::vector<std::string> Story();

  std::filesystem::path path() const { return folder_.path() / "trajectory.sqlite"; }

 private:
  TemporaryDirectory folder_;

 public:
  FakeClock clock;
  Script script;
  ScriptedJudge judge;
  ScriptedWorker worker;
  ScriptedExperience experience;
  SkillLibrary library;
  std::function<std::vector<ToolFinding>(const SourceRef&, const Measured&)> tools;
  RefineTask task;
  int fresh_workers = 0;
};

// Without what differs from run to run.
inline std::string Tell(const StepView& step) {
  std::string text = std::to_string(step.record.round) + " " + std::string(Name(step.record.kind));
  if (!step.record.method.empty()) text += " " + LineOf(step.record.method, step.record.parameters);
  if (!step.outcome) return text + " ...";
  const StepOutcome& outcome = *step.outcome;
  if (step.record.kind != StepKind::kEvaluate) return text + ": " + outcome.summary;
  char gain[32];
  std::snprintf(gain, sizeof gain, " %.2f", outcome.gain);
  return text + ": " + std::string(VerdictName(*outcome.verdict)) + (outcome.gain > 0 ? gain : "");
}

inline std::vector<std::string> ScriptedLoop::Story() {
  std::vector<std::string> story;
  for (const StepView& step : View().steps) story.push_back(Tell(step));
  return story;
}

}  // namespace warpwright

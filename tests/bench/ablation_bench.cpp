// What the two memories are worth: the loop with both, without the long-term one (methods in the order of their names,
// nothing of evidence or experience) and without the short-term one (nothing of what was tried).
//
//   bench_ablation WORKER CACHE REPOSITORY [--rounds N] [--variants N] KERNEL...
//
// On the simulated device, with the built-in agents. A version is judged once for all three, quickly; none is accepted.
// Prints one JSON object: for each kernel and memory, evaluations until the best gain was there, those in all, the
// gain, and attempts that had been made before.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "agents/planner.h"
#include "app/lift.h"
#include "base/file.h"
#include "base/page_reuse.h"
#include "config/chip_file.h"
#include "config/manifest.h"
#include "judge/judge.h"
#include "search/refine.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kDevice = "sim:h200";

enum class Memory { kBoth, kNoLongTerm, kNoShortTerm };
std::string_view Name(Memory memory) {
  switch (memory) {
    case Memory::kBoth: return "both";
    case Memory::kNoLongTerm: return "no long-term";
    case Memory::kNoShortTerm: return "no short-term";
  }
  return "";
}

struct Setting {
  std::string worker, cache, repository;
  int rounds = 6;
  size_t variants = 2;
  std::vector<std::string> kernels;
};

class NoExperience final : public memory::ExperienceStore {
 public:
  Status Append(const memory::Experience&) override { return {}; }
  Result<memory::ExperienceMatches> Query(const memory::ExperienceKey&) override { return memory::ExperienceMatches{}; }
};

// Keeps verdicts: the same text is judged once, whoever asks. Nothing passes the full judge, so that nothing is
// accepted.
class RememberingReviewer final : public judge::Reviewer {
 public:
  explicit RememberingReviewer(judge::Judge& judge) : judge_(judge) {}
  Result<judge::Baseline> Prepare() override {
    if (!baseline_) {
      WW_ASSIGN(baseline_, judge_.Prepare());
    }
    return *baseline_;
  }
  Result<core::Verdict> Evaluate(const core::SourceRef& candidate, core::Evaluator& evaluator,
                                 judge::VerificationLevel effort) override {
    if (effort == judge::VerificationLevel::kFull)
      return core::Verdict(core::Refused{core::Check::kComparison, "nothing is accepted here", candidate.file, 0});
    auto known = verdicts_.find(candidate.text);
    if (known == verdicts_.end()) {
      WW_ASSIGN(core::Verdict verdict, judge_.Evaluate(candidate, evaluator, effort));
      known = verdicts_.emplace(candidate.text, std::move(verdict)).first;
    }
    return known->second;
  }
  const std::vector<std::string>& notes() const override { return judge_.notes(); }

 private:
  judge::Judge& judge_;
  std::optional<judge::Baseline> baseline_;
  std::map<std::string, core::Verdict> verdicts_;
};

// The built-in planner, less a memory.
class AblatedPlanner final : public agents::Planner {
 public:
  AblatedPlanner(Memory memory, const skills::SkillLibrary& library, size_t variants)
      : memory_(memory), library_(library), variants_(variants) {}

  Result<agents::Proposal<core::Plan>> Propose(const agents::PlanRequest& request) override {
    using Plans = agents::Proposal<core::Plan>;
    if (memory_ == Memory::kNoLongTerm) return ByName(request);
    const skills::MatchResult all =
        skills::Match(library_, request.at.features.evidence, {.allow = request.at.spec.allow, .built_in_only = true});
    auto planned = agents::MakePlan(request.at.features, memory_ == Memory::kNoShortTerm ? all : request.match,
                                    request.experience, true);
    if (const auto* none = std::get_if<agents::NoPlan>(&planned)) return Plans(agents::NoProposal{none->reason});
    return Plans(std::vector<core::Plan>{Clipped(std::get<core::Plan>(std::move(planned)))});
  }

 private:
  // Every method that a transformation carries out, once for a base.
  Result<agents::Proposal<core::Plan>> ByName(const agents::PlanRequest& request) {
    for (const auto& [id, card] : library_.methods) {
      if (card.transform.empty() || !tried_.insert(request.at.base.hash + " " + id).second) continue;
      core::Plan plan;
      plan.method = id;
      plan.transform = card.transform;
      plan.kernel = request.at.features.kernel;
      plan.score = 1;
      plan.variants = agents::ParameterSets(card, {}, variants_);
      return agents::Proposal<core::Plan>(std::vector<core::Plan>{std::move(plan)});
    }
    return agents::Proposal<core::Plan>(agents::NoProposal{"every method was tried"});
  }
  core::Plan Clipped(core::Plan plan) const {
    if (plan.variants.size() > variants_) plan.variants.resize(variants_);
    return plan;
  }

  const Memory memory_;
  const skills::SkillLibrary& library_;
  const size_t variants_;
  std::set<std::string> tried_;
};

// Of the steps, in their order. A plan for a base that had it before is a repeated attempt, whether a transformation
// refuses it again or its versions are recognised as known.
json Figures(const memory::TrajectoryView& view) {
  std::map<std::string, double> gain_of = {};  // over the original, by hash
  std::set<std::string> judged, planned;
  int evaluations = 0, to_best = 0, repeated = 0;
  double best = 1;
  for (const memory::StepView& step : view.steps) {
    if (!step.outcome) continue;
    if (step.record.kind == memory::StepKind::kPlan && !step.outcome->data.empty()) {
      const std::string method = step.outcome->summary.substr(0, step.outcome->summary.find(':'));
      if (!planned.insert(step.record.base + " " + method).second) ++repeated;
    }
    if (step.record.kind != memory::StepKind::kEvaluate || !judged.insert(step.record.candidate).second) continue;
    ++evaluations;
    const auto base = gain_of.find(step.record.base);
    const double gain = step.outcome->gain * (base == gain_of.end() ? 1 : base->second);
    gain_of[step.record.candidate] = gain;
    if (gain > best * search::kMinGain) {
      best = gain;
      to_best = evaluations;
    }
  }
  return {{"gain", best}, {"evaluations_to_best", to_best}, {"evaluations", evaluations}, {"repeated", repeated}};
}

Result<json> RunOnce(const Setting& setting, const core::KernelSpec& spec, const core::SourceRef& original,
                     Memory memory, judge::Reviewer& reviewer, core::Evaluator& candidates,
                     const skills::SkillLibrary& library, const std::function<Result<core::LiftOutcome>()>& lift) {
  WW_ASSIGN(const auto folder, base::TemporaryDirectory::Create("ablation"));
  WW_ASSIGN(memory::Trajectory trajectory, memory::Trajectory::Open(folder.path() / "trajectory.sqlite"));
  WW_ASSIGN(const core::Chip chip, config::LoadChip("h200"));
  search::RefineTask task{.spec = spec,
                          .original = original,
                          .policy = {},
                          .chip = chip,
                          .device = kDevice,
                          .config_digest = std::string(Name(memory)),
                          .toolchain = {},
                          .version = {}};
  task.policy.max_rounds = setting.rounds;
  task.policy.max_minutes = 600;
  NoExperience experience;
  const base::SystemClock clock;
  const search::RefineServices services{
      .judge = reviewer,
      .candidates = candidates,
      .skills = library,
      .experience = experience,
      .trajectory = trajectory,
      .clock = clock,
      .fresh_worker = {},
      .progress = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); },
      .lift = lift,
      .tools = {},
      .warn = {},
      .team = [&](memory::Journal&) -> Result<agents::Team> {
        agents::Team team = agents::MakeTeam({});
        team.planner = std::make_unique<AblatedPlanner>(memory, library, setting.variants);
        return team;
      }};
  WW_ASSIGN(const search::RefineResult refined, search::Refine(task, services));
  WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(refined.task));
  return Figures(view);
}

Result<json> RunKernel(const Setting& setting, const core::KernelSpec& spec, const skills::SkillLibrary& library) {
  WW_ASSIGN(std::string text, base::ReadFile(fs::path(setting.repository) / spec.file));
  const core::SourceRef original{setting.repository, spec.file, std::move(text)};
  const worker::WorkerCommand command{{setting.worker, "--cache", setting.cache, "--readable", setting.repository}, {}};
  worker::WorkerEvaluator trusted(command), candidates(command);
  judge::Judge judge(spec, original, kDevice, trusted, {.repository = setting.repository});
  RememberingReviewer reviewer(judge);
  WW_ASSIGN(const core::Chip chip, config::LoadChip("h200"));
  std::optional<Result<core::LiftOutcome>> lifted;
  const auto lift = [&] {
    if (!lifted) lifted = app::LiftKernel({.name = kDevice, .chip = chip, .gpu = {}}, spec, original, trusted);
    return *lifted;
  };
  json row = {{"kernel", spec.name}};
  for (const Memory memory : {Memory::kBoth, Memory::kNoLongTerm, Memory::kNoShortTerm}) {
    WW_ASSIGN(row[std::string(Name(memory))],
              RunOnce(setting, spec, original, memory, reviewer, candidates, library, lift));
  }
  return row;
}

Result<json> Run(const Setting& setting) {
  WW_ASSIGN(const core::Manifest manifest, config::LoadManifest(setting.repository));
  WW_ASSIGN(const skills::SkillLibrary library, skills::LoadBuiltInSkills());
  json rows = json::array();
  for (const core::KernelSpec& spec : manifest.kernels) {
    if (std::find(setting.kernels.begin(), setting.kernels.end(), spec.name) == setting.kernels.end()) continue;
    WW_ASSIGN(json row, RunKernel(setting, spec, library));
    rows.push_back(std::move(row));
  }
  return json{{"device", kDevice}, {"rounds", setting.rounds}, {"variants", setting.variants}, {"kernels", rows}};
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  using namespace warpwright;
  base::KeepFreedPages();
  if (argc < 5) {
    std::fputs("usage: bench_ablation WORKER CACHE REPOSITORY [--rounds N] [--variants N] KERNEL...\n", stderr);
    return 2;
  }
  Setting setting{argv[1], argv[2], fs::absolute(argv[3]).string(), 6, 2, {}};
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--rounds" && i + 1 < argc) setting.rounds = std::atoi(argv[++i]);
    else if (word == "--variants" && i + 1 < argc) setting.variants = static_cast<size_t>(std::atoi(argv[++i]));
    else setting.kernels.push_back(word);
  }
  fs::create_directories(setting.cache);
  const auto result = Run(setting);
  if (!result) {
    std::fprintf(stderr, "bench_ablation: %s\n", result.error().Format().c_str());
    return 3;
  }
  std::puts(result->dump(1).c_str());
  return 0;
}

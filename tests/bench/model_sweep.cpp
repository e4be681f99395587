#include "model_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "config/manifest.h"
#include "judge/inputs.h"
#include "memory/journal.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using nlohmann::json;
using Parameters = std::map<std::string, std::string>;
using SweepClock = std::chrono::steady_clock;

constexpr int kTimedBlocks = 8, kTimedPairs = 5;
constexpr double kTimedAlpha = 0.01;  // of the decision, which is not used
constexpr double kMostDrift = 0.01;  // of results against the original's; the judge is stricter, but this is about time
constexpr uint64_t kSampledInstructions = 20'000'000;
constexpr size_t kKeptLines = 24;  // of a launch's hottest source lines

struct Edit {
  const char* transform;
  Parameters parameters;
};

// What gives a kernel its shape. Parameters that a mode does not read are left out.
std::vector<std::optional<Edit>> Shapes() {
  std::vector<std::optional<Edit>> shapes = {std::nullopt};
  for (const char* threads : {"128", "256", "512", "1024"})
    shapes.push_back(Edit{"row_parallel", {{"mode", "block"}, {"threads", threads}}});
  for (const char* rows : {"4", "8"})
    shapes.push_back(Edit{"row_parallel", {{"mode", "warp"}, {"rows_per_block", rows}}});
  for (const char* tile : {"64x64x16", "128x128x8", "64x64x8", "128x64x16", "32x32x32"})
    shapes.push_back(Edit{"tile_matmul", {{"tile", tile}}});
  for (const char* width : {"2", "4", "8"}) shapes.push_back(Edit{"vectorize_elementwise", {{"width", width}}});
  shapes.push_back(Edit{"transpose_tile", {}});
  shapes.push_back(Edit{"histogram_privatize", {}});
  return shapes;
}

// Applied to each of them: nothing, one refinement, or two.
std::vector<std::vector<Edit>> Refinements() {
  const auto block = [](const char* size, const char* bounds = "off") {
    return Edit{"launch_retune", {{"block_size", size}, {"launch_bounds", bounds}}};
  };
  const auto unrolled = [](const char* factor) { return Edit{"unroll_accumulators", {{"factor", factor}}}; };
  const Edit restricted{"restrict_readonly", {}};
  std::vector<std::vector<Edit>> all = {{}, {restricted}, {block("256", "on")}, {block("1024", "on")}};
  for (const char* factor : {"2", "4", "8"}) all.push_back({unrolled(factor)});
  for (const char* size : {"64", "128", "256", "512", "1024"}) {
    all.push_back({block(size)});
    all.push_back({unrolled("4"), block(size)});
  }
  all.push_back({restricted, block("64")});
  all.push_back({restricted, block("512")});
  return all;
}

struct SweepTask {
  const core::KernelSpec* spec = nullptr;
  memory::TaskId id = 0;
  std::string original;  // the file's text
};

// A text that the rewrites produced; the method's name and the parameters record what was done.
struct Version {
  std::string text, method;
  Parameters parameters;
};

// nullopt if a rewrite refuses.
Result<std::optional<Version>> ApplyEdit(core::Evaluator& evaluator, const SweepSetting& setting, const SweepTask& task,
                                         Version from, const Edit& edit) {
  core::RewriteRequest request{{setting.repository, task.spec->file, std::move(from.text)},
                               task.spec->entry,
                               {},
                               edit.transform,
                               edit.parameters};
  WW_ASSIGN(core::RewriteOutcome outcome, evaluator.Rewrite(request));
  auto* rewritten = std::get_if<core::Rewritten>(&outcome);
  if (rewritten == nullptr) return std::optional<Version>();
  from.text = std::move(rewritten->text);
  from.method += (from.method.empty() ? "" : "+") + std::string(edit.transform);
  from.parameters.insert(edit.parameters.begin(), edit.parameters.end());
  return std::optional(std::move(from));
}

// Puts every version into the trajectory, each text once. That is a separate step, so that it is done once.
Result<memory::StepOutcome> MakeVersions(core::Evaluator& evaluator, const SweepSetting& setting, const SweepTask& task,
                                         memory::Trajectory& trajectory) {
  int made = 0;
  for (const std::optional<Edit>& shape : Shapes()) {
    std::optional<Version> base = Version{task.original, "", {}};
    if (shape) {
      WW_ASSIGN(base, ApplyEdit(evaluator, setting, task, std::move(*base), *shape));
    }
    if (!base) continue;
    for (const std::vector<Edit>& refinement : Refinements()) {
      std::optional<Version> version = base;
      for (const Edit& edit : refinement) {
        WW_ASSIGN(version, ApplyEdit(evaluator, setting, task, std::move(*version), edit));
        if (!version) break;
      }
      if (!version) continue;
      const std::string hash = base::Sha256(version->text);
      WW_ASSIGN(const auto known, trajectory.FindCandidate(task.id, hash));
      if (known) continue;
      const std::string parent = version->method.empty() ? "" : base::Sha256(task.original);
      WW_TRY(trajectory.PutCandidate(
          task.id, {hash, std::move(version->text), parent, version->method, version->parameters, "sweep"}));
      ++made;
    }
  }
  memory::StepOutcome outcome;
  outcome.summary = fmt::format("{} versions", made);
  return outcome;
}

// Against the original, from cold caches and from warm ones; a verdict if the version cannot be timed.
Result<std::optional<core::Verdict>> TimeVersion(core::Evaluator& evaluator, const SweepSetting& setting,
                                                 const SweepTask& task, const std::string& text, const core::Case& c,
                                                 const std::vector<core::BufferContent>& buffers,
                                                 core::CaseMeasurement& result, std::vector<std::string>& notes) {
  const core::KernelSpec& spec = *task.spec;
  core::TimeRequest request{{setting.repository, spec.file, task.original},
                            {setting.repository, spec.file, text},
                            spec,
                            c.name,
                            c.scalars,
                            buffers,
                            setting.device,
                            {}};
  request.options.blocks = kTimedBlocks;
  request.options.pairs_per_block = kTimedPairs;
  request.options.kept_pairs = 0;
  request.options.hot = true;
  WW_ASSIGN(core::TimeOutcome outcome, evaluator.Time(request));
  if (auto* failed = std::get_if<core::CompileFailed>(&outcome))
    return std::optional<core::Verdict>(std::move(*failed));
  if (auto* refused = std::get_if<core::Refused>(&outcome)) return std::optional<core::Verdict>(std::move(*refused));
  if (auto* faulted = std::get_if<core::Faulted>(&outcome)) return std::optional<core::Verdict>(std::move(*faulted));
  const core::Timed& timed = std::get<core::Timed>(outcome);
  result.timing = core::Summarize(timed.pairs, core::TimingRules{}, kTimedAlpha);
  result.timing->hot_original_us = timed.hot_original_us;
  result.timing->hot_candidate_us = timed.hot_candidate_us;
  result.time_us = result.timing->candidate_us;
  double drift = 0, megahertz = 0;
  uint64_t wrong = 0;
  for (const core::TimedPair& pair : timed.pairs) {
    drift = std::max(drift, pair.drift.relative_rms);
    wrong += pair.drift.unwritten + pair.drift.different_class;
    megahertz += pair.candidate_mhz / static_cast<double>(timed.pairs.size());
  }
  // A block size that a kernel was not written for leaves rows out: the result is not a version of it.
  if (wrong > 0 || drift > kMostDrift)
    return std::optional<core::Verdict>(
        core::WrongResult{core::Check::kComparison, c.name,
                          fmt::format("differs from the original by {:.2g} (rms) and in {} elements", drift, wrong)});
  notes.push_back(fmt::format("{}: {:.0f} MHz, {} launches a sample, {:.2f} us between events alone", c.name, megahertz,
                              timed.launches_per_sample, timed.empty_us));
  return std::optional<core::Verdict>();
}

// Time against the original, then what the device counts.
Result<core::Verdict> MeasureVersion(core::Evaluator& evaluator, const SweepSetting& setting, const SweepTask& task,
                                     const std::string& text,
                                     std::map<std::string, std::vector<core::BufferContent>>& inputs) {
  const core::KernelSpec& spec = *task.spec;
  core::Measured measured;
  measured.device = setting.device;
  const bool simulated = setting.device.starts_with("sim:");  // only counted and modelled
  measured.modelled = simulated;
  for (const core::Case& c : spec.cases) {
    if (!(c.weight > 0) || !c.on.contains(core::DeviceKind::kCuda)) continue;
    std::vector<core::BufferContent>& buffers = inputs[spec.name + " " + c.name];
    if (buffers.empty()) {
      WW_ASSIGN(buffers, judge::MakeInputs(spec, c, judge::InputVariant::kBase, 1, setting.repository));
    }
    core::CaseMeasurement result;
    result.case_name = c.name;
    result.weight = c.weight;
    if (!simulated) {
      WW_ASSIGN(const auto failure, TimeVersion(evaluator, setting, task, text, c, buffers, result, measured.notes));
      if (failure) return core::Verdict(*failure);
    }
    core::ExecuteRequest counted{
        {setting.repository, spec.file, text}, spec, c.name, c.scalars, buffers, setting.device, {}};
    counted.options.counters = true;
    counted.options.keep_outputs = false;
    if (simulated) counted.options.sample_instructions = kSampledInstructions;
    WW_ASSIGN(core::ExecuteOutcome outcome, evaluator.Execute(counted));
    if (auto* failed = std::get_if<core::CompileFailed>(&outcome)) return core::Verdict(std::move(*failed));
    if (auto* refused = std::get_if<core::Refused>(&outcome)) return core::Verdict(std::move(*refused));
    if (auto* faulted = std::get_if<core::Faulted>(&outcome)) return core::Verdict(std::move(*faulted));
    auto& run = std::get<core::Executed>(outcome);
    for (core::LaunchReport& launch : run.launches)
      if (launch.lines.size() > kKeptLines) launch.lines.resize(kKeptLines);
    result.launches = std::move(run.launches);
    if (simulated) result.time_us = run.time_us;
    measured.notes.insert(measured.notes.end(), run.notes.begin(), run.notes.end());
    measured.cases.push_back(std::move(result));
  }
  return core::Verdict(std::move(measured));
}

struct Pending {
  const SweepTask* task;
  memory::CandidateView candidate;
};

// True: measured now or before.
Result<bool> MeasureOnce(core::Evaluator& evaluator, const SweepSetting& setting, const Pending& pending,
                         memory::Trajectory& trajectory,
                         std::map<std::string, std::vector<core::BufferContent>>& inputs) {
  WW_ASSIGN(const auto candidate, trajectory.FindCandidate(pending.task->id, pending.candidate.hash));
  if (!candidate) return Fail(ErrorCode::kCorrupt, "a version without its text");
  memory::StepRecord record;
  record.kind = memory::StepKind::kEvaluate;
  record.base = base::Sha256(pending.task->original);
  record.candidate = candidate->hash;
  record.method = candidate->method;
  record.parameters = candidate->parameters;
  const auto measure = [&]() -> Result<memory::StepOutcome> {
    const auto start = SweepClock::now();
    memory::StepOutcome outcome;
    WW_ASSIGN(outcome.verdict, MeasureVersion(evaluator, setting, *pending.task, candidate->text, inputs));
    outcome.candidate = candidate->hash;
    outcome.seconds = std::chrono::duration<double>(SweepClock::now() - start).count();
    return outcome;
  };
  WW_ASSIGN(const auto step, memory::Journal(trajectory, pending.task->id).Step(record, measure));
  return step.outcome.verdict && core::Passed(*step.outcome.verdict);
}

}  // namespace

Result<json> Sweep(const SweepSetting& setting) {
  const auto start = SweepClock::now();
  const auto minutes = [&] { return std::chrono::duration<double>(SweepClock::now() - start).count() / 60; };
  WW_ASSIGN(const core::Manifest manifest, config::LoadManifest(setting.repository));
  WW_ASSIGN(memory::Trajectory trajectory, memory::Trajectory::Open(setting.path));
  worker::WorkerCommand command;
  command.argv = {setting.worker, "--cache", setting.cache, "--readable", setting.repository};
  if (setting.device.starts_with("cuda")) command.argv.emplace_back("--gpu");
  worker::WorkerEvaluator evaluator(command);
  std::vector<SweepTask> tasks;
  for (const core::KernelSpec& spec : manifest.kernels) {
    if (!setting.kernels.empty() && !setting.kernels.contains(spec.name)) continue;
    WW_ASSIGN(std::string text, base::ReadFile(std::filesystem::path(setting.repository) / spec.file));
    WW_ASSIGN(const auto begun, trajectory.BeginTask({spec.name, base::Sha256(text), "sweep", ""}));
    tasks.push_back({&spec, begun.id, std::move(text)});
    memory::StepRecord making;
    making.kind = memory::StepKind::kRewrite;
    making.method = "sweep";
    const SweepTask& task = tasks.back();
    const auto make = [&] { return MakeVersions(evaluator, setting, task, trajectory); };
    WW_TRY(memory::Journal(trajectory, task.id).Step(making, make));
  }
  std::vector<Pending> pending;
  std::map<std::string, int> versions;
  for (const SweepTask& task : tasks) {
    WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(task.id));
    for (const auto& [hash, candidate] : view.candidates) {
      pending.push_back({&task, candidate});
      ++versions[task.spec->name];
    }
  }
  std::sort(pending.begin(), pending.end(),
            [](const Pending& a, const Pending& b) { return a.candidate.hash < b.candidate.hash; });
  int measured = 0, failed = 0;
  std::map<std::string, std::vector<core::BufferContent>> inputs;
  for (const Pending& one : pending) {
    if (setting.device == "none" || (setting.minutes > 0 && minutes() > setting.minutes)) break;
    WW_ASSIGN(const bool passed, MeasureOnce(evaluator, setting, one, trajectory, inputs));
    ++(passed ? measured : failed);
  }
  return json{{"device", setting.device}, {"trajectory", setting.path},
              {"versions", versions},     {"measured", measured},
              {"not_measurable", failed}, {"left", static_cast<int>(pending.size()) - measured - failed},
              {"minutes", minutes()}};
}

}  // namespace warpwright

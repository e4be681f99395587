#include "app/draft_cards.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

#include "agents/plan_json.h"
#include "base/file.h"
#include "core/evidence.h"
#include "core/quantity.h"
#include "skills/draft.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

// Plans of language models, by their methods.
std::map<std::string, core::Plan> WrittenPlans(const memory::TrajectoryView& view) {
  std::map<std::string, core::Plan> plans;
  for (const memory::StepView& step : view.steps) {
    if (step.record.kind != memory::StepKind::kPlan || !step.outcome) continue;
    std::istringstream lines(step.outcome->data);
    for (std::string line; std::getline(lines, line);)
      if (auto plan = agents::DecodePlan(line); plan && !plan->author.empty())
        plans.insert_or_assign(plan->method, std::move(*plan));
  }
  return plans;
}

std::string AddedLines(const std::string& before, const std::string& after) {
  std::multiset<std::string> old;
  std::istringstream was(before), is(after);
  for (std::string line; std::getline(was, line);) old.insert(line);
  std::string added;
  for (std::string line; std::getline(is, line);) {
    if (const auto found = old.find(line); found != old.end()) old.erase(found);
    else added += line + "\n";
  }
  return added;
}

// What was predicted and came true, with the factor that was measured.
std::vector<skills::ExpectedChange> CameTrue(const core::Plan& plan, const memory::StepOutcome& outcome) {
  std::vector<skills::ExpectedChange> changes;
  for (const core::Prediction& predicted : plan.expected) {
    const auto before = outcome.before.find(predicted.field), after = outcome.after.find(predicted.field);
    if (before == outcome.before.end() || after == outcome.after.end() || before->second <= 0 || after->second <= 0)
      continue;
    const double factor = after->second / before->second;
    if (factor != 1 && (factor > 1) == (predicted.direction > 0) && factor > 0.001 && factor < 1000)
      changes.push_back({predicted.field, factor > 1, factor});
  }
  return changes;
}

std::string OperationOf(const memory::StepOutcome& outcome) {
  for (const core::OperationClass operation : core::kAllOperationClasses) {
    const auto is = outcome.before.find("op_" + std::string(core::Name(operation)));
    if (is != outcome.before.end() && is->second == 1) return std::string(core::Name(operation));
  }
  return {};
}

}  // namespace

Result<std::vector<fs::path>> WriteDraftCards(memory::Trajectory& trajectory, const memory::TrajectoryView& view,
                                              const skills::SkillLibrary& library, const fs::path& folder) {
  std::vector<fs::path> files;
  if (!view.task.result || view.task.result->outcome != core::TaskOutcome::kImproved) return files;
  std::set<std::string> taken;  // versions that became a base
  for (const memory::StepView& step : view.steps)
    if (step.record.kind == memory::StepKind::kAccept && step.record.round >= 0 && step.outcome)
      taken.insert(step.record.candidate);
  const auto plans = WrittenPlans(view);
  for (const memory::StepView& step : view.steps) {
    if (step.record.kind != memory::StepKind::kEvaluate || !step.outcome || !taken.contains(step.record.candidate))
      continue;
    const auto plan = plans.find(step.record.method);
    if (plan == plans.end() || library.Find(step.record.method) != nullptr) continue;
    WW_ASSIGN(const auto version, trajectory.FindCandidate(view.task.id, step.record.candidate));
    WW_ASSIGN(const auto base, trajectory.FindCandidate(view.task.id, step.record.base));
    if (!version || !base) continue;
    const fs::path file = folder / (step.record.method + ".yml");
    std::error_code error;
    if (fs::exists(file, error)) continue;
    fs::create_directories(folder, error);
    WW_TRY(base::WriteFileAtomically(
        file, skills::DraftCard({.id = step.record.method,
                                 .why = plan->second.why,
                                 .instructions = plan->second.instructions,
                                 .added = AddedLines(base->text, version->text),
                                 .operation = OperationOf(*step.outcome),
                                 .expected = CameTrue(plan->second, *step.outcome),
                                 .gain = step.outcome->gain,
                                 .origin = fmt::format("described by {}, carried out for {} on {}: {}",
                                                       plan->second.author, view.task.key.kernel, view.task.key.device,
                                                       core::FormatGain(step.outcome->gain))})));
    files.push_back(file);
  }
  return files;
}

}  // namespace warpwright::app

#include "memory/lineage.h"

namespace warpwright::memory {

Lineage LineageOf(const TrajectoryView& view) {
  Lineage lineage;
  std::map<std::string, std::string> taken, evaluated;  // candidate -> its base
  std::string accepted;
  for (const StepView& step : view.steps) {
    const StepRecord& record = step.record;
    if (record.kind == StepKind::kEvaluate) evaluated.emplace(record.candidate, record.base);
    if (record.kind != StepKind::kAccept) continue;
    if (record.round != kFinalRound) taken.emplace(record.candidate, record.base);
    else if (step.outcome && step.outcome->accepted) accepted = record.candidate;
    else if (step.outcome) lineage.refused[record.candidate] = step.outcome->summary;
  }
  if (accepted.empty()) {
    for (const auto& [candidate, base] : taken)
      if (lineage.refused.count(candidate) == 0) lineage.kept.insert(candidate);
    return lineage;
  }
  // What was mended after the full judge had refused it was never taken: it stands on what the refused one stood on.
  const std::string& original = view.task.key.base_hash;
  std::set<std::string> seen;
  for (std::string at = accepted; !at.empty() && at != original && seen.insert(at).second;) {
    if (lineage.refused.count(at) == 0) lineage.kept.insert(at);
    const auto base = taken.find(at), mended = evaluated.find(at);
    at = base != taken.end() ? base->second : mended != evaluated.end() ? mended->second : std::string();
  }
  return lineage;
}

}  // namespace warpwright::memory

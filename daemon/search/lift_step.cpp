#include <fmt/format.h>

#include "agents/generator.h"
#include "core/computation_text.h"
#include "memory/lift_json.h"
#include "search/steps.h"

namespace warpwright::search {
namespace {

// That warpwright failed here says nothing about the candidates: it becomes the reason why nothing is known.
core::LiftOutcome Lift(const RefineRun& run) {
  auto outcome = run.services.lift();
  if (!outcome) return core::NotLifted{"error", outcome.error().message, false};
  return std::move(*outcome);
}

std::string SummaryOf(const core::LiftOutcome& outcome) {
  if (const auto* lifted = std::get_if<core::Lifted>(&outcome)) return core::Headline(lifted->computation);
  const auto& not_lifted = std::get<core::NotLifted>(outcome);
  return fmt::format("not lifted: {}: {}", not_lifted.blocker, not_lifted.message);
}

// A step on the original's text: `find_out` fills in the summary and the data.
Result<std::string> FoundOut(RefineRun& run, memory::StepKind kind, const char* reason,
                             const std::function<void(memory::StepOutcome&)>& find_out) {
  memory::StepRecord record;
  record.kind = kind;
  record.candidate = agents::Original(run.task.original.text).hash;
  record.reason = reason;
  const auto act = [&]() -> Result<memory::StepOutcome> {
    const auto begin = run.services.clock.Steady();
    memory::StepOutcome outcome;
    find_out(outcome);
    outcome.seconds = std::chrono::duration<double>(run.services.clock.Steady() - begin).count();
    return outcome;
  };
  WW_ASSIGN(const auto step, run.journal.Step(record, act));
  return step.outcome.data;
}

Status LiftWhole(RefineRun& run) {
  const auto find_out = [&](memory::StepOutcome& outcome) {
    const core::LiftOutcome lifted = Lift(run);
    outcome.summary = SummaryOf(lifted);
    outcome.data = memory::EncodeLift(lifted);
  };
  WW_ASSIGN(const std::string data, FoundOut(run, memory::StepKind::kLift, "what the original computes", find_out));
  WW_ASSIGN(core::LiftOutcome outcome, memory::DecodeLift(data));
  auto* lifted = std::get_if<core::Lifted>(&outcome);
  if (lifted != nullptr) run.form = agents::FormOf(std::move(lifted->computation), run.original_inspection);
  return {};
}

Result<std::vector<core::SegmentForm>> LiftSegments(RefineRun& run) {
  run.Say("finding out what each of its launches computes");
  const auto find_out = [&](memory::StepOutcome& outcome) {
    const auto segments = run.services.lift_segments();
    outcome.summary = segments ? fmt::format("{} of them are known", segments->size()) : segments.error().message;
    outcome.data = memory::EncodeSegments(segments.value_or(std::vector<core::SegmentForm>()));
  };
  WW_ASSIGN(const std::string data,
            FoundOut(run, memory::StepKind::kLiftSegments, "what the statements of its launcher compute", find_out));
  return memory::DecodeSegments(data);
}

}  // namespace

Status LiftStep(RefineRun& run) {
  if (!run.services.lift) return {};
  run.Say("finding out what it computes");
  WW_TRY(LiftWhole(run));
  if (run.services.lift_segments)
    run.segments =
        [&run,
         known = std::optional<std::vector<core::SegmentForm>>()]() mutable -> Result<std::vector<core::SegmentForm>> {
      if (!known) {
        WW_ASSIGN(known, LiftSegments(run));
      }
      return *known;
    };
  if (!run.form) return {};
  WW_ASSIGN(agents::ExtractedFeatures features,
            agents::ExtractFeaturesOf(run.task.spec, run.task.chip, run.original_inspection, run.original().measured,
                                      {.form = &*run.form}));
  run.pool.SetFeatures(std::move(features));
  return {};
}

}  // namespace warpwright::search

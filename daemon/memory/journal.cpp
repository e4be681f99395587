#include "memory/journal.h"

namespace warpwright::memory {

Result<Trajectory::StartedStep> Journal::Begin(const StepRecord& record) {
  if (repeat_only_) {
    WW_ASSIGN(const bool finished, trajectory_.IsFinished(task_, record));
    if (!finished) {
      at_end_ = true;
      return Fail(ErrorCode::kTimeout, "this step belongs to the work that the limit of time ended");
    }
  }
  return trajectory_.Begin(task_, record);
}

Result<Journal::Entry> Journal::Step(const StepRecord& record, const Act& act) {
  WW_ASSIGN(auto begun, Begin(record));
  if (begun.outcome) return Entry{begun.id, std::move(*begun.outcome)};
  WW_ASSIGN(StepOutcome outcome, act());
  WW_TRY(trajectory_.Finish(begun.id, outcome));
  return Entry{begun.id, std::move(outcome)};
}

Result<std::optional<Journal::Entry>> Journal::StepIfReady(const StepRecord& record, const ActIfReady& act) {
  WW_ASSIGN(auto begun, Begin(record));
  if (begun.outcome) return std::optional<Entry>(Entry{begun.id, std::move(*begun.outcome)});
  WW_ASSIGN(std::optional<StepOutcome> outcome, act());
  if (!outcome) return std::optional<Entry>();
  WW_TRY(trajectory_.Finish(begun.id, *outcome));
  return std::optional<Entry>(Entry{begun.id, std::move(*outcome)});
}

Result<Journal::Entry> Journal::StepInEveryRun(const StepRecord& record, const Act& act) {
  WW_ASSIGN(auto begun, Begin(record));
  WW_ASSIGN(StepOutcome outcome, act());
  if (begun.outcome) return Entry{begun.id, std::move(*begun.outcome)};
  WW_TRY(trajectory_.Finish(begun.id, outcome));
  return Entry{begun.id, std::move(outcome)};
}

}  // namespace warpwright::memory

// The steps of one task as functions with a memory: a step first looks up its outcome in the trajectory, and acts only
// if no earlier run finished it. A killed program is simply run again.
#pragma once

#include <functional>
#include <optional>

#include "memory/trajectory.h"

namespace warpwright::memory {

class Journal {
 public:
  // `trajectory` must outlive the journal.
  Journal(Trajectory& trajectory, TaskId task) : trajectory_(trajectory), task_(task) {}

  // What a step does; its outcome holds everything that the caller needs to continue.
  using Act = std::function<Result<StepOutcome>()>;
  struct Entry {
    StepId id = 0;
    StepOutcome outcome;
  };

  // While only finished steps are repeated, one that no earlier run finished is not begun: it is an error (kTimeout).
  void RepeatOnly(bool finished_steps) {
    repeat_only_ = finished_steps;
    at_end_ = false;
  }
  // Such a step was asked for: everything that was finished is repeated.
  bool at_end() const { return at_end_; }

  // Returns the outcome that an earlier run stored; else records the step as begun, acts, and stores the outcome.
  // Callers continue with the values of the outcome, whichever run it is from: that is what makes a resumed run equal
  // to an undisturbed one. If `act` fails, the step stays begun and acts again in the next run.
  Result<Entry> Step(const StepRecord& record, const Act& act);

  // For a step that may have to wait for somebody outside: nullopt of `act` leaves it begun, and it acts again in the
  // next run.
  using ActIfReady = std::function<Result<std::optional<StepOutcome>>()>;
  Result<std::optional<Entry>> StepIfReady(const StepRecord& record, const ActIfReady& act);

  // For a step that leaves something in this process, such as outputs in memory: it acts in every run. The outcome is
  // still the one that was stored first.
  Result<Entry> StepInEveryRun(const StepRecord& record, const Act& act);

 private:
  Result<Trajectory::StartedStep> Begin(const StepRecord& record);

  Trajectory& trajectory_;
  TaskId task_;
  bool repeat_only_ = false, at_end_ = false;
};

}  // namespace warpwright::memory

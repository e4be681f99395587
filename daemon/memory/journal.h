// The steps of one task as functions that remember: what a step came to is looked up in the trajectory first, and only
// a step that no earlier run finished acts. A killed program is simply run again.
#pragma once

#include <functional>

#include "memory/trajectory.h"

namespace warpwright::memory {

class Journal {
 public:
  // `trajectory` must outlive the journal.
  Journal(Trajectory& trajectory, TaskId task) : trajectory_(trajectory), task_(task) {}

  // What a step does; its outcome holds everything that the caller needs to go on.
  using Act = std::function<Result<StepOutcome>()>;
  struct Entry {
    StepId id = 0;
    StepOutcome outcome;
  };

  // The outcome that an earlier run stored; else the step is written down as begun, acts, and its outcome is stored.
  // Callers take what they go on with from the outcome, whichever run it is of: that is what makes a resumed run the
  // same as an undisturbed one. Where `act` fails, the step stays begun and acts again in the next run.
  Result<Entry> Step(const StepRecord& record, const Act& act);

  // For a step that leaves something behind in this process, such as outputs in memory: it acts in every run. The
  // outcome is still the one that was stored first.
  Result<Entry> StepInEveryRun(const StepRecord& record, const Act& act);

 private:
  Trajectory& trajectory_;
  TaskId task_;
};

}  // namespace warpwright::memory

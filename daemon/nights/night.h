// What a nightly run concludes about one entry: pure decisions over its history and the current times. regression.h has
// the statistics; app/nightly.cpp does the timing and decides its order.
//
// A regression is reported once. For the code: while the entry remains slower than the reference for the same reason,
// runs are "slower" and silent; it is reported again if the first bad commit changes or the loss grows by more than the
// threshold; it is recovered when the entry is no longer slower; and after kAcceptAfterNights runs it is accepted,
// which makes the current revision the reference. For the environment (driver, toolkit, unknown): the level is
// restarted, and the regression is recovered when times fall by as much again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nights/history.h"
#include "nights/night_timer.h"
#include "nights/regression.h"

namespace warpwright::nights {

struct ReferenceRevision {
  std::string commit, slice;
};
// The revision that the current one must be timed against; nullopt in the first run on this machine.
std::optional<ReferenceRevision> ReferenceRevisionOf(const History& history, const HistoryKey& key);

struct NightInput {
  std::string time, kernel;
  HistoryKey key;
  std::string commit, slice;  // of the current revision
  double threshold = 1.03;
  bool modelled = false;
  NightTimes present;
  std::optional<ReferenceRevision> reference;  // timed along with it, with these times
  NightTimes reference_times;
  std::optional<CodeJudgement> code;  // of the two revisions
  std::string reference_error;        // why the reference could not be timed
  std::string failure;                // why the current revision could not be timed
};

struct NightOutcome {
  NightVerdict verdict;
  std::vector<CaseTime> times;
  std::vector<Finding> findings;   // to be appended: new, recovered and accepted ones
  std::vector<Finding> reported;   // those to be reported to users: new and changed
  bool needs_bisection = false;    // the code is slower, for a reason not yet known
  std::vector<std::string> notes;  // what is worth a line but is not a finding
  // Everything that this run appends to the history.
  std::vector<HistoryLine> Lines() const;
};
NightOutcome DecideNight(const History& history, const NightInput& input);

// The commit that made the code slower, as nights/first_bad_commit.h found it.
struct FirstBadCommit {
  std::string commit, subject;  // empty: not found
  std::string note;             // why not, or how certain
  bool confirmed = false;
  double log_ratio = 0, lower = 0, upper = 0;  // of the commit alone; 0: not timed
};
// Adds the finding, reported or silent, to an outcome that needs bisection.
void AddCodeFinding(const History& history, const NightInput& input, const FirstBadCommit& first_bad,
                    NightOutcome& outcome);

}  // namespace warpwright::nights

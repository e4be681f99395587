// What a night says of one entry: pure decisions over its history and tonight's times. regression.h has the statistics;
// who times, and in which order, is app/nightly.cpp.
//
// A regression is reported once. Of the code: while the entry stays slower than the reference for the same reason,
// nights are "slower" and silent; it is reported again where the culprit becomes another or the loss grows by more than
// the threshold; it is recovered where the entry is no longer slower; and after kAcceptAfterNights nights it is
// accepted, which makes tonight's revision the reference. Of the surroundings (driver, toolkit, unknown): the level
// begins anew, and it is recovered where times fall by as much again.
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
// The revision that tonight is to be timed against; nullopt in the first night on this machine.
std::optional<ReferenceRevision> ReferenceRevisionOf(const History& history, const HistoryKey& key);

struct NightInput {
  std::string time, kernel;
  HistoryKey key;
  std::string commit, slice;  // tonight's
  double threshold = 1.03;
  bool modelled = false;
  NightTimes present;
  std::optional<ReferenceRevision> reference;  // timed beside it, with these times
  NightTimes reference_times;
  std::optional<CodeJudgement> code;  // of the two
  std::string reference_error;        // why the anchor could not be timed
  std::string failure;                // why tonight's could not
};

struct NightOutcome {
  NightVerdict verdict;
  std::vector<CaseTime> times;
  std::vector<Finding> findings;   // to be appended: new, recovered and accepted ones
  std::vector<Finding> reported;   // those of them that people should hear of: new and changed
  bool needs_bisection = false;    // the code is slower, and for a reason that is not known yet
  std::vector<std::string> notes;  // what is worth a line and is no finding
  // Everything that the history takes from this night.
  std::vector<HistoryLine> Lines() const;
};
NightOutcome DecideNight(const History& history, const NightInput& input);

// Who made the code slower, as nights/first_bad_commit.h found it.
struct FirstBadCommit {
  std::string commit, subject;  // empty: not found
  std::string note;             // why not, or how sure
  bool confirmed = false;
  double log_ratio = 0, lower = 0, upper = 0;  // of the commit alone; 0: not timed
};
// Adds the finding, reported or silent, to an outcome with find_culprit.
void AddCodeFinding(const History& history, const NightInput& input, const FirstBadCommit& culprit,
                    NightOutcome& outcome);

}  // namespace warpwright::nights

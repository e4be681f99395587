#include "nights/night.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/utf8.h"
#include "core/median.h"

namespace warpwright::nights {
namespace {

constexpr size_t kMaxMessage = 500;
constexpr double kClockChange = 0.02;

std::string Cut(std::string_view text) { return std::string(base::CutAtCharacter(text, kMaxMessage)); }
std::string Percent(double log_ratio) { return fmt::format("{:.1f} %", 100 * std::abs(std::expm1(log_ratio))); }
std::string Interval(double lower, double upper) {
  return fmt::format("{:.1f} to {:.1f} %", 100 * std::expm1(lower), 100 * std::expm1(upper));
}

std::string IdOf(const Finding& finding) {
  return base::Hasher()
      .Add(finding.kernel)
      .Add(finding.key.device)
      .Add(Name(finding.cause))
      .Add(finding.commit)
      .Add(finding.from)
      .Add(finding.to)
      .Add(finding.cause == Cause::kCode ? finding.anchor_slice : finding.time)
      .Finish()
      .substr(0, 16);
}

CaseTime LineOf(const NightInput& input, const NightTime& time, const std::string& commit, const std::string& slice,
                bool reference) {
  return {.time = input.time,
          .kernel = input.kernel,
          .key = input.key,
          .commit = commit,
          .slice = slice,
          .reference = reference,
          .modelled = input.modelled,
          .case_name = time.name,
          .weight = time.weight,
          .median_us = time.median_us,
          .log_mean = time.log_mean,
          .log_error = time.log_error,
          .samples = time.samples,
          .discarded = time.discarded,
          .mhz = time.mhz};
}

// Closes what is open on this machine.
void Close(const History& history, const NightInput& input, bool code, FindingState state, const std::string& why,
           NightOutcome& outcome) {
  for (Finding finding : history.Open(input.key)) {
    if ((finding.cause == Cause::kCode) != code) continue;
    finding.time = input.time;
    finding.state = state;
    finding.message = why;
    outcome.findings.push_back(std::move(finding));
  }
}

std::optional<Finding> OpenCodeFinding(const History& history, const HistoryKey& key) {
  std::optional<Finding> last;
  for (Finding& finding : history.Open(key))
    if (finding.cause == Cause::kCode) last = std::move(finding);
  return last;
}

int NightsSince(const History& history, const HistoryKey& key, const std::string& time) {
  int nights = 0;
  for (const NightVerdict& night : history.nights)
    nights += night.key.SameMachine(key) && night.time > time && night.state == NightState::kSlower;
  return nights;
}
// When the finding was opened.
std::string Since(const History& history, const std::string& id) {
  std::string since;
  for (const Finding& finding : history.findings) {
    if (finding.id != id) continue;
    if (finding.state == FindingState::kRecovered || finding.state == FindingState::kAccepted) since.clear();
    else if (since.empty()) since = finding.time;
  }
  return since;
}

void DecideCode(const History& history, const NightInput& input, NightOutcome& outcome) {
  NightVerdict& verdict = outcome.verdict;
  const CodeJudgement& code = *input.code;
  verdict.log_ratio = code.log_ratio;
  verdict.lower = code.lower;
  verdict.upper = code.upper;
  const std::string against = fmt::format("revision {}", input.reference->commit.substr(0, 12));
  switch (code.decision) {
    case CodeDecision::kFaster:
      verdict.state = NightState::kFaster;
      verdict.message =
          fmt::format("{} less time than {}, which it replaces as the reference", Percent(code.log_ratio), against);
      verdict.anchor_commit = input.commit;
      verdict.anchor_slice = input.slice;
      Close(history, input, true, FindingState::kRecovered, "the entry is faster than the reference", outcome);
      return;
    case CodeDecision::kSame:
      verdict.state = NightState::kSame;
      verdict.message = "as fast as " + against;
      Close(history, input, true, FindingState::kRecovered, "the entry is as fast as the reference again", outcome);
      return;
    case CodeDecision::kUnclear:
      verdict.state = NightState::kUnclear;
      verdict.message = fmt::format("{} more time than {}: inconclusive", Interval(code.lower, code.upper), against);
      return;
    case CodeDecision::kSlower: break;
  }
  verdict.state = NightState::kSlower;
  verdict.message = fmt::format("{} more time than {}{}", Percent(code.log_ratio), against,
                                code.worst_case.empty() ? "" : ", in case " + code.worst_case);
  outcome.needs_bisection = true;
  const auto open = OpenCodeFinding(history, input.key);
  if (!open || open->anchor_slice != input.reference->slice || open->slice != input.slice) return;
  if (code.log_ratio > open->log_ratio + std::log(input.threshold)) return;
  outcome.needs_bisection = false;  // known, and not worse
  verdict.finding = open->id;
  if (NightsSince(history, input.key, Since(history, open->id)) + 1 < kAcceptAfterNights) return;
  Close(history, input, true, FindingState::kAccepted,
        fmt::format("it was not fixed for {} nights: it is now the reference", kAcceptAfterNights), outcome);
  verdict.finding.clear();
  verdict.anchor_commit = input.commit;
  verdict.anchor_slice = input.slice;
}

// The times of equal code: the reference's if the code differs, else the current ones.
struct EqualCode {
  const NightTimes& times;
  const std::string& slice;
};
struct DriftCase {
  const NightTime* time = nullptr;
  DriftResult result;
};

// The last of the earlier runs that cannot be part of what this run detected.
const CaseTime* NightBefore(const History& history, const HistoryKey& key, const std::string& slice,
                            const std::string& name) {
  std::vector<const CaseTime*> nights;
  for (const CaseTime& time : history.cases)
    if (time.key.SameMachine(key) && time.slice == slice && time.case_name == name) nights.push_back(&time);
  return nights.empty() ? nullptr : nights[nights.size() < 3 ? 0 : nights.size() - 3];
}

Finding DriftFinding(const History& history, const NightInput& input, const std::string& slice,
                     const DriftCase& worst) {
  Finding finding;
  finding.time = input.time;
  finding.kernel = input.kernel;
  finding.key = input.key;
  finding.state = FindingState::kOpen;
  finding.slice = finding.anchor_slice = slice;
  finding.case_name = worst.time->name;
  finding.log_ratio = worst.result.log_ratio;
  finding.lower = worst.result.lower;
  finding.upper = worst.result.upper;
  finding.modelled = input.modelled;
  finding.cause = Cause::kUnknown;
  const CaseTime* before = NightBefore(history, input.key, slice, worst.time->name);
  const bool driver = before != nullptr && before->key.driver != input.key.driver;
  const bool toolkit = before != nullptr && before->key.toolkit != input.key.toolkit;
  std::string why = "code, driver and toolkit are the same as before";
  if (driver || toolkit) {
    finding.cause = driver && toolkit ? Cause::kDriverOrToolkit : driver ? Cause::kDriver : Cause::kToolkit;
    const auto text = [&](const HistoryKey& key) {
      return (driver ? "driver " + key.driver : "") + (driver && toolkit ? ", " : "") + (toolkit ? key.toolkit : "");
    };
    finding.from = text(before->key);
    finding.to = text(input.key);
    why = fmt::format("since {} → {}; the code is the same", finding.from, finding.to);
  } else if (before != nullptr && before->mhz > 0 && worst.time->mhz > 0 &&
             std::abs(worst.time->mhz / before->mhz - 1) > kClockChange) {
    why += fmt::format("; but the clock changed from {:.0f} to {:.0f} MHz", before->mhz, worst.time->mhz);
  }
  finding.message = Cut(fmt::format("case {} takes {} more time than its level of {} nights ({}), {}", worst.time->name,
                                    Percent(worst.result.log_ratio), worst.result.nights,
                                    Interval(worst.result.lower, worst.result.upper), why));
  finding.id = IdOf(finding);
  return finding;
}

void DecideDrift(const History& history, const NightInput& input, const EqualCode& equal, NightOutcome& outcome) {
  DriftRules rules;
  rules.threshold = input.threshold;
  rules.cases = static_cast<int>(equal.times.size());
  rules.noiseless = input.modelled;
  DriftCase slower, faster;
  for (const NightTime& time : equal.times) {
    if (time.samples == 0) continue;
    const DriftResult result =
        JudgeDrift(LevelOf(history, input.key, equal.slice, time.name), {time.log_mean, time.log_error}, rules);
    if (result.drift == Drift::kSuspect)
      outcome.notes.push_back(
          fmt::format("case {} took {} {} time than usual tonight; a single night is not conclusive", time.name,
                      Percent(result.log_ratio), result.log_ratio > 0 ? "more" : "less"));
    if (result.drift == Drift::kSlower && (slower.time == nullptr || result.log_ratio > slower.result.log_ratio))
      slower = {&time, result};
    if (result.drift == Drift::kFaster && (faster.time == nullptr || result.log_ratio < faster.result.log_ratio))
      faster = {&time, result};
  }
  if (slower.time == nullptr && faster.time == nullptr) return;
  outcome.verdict.epoch = true;
  if (slower.time == nullptr) {
    const std::string text = fmt::format("case {} takes {} less time than its level, on equal code", faster.time->name,
                                         Percent(faster.result.log_ratio));
    outcome.notes.push_back(text);
    Close(history, input, false, FindingState::kRecovered, text, outcome);
    return;
  }
  const Finding finding = DriftFinding(history, input, equal.slice, slower);
  if (outcome.verdict.state != NightState::kSlower) {
    outcome.verdict.state = NightState::kDrift;
    outcome.verdict.message = finding.message;
    outcome.verdict.finding = finding.id;
  }
  outcome.findings.push_back(finding);
  outcome.reported.push_back(finding);
}

}  // namespace

std::optional<ReferenceRevision> ReferenceRevisionOf(const History& history, const HistoryKey& key) {
  for (auto night = history.nights.rbegin(); night != history.nights.rend(); ++night)
    if (night->key.SameMachine(key) && !night->anchor_commit.empty() && !night->anchor_slice.empty())
      return ReferenceRevision{night->anchor_commit, night->anchor_slice};
  return std::nullopt;
}

std::vector<HistoryLine> NightOutcome::Lines() const {
  std::vector<HistoryLine> lines(times.begin(), times.end());
  lines.emplace_back(verdict);
  lines.insert(lines.end(), findings.begin(), findings.end());
  return lines;
}

NightOutcome DecideNight(const History& history, const NightInput& input) {
  NightOutcome outcome;
  NightVerdict& verdict = outcome.verdict;
  verdict.time = input.time;
  verdict.kernel = input.kernel;
  verdict.key = input.key;
  verdict.commit = input.commit;
  verdict.slice = input.slice;
  const auto anchor = ReferenceRevisionOf(history, input.key);
  if (anchor) {
    verdict.anchor_commit = anchor->commit;
    verdict.anchor_slice = anchor->slice;
  }
  if (!input.failure.empty()) {
    verdict.state = NightState::kFailed;
    verdict.message = Cut(input.failure);
    return outcome;
  }
  for (const NightTime& time : input.present)
    outcome.times.push_back(LineOf(input, time, input.commit, input.slice, false));
  if (input.reference)
    for (const NightTime& time : input.reference_times)
      outcome.times.push_back(LineOf(input, time, input.reference->commit, input.reference->slice, true));
  std::erase_if(outcome.times, [](const CaseTime& time) { return time.samples == 0; });

  if (input.code) {
    DecideCode(history, input, outcome);
  } else if (anchor && anchor->slice == input.slice) {
    verdict.state = NightState::kSame;
    verdict.message = fmt::format("the code is that of revision {}", anchor->commit.substr(0, 12));
    Close(history, input, true, FindingState::kRecovered, "the code is the reference's again", outcome);
  } else {
    verdict.state = NightState::kFirst;
    verdict.message =
        anchor ? Cut("this revision is the new reference, since the old one cannot be timed: " + input.reference_error)
               : "nothing to compare with yet";
    verdict.anchor_commit = input.commit;
    verdict.anchor_slice = input.slice;
    if (anchor) Close(history, input, true, FindingState::kAccepted, "the reference cannot be timed any more", outcome);
  }
  const EqualCode equal =
      input.code ? EqualCode{input.reference_times, input.reference->slice} : EqualCode{input.present, input.slice};
  DecideDrift(history, input, equal, outcome);
  verdict.message = Cut(verdict.message);
  for (Finding& finding : outcome.findings) finding.message = Cut(finding.message);
  return outcome;
}

void AddCodeFinding(const History& history, const NightInput& input, const FirstBadCommit& first_bad,
                    NightOutcome& outcome) {
  const CodeJudgement& code = *input.code;
  Finding finding;
  finding.time = input.time;
  finding.kernel = input.kernel;
  finding.key = input.key;
  finding.state = FindingState::kOpen;
  finding.cause = Cause::kCode;
  finding.commit = first_bad.commit;
  finding.subject = Cut(first_bad.subject);
  finding.from = input.reference->commit;
  finding.to = input.commit;
  finding.slice = input.slice;
  finding.anchor_slice = input.reference->slice;
  finding.case_name = code.worst_case;
  finding.log_ratio = code.log_ratio;
  finding.lower = code.lower;
  finding.upper = code.upper;
  finding.confirmed = first_bad.confirmed;
  finding.modelled = input.modelled;
  finding.message =
      fmt::format("{} more time than revision {} ({}{}{})", Percent(code.log_ratio),
                  input.reference->commit.substr(0, 12), input.modelled ? "modelled" : Interval(code.lower, code.upper),
                  code.worst_case.empty() ? "" : ", case ", code.worst_case);
  if (!first_bad.commit.empty()) finding.message += fmt::format(", since commit {}", first_bad.commit.substr(0, 12));
  if (first_bad.confirmed && first_bad.log_ratio > 0 &&
      std::abs(first_bad.log_ratio - code.log_ratio) > std::log(input.threshold))
    finding.message += fmt::format(", which alone costs {}", Percent(first_bad.log_ratio));
  if (!first_bad.note.empty()) finding.message += "; " + first_bad.note;
  finding.message = Cut(finding.message);
  // Without a first bad commit, the revision itself distinguishes two regressions.
  Finding identity = finding;
  identity.from.clear();
  identity.to = first_bad.commit.empty() ? input.slice : "";
  finding.id = IdOf(identity);

  const auto open = OpenCodeFinding(history, input.key);
  const bool known = open && open->id == finding.id;
  const bool worse = known && code.log_ratio > open->log_ratio + std::log(input.threshold);
  if (known) finding.state = worse ? FindingState::kChanged : FindingState::kOpen;
  if (known && !worse) finding.log_ratio = open->log_ratio;  // the reported value: small steps add up to a change
  if (open && !known) Close(history, input, true, FindingState::kRecovered, "another commit is slower now", outcome);
  outcome.verdict.finding = finding.id;
  outcome.findings.push_back(finding);
  if (!known || worse) outcome.reported.push_back(finding);
}

}  // namespace warpwright::nights

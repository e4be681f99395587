// A check run: the outcome for a kernel, on the commit that changed it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/utf8.h"
#include "report/body_sections.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/pull_request.h"

namespace warpwright::report {
namespace {

constexpr size_t kMaxNotes = 10;

std::string BestTried(const Explanation& e) {
  const AttemptRow* best = nullptr;
  for (const auto& attempt : e.attempts)
    if (attempt.gain && (best == nullptr || *attempt.gain > *best->gain)) best = &attempt;
  if (best == nullptr) return {};
  return fmt::format(" The best verified attempt, {}, was {} as fast as the original ({}).",
                     EscapeMarkdown(best->method, 60), FormatGain(*best->gain), EscapeMarkdown(DevicePhrase(e), 100));
}

std::string WhatHappened(const Explanation& e) {
  const std::string kernel = CodeSpan(e.kernel);
  switch (e.outcome) {
    case core::TaskOutcome::kUnchanged: return fmt::format("{} is unchanged after {}", kernel, Effort(e.counts));
    case core::TaskOutcome::kRefused: return kernel + " was not optimized";
    case core::TaskOutcome::kUnfinished: return kernel + " is not finished";
    default: return fmt::format("warpwright failed at {}, which says nothing about the kernel", kernel);
  }
}

std::string FailureSummary(const Explanation& e) {
  std::string out = WhatHappened(e);
  out += e.outcome_reason.empty() ? "." : ": " + Sentence(EscapeMarkdown(e.outcome_reason, 600));
  if (e.outcome == core::TaskOutcome::kUnchanged) out += BestTried(e);
  if (!e.remedy.empty()) out += "\n\n**Remedy:** " + Sentence(EscapeMarkdown(e.remedy, 600));
  return out + "\n";
}

// The line in "... (line 12)", as transformations and the judge write it; 0: none.
int LineIn(std::string_view message) {
  const size_t at = message.rfind("(line ");
  if (at == std::string_view::npos) return 0;
  int line = 0;
  const char* end = message.data() + message.size();
  const auto [stop, error] = std::from_chars(message.data() + at + 6, end, line);
  return error == std::errc() && stop != end && *stop == ')' && line > 0 ? line : 0;
}

std::vector<CheckText::Note> Notes(const Explanation& e) {
  std::vector<CheckText::Note> notes;
  for (const auto& hot : e.hot_before)
    notes.push_back({hot.line, fmt::format("{:.0f} % {}", 100 * hot.share, base::CleanText(hot.what, 100)),
                     fmt::format("{} spends {:.0f} % {} here, {}.", base::CleanText(e.kernel, 100), 100 * hot.share,
                                 base::CleanText(hot.what, 100), base::CleanText(DevicePhrase(e), 100))});
  std::set<std::pair<int, std::string>> said;
  for (const auto& attempt : e.attempts) {
    const int line = LineIn(attempt.message);
    // Line numbers of a later base do not apply to this file.
    if (line == 0 || attempt.gain || !e.original_hash.starts_with(attempt.parent) || attempt.parent.empty()) continue;
    if (!said.emplace(line, attempt.method).second || notes.size() >= kMaxNotes) continue;
    notes.push_back(
        {line, base::CleanText(attempt.method, 60) + " does not apply", base::CleanText(attempt.message, 500)});
  }
  return notes;
}

}  // namespace

CheckText RenderCheck(const Explanation& e, const Provenance& p) {
  CheckText check;
  check.notes = Notes(e);
  if (e.outcome == core::TaskOutcome::kImproved) {
    check.title = GainHeadline(e);
    check.summary = GainSentence(e, p) + "\n\n" + CaseTable(e, 40);
    check.text = FormulaSection(e.computes, 4000) + RenderSpeedupReasons(e, 8, 300) + RenderReviewHints(e, p, 10, 200);
    return check;
  }
  check.title = e.outcome == core::TaskOutcome::kUnchanged    ? "no improvement found"
                : e.outcome == core::TaskOutcome::kRefused    ? "not optimized"
                : e.outcome == core::TaskOutcome::kUnfinished ? "not finished"
                                                              : "warpwright failed";
  check.summary = FailureSummary(e);
  for (const auto& note : e.counter_notes) check.summary += "\n" + MissingCounters(note) + "\n";
  if (e.attempts.empty()) return check;
  check.text = "### What was tried\n\n" + AttemptTable(e, 40, 200);
  return check;
}

}  // namespace warpwright::report

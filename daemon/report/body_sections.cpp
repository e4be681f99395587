#include "report/body_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/shell.h"
#include "base/utf8.h"
#include "core/quantity.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/mermaid.h"

namespace warpwright::report {
namespace {

constexpr size_t kUntestedShown = 4;

std::string LeftOut(size_t count, std::string_view what, const Explanation& e) {
  if (count == 0) return {};
  return fmt::format("\n_{} more {}{} left out to keep this page readable; {} prints everything._\n", count, what,
                     count == 1 ? " is" : "s are", CodeSpan("warpwright show --kernel " + base::ShellWord(e.kernel)));
}

// Three columns, so that a phone shows all of them.
std::string CounterTable(const std::vector<CounterRow>& counters, bool modelled) {
  if (counters.empty()) return {};
  std::string out =
      fmt::format("\n   | counter{} | before → after | |\n   |:--|--:|:--|\n", modelled ? " (simulated)" : "");
  for (const CounterRow& c : counters) {
    const std::string_view unit = core::UnitOf(c.name);
    out += fmt::format("   | {} | {} | {} |\n", EscapeMarkdown(FieldWords(c.name), 60),
                       EscapeMarkdown(core::FormatQuantity(c.before, unit), 40) + " → " +
                           EscapeMarkdown(core::FormatQuantity(c.after, unit), 40),
                       Name(c.move));
  }
  return out;
}

std::string SpeedupCell(const CaseRow& row) {
  const std::string words = SpeedupWords(row);
  return IsSlower(row) ? "**" + words + "**" : words;
}

std::string Changes(const Provenance& p) {
  if (p.lines_added + p.lines_removed == 0) return {};
  return fmt::format(" (+{} −{})", p.lines_added, p.lines_removed);
}

// Only samples are time.
std::string HotList(const std::vector<HotLine>& lines, std::string_view when) {
  if (lines.empty()) return {};
  const bool time =
      !lines.front().what.starts_with("of the global memory") && !lines.front().what.starts_with("of the instructions");
  const std::string_view lead = time                                              ? "Where the time went"
                                : lines.front().what.starts_with("of the global") ? "Global memory traffic"
                                                                                  : "Instructions";
  std::string out;
  for (const auto& line : lines)
    out += fmt::format("{}line {}{} ({:.0f}\u00a0%{}{})", out.empty() ? "" : ", ", line.line,
                       line.text.empty() ? "" : " " + CodeSpan(base::CleanText(line.text, 60)), 100 * line.share,
                       time ? " " : "", time ? EscapeMarkdown(line.what, 60) : "");
  return fmt::format("- {} {}: {}.\n", lead, when, out);
}

std::string Ranges(const std::vector<LineRange>& ranges) {
  std::string out;
  for (size_t i = 0; i < ranges.size() && i < 6; ++i)
    out += (i == 0 ? "" : ", ") + (ranges[i].first == ranges[i].last
                                       ? fmt::format("{}", ranges[i].first)
                                       : fmt::format("{}–{}", ranges[i].first, ranges[i].last));
  if (ranges.size() > 6) out += fmt::format(" and {} more ranges", ranges.size() - 6);
  return out;
}

std::string CaseNames(const Explanation& e, bool compared) {
  std::string out;
  int more = 0;
  for (const auto& row : e.cases) {
    if (row.errors.empty() == compared) continue;
    if (out.size() > 120) ++more;
    else out += (out.empty() ? "" : ", ") + CodeSpan(base::CleanText(row.name, 60));
  }
  return more == 0 ? out : fmt::format("{} and {} more", out, more);
}

std::string Numerics(const Explanation& e) {
  const auto identical = BitIdentical(e);
  if (!identical) return {};
  if (*identical) return fmt::format("**Bit-identical** to the original on {}.", CaseNames(e, true));
  double share = 0;
  for (const auto& row : e.cases)
    for (const auto& error : row.errors)
      if (!error.identical && error.allowed > 0) share = std::max(share, error.error / error.allowed);
  return fmt::format("**Not bit-identical**: on {} the largest error is {:.0f} % of the allowed error.",
                     CaseNames(e, true), 100 * share);
}

std::string VerdictCell(const AttemptRow& attempt) {
  return attempt.accepted ? "**new base**" : EscapeMarkdown(VerdictWords(attempt), 40);
}

}  // namespace

std::string Folded(const std::string& title, const std::string& body) {
  return "<details>\n<summary>" + EscapeHtml(KeepUnits(title), 200) + "</summary>\n\n" + body + "\n</details>\n";
}

std::string GainSentence(const Explanation& e, const Provenance& p) {
  size_t counted = 0;
  for (const auto& row : e.cases) counted += row.weight > 0 ? 1 : 0;
  std::string out = fmt::format("**{} faster**, {}", FormatGain(e.gain), EscapeMarkdown(DevicePhrase(e), 100));
  if (e.before_us > 0) out += ": " + Breakable(FormatTimes({e.before_us, e.after_us}));
  std::vector<std::string> how;
  if (e.interval) how.push_back("95 % interval " + FormatInterval(*e.interval));
  if (counted > 1)
    how.push_back(fmt::format("{}geometric mean over {} shapes", WeightsDiffer(e) ? "weighted " : "", counted));
  if (!how.empty()) out += fmt::format(" ({})", fmt::join(how, ", "));
  out += fmt::format(". {}{}; callers of {} are unchanged.", CodeSpan(e.file), Changes(p), CodeSpan(e.entry));
  if (const std::string uncompared = NotCompared(e, CodeSpan); !uncompared.empty()) out += " **" + uncompared + "**";
  return out;
}

std::string ProgramNote(const Explanation& e) {
  size_t compared = 0;
  for (const auto& row : e.cases) compared += row.errors.empty() ? 0 : 1;
  const std::string checked =
      compared > 0 ? fmt::format("checked it against the original on {}", Plural(static_cast<int>(compared), "shape"))
                   : "checked it against the original";
  if (e.modelled)
    return fmt::format(
        "> [!NOTE]\n> Written by a program, which {}. **The times are modelled by a simulator of {}; no GPU ran this "
        "kernel.** It stays a draft until "
        "it is measured on a GPU.\n",
        checked, EscapeMarkdown(ChipName(e), 60));
  return fmt::format(
      "> [!NOTE]\n> Written by a program, which {} and measured both in pairs on {}. It has not been reviewed yet: "
      "please "
      "review it as you would "
      "any other change.\n",
      checked, EscapeMarkdown(e.chip_name, 60));
}

std::string CaseTable(const Explanation& e, size_t max_rows) {
  if (e.cases.empty()) return {};
  const bool errors = BitIdentical(e).has_value();
  std::string out = fmt::format("| shape | before\u00a0→ after | {} |{}\n|:--|--:|--:|{}\n", SpeedupHeading(e),
                                errors ? " max error / allowed |" : "", errors ? "--:|" : "");
  // Slower rows are never the ones that are omitted.
  std::vector<const CaseRow*> rows;
  for (const auto& row : e.cases) rows.push_back(&row);
  if (rows.size() > max_rows) {
    std::stable_partition(rows.begin(), rows.end(), [](const CaseRow* row) { return IsSlower(*row); });
    rows.resize(max_rows);
  }
  for (const CaseRow* row : rows) {
    out += fmt::format("| {}{}{} | {} | {} |{}\n", EscapeMarkdown(row->name, 80), WeightWords(e, *row), CaseMarks(*row),
                       Breakable(FormatTimes({row->before_us, row->after_us})), Breakable(SpeedupCell(*row)),
                       errors ? " " + Breakable(ErrorWords(*row)) + " |" : "");
  }
  if (const std::string notes = CaseNotes(rows); !notes.empty()) out += fmt::format("\n<sub>{}</sub>\n", notes);
  return out + LeftOut(e.cases.size() - rows.size(), "shape", e);
}

std::string RenderSpeedupReasons(const Explanation& e, size_t max_steps, size_t max_bytes) {
  std::string out = fmt::format("\n### {}\n\n", StepsHeading(e));
  if (e.carried) out += fmt::format("{}\n\n", CarriedNote(e));
  for (size_t i = 0; i < e.steps.size() && i < max_steps; ++i) {
    const TakenStep& step = e.steps[i];
    out += fmt::format("{}. {}{}{}: {}\n", i + 1, CodeSpan(step.method),
                       step.parameters.empty() ? "" : " (" + EscapeMarkdown(step.parameters, 80) + ")",
                       EscapeMarkdown(StepTimes(e, step)), EscapeMarkdown(CauseText(step), 3 * max_bytes));
    if (!step.does.empty()) out += fmt::format("   <br>What it does: {}.\n", EscapeMarkdown(step.does, max_bytes));
    out += CounterTable(step.counters, e.modelled);
  }
  out += LeftOut(e.steps.size() - std::min(e.steps.size(), max_steps), "step", e);
  std::string list;
  if (e.roofline_share_after > 0)
    list += fmt::format("- The kernel reached {} of the chip's roofline before and reaches {} {}.\n",
                        core::FormatQuantity(100 * e.roofline_share_before, "%"),
                        core::FormatQuantity(100 * e.roofline_share_after, "%"), e.modelled ? "now (modelled)" : "now");
  if (e.roofline_of_formula) list += "- " + RooflineOfFormula(e) + "\n";
  list += HotList(e.hot_before, "before") + HotList(e.hot_after, "now");
  return list.empty() ? out : out + "\n" + list;
}

std::string MissingCounters(const std::string& note) {
  return "**Counters are missing**: " + EscapeMarkdown(note, 160) + ".";
}

std::string RenderReviewHints(const Explanation& e, const Provenance& p, size_t max_items, size_t max_bytes) {
  std::vector<std::string> items;
  if (!p.changed.empty()) items.push_back(fmt::format("**Lines** {} of {}.", Ranges(p.changed), CodeSpan(e.file)));
  if (std::string numerics = Numerics(e); !numerics.empty()) items.push_back(std::move(numerics));
  for (const auto& note : e.counter_notes) items.push_back(MissingCounters(note));
  for (const auto& relaxation : e.relaxations)
    items.push_back("**Relaxed by the manifest**: " + CodeSpan(base::CleanText(relaxation, 100)) + ".");
  for (const auto& precondition : e.preconditions)
    items.push_back("**From now on**: " + Sentence(EscapeMarkdown(precondition, max_bytes)));
  for (const auto& review : e.review)
    items.push_back("**For the reviewer**: " + Sentence(EscapeMarkdown(review, max_bytes)));
  std::string untested = fmt::format("**Not tested**: chips other than {}", EscapeMarkdown(ChipName(e), 60));
  if (e.modelled) untested += ", and no real GPU";
  if (const std::string whole = CaseNames(e, false); !whole.empty() && BitIdentical(e))
    untested += fmt::format("; {} whole (too large{})", whole, ReducedShapesRan(e) ? ": smaller sizes of it were" : "");
  items.push_back(untested + ".");
  for (size_t i = 0; i < e.not_tested.size() && i < kUntestedShown; ++i)
    items.push_back("**Not tested**: " +
                    Sentence(EscapeMarkdown(e.not_tested[i], max_bytes) +
                             (i + 1 == kUntestedShown && e.not_tested.size() > kUntestedShown
                                  ? fmt::format(", and {} more of this kind", e.not_tested.size() - kUntestedShown)
                                  : "")));
  std::string out = "\n### What to review\n\n";
  for (size_t i = 0; i < items.size() && i < max_items; ++i) out += "- " + items[i] + "\n";
  return out + LeftOut(items.size() - std::min(items.size(), max_items), "point", e);
}

// What was faster in the search and is not proposed: a reader who sees it among the attempts would ask.
std::string NotAccepted(const Explanation& e) {
  constexpr size_t kShown = 3;
  std::string out;
  size_t shown = 0;
  for (const AttemptRow& a : e.attempts) {
    if (a.outcome != AttemptOutcome::kNotAccepted || ++shown > kShown) continue;
    out += fmt::format("- **Not proposed**: {}{}, {}.\n", CodeSpan(base::CleanText(a.method, 60)),
                       a.parameters.empty() ? "" : " (" + EscapeMarkdown(a.parameters, 80) + ")",
                       EscapeMarkdown(a.message, 400));
  }
  return out.empty() ? out : out + "\n";
}

std::string RenderSearchHistory(const Explanation& e, size_t max_rounds) {
  std::string out;
  if (max_rounds == 0) {
    out = "_The diagrams are left out to keep this page readable._\n";
  } else {
    if (const std::string chart = ProgressChart(e); !chart.empty()) out += chart;
    if (const std::string flowchart = AttemptFlowchart(e, max_rounds); !flowchart.empty())
      out += (out.empty() ? "" : "\n") + flowchart;
  }
  const std::string_view carried = e.carried ? "On the earlier commit.\n\n" : "";
  return fmt::format("\n### How it was found\n\n{}{}{}", carried, NotAccepted(e), Folded(SearchInOneLine(e), out));
}

std::string AttemptTable(const Explanation& e, size_t max_rows, size_t max_bytes) {
  if (e.attempts.empty() || max_rows == 0) return LeftOut(e.attempts.size(), "attempt", e);
  // Accepted attempts are kept, then the latest.
  std::vector<size_t> rows;
  size_t room = max_rows;
  for (size_t i = e.attempts.size(); i-- > 0;)
    if (e.attempts[i].accepted && room > 0) rows.push_back(i), --room;
  for (size_t i = e.attempts.size(); i-- > 0 && room > 0;)
    if (!e.attempts[i].accepted) rows.push_back(i), --room;
  std::sort(rows.begin(), rows.end());
  std::string out = fmt::format("| round | method | verdict | {} | note |\n|--:|:--|:--|--:|:--|\n",
                                e.modelled ? "gain, modelled" : "gain");
  std::string last;  // not every attempt is a row
  for (const size_t i : rows) {
    const AttemptRow& a = e.attempts[i];
    const std::string note = !last.empty() && a.message == last ? "as above" : EscapeMarkdown(a.message, max_bytes);
    last = a.message;
    out += fmt::format("| {} | {}{} | {} | {} | {} |\n", RoundCell(a), EscapeMarkdown(a.method, 60),
                       a.parameters.empty() ? "" : "<br>" + EscapeMarkdown(a.parameters, 80), VerdictCell(a),
                       a.gain ? FormatGain(*a.gain) : "", note);
  }
  return out + LeftOut(e.attempts.size() - rows.size(), "attempt", e);
}

std::string Trajectory(const Explanation& e, size_t max_plans, size_t max_rows, size_t max_bytes) {
  std::string body = fmt::format("The planner's explanation of why each method was tried; the outcomes were {}.\n\n",
                                 e.modelled ? "modelled" : "measured");
  const std::vector<std::string> plans = PlanLines(e);
  for (size_t i = 0; i < plans.size() && i < max_plans; ++i) body += "- " + EscapeMarkdown(plans[i], max_bytes) + "\n";
  body += LeftOut(plans.size() - std::min(plans.size(), max_plans), "plan", e);
  body += "\n" + AttemptTable(e, max_rows, 100);
  return Folded("Trajectory: " + Effort(e.counts), body);
}

std::string Verification(const Explanation& e, size_t max_items) {
  std::string ran, missing, body;
  size_t ran_count = 0, shown = 0;
  for (const auto& check : e.check_table) {
    ran_count += check.ran ? 1 : 0;
    if (shown++ >= max_items) continue;
    if (check.ran)
      ran += fmt::format("| {} | {} |\n", EscapeMarkdown(check.name, 40), EscapeMarkdown(check.meaning, 300));
    else missing += fmt::format("- {}: {}.\n", EscapeMarkdown(check.name, 40), EscapeMarkdown(check.why_not, 160));
  }
  if (!ran.empty()) body += "| check that ran | what it verifies |\n|:--|:--|\n" + ran;
  if (!missing.empty()) body += "\nNot run:\n\n" + missing;
  body += LeftOut(shown - std::min(shown, max_items), "check", e);
  std::string timing;
  for (size_t i = 0; i < e.cases.size() && i < max_items; ++i) {
    const CaseRow& row = e.cases[i];
    if (row.pairs == 0) continue;
    timing +=
        fmt::format("- {}: {} pairs, {} discarded for clocks; from warm caches {}.\n", EscapeMarkdown(row.name, 60),
                    row.pairs, row.discarded, FormatTimes({row.hot_before_us, row.hot_after_us}));
  }
  for (const auto& note : e.timing_notes) timing += "- " + EscapeMarkdown(note, 200) + ".\n";
  if (!timing.empty()) body += "\nTiming in pairs, in random order, on fresh inputs, from cold caches:\n\n" + timing;
  if (!e.predictions.empty()) {
    int held = 0;
    for (const auto& prediction : e.predictions) held += prediction.held ? 1 : 0;
    body += fmt::format(
        "\nOf {} that the planner made, {} held.\n",
        Plural(static_cast<int>(e.predictions.size()), "prediction of a counter", "predictions of counters"), held);
  }
  const std::string title = e.check_table.empty() ? "Verification"
                                                  : fmt::format("Verification: {} of {} checks ran and passed",
                                                                ran_count, e.check_table.size());
  return Folded(title, body);
}

std::string Reproduction(const Explanation& e, const Provenance& p) {
  const std::string branch = p.branch.empty() ? "warpwright/" + e.kernel : p.branch,
                    base = e.base_commit.empty() ? "BASE" : e.base_commit.substr(0, 12);
  const std::string command = fmt::format(
      "git fetch origin {} &&\n  git checkout {} &&\n  git checkout FETCH_HEAD -- {} &&\n  warpwright verify --kernel "
      "{} --device {}\n",
      base::ShellWord(base::CleanText(branch, 200)), base::ShellWord(base),
      base::ShellWord(base::CleanText(e.file, 300)), base::ShellWord(base::CleanText(e.kernel, 100)),
      base::ShellWord(base::CleanText(e.device, 60)));
  return Folded("Reproduce it with one command", CodeBlock(command, "sh"));
}

std::string CostAndProvenance(const Explanation& e, const Provenance& p) {
  std::string rows;
  const auto row = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) rows += fmt::format("| {} | {} |\n", name, value);
  };
  const auto code = [](const std::string& text, size_t bytes) {
    return text.empty() ? std::string() : CodeCell(base::CleanText(text, bytes));
  };
  row("effort", fmt::format("{}, {:.0f} s of judging", Effort(e.counts), e.seconds));
  row("GPU time", e.modelled          ? "none: modelled"
                  : p.gpu_minutes > 0 ? fmt::format("{:.1f} minutes", p.gpu_minutes)
                                      : "");
  row("language model", EscapeMarkdown(ModelCostText(e.models), 300));
  row("device", EscapeMarkdown(e.device, 60) + (p.device_uuid.empty() ? "" : ", " + code(p.device_uuid, 60)));
  row("driver", EscapeMarkdown(p.driver, 60));
  row("toolchain", EscapeMarkdown(e.toolchain, 100));
  row("warpwright", EscapeMarkdown(e.version, 40));
  row("base", code(e.base_commit.substr(0, 12), 40) + (p.base_branch.empty() ? "" : " of " + code(p.base_branch, 100)));
  row("original, result", code(e.original_hash.substr(0, 10), 20) + ", " + code(e.result_hash.substr(0, 10), 20));
  row("run", code(p.run_id.empty() ? e.run_id : p.run_id, 60));
  if (const std::string url = SafeUrl(p.details_url); !url.empty()) row("details", "<" + url + ">");
  return Folded("Cost and provenance", "| | |\n|:--|:--|\n" + rows);
}

}  // namespace warpwright::report

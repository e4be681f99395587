// For a terminal: plain text in columns, without any markup.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "core/quantity.h"
#include "report/explanation.h"
#include "report/format.h"

namespace warpwright::report {
namespace {

constexpr size_t kPlainMessage = 160;  // bytes of a message in a table
constexpr size_t kColumns = 100;       // of running text

// Columns as wide as their widest cell; all but the first and the last are numbers or short words, aligned right.
std::string Columns(const std::vector<std::vector<std::string>>& rows, size_t left_columns = 1) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], base::CodePoints(row[i]));
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - base::CodePoints(row[i]), ' ');
      const bool left = i < left_columns || i + 1 == row.size();
      line += " " + (left ? row[i] + fill : fill + row[i]) + " ";
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string Plain(const std::string& text, size_t bytes = kPlainMessage) { return base::CleanText(text, bytes); }

std::string PlainHeadline(const Explanation& e) {
  std::string out = Plain(e.kernel, 200) + ": ";
  if (e.outcome == core::TaskOutcome::kImproved) {
    out += GainHeadline(e);
  } else if (e.outcome == core::TaskOutcome::kUnchanged) {
    out += "no improvement found";
  } else {
    out += Name(e.outcome);
  }
  return out + "\n" + Plain(e.entry, 200) + " in " + Plain(e.file, 400) + ", " + Plain(e.device) + "\n";
}

std::string PlainCases(const Explanation& e) {
  if (e.cases.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"shape", "before", "after", e.modelled ? "modelled speedup" : "speedup", "max error / allowed"}};
  for (const CaseRow& c : e.cases)
    rows.push_back({Plain(c.name, 60) + WeightWords(e, c) + (c.weight > 0 ? "" : " (checked only)"),
                    FormatMicroseconds(c.before_us), FormatMicroseconds(c.after_us), SpeedupWords(c), ErrorWords(c)});
  return "\n" + Columns(rows);
}

std::string PlainSteps(const Explanation& e) {
  if (e.steps.empty()) return {};
  std::string out = "\nWhy it is faster\n";
  for (size_t i = 0; i < e.steps.size(); ++i) {
    const TakenStep& step = e.steps[i];
    const std::string parameters = step.parameters.empty() ? "" : " (" + Plain(step.parameters) + ")";
    out += Wrap(fmt::format("{}. {}{}{}: {}", i + 1, Plain(step.method), parameters, StepTimes(e, step),
                            Plain(CauseText(step), 2000)),
                kColumns, "  ", "     ");
    if (!step.does.empty()) out += Wrap("What it does: " + Plain(step.does, 600) + ".", kColumns, "     ", "     ");
    std::vector<std::vector<std::string>> rows;
    for (const CounterRow& c : step.counters)
      rows.push_back({"   " + FieldWords(c.name), core::FormatQuantity(c.before, core::UnitOf(c.name)),
                      core::FormatQuantity(c.after, core::UnitOf(c.name)), std::string(Name(c.move))});
    out += Columns(rows);
  }
  return out;
}

std::string PlainAttempts(const Explanation& e) {
  if (e.attempts.empty()) return {};
  std::string out = fmt::format("\nWhat was tried: {}, {:.1f} s\n", Effort(e.counts), e.seconds);
  for (const std::string& plan : e.plans) out += Wrap(Plain(PlanWords(plan), 900), kColumns, "  ", "    ");
  std::vector<std::vector<std::string>> rows = {{"method", "round", "gain", "result", "note"}};
  for (size_t i = 0; i < e.attempts.size(); ++i) {
    const AttemptRow& a = e.attempts[i];
    rows.push_back({Plain(a.method, 60) + (a.parameters.empty() ? "" : " " + Plain(a.parameters, 80)), RoundCell(a),
                    a.gain ? FormatGain(*a.gain) : "", VerdictWords(a), Plain(std::string(NoteOf(e.attempts, i)))});
  }
  return out + "\n" + Columns(rows);
}

std::string PlainConversation(const Explanation& e) {
  if (e.conversation.empty()) return {};
  std::string out = "\nWhat language models were asked\n";
  for (const std::string& line : e.conversation) out += "  " + Plain(line, 400) + "\n";
  return out;
}

std::string PlainChecks(const Explanation& e) {
  std::string out;
  if (!e.checks.empty())
    out += "\nVerified\n" + Wrap(Plain(fmt::format("{}", fmt::join(e.checks, ", ")), 2000), kColumns, "  ", "  ");
  const auto list = [&](std::string_view title, const std::vector<std::string>& items) {
    if (!items.empty()) out += fmt::format("\n{}\n", title);
    for (const std::string& item : items) out += Wrap("- " + Plain(item, 400), kColumns, "  ", "    ");
  };
  list("For the reviewer", e.review);
  list("Not tested", e.not_tested);
  return out;
}

std::string PlainFormula(const Explanation& e) {
  if (!e.computes) return {};
  if (const std::string why_not = WhyNoFormula(*e.computes); !why_not.empty())
    return "\n" + Plain(why_not, 600) + ".\n";
  return "\nWhat it computes\n" + base::CleanText(FormulaPlain(*e.computes, 4000), 5000, true);
}

}  // namespace

std::string RenderText(const Explanation& e) {
  if (e.models.questions > 0) out += Wrap(Plain(ModelCostText(e.models), 400), kColumns, "  ", "    ");
  std::string out = PlainHeadline(e);
  if (!e.outcome_reason.empty()) out += Plain(e.outcome_reason, 2000) + "\n";
  for (const auto& note : e.counter_notes) out += "Counters are missing: " + Plain(note, 400) + ".\n";
  out += PlainFormula(e) + PlainCases(e) + PlainSteps(e) + PlainAttempts(e) + PlainConversation(e) + PlainChecks(e);
  if (!e.reproduce.empty()) {
    out += "\nReproduce\n";
    for (const auto& line : e.reproduce) out += "  " + Plain(line, 600) + "\n";
  }
  return out;
}

}  // namespace warpwright::report

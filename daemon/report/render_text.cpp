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
constexpr size_t kLeastColumns = 40;   // below it nothing is readable

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

std::string PlainCases(const Explanation& e, size_t columns) {
  if (e.cases.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"shape", "before", "after", std::string(SpeedupHeading(e)), "max error / allowed"}};
  for (const CaseRow& c : e.cases)
    rows.push_back({Plain(c.name, 60) + WeightWords(e, c) + (c.weight > 0 ? "" : " (checked only)"),
                    FormatMicroseconds(c.before_us), FormatMicroseconds(c.after_us), SpeedupWords(c), ErrorWords(c)});
  const std::string uncompared = PlainNotCompared(e);
  return "\n" + Columns(rows) + (uncompared.empty() ? "" : Wrap(uncompared, columns, "  ", "  "));
}

std::string PlainSteps(const Explanation& e, size_t columns) {
  if (e.steps.empty()) return {};
  std::string out = fmt::format("\n{}\n", StepsHeading(e));
  if (e.carried) out += Wrap(std::string(CarriedNote(e)), columns, "  ", "  ");
  for (size_t i = 0; i < e.steps.size(); ++i) {
    const TakenStep& step = e.steps[i];
    const std::string parameters = step.parameters.empty() ? "" : " (" + Plain(step.parameters) + ")";
    out += Wrap(fmt::format("{}. {}{}{}: {}", i + 1, Plain(step.method), parameters, StepTimes(e, step),
                            Plain(CauseText(step), 2000)),
                columns, "  ", "     ");
    if (!step.does.empty()) out += Wrap("What it does: " + Plain(step.does, 600) + ".", columns, "     ", "     ");
    std::vector<std::vector<std::string>> rows;
    for (const CounterRow& c : step.counters)
      rows.push_back({"   " + FieldWords(c.name), core::FormatQuantity(c.before, core::UnitOf(c.name)),
                      core::FormatQuantity(c.after, core::UnitOf(c.name)), std::string(Name(c.move))});
    out += Columns(rows);
  }
  return out;
}

// What came of an attempt; of one with a gain, the list of steps says what it does.
std::string ResultLine(const std::vector<AttemptRow>& attempts, size_t index) {
  const AttemptRow& a = attempts[index];
  std::string line = (a.gain ? FormatGain(*a.gain) + ", " : "") + VerdictWords(a);
  const std::string note = a.gain ? "" : Plain(std::string(NoteOf(attempts, index)), 400);
  return note.empty() ? line : line + (line.empty() ? "" : ": ") + note;
}

// A line for each attempt, below its round and method.
std::string PlainAttempts(const Explanation& e, size_t columns) {
  if (e.attempts.empty()) return {};
  std::string out = "\n" + Wrap(fmt::format("What was tried: {}, {:.1f} s of judging", Effort(e.counts), e.seconds),
                                columns, "", "  ");
  for (const std::string& plan : PlanLines(e)) out += Wrap(Plain(plan, 900), columns, "  ", "    ");
  size_t widest = 0;
  for (const AttemptRow& a : e.attempts) widest = std::max(widest, base::CodePoints(Plain(a.parameters, 80)));
  const size_t wide = std::min(widest, columns / 2);
  std::string group;
  for (size_t i = 0; i < e.attempts.size(); ++i) {
    const AttemptRow& a = e.attempts[i];
    const std::string round = a.round == kNoRound ? ""
                              : a.round == 0      ? "from experience, "
                                                  : fmt::format("round {}, ", a.round);
    if (const std::string head = round + Plain(a.method, 60); head != group) {
      group = head;
      out += "\n  " + head + "\n";
    }
    // Settings that are longer than most stand above their result.
    std::string settings = a.parameters.empty() ? "" : Plain(a.parameters, 80);
    if (base::CodePoints(settings) > wide) {
      out += "    " + settings + "\n";
      settings.clear();
    }
    const std::string indent(6 + wide, ' ');
    out += Wrap(ResultLine(e.attempts, i), columns, "    " + settings + indent.substr(4 + base::CodePoints(settings)),
                indent);
  }
  return out;
}

std::string PlainConversation(const Explanation& e, size_t columns) {
  if (e.conversation.empty()) return {};
  std::string out = "\nWhat language models were asked\n";
  if (e.models.questions > 0) out += Wrap(Plain(ModelCostText(e.models), 400), columns, "  ", "    ");
  for (const std::string& line : e.conversation) out += "  " + Plain(line, 400) + "\n";
  return out;
}

std::string PlainChecks(const Explanation& e, size_t columns) {
  std::string out;
  if (!e.checks.empty())
    out += "\nVerified\n" + Wrap(Plain(fmt::format("{}", fmt::join(e.checks, ", ")), 2000), columns, "  ", "  ");
  const auto list = [&](std::string_view title, const std::vector<std::string>& items) {
    if (!items.empty()) out += fmt::format("\n{}\n", title);
    for (const std::string& item : items) out += Wrap("- " + Plain(item, 400), columns, "  ", "    ");
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

std::string RenderText(const Explanation& e, size_t columns) {
  columns = std::max(columns, kLeastColumns);
  std::string out = PlainHeadline(e);
  if (!e.outcome_reason.empty()) out += Wrap(Plain(e.outcome_reason, 2000), columns, "", "");
  for (const auto& note : e.counter_notes) out += "Counters are missing: " + Plain(note, 400) + ".\n";
  out += PlainFormula(e) + PlainCases(e, columns) + PlainSteps(e, columns) + PlainAttempts(e, columns) +
         PlainConversation(e, columns) + PlainChecks(e, columns);
  if (!e.reproduce.empty()) {
    out += "\nReproduce\n";
    for (const auto& line : e.reproduce) out += "  " + Plain(line, 600) + "\n";
  }
  return out;
}

}  // namespace warpwright::report

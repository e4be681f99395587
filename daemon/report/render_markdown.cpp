#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/quantity.h"
#include "report/body_sections.h"
#include "report/explanation.h"
#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::report {
namespace {

std::string Headline(const Explanation& e) {
  if (e.outcome == core::TaskOutcome::kImproved) return e.kernel + ": " + GainHeadline(e);
  if (e.outcome == core::TaskOutcome::kUnchanged) return fmt::format("{}: no improvement found", e.kernel);
  return fmt::format("{}: {}", e.kernel, Name(e.outcome));
}

void Computes(std::string& out, const Explanation& e) {
  if (!e.computes) return;
  if (const std::string why_not = WhyNoFormula(*e.computes); !why_not.empty())
    out += "\n" + EscapeMarkdown(why_not, 600) + ".\n";
  else out += "\n## What it computes\n\n" + FormulaMarkdown(*e.computes, FormulaStyle::kText);
}

void Cases(std::string& out, const Explanation& e) {
  if (e.cases.empty()) return;
  out += "\n## Cases\n\nTimes are " + EscapeMarkdown(DevicePhrase(e)) + ".\n\n";
  out += CaseTable(e, e.cases.size());
  if (const std::string uncompared = NotCompared(e, CodeSpan); !uncompared.empty()) out += "\n**" + uncompared + "**\n";
}

std::string PlanList(const Explanation& e) {
  std::string out;
  for (const std::string& plan : PlanLines(e)) out += "- " + EscapeMarkdown(plan, 900) + "\n";
  return out.empty() ? out : out + "\n";
}

void Attempts(std::string& out, const Explanation& e) {
  if (e.attempts.empty()) return;
  out += fmt::format(
      "\n## What was tried\n\n{}, {:.1f} s of judging.\n\n"
      "{}| round | method | result | gain | note |\n|---:|---|---|---:|---|\n",
      Effort(e.counts), e.seconds, PlanList(e));
  for (size_t i = 0; i < e.attempts.size(); ++i) {
    const AttemptRow& a = e.attempts[i];
    const std::string by = WriterOf(a), method = a.method + (a.parameters.empty() ? "" : " (" + a.parameters + ")") +
                                                 (by.empty() ? "" : ", by the " + by);
    const std::string result = a.accepted ? "**new base**" : EscapeMarkdown(VerdictWords(a));
    out += fmt::format("| {} | {} | {} | {} | {} |\n", RoundCell(a), EscapeMarkdown(method), result,
                       a.gain ? FormatGain(*a.gain) : "", EscapeMarkdown(NoteOf(e.attempts, i), 300));
  }
}

void Predictions(std::string& out, const Explanation& e) {
  if (e.predictions.empty()) return;
  out += "\n## Predicted and measured\n\n| evidence | predicted | before | after | held |\n|---|---|---:|---:|---|\n";
  for (const auto& p : e.predictions)
    out += fmt::format("| {} | {} | {} | {} | {} |\n", EscapeMarkdown(FieldWords(p.field)),
                       p.direction < 0 ? "falls" : "rises", core::FormatQuantity(p.before, core::UnitOf(p.field)),
                       core::FormatQuantity(p.after, core::UnitOf(p.field)), p.held ? "yes" : "no");
}

void Lists(std::string& out, const Explanation& e) {
  const auto list = [&](std::string_view title, const std::vector<std::string>& items) {
    if (!items.empty()) out += fmt::format("\n## {}\n\n", title);
    for (const auto& item : items) out += "- " + EscapeMarkdown(item) + "\n";
  };
  if (!e.checks.empty())
    out += "\n## What was verified\n\n" + EscapeMarkdown(fmt::format("{}", fmt::join(e.checks, ", ")), 2000) + ".\n";
  list("For the reviewer", e.review);
  list("What was not tested", e.not_tested);
  if (!e.reproduce.empty()) {
    std::string commands;
    for (const auto& line : e.reproduce) commands += line + "\n";
    out += "\n## Reproduce\n\n" + CodeBlock(commands, "sh");
  }
  out += fmt::format(
      "\n## Provenance\n\nBase commit {}; original {}; result {}; warpwright {}; {}. A program wrote and checked this "
      "change; please review it as you would any other.\n",
      CodeSpan(e.base_commit.substr(0, 12)), CodeSpan(e.original_hash.substr(0, 10)),
      CodeSpan(e.result_hash.substr(0, 10)), EscapeMarkdown(e.version), EscapeMarkdown(e.toolchain));
}

}  // namespace

std::string DevicePhrase(const Explanation& e) {
  std::string chip = e.chip_name;
  if (chip.rfind("NVIDIA ", 0) == 0) chip = chip.substr(7);
  return e.modelled ? "modelled on " + chip + " (simulated)" : "measured on " + e.chip_name;
}

std::string FormatGain(double gain) { return core::FormatGain(gain); }

std::string ModelCostText(const ModelUse& use) {
  if (use.questions == 0) return "none was used";
  std::string text = fmt::format("{}{}{}, ", fmt::join(use.names, ", "), use.names.empty() ? "" : ", ",
                                 Plural(use.questions, "question"));
  if (use.unknown == use.questions) return text + "cost unknown";
  if (use.unknown > 0)
    return text + fmt::format("${:.2f} and {} of unknown cost", use.dollars, Plural(use.unknown, "answer"));
  if (use.dollars == 0) return text + "at no cost";
  text += fmt::format("${:.2f}", use.dollars);
  if (use.gains == 1) return text + " for the version that was taken";
  return use.gains == 0 ? text
                        : text + fmt::format(" (${:.2f} for each of {} versions that were taken)",
                                             use.dollars / use.gains, use.gains);
}

std::string RenderMarkdown(const Explanation& e) {
  std::string out = "# " + EscapeMarkdown(Headline(e)) + "\n\n";
  out += fmt::format("Entry {} in {}, device {}.", CodeSpan(e.entry), CodeSpan(e.file), CodeSpan(e.device));
  if (!e.outcome_reason.empty()) out += " " + EscapeMarkdown(e.outcome_reason);
  out += "\n";
  for (const auto& note : e.counter_notes) out += "\nCounters are missing: " + EscapeMarkdown(note) + ".\n";
  Computes(out, e);
  Cases(out, e);
  if (!e.steps.empty()) out += RenderSpeedupReasons(e, e.steps.size(), 1000);
  Predictions(out, e);
  Attempts(out, e);
  Lists(out, e);
  return out;
}

}  // namespace warpwright::report

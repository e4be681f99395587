#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/utf8.h"
#include "repo/repository.h"
#include "report/explanation.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/pull_request.h"

namespace warpwright::report {
namespace {

std::string Headline(const Explanation& e) {
  if (e.outcome == core::TaskOutcome::kImproved)
    return fmt::format("{}: {} faster, {}", e.kernel, FormatGain(e.gain), DevicePhrase(e));
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
  out += fmt::format("\n## Cases\n\nTimes are {}.\n\n| case | before | after | gain |\n|---|---:|---:|---:|\n",
                     e.modelled ? "modelled by the simulator, not measured" : "measured");
  for (const auto& c : e.cases)
    out += fmt::format("| {}{} | {} | {} | {} |\n", EscapeMarkdown(c.name),
                       c.sampled ? " (counters from part of the grid)" : "", FormatMicroseconds(c.before_us),
                       FormatMicroseconds(c.after_us), c.after_us > 0 ? FormatGain(c.before_us / c.after_us) : "");
}

void Why(std::string& out, const Explanation& e) {
  if (e.steps.empty() && e.counters.empty()) return;
  out += "\n## Why\n\n";
  for (const auto& step : e.steps) out += "- " + EscapeMarkdown(step) + "\n";
  if (e.roofline_share_after > 0)
    out += fmt::format("- Share of the roofline: {:.0f} % before, {:.0f} % after.\n", 100 * e.roofline_share_before,
                       100 * e.roofline_share_after);
  if (e.roofline_of_formula) out += "- " + RooflineOfFormula(e) + "\n";
  if (e.counters.empty()) return;
  out += "\n| counter of the hottest kernel | before | after | change |\n|---|---:|---:|---:|\n";
  for (const auto& c : e.counters)
    out += fmt::format("| {}{} | {} | {} | {} |\n", EscapeMarkdown(c.name),
                       c.unit.empty() ? "" : ", " + EscapeMarkdown(c.unit), FormatNumber(c.before),
                       FormatNumber(c.after), FormatChange(c.before, c.after));
}

std::string PlanList(const Explanation& e) {
  std::string out;
  for (const auto& plan : e.plans) out += "- " + EscapeMarkdown(plan, 900) + "\n";
  return out.empty() ? out : out + "\n";
}

void Attempts(std::string& out, const Explanation& e) {
  if (e.attempts.empty()) return;
  out += fmt::format(
      "\n## What was tried\n\n{} rounds, {} evaluations, {:.1f} s.\n\n"
      "{}| round | method | result | gain | note |\n|---:|---|---|---:|---|\n",
      e.rounds, e.evaluations, e.seconds, PlanList(e));
  for (const auto& a : e.attempts) {
    const std::string method = a.method + (a.parameters.empty() ? "" : " (" + a.parameters + ")");
    const std::string result = a.accepted ? "**new base**"
                               : a.gain   ? "verified, not taken"
                                          : EscapeMarkdown(Name(a.outcome));
    out += fmt::format("| {} | {} | {} | {} | {} |\n", a.round, EscapeMarkdown(method), result,
                       a.gain ? FormatGain(*a.gain) : "", EscapeMarkdown(a.message, 300));
  }
}

void Predictions(std::string& out, const Explanation& e) {
  if (e.predictions.empty()) return;
  out += "\n## Predicted and measured\n\n| evidence | predicted | before | after | held |\n|---|---|---:|---:|---|\n";
  for (const auto& p : e.predictions)
    out += fmt::format("| {} | {} | {} | {} | {} |\n", EscapeMarkdown(p.field), p.direction < 0 ? "falls" : "rises",
                       FormatNumber(p.before), FormatNumber(p.after), p.held ? "yes" : "no");
}

void Lists(std::string& out, const Explanation& e) {
  if (!e.checks.empty()) {
    out += "\n## What was verified\n\n";
    for (const auto& check : e.checks) out += "- " + EscapeMarkdown(check) + "\n";
  }
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

// Plain text at most `width` columns wide; list items keep their indentation.
std::string Wrap(const std::string& text, size_t width, const std::string& indent) {
  std::istringstream words(text);
  std::string out, line, word;
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return out + line + "\n";
}

// Forges interpret commit messages: @name, #1 and GH-1 link and close, "[skip ci]" stops checks.
std::string OneLine(std::string_view text) {
  const std::string clean = base::CleanText(text, 2000);
  std::string out, lower;
  for (const char c : clean) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto starts = [&](size_t at, std::string_view word) { return lower.compare(at, word.size(), word) == 0; };
  for (size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    const bool command =
        c == '[' && (starts(i, "[skip") || starts(i, "[ci") || starts(i, "[no ci") || starts(i, "[actions"));
    out += command ? '(' : c;
    const bool before_digit = i + 1 < clean.size() && clean[i + 1] >= '0' && clean[i + 1] <= '9';
    const bool issue = before_digit && (c == '#' || (c == '-' && i >= 2 && starts(i - 2, "gh-")));
    if (c == '@' || issue || starts(i, "://")) out += ' ';
  }
  return out;
}

// A word that can only be the value of a trailer.
std::string TrailerValue(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.:/<>-").find(c) != std::string_view::npos;
    out += plain ? c : '_';
  }
  return out;
}

std::string Trailers(const Explanation& e) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{}: {}\n", name, TrailerValue(value));
  };
  add("Kernel-Id", e.kernel);
  add("Base-Blob", e.base_blob);
  add("Base-commit", e.base_commit);
  add("Run-Id", e.run_id);
  return out + std::string(repo::Repository::kTrailer) + "\n";
}

}  // namespace

std::string DevicePhrase(const Explanation& e) {
  std::string chip = e.chip_name;
  if (chip.rfind("NVIDIA ", 0) == 0) chip = chip.substr(7);
  return e.modelled ? "modelled on " + chip + " (simulated)" : "measured on " + e.chip_name;
}

std::string FormatGain(double gain) { return gain >= 10 ? fmt::format("{:.1f}x", gain) : fmt::format("{:.2f}x", gain); }

std::string RenderMarkdown(const Explanation& e) {
  std::string out = "# " + EscapeMarkdown(Headline(e)) + "\n\n";
  out += fmt::format("Entry {} in {}, device {}.", CodeSpan(e.entry), CodeSpan(e.file), CodeSpan(e.device));
  if (!e.outcome_reason.empty()) out += " " + EscapeMarkdown(e.outcome_reason);
  out += "\n";
  for (const auto& note : e.counter_notes) out += "\nCounters are missing: " + EscapeMarkdown(note) + ".\n";
  Computes(out, e);
  Cases(out, e);
  Why(out, e);
  Predictions(out, e);
  Attempts(out, e);
  Lists(out, e);
  return out;
}

namespace {

constexpr std::string_view kCut = "\nThis message was cut.\n";

// As many of the first lines as fit.
std::string WholeLines(const std::string& text, size_t characters) {
  if (base::CodePoints(text) <= characters) return text;
  std::string out;
  size_t used = 0;
  for (size_t at = 0; at < text.size();) {
    const std::string line = text.substr(at, text.find('\n', at) - at + 1);
    used += base::CodePoints(line);
    if (used > characters) break;
    out += line;
    at += line.size();
  }
  return out + std::string(kCut);
}

}  // namespace

std::string RenderCommitMessage(const Explanation& e) {
  constexpr size_t kWidth = 72;
  std::string subject = fmt::format("{}: {} faster ({})", e.kernel, FormatGain(e.gain), DevicePhrase(e));
  if (subject.size() > kWidth)
    subject = fmt::format("{}: {} faster ({})", e.kernel, FormatGain(e.gain), e.modelled ? "modelled" : "measured");
  if (subject.size() > kWidth) subject = fmt::format("Make {} {} faster", e.kernel.substr(0, 50), FormatGain(e.gain));
  std::string out = OneLine(subject) + "\n\n";
  out += Wrap(OneLine(fmt::format("The entry {} in {} is {} faster over its cases, {}.", e.entry, e.file,
                                  FormatGain(e.gain), DevicePhrase(e))),
              kWidth, "");
  std::istringstream formula(e.computes ? FormulaPlain(*e.computes, 1500) : std::string());
  std::string formula_lines;
  for (std::string line; std::getline(formula, line);)
    formula_lines += "  " + Wrap(OneLine(line), kWidth - 2, "      ");
  if (!formula_lines.empty()) out += "\nWhat it computes:\n" + formula_lines;
  out += "\nWhy:\n";
  for (const auto& step : e.steps) out += Wrap("- " + OneLine(step), kWidth, "  ");
  if (!e.counters.empty()) {
    out += "\nCounters of the hottest kernel, before -> after:\n";
    for (const auto& c : e.counters)
      out += fmt::format("  {}: {} -> {}{}\n", OneLine(c.name), FormatNumber(c.before), FormatNumber(c.after),
                         c.unit.empty() ? "" : " " + c.unit);
  }
  out += "\nCases, before -> after:\n";
  for (const auto& c : e.cases)
    out += fmt::format("  {}: {} -> {}\n", OneLine(c.name), FormatMicroseconds(c.before_us),
                       FormatMicroseconds(c.after_us));
  out += "\nVerified:\n";
  for (const auto& check : e.checks) out += Wrap("- " + OneLine(check), kWidth, "  ");
  out += "\nReproduce:\n";
  for (const auto& line : e.reproduce) out += "  " + OneLine(line) + "\n";
  const std::string end = fmt::format("\n{}, {}. A program wrote and checked this change.\n\n{}",
                                      Plural(e.rounds, "round"), Plural(e.evaluations, "evaluation"), Trailers(e));
  return WholeLines(out, kMaxBodyCharacters - base::CodePoints(end) - kCut.size()) + end;
}

}  // namespace warpwright::report

// The message of a commit: a subject of at most 72 columns, a wrapped body, trailers.
#include <fmt/format.h>

#include <sstream>

#include "base/utf8.h"
#include "core/quantity.h"
#include "repo/repository.h"
#include "report/explanation.h"
#include "report/format.h"
#include "report/pull_request.h"

namespace warpwright::report {
namespace {

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

constexpr size_t kWidth = 72;
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

std::string Wrapped(const std::string& text, const std::string& first_indent, const std::string& indent) {
  return Wrap(OneLine(text), kWidth, first_indent, indent);
}

std::string Computes(const Explanation& e) {
  std::istringstream formula(e.computes ? FormulaPlain(*e.computes, 1500) : std::string());
  std::string lines;
  for (std::string line; std::getline(formula, line);) lines += Wrapped(line, "  ", "      ");
  return lines.empty() ? lines : "\nWhat it computes:\n" + lines;
}

std::string Reasons(const Explanation& e) {
  std::string out = "\nWhy:\n";
  if (e.carried) out += Wrapped(std::string(CarriedNote(e)), "", "");
  for (const TakenStep& step : e.steps) {
    const std::string parameters = step.parameters.empty() ? "" : " (" + step.parameters + ")";
    out += Wrapped(fmt::format("- {}{}{}: {}", step.method, parameters, StepTimes(e, step), CauseText(step)), "", "  ");
    if (!step.does.empty()) out += Wrapped("What it does: " + step.does + ".", "  ", "  ");
    if (!step.counters.empty()) out += "  Counters, before → after:\n";
    for (const CounterRow& c : step.counters)
      out += fmt::format("    {}: {} → {}, {}\n", OneLine(FieldWords(c.name)),
                         core::FormatQuantity(c.before, core::UnitOf(c.name)),
                         core::FormatQuantity(c.after, core::UnitOf(c.name)), Name(c.move));
  }
  return out;
}

std::string Cases(const Explanation& e) {
  std::string out = "\nCases, before → after:\n";
  for (const CaseRow& c : e.cases)
    out += fmt::format("  {}: {}{}{}\n", OneLine(c.name), FormatTimes({c.before_us, c.after_us}),
                       IsSlower(c) ? ", slower" : "", c.weight > 0 ? "" : " (checked, not part of the gain)");
  return out;
}

std::string Checks(const Explanation& e) {
  std::string out = Wrapped(fmt::format("Verified: {}.", fmt::join(e.checks, ", ")), "\n", "  ");
  for (const std::string& review : e.review) out += Wrapped("- For the reviewer: " + review, "", "  ");
  for (const std::string& not_tested : e.not_tested) out += Wrapped("- Not tested: " + not_tested, "", "  ");
  return out;
}

}  // namespace

std::string RenderCommitMessage(const Explanation& e) {
  std::string out = OneLine(ChangeTitle(e)) + "\n\n";
  out += Wrapped(fmt::format("The entry {} in {} is {} faster over its cases.", e.entry, e.file, FormatGain(e.gain)),
                 "", "");
  out += OneLine("Its times are " + DevicePhrase(e)) + ".\n";
  if (const std::string uncompared = PlainNotCompared(e); !uncompared.empty()) out += Wrapped(uncompared, "", "");
  out += Computes(e) + Reasons(e) + Cases(e) + Checks(e) + "\nReproduce:\n";
  for (const auto& line : e.reproduce) out += "  " + OneLine(line) + "\n";
  const std::string end =
      Wrapped(Effort(e.counts) + ". A program wrote and checked this change.", "\n", "") + "\n" + Trailers(e);
  return WholeLines(out, kMaxBodyCharacters - base::CodePoints(end) - kCut.size()) + end;
}

}  // namespace warpwright::report

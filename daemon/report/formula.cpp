#include "report/formula.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "core/computation_inline.h"
#include "core/computation_latex.h"
#include "core/computation_text.h"
#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::report {
namespace {

constexpr size_t kMathCharacters = 240;  // of the text form; set mathematics beyond that is wider than a page
constexpr size_t kShownAssumptions = 6;

std::string EvidenceOf(const core::Lifted& lifted) {
  return fmt::format("Found by running the original: the same at {}{}",
                     Plural(static_cast<int>(lifted.shapes), "shape"),
                     lifted.verified ? ", and checked with numbers at a further one" : "");
}

// "Assumptions: a; b"; "" without one.
template <typename Quote>
std::string Assumed(const Formula& formula, Quote quote) {
  std::string out;
  for (size_t i = 0; i < formula.assumptions.size() && i < kShownAssumptions; ++i)
    out += (i == 0 ? "Assumptions: " : "; ") + quote(base::CleanText(formula.assumptions[i], 200));
  if (formula.assumptions.size() > kShownAssumptions)
    out += fmt::format("; and {} more", formula.assumptions.size() - kShownAssumptions);
  return out;
}

// Whole lines of at most `max_bytes`.
std::string CutLines(const std::string& text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const size_t end = text.rfind('\n', max_bytes);
  if (end == std::string::npos) return std::string(base::CutAtCharacter(text, max_bytes)) + " ...\n";
  return text.substr(0, end + 1) + "...\n";
}

}  // namespace

Formula FormulaOf(const core::LiftOutcome& outcome, bool inlined) {
  Formula formula;
  if (const auto* not_lifted = std::get_if<core::NotLifted>(&outcome)) {
    formula.why_not = not_lifted->blocker;
    if (!not_lifted->message.empty()) formula.why_not += ": " + not_lifted->message;
    return formula;
  }
  const auto& lifted = std::get<core::Lifted>(outcome);
  core::Computation shown = inlined ? core::Inlined(lifted.computation) : lifted.computation;
  formula.headline = core::Headline(lifted.computation);
  formula.assumptions = std::move(shown.assumptions);
  shown.assumptions.clear();
  formula.text = core::ComputationText(shown);
  if (base::CodePoints(formula.text) <= kMathCharacters) formula.latex = core::ComputationLatex(shown);
  formula.evidence = EvidenceOf(lifted);
  return formula;
}

std::string FormulaMarkdown(const Formula& formula, FormulaStyle style, size_t max_bytes) {
  if (!formula.why_not.empty()) return {};
  const bool math = style == FormulaStyle::kMathIfShort && !formula.latex.empty() && formula.latex.size() <= max_bytes;
  std::string out = math ? CodeBlock(formula.latex, "math") : CodeBlock(CutLines(formula.text, max_bytes), "text");
  out += fmt::format("\n{}.", formula.evidence);
  if (const std::string assumed = Assumed(formula, CodeSpan); !assumed.empty()) out += " " + assumed + ".";
  return out + "\n";
}

std::string FormulaHtml(const Formula& formula) {
  if (!formula.why_not.empty()) return "<p class=\"soft\">" + EscapeHtml(WhyNoFormula(formula)) + ".</p>\n";
  std::string out = "<h2>What it computes</h2>\n<pre>" + EscapeHtml(formula.text) + "</pre>\n<p class=\"soft\">" +
                    EscapeHtml(formula.evidence) + ".";
  const auto code = [](std::string_view text) { return "<code>" + EscapeHtml(text) + "</code>"; };
  if (const std::string assumed = Assumed(formula, code); !assumed.empty()) out += " " + assumed + ".";
  return out + "</p>\n";
}

std::string FormulaPlain(const Formula& formula, size_t max_bytes) {
  if (!formula.why_not.empty()) return {};
  std::string out = CutLines(formula.text, max_bytes);
  const auto plain = [](std::string_view text) { return std::string(text); };
  if (const std::string assumed = Assumed(formula, plain); !assumed.empty()) out += assumed + "\n";
  return out;
}

std::string FormulaSection(const std::optional<Formula>& formula, size_t max_bytes) {
  if (!formula || !formula->why_not.empty() || max_bytes == 0) return {};
  return "### What it computes\n\n" + FormulaMarkdown(*formula, FormulaStyle::kMathIfShort, max_bytes) + "\n";
}

std::string WhyNoFormula(const Formula& formula) {
  return formula.why_not.empty() ? std::string() : "What it computes was not found out: " + formula.why_not;
}

}  // namespace warpwright::report

// What the original computes, for readers: the section "What it computes" of reports, pull requests and pages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/lifting.h"

namespace warpwright::report {

// Names in it come from the kernel: every renderer escapes or fences it.
struct Formula {
  std::string headline;                  // one line
  std::string text;                      // as core::ComputationText writes it, without assumptions
  std::string latex;                     // empty if the text is too long to be read as set mathematics
  std::vector<std::string> assumptions;  // under which it holds
  std::string evidence;                  // "Found by running the original: the same at 3 shapes, ..."
  std::string why_not;                   // it is not known, and all others are empty
};

// `inlined`: fewer and longer formulas, else every reduction in a line of its own.
Formula FormulaOf(const core::LiftOutcome& outcome, bool inlined = true);

// Set mathematics is for GitHub; on a terminal nobody can read it.
enum class FormulaStyle { kText, kMathIfShort };
// Markdown: the formula, and what it rests on. Lines beyond `max_bytes` are left out. Without a heading; "" if it is
// not known.
std::string FormulaMarkdown(const Formula& formula, FormulaStyle style, size_t max_bytes = 4000);
// For bodies on GitHub: with the heading "What it computes"; "" if that is not known.
std::string FormulaSection(const std::optional<Formula>& formula, size_t max_bytes);
std::string FormulaHtml(const Formula& formula);  // with its heading; or one line with the reason
// Lines for commit messages, unescaped; "" if it is not known.
std::string FormulaPlain(const Formula& formula, size_t max_bytes);
// "What it computes was not found out: ..." in plain text, without a full stop; "" if it is known.
std::string WhyNoFormula(const Formula& formula);

}  // namespace warpwright::report

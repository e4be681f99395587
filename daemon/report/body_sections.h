// The sections from which bodies, checks and summaries are assembled. Each is complete Markdown by itself: fences,
// tables and <details> begin and end in it, and it ends with a line feed. A section over its limit is cut at a row
// boundary and states how much was omitted.
#pragma once

#include <cstddef>
#include <string>

#include "report/explanation.h"
#include "report/pull_request.h"

namespace warpwright::report {

// "**1.64x faster, measured on NVIDIA H200**: 100.2 µs → 61.1 µs (95 % interval 1.58x to 1.70x) ..."; one sentence, no
// line feed.
std::string GainSentence(const Explanation& explanation, const Provenance& provenance);
std::string ProgramNote(const Explanation& explanation);  // the only alert
std::string CaseTable(const Explanation& explanation, size_t max_rows);
std::string RenderSpeedupReasons(const Explanation& explanation, size_t max_steps, size_t max_bytes);
std::string MissingCounters(const std::string& note);  // one line, without a list item's dash
std::string RenderReviewHints(const Explanation& explanation, const Provenance& provenance, size_t max_items,
                              size_t max_bytes);
std::string RenderSearchHistory(const Explanation& explanation, size_t max_rounds);  // 0: without diagrams
std::string Trajectory(const Explanation& explanation, size_t max_plans, size_t max_rows, size_t max_bytes);
std::string Verification(const Explanation& explanation, size_t max_items);
std::string Reproduction(const Explanation& explanation, const Provenance& provenance);
std::string CostAndProvenance(const Explanation& explanation, const Provenance& provenance);

// The attempts as a table; if there are too many, the newest rounds are kept; empty if nothing was tried.
std::string AttemptTable(const Explanation& explanation, size_t max_rows, size_t max_bytes);
// "<details><summary>title</summary> ... </details>".
std::string Folded(const std::string& title, const std::string& body);

}  // namespace warpwright::report

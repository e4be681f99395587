#include "report/pull_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "report/body_sections.h"
#include "report/body_state.h"
#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::report {
namespace {

// A part of the body in versions from full to short. Every version is complete Markdown by itself.
struct Part {
  std::vector<std::string> versions;
  size_t at = 0;
  const std::string& text() const { return versions[at]; }
  bool Shorten() {
    if (at + 1 >= versions.size()) return false;
    ++at;
    return true;
  }
};

std::string Join(const std::vector<Part*>& parts) {
  std::string body;
  for (const Part* part : parts) body += part->text();
  return body;
}

}  // namespace

PullRequestText RenderPullRequest(const Explanation& e, const Provenance& p) {
  const BodyState state{.kernel = e.kernel,
                        .base_commit = e.base_commit,
                        .candidate = p.candidate_commit.empty() ? e.result_hash : p.candidate_commit,
                        .run_id = p.run_id.empty() ? e.run_id : p.run_id};
  Part head{{StateLine(state) + GainSentence(e, p) + "\n\n" + ProgramNote(e) + "\n"}};
  Part computes{{FormulaSection(e.computes, 4000), FormulaSection(e.computes, 600), FormulaSection(e.computes, 0)}};
  Part cases{{CaseTable(e, 60), CaseTable(e, 20), CaseTable(e, 8)}};
  Part why{{RenderSpeedupReasons(e, 12, 500), RenderSpeedupReasons(e, 5, 250), RenderSpeedupReasons(e, 3, 100)}};
  Part look{{RenderReviewHints(e, p, 20, 400), RenderReviewHints(e, p, 10, 200), RenderReviewHints(e, p, 5, 100)}};
  Part found{{RenderSearchHistory(e, 12), RenderSearchHistory(e, 5), RenderSearchHistory(e, 0)}};
  Part trajectory{{Trajectory(e, 40, 120, 400), Trajectory(e, 20, 60, 300), Trajectory(e, 10, 30, 200),
                   Trajectory(e, 0, 12, 100), Trajectory(e, 0, 0, 0)}};
  Part verification{{Verification(e, 40), Verification(e, 8), Verification(e, 0)}};
  Part rest{{Reproduction(e, p) + CostAndProvenance(e, p) + Controls(e, state)}};
  Part between{{"\n"}};
  const std::vector<Part*> order = {&head,  &computes, &cases,      &why,          &look,
                                    &found, &between,  &trajectory, &verification, &rest};
  // The order in which parts are cut: first what only a few read, last what every reader needs.
  std::string body = Join(order);
  for (Part* part : {&trajectory, &verification, &found, &why, &look, &computes, &cases})
    while (base::CodePoints(body) > kMaxBodyCharacters && part->Shorten()) body = Join(order);
  return {ChangeTitle(e), std::move(body), e.modelled};
}

}  // namespace warpwright::report

#include "agents/spliced_attempts.h"

#include <fmt/format.h>

#include <set>

#include "base/utf8.h"

namespace warpwright::agents {
namespace {

std::string WithLine(const core::Refused& refused) {
  return refused.line > 0 ? fmt::format("{} (line {} of the changed file)", refused.reason, refused.line)
                          : refused.reason;
}

}  // namespace

Result<std::variant<std::vector<Attempt>, Fault>> SplicedAttempts(const Situation& at, const core::Candidate& changed,
                                                                  const core::EntryText& entry, const Edits& edits,
                                                                  const std::string& method, const std::string& summary,
                                                                  const core::Origin& origin) {
  using Outcome = std::variant<std::vector<Attempt>, Fault>;
  auto edited = ApplyEdits(changed.text, entry, edits);
  if (auto* fault = std::get_if<Fault>(&edited)) return Outcome(std::move(*fault));
  std::vector<Attempt> attempts;
  std::set<std::string> seen = {changed.text, at.base.text, at.original.text};
  for (EditedText& variant : std::get<std::vector<EditedText>>(edited)) {
    WW_ASSIGN(core::SpliceOutcome spliced, at.evaluator.Splice({.original = at.original,
                                                                .edited = std::move(variant.text),
                                                                .entry = at.spec.entry,
                                                                .keeps_comments = false,
                                                                .finishes = true}));
    if (const auto* refused = std::get_if<core::Refused>(&spliced)) return Outcome(Fault{WithLine(*refused)});
    std::string& text = std::get<core::Rewritten>(spliced).text;
    if (!seen.insert(text).second) {
      attempts.push_back({std::move(variant.parameters), core::RewriteRefusal{kChangesNothing, 0}});
      continue;
    }
    core::Candidate candidate =
        MakeCandidate(std::move(text), at.base, method, variant.parameters,
                      base::Clip(base::CleanText(summary, 2'000), 500) + " (by the model's account)");
    candidate.origin = origin;
    attempts.push_back({std::move(variant.parameters), std::move(candidate)});
  }
  return Outcome(std::move(attempts));
}

}  // namespace warpwright::agents

#include "agents/optimizer.h"

#include <set>

#include "base/hash.h"

namespace warpwright::agents {

core::Candidate MakeCandidate(std::string text, const core::Candidate& parent, std::string method,
                              core::Parameters parameters, std::string summary) {
  core::Candidate candidate;
  candidate.hash = base::Sha256(text);
  candidate.text = std::move(text);
  candidate.parent = parent.hash;
  candidate.method = std::move(method);
  candidate.parameters = std::move(parameters);
  candidate.summary = std::move(summary);
  return candidate;
}

Result<std::vector<Attempt>> Optimize(const core::SourceRef& source, const std::string& entry,
                                      const core::Candidate& base, const core::Plan& plan, core::Evaluator& evaluator,
                                      const std::optional<core::Scheduling>& scheduling) {
  std::vector<Attempt> attempts;
  std::set<std::string> seen = {base.hash};
  for (const auto& parameters : plan.variants) {
    // What is written anew takes the place of all that an earlier schedule wrote, of its branches for some sizes too.
    const bool anew = plan.transform.starts_with(core::kSchedulePrefix);
    core::RewriteRequest request{.source = anew ? source : source.With(base.text),
                                 .entry = entry,
                                 .kernel = plan.kernel,
                                 .transform = plan.transform,
                                 .parameters = parameters,
                                 .scheduling = {}};
    if (anew) request.scheduling = scheduling;
    WW_ASSIGN(core::RewriteOutcome outcome, evaluator.Rewrite(request));
    attempts.push_back(
        {parameters,
         std::visit(Overload{[&](core::Rewritten& rewritten) -> std::variant<core::Candidate, core::RewriteRefusal> {
                               std::string summary;
                               for (const auto& note : rewritten.notes) summary += (summary.empty() ? "" : "; ") + note;
                               core::Candidate candidate =
                                   MakeCandidate(std::move(rewritten.text), base, plan.method, parameters, summary);
                               candidate.origin = core::Origin{core::AgentRole::kOptimizer, {}};
                               if (!seen.insert(candidate.hash).second) return core::RewriteRefusal{kChangesNothing, 0};
                               return candidate;
                             },
                             [](core::RewriteRefusal& refusal) -> std::variant<core::Candidate, core::RewriteRefusal> {
                               return refusal;
                             }},
                    outcome)});
  }
  return attempts;
}

}  // namespace warpwright::agents

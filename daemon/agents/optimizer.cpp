#include "agents/optimizer.h"

#include <set>

#include "base/hash.h"

namespace warpwright {

Candidate MakeCandidate(std::string text, const Candidate& parent, std::string method, Parameters parameters, std::string summary) {
  Candidate candidate;
  candidate.hash = Sha256(text);
  candidate.text = std::move(text);
  candidate.parent = parent.hash;
  candidate.method = std::move(method);
  candidate.parameters = std::move(parameters);
  candidate.summary = std::move(summary);
  return candidate;
}

Result<std::vector<Attempt>> Optimize(const SourceRef& source, const std::string& entry, const Candidate& base, const Plan& plan,
                                      Evaluator& evaluator) {
  std::vector<Attempt> attempts;
  std::set<std::string> seen = {base.hash};
  for (const auto& parameters : plan.variants) {
    RewriteRequest request{{source.root, source.file, base.text}, entry, plan.kernel, plan.transform, parameters};
    WW_ASSIGN(RewriteOutcome outcome, evaluator.Rewrite(request));
    attempts.push_back({parameters, std::visit(Overload{[&](Rewritten& rewritten) -> std::variant<Candidate, RewriteRefusal> {
                                                          std::string summary;
                                                          for (const auto& note : rewritten.notes)
                                                            summary += (summary.empty() ? "" : "; ") + note;
                                                          Candidate candidate = MakeCandidate(std::move(rewritten.text), base,
                                                                                              plan.method, parameters, summary);
                                                          if (!seen.insert(candidate.hash).second)
                                                            return RewriteRefusal{kChangesNothing, 0};
                                                          return candidate;
                                                        },
                                                        [](RewriteRefusal& refusal) -> std::variant<Candidate, RewriteRefusal> {
                                                          return refusal;
                                                        }},
                                               outcome)});
  }
  return attempts;
}

}  // namespace warpwright

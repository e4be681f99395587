#include "agents/reviewer.h"

namespace warpwright {

Result<Verdict> Review(Judge& judge, const SourceRef& source, const Candidate& candidate, Evaluator& evaluator, Effort effort) {
  return judge.Evaluate({source.root, source.file, candidate.text}, evaluator, effort);
}

}  // namespace warpwright

#include "agents/repairer.h"

#include <algorithm>
#include <map>

#include "agents/optimizer.h"

namespace warpwright::agents {
namespace {

using Cause = core::Diagnosis::Cause;

// Parameter values from costly to cheap. A repair moves one step to the right.
const std::map<std::string, std::vector<std::string>>& Ladders() {
  static const std::map<std::string, std::vector<std::string>> ladders = {
      {"tile", {"128x128x8", "128x64x16", "64x64x16", "64x64x8", "32x32x32"}},
      {"threads", {"1024", "512", "256", "128"}},
      {"block_size", {"1024", "512", "256", "128", "64"}},
      {"rows_per_block", {"8", "4"}},
      {"width", {"8", "4", "2"}},
      {"factor", {"8", "4", "2"}}};
  return ladders;
}

// Declarations that nvcc gets from host headers, and that are missing when device code is compiled alone.
const std::map<std::string, std::string>& KnownDeclarations() {
  static const std::map<std::string, std::string> declarations = {
      {"INFINITY", "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"},
      {"FLT_MAX", "#ifndef FLT_MAX\n#define FLT_MAX 3.402823466e+38f\n#endif\n"},
      {"DBL_MAX", "#ifndef DBL_MAX\n#define DBL_MAX 1.7976931348623157e+308\n#endif\n"},
      {"INT_MAX", "#ifndef INT_MAX\n#define INT_MAX 2147483647\n#endif\n"},
      {"INT_MIN", "#ifndef INT_MIN\n#define INT_MIN (-INT_MAX - 1)\n#endif\n"},
      {"uint32_t", "#include <cstdint>\n"},
      {"int64_t", "#include <cstdint>\n"}};
  return declarations;
}

std::string QuotedName(const std::string& log) {
  const size_t open = log.find('"');
  const size_t close = open == std::string::npos ? open : log.find('"', open + 1);
  return close == std::string::npos ? std::string() : log.substr(open + 1, close - open - 1);
}

}  // namespace

std::optional<core::Parameters> Smaller(const core::Parameters& parameters, Cause cause) {
  const std::vector<std::string> order =
      cause == Cause::kMisaligned
          ? std::vector<std::string>{"width"}
          : std::vector<std::string>{"tile", "threads", "block_size", "rows_per_block", "factor", "width"};
  for (const auto& name : order) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) continue;
    const auto& ladder = Ladders().at(name);
    const auto step = std::find(ladder.begin(), ladder.end(), found->second);
    if (step == ladder.end() || step + 1 == ladder.end()) continue;
    core::Parameters smaller = parameters;
    smaller[name] = *(step + 1);
    return smaller;
  }
  return std::nullopt;
}

Result<Repair> RepairCandidate(const core::SourceRef& source, const std::string& entry, const core::Candidate& base,
                               const core::Candidate& failed, const core::Plan& plan, const core::Diagnosis& diagnosis,
                               core::Evaluator& evaluator, const std::optional<core::Scheduling>& scheduling) {
  if (diagnosis.cause == Cause::kMissingHelper) {
    const std::string name = QuotedName(diagnosis.quote);
    const auto known = KnownDeclarations().find(name);
    if (known == KnownDeclarations().end()) return Abandon{"no declaration is known for '" + name + "'"};
    const core::RewriteRequest request{.source = source.With(failed.text),
                                       .entry = entry,
                                       .kernel = {},
                                       .transform = std::string(core::kDeclaredText),
                                       .parameters = {{"declaration", known->second}}};
    WW_ASSIGN(core::RewriteOutcome outcome, evaluator.Rewrite(request));
    return std::visit(Overload{[&](core::Rewritten& declared) -> Repair {
                                 core::Candidate candidate =
                                     MakeCandidate(std::move(declared.text), base, failed.method, failed.parameters,
                                                   failed.summary + "; declares " + name);
                                 candidate.origin = core::Origin{core::AgentRole::kRepairer, {}};
                                 return candidate;
                               },
                               [](core::RewriteRefusal& refusal) -> Repair { return Abandon{refusal.reason}; }},
                      outcome);
  }
  if (diagnosis.cause != Cause::kResourceLimit && diagnosis.cause != Cause::kMisaligned)
    return Abandon{"no built-in repair for: " + diagnosis.root_cause};
  if (plan.transform.empty()) return Abandon{"no built-in repair of code that was written by hand"};
  const auto smaller = Smaller(failed.parameters, diagnosis.cause);
  if (!smaller) return Abandon{"the smallest parameters fail too"};
  core::Plan retry = plan;
  retry.variants = {*smaller};
  auto attempts = Optimize(source, entry, base, retry, evaluator, scheduling);
  // The ladders are of all methods: one of them may end before.
  if (!attempts && attempts.error().code == ErrorCode::kUsage) return Abandon{attempts.error().message};
  if (!attempts) return Fail(attempts.error());
  return std::visit(Overload{[](core::Candidate& candidate) -> Repair {
                               candidate.origin = core::Origin{core::AgentRole::kRepairer, {}};
                               return std::move(candidate);
                             },
                             [](core::RewriteRefusal& refusal) -> Repair { return Abandon{refusal.reason}; }},
                    attempts->front().outcome);
}

}  // namespace warpwright::agents

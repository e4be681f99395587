// First candidates. What was drawn is stored with its step, since experience grows while the task runs; texts that came
// with it are in the trajectory by their hashes.
#include <fmt/format.h>

#include <sstream>

#include "agents/planner.h"
#include "base/json_codec.h"
#include "core/plan_fields.h"
#include "search/steps.h"

namespace warpwright::search {

struct StoredVersion {
  core::Parameters parameters;
  std::string candidate, summary;
};
struct StoredDraft {
  core::Plan plan;
  std::vector<StoredVersion> written;
};
template <typename V>
void Describe(V& field, const StoredVersion*) {
  using T = StoredVersion;
  field("parameters", &T::parameters);
  field("candidate", &T::candidate);
  field("summary", &T::summary);
}
template <typename V>
void Describe(V& field, const StoredDraft*) {
  using T = StoredDraft;
  field.Inline(&T::plan);
  field.Sparse("written", &T::written);
}

namespace {

Result<std::string> Store(const RefineRun& run, const agents::Draft& draft) {
  StoredDraft stored{draft.plan, {}};
  for (const agents::Attempt& attempt : draft.written) {
    const auto* candidate = std::get_if<core::Candidate>(&attempt.outcome);
    if (candidate == nullptr) continue;
    WW_TRY(run.services.trajectory.PutCandidate(run.id, *candidate));
    stored.written.push_back({attempt.parameters, candidate->hash, candidate->summary});
  }
  return base::EncodeJson(stored);
}

Result<Seed> Load(const RefineRun& run, const std::string& line, const memory::ExperienceKey& key) {
  WW_ASSIGN(StoredDraft stored, base::DecodeJson<StoredDraft>(line));
  Seed seed{{0, std::move(stored.plan), key}, {}};
  for (StoredVersion& version : stored.written) {
    WW_ASSIGN(auto candidate, run.services.trajectory.FindCandidate(run.id, version.candidate));
    if (!candidate) return Fail(ErrorCode::kCorrupt, "a version of a seed is not in the trajectory");
    candidate->parent = run.base().candidate.hash;
    candidate->method = seed.round.plan.method;
    candidate->parameters = version.parameters;
    candidate->summary = version.summary;
    seed.written.push_back({std::move(version.parameters), std::move(*candidate)});
  }
  return seed;
}

// The drafts as lines; those of built-in agents as they were when somebody began to be waited for.
Result<std::vector<ProposalLine>> LinesOf(RefineRun& run, const memory::StepRecord& record,
                                          agents::Proposal<agents::Draft>& proposal) {
  std::vector<ProposalLine> lines;
  const std::vector<agents::Draft>* const drafts = agents::ProposedIn(proposal);
  if (drafts == nullptr) return lines;
  for (const agents::Draft& draft : *drafts) {
    WW_ASSIGN(std::string line, Store(run, draft));
    lines.push_back({std::move(line), draft.written.empty()});
  }
  WW_TRY(KeepStep(run, record, agents::WaitingFor(proposal) != nullptr, lines));
  return lines;
}

}  // namespace

Result<MaybePart<Seed>> SeedStep(RefineRun& run) {
  MaybePart<Seed> seeds;
  WW_ASSIGN(const bool is_read, ReadStep(run));
  seeds.waits = !is_read;
  if (!is_read) return seeds;
  const skills::MatchResult match = Retrieve(run, true);
  if (match.at_roofline) return seeds;
  const memory::ExperienceKey key = agents::KeyOf(run.base().features.evidence, match);
  memory::StepRecord record = RecordOf(memory::StepKind::kPlan, run, {});
  record.reason = "experience with kernels of this kind";
  std::vector<ProposalLine> lines;
  const auto generate = [&]() -> Result<std::optional<memory::StepOutcome>> {
    WW_ASSIGN(const auto experience, run.services.experience.Query(key));
    WW_ASSIGN(const std::string learned, RecallStep(run, record, experience));
    WW_ASSIGN(auto proposal, run.team.generator->Propose({.at = run.At(),
                                                          .match = match,
                                                          .by_hand = Retrieve(run, false),
                                                          .experience = experience,
                                                          .learned = learned}));
    WW_ASSIGN(lines, LinesOf(run, record, proposal));
    if (const agents::Waiting* waiting = agents::WaitingFor(proposal)) {
      run.Await(*waiting);
      return std::optional<memory::StepOutcome>();
    }
    memory::StepOutcome outcome;
    size_t drawn = 0, written = 0;
    for (const ProposalLine& line : lines) {
      ++(line.built_in ? drawn : written);
      outcome.data += line.text + "\n";
    }
    outcome.summary = fmt::format("{} methods worked on kernels of this kind", drawn);
    if (written > 0) outcome.summary += fmt::format("; {} versions were written", written);
    return std::optional<memory::StepOutcome>(std::move(outcome));
  };
  WW_ASSIGN(const auto step, run.journal.StepIfReady(record, generate));
  seeds.waits = !step;
  if (step) {
    lines.clear();
    std::istringstream texts(step->outcome.data);
    for (std::string text; std::getline(texts, text);) lines.push_back({text});
  }
  for (const ProposalLine& line : lines) {
    WW_ASSIGN(seeds.ready.emplace_back(), Load(run, line.text, key));
  }
  return seeds;
}

}  // namespace warpwright::search

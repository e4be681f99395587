// What a language model is told of a situation, as texts for prompts (config/prompts). Pure functions of values, with
// figures rounded as a reader needs them: equal situations give equal texts. Reference data, inputs and seeds are in no
// value that these see.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/situation.h"
#include "base/result.h"
#include "core/entry_text.h"
#include "skills/match.h"

namespace warpwright::agents {

std::string ChipFacts(const core::Chip& chip, const core::BuildOptions& build, bool modelled);
// Arguments, cases with shapes, tolerance and what is allowed.
std::string ContractFacts(const core::KernelSpec& spec, bool modelled);
// Times of the cases, launches with their limits and hot lines, evidence by name.
std::string MeasuredFacts(const Situation& at);
// The short-term memory as a table.
std::string HistoryTable(const Situation& at);
// Bottlenecks, and the cards of the methods that match, best first, those of schedules last; the first `worked` that
// have one with their worked examples.
std::string MethodCards(const skills::MatchResult& match, size_t limit, size_t worked = 0);
// With its method's card, if the library has one and who reads it writes the code.
std::string PlanText(const core::Plan& plan, const skills::MethodCard* card = nullptr);

// The entry's part of `candidate`'s file, and of the headers that it uses, with line numbers.
struct Listing {
  core::EntryText entry;
  std::string text;
};
// The original's listing, for whoever starts from another version; a sentence where the candidate is the original.
Result<std::string> OriginalText(const Situation& at, const core::Candidate& candidate);
Result<Listing> ListEntry(const Situation& at, const core::Candidate& candidate);

// What the verdict says, whole where it is short.
std::string VerdictText(const core::Verdict& verdict);
std::string DiagnosisText(const core::Diagnosis& diagnosis);
// Whether these words, which are some, stand there; bars and the number of spaces make no difference.
bool QuotesVerdict(std::string_view quote, const core::Verdict& verdict);

}  // namespace warpwright::agents

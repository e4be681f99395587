// What all agents have in common. An agent is asked, and proposes: one or several values, best first; nothing, with the
// reason; or it waits, because somebody outside has not answered yet; or some have proposed, and others are waited for.
// Agents do not call each other, and may be put in a row: the first that has a proposal, or all of them.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace warpwright::agents {

struct NoProposal {
  std::string reason;
};
// For answers to these questions (llm/question.h): go on with what else can move.
struct Waiting {
  std::vector<std::string> questions;
  std::vector<std::string> failures;  // of those of them that could not be asked: why; a later run asks again
};
// Nobody is at these questions: whoever else may answer need not wait for them.
inline bool OnlyFailed(const Waiting& waiting) { return waiting.failures.size() == waiting.questions.size(); }
// What is there already goes on; with the rest, it is a part of the proposal that a later run gets.
template <typename T>
struct Part {
  std::vector<T> proposed;  // at least one
  Waiting waiting;
};
template <typename T>
using Proposal = std::variant<std::vector<T>, NoProposal, Waiting, Part<T>>;

// For those who need all of a proposal: what is waited for; nullptr: nobody.
template <typename T>
const Waiting* WaitingFor(const Proposal<T>& proposal) {
  if (const auto* part = std::get_if<Part<T>>(&proposal)) return &part->waiting;
  return std::get_if<Waiting>(&proposal);
}

// What is there of it; nullptr: nothing.
template <typename T>
std::vector<T>* ProposedIn(Proposal<T>& proposal) {
  if (auto* part = std::get_if<Part<T>>(&proposal)) return &part->proposed;
  return std::get_if<std::vector<T>>(&proposal);
}

template <typename Request, typename T>
class Agent {
 public:
  using Asked = Request;
  using Proposed = T;
  virtual ~Agent() = default;
  // Deterministic: equal requests and equal answers of models give equal proposals. An Error is about warpwright.
  virtual Result<Proposal<T>> Propose(const Request& request) = 0;
};

enum class AskOrder { kFirst, kAll };

// Several as one. kFirst: an agent is asked if those before it proposed nothing. kAll: every one is asked, so that what
// all of them wait for is known; who waits holds up nobody else's proposal. A model that could not be asked holds up
// nobody who has a proposal.
template <typename Request, typename T>
class InOrder final : public Agent<Request, T> {
 public:
  InOrder(AskOrder order, std::vector<std::unique_ptr<Agent<Request, T>>> agents)
      : order_(order), agents_(std::move(agents)) {}

  Result<Proposal<T>> Propose(const Request& request) override {
    std::vector<T> all;
    Waiting waiting;
    std::string reasons;
    for (const auto& agent : agents_) {
      WW_ASSIGN(Proposal<T> proposal, agent->Propose(request));
      if (const auto* none = std::get_if<NoProposal>(&proposal)) {
        reasons += (reasons.empty() ? "" : "; ") + none->reason;
        continue;
      }
      const Waiting* waits = WaitingFor(proposal);
      if (order_ == AskOrder::kFirst && (waits == nullptr || !OnlyFailed(*waits))) return proposal;
      if (waits != nullptr) {
        waiting.questions.insert(waiting.questions.end(), waits->questions.begin(), waits->questions.end());
        waiting.failures.insert(waiting.failures.end(), waits->failures.begin(), waits->failures.end());
      }
      if (std::vector<T>* proposed = ProposedIn(proposal))
        std::move(proposed->begin(), proposed->end(), std::back_inserter(all));
    }
    if (all.empty() && waiting.questions.empty()) return Proposal<T>(NoProposal{std::move(reasons)});
    if (all.empty()) return Proposal<T>(std::move(waiting));
    if (OnlyFailed(waiting)) return Proposal<T>(std::move(all));
    return Proposal<T>(Part<T>{std::move(all), std::move(waiting)});
  }

 private:
  const AskOrder order_;
  std::vector<std::unique_ptr<Agent<Request, T>>> agents_;
};

}  // namespace warpwright::agents

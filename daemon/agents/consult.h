// How an agent asks a language model: one question, and one more with what is wrong where the answer cannot be used.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "agents/agent.h"
#include "agents/edits.h"
#include "agents/prompt.h"
#include "agents/team.h"
#include "base/json_codec.h"

namespace warpwright::agents {

// An answer's text that satisfies the schema.
struct Accepted {
  std::string text;
};
using Consulted = std::variant<Accepted, NoProposal, Waiting>;
// Of an answer's text, and where it is from. nullopt: the answer can be used.
using CheckAnswer = std::function<Result<std::optional<Fault>>(const std::string& text, const core::Origin& origin)>;

Result<Consulted> Consult(const Engine& engine, llm::Question question, const CheckAnswer& check);

llm::Question MakeQuestion(const Engine& engine, core::AgentRole role, Prompt prompt, std::string schema_name,
                           std::string schema);

inline constexpr base::JsonLimits kAnswerLimits{.bytes = 4u << 20, .depth = 16, .values = 20'000, .text = 2u << 20};

// Consult, for answers that are a T and become proposals by `take`, which says what is wrong with one, and gives what
// is written by it its origin.
template <typename T, typename P, typename Take>
Result<Proposal<P>> ConsultFor(const Engine& engine, llm::Question question, const Take& take) {
  Proposal<P> proposal = NoProposal{};
  const CheckAnswer check = [&](const std::string& text, const core::Origin& origin) -> Result<std::optional<Fault>> {
    auto answer = base::DecodeJson<T>(text, kAnswerLimits);
    if (!answer) return std::optional<Fault>(Fault{answer.error().message});
    WW_ASSIGN(auto taken, take(std::move(*answer), origin));
    if (auto* fault = std::get_if<Fault>(&taken)) return std::optional<Fault>(std::move(*fault));
    proposal = std::get<Proposal<P>>(std::move(taken));
    return std::optional<Fault>();
  };
  WW_ASSIGN(Consulted consulted, Consult(engine, std::move(question), check));
  if (auto* none = std::get_if<NoProposal>(&consulted)) return Proposal<P>(std::move(*none));
  if (auto* waiting = std::get_if<Waiting>(&consulted)) return Proposal<P>(std::move(*waiting));
  return proposal;
}
template <typename P>
using Taken = std::variant<Proposal<P>, Fault>;

}  // namespace warpwright::agents

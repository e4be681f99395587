#include "agents/consult.h"

#include <fmt/format.h>

#include "llm/answer.h"

namespace warpwright::agents {

llm::Question MakeQuestion(const Engine& engine, core::AgentRole role, Prompt prompt, std::string schema_name,
                           std::string schema) {
  return {.role = role,
          .system = std::move(prompt.system),
          .user = std::move(prompt.user),
          .schema_name = std::move(schema_name),
          .schema = std::move(schema),
          .sample = engine.sample,
          .corrections = {},
          .limits = engine.limits};
}

Result<Consulted> Consult(const Engine& engine, llm::Question question, const CheckAnswer& check) {
  constexpr size_t kCorrections = 1;
  for (;;) {
    if (engine.deadline != nullptr) question.limits.deadline = engine.deadline->Within(engine.limits.deadline);
    WW_ASSIGN(llm::Answer answer, engine.model->Ask(question));
    // Which one is not said: what came of this question stands in later ones, which a replay must ask alike.
    const auto none = [](const std::string& what) { return Consulted(NoProposal{"the model: " + what}); };
    if (const auto* pending = std::get_if<llm::Pending>(&answer)) return Consulted(Waiting{{pending->question}, {}});
    if (std::holds_alternative<llm::Truncated>(answer)) return none("the answer was longer than it may be");
    if (const auto* refused = std::get_if<llm::Refused>(&answer)) return none("declined: " + refused->reason);
    if (const auto* failed = std::get_if<llm::Failed>(&answer)) {
      const std::string what = fmt::format("{}: {}", llm::Name(failed->kind), failed->message);
      // That nobody could be asked is no answer: it must not become a step that later runs find.
      if (llm::MayPass(failed->kind)) return Consulted(Waiting{{llm::IdOf(question)}, {what}});
      return none(what);
    }
    std::string& text = std::get<llm::Answered>(answer).text;
    WW_ASSIGN(auto fault, check(text, {question.role, llm::IdOf(question)}));
    if (!fault) return Consulted(Accepted{std::move(text)});
    if (question.corrections.size() == kCorrections) return none("the answer cannot be used: " + fault->what);
    question.corrections.push_back(llm::CorrectionOf(text, fault->what));
  }
}

}  // namespace warpwright::agents

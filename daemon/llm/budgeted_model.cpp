#include "llm/budgeted_model.h"

#include <fmt/format.h>

namespace warpwright::llm {

Result<Answer> BudgetedModel::Ask(const Question& question) {
  const LedgerCall call{.account = account_,
                        .role = question.role,
                        .model = settings_.name,
                        .question = IdOf(question),
                        .estimate = EstimateSpending(question, settings_.price)};
  WW_ASSIGN(auto outcome, ledger_->Reserve(call, caps_));
  if (const auto* exceeded = std::get_if<Exceeded>(&outcome))
    return Answer(Failed{.kind = exceeded->for_good ? FailureKind::kTaskBudget : FailureKind::kBudget,
                         .message = fmt::format("{}: {}", exceeded->limit, exceeded->message),
                         .remedy = "raise this limit in the operator's file, or wait until it is free again",
                         .receipt = {.model = settings_.model}});
  const Reserved& reserved = std::get<Reserved>(outcome);
  Question limited = question;
  limited.limits.deadline =
      std::min(limited.limits.deadline,
               std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(reserved.seconds)));
  WW_ASSIGN(Answer answer, inner_->Ask(limited));
  Receipt* receipt = ReceiptOf(answer);
  if (receipt == nullptr || receipt->requests == 0) {
    WW_TRY(ledger_->Release(reserved.call));
    return answer;
  }
  receipt->cost = CostOf(receipt->usage, settings_.price);
  WW_TRY(ledger_->Settle(reserved.call, ActualSpending(*receipt, question, settings_.price)));
  return answer;
}

}  // namespace warpwright::llm

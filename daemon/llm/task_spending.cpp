#include "llm/task_spending.h"

#include "llm/transcript.h"

namespace warpwright::llm {

TaskSpending SpendingOf(const memory::TrajectoryView& view) {
  TaskSpending spending;
  for (const memory::StepView& step : view.steps) {
    if (step.record.kind != memory::StepKind::kAsk || !step.outcome) continue;
    ++spending.questions;
    const auto transcript = DecodeTranscript(step.outcome->data, step.record.candidate);
    const Receipt* receipt = transcript ? ReceiptOf(transcript->answer) : nullptr;
    if (receipt == nullptr) {
      spending.cost.reset();
      continue;
    }
    if (!receipt->model.empty()) spending.models.insert(receipt->model);
    spending.tokens_in += receipt->usage.input.value_or(0) + receipt->usage.cache_read.value_or(0) +
                          receipt->usage.cache_write.value_or(0);
    spending.tokens_out += receipt->usage.output.value_or(0);
    const std::optional<Nanodollars> cost = receipt->requests == 0 ? std::optional<Nanodollars>(0) : receipt->cost;
    if (!cost) spending.cost.reset();
    else if (spending.cost) *spending.cost += *cost;
  }
  return spending;
}

}  // namespace warpwright::llm

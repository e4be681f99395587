#include "llm/task_spending.h"

#include "llm/transcript.h"
#include "memory/lineage.h"

namespace warpwright::llm {

std::optional<double> TaskSpending::Dollars() const {
  return unknown == 0 ? std::optional(static_cast<double>(known) * 1e-9) : std::nullopt;
}

std::optional<double> TaskSpending::DollarsPerGain() const {
  return unknown == 0 && gains > 0 ? std::optional(*Dollars() / gains) : std::nullopt;
}

TaskSpending SpendingOf(const memory::TrajectoryView& view) {
  TaskSpending spending;
  spending.gains = static_cast<int>(memory::LineageOf(view).kept.size());
  for (const memory::StepView& step : view.steps) {
    if (step.record.kind != memory::StepKind::kAsk || !step.outcome) continue;
    ++spending.questions;
    const auto transcript = DecodeTranscript(step.outcome->data, step.record.candidate);
    const Receipt* receipt = transcript ? ReceiptOf(transcript->answer) : nullptr;
    if (receipt == nullptr) {
      ++spending.unknown;
      continue;
    }
    if (!receipt->model.empty()) spending.models.insert(receipt->model);
    spending.tokens_in += receipt->usage.input.value_or(0) + receipt->usage.cache_read.value_or(0) +
                          receipt->usage.cache_write.value_or(0);
    spending.tokens_out += receipt->usage.output.value_or(0);
    if (receipt->requests == 0) continue;
    if (receipt->cost) spending.known += *receipt->cost;
    else ++spending.unknown;
  }
  return spending;
}

}  // namespace warpwright::llm

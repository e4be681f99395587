// What questions cost, before they are asked and afterwards.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model_settings.h"
#include "llm/answer.h"
#include "llm/question.h"

namespace warpwright::llm {

// What is counted for a request: at most that, before it is sent; that, when it is known.
struct Spending {
  int64_t tokens = 0;                      // of every kind
  std::optional<Nanodollars> nanodollars;  // none: the price is unknown
  double seconds = 0;
};

// No tokenizer is ours to have: text has fewer tokens than half of its bytes, in every language that we send.
int64_t EstimateInputTokens(const Question& question);
// All that a request could cost: nothing is cached, and the answer is as long as it may be.
Spending EstimateSpending(const Question& question, const std::optional<config::TokenPrice>& price);

// None: the price or a number of tokens is unknown.
std::optional<Nanodollars> CostOf(const Usage& usage, const std::optional<config::TokenPrice>& price);
// What the receipt of one request says; a number of tokens that it does not know counts as in the estimate.
Spending ActualSpending(const Receipt& receipt, const Question& question,
                        const std::optional<config::TokenPrice>& price);

}  // namespace warpwright::llm

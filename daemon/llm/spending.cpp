#include "llm/spending.h"

#include <algorithm>

namespace warpwright::llm {
namespace {

constexpr int64_t kOverheadTokens = 500;  // of a request around its texts

std::optional<Nanodollars> Total(int64_t input, int64_t cache_read, int64_t cache_write, int64_t output,
                                 const std::optional<config::TokenPrice>& price) {
  if (!price) return std::nullopt;
  return input * price->input + cache_read * price->cache_read + cache_write * price->cache_write +
         output * price->output;
}

}  // namespace

int64_t EstimateInputTokens(const Question& question) {
  size_t bytes = question.schema.size();
  for (const auto* parts : {&question.system, &question.user})
    for (const Part& part : *parts) bytes += part.text.size();
  for (const Correction& correction : question.corrections) bytes += correction.answer.size() + correction.fault.size();
  return static_cast<int64_t>(bytes / 2) + kOverheadTokens;
}

Spending EstimateSpending(const Question& question, const std::optional<config::TokenPrice>& price) {
  const int64_t input = EstimateInputTokens(question), output = question.limits.max_output_tokens;
  Spending spending{.tokens = input + output};
  if (price)
    spending.nanodollars =
        input * std::max({price->input, price->cache_read, price->cache_write}) + output * price->output;
  spending.seconds = std::chrono::duration<double>(question.limits.deadline).count();
  return spending;
}

std::optional<Nanodollars> CostOf(const Usage& usage, const std::optional<config::TokenPrice>& price) {
  if (price == config::TokenPrice{}) return 0;
  if (!usage.input || !usage.output) return std::nullopt;
  return Total(*usage.input, usage.cache_read.value_or(0), usage.cache_write.value_or(0), *usage.output, price);
}

Spending ActualSpending(const Receipt& receipt, const Question& question,
                        const std::optional<config::TokenPrice>& price) {
  const Usage& usage = receipt.usage;
  const int64_t read = usage.cache_read.value_or(0), written = usage.cache_write.value_or(0);
  const int64_t input =
      usage.input ? *usage.input : std::max<int64_t>(0, EstimateInputTokens(question) - read - written);
  const int64_t output = usage.output.value_or(question.limits.max_output_tokens);
  return {.tokens = input + read + written + output,
          .nanodollars = Total(input, read, written, output, price),
          .seconds = receipt.seconds};
}

}  // namespace warpwright::llm

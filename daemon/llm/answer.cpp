#include "llm/answer.h"

#include <fmt/format.h>

#include <array>

#include "base/result.h"

namespace warpwright::llm {
namespace {

constexpr std::array<std::string_view, 19> kKinds = {
    "unreachable", "timeout",      "stalled",         "cut_off",      "rate_limited", "overloaded", "server_fault",
    "spend_limit", "unauthorized", "prompt_too_long", "rejected",     "too_large",    "unreadable", "invalid_answer",
    "command",     "budget",       "task_budget",     "not_recorded", "cancelled"};

void AddTokens(const std::optional<int64_t>& earlier, std::optional<int64_t>& tokens) {
  if (earlier && tokens) *tokens += *earlier;
  else tokens.reset();
}

std::string SpentText(const Receipt& receipt) {
  const auto tokens = [](const std::optional<int64_t>& count) { return count ? std::to_string(*count) : "?"; };
  const Usage& u = receipt.usage;
  std::string text = fmt::format("{} tokens in", tokens(u.input));
  if (u.cache_read.value_or(0) > 0) text += fmt::format(", {} cached", *u.cache_read);
  if (u.cache_write.value_or(0) > 0) text += fmt::format(", {} to the cache", *u.cache_write);
  text += fmt::format(", {} out, ", tokens(u.output));
  return text + (receipt.cost ? fmt::format("${:.4f}", static_cast<double>(*receipt.cost) * 1e-9) : "cost unknown");
}

template <typename A>
auto ReceiptIn(A& answer) {
  using Pointer = std::conditional_t<std::is_const_v<A>, const Receipt*, Receipt*>;
  return std::visit(
      [](auto& a) -> Pointer {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a)>, Pending>) return nullptr;
        else return &a.receipt;
      },
      answer);
}

}  // namespace

std::string_view Name(FailureKind kind) { return kKinds.at(static_cast<size_t>(kind)); }

bool IsTransient(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUnreachable:
    case FailureKind::kTimeout:
    case FailureKind::kStalled:
    case FailureKind::kCutOff:
    case FailureKind::kRateLimited:
    case FailureKind::kOverloaded:
    case FailureKind::kServerFault: return true;
    case FailureKind::kSpendLimit:
    case FailureKind::kUnauthorized:
    case FailureKind::kPromptTooLong:
    case FailureKind::kRejected:
    case FailureKind::kTooLarge:
    case FailureKind::kUnreadable:
    case FailureKind::kInvalidAnswer:
    case FailureKind::kCommand:
    case FailureKind::kBudget:
    case FailureKind::kTaskBudget:
    case FailureKind::kNotRecorded:
    case FailureKind::kCancelled: return false;
  }
  return false;
}

bool MayPass(FailureKind kind) {
  return IsTransient(kind) || kind == FailureKind::kBudget || kind == FailureKind::kSpendLimit ||
         kind == FailureKind::kUnauthorized || kind == FailureKind::kCancelled;
}

const Receipt* ReceiptOf(const Answer& answer) { return ReceiptIn(answer); }
Receipt* ReceiptOf(Answer& answer) { return ReceiptIn(answer); }

void AddSpent(const Receipt& earlier, Receipt& receipt) {
  if (earlier.requests > 0 && receipt.requests > 0) {
    AddTokens(earlier.usage.input, receipt.usage.input);
    AddTokens(earlier.usage.cache_read, receipt.usage.cache_read);
    AddTokens(earlier.usage.cache_write, receipt.usage.cache_write);
    AddTokens(earlier.usage.output, receipt.usage.output);
    AddTokens(earlier.cost, receipt.cost);
  } else if (earlier.requests > 0) {
    receipt.usage = earlier.usage;
    receipt.cost = earlier.cost;
  }
  receipt.requests += earlier.requests;
  receipt.seconds += earlier.seconds;
  if (receipt.model.empty()) receipt.model = earlier.model;
}

std::string Summary(const Answer& answer) {
  return std::visit(
      Overload{[](const Answered& a) { return "answered: " + SpentText(a.receipt); },
               [](const Truncated& a) { return "truncated: " + SpentText(a.receipt); },
               [](const Refused& a) { return fmt::format("refused ({}): {}", a.reason, SpentText(a.receipt)); },
               [](const Pending& a) { return fmt::format("pending as {}", a.question); },
               [](const Failed& a) { return fmt::format("failed, {}: {}", Name(a.kind), a.message); }},
      answer);
}

}  // namespace warpwright::llm

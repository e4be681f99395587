#include "llm/wire_protocol.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "llm/provider_json.h"

namespace warpwright::llm {
namespace {

using nlohmann::json;

constexpr size_t kMaxMessageBytes = 600;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

bool IsAnyOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool Speaks(const std::string& message, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](auto phrase) { return message.find(phrase) != message.npos; });
}

// Both vendors name most of their limits on money; one says of an empty account only that the request is invalid, in
// words.
bool IsAboutMoney(int status, const ProviderError& error, const std::string& message) {
  for (const std::string& name : {error.type, error.code})
    if (IsAnyOf(name, {"billing_error", "insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
                       "enforced_spend_limit_reached", "insufficient_credits"}))
      return true;
  if (status == 402) return true;
  return (status == 400 || status == 403 || status == 429 || status == 0) &&
         Speaks(message, {"credit balance is too low", "spend limit", "spending limit", "specified api usage limits",
                          "exceeded your current quota"});
}

bool IsAboutLength(int status, const ProviderError& error, const std::string& message) {
  if (error.code == "context_length_exceeded" || status == 413 || error.type == "request_too_large" ||
      error.type == "exceed_context_size_error")
    return true;
  return (status == 400 || status == 422 || status == 0) &&
         Speaks(message, {"prompt is too long", "maximum context length", "context length exceeded",
                          "exceeds the available context size"});
}

}  // namespace

ProviderError DecodeProviderError(std::string_view body) {
  ProviderError error;
  const auto parsed = base::ParseJson(body, kEventLimits);
  if (!parsed) return error;
  const json* at = Find(*parsed, "error");
  if (at == nullptr || !at->is_object()) at = &*parsed;  // some servers have no envelope
  error.type = FindText(*at, "type");
  error.code = FindText(*at, "code");
  error.message = base::CleanText(FindText(*at, "message"), kMaxMessageBytes);
  return error;
}

FailureKind KindOf(int status, const ProviderError& error) {
  const std::string message = Lower(error.message);
  if (IsAboutMoney(status, error, message)) return FailureKind::kSpendLimit;
  if (status == 401 || status == 403 || IsAnyOf(error.type, {"authentication_error", "permission_error"}) ||
      error.code == "invalid_api_key")
    return FailureKind::kUnauthorized;
  if (IsAboutLength(status, error, message)) return FailureKind::kPromptTooLong;
  if (status == 429 || error.type == "rate_limit_error" || error.code == "rate_limit_exceeded")
    return FailureKind::kRateLimited;
  if (status == 529 || status == 503 || error.type == "overloaded_error") return FailureKind::kOverloaded;
  if (status == 408 || status == 409 || status >= 500) return FailureKind::kServerFault;
  if (status == 0 && !IsAnyOf(error.type, {"invalid_request_error", "not_found_error"}))
    return FailureKind::kServerFault;
  return FailureKind::kRejected;
}

Status AnswerStream::AddText(std::string_view piece) {
  if (answer_.text.size() + piece.size() > kMaxAnswerBytes)
    return Fail(ErrorCode::kLimit, fmt::format("an answer of more than {} bytes", kMaxAnswerBytes));
  answer_.text += piece;
  return {};
}

const WireProtocol* ProtocolOf(config::ModelTransport transport) {
  switch (transport) {
    case config::ModelTransport::kAnthropic: return &AnthropicMessages();
    case config::ModelTransport::kOpenAiChat: return &OpenAiChat();
    case config::ModelTransport::kOpenAiResponses: return &OpenAiResponses();
    case config::ModelTransport::kCommand:
    case config::ModelTransport::kOffline:
    case config::ModelTransport::kReplay: return nullptr;
  }
  return nullptr;
}

}  // namespace warpwright::llm

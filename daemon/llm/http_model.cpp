#include "llm/http_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/redaction.h"
#include "base/utf8.h"
#include "http/retry_after.h"

namespace warpwright::llm {
namespace {

constexpr size_t kShownBytes = 600;

std::string Header(const http::ClientResponse& response, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = response.headers.find(name); found != response.headers.end())
      return base::CleanText(found->second, 200);
  return {};
}

// What a provider says may repeat what we sent.
std::string Shown(std::string_view text) { return base::Redact(base::CleanText(text, kShownBytes)); }

Failed Failure(FailureKind kind, std::string message, Receipt receipt, std::string remedy = {}) {
  return {.kind = kind, .message = std::move(message), .remedy = std::move(remedy), .receipt = std::move(receipt)};
}

std::string RemedyOf(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUnauthorized: return "check the key of this model in the operator's file, and what it may do";
    case FailureKind::kSpendLimit: return "raise the limit, or pay, at the provider; nothing is asked until then";
    case FailureKind::kPromptTooLong: return "use a model with a longer context for this agent";
    case FailureKind::kRejected: return "check base_url, the model's name and structured in the operator's file";
    default: return {};
  }
}

// No answer began.
Failed FromTransport(const Error& error, bool stopping, Receipt receipt) {
  if (stopping) return Failure(FailureKind::kCancelled, "broken off, since the program ends", std::move(receipt));
  const auto kind = [&] {
    switch (error.code) {
      case ErrorCode::kTimeout: return FailureKind::kTimeout;
      case ErrorCode::kCorrupt: return FailureKind::kTooLarge;
      case ErrorCode::kEnvironment:
      case ErrorCode::kUsage: return FailureKind::kRejected;
      default: return FailureKind::kUnreachable;
    }
  }();
  return Failure(kind, Shown(error.message), std::move(receipt), error.remedy);
}

Failed FromProvider(int status, const ProviderError& error, Receipt receipt) {
  const FailureKind kind = KindOf(status, error);
  std::string message = status == 0 ? "the provider broke off" : fmt::format("HTTP {}", status);
  for (const std::string& part : {error.code.empty() ? error.type : error.code, error.message})
    if (!part.empty()) message += ": " + part;
  return Failure(kind, Shown(message), std::move(receipt), RemedyOf(kind));
}

// The stream of a success ended before the provider said so.
Failed FromEnd(http::BodyEnd end, Receipt receipt) {
  switch (end) {
    case http::BodyEnd::kStalled:
      return Failure(FailureKind::kStalled, "the answer stopped coming", std::move(receipt));
    case http::BodyEnd::kTimedOut:
      return Failure(FailureKind::kTimeout, "the answer was not complete in time", std::move(receipt));
    case http::BodyEnd::kTooLarge:
      return Failure(FailureKind::kTooLarge, fmt::format("an answer of more than {} bytes", kMaxStreamBytes),
                     std::move(receipt));
    case http::BodyEnd::kComplete:
    case http::BodyEnd::kUnwanted:
    case http::BodyEnd::kBroken: break;
  }
  return Failure(FailureKind::kCutOff, "the answer broke off", std::move(receipt));
}

Answer FromStream(const StreamedAnswer& streamed, Receipt receipt) {
  switch (streamed.stop) {
    case StopReason::kEnd: return Answered{streamed.text, std::move(receipt)};
    case StopReason::kMaxTokens: return Truncated{streamed.text, std::move(receipt)};
    case StopReason::kRefusal:
      return Refused{Shown(streamed.refusal.empty() ? streamed.text : streamed.refusal), std::move(receipt)};
    case StopReason::kNone:
    case StopReason::kUnknown: break;
  }
  return Failure(FailureKind::kUnreadable,
                 fmt::format("the answer ended for an unknown reason '{}'", Shown(streamed.stop_name)),
                 std::move(receipt));
}

// A query of the address stays at its end.
std::string AddressOf(const config::ModelSettings& settings, const WireProtocol& protocol) {
  const std::string base = settings.base_url.empty() ? protocol.DefaultAddress() : settings.base_url;
  const size_t query = std::min(base.find('?'), base.size());
  return base.substr(0, query) + protocol.Path() + base.substr(query);
}

void AddKey(const config::ModelSettings& settings, const std::string& key, http::ClientRequest& request) {
  const bool anthropic = settings.transport == config::ModelTransport::kAnthropic;
  const std::string header = settings.key_header.empty() && anthropic ? "x-api-key" : settings.key_header;
  if (header.empty()) request.bearer = key;
  else if (!key.empty()) request.secret_headers = {{header, key}};
}

}  // namespace

Result<std::string> ReadModelKey(const config::ModelSettings& settings) {
  if (!settings.key.given()) return std::string();
  WW_ASSIGN(std::string key, config::ReadSecret(settings.key, config::SecretReaders::kOwner));
  if (!base::RegisterSecret(key))
    return Fail(ErrorCode::kEnvironment, fmt::format("the key of the model '{}' is too short", settings.name),
                "is this the right file?");
  return key;
}

http::ClientRequest HttpModel::MakeRequest(const WireProtocol& protocol, const Question& question) const {
  const config::ModelSettings& settings = parts_.settings;
  http::ClientRequest request;
  request.method = "POST";
  request.url = AddressOf(settings, protocol);
  request.headers = {{"Accept", "text/event-stream"}};
  if (settings.transport == config::ModelTransport::kAnthropic)
    request.headers.emplace_back("anthropic-version", "2023-06-01");
  AddKey(settings, parts_.key, request);
  request.body = protocol.EncodeBody(settings, question);
  request.total_timeout = std::max(question.limits.deadline, std::chrono::milliseconds(1));
  request.stall_timeout = question.limits.stall;
  return request;
}

Result<Answer> HttpModel::Ask(const Question& question) {
  WW_TRY(CheckQuestion(question));
  const WireProtocol& protocol = *ProtocolOf(parts_.settings.transport);
  http::ClientRequest request = MakeRequest(protocol, question);
  const auto stream = protocol.ReadAnswer();
  http::EventStream events({.event_bytes = kMaxAnswerBytes, .total_bytes = kMaxStreamBytes},
                           [&](const http::ServerEvent& event) { return stream->Take(event); });
  Status read;
  request.receive = [&](std::string_view piece) {
    read = events.Feed(piece);
    return read && !stream->answer().error;
  };
  bool sent = false;
  request.sent = [&] { sent = true; };
  const auto begin = parts_.clock->Steady();
  const Result<http::ClientResponse> response = parts_.client->Send(request);
  Receipt receipt{.model = parts_.settings.model, .requests = response || sent ? 1 : 0};
  receipt.seconds = std::chrono::duration<double>(parts_.clock->Steady() - begin).count();
  return Conclude(response, stream->answer(), read, std::move(receipt));
}

Answer HttpModel::Conclude(const Result<http::ClientResponse>& response, const StreamedAnswer& streamed,
                           const Status& read, Receipt receipt) const {
  const bool stopping = parts_.stopping && parts_.stopping();
  if (!response) return FromTransport(response.error(), stopping, std::move(receipt));
  receipt.request_id = Header(*response, {"request-id", "x-request-id"});
  if (response->status < 200 || response->status > 299) {
    receipt.usage = {.input = 0, .cache_read = 0, .cache_write = 0, .output = 0};  // providers charge for answers
    Failed failed = FromProvider(response->status, DecodeProviderError(response->body), std::move(receipt));
    if (const auto wait = http::RetryAfter(*response, parts_.clock->Now())) failed.retry_after_ms = wait->count();
    return failed;
  }
  if (!streamed.model.empty()) receipt.model = base::CleanText(streamed.model, 200);
  receipt.usage = streamed.usage;
  if (streamed.error) return FromProvider(0, *streamed.error, std::move(receipt));
  if (!read) {
    const bool large = read.error().code == ErrorCode::kLimit;
    return Failure(large ? FailureKind::kTooLarge : FailureKind::kUnreadable, Shown(read.error().message),
                   std::move(receipt));
  }
  if (!streamed.complete || streamed.stop == StopReason::kNone) {
    if (stopping) return Failure(FailureKind::kCancelled, "broken off, since the program ends", std::move(receipt));
    return FromEnd(response->end, std::move(receipt));
  }
  return FromStream(streamed, std::move(receipt));
}

}  // namespace warpwright::llm

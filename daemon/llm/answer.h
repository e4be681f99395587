// What became of a question: visited exhaustively (base/result.h, Overload). An Error beside it is about this machine
// (a full disk, a broken ledger), never about a model or a provider.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace warpwright::llm {

// Tokens; none: the provider did not say.
struct Usage {
  std::optional<int64_t> input;  // neither read from a cache nor written to it
  std::optional<int64_t> cache_read, cache_write;
  std::optional<int64_t> output;
};

// 1e-9 US dollars: prices per million tokens are whole numbers of it, so that sums are exact.
using Nanodollars = int64_t;

// What an answer took, over all requests that were sent for it. Without requests nothing was spent.
struct Receipt {
  std::string model;  // as the provider names it
  Usage usage;
  std::optional<Nanodollars> cost;  // none: unknown, which is not zero
  int64_t requests = 0;             // that reached, or may have reached, a provider
  double seconds = 0;
  std::string request_id;  // the provider's, of the last request
};

struct Answered {
  std::string text;  // with a schema: one JSON document that satisfies it
  Receipt receipt;
};
// The model did not finish within its tokens.
struct Truncated {
  std::string text;  // as far as it came
  Receipt receipt;
};
// The model declined.
struct Refused {
  std::string reason;
  Receipt receipt;
};
// Nobody answered yet: the question waits in the exchange (llm/exchange.h). Go on with what else can move.
struct Pending {
  std::string question;  // its id
  std::string reason;    // of an answer that was found and cannot be accepted; else empty
};

enum class FailureKind {
  kUnreachable,    // no connection, or one that broke before the answer began
  kTimeout,        // the deadline passed
  kStalled,        // nothing came for too long
  kCutOff,         // the answer broke off
  kRateLimited,    // 429
  kOverloaded,     // 503, 529
  kServerFault,    // 408, 409, other 5xx
  kSpendLimit,     // the account has no money or reached a limit: nobody may retry
  kUnauthorized,   // the key is not accepted
  kPromptTooLong,  // for this model
  kRejected,       // the provider does not accept the request
  kTooLarge,       // an answer over our limit
  kUnreadable,     // not the provider's protocol
  kInvalidAnswer,  // does not satisfy the schema, also after a correction
  kCommand,        // the command could not run, or failed
  kBudget,         // one of our caps, of a day: nothing was sent
  kTaskBudget,     // one of a call or of the task, which no waiting frees: nothing was sent
  kNotRecorded,    // a replay that lacks this question
  kCancelled,      // the program ends
};
std::string_view Name(FailureKind kind);  // "rate_limited"
constexpr FailureKind Last(FailureKind) { return FailureKind::kCancelled; }
// Another attempt may succeed without anybody's doing.
bool IsTransient(FailureKind kind);
// A later run may succeed, without another question: an outage, a limit of a day, or what a person has to put right.
bool MayPass(FailureKind kind);

struct Failed {
  FailureKind kind = FailureKind::kUnreachable;
  std::string message;  // one line, without secrets
  std::string remedy;
  std::optional<int64_t> retry_after_ms;  // the provider's wish
  std::string text;                       // of an answer that came, if any
  Receipt receipt;
};

using Answer = std::variant<Answered, Truncated, Refused, Pending, Failed>;

// nullptr for Pending.
const Receipt* ReceiptOf(const Answer& answer);
Receipt* ReceiptOf(Answer& answer);
// Adds what an earlier request took. A cost or a number of tokens that is unknown once stays unknown.
void AddSpent(const Receipt& earlier, Receipt& receipt);
// "answered, 1200 tokens in (900 cached), 310 out, $0.0123"; for logs and users.
std::string Summary(const Answer& answer);

}  // namespace warpwright::llm

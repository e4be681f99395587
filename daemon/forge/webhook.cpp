#include "forge/webhook.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

using nlohmann::json;

constexpr std::string_view kSignaturePrefix = "sha256=";
constexpr size_t kDigestBytes = 32;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

tl::unexpected<Error> Missing(std::string_view event, std::string_view field) {
  return Fail(ErrorCode::kCorrupt, fmt::format("a '{}' delivery has no valid '{}'", event, field));
}
IgnoredEvent Ignored(std::string reason) { return {std::move(reason)}; }

// SHA-1 or SHA-256 in lower-case hexadecimal.
bool IsCommit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool IsNoCommit(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }
// Enough to use a ref name of git in a message or a path: no control characters, and a reasonable length.
bool IsRefName(std::string_view text) {
  return !text.empty() && text.size() <= 1024 &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
}

Result<RepositoryName> Repository(std::string_view event, const json& payload) {
  auto name = RepositoryName::Parse(TextAt(payload, {"repository", "full_name"}));
  if (!name) return Missing(event, "repository.full_name");
  return name;
}

Result<WebhookEvent> Push(const json& payload) {
  PushEvent push;
  WW_ASSIGN(push.repository, Repository("push", payload));
  push.ref = TextAt(payload, {"ref"});
  if (!IsRefName(push.ref)) return Missing("push", "ref");
  if (!push.ref.starts_with("refs/heads/")) return Ignored("a push to a ref that is not a branch");
  for (const auto& [name, commit] : {std::pair("before", &push.before), std::pair("after", &push.after)}) {
    const std::string text = TextAt(payload, {name});
    if (!IsCommit(text)) return Missing("push", name);
    if (!IsNoCommit(text)) *commit = text;
  }
  return push;
}

// `create` and `delete` name the ref, not the commits.
Result<WebhookEvent> RefEvent(std::string_view event, const json& payload) {
  PushEvent push;
  WW_ASSIGN(push.repository, Repository(event, payload));
  const std::string ref = TextAt(payload, {"ref"});
  if (!IsRefName(ref)) return Missing(event, "ref");
  if (TextAt(payload, {"ref_type"}) != "branch") return Ignored("a tag");
  push.ref = ref.starts_with("refs/heads/") ? ref : "refs/heads/" + ref;
  return push;
}

Result<WebhookEvent> PullRequest(const json& payload) {
  PullRequestEvent event;
  WW_ASSIGN(event.repository, Repository("pull_request", payload));
  event.action = TextAt(payload, {"action"});
  event.number = IntegerAt(payload, {"pull_request", "number"});
  event.head = TextAt(payload, {"pull_request", "head", "ref"});
  event.sender = TextAt(payload, {"sender", "login"});
  if (event.action.empty()) return Missing("pull_request", "action");
  if (event.number <= 0) return Missing("pull_request", "pull_request.number");
  if (!IsRefName(event.head)) return Missing("pull_request", "pull_request.head.ref");
  if (event.action != "closed" && event.action != "reopened" && event.action != "edited" &&
      event.action != "synchronize")
    return Ignored(fmt::format("a pull request that was {}", base::Clip(event.action, 40)));
  const auto head = RepositoryName::Parse(TextAt(payload, {"pull_request", "head", "repo", "full_name"}));
  event.fork = !head || !(*head == event.repository);  // a deleted repository is another one, too
  return event;
}

Result<WebhookEvent> Comment(const json& payload) {
  CommentEvent event;
  WW_ASSIGN(event.repository, Repository("issue_comment", payload));
  event.issue = IntegerAt(payload, {"issue", "number"});
  event.comment = IntegerAt(payload, {"comment", "id"});
  event.sender = TextAt(payload, {"comment", "user", "login"});
  event.sender_type = TextAt(payload, {"comment", "user", "type"});
  event.body = TextAt(payload, {"comment", "body"});
  event.on_pull_request = FindJson(payload, {"issue", "pull_request"}) != nullptr;
  const std::string action = TextAt(payload, {"action"}), actor = TextAt(payload, {"sender", "login"});
  if (action.empty()) return Missing("issue_comment", "action");
  if (event.issue <= 0) return Missing("issue_comment", "issue.number");
  if (event.comment <= 0) return Missing("issue_comment", "comment.id");
  if (action != "created") return Ignored(fmt::format("a comment that was {}", base::Clip(action, 40)));
  const bool bot = event.sender_type == "Bot" || event.sender.ends_with("[bot]") ||
                   FindJson(payload, {"comment", "performed_via_github_app"}) != nullptr ||
                   TextAt(payload, {"sender", "type"}) == "Bot";
  if (bot) return Ignored("a bot's comment");
  if (event.sender.empty()) return Missing("issue_comment", "comment.user.login");
  if (event.sender != actor) return Ignored("a comment whose author is not the sender");
  return event;
}

Result<WebhookEvent> CheckRun(const json& payload) {
  CheckRerequested event;
  WW_ASSIGN(event.repository, Repository("check_run", payload));
  const std::string action = TextAt(payload, {"action"});
  if (action != "rerequested")
    return Ignored(fmt::format("a check run that was {}", action.empty() ? "changed" : base::Clip(action, 40)));
  event.name = TextAt(payload, {"check_run", "name"});
  event.sha = TextAt(payload, {"check_run", "head_sha"});
  event.external_id = TextAt(payload, {"check_run", "external_id"});
  event.sender = TextAt(payload, {"sender", "login"});
  if (event.name.empty()) return Missing("check_run", "check_run.name");
  if (!IsCommit(event.sha)) return Missing("check_run", "check_run.head_sha");
  return event;
}

}  // namespace

bool SignatureMatches(std::string_view secret, std::string_view body, std::string_view signature) {
  if (secret.empty() || signature.size() != kSignaturePrefix.size() + 2 * kDigestBytes ||
      !signature.starts_with(kSignaturePrefix))
    return false;
  std::array<unsigned char, kDigestBytes> given{};
  for (size_t i = 0; i < kDigestBytes; ++i) {
    const int high = HexDigit(signature[kSignaturePrefix.size() + 2 * i]),
              low = HexDigit(signature[kSignaturePrefix.size() + 2 * i + 1]);
    if (high < 0 || low < 0) return false;
    given[i] = static_cast<unsigned char>(high << 4 | low);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(body.data());
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, body.size(), digest.data(), &size) ==
          nullptr ||
      size != kDigestBytes)
    return false;
  return CRYPTO_memcmp(digest.data(), given.data(), kDigestBytes) == 0;
}

Result<WebhookEvent> ParseWebhook(std::string_view event, std::string_view body) {
  if (event.empty() || event.size() > 100) return Fail(ErrorCode::kCorrupt, "the delivery does not name its event");
  if (body.starts_with("payload="))
    return Fail(ErrorCode::kCorrupt, "the delivery is form-encoded",
                "set the webhook's content type to application/json");
  // Most deliveries are of no use: their event name shows that they are not worth parsing, whatever they contain.
  constexpr std::string_view kUsed[] = {"push",          "create",    "delete", "pull_request",
                                        "issue_comment", "check_run", "ping"};
  if (std::find(std::begin(kUsed), std::end(kUsed), event) == std::end(kUsed))
    return Ignored(fmt::format("'{}' events are not handled", base::Clip(base::ValidUtf8(event), 60)));
  WW_ASSIGN(const json payload, ParseForeignJson(body, kMaxWebhookBytes));
  if (!payload.is_object()) return Fail(ErrorCode::kCorrupt, "the delivery is not a JSON object");
  if (event == "ping") return Ping{};
  if (event == "push") return Push(payload);
  if (event == "create" || event == "delete") return RefEvent(event, payload);
  if (event == "pull_request") return PullRequest(payload);
  return event == "issue_comment" ? Comment(payload) : CheckRun(payload);
}

}  // namespace warpwright::forge

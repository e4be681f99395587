// A webhook delivery as a value. The signature is checked over the raw bytes before anything is parsed; the payload is
// only a hint where to look: facts (who may do this, where the branch's head is) are queried from the forge again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "forge/forge.h"

namespace warpwright::forge {

inline constexpr size_t kMaxWebhookBytes = 25u << 20;  // GitHub's own limit

// `signature`: the header X-Hub-Signature-256, "sha256=<64 hex digits>". Runs in constant time. An empty secret never
// matches.
bool SignatureMatches(std::string_view secret, std::string_view body, std::string_view signature);

struct PushEvent {  // also create and delete: a ref moved
  RepositoryName repository;
  std::string ref, before, after;  // before/after: 40 hex digits, empty for created/deleted
};
struct PullRequestEvent {  // closed, reopened, edited (the body's task list), synchronize (somebody pushed)
  RepositoryName repository;
  int64_t number = 0;
  std::string action, head, sender;
  bool fork = false;  // the head is in another repository
};
struct CommentEvent {  // a new comment on an issue or a pull request
  RepositoryName repository;
  int64_t issue = 0, comment = 0;
  bool on_pull_request = false;
  std::string sender, sender_type, body;
};
struct CheckRerequested {
  RepositoryName repository;
  std::string name, sha, external_id, sender;
};
struct Ping {};
struct IgnoredEvent {
  std::string reason;
};
using WebhookEvent = std::variant<PushEvent, PullRequestEvent, CommentEvent, CheckRerequested, Ping, IgnoredEvent>;

// `event`: the header X-GitHub-Event. kCorrupt: not JSON, too deep, or without the fields that such an event has.
// Unknown events are IgnoredEvent.
Result<WebhookEvent> ParseWebhook(std::string_view event, std::string_view body);

// "/warpwright optimize [kernel]" as the first line of a comment.
enum class SlashVerb { kOptimize, kRetry, kExplain, kIgnore, kStop };
std::string_view Name(SlashVerb verb);
struct SlashCommand {
  SlashVerb verb = SlashVerb::kOptimize;
  std::string kernel;  // empty: the pull request's, or all
};
// No value: not for us. An Error (kUsage) names what was wrong, and is sent as the reply to its author.
Result<std::optional<SlashCommand>> ParseSlashCommand(std::string_view comment);

}  // namespace warpwright::forge

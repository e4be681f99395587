// A delivery: the first line is the event's name, the rest its payload; and the same bytes as a comment. Whatever they
// contain: no crash, an error has its code and a text, and what was accepted is safe in a path, a branch name and a
// log.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "forge/webhook.h"

namespace {

using namespace warpwright;

void Require(bool holds) {
  if (!holds) std::abort();
}
bool IsPrintable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}
void RequireRepository(const forge::RepositoryName& repository) {
  Require(forge::RepositoryName::Parse(repository.Full()).has_value());
}

struct Check {
  void operator()(const forge::PushEvent& event) const {
    RequireRepository(event.repository);
    Require(event.ref.starts_with("refs/heads/") && IsPrintable(event.ref));
    for (const std::string& commit : {event.before, event.after})
      Require(commit.empty() ||
              (commit.size() >= 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos));
  }
  void operator()(const forge::PullRequestEvent& event) const {
    RequireRepository(event.repository);
    Require(event.number > 0 && !event.head.empty() && IsPrintable(event.head));
  }
  void operator()(const forge::CommentEvent& event) const {
    RequireRepository(event.repository);
    Require(event.issue > 0 && event.comment > 0 && !event.sender.empty() && event.sender_type != "Bot");
  }
  void operator()(const forge::CheckRerequested& event) const {
    RequireRepository(event.repository);
    Require(!event.name.empty() && event.sha.size() >= 40);
  }
  void operator()(const forge::Ping&) const {}
  void operator()(const forge::IgnoredEvent& event) const { Require(!event.reason.empty()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), text.size());
  const auto event = forge::ParseWebhook(text.substr(0, line), text.substr(std::min(line + 1, text.size())));
  if (event) std::visit(Check{}, *event);
  else Require(event.error().code == ErrorCode::kCorrupt && !event.error().message.empty());

  const auto command = forge::ParseSlashCommand(text);
  if (!command)
    Require(command.error().code == ErrorCode::kUsage && IsPrintable(command.error().message) &&
            command.error().message.size() < 300);
  else if (*command)
    Require(text.starts_with("/warpwright") && IsPrintable((*command)->kernel) && (*command)->kernel.size() <= 64);
  Require(!forge::SignatureMatches("secret", text, text));
  return 0;
}

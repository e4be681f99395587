// What users do on the forge: commands in comments, ticks and closed pull requests. A payload is only a hint; the
// user's permission and the commit are queried from the forge and from git.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "report/markdown.h"
#include "report/pull_request_status.h"
#include "service/comment_reply.h"
#include "service/outdated.h"
#include "service/pipeline.h"

namespace warpwright::service {
namespace {

constexpr std::string_view kOurs = "warpwright/";
constexpr char kTickedIgnore[] = "\"ignore\" is ticked in the pull request";

std::string Ref(const std::string& branch) { return "refs/heads/" + branch; }

PublicationState StateOf(forge::PullRequestState state) {
  switch (state) {
    case forge::PullRequestState::kOpen: return PublicationState::kOpen;
    case forge::PullRequestState::kMerged: return PublicationState::kMerged;
    case forge::PullRequestState::kClosed: return PublicationState::kClosed;
  }
  return PublicationState::kClosed;
}

// The body with its "retry" box unticked.
std::string Untick(std::string body) {
  for (size_t at = body.find("- [x]"); at != std::string::npos; at = body.find("- [x]", at + 1)) {
    const std::string_view line = std::string_view(body).substr(at, body.find('\n', at) - at);
    if (line.find("retry") != std::string_view::npos || line.find("Retry") != std::string_view::npos)
      body[at + 3] = ' ';
  }
  return body;
}

}  // namespace

Result<bool> Pipeline::HandleNextDelivery() {
  if (ports_.conversation == nullptr) return false;
  WW_ASSIGN(const auto deliveries, ports_.store.WaitingDeliveries(1, true));
  if (deliveries.empty()) return false;
  const StoredDelivery& delivery = deliveries.front();
  const base::LogScope scope({{"delivery", delivery.id}});
  if (const Status answered = HandleDelivery(delivery); !answered) {
    base::LogError("delivery_failed", answered.error());
    // A request that the forge rejects as invalid will not succeed on a retry.
    if (answered.error().code == ErrorCode::kUnsupported || answered.error().code == ErrorCode::kCorrupt)
      WW_TRY(ports_.store.FinishDelivery(delivery.id, "failed: " + answered.error().message));
    else WW_TRY(ports_.store.DeliveryFailed(delivery.id, answered.error().message));
  }
  return true;
}

Status Pipeline::HandleDelivery(const StoredDelivery& delivery) {
  if (delivery.event == Store::kReplyEvent) {
    const nlohmann::json body = base::ParseJson(delivery.body).value_or(nullptr);
    const auto place = body.is_object() ? FindPlace(body.value("repository", std::string())) : std::nullopt;
    if (!place || !place->on_forge) return ports_.store.FinishDelivery(delivery.id, "unknown repository");
    WW_TRY(ports_.conversation->PutComment(
        *place->on_forge, MakeReply(body.value("issue", int64_t{0}), body.value("comment", int64_t{0}),
                                    report::EscapeMarkdown(body.value("text", std::string()), 4'000))));
    return ports_.store.FinishDelivery(delivery.id, "answered");
  }
  WW_ASSIGN(const forge::WebhookEvent event, forge::ParseWebhook(delivery.event, delivery.body));
  return std::visit(
      [&](const auto& e) -> Status {
        if constexpr (requires { HandleDelivery(delivery, std::declval<const TrackedRepository&>(), e); }) {
          const auto place = FindPlace(e.repository);
          if (!place) return ports_.store.FinishDelivery(delivery.id, "unknown repository");
          return HandleDelivery(delivery, *place, e);
        } else {
          return ports_.store.FinishDelivery(delivery.id, "ignored");
        }
      },
      event);
}

Result<bool> Pipeline::MayCommand(const TrackedRepository& place, const std::string& login) {
  WW_ASSIGN(const forge::Permission permission, ports_.conversation->PermissionOf(*place.on_forge, login));
  return permission >= forge::Permission::kWrite;
}

Status Pipeline::HandleDelivery(const StoredDelivery& delivery, const TrackedRepository& place,
                                const forge::CommentEvent& comment) {
  if (comment.sender_type == "Bot") return ports_.store.FinishDelivery(delivery.id, "ignored: by a bot");
  const auto command = forge::ParseSlashCommand(comment.body);
  if (command && !*command) return ports_.store.FinishDelivery(delivery.id, "ignored: no command");
  HandledCommand handled{.repository = place.name,
                         .comment = comment.comment,
                         .verb = std::string(command ? Name((*command)->verb) : "invalid")};
  WW_ASSIGN(const bool seen, ports_.store.WasHandled(place.name, comment.comment, handled.verb));
  if (seen) return ports_.store.FinishDelivery(delivery.id, "repeated: its command was handled before");
  WW_ASSIGN(const bool may, MayCommand(place, comment.sender));
  if (!may) {
    WW_TRY(ports_.conversation->React(*place.on_forge, comment.comment, "-1"));
    base::Log(base::LogLevel::kWarning, "command_refused", "a command by a user without write permission",
              {{"repo", place.name}, {"sender", comment.sender}});
    return ports_.store.FinishDelivery(delivery.id, "refused: no write permission", {}, handled);
  }
  Reply reply;
  if (command) {
    WW_ASSIGN(reply, HandleCommand(place, comment, **command));
  } else {
    reply = {report::EscapeMarkdown(command.error().Format()), {}, true};
  }
  WW_TRY(ports_.conversation->React(*place.on_forge, comment.comment, reply.refused ? "-1" : "rocket"));
  if (!reply.text.empty())
    WW_TRY(ports_.conversation->PutComment(*place.on_forge, MakeReply(comment.issue, comment.comment, reply.text)));
  base::Log(base::LogLevel::kInfo, "command", comment.body.substr(0, comment.body.find('\n')),
            {{"repo", place.name}, {"sender", comment.sender}, {"events", reply.events.size()}});
  if (!reply.events.empty()) handled.commit = reply.events.front().to;
  return ports_.store.FinishDelivery(delivery.id, reply.refused ? "refused: by what it asks" : "command", reply.events,
                                     handled);
}

Result<Pipeline::Reply> Pipeline::HandleCommand(const TrackedRepository& place, const forge::CommentEvent& comment,
                                                const forge::SlashCommand& command) {
  forge::SlashCommand full = command;
  if (full.kernel.empty() && comment.on_pull_request && full.verb != forge::SlashVerb::kOptimize &&
      full.verb != forge::SlashVerb::kRetry) {
    WW_ASSIGN(const forge::PullRequestView view, ports_.conversation->ReadPullRequest(*place.on_forge, comment.issue));
    if (view.head.starts_with(kOurs)) full.kernel = view.head.substr(kOurs.size());
  }
  const std::string whose = full.kernel.empty() ? std::string("all kernels") : report::CodeSpan(full.kernel);
  switch (full.verb) {
    case forge::SlashVerb::kOptimize:
    case forge::SlashVerb::kRetry: return HandleOptimizeCommand(place, comment, full);
    case forge::SlashVerb::kIgnore: {
      if (full.kernel.empty()) return Reply{"Which kernel? `/warpwright ignore KERNEL`.", {}, true};
      WW_TRY(ports_.store.Ignore({.repository = place.name, .kernel = full.kernel, .reason = "ignored by a comment"}));
      WW_ASSIGN(const auto running, ports_.store.Cancel(place.name, full.kernel, "ignored"));
      for (const int64_t job : running) StopJob(job);
      WW_TRY(SayOnOpenPullRequest(place, full.kernel,
                                  "**Ignored: warpwright no longer updates this pull request** until someone asks for "
                                  "it with `/warpwright optimize`"));
      return Reply{
          fmt::format("{} is ignored until someone requests it with `/warpwright optimize {}`.", whose, full.kernel),
          {},
          false};
    }
    case forge::SlashVerb::kStop: {
      WW_ASSIGN(const auto running, ports_.store.Cancel(place.name, full.kernel, "stopped by a comment"));
      for (const int64_t job : running) StopJob(job);
      return Reply{fmt::format("Stopped the running and waiting jobs for {}.", whose), {}, false};
    }
    case forge::SlashVerb::kExplain: {
      if (full.kernel.empty()) return Reply{"Which kernel? `/warpwright explain KERNEL`.", {}, true};
      WW_ASSIGN(const auto job, ports_.store.LatestJob(place.name, full.kernel));
      if (!job) return Reply{fmt::format("There was no job for {} yet.", whose), {}, false};
      std::string text = DescribeJob(*job) + "\n";
      if (const auto request = MakeRequest(*job, place)) {
        const report::CheckText check = report::RenderCheck(request->explanation, request->provenance);
        text += "\n" + check.summary + "\n\n" + check.text;
      }
      if (base::CodePoints(text) > report::kMaxBodyCharacters) text = DescribeJob(*job);
      return Reply{std::move(text), {}, false};
    }
  }
  return Reply{};
}

// Its readers may not see where the command was given.
Status Pipeline::SayOnOpenPullRequest(const TrackedRepository& place, const std::string& kernel,
                                      std::string_view headline) {
  WW_ASSIGN(const auto row, ports_.store.FindPublication(place.name, kernel));
  if (!row || row->state != PublicationState::kOpen) return {};
  return PutStatusComment(ports_.conversation, *place.on_forge, row->pull_request, headline, "");
}

// On a pull request: at the commit that the forge reports as its head, which must be a branch of this repository. Else
// the watched branch.
Result<Pipeline::Reply> Pipeline::HandleOptimizeCommand(const TrackedRepository& place,
                                                        const forge::CommentEvent& comment,
                                                        const forge::SlashCommand& command) {
  Event event;
  event.repository = place.name;
  event.kernel = command.kernel;
  event.priority = JobPriority::kCommand;
  event.again = command.verb == forge::SlashVerb::kRetry;
  event.answer_issue = comment.issue;
  event.answer_comment = comment.comment;
  (void)Poll(place.name);  // if the remote is unreachable, the last poll's result is used
  WW_ASSIGN(const auto tips, ports_.store.Tips(place.name));
  if (comment.on_pull_request) {
    WW_ASSIGN(const forge::PullRequestView view, ports_.conversation->ReadPullRequest(*place.on_forge, comment.issue));
    if (view.state != forge::PullRequestState::kOpen) return Reply{"This pull request is closed.", {}, true};
    WW_ASSIGN(const repo::Mirror mirror, place.OpenMirror());
    WW_ASSIGN(const repo::Refs known, mirror.Known());
    const auto head = known.find(Ref(view.head)), base = known.find(Ref(view.base));
    if (head == known.end() || head->second != view.head_sha)
      return Reply{
          "The head of this pull request is not a branch of this repository; code of forks is never run.", {}, true};
    if (view.head.starts_with(kOurs)) {
      if (base == known.end()) return Reply{"The base branch no longer exists.", {}, true};
      if (event.kernel.empty()) event.kernel = view.head.substr(kOurs.size());
      event.ref = base->first;
      event.to = base->second;
    } else {
      event.ref = head->first;
      event.to = head->second;
      if (event.kernel.empty() && base != known.end()) event.from = base->second;  // what the pull request changes
    }
  } else {
    if (tips.empty()) return Reply{"No branch of this repository is known yet.", {}, true};
    event.ref = tips.begin()->first;
    if (!place.branches.empty() && tips.count(Ref(place.branches.front())) == 1)
      event.ref = Ref(place.branches.front());
    event.to = tips.at(event.ref);
  }
  if (!event.kernel.empty()) {
    WW_ASSIGN(const auto ignored, ports_.store.FindIgnored(place.name, event.kernel));
    if (ignored)
      WW_TRY(SayOnOpenPullRequest(place, event.kernel, "**No longer ignored**: warpwright keeps this up to date"));
  }
  return Reply{
      fmt::format("Queued at {}: {}.", report::CodeSpan(event.to.substr(0, 12)),
                  event.kernel.empty() ? std::string("every affected kernel") : report::CodeSpan(event.kernel)),
      {event},
      false};
}

Status Pipeline::HandleDelivery(const StoredDelivery& delivery, const TrackedRepository& place,
                                const forge::PullRequestEvent& event) {
  if (event.fork || !event.head.starts_with(kOurs))
    return ports_.store.FinishDelivery(delivery.id, "ignored: not ours");
  WW_ASSIGN(const forge::PullRequestView view, ports_.conversation->ReadPullRequest(*place.on_forge, event.number));
  if (view.head != event.head) return ports_.store.FinishDelivery(delivery.id, "ignored: not what it says");
  WW_ASSIGN(const auto events, SyncPullRequest(place, view.head.substr(kOurs.size()), view, event.sender));
  return ports_.store.FinishDelivery(delivery.id, "pull request", events);
}

Result<std::vector<Event>> Pipeline::SyncPullRequest(const TrackedRepository& place, const std::string& kernel,
                                                     const forge::PullRequestView& view, const std::string& sender) {
  std::vector<Event> events;
  WW_ASSIGN(const auto rows, ports_.store.Publications(place.name));
  PublicationRow row{.repository = place.name,
                     .kernel = kernel,
                     .branch = view.head,
                     .commit = view.head_sha,
                     .pull_request = view.number,
                     .url = view.url};
  bool known_before = false;
  for (const auto& known : rows) {
    if (known.kernel != kernel) continue;
    row = known;
    known_before = known.pull_request == view.number;
  }
  if (row.pull_request > view.number) return events;  // an older one
  const auto body = report::ParseBody(view.body);
  if (row.file_hash.empty() && body && row.base_commit.empty()) row.base_commit = body->base_commit;
  const PublicationState state = StateOf(view.state);
  const bool changed = row.state != state || row.pull_request != view.number;
  row.pull_request = view.number;
  row.url = view.url;
  row.state = state;
  const auto say = [&](std::string_view headline, std::string_view why) {
    return PutStatusComment(ports_.conversation, *place.on_forge, view.number, headline, why);
  };
  const bool reopened = changed && state == PublicationState::kOpen && known_before;
  if (changed && state == PublicationState::kClosed)
    WW_TRY(
        say("**Closed: warpwright does not propose this again** until the kernel's file changes or someone "
            "asks for it with `/warpwright optimize`",
            ""));
  if (reopened) WW_TRY(say("**Opened again**: warpwright keeps this up to date", ""));
  if (changed) WW_TRY(ports_.store.PutPublication(row));
  WW_ASSIGN(const auto ignored, ports_.store.FindIgnored(place.name, kernel));
  if (state == PublicationState::kClosed && changed) {
    const std::string reason = fmt::format("pull request #{} was closed without merging", view.number);
    // If it is unknown which version was closed, the publisher determines it when there is something to propose.
    if (!row.file_hash.empty())
      WW_TRY(ports_.store.Ignore(
          {.repository = place.name, .kernel = kernel, .file_hash = row.file_hash, .reason = reason}));
    base::Log(base::LogLevel::kInfo, "pull_request_closed", reason, {{"repo", place.name}, {"kernel", kernel}});
  }
  if (state != PublicationState::kOpen) return events;
  if (changed && ignored && ignored->reason != kTickedIgnore)
    WW_TRY(ports_.store.Unignore(place.name, kernel));  // opened again
  if (!body) return events;
  WW_TRY(ReportForeignCommit(place, row, view));
  const bool unticked = ignored && ignored->reason == kTickedIgnore && !body->ignore;
  const bool newly_ticked = body->ignore && !ignored;
  if (!unticked && !newly_ticked && !body->retry) return events;
  // Without a sender (no webhook reported it): only users with write permission can edit warpwright's bodies.
  if (!sender.empty()) {
    WW_ASSIGN(const bool may, MayCommand(place, sender));
    if (!may) return events;
  }
  if (unticked) {
    WW_TRY(say("**No longer ignored**: warpwright keeps this up to date", ""));
    WW_TRY(ports_.store.Unignore(place.name, kernel));
  }
  if (newly_ticked) {
    WW_TRY(say("**Ignored: warpwright no longer updates this pull request** until the box is unticked", ""));
    WW_TRY(ports_.store.Ignore({.repository = place.name, .kernel = kernel, .reason = kTickedIgnore}));
    WW_ASSIGN(const auto running, ports_.store.Cancel(place.name, kernel, kTickedIgnore));
    for (const int64_t job : running) StopJob(job);
  }
  if (body->retry && !body->ignore) {
    WW_ASSIGN(const auto tips, ports_.store.Tips(place.name));
    const auto base = tips.find(Ref(view.base));
    if (base == tips.end()) return events;
    Event event;
    event.repository = place.name;
    event.ref = base->first;
    event.to = base->second;
    event.kernel = kernel;
    event.priority = JobPriority::kCommand;
    event.again = true;
    WW_TRY(ports_.store.AddEvent(
        event));  // before the box is unticked: a repetition is better than a loss, and is merged with the first
    forge::PullRequestRequest request;
    request.head = view.head;
    request.base = view.base;
    request.title = view.title;
    request.body = Untick(view.body);
    request.draft = view.draft;
    request.expected_body = view.body;
    WW_TRY(ports_.forge->PutPullRequest(*place.on_forge, request));
  }
  return events;
}

// Also where no new version of the kernel leads to a job: what the title says is no longer what the branch holds.
Status Pipeline::ReportForeignCommit(const TrackedRepository& place, const PublicationRow& row,
                                     const forge::PullRequestView& view) {
  if (row.commit.empty() || row.commit == view.head_sha || report::IsMarkedOutdated(view.body)) return {};
  WW_ASSIGN(repo::Mirror mirror, place.OpenMirror());
  WW_ASSIGN(const repo::Mirror::Tip tip, mirror.RemoteTip(view.head));
  if (tip.owner != repo::Mirror::Owner::kForeign) return {};
  const std::string why = ForeignCommitReason(view.head, tip.commit);
  // Before the body, whose mark says that all is said.
  WW_TRY(PutStatusComment(ports_.conversation, *place.on_forge, view.number, kNoLongerUpdated, why));
  return MarkPullRequestOutdated(*ports_.forge, *place.on_forge, view, why);
}

Status Pipeline::HandleDelivery(const StoredDelivery& delivery, const TrackedRepository& place,
                                const forge::CheckRerequested& check) {
  constexpr std::string_view kPrefix = "warpwright-job-";
  WW_ASSIGN(const bool may, MayCommand(place, check.sender));
  if (!may) return ports_.store.FinishDelivery(delivery.id, "refused: no write permission");
  int64_t id = 0;
  if (check.external_id.starts_with(kPrefix) && check.external_id.size() < 40)
    id = std::strtoll(check.external_id.c_str() + kPrefix.size(), nullptr, 10);
  const auto job = ports_.store.FindJob(id);
  if (!job || job->repository != place.name || job->commit != check.sha)
    return ports_.store.FinishDelivery(delivery.id, "ignored: no check of ours");
  // Nothing in the payload tells a second request from the first one sent again; a later job answers both.
  WW_ASSIGN(const bool repeated, ports_.store.IsOutdated(*job));
  if (repeated) return ports_.store.FinishDelivery(delivery.id, "repeated: a later job exists");
  Event event;
  event.repository = place.name;
  event.ref = job->ref;
  event.to = job->commit;
  event.kernel = job->what.kernel;
  event.priority = JobPriority::kCommand;
  event.again = true;
  return ports_.store.FinishDelivery(delivery.id, "check", {event});
}

Status Pipeline::Reconcile(const std::atomic<bool>& stop) {
  if (ports_.forge == nullptr) return {};
  for (const TrackedRepository& place : Repositories()) {
    if (!place.on_forge || place.publish != config::PublishTo::kPullRequest) continue;
    WW_ASSIGN(const auto rows, ports_.store.Publications(place.name));
    if (const Status carried = CarryOver(place); !carried)
      base::LogError("carry_failed", carried.error(), {{"repo", place.name}});
    for (const PublicationRow& row : rows) {
      if (stop) return {};
      if (row.pull_request == 0 || row.state != PublicationState::kOpen) continue;
      const auto view = ports_.forge->FindPullRequest(*place.on_forge, row.branch);
      if (!view) {
        base::LogError("reconcile_failed", view.error(), {{"repo", place.name}, {"kernel", row.kernel}});
        break;  // retried in the next round
      }
      if (!*view) continue;
      const auto followed = SyncPullRequest(place, row.kernel, **view, "");
      if (!followed)
        base::LogError("reconcile_failed", followed.error(), {{"repo", place.name}, {"kernel", row.kernel}});
    }
  }
  return {};
}

}  // namespace warpwright::service

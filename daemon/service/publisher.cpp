#include "service/publisher.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "report/diff_summary.h"
#include "report/markdown.h"
#include "report/pull_request_status.h"
#include "service/comment_reply.h"
#include "service/outdated.h"

namespace warpwright::service {
namespace {

forge::Conclusion ConclusionOf(core::TaskOutcome outcome) {
  switch (outcome) {
    case core::TaskOutcome::kImproved: return forge::Conclusion::kSuccess;
    case core::TaskOutcome::kUnchanged:
    case core::TaskOutcome::kRefused:
    case core::TaskOutcome::kIgnored:
    case core::TaskOutcome::kUnfinished: return forge::Conclusion::kNeutral;
    case core::TaskOutcome::kError:
    case core::TaskOutcome::kDetected:
    case core::TaskOutcome::kChecked:
    case core::TaskOutcome::kRegression:
    case core::TaskOutcome::kSuperseded:
    case core::TaskOutcome::kCancelled: return forge::Conclusion::kFailure;
  }
  return forge::Conclusion::kFailure;
}

class Publisher {
 public:
  Publisher(const PublishRequest& request, const PublicationPorts& ports, const PublicationObserver& observer)
      : request_(request),
        mirror_(ports.mirror),
        forge_(ports.forge),
        conversation_(ports.conversation),
        observer_(observer) {}

  Result<Publication> Run() {
    const bool gained = !request_.commit.empty() && request_.to != config::PublishTo::kNone;
    if (request_.to != config::PublishTo::kNone && !request_.ignored_because.empty())
      End(Disposition::kIgnored, request_.ignored_because);
    else if (gained) WW_TRY(Gain());
    if (!Speaks()) return done_;
    if (done_.disposition == Disposition::kWaiting) {  // tried again each minute, and said once
      if (done_.message != request_.waits_for) WW_TRY(Check());
      return done_;
    }
    if (done_.disposition != Disposition::kProposed && done_.disposition != Disposition::kBranchOnly) WW_TRY(Stop());
    WW_TRY(Check());
    return done_;
  }

 private:
  bool Speaks() const {
    return forge_ != nullptr && request_.repository && request_.to == config::PublishTo::kPullRequest;
  }
  bool Proposes() const { return Speaks() && request_.policy.enabled; }
  void End(Disposition disposition, std::string message) {
    done_.disposition = disposition;
    done_.message = std::move(message);
  }
  Status Tell(PublicationStep step) const { return observer_ ? observer_(step, done_) : Status(); }

  std::string Branch() const { return "warpwright/" + request_.kernel; }
  std::string Base() const { return report::CodeSpan(request_.base_commit.substr(0, 12)); }

  // Nothing new is proposed: what is open must not look as if it held.
  Status Stop() {
    if (!request_.proposed_before) return {};
    WW_ASSIGN(const auto view, forge_->FindPullRequest(*request_.repository, Branch()));
    if (!view || view->state == forge::PullRequestState::kMerged) return {};
    if (view->state == forge::PullRequestState::kClosed)
      return done_.closed_pull_request != view->number
                 ? Status()
                 : Comment(view->number,
                           "**warpwright does not propose this again** until the kernel's file changes or "
                           "someone asks for it with `/warpwright optimize`",
                           "");
    const auto body = report::ParseBody(view->body);
    const bool foreign = done_.disposition == Disposition::kForeignBranch;
    const bool same_version = body && body->base_commit == request_.base_commit;
    if (same_version && done_.disposition == Disposition::kNothing) return {};  // tried again, with no better result
    const bool nothing = done_.disposition == Disposition::kNothing;
    const std::string why = nothing ? request_.explanation.outcome_reason : done_.message;
    if (foreign || !same_version)
      WW_TRY(MarkPullRequestOutdated(*forge_, *request_.repository, *view,
                                     WasNotTried() ? "The version on its base could not be tried: " + why : why));
    return Comment(view->number, HeadlineOfStop(), why);
  }

  // A failure of ours, or a kernel that is refused, says nothing about how fast it could be.
  bool WasNotTried() const {
    const core::TaskOutcome outcome = request_.explanation.outcome;
    return done_.disposition == Disposition::kNothing &&
           (outcome == core::TaskOutcome::kError || outcome == core::TaskOutcome::kRefused);
  }
  std::string HeadlineOfStop() const {
    if (request_.carried && request_.explanation.outcome == core::TaskOutcome::kError)
      return fmt::format("**This conflicts with its base**, and carrying it over to {} failed", Base());
    if (request_.carried) return "**This conflicts with its base and cannot be carried over** to " + Base();
    if (done_.disposition != Disposition::kNothing) return kNoLongerUpdated;
    return fmt::format("**{} the version at {}**, and what is proposed here was found for an earlier one",
                       WasNotTried() ? "Nothing could be tried for" : "Nothing faster was found for", Base());
  }

  Status Comment(int64_t number, std::string_view headline, std::string_view why) {
    return PutStatusComment(conversation_, *request_.repository, number, headline, why);
  }

  // Push, then pull request; neither if users or limits prevent it.
  Status Gain() {
    WW_ASSIGN(repo::Mirror::Tip tip, mirror_.RemoteTip(request_.branch));
    if (tip.owner == repo::Mirror::Owner::kForeign) {
      End(Disposition::kForeignBranch, ForeignCommitReason(request_.branch, tip.commit));
      return {};
    }
    if (Proposes()) {
      WW_ASSIGN(const bool wanted, PullRequestIsWanted());
      if (!wanted) return {};
    }
    WW_TRY(Push(tip));
    if (!Proposes()) {
      End(Disposition::kBranchOnly, "pushed to " + request_.branch);
      return {};
    }
    return Propose();
  }

  // False: a user's decision or a limit prevents it.
  Result<bool> PullRequestIsWanted() {
    WW_ASSIGN(const auto existing, forge_->FindPullRequest(*request_.repository, request_.branch));
    const std::optional<report::BodyState> body = existing ? report::ParseBody(existing->body) : std::nullopt;
    const bool open = existing && existing->state == forge::PullRequestState::kOpen;
    if (existing && existing->state == forge::PullRequestState::kMerged) done_.merged_pull_request = existing->number;
    if (open) read_body_ = existing->body;
    if (open) open_number_ = existing->number;
    if (open && body && !request_.asked_for) {
      done_.retry_ticked |= body->retry;
      if (body->ignore) {
        End(Disposition::kIgnored, fmt::format("\"ignore\" is ticked in pull request #{}", existing->number));
        return false;
      }
    }
    if (existing && existing->state == forge::PullRequestState::kClosed && !request_.asked_for) {
      WW_ASSIGN(const bool changed, FileChangedSince(body));
      if (!changed) {
        End(Disposition::kIgnored, fmt::format("pull request #{} was closed without merging, and {} is unchanged",
                                               existing->number, request_.file));
        done_.closed_pull_request = existing->number;
        return false;
      }
    }
    if (open) return true;
    if (request_.open_pull_requests >= request_.policy.max_open) {
      End(Disposition::kWaiting,
          fmt::format("{} of {} pull requests are open", request_.open_pull_requests, request_.policy.max_open));
      return false;
    }
    if (request_.opened_today >= request_.policy.max_per_day) {
      End(Disposition::kWaiting, fmt::format("{} of {} pull requests of today were opened", request_.opened_today,
                                             request_.policy.max_per_day));
      return false;
    }
    return true;
  }

  // If the content of the closed pull request is unknown, it counts as the same: a second unwanted one is worse than a
  // missed one.
  Result<bool> FileChangedSince(const std::optional<report::BodyState>& body) {
    WW_ASSIGN(const std::string now, FileHash(mirror_.repository(), request_.base_commit, request_.file));
    std::string then = request_.closed_file_hash;
    if (body && !body->base_commit.empty()) {
      const auto hash =
          FileHash(mirror_.repository(), body->base_commit, request_.file);  // the mirror may no longer have the commit
      if (hash) then = *hash;
    }
    return !then.empty() && then != now;
  }

  Status Push(repo::Mirror::Tip tip) {
    for (int attempt = 0; tip.commit != request_.commit; ++attempt) {
      WW_ASSIGN(const repo::Mirror::PushResult pushed, mirror_.Push(request_.branch, request_.commit, tip.commit));
      if (pushed.done) break;
      if (attempt == 1)
        return Fail(ErrorCode::kEnvironment,
                    fmt::format("{} was rejected by the remote: {}", request_.branch, pushed.rejected),
                    "check whether the credentials may push, and whether a rule protects warpwright/*");
      WW_ASSIGN(tip, mirror_.RemoteTip(request_.branch));  // someone else pushed first; retry from the current tip
      if (tip.owner == repo::Mirror::Owner::kForeign)
        return Fail(
            ErrorCode::kIo,
            request_.branch + " was changed by someone else at the same time");  // the next attempt sees it immediately
    }
    done_.pushed = request_.commit;
    return Tell(PublicationStep::kPushed);
  }

  report::Provenance FullProvenance() {
    report::Provenance provenance = request_.provenance;
    provenance.branch = request_.branch;
    provenance.base_branch = request_.base_branch;
    provenance.candidate_commit = request_.commit;
    if (provenance.run_id.empty()) provenance.run_id = request_.external_id;
    if (request_.commit.empty()) return provenance;
    if (const auto diff = mirror_.repository().Diff(request_.base_commit, request_.commit, request_.file))
      report::AddDiff(*diff, provenance);
    return provenance;
  }

  Status Propose() {
    const report::PullRequestText text = report::RenderPullRequest(request_.explanation, FullProvenance());
    forge::PullRequestRequest request;
    request.head = request_.branch;
    request.base = request_.base_branch;
    request.title = text.title;
    request.body = text.body;
    request.draft = request_.policy.draft || text.draft || request_.explanation.modelled;
    request.labels = request_.policy.labels;
    request.reviewers = request_.policy.reviewers;
    request.expected_body = read_body_;
    // Before the body, whose mark says that there is something to correct.
    if (open_number_ != 0 && request_.carried)
      WW_TRY(Comment(open_number_,
                     fmt::format("**Carried over to {}**: its base changed the file around the kernel, not the kernel. "
                                 "The same change was spliced into the new file and verified there",
                                 Base()),
                     ""));
    else if (open_number_ != 0 && report::IsMarkedOutdated(*read_body_))
      WW_TRY(Comment(open_number_, "**Up to date again** at " + Base(), ""));
    for (int attempt = 0;; ++attempt) {
      WW_ASSIGN(done_.pull_request, forge_->PutPullRequest(*request_.repository, request));
      if (!done_.pull_request->body_left) break;
      if (attempt == 3) return Fail(ErrorCode::kIo, "the pull request's body is being edited by someone else");
      request.expected_body = done_.pull_request->view.body;  // a tick since it was read: detected, and then replaced
      if (const auto body = report::ParseBody(*request.expected_body); body && !request_.asked_for)
        done_.retry_ticked |= body->retry;
    }
    End(Disposition::kProposed, fmt::format("pull request #{} {}", done_.pull_request->view.number,
                                            forge::Name(done_.pull_request->operation)));
    return Tell(PublicationStep::kProposed);
  }

  Status Check() {
    report::CheckText text = report::RenderCheck(request_.explanation, FullProvenance());
    forge::CheckRequest check;
    check.name = "warpwright / " + request_.kernel;
    check.sha = request_.base_commit;
    check.external_id = request_.external_id;
    check.conclusion = ConclusionOf(request_.explanation.outcome);
    check.title = text.title;
    check.summary = text.summary;
    check.text = text.text;
    if (done_.disposition == Disposition::kIgnored || done_.disposition == Disposition::kForeignBranch) {
      check.conclusion = forge::Conclusion::kNeutral;
      check.summary = "Not proposed: " + report::EscapeMarkdown(done_.message) + ".\n\n" + check.summary;
    }
    if (done_.disposition == Disposition::kWaiting) {
      check.conclusion = forge::Conclusion::kNeutral;
      check.summary = "Waiting: " + report::EscapeMarkdown(done_.message) + ". It is proposed when there is room.\n\n" +
                      check.summary;
    }
    if (request_.explanation.outcome == core::TaskOutcome::kIgnored) {  // nothing was tried
      check.title = "Ignored";
      check.summary =
          "Ignored: " + report::EscapeMarkdown(done_.message) + ". `/warpwright optimize` requests it again.";
      check.text.clear();
    }
    if (done_.pull_request) check.details_url = done_.pull_request->view.url;
    for (const auto& note : text.notes)
      check.annotations.push_back({.path = request_.file,
                                   .start_line = note.line,
                                   .end_line = note.line,
                                   .title = note.title,
                                   .message = note.message});
    WW_ASSIGN(done_.check, forge_->PutCheck(*request_.repository, check));
    return Tell(PublicationStep::kReported);
  }

  const PublishRequest& request_;
  repo::Mirror& mirror_;
  forge::Forge* forge_;
  forge::CommentPort* conversation_;
  const PublicationObserver& observer_;
  std::optional<std::string> read_body_;  // of the open pull request
  int64_t open_number_ = 0;
  Publication done_;
};

}  // namespace

std::string_view Name(Disposition disposition) {
  switch (disposition) {
    case Disposition::kProposed: return "proposed";
    case Disposition::kBranchOnly: return "branch";
    case Disposition::kNothing: return "nothing";
    case Disposition::kForeignBranch: return "left_alone";
    case Disposition::kIgnored: return "ignored";
    case Disposition::kWaiting: return "waiting";
  }
  return "";
}

Result<Publication> Publish(const PublishRequest& request, const PublicationPorts& ports,
                            const PublicationObserver& observer) {
  return Publisher(request, ports, observer).Run();
}

Result<std::string> FileHash(const repo::Repository& repository, const std::string& commit, const std::string& file) {
  WW_ASSIGN(const auto content, repository.Read(commit, file));
  return content ? base::Sha256(*content) : std::string();
}

Result<int> CountOpenPullRequests(const repo::Refs& remote_refs, const std::string& except_branch,
                                  const forge::RepositoryName& repository, forge::Forge& forge) {
  int open = 0;
  constexpr std::string_view kHeads = "refs/heads/";
  for (const auto& [ref, commit] : remote_refs) {
    const std::string branch = ref.starts_with(kHeads) ? ref.substr(kHeads.size()) : ref;
    if (!branch.starts_with("warpwright/") || branch == except_branch) continue;
    WW_ASSIGN(const auto found, forge.FindPullRequest(repository, branch));
    if (found && found->state == forge::PullRequestState::kOpen) ++open;
  }
  return open;
}

}  // namespace warpwright::service

#include "service/comment_reply.h"

#include <fmt/format.h>

#include "base/log.h"
#include "report/explanation.h"
#include "report/markdown.h"
#include "report/pull_request_status.h"

namespace warpwright::service {

forge::CommentRequest MakeReply(int64_t issue, int64_t comment, const std::string& text) {
  forge::CommentRequest request;
  request.issue = issue;
  request.marker = fmt::format("<!-- warpwright:answer {} -->", comment);
  request.body = request.marker + "\n" + text;
  return request;
}

std::string DescribeJob(const Job& job) {
  const bool ended = IsFinal(job.state) || job.state == JobState::kReported;
  const std::optional<core::TaskOutcome> outcome = job.outcome ? job.outcome : job.result.outcome;
  std::string text = fmt::format("- {}: ", report::CodeSpan(job.what.kernel));
  if (!ended) text += Name(PhaseOf(job.state));
  else if (outcome) text += Name(*outcome);
  if (job.result.outcome == core::TaskOutcome::kImproved)
    text +=
        fmt::format(", {} ({})", report::FormatGain(job.result.gain), job.result.modelled ? "modelled" : "measured");
  const std::string why = !job.note.empty() ? job.note : job.result.message;
  if (!why.empty()) text += ". " + report::EscapeMarkdown(why);
  if (!job.pull_request_url.empty()) text += " " + report::SafeUrl(job.pull_request_url);
  return text + fmt::format(" (commit {})", job.commit.substr(0, 12));
}

Status PutStatusComment(forge::CommentPort* port, const forge::RepositoryName& repository, int64_t pull_request,
                        std::string_view headline, std::string_view why) {
  if (port == nullptr || pull_request == 0) return {};
  forge::CommentRequest request;
  request.issue = pull_request;
  request.marker = report::kStatusMarker;
  request.body = report::RenderStatusComment(headline, why);
  const auto put = port->PutComment(repository, request);
  if (put) return {};
  if (put.error().code != ErrorCode::kEnvironment && put.error().code != ErrorCode::kUnsupported)
    return Fail(put.error());
  base::LogError("comment_refused", put.error(), {{"pull_request", pull_request}});
  return {};
}

}  // namespace warpwright::service

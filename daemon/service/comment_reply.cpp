#include "service/comment_reply.h"

#include <fmt/format.h>

#include "report/explanation.h"
#include "report/markdown.h"

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

}  // namespace warpwright::service

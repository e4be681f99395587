// The reply to a comment that contains a command, and the one comment about the state of a pull request. Untrusted text
// is escaped.
#pragma once

#include <string>
#include <string_view>

#include "forge/forge.h"
#include "service/job.h"

namespace warpwright::service {

// One reply per comment, found again by its marker. `text`: Markdown from warpwright.
forge::CommentRequest MakeReply(int64_t issue, int64_t comment, const std::string& text);
// "- `softmax`: improved, 1.64x; <url>".
std::string DescribeJob(const Job& job);

// Writes or edits the comment of report/pull_request_status.h. Where it is refused (a locked conversation, a missing
// permission), only the log says so: what it is about must go on. `port` may be null.
Status PutStatusComment(forge::CommentPort* port, const forge::RepositoryName& repository, int64_t pull_request,
                        std::string_view headline, std::string_view why);

}  // namespace warpwright::service

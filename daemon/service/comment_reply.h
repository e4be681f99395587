// The reply to a comment that contains a command. Untrusted text is escaped.
#pragma once

#include <string>

#include "forge/forge.h"
#include "service/job.h"

namespace warpwright::service {

// One reply per comment, found again by its marker. `text`: Markdown from warpwright.
forge::CommentRequest MakeReply(int64_t issue, int64_t comment, const std::string& text);
// "- `softmax`: improved, 1.64x; <url>".
std::string DescribeJob(const Job& job);

}  // namespace warpwright::service

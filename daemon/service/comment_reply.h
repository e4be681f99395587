// What is written under a comment that asked for something. Untrusted text is escaped.
#pragma once

#include <string>

#include "forge/forge.h"
#include "service/job.h"

namespace warpwright::service {

// One comment for each that asked, found again by its marker. `text`: Markdown of ours.
forge::CommentRequest MakeReply(int64_t issue, int64_t comment, const std::string& text);
// "- `softmax`: improved, 1.64x; <url>".
std::string DescribeJob(const Job& job);

}  // namespace warpwright::service

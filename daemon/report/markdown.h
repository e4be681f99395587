// Untrusted text inside Markdown and HTML.
#pragma once

#include <string>
#include <string_view>

namespace warpwright {

// One line of inline text: every character that Markdown or HTML could read is escaped, control characters are dropped, @ and # cannot
// mention or link. Longer text is cut with an ellipsis.
std::string EscapeMarkdown(std::string_view text, size_t max_bytes = 500);
std::string EscapeHtml(std::string_view text, size_t max_bytes = 20'000);
// A code span or block whose fence is longer than any run of backticks in the text.
std::string CodeSpan(std::string_view text);
std::string CodeBlock(std::string_view text, std::string_view language);

}  // namespace warpwright

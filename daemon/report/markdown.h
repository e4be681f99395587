// Untrusted text inside Markdown and HTML, as GitHub and GitLab read them. They detect mentions, references and links
// in the text *after* resolving escapes, so `\#1` and `&#64;name` still link: such words are broken by a zero-width
// space. Own code, because cmark-gfm parses Markdown and renders HTML, but does not escape text for use in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::report {

// With spaces that do not break between numbers and their units, as in "31.2 %" and "2.28 ms".
std::string KeepUnits(std::string_view text);
// One line of inline text, with KeepUnits: every character that Markdown or HTML could read is escaped; @name, #1,
// GH-1, owner/name#1, URLs and a leading quick action (`/close`) are broken. Longer text is cut with an ellipsis.
std::string EscapeMarkdown(std::string_view text, size_t max_bytes = 500);
std::string EscapeHtml(std::string_view text, size_t max_bytes = 20'000);
// A code span or block whose fence is longer than any run of backticks in the text.
std::string CodeSpan(std::string_view text);
std::string CodeCell(std::string_view text);  // a code span inside a table, where a pipe would end the cell
std::string CodeBlock(std::string_view text, std::string_view language);

// `url` if it is plain http(s) without characters that could end a link; else empty.
std::string SafeUrl(std::string_view url);

}  // namespace warpwright::report

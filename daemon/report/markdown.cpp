#include "report/markdown.h"

#include <algorithm>

#include "base/utf8.h"

namespace warpwright::report {
namespace {

constexpr std::string_view kBreak = "&#8203;";  // zero-width space

size_t LongestBacktickRun(std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool StartsWith(std::string_view text, size_t at, std::string_view lower_case) {
  if (at + lower_case.size() > text.size()) return false;
  for (size_t i = 0; i < lower_case.size(); ++i)
    if (Lower(text[at + i]) != lower_case[i]) return false;
  return true;
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Characters that begin a list, a heading's underline, a quote or a quick action at the start of the text.
std::string EscapedStart(std::string_view text, size_t& at) {
  if (text.empty()) return {};
  if (text[0] == '/') return std::string(kBreak);
  if (text[0] == '-' || text[0] == '=' || text[0] == ':') return std::string("\\") + text[at++];
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  if (digits == 0 || digits == text.size() || (text[digits] != '.' && text[digits] != ')')) return {};
  if (digits + 1 < text.size() && text[digits + 1] != ' ') return {};
  at = digits + 1;
  return std::string(text.substr(0, digits)) + "\\" + text[digits];
}

// Whether the space there stands between a number and its unit.
bool IsBeforeUnit(std::string_view text, size_t at) {
  if (at == 0 || !IsDigit(text[at - 1])) return false;
  const std::string_view behind = text.substr(at + 1);
  for (const std::string_view unit : {"%", "µs", "ms"})
    if (behind.starts_with(unit) && (behind.size() == unit.size() || !IsLetter(behind[unit.size()]))) return true;
  return false;
}

}  // namespace

std::string KeepUnits(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at)
    out += text[at] == ' ' && IsBeforeUnit(text, at) ? "\u00a0" : std::string(1, text[at]);
  return out;
}

std::string EscapeMarkdown(std::string_view text, size_t max_bytes) {
  const std::string clean = KeepUnits(Trimmed(base::CleanText(text, max_bytes)));
  size_t at = 0;
  std::string out = EscapedStart(clean, at);
  for (; at < clean.size(); ++at) {
    const char c = clean[at], next = at + 1 < clean.size() ? clean[at + 1] : ' ';
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '@') {
      out += c;
      out += kBreak;
    } else if (c == ':' && next == '/') {
      out += c;
      out += kBreak;
    } else if (c == '.' && at >= 3 && StartsWith(clean, at - 3, "www")) {
      out += kBreak;
      out += c;
    } else if (c == '-' && IsDigit(next) && at >= 2 && StartsWith(clean, at - 2, "gh")) {
      out += c;
      out += kBreak;
    } else if (std::string_view("\\`*_{}[]#+!|~$").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
      if (c == '#') out += kBreak;
    } else {
      out += c;
    }
  }
  return out;
}

std::string EscapeHtml(std::string_view text, size_t max_bytes) {
  std::string out;
  for (const char c : base::CleanText(text, max_bytes, true)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string CodeSpan(std::string_view text) {
  std::string clean = base::CleanText(text, 300);
  if (clean.find_first_not_of(' ') == std::string::npos) return "` `";
  const std::string fence(LongestBacktickRun(clean) + 1, '`');
  const bool pad = fence.size() > 1;
  return fence + (pad ? " " : "") + clean + (pad ? " " : "") + fence;
}

std::string CodeCell(std::string_view text) {
  std::string out;
  for (const char c : CodeSpan(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string CodeBlock(std::string_view text, std::string_view language) {
  const std::string clean = base::CleanText(text, 200'000, true);
  const std::string fence(std::max<size_t>(3, LongestBacktickRun(clean) + 1), '`');
  std::string out = fence + std::string(language) + "\n";
  for (size_t at = 0; at < clean.size(); ++at) {
    const bool line_start = at == 0 || clean[at - 1] == '\n';
    if (line_start && clean[at] == '/' && at + 1 < clean.size() && IsLetter(clean[at + 1]))
      out += ' ';  // a quick action of GitLab's
    out += clean[at];
  }
  if (out.back() != '\n') out += '\n';
  return out + fence + "\n";
}

std::string SafeUrl(std::string_view url) {
  if (url.size() > 2000 || !(url.starts_with("https://") || url.starts_with("http://"))) return {};
  for (const char c : url)
    if (!IsDigit(c) && !IsLetter(c) && std::string_view("-._~:/?#@!$&'*+,;=%").find(c) == std::string_view::npos)
      return {};
  return std::string(url);
}

}  // namespace warpwright::report

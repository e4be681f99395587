#include "report/markdown.h"

#include <algorithm>

namespace warpwright {
namespace {

// Cuts at a UTF-8 border.
std::string_view Cut(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t size = max_bytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

size_t LongestBacktickRun(std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string EscapeMarkdown(std::string_view text, size_t max_bytes) {
  const std::string_view kept = Cut(text, max_bytes);
  std::string out;
  for (const char c : kept) {
    if (IsControl(c)) {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '@') {
      out += "&#64;";
    } else if (std::string_view("\\`*_{}[]#+!|~$").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  if (kept.size() < text.size()) out += "…";
  return out;
}

std::string EscapeHtml(std::string_view text, size_t max_bytes) {
  const std::string_view kept = Cut(text, max_bytes);
  std::string out;
  for (const char c : kept) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += IsControl(c) && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  if (kept.size() < text.size()) out += "…";
  return out;
}

std::string CodeSpan(std::string_view text) {
  std::string clean;
  for (const char c : Cut(text, 300)) clean += IsControl(c) ? ' ' : c;
  const std::string fence(LongestBacktickRun(clean) + 1, '`');
  const bool pad = fence.size() > 1;
  return fence + (pad ? " " : "") + clean + (pad ? " " : "") + fence;
}

std::string CodeBlock(std::string_view text, std::string_view language) {
  const std::string fence(std::max<size_t>(3, LongestBacktickRun(text) + 1), '`');
  std::string clean;
  for (const char c : text)
    if (!IsControl(c) || c == '\n' || c == '\t') clean += c;
  if (clean.empty() || clean.back() != '\n') clean += '\n';
  return fence + std::string(language) + "\n" + clean + fence + "\n";
}

}  // namespace warpwright

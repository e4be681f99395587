#include "rewrite/derived_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/entry_text.h"
#include "rewrite/added_lines.h"
#include "rewrite/entry_text.h"
#include "rewrite/float64.h"
#include "rewrite/segments.h"
#include "source/includes.h"
#include "source/tokens.h"

namespace warpwright::rewrite {
namespace {

Result<core::RewriteOutcome> Declare(const core::RewriteRequest& request) {
  const auto declaration = request.parameters.find("declaration");
  if (declaration == request.parameters.end()) return Fail(ErrorCode::kUsage, "nothing to declare");
  return core::RewriteOutcome(
      core::Rewritten{.text = InsertDeclaration(request.source.text, declaration->second), .notes = {}, .entry = {}});
}

Result<core::RewriteOutcome> Names(const core::RewriteRequest& request) {
  return core::RewriteOutcome(core::Rewritten{
      .text = fmt::format("{}", fmt::join(IncludedNames(request.source.text), "\n")), .notes = {}, .entry = {}});
}

Result<core::RewriteOutcome> Added(const core::RewriteRequest& request) {
  const auto candidate = request.parameters.find(core::kAddedLinesOf);
  if (candidate == request.parameters.end()) return Fail(ErrorCode::kUsage, "nothing to compare with");
  core::Rewritten rewritten;
  for (const core::AddedLine& line : AddedLines(request.source.text, candidate->second))
    rewritten.notes.push_back(core::EncodeAddedLine(line));
  return core::RewriteOutcome(std::move(rewritten));
}

// True for directives and for the operators that query a header.
bool LooksLikeInclude(const source::Token& token) {
  const std::string word = source::Spelling(token);
  return token.IsIdentifier() &&
         (word.find("include") != std::string::npos || word.find("import") != std::string::npos);
}

}  // namespace

bool IsDerivedText(std::string_view id) {
  return id == core::kFloat64Text || id == core::kDeclaredText || id == core::kIncludedNames ||
         id == core::kEntryText || id == core::kSegmentText || id == core::kAddedLines;
}

Result<core::RewriteOutcome> DeriveText(const core::RewriteRequest& request) {
  if (request.transform == core::kFloat64Text) return WidenToFloat64(request.source, request.entry);
  if (request.transform == core::kEntryText) return TextOfEntry(request);
  if (request.transform == core::kSegmentText) return TextOfSegment(request);
  if (request.transform == core::kAddedLines) return Added(request);
  return request.transform == core::kDeclaredText ? Declare(request) : Names(request);
}

std::string InsertDeclaration(const std::string& text, const std::string& declaration) {
  size_t position = 0;
  for (const source::IncludeDirective& include : source::ScanIncludes(text))
    position = std::min(text.find('\n', include.line_range.end), text.size() - 1) + 1;
  return text.substr(0, position) + declaration + text.substr(position);
}

std::vector<std::string> IncludedNames(std::string_view text) {
  std::vector<std::string> names;
  const std::vector<source::Token> tokens = source::Lex(text);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!LooksLikeInclude(tokens[i])) continue;
    const size_t at = tokens[i + 1].Is("(") ? i + 2 : i + 1;
    const auto file = at < tokens.size() ? source::NamedFile(text, tokens[at]) : std::nullopt;
    if (file) names.push_back(file->name.substr(file->name.find_last_of('/') + 1));
  }
  return names;
}

}  // namespace warpwright::rewrite

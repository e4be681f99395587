#include "schedule/splice.h"

#include <algorithm>

#include "rewrite/edit.h"
#include "rewrite/site.h"
#include "source/units.h"

namespace warpwright::schedule {
namespace {

struct Candidate {
  std::string name;
  source::TextRange range;
};

bool InAny(const source::TextRange& range, const std::vector<source::TextRange>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& r) { return r.Contains(range); });
}

// Kernels, device functions and static host functions that the entry's body reaches by name.
std::vector<Candidate> CandidatesOf(const source::Ast& ast, const Entry& entry) {
  std::vector<Candidate> all, reached;
  for (const CXCursor& cursor : source::ast::Functions(ast)) {
    if (!source::ast::IsInMainFile(cursor) || source::ast::IsFromMacro(cursor)) continue;
    const bool hidden = source::ast::IsKernel(cursor) || source::ast::IsDevice(cursor) ||
                        clang_Cursor_getStorageClass(cursor) == CX_SC_Static;
    if (hidden) {
      const auto syntax = source::BuildSyntax(cursor);
      if (syntax) all.push_back({source::ast::Spelling(cursor), {syntax->begin, syntax->end}});
    }
  }
  std::vector<source::TextRange> open = {entry.body};
  while (!open.empty()) {
    const source::TextRange range = open.back();
    open.pop_back();
    for (const source::Token& token : source::ast::Tokens(ast, range)) {
      for (size_t i = 0; i < all.size();) {
        if (token.text == all[i].name && !all[i].range.Contains(token.range)) {
          open.push_back(all[i].range);
          reached.push_back(all[i]);
          all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
    }
  }
  return reached;
}

bool MentionedInHeaders(const source::Ast& ast, const std::string& name) {
  for (const auto& [path, file] : ast.tree().files) {
    if (path == ast.source().file) continue;
    for (const source::Token& token : source::Lex(file.text))
      if (token.text == name) return true;
  }
  return false;
}

// Above the launcher's comment, and outside of extern "C", which cannot contain templates.
uint32_t PlaceForKernels(const source::Ast& ast, const Entry& entry) {
  uint32_t at = entry.declaration.begin;
  for (const CXCursor& cursor : source::ast::Functions(ast)) {
    if (!source::ast::IsInMainFile(cursor) || source::ast::Spelling(cursor) != entry.name) continue;
    for (CXCursor parent = clang_getCursorLexicalParent(cursor); clang_getCursorKind(parent) == CXCursor_LinkageSpec;
         parent = clang_getCursorLexicalParent(parent))
      at = std::min(at, source::ast::Offsets(parent).begin);
  }
  return rewrite::WithLeadingComment(ast.text(), at);
}

}  // namespace

// A macro may make the name by pasting tokens: "op_ ## name".
static bool MayBePasted(const std::vector<source::Token>& tokens, const std::string& name) {
  for (size_t i = 1; i + 1 < tokens.size(); ++i)
    if (tokens[i].Is("##") && (name.starts_with(tokens[i - 1].text) || name.ends_with(tokens[i + 1].text))) return true;
  return false;
}

Obsolete FindObsolete(const source::Ast& ast, const Entry& entry) {
  std::vector<Candidate> candidates = CandidatesOf(ast, entry);
  std::erase_if(candidates, [&](const Candidate& c) { return MentionedInHeaders(ast, c.name); });
  const std::vector<source::Token> tokens = source::Lex(ast.text());
  std::erase_if(candidates, [&](const Candidate& c) { return MayBePasted(tokens, c.name); });
  // What something that stays names, stays as well.
  for (bool changed = true; changed;) {
    std::vector<source::TextRange> ranges = {entry.body};
    for (const Candidate& c : candidates) ranges.push_back(c.range);
    const size_t before = candidates.size();
    std::erase_if(candidates, [&](const Candidate& c) {
      return std::any_of(tokens.begin(), tokens.end(), [&](const source::Token& token) {
        return token.text == c.name && (InAny(token.range, entry.kept) || !InAny(token.range, ranges));
      });
    });
    changed = candidates.size() != before;
  }
  Obsolete obsolete;
  for (const Candidate& c : candidates) {
    obsolete.ranges.push_back(c.range);
    obsolete.names.insert(c.name);
  }
  return obsolete;
}

core::RewriteOutcome Splice(const source::Ast& ast, const Entry& entry, const Obsolete& obsolete, const Code& code) {
  const std::string_view text = ast.text();
  const std::string unit = rewrite::IndentUnit(text);
  rewrite::Edits edits;
  for (const source::TextRange& range : obsolete.ranges) {
    const uint32_t begin = rewrite::WithLeadingComment(text, range.begin);
    uint32_t end = rewrite::LineEnd(text, range.end);
    while (end < text.size() && text[end] == '\n') ++end;
    edits.Replace(begin, end, "");
  }
  const uint32_t place = PlaceForKernels(ast, entry);
  const std::string outer = rewrite::IndentAt(text, place);
  std::string above;
  for (const std::string& helper : code.helpers) above += helper + "\n";
  edits.Insert(place, rewrite::Indented(above + code.kernels + "\n", outer, unit));

  const std::string indent = rewrite::IndentAt(text, entry.declaration.begin);
  std::string body = "{\n";
  const auto keep = [&](const std::vector<std::string>& statements) {
    for (const std::string& statement : statements)
      body += rewrite::Indented(rewrite::Dedented(statement, unit), indent + unit, unit) + "\n";
  };
  keep(entry.before);
  body += rewrite::Indented(code.launch, indent + unit, unit);
  keep(entry.after);
  if (!entry.result.empty()) body += indent + unit + entry.result + "\n";
  edits.Replace(entry.body.begin, entry.body.end, body + indent + "}");
  return rewrite::Finish(ast, edits, code.notes);
}

}  // namespace warpwright::schedule

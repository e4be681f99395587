#include "schedule/splice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "rewrite/edit.h"
#include "rewrite/site.h"
#include "schedule/kernel_text.h"
#include "schedule/needless_casts.h"
#include "source/units.h"

namespace warpwright::schedule {
namespace {

struct Candidate {
  std::string name;
  source::TextRange range;
  bool is_kernel = false;
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
      if (syntax)
        all.push_back({source::ast::Spelling(cursor), {syntax->begin, syntax->end}, source::ast::IsKernel(cursor)});
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

// The launches with the constant that the launcher had for the threads of a block: "const int block_size = 256;" and
// "<<<(n + block_size - 1) / block_size, block_size>>>". Blocks of several sizes or dimensions stay numbers.
std::string WithNamedBlock(const std::string& launch, const Entry& entry) {
  static const std::regex shape("<<<(.*), (\\d+)((?:, [^,<>]*){0,2})>>>\\(");
  const std::string& name = entry.block_name;
  const bool kept =
      std::any_of(entry.before.begin(), entry.before.end(), [&](const auto& s) { return HasWord(s, name); });
  if (name.empty() || kept || HasWord(launch, name)) return launch;
  std::set<std::string> sizes;
  std::ptrdiff_t named = 0;
  for (std::sregex_iterator at(launch.begin(), launch.end(), shape), end; at != end; ++at, ++named)
    sizes.insert((*at)[2].str());
  std::ptrdiff_t launches = 0;
  for (size_t at = launch.find("<<<"); at != std::string::npos; at = launch.find("<<<", at + 1)) ++launches;
  if (sizes.size() != 1 || named != launches || *sizes.begin() == "1") return launch;
  const std::string& size = *sizes.begin();
  const std::regex rounded(fmt::format("\\+ {}\\) / {}\\b", std::stoll(size) - 1, size));
  const std::string text = std::regex_replace(launch, shape, "<<<$1, " + name + "$3>>>(");
  return fmt::format("const int {} = {};\n", name, size) +
         std::regex_replace(text, rounded, fmt::format("+ {0} - 1) / {0}", name));
}

// What the launcher does instead of its launches.
std::string NewStatements(const Entry& entry, const Code& code, const std::string& indent, const std::string& unit) {
  std::string body = rewrite::Indented(WithNamedBlock(code.launch, entry), indent, unit);
  for (const std::string& statement : entry.after)
    body += rewrite::Indented(rewrite::Dedented(statement, unit), indent, unit) + "\n";
  if (!entry.result.empty()) body += indent + entry.result + "\n";
  return body;
}

void ReplaceBody(std::string_view text, const Entry& entry, const Code& code, rewrite::Edits& edits) {
  const std::string unit = rewrite::IndentUnit(text);
  const std::string indent = rewrite::IndentAt(text, entry.declaration.begin);
  std::string body = "{\n";
  for (const std::string& statement : entry.before)
    body += rewrite::Indented(rewrite::Dedented(statement, unit), indent + unit, unit) + "\n";
  edits.Replace(entry.body.begin, entry.body.end,
                body + NewStatements(entry, code, indent + unit, unit) + indent + "}");
}

uint32_t FirstBehind(std::string_view text, uint32_t at) {
  return static_cast<uint32_t>(std::min(text.find_first_not_of(" \t\n", at), text.size()));
}

// What does not take the new way, as a sentence begins.
std::string Others(const std::string& condition) {
  constexpr std::string_view kAnd = " && ";
  bool sizes = false, in_place = false, absent = false;
  for (size_t at = 0; at < condition.size();) {
    const size_t end = std::min(condition.find(kAnd, at), condition.size());
    const std::string_view one = std::string_view(condition).substr(at, end - at);
    if (one.ends_with(" != nullptr")) absent = true;
    else (one.find(" != ") != std::string_view::npos ? in_place : sizes) = true;
    at = end + kAnd.size();
  }
  std::vector<std::string> others;
  if (sizes) others.emplace_back("other sizes");
  if (in_place) others.emplace_back("results in place");
  if (absent) others.emplace_back("calls without a buffer");
  std::string text = others.front();
  for (size_t i = 1; i < others.size(); ++i) text += (i + 1 < others.size() ? ", " : " and ") + others[i];
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// Behind the checks of arguments, which both ways have. What stands on the line of a brace gets one of its own.
void AddBranch(std::string_view text, const Entry& entry, const std::string& condition, const Code& code,
               rewrite::Edits& edits) {
  const std::string unit = rewrite::IndentUnit(text);
  const std::string outer = rewrite::IndentAt(text, entry.declaration.begin), indent = outer + unit;
  std::string branch =
      fmt::format("\n{0}// {1} take the launches below.\n{0}if ({2}) {{\n", indent, Others(condition), condition);
  branch += NewStatements(entry, code, indent + unit, unit);
  if (entry.result.empty()) branch += indent + unit + "return;\n";
  uint32_t at = entry.body.begin + 1;
  if (!entry.before.empty()) {
    at = entry.kept[entry.before.size() - 1].end;
    const size_t next = text.find_first_not_of(" \n", at);
    if (next != std::string_view::npos && text[next] == ';') at = static_cast<uint32_t>(next) + 1;
  }
  const uint32_t rest = FirstBehind(text, at);
  const bool one_line = text.substr(at, rest - at).find('\n') == std::string_view::npos;
  edits.Replace(at, one_line ? rest : at, branch + indent + (one_line ? "}\n" + indent : "}"));
  const uint32_t brace = entry.body.end - 1;
  uint32_t last = brace;
  while (last > rest && (text[last - 1] == ' ' || text[last - 1] == '\t')) --last;
  if (last > rest && text[last - 1] != '\n') edits.Replace(last, brace, "\n" + outer);
}

// In the place of a segment's statement, whose semicolon stays behind it where it had one.
void ReplaceStatement(std::string_view text, const Entry& entry, const std::string& condition, const Code& code,
                      rewrite::Edits& edits) {
  const std::string unit = rewrite::IndentUnit(text);
  const std::string indent = rewrite::IndentAt(text, entry.replaced.begin);
  uint32_t end = entry.replaced.end;
  const size_t next = text.find_first_not_of(" \n\t", end);
  if (next != std::string_view::npos && text[next] == ';') end = static_cast<uint32_t>(next) + 1;
  std::string block = "{\n" + rewrite::Indented(code.launch, indent + unit, unit) + indent + "}";
  if (!condition.empty()) {
    const std::string old(text.substr(entry.replaced.begin, end - entry.replaced.begin));
    block = fmt::format("if ({}) {} else {{\n{}{}{}\n{}}}", condition, block, indent, unit,
                        rewrite::Indented(rewrite::Dedented(old, unit), indent + unit, unit, false), indent);
  }
  edits.Replace(entry.replaced.begin, end, block);
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
    std::vector<source::TextRange> ranges = {entry.replaced};
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
    if (c.is_kernel) obsolete.kernels.insert(c.name);
  }
  return obsolete;
}

bool ReplacesInPlace(const source::Ast& ast, const Entry& entry, const Obsolete& obsolete) {
  const uint32_t place = PlaceForKernels(ast, entry);
  uint32_t first = place;
  for (const source::TextRange& range : obsolete.ranges) first = std::min(first, range.begin);
  const std::vector<source::Token> between = source::ast::Tokens(ast, {first, place});
  return std::all_of(between.begin(), between.end(), [&](const source::Token& token) {
    return token.range.begin >= place || InAny(token.range, obsolete.ranges);
  });
}

// A blank line, where what stands above the place once `removed` is gone does not end with one.
static std::string BlankLineAbove(std::string_view text, uint32_t place,
                                  const std::vector<source::TextRange>& removed) {
  uint32_t end = place;
  for (bool moved = true; moved;) {
    moved = false;
    for (const source::TextRange& range : removed) {
      if (range.end != end || range.begin == range.end) continue;
      end = range.begin;
      moved = true;
    }
  }
  const std::string_view above = text.substr(0, end);
  return above.empty() || above.ends_with("\n\n") || above == "\n" ? "" : "\n";
}

core::RewriteOutcome Splice(const source::Ast& ast, const Entry& entry, const Obsolete& obsolete,
                            const std::string& condition, const Code& code) {
  const std::string_view text = ast.text();
  const std::string unit = rewrite::IndentUnit(text);
  rewrite::Edits edits;
  std::vector<source::TextRange> removed;
  for (const source::TextRange& range : obsolete.ranges) {
    const uint32_t begin = rewrite::WithLeadingComment(text, range.begin);
    uint32_t end = rewrite::LineEnd(text, range.end);
    while (end < text.size() && text[end] == '\n') ++end;
    edits.Replace(begin, end, "");
    removed.push_back({begin, end});
  }
  const uint32_t place = PlaceForKernels(ast, entry);
  const std::string outer = rewrite::IndentAt(text, place);
  std::string above = BlankLineAbove(text, place, removed);
  for (const std::string& helper : code.helpers) above += helper + "\n";
  edits.Insert(place, rewrite::Indented(above + WithoutNeedlessCasts(code.kernels) + "\n", outer, unit));

  if (entry.is_segment()) ReplaceStatement(text, entry, condition, code, edits);
  else if (condition.empty()) ReplaceBody(text, entry, code, edits);
  else AddBranch(text, entry, condition, code, edits);
  // Where nothing of the old way stays, neither does what the launcher said of its threads.
  if (!entry.is_segment() && condition.empty()) return rewrite::FinishRemapped(ast, {entry.name}, edits, code.notes);
  return rewrite::Finish(ast, edits, code.notes);
}

}  // namespace warpwright::schedule

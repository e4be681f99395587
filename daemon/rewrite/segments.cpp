#include "rewrite/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "rewrite/site.h"
#include "source/analysis.h"

namespace warpwright::rewrite {
namespace {

using source::Node;
using source::NodeKind;

bool Prepares(std::string_view callee) {
  return callee == "cudaMemset" || callee == "cudaMemsetAsync" || callee == "cudaMemcpy" || callee == "cudaMemcpyAsync";
}

struct Statement {
  const Node* node = nullptr;
  bool launches = false, leaves = false;
  std::set<std::string> names, assigned;  // symbols; what it declares itself is not assigned
  std::set<std::string> prepared;         // what it clears or copies to
};

// The variable that "a", "a[i]" or "a.x" is of.
std::string RootOf(const Node& node) {
  const Node* at = &source::StripCasts(node);
  while ((at->Is(NodeKind::kSubscript) || at->Is(NodeKind::kMember) || at->Is(NodeKind::kUnary)) && at->size() > 0)
    at = &source::StripCasts((*at)[0]);
  return at->symbol;
}

Statement LookAt(const Node& node, const std::set<std::string>& launchers) {
  Statement seen{.node = &node};
  std::set<std::string> own;
  source::ForEach(node, [&](const Node& n) {
    const std::string callee = n.Is(NodeKind::kCall) ? UnqualifiedName(n.name) : "";
    seen.launches |= n.Is(NodeKind::kLaunch) || launchers.contains(callee);
    if (Prepares(callee) && n.size() > 0) seen.prepared.insert(RootOf(n[0]));
    seen.leaves |= n.Is(NodeKind::kReturn) || n.Is(NodeKind::kLambda);
    if (n.Is(NodeKind::kVariable)) own.insert(n.symbol);
    if (n.Is(NodeKind::kName)) seen.names.insert(n.symbol);
    if (n.Is(NodeKind::kAssign) && n.size() > 0) seen.assigned.insert(RootOf(n[0]));
    if (n.Is(NodeKind::kUnary, "&") && n.size() > 0) seen.assigned.insert(RootOf(n[0]));
    if (callee == "swap" || callee == "exchange")
      for (const auto& argument : n.children) seen.assigned.insert(RootOf(*argument));
  });
  for (const std::string& symbol : own) seen.assigned.erase(symbol);
  return seen;
}

// Whether other statements see what this one, which launches, leaves in variables, or would miss what it declares.
bool StandsApart(const Statement& statement, const std::vector<Statement>& all) {
  if (statement.leaves || statement.node->Is(NodeKind::kDeclaration)) return false;
  return std::none_of(all.begin(), all.end(), [&](const Statement& other) {
    return &other != &statement && std::any_of(statement.assigned.begin(), statement.assigned.end(),
                                               [&](const std::string& symbol) { return other.names.contains(symbol); });
  });
}

void Blank(std::string& text, const Node& node) {
  for (size_t i = node.begin; i < node.end; ++i)
    if (text[i] != '\n') text[i] = ' ';
}

}  // namespace

std::set<std::string> LaunchingFunctions(const source::Ast& ast, bool of_main_file) {
  std::map<std::string, std::set<std::string>> callers;
  std::set<std::string> launchers;
  for (const CXCursor& cursor : source::ast::Functions(ast)) {
    if (source::ast::IsInMainFile(cursor) != of_main_file || !source::ast::IsHost(cursor)) continue;
    const auto syntax = source::BuildSyntax(cursor);
    if (!syntax) continue;
    const std::string name = source::ast::Spelling(cursor);
    source::ForEach(*syntax->body, [&](const Node& n) {
      if (n.Is(NodeKind::kLaunch)) launchers.insert(name);
      if (n.Is(NodeKind::kCall)) callers[UnqualifiedName(n.name)].insert(name);
    });
  }
  std::vector<std::string> open(launchers.begin(), launchers.end());
  for (const char* const of_runtime : {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"})
    open.emplace_back(of_runtime);
  while (!open.empty()) {
    const std::string callee = open.back();
    open.pop_back();
    for (const std::string& caller : callers[callee])
      if (launchers.insert(caller).second) open.push_back(caller);
  }
  return launchers;
}

std::vector<Segment> SegmentsOf(const source::Ast& ast, const source::SyntaxFunction& launcher) {
  std::set<std::string> launchers = LaunchingFunctions(ast, true);
  launchers.merge(LaunchingFunctions(ast, false));
  std::vector<Statement> statements;
  for (const auto& child : launcher.body->children) statements.push_back(LookAt(*child, launchers));
  for (const Statement& statement : statements)
    if (statement.launches && !StandsApart(statement, statements)) return {};

  std::vector<Segment> segments;
  std::vector<size_t> at;  // of each segment, among the statements
  for (size_t i = 0; i < statements.size(); ++i)
    if (statements[i].launches) segments.push_back({statements[i].node, {}}), at.push_back(i);
  if (segments.size() < 2) return {};
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].prepared.empty() || statements[i].launches) continue;
    // Of the first one behind it that names the buffer; whichever comes next, where none does.
    size_t next = 0;
    while (next < at.size() && at[next] < i) ++next;
    if (next == at.size() || statements[i].leaves || statements[i].node->Is(NodeKind::kDeclaration)) return {};
    const auto named = std::find_if(at.begin() + static_cast<std::ptrdiff_t>(next), at.end(), [&](size_t s) {
      return std::any_of(statements[i].prepared.begin(), statements[i].prepared.end(),
                         [&](const std::string& symbol) { return statements[s].names.contains(symbol); });
    });
    segments[named == at.end() ? next : static_cast<size_t>(named - at.begin())].prepares.push_back(statements[i].node);
  }
  return segments;
}

Result<core::RewriteOutcome> TextOfSegment(const core::RewriteRequest& request) {
  const auto asked = request.parameters.find(core::kSegmentNumber);
  size_t number = 0;
  if (asked == request.parameters.end() ||
      std::from_chars(asked->second.data(), asked->second.data() + asked->second.size(), number).ec != std::errc())
    return Fail(ErrorCode::kUsage, "no segment's number");
  WW_ASSIGN(const source::Ast ast, source::Ast::Parse(request.source));
  const auto cursor = source::ast::FindFunction(ast, request.entry);
  const auto launcher = cursor ? source::BuildSyntax(*cursor) : std::nullopt;
  if (!launcher || source::ast::IsKernel(*cursor) || !source::ast::IsInMainFile(*cursor))
    return core::RewriteOutcome(core::RewriteRefusal{"there is no launcher " + request.entry, 0});
  const std::vector<Segment> segments = SegmentsOf(ast, *launcher);
  if (number >= segments.size())
    return core::RewriteOutcome(core::RewriteRefusal{fmt::format("the launcher has {} segments", segments.size()), 0});
  core::Rewritten result{.text = std::string(ast.text()), .notes = {}, .entry = {}};
  for (size_t i = 0; i < segments.size(); ++i) {
    if (i == number) continue;
    Blank(result.text, *segments[i].statement);
    for (const Node* prepare : segments[i].prepares) Blank(result.text, *prepare);
  }
  return core::RewriteOutcome(std::move(result));
}

}  // namespace warpwright::rewrite

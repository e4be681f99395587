#include "rewrite/site.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "rewrite/stale_comments.h"

namespace warpwright::rewrite {

std::string UnqualifiedName(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t colons = name.rfind("::");
  return std::string(colons == std::string_view::npos ? name : name.substr(colons + 2));
}

namespace {

std::unique_ptr<AnalyzedFunction> Analyze(CXCursor cursor) {
  auto syntax = source::BuildSyntax(cursor);
  if (!syntax) return nullptr;
  return std::make_unique<AnalyzedFunction>(std::move(*syntax));
}

// Unqualified names of everything that the function calls or launches.
std::set<std::string> Callees(const AnalyzedFunction& function) {
  std::set<std::string> names;
  source::ForEach(*function.syntax.body, [&](const source::Node& node) {
    if (node.Is(source::NodeKind::kCall) || node.Is(source::NodeKind::kLaunch) || node.Is(source::NodeKind::kName))
      names.insert(UnqualifiedName(node.name));
  });
  return names;
}

struct Uses {
  std::vector<LaunchSite> launches, mentions;
};
Uses UsesOf(const std::string& kernel, const AnalyzedFunction& host) {
  Uses uses;
  source::ForEach(*host.syntax.body, [&](const source::Node& node) {
    if (node.Is(source::NodeKind::kLaunch) && UnqualifiedName(node.name) == kernel)
      uses.launches.push_back({&node, &host});
    if (node.Is(source::NodeKind::kName) && UnqualifiedName(node.name) == kernel &&
        host.analysis.Find(node.symbol) == nullptr)
      uses.mentions.push_back({&node, &host});
  });
  return uses;
}

bool IsFileScopeMention(const source::Ast& ast, const std::string& name,
                        const std::vector<source::TextRange>& functions) {
  int count = 0;
  for (const source::Token& token : source::Lex(ast.text())) {
    if (token.text != name) continue;
    const bool inside = std::any_of(functions.begin(), functions.end(),
                                    [&](const source::TextRange& range) { return range.Contains(token.range); });
    if (!inside) ++count;
  }
  return count > 0;
}

// The position of the name in [begin, end): the last token that equals it before `stop`.
std::optional<source::TextRange> FindName(std::string_view text, uint32_t begin, uint32_t end,
                                          const std::string& name) {
  for (const source::Token& token : source::Lex(text.substr(begin, end - begin)))
    if (token.text == name) return source::TextRange{token.range.begin + begin, token.range.end + begin};
  return std::nullopt;
}

using Functions = std::vector<std::unique_ptr<AnalyzedFunction>>;

// Indices of the functions that can be reached from `entry` by calls, the entry first.
std::vector<size_t> Reachable(const Functions& functions, size_t entry) {
  std::vector<size_t> order = {entry};
  for (size_t next = 0; next < order.size(); ++next) {
    const std::set<std::string> callees = Callees(*functions[order[next]]);
    for (size_t i = 0; i < functions.size(); ++i)
      if (callees.contains(functions[i]->syntax.name) && std::find(order.begin(), order.end(), i) == order.end())
        order.push_back(i);
  }
  return order;
}

std::variant<std::string, core::RewriteRefusal> ChooseKernel(const core::RewriteRequest& request,
                                                             const std::set<std::string>& launched,
                                                             const std::set<std::string>& known) {
  if (!request.kernel.empty()) return UnqualifiedName(request.kernel);
  std::vector<std::string> candidates;
  for (const std::string& name : launched)
    if (known.contains(name)) candidates.push_back(name);
  if (candidates.size() == 1) return candidates[0];
  if (candidates.empty()) return Refuse(fmt::format("{} launches no kernel of this file", request.entry));
  return Refuse(fmt::format("{} launches several kernels and none is named", request.entry));
}

}  // namespace

core::RewriteRefusal Refuse(std::string reason, int line) { return core::RewriteRefusal{std::move(reason), line}; }

SiteOutcome FindSite(const source::Ast& ast, const core::RewriteRequest& request) {
  auto site = std::make_unique<KernelSite>();
  Functions all;
  std::vector<bool> is_kernel;
  std::vector<source::TextRange> ranges;
  std::set<std::string> kernels;
  for (const CXCursor& cursor : source::ast::Functions(ast)) {
    const bool kernel = source::ast::IsKernel(cursor);
    if (kernel) kernels.insert(source::ast::Spelling(cursor));
    if (!source::ast::IsInMainFile(cursor)) continue;
    auto function = Analyze(cursor);
    if (function == nullptr) continue;
    ranges.push_back({function->syntax.begin, function->syntax.end});
    all.push_back(std::move(function));
    is_kernel.push_back(kernel);
  }
  const std::string entry_name = UnqualifiedName(request.entry);
  std::optional<size_t> entry;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i]->syntax.name == entry_name &&
        (!entry || source::ast::QualifiedName(all[i]->syntax.cursor) == request.entry))
      entry = i;
  if (!entry) return Refuse(fmt::format("no function {} with a body in {}", request.entry, request.source.file));

  site->text = ast.text();
  site->unit = IndentUnit(ast.text());
  site->entry_is_kernel = is_kernel[*entry];
  const std::vector<size_t> behind = Reachable(all, *entry);
  std::set<std::string> launched;
  for (size_t i : behind)
    for (const source::Node* launch : source::Collect(*all[i]->syntax.body, source::NodeKind::kLaunch))
      launched.insert(UnqualifiedName(launch->name));
  if (site->entry_is_kernel) launched = {entry_name};
  auto chosen = ChooseKernel(request, launched, kernels);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&chosen)) return *refusal;
  const std::string& kernel = std::get<std::string>(chosen);

  std::optional<size_t> definition;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_kernel[i] || all[i]->syntax.name != kernel) continue;
    if (definition)
      return Refuse(fmt::format("{} is overloaded or specialized", kernel), source::ast::Line(all[i]->syntax.cursor));
    definition = i;
  }
  if (!definition) {
    const bool in_header = kernels.contains(kernel);
    return Refuse(in_header ? fmt::format("{} is defined in a header, which other files share", kernel)
                            : fmt::format("no kernel {} in {}", kernel, request.source.file));
  }
  if (source::ast::IsFromMacro(all[*definition]->syntax.cursor))
    return Refuse(fmt::format("{} is made by a macro", kernel), source::ast::Line(all[*definition]->syntax.cursor));

  const auto is_behind = [&](size_t i) { return std::find(behind.begin(), behind.end(), i) != behind.end(); };
  const auto take = [&](size_t i) {
    const Uses uses = UsesOf(kernel, *all[i]);
    auto& launches = is_behind(i) ? site->launches : site->other_launches;
    launches.insert(launches.end(), uses.launches.begin(), uses.launches.end());
    if (is_behind(i)) site->mentions.insert(site->mentions.end(), uses.mentions.begin(), uses.mentions.end());
    if (!is_behind(i) && !(uses.launches.empty() && uses.mentions.empty())) site->shared = true;
  };
  for (size_t i = 0; i < all.size(); ++i)
    if (i != *definition) take(i);
  site->shared |= IsFileScopeMention(ast, kernel, ranges);
  if (!site->entry_is_kernel && site->launches.empty())
    return Refuse(fmt::format("no launch of {} was found behind {}", kernel, request.entry),
                  source::ast::Line(all[*entry]->syntax.cursor));
  for (const LaunchSite& launch : site->launches)
    if (launch.launch->in_macro) return Refuse("the launch is inside a macro", launch.launch->line);

  for (size_t i : behind)
    if (i != *definition) site->hosts.push_back(std::move(all[i]));
  site->kernel = std::move(all[*definition]);
  for (auto& other : all)
    if (other != nullptr) site->other_hosts.push_back(std::move(other));
  return site;
}

bool MentionsIdentifier(const source::Ast& ast, std::string_view identifier) {
  for (const auto& [path, file] : ast.tree().files)
    for (const source::Token& token : source::Lex(file.text))
      if (token.text == identifier) return true;
  return false;
}

std::string FreshName(const source::Ast& ast, const std::string& base) {
  std::string name = base;
  for (int i = 2; MentionsIdentifier(ast, name); ++i) name = base + std::to_string(i);
  return name;
}

std::string HeadWithName(const source::SyntaxFunction& kernel, const std::string& name) {
  std::string head(kernel.text.substr(kernel.begin, kernel.body->begin - kernel.begin));
  if (const auto at = FindName(kernel.text, kernel.begin, kernel.body->begin, kernel.name))
    head.replace(at->begin - kernel.begin, at->size(), name);
  while (!head.empty() && std::isspace(static_cast<unsigned char>(head.back()))) head.pop_back();
  return head;
}

std::string NewKernelName(const source::Ast& ast, const KernelSite& site, const std::string& suffix) {
  return site.shared ? FreshName(ast, site.function().name + "_" + suffix) : site.function().name;
}

// Above the kernel's comment, and outside of extern "C", which cannot contain templates.
static uint32_t PlaceForHelpers(const KernelSite& site) {
  uint32_t at = site.function().begin;
  for (CXCursor parent = clang_getCursorLexicalParent(site.function().cursor);
       clang_getCursorKind(parent) == CXCursor_LinkageSpec; parent = clang_getCursorLexicalParent(parent))
    at = source::ast::Offsets(parent).begin;
  return WithLeadingComment(site.text, at);
}

void InsertKernel(const KernelSite& site, const std::string& name, const std::string& helpers, const std::string& code,
                  Edits& edits) {
  const source::SyntaxFunction& old = site.function();
  const std::string indent = IndentAt(site.text, old.begin);
  if (!helpers.empty()) {
    const uint32_t at = PlaceForHelpers(site);
    edits.Insert(at, Indented(helpers, IndentAt(site.text, at), site.unit));
  }
  if (site.shared) {
    edits.Insert(old.end, "\n\n" + Indented(code, indent, site.unit));
  } else {
    edits.Replace(old.begin, old.end, Indented(code, indent, site.unit, /*first=*/false));
  }
  if (name == old.name) return;
  for (const auto* uses : {&site.launches, &site.mentions}) {
    for (const LaunchSite& use : *uses)
      if (const auto at = FindName(site.text, use.launch->begin, use.launch->end, old.name))
        edits.Replace(at->begin, at->end, name);
  }
}

// A result that the parser rejects although it accepted the original is a refusal.
static core::RewriteOutcome Accepted(const source::Ast& ast, std::string text, std::vector<std::string> notes) {
  core::SourceRef rewritten = ast.source();
  rewritten.text = text;
  const auto parsed = source::Ast::Parse(rewritten);
  if (!parsed) return Refuse("the rewritten file does not parse: " + parsed.error().message);
  const std::vector<std::string> before = ast.Diagnostics(), after = parsed->Diagnostics();
  if (after.size() > before.size()) return Refuse("the rewritten file does not parse: " + after.back());
  return core::Rewritten{std::move(text), std::move(notes)};
}

core::RewriteOutcome Finish(const source::Ast& ast, const Edits& edits, std::vector<std::string> notes) {
  auto text = edits.Apply(ast.text());
  if (!text) return Refuse("the changes overlap in the text: " + text.error().message);
  return Accepted(ast, std::move(*text), std::move(notes));
}

core::RewriteOutcome FinishRemapped(const source::Ast& ast, const std::vector<std::string>& functions,
                                    const Edits& edits, std::vector<std::string> notes) {
  auto text = edits.Apply(ast.text());
  if (!text) return Refuse("the changes overlap in the text: " + text.error().message);
  for (const std::string& function : functions) *text = DropStaleComments(std::move(*text), ast.text(), function);
  return Accepted(ast, std::move(*text), std::move(notes));
}

core::RewriteOutcome FinishRemapped(const source::Ast& ast, const KernelSite& site, const std::string& name,
                                    const Edits& edits, std::vector<std::string> notes) {
  std::vector<std::string> functions = {name};
  for (const LaunchSite& launch : site.launches) functions.push_back(launch.host->syntax.name);
  return FinishRemapped(ast, functions, edits, std::move(notes));
}

}  // namespace warpwright::rewrite

#include "schedule/filled_variables.h"

#include <algorithm>
#include <map>

#include "source/tokens.h"

namespace warpwright::schedule {
namespace {

std::vector<source::Token> TokensOf(const source::Ast& ast, CXCursor function) {
  return source::ast::Tokens(ast, source::ast::Offsets(function));
}

bool MentionsVariable(const source::Ast& ast, CXCursor function, const std::string& variable) {
  const std::vector<source::Token> tokens = TokensOf(ast, function);
  return std::any_of(tokens.begin(), tokens.end(), [&](const source::Token& token) { return token.text == variable; });
}

// Of "cudaMemcpyToSymbol(ns::table, ...)": "table".
std::set<std::string> FilledBy(const source::Ast& ast, CXCursor function) {
  std::set<std::string> variables;
  const std::vector<source::Token> tokens = TokensOf(ast, function);
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!FillsVariables(tokens[i].text)) continue;
    for (size_t at = i + 2; at < tokens.size() && !tokens[at].Is(",") && !tokens[at].Is(")"); ++at)
      if (tokens[at].IsIdentifier() && (at + 1 >= tokens.size() || !tokens[at + 1].Is("::"))) {
        variables.insert(std::string(tokens[at].text));
        break;
      }
  }
  return variables;
}

// Calls of a host function, or launches of a kernel that nothing here launches, find what somebody else left there.
bool CountsOn(const source::Ast& ast, CXCursor function, const std::string& variable) {
  std::vector<CXCursor> reached;
  Reached(ast, function, &reached);
  bool uses = false, fills = false;
  for (const CXCursor& f : reached) {
    uses |= MentionsVariable(ast, f, variable);
    fills |= FilledBy(ast, f).contains(variable);
  }
  return uses && !fills;
}

}  // namespace

bool FillsVariables(std::string_view callee) {
  return callee == "cudaMemcpyToSymbol" || callee == "cudaMemcpyToSymbolAsync";
}

std::set<std::string> Reached(const source::Ast& ast, CXCursor entry, std::vector<CXCursor>* cursors) {
  std::map<std::string, CXCursor> by_name;
  for (const CXCursor& cursor : source::ast::Functions(ast)) by_name[source::ast::Spelling(cursor)] = cursor;
  std::set<std::string> names;
  std::vector<CXCursor> open = {entry};
  while (!open.empty()) {
    const CXCursor cursor = open.back();
    open.pop_back();
    cursors->push_back(cursor);
    for (const source::Token& token : source::ast::Tokens(ast, source::ast::Offsets(cursor)))
      if (const auto found = by_name.find(std::string(token.text));
          found != by_name.end() && source::ast::IsInMainFile(found->second) && names.insert(found->first).second)
        open.push_back(found->second);
  }
  return names;
}

std::set<std::string> FilledForOthers(const source::Ast& ast, CXCursor entry) {
  std::vector<CXCursor> own;
  const std::set<std::string> names = Reached(ast, entry, &own);
  std::set<std::string> filled;
  for (const CXCursor& f : own) filled.merge(FilledBy(ast, f));
  if (filled.empty()) return filled;

  // Where they begin: host functions, and what no host function reaches.
  std::set<std::string> launched;
  std::vector<CXCursor> others;
  for (const bool host : {true, false})
    for (const CXCursor& f : source::ast::Functions(ast)) {
      const std::string name = source::ast::Spelling(f);
      const bool own_function = names.contains(name) || name == source::ast::Spelling(entry);
      if (!source::ast::IsInMainFile(f) || source::ast::IsHost(f) != host || own_function) continue;
      if (!host && launched.contains(name)) continue;
      std::vector<CXCursor> reached;
      launched.merge(Reached(ast, f, &reached));
      others.push_back(f);
    }
  std::erase_if(filled, [&](const std::string& variable) {
    return std::none_of(others.begin(), others.end(), [&](CXCursor f) { return CountsOn(ast, f, variable); });
  });
  return filled;
}

}  // namespace warpwright::schedule

#include "source/macros.h"

#include <algorithm>
#include <set>

namespace warpwright::source {
namespace {

unsigned BuiltinAttributes(std::string_view name) {
  if (name == "__global__") return kGlobal;
  if (name == "__device__") return kDevice;
  if (name == "__host__") return kHost;
  if (name == "__constant__") return kConstant;
  if (name == "__managed__") return kManaged;
  if (name == "__shared__") return kShared;
  return 0;
}

// Whether the brace is that of `namespace a::b {` or `extern "C" {`.
bool IsScope(const std::vector<Token>& body, size_t brace) {
  if (brace >= 2 && body[brace - 1].kind == Token::Kind::kString && body[brace - 2].Is("extern")) return true;
  for (size_t i = brace; i > 0; --i) {
    if (body[i - 1].Is("namespace")) return true;
    if (!body[i - 1].IsIdentifier() && !body[i - 1].Is("::") && !body[i - 1].Is("##")) return false;
  }
  return false;
}

Macro ReadMacro(const std::vector<Token>& tokens, size_t hash, size_t end) {
  Macro macro;
  macro.name = std::string(tokens[hash + 2].text);
  macro.range = {tokens[hash].range.begin, tokens[end - 1].range.end};
  macro.line = tokens[hash].line;
  macro.end_line = tokens[end - 1].line;
  size_t at = hash + 3;
  if (at < end && tokens[at].Is("(") && tokens[at].range.begin == tokens[hash + 2].range.end) {
    macro.function_like = true;
    for (++at; at < end && !tokens[at].Is(")"); ++at) {
      if (tokens[at].IsIdentifier()) macro.parameters.emplace_back(tokens[at].text);
    }
    ++at;
  }
  int depth = 0;
  for (; at < end; ++at) {
    const Token& token = tokens[at];
    macro.body.push_back(token);
    if (token.Is("##")) macro.pastes = true;
    if (token.Is("{")) ++macro.brace_balance;
    if (token.Is("}")) --macro.brace_balance;
    if (token.Is("(") || token.Is("[")) ++depth;
    if (token.Is(")") || token.Is("]")) --depth;
    if (depth == 0 && (token.Is(";") || token.Is("}"))) macro.declares = true;
  }
  // do { ... } while (0) and ({ ... }) are statements.
  if (!macro.body.empty() && (macro.body[0].Is("do") || macro.body[0].Is("{") || macro.body[0].Is("if") ||
                              macro.body[0].Is("for") || macro.body[0].Is("while") || macro.body[0].Is("switch"))) {
    macro.declares = false;
  }
  if (macro.brace_balance != 0) macro.declares = false;
  const std::vector<size_t> open = macro.OpenBraces();
  macro.opens_scope = std::all_of(open.begin(), open.end(), [&](size_t brace) { return IsScope(macro.body, brace); });
  return macro;
}

}  // namespace

bool Macro::HasParameter(std::string_view parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}
std::vector<size_t> Macro::OpenBraces() const {
  std::vector<size_t> open;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i].Is("{")) open.push_back(i);
    if (body[i].Is("}") && !open.empty()) open.pop_back();
  }
  return open;
}

std::vector<Macro> FindMacros(const std::vector<Token>& tokens, const std::string& path,
                              const std::vector<TextRange>& inactive) {
  std::vector<Macro> macros;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].OpensDirective() || !tokens[i + 1].Is("define")) continue;
    size_t end = i + 3;
    while (end < tokens.size() && tokens[end].in_directive && !(tokens[end].starts_line && tokens[end].Is("#"))) ++end;
    Macro macro = ReadMacro(tokens, i, end);
    macro.path = path;
    macro.active = std::none_of(inactive.begin(), inactive.end(),
                                [&](const TextRange& range) { return range.Contains(macro.range); });
    macros.push_back(std::move(macro));
  }
  return macros;
}

void MacroTable::Add(Macro macro) {
  any_pastes_ = any_pastes_ || macro.pastes;
  macros_[macro.name].push_back(std::move(macro));
}

const std::vector<Macro>* MacroTable::Find(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? nullptr : &found->second;
}

const Macro* MacroTable::Current(std::string_view name) const {
  const auto* definitions = Find(name);
  if (definitions == nullptr) return nullptr;
  const auto active =
      std::find_if(definitions->begin(), definitions->end(), [](const Macro& macro) { return macro.active; });
  return active == definitions->end() ? &definitions->front() : &*active;
}

unsigned MacroTable::Attributes(std::string_view name) const {
  unsigned attributes = BuiltinAttributes(name);
  std::set<std::string_view> seen;
  std::vector<std::string_view> open = {name};
  while (!open.empty()) {
    const std::string_view next = open.back();
    open.pop_back();
    const auto* definitions = Find(next);
    if (definitions == nullptr || !seen.insert(next).second) continue;
    for (const Macro& macro : *definitions) {
      for (const Token& token : macro.body) {
        if (!token.IsIdentifier()) continue;
        attributes |= BuiltinAttributes(token.text);
        open.push_back(token.text);
      }
    }
  }
  return attributes;
}

bool MacroTable::Declares(std::string_view name) const {
  std::set<std::string_view> seen;
  std::vector<std::string_view> open = {name};
  while (!open.empty()) {
    const std::string_view next = open.back();
    open.pop_back();
    const auto* definitions = Find(next);
    if (definitions == nullptr || !seen.insert(next).second) continue;
    for (const Macro& macro : *definitions) {
      if (macro.declares) return true;
      // "DEFINE(a, float) DEFINE(b, double)": no word of C++ stands before the first.
      const bool invokes = macro.brace_balance == 0 && !macro.body.empty() && macro.body[0].IsIdentifier() &&
                           !macro.HasParameter(macro.body[0].text);
      if (invokes) open.push_back(macro.body[0].text);
    }
  }
  return false;
}

int MacroTable::BraceBalance(const std::vector<Token>& code, size_t at) const {
  if (!code[at].IsIdentifier()) return 0;
  const Macro* macro = Current(code[at].text);
  const bool invoked = macro != nullptr && (!macro->function_like || (at + 1 < code.size() && code[at + 1].Is("(")));
  return invoked ? macro->brace_balance : 0;
}
bool MacroTable::OpensScope(std::string_view name) const {
  const Macro* macro = Current(name);
  return macro != nullptr && macro->brace_balance > 0 && macro->opens_scope;
}
bool MacroTable::IsFunctionLike(std::string_view name) const {
  const Macro* macro = Current(name);
  return macro != nullptr && macro->function_like;
}

}  // namespace warpwright::source

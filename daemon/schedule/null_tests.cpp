#include "schedule/null_tests.h"

#include "source/tokens.h"

namespace warpwright::schedule {
namespace {

bool IsNull(const source::Token& token) { return token.Is("nullptr") || token.Is("NULL") || token.Is("0"); }
bool Compares(const source::Token& token) { return token.Is("==") || token.Is("!="); }
bool Joins(const source::Token& token) { return token.Is("&&") || token.Is("||"); }

// The name at `at`: "p != nullptr", "!p", "p ? a : b", "if (p)", "p && q".
bool IsCompared(const std::vector<source::Token>& tokens, size_t at) {
  const auto token = [&](size_t i) { return i < tokens.size() ? tokens[i] : source::Token(); };
  const source::Token before = at > 0 ? tokens[at - 1] : source::Token(), after = token(at + 1);
  if (Compares(after) && IsNull(token(at + 2))) return true;
  if (at > 1 && Compares(before) && IsNull(tokens[at - 2])) return true;
  if (before.Is("!") || after.Is("?")) return true;
  const bool begins = before.Is("(") || Joins(before), ends = after.Is(")") || Joins(after);
  if (!begins || !ends) return false;
  if (Joins(before) || Joins(after)) return true;
  return at > 1 && (tokens[at - 2].Is("if") || tokens[at - 2].Is("while"));
}

}  // namespace

std::set<std::string> ComparedWithNull(const source::Ast& ast, const std::vector<CXCursor>& functions,
                                       const std::string& entry, const std::set<std::string>& buffers,
                                       const std::set<std::string>& inputs) {
  std::set<std::string> compared;
  for (const CXCursor& function : functions) {
    std::set<std::string> pointers;
    for (const CXCursor& parameter : source::ast::Parameters(function))
      if (clang_getCanonicalType(clang_getCursorType(parameter)).kind == CXType_Pointer)
        pointers.insert(source::ast::Spelling(parameter));
    const std::vector<source::Token> tokens = source::ast::Tokens(ast, source::ast::Offsets(function));
    for (size_t at = 0; at < tokens.size(); ++at) {
      const std::string name(tokens[at].text);
      if (!pointers.contains(name) || !IsCompared(tokens, at)) continue;
      if (buffers.contains(name)) compared.insert(name);
      else if (source::ast::Spelling(function) != entry) compared.insert(inputs.begin(), inputs.end());
    }
  }
  return compared;
}

}  // namespace warpwright::schedule

#include "source/build_dependence.h"

#include <algorithm>

#include "base/hash.h"
#include "source/ast.h"

namespace warpwright::source {
namespace {

// __CUDACC__ is not among them: every compiler of device code has it. These are prefixes: they include
// __CUDA_ARCH_LIST__ and __CUDACC_VER_MAJOR__.
constexpr std::string_view kBuildMacros[] = {"__CUDA_ARCH", "__CUDACC_RTC__", "__CUDACC_VER", "__CUDACC_DEBUG__",
                                             "__NVCC__",    "__NVCOMPILER",   "__clang",      "__GNUC",
                                             "_MSC_VER",    "__DATE__",       "__TIME__",     "__TIMESTAMP__"};
bool DependsOnBuild(std::string_view name) {
  return std::any_of(std::begin(kBuildMacros), std::end(kBuildMacros),
                     [&](std::string_view macro) { return name.starts_with(macro); });
}
// A pasted name begins with a token that is a prefix of it.
bool MayBegin(std::string_view piece) {
  return std::any_of(std::begin(kBuildMacros), std::end(kBuildMacros),
                     [&](std::string_view macro) { return macro.starts_with(piece); });
}

// Strips the directives: the parser's range begins with one and ends before or after another.
TextRange WithoutDirectives(std::string_view text, TextRange range) {
  const std::string_view skipped = text.substr(range.begin, range.size());
  const size_t first = skipped.find('\n');
  if (first == std::string_view::npos) return {range.end, range.end};
  size_t end = skipped.size();
  const size_t last = skipped.rfind('\n');
  const size_t start = skipped.find_first_not_of(" \t", last + 1);
  if (start != std::string_view::npos && skipped[start] == '#') end = last;
  const auto begin = range.begin + static_cast<uint32_t>(first);
  return {begin, std::max(begin, range.begin + static_cast<uint32_t>(end))};
}

std::string FirstLine(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return std::string(text.substr(begin, std::min<size_t>(text.find('\n', begin) - begin, 80)));
}

}  // namespace

std::map<std::string, core::PrecisionUse> FindBuildDependence(const Ast& ast) {
  std::map<std::string, core::PrecisionUse> uses;
  const std::string& file = ast.tree().main;
  const auto add = [&](std::string_view kind, const std::string& name, std::string instruction, int line) {
    uses.try_emplace(std::string(kind) + name, core::PrecisionUse{std::move(instruction), file, line});
  };
  const std::vector<Token> tokens = Lex(ast.text());
  const bool pastes = std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.Is("##"); });
  for (const Token& token : tokens)
    if (const std::string name = token.IsIdentifier() ? Spelling(token) : "";
        DependsOnBuild(name) || (pastes && !name.empty() && MayBegin(name)))
      add(core::kBuildPrefix, name, name, token.line);
  for (const TextRange& skipped : ast.InactiveRanges(file)) {
    const TextRange range = WithoutDirectives(ast.text(), skipped);
    const std::string_view text = ast::Text(ast, range);
    const std::string normalized = NormalizedText(text);
    if (normalized.empty()) continue;
    const auto first = static_cast<uint32_t>(text.find_first_not_of(" \t\r\n"));
    add(core::kBuildText, base::Hasher().Add(normalized).Finish().substr(0, 16), FirstLine(text),
        LineAt(ast.text(), range.begin + first));
  }
  return uses;
}

}  // namespace warpwright::source

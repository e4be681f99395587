#include "schedule/needless_casts.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "source/tokens.h"

namespace warpwright::schedule {
namespace {

using source::Token;

// Which names a kernel declares, and whether as long long alone.
std::map<std::string_view, bool> WideNames(const std::vector<Token>& tokens, size_t begin, size_t end) {
  constexpr std::string_view kNoTypes[] = {"return", "else", "case", "goto", "new", "delete"};
  std::map<std::string_view, bool> wide;
  for (size_t i = begin + 2; i < end; ++i) {
    const Token &name = tokens[i], &type = tokens[i - 1];
    const bool declares = name.IsIdentifier() && type.IsIdentifier() &&
                          std::find(std::begin(kNoTypes), std::end(kNoTypes), type.text) == std::end(kNoTypes);
    if (!declares) continue;
    const bool is_signed = i < begin + 3 || !tokens[i - 3].Is("unsigned");
    const bool is_wide = type.Is("long") && tokens[i - 2].Is("long") && is_signed;
    const auto [known, is_new] = wide.emplace(name.text, is_wide);
    known->second = known->second && is_wide;
  }
  return wide;
}

// static_cast < long long > ( NAME )
bool IsCast(const std::vector<Token>& tokens, size_t at) {
  constexpr std::string_view kCast[] = {"static_cast", "<", "long", "long", ">", "("};
  if (at + 8 > tokens.size()) return false;
  for (size_t i = 0; i < std::size(kCast); ++i)
    if (!tokens[at + i].Is(kCast[i])) return false;
  return tokens[at + 6].IsIdentifier() && tokens[at + 7].Is(")");
}

}  // namespace

std::string WithoutNeedlessCasts(const std::string& kernels) {
  const std::vector<Token> tokens = source::Lex(kernels);
  std::vector<size_t> starts = {0};
  for (size_t i = 1; i < tokens.size(); ++i)
    if (tokens[i].Is("__global__")) starts.push_back(i);
  starts.push_back(tokens.size());
  std::string out;
  size_t copied = 0;
  for (size_t kernel = 0; kernel + 1 < starts.size(); ++kernel) {
    const auto wide = WideNames(tokens, starts[kernel], starts[kernel + 1]);
    for (size_t i = starts[kernel]; i < starts[kernel + 1]; ++i) {
      if (!IsCast(tokens, i)) continue;
      const Token& name = tokens[i + 6];
      const auto found = wide.find(name.text);
      if (found == wide.end() || !found->second) continue;
      out.append(kernels, copied, tokens[i].range.begin - copied).append(name.text);
      copied = tokens[i + 7].range.end;
    }
  }
  return out.append(kernels, copied);
}

}  // namespace warpwright::schedule

#include "source/host_program.h"

#include <algorithm>
#include <optional>
#include <set>

#include "source/tokens.h"

namespace warpwright::source {
namespace {

constexpr std::string_view kLine = "__LINE__";
constexpr std::string_view kUserLine = "::ww::UserLine(__FILE__, __builtin_LINE())";

// The '#' of the directive that contains tokens[at].
size_t DirectiveOf(const std::vector<Token>& tokens, size_t at) {
  while (at > 0 && !tokens[at].OpensDirective()) --at;
  return at;
}

// The name before the parenthesis that encloses tokens[at]; empty if there is none.
std::string_view CalleeAround(const std::vector<Token>& tokens, size_t at) {
  int depth = 0;
  while (at-- > 0) {
    if (tokens[at].text == ")" || tokens[at].text == "]" || tokens[at].text == "}") ++depth;
    if (tokens[at].text != "(" && tokens[at].text != "[" && tokens[at].text != "{") continue;
    if (--depth >= 0) continue;
    const bool called = tokens[at].text == "(" && at > 0 && tokens[at - 1].kind == Token::Kind::kIdentifier;
    return called ? tokens[at - 1].text : std::string_view();
  }
  return {};
}

// Whether a function call can replace this __LINE__: it is a function argument, or printed with "<<".
bool IsReplaceable(const std::vector<Token>& tokens, size_t at, const std::set<std::string_view>& function_macros) {
  if (at == 0 || at + 1 >= tokens.size()) return false;
  std::string_view defined;  // a macro does not expand in itself
  if (tokens[at].in_directive) {
    const size_t hash = DirectiveOf(tokens, at);
    if (tokens[hash + 1].text != "define") return false;
    defined = tokens[hash + 2].text;
  }
  const std::string_view before = tokens[at - 1].text, behind = tokens[at + 1].text;
  const bool ends = behind == "," || behind == ")" || behind == "<<" || behind == ";";
  if (before == "<<" && ends) return true;
  if ((before != "," && before != "(") || !ends) return false;
  const std::string_view callee = CalleeAround(tokens, at);
  return !callee.empty() && (callee == defined || !function_macros.count(callee));
}

// Produces nothing if line numbers have a meaning that a table cannot provide.
class Compactor {
 public:
  explicit Compactor(const std::set<std::string_view>& function_macros) : function_macros_(function_macros) {}

  std::optional<std::string> Run(std::string_view text, std::vector<int>& lines) {
    const std::vector<Token> tokens = Lex(text);
    std::string out;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.OpensDirective() && i + 1 < tokens.size() && IsLineDirective(tokens[i + 1])) return std::nullopt;
      if (i == 0 || Breaks(tokens[i - 1], token)) {
        if (i > 0) out += '\n';
        lines.push_back(token.line);
      } else if (tokens[i - 1].range.end < token.range.begin) {
        out += ' ';
      }
      if (token.text == kLine) {
        if (!IsReplaceable(tokens, i, function_macros_)) return std::nullopt;
        out += kUserLine;
        continue;
      }
      out += token.text;
      for (int k = 1; k <= Height(token); ++k) lines.push_back(token.line + k);
    }
    return out + "\n";
  }

 private:
  static bool IsLineDirective(const Token& word) { return word.text == "line" || word.kind == Token::Kind::kNumber; }
  static int Height(const Token& token) {  // a raw string may span several lines
    return static_cast<int>(std::count(token.text.begin(), token.text.end(), '\n'));
  }
  // A directive is joined into one line.
  static bool Breaks(const Token& before, const Token& token) {
    if (token.OpensDirective() || before.in_directive != token.in_directive) return true;
    return !token.in_directive && token.line > before.line + Height(before);
  }

  const std::set<std::string_view>& function_macros_;
};

void AddFunctionMacros(std::string_view text, std::set<std::string_view>& names) {
  const std::vector<Token> tokens = Lex(text);
  for (size_t i = 0; i + 3 < tokens.size(); ++i) {
    const bool define = tokens[i].OpensDirective() && tokens[i + 1].text == "define";
    if (define && tokens[i + 3].text == "(" && tokens[i + 3].range.begin == tokens[i + 2].range.end)
      names.insert(tokens[i + 2].text);
  }
}

bool IsPathCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
         c == '.' || c == '-';
}

}  // namespace

int HostProgram::UserLine(const std::string& file, int line) const {
  const auto known = lines.find(file);
  const bool inside = known != lines.end() && line >= 1 && static_cast<size_t>(line) <= known->second.size();
  return inside ? known->second[static_cast<size_t>(line) - 1] : line;
}

std::string HostProgram::WithUserLines(std::string log) const {
  for (const auto& [file, ignored] : lines) {
    const std::string start = file + ":";
    for (size_t at = log.find(start); at != std::string::npos; at = log.find(start, at + start.size())) {
      if (at > 0 && IsPathCharacter(log[at - 1])) continue;
      const size_t begin = at + start.size();
      const size_t end = std::min(log.find_first_not_of("0123456789", begin), log.size());
      if (end == begin || end - begin > 8) continue;
      log.replace(begin, end - begin, std::to_string(UserLine(file, std::stoi(log.substr(begin, end - begin)))));
    }
  }
  return log;
}

HostProgram MakeHostProgram(const Slices& slices) {
  std::set<std::string_view> function_macros;
  AddFunctionMacros(slices.host, function_macros);
  for (const auto& [name, text] : slices.host_headers) AddFunctionMacros(text, function_macros);
  Compactor compactor(function_macros);
  HostProgram program;
  const auto add = [&](const std::string& file, const std::string& text, std::string& target) {
    auto compact = compactor.Run(text, program.lines[file]);
    if (compact) target = std::move(*compact);
    return compact.has_value();
  };
  bool compact = add(slices.file, slices.host, program.text);
  for (const auto& [name, text] : slices.host_headers) compact = compact && add(name, text, program.headers[name]);
  if (compact) return program;
  return {slices.host, slices.host_headers, {}};
}

}  // namespace warpwright::source

#include "source/stub.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace warpwright::source {
namespace {

// Token ranges [begin, end) between top-level commas.
std::vector<std::pair<size_t, size_t>> SplitAtCommas(const std::vector<Token>& code, size_t begin, size_t end) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t start = begin;
  bool in_default = false;  // '<' in a default argument may be a comparison or a bracket
  for (size_t i = begin; i < end; ++i) {
    if (code[i].Is("(") || code[i].Is("[") || code[i].Is("{")) {
      i = std::min(end, MatchingBracket(code, i));
    } else if (code[i].Is("<")) {
      const size_t behind = SkipAngles(code, i, end);
      if (behind != kNone && !in_default) i = behind - 1;
      if (behind != kNone && in_default && i > begin && code[i - 1].IsIdentifier()) i = behind - 1;
    } else if (code[i].Is("=")) {
      in_default = true;
    } else if (code[i].Is(",")) {
      parts.emplace_back(start, i);
      start = i + 1;
      in_default = false;
    }
  }
  if (start < end) parts.emplace_back(start, end);
  return parts;
}

const std::set<std::string_view> kQualifiers = {"const",  "volatile", "__restrict__", "__restrict",        "restrict",
                                                "struct", "class",    "typename",     "__grid_constant__", "enum",
                                                "union",  "register"};
const std::set<std::string_view> kBuiltinTypes = {"void",  "int",  "float",    "double", "char",
                                                  "short", "long", "unsigned", "signed", "bool"};

struct Parameter {
  std::string name;
  bool pack = false;
  uint32_t insert_at = 0;  // where a name would be inserted
  bool unnamed = false;
};

Parameter ReadParameter(const std::vector<Token>& code, size_t begin, size_t end) {
  Parameter parameter;
  size_t stop = begin;
  while (stop < end && !code[stop].Is("=")) {
    if (code[stop].Is("(") || code[stop].Is("{")) stop = std::min(end - 1, MatchingBracket(code, stop));
    ++stop;
  }
  std::vector<size_t> words;  // qualified ids count as one
  uint32_t insert_at = code[stop - 1].range.end;
  for (size_t i = begin; i < stop; ++i) {
    if (code[i].Is("(") && i + 2 < stop && code[i + 1].Is("*") && code[i + 2].IsIdentifier()) {
      parameter.name = std::string(code[i + 2].text);  // float (*f)(float)
      return parameter;
    }
    if (code[i].Is("[") || code[i].Is("(")) {
      if (code[i].Is("[") && i > begin) insert_at = std::min(insert_at, code[i].range.begin);
      i = std::min(stop - 1, MatchingBracket(code, i));
    } else if (code[i].Is("<")) {
      const size_t behind = SkipAngles(code, i, stop);
      if (behind != kNone) i = behind - 1;
    } else if (code[i].Is("...")) {
      parameter.pack = true;
    } else if (code[i].Is("::") || code[i].Is("##")) {
      if (!words.empty()) words.pop_back();
    } else if (code[i].IsIdentifier() && !kQualifiers.count(code[i].text)) {
      words.push_back(i);
    }
  }
  if (words.size() >= 2 && !kBuiltinTypes.count(code[words.back()].text)) {
    parameter.name = std::string(code[words.back()].text);
  } else {
    parameter.unnamed = true;
    parameter.insert_at = insert_at;
  }
  return parameter;
}

// "::ww::TypeName<T>(), ::ww::ValueName<N>(), ::ww::TypeName<Ts>()..." for template <typename T, int N, typename...
// Ts>.
std::string TemplateArguments(const std::vector<Token>& code, size_t open) {
  const size_t behind = SkipAngles(code, open, code.size());
  if (behind == kNone) return {};
  std::string arguments;
  for (const auto& [begin, end] : SplitAtCommas(code, open + 1, behind - 1)) {
    size_t stop = begin;
    bool pack = false;
    while (stop < end && !code[stop].Is("=")) {
      pack = pack || code[stop].Is("...");
      ++stop;
    }
    Token name = code[stop - 1];
    for (size_t i = begin; i + 2 < stop; ++i) {  // float (*F)(float)
      if (code[i].Is("(") && code[i + 1].Is("*") && code[i + 2].IsIdentifier()) name = code[i + 2];
    }
    const bool is_type = code[begin].Is("typename") || code[begin].Is("class");
    if (!name.IsIdentifier() || stop - begin < 2 || kBuiltinTypes.count(name.text)) break;  // unnamed: it has a default
    if (code[begin].Is("template")) break;
    arguments += fmt::format("{}::ww::{}<{}>(){}", arguments.empty() ? "" : ", ", is_type ? "TypeName" : "ValueName",
                             name.text, pack ? "..." : "");
  }
  return arguments;
}

// The first token of the callee before "<<<": k, ns::k<T, 4>, table[i], (*f), object.member.
size_t CalleeBegin(const std::vector<Token>& tokens, size_t launch) {
  size_t at = launch;
  while (at > 0) {
    size_t i = at - 1;
    if (tokens[i].Is(">") || tokens[i].Is(">>>")) {
      int depth = 0;
      for (;; --i) {
        if (tokens[i].Is(">")) ++depth;
        if (tokens[i].Is(">>>")) depth += 3;
        if (tokens[i].Is("<") && --depth == 0) break;
        if (i == 0) return at;
      }
      if (i == 0) return at;
      at = i;  // the template's name comes next
      continue;
    }
    if (tokens[i].Is(")") || tokens[i].Is("]")) {
      int depth = 0;
      for (;; --i) {
        if (tokens[i].Is(")") || tokens[i].Is("]")) ++depth;
        if ((tokens[i].Is("(") || tokens[i].Is("[")) && --depth == 0) break;
        if (i == 0) return at;
      }
      const bool index = tokens[i].Is("[");
      const bool call = !index && i > 0 && tokens[i - 1].IsIdentifier() && !tokens[i - 1].Is("return");
      at = i;
      if (index || call) continue;
    } else if (tokens[i].IsIdentifier() && !tokens[i].Is("return") && !tokens[i].Is("else") && !tokens[i].Is("do")) {
      at = i;
    } else {
      return at;
    }
    // Tokens that may precede a name and belong to it.
    while (at > 0) {
      if (tokens[at - 1].Is("template")) {
        --at;
      } else if (tokens[at - 1].Is("::") || tokens[at - 1].Is(".") || tokens[at - 1].Is("->") ||
                 tokens[at - 1].Is("##")) {
        --at;
        break;
      } else {
        return at;
      }
    }
    if (at > 0 && tokens[at].Is("::") && !tokens[at - 1].IsIdentifier() && !tokens[at - 1].Is(">")) return at;  // ::k
  }
  return at;
}

// Index after "<<<", which formatters also write as "<< <"; `at` if there is none.
size_t OpensConfiguration(const std::vector<Token>& tokens, size_t at) {
  if (tokens[at].Is("<<<")) return at + 1;
  if (tokens[at].Is("<<") && at + 1 < tokens.size() && tokens[at + 1].Is("<")) return at + 2;
  return at;
}
size_t ClosesConfiguration(const std::vector<Token>& tokens, size_t at) {
  if (tokens[at].Is(">>>")) return at + 1;
  const bool three = at + 3 < tokens.size() && tokens[at].Is(">") && tokens[at + 1].Is(">") && tokens[at + 2].Is(">") &&
                     tokens[at + 3].Is("(");
  return three ? at + 3 : at;
}

}  // namespace

std::string ApplyEdits(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) {
    if (a.range.begin != b.range.begin) return a.range.begin < b.range.begin;
    // Insertions first, then the outer of two edits.
    if ((a.range.size() == 0) != (b.range.size() == 0)) return a.range.size() == 0;
    return a.range.end > b.range.end;
  });
  std::string out;
  uint32_t at = 0;
  for (const TextEdit& edit : edits) {
    if (edit.range.begin < at || edit.range.end > text.size()) continue;
    out += text.substr(at, edit.range.begin - at);
    out += edit.text;
    at = edit.range.end;
  }
  out += text.substr(at);
  return out;
}

std::string Blanked(std::string_view text) {
  std::string out(text);
  const auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const bool continuation = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
      if (text[i] != '\n' && text[i] != '\r' && !continuation) out[i] = ' ';
    }
  };
  size_t at = 0;
  const std::vector<Token> tokens = Lex(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].OpensDirective()) continue;
    size_t last = i;
    while (last + 1 < tokens.size() && tokens[last + 1].in_directive &&
           !(tokens[last + 1].starts_line && tokens[last + 1].Is("#"))) {
      ++last;
    }
    if (i + 1 < tokens.size() && tokens[i + 1].Is("pragma")) continue;
    blank(at, tokens[i].range.begin);
    at = tokens[last].range.end;
    i = last;
  }
  blank(at, text.size());
  return out;
}

std::string BlankedMacro(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      const bool returns = out.ends_with('\r');
      if (returns) out.pop_back();
      out += returns ? "\\\r\n" : "\\\n";
    } else {
      out += c == '\r' ? c : ' ';
    }
  }
  return out;
}

std::vector<TextEdit> StubKernel(std::string_view text, const std::vector<Token>& code, const Unit& unit,
                                 bool overloaded) {
  std::vector<TextEdit> edits;
  std::string values, types;
  if (unit.body_open == kNone || (unit.params_open == kNone && !unit.expanded)) return edits;
  const auto blanked = [&](uint32_t begin, uint32_t end) {
    const std::string_view part = text.substr(begin, std::max(begin, end) - begin);
    return code[unit.first].in_directive ? BlankedMacro(part) : Blanked(part);
  };
  // Attributes that the host compiler ignores must not change what it compiles.
  for (size_t i = unit.first; unit.params_open != kNone && i + 1 < unit.params_open; ++i) {
    if (!code[i].Is("__launch_bounds__") || !code[i + 1].Is("(")) continue;
    const TextRange range = {code[i].range.begin, code[MatchingBracket(code, i + 1)].range.end};
    edits.push_back({range, blanked(range.begin, range.end)});
  }
  const auto pass = [&](const std::string& name, bool pack) {
    const char* dots = pack ? "..." : "";
    types += fmt::format("{}decltype({}){}", types.empty() ? "" : ", ", name, dots);
    values += fmt::format(", {}{}", name, dots);
  };
  int index = 0;
  std::vector<std::pair<size_t, size_t>> parts;
  if (unit.expanded) {
    for (const ExpandedParameter& parameter : *unit.expanded) pass(parameter.name, parameter.pack);
  } else {
    parts = SplitAtCommas(code, unit.params_open + 1, unit.params_close);
  }
  for (const auto& [begin, end] : parts) {
    if (parts.size() == 1 && end - begin == 1 && code[begin].Is("void")) break;
    Parameter parameter = ReadParameter(code, begin, end);
    if (parameter.unnamed) {
      parameter.name = fmt::format("ww_p{}", index);
      edits.push_back({{parameter.insert_at, parameter.insert_at}, " " + parameter.name});
    }
    ++index;
    pass(parameter.name, parameter.pack);
  }
  std::string name = "::ww::PlainName(__PRETTY_FUNCTION__)";
  if (unit.template_open != kNone) {
    const std::string arguments = TemplateArguments(code, unit.template_open);
    name = fmt::format("::ww::Instance({}{}{})", name, arguments.empty() ? "" : ", ", arguments);
  } else if (!unit.explicit_arguments.empty()) {
    name =
        fmt::format("::ww::PointerName<static_cast<void (*)({})>(&{}{})>()", types, unit.name, unit.explicit_arguments);
  }
  if (overloaded) name = fmt::format("::ww::Overload({}, ::ww::TypeName<void (*)({})>())", name, types);
  const uint32_t open = code[unit.body_open].range.end, close = std::max(code[unit.body_close].range.begin, open);
  edits.push_back(
      {{open, close},
       fmt::format(" static const ::ww::Kernel ww_kernel({}, ::ww::Layout<{}>()); ::ww::Launch(ww_kernel{}); {}", name,
                   types, values, blanked(open, close))});
  return edits;
}

std::vector<TextEdit> RewriteLaunches(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<TextEdit> edits;
  for (size_t i = 1; i < tokens.size(); ++i) {
    const size_t opened = OpensConfiguration(tokens, i);
    if (opened == i) continue;
    size_t close = opened;
    while (close < tokens.size() && ClosesConfiguration(tokens, close) == close) {
      if (tokens[close].Is("(") || tokens[close].Is("{") || tokens[close].Is("["))
        close = MatchingBracket(tokens, close);
      ++close;
    }
    if (close >= tokens.size()) continue;
    const size_t first = close;  // of the closing tokens
    close = ClosesConfiguration(tokens, close) - 1;
    if (close + 1 >= tokens.size() || !tokens[close + 1].Is("(")) continue;
    const size_t end = MatchingBracket(tokens, close + 1);
    if (end >= tokens.size()) continue;
    const size_t begin = CalleeBegin(tokens, i);
    if (begin == i) continue;
    std::string configuration;
    for (size_t k = opened; k < first; ++k) {
      const bool gap = k > opened && tokens[k].range.begin > tokens[k - 1].range.end;
      configuration += (gap ? " " : "") + std::string(tokens[k].text);
    }
    const uint32_t from = tokens[begin].range.begin, open = tokens[i].range.begin, shut = tokens[close].range.end;
    edits.push_back({{from, from}, fmt::format("(::ww::Push({}), ", configuration)});
    const std::string_view written = text.substr(open, shut - open);
    edits.push_back({{open, shut}, tokens[i].in_directive ? BlankedMacro(written) : Blanked(written)});
    edits.push_back({tokens[end].range, "))"});  // no insertion behind it: that would outlive a macro that is blanked
    i = close;
  }
  return edits;
}

}  // namespace warpwright::source

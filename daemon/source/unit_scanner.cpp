// One declaration out of a token list: where it ends, what it declares, where its parameters and body are.
#include <algorithm>

#include "source/units.h"

namespace warpwright {
namespace {

bool Is(const Token& token, std::string_view text) { return token.text == text; }
bool IsIdentifier(const Token& token) { return token.kind == Token::Kind::kIdentifier; }

const std::set<std::string_view> kAttributeLike = {"__launch_bounds__",
                                                   "__align__",
                                                   "alignas",
                                                   "__attribute__",
                                                   "__declspec",
                                                   "decltype",
                                                   "noexcept",
                                                   "throw",
                                                   "requires",
                                                   "__cluster_dims__",
                                                   "__block_size__",
                                                   "__maxnreg__",
                                                   "asm",
                                                   "__asm__",
                                                   "explicit",
                                                   "sizeof",
                                                   "alignof",
                                                   "typeof",
                                                   "__builtin_align__",
                                                   "defined",
                                                   "if",
                                                   "while",
                                                   "for",
                                                   "switch",
                                                   "return"};
const std::set<std::string_view> kTypeWords = {"void",   "int",      "float",    "double",    "char",  "short",
                                               "long",   "unsigned", "signed",   "bool",      "const", "auto",
                                               "static", "inline",   "volatile", "constexpr", "extern"};

// Cuts one unit out of a token list.
class UnitScanner {
 public:
  UnitScanner(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros)
      : code_(code), at_(begin), end_(end), macros_(macros) {
    unit_.first = begin;
  }

  Unit Scan() {
    Prefix();
    unit_.declarator = at_;
    if (at_ < end_) Dispatch();
    unit_.last = std::max(at_, unit_.first + 1);
    unit_.range = {code_[unit_.first].range.begin, code_[unit_.last - 1].range.end};
    unit_.line = code_[unit_.first].line;
    unit_.end_line = code_[unit_.last - 1].line;
    return std::move(unit_);
  }

 private:
  bool At(std::string_view text, size_t ahead = 0) const { return at_ + ahead < end_ && Is(code_[at_ + ahead], text); }

  void Prefix() {
    while (At("template") && At("<", 1)) {
      const size_t behind = SkipAngles(code_, at_ + 1, end_);
      if (behind == kNone) break;
      unit_.is_template = true;
      unit_.template_open = at_ + 1;
      if (behind == at_ + 3) {
        unit_.is_specialization = true;
        unit_.is_template = false;
        unit_.template_open = kNone;
      }
      at_ = behind;
    }
  }

  void Dispatch() {
    const bool invocation = IsIdentifier(code_[at_]) && macros_.Declares(code_[at_].text) &&
                            (At("(", 1) || !macros_.Find(code_[at_].text)->front().function_like);
    if (invocation) return Invocation();
    if (At("using")) return Using();
    if (At("typedef")) return Typedef();
    if (At("namespace")) return NamespaceAlias();
    if (At("static_assert") || At("_Static_assert")) return ToSemicolon();
    Declaration();
  }

  void ToSemicolon() {
    while (at_ < end_ && !Is(code_[at_], ";")) {
      if (Is(code_[at_], "(") || Is(code_[at_], "{") || Is(code_[at_], "[")) {
        at_ = std::min(end_ - 1, MatchingBracket(code_, at_));
      }
      ++at_;
    }
    if (at_ < end_) ++at_;
  }

  void Invocation() {
    unit_.kind = Unit::Kind::kInvocation;
    const std::string_view macro = code_[at_].text;
    unit_.attributes = macros_.Attributes(macro);
    unit_.name_token = at_;
    ++at_;
    if (At("(")) at_ = std::min(end_ - 1, MatchingBracket(code_, at_)) + 1;
    if (At(";")) ++at_;
    unit_.name = std::string(macro);
  }

  void Using() {
    if (At("namespace", 1)) {
      unit_.kind = Unit::Kind::kUsingNamespace;
    } else {
      unit_.kind = Unit::Kind::kAlias;
      // using A = ...; using X::y;
      for (size_t i = at_ + 1; i < end_ && !Is(code_[i], "=") && !Is(code_[i], ";"); ++i) {
        if (IsIdentifier(code_[i]) && i + 1 < end_ && (Is(code_[i + 1], "=") || Is(code_[i + 1], ";"))) AddName(i);
      }
    }
    ToSemicolon();
  }

  void Typedef() {
    unit_.kind = Unit::Kind::kAlias;
    for (size_t i = at_ + 1; i < end_ && !Is(code_[i], ";"); ++i) {
      const bool tag = Is(code_[i - 1], "struct") || Is(code_[i - 1], "union") || Is(code_[i - 1], "enum");
      const bool pointer = Is(code_[i - 1], "*") && i >= 2 && Is(code_[i - 2], "(");
      const bool last = i + 1 < end_ && (Is(code_[i + 1], ";") || Is(code_[i + 1], "[") || Is(code_[i + 1], ","));
      if (IsIdentifier(code_[i]) && (tag || pointer || last)) AddName(i);
      if (Is(code_[i], "{")) {
        unit_.body_open = i;
        unit_.body_close = std::min(end_ - 1, MatchingBracket(code_, i));
        if (std::any_of(code_.begin() + static_cast<long>(at_), code_.begin() + static_cast<long>(i),
                        [](const Token& token) { return Is(token, "enum"); })) {
          AddEnumerators(i, unit_.body_close);
        }
        i = unit_.body_close;
      }
    }
    ToSemicolon();
  }

  void NamespaceAlias() {
    unit_.kind = Unit::Kind::kAlias;
    if (at_ + 1 < end_ && IsIdentifier(code_[at_ + 1])) AddName(at_ + 1);
    ToSemicolon();
  }

  void AddName(size_t token) {
    const std::string name(code_[token].text);
    if (unit_.name.empty()) unit_.name = name;
    unit_.names.insert(name);
  }

  void AddEnumerators(size_t open, size_t close) {
    for (size_t i = open + 1; i < close; ++i) {
      if (IsIdentifier(code_[i]) && (Is(code_[i - 1], "{") || Is(code_[i - 1], ",")))
        unit_.names.insert(std::string(code_[i].text));
      if (Is(code_[i], "(")) i = MatchingBracket(code_, i);
    }
  }

  void Declaration() {
    bool type_word = false, saw_equal = false, init_list = false, trailing = false, is_enum = false, type_body = false;
    size_t type_name = kNone;
    unit_.kind = Unit::Kind::kVariable;
    while (at_ < end_) {
      const Token& token = code_[at_];
      if (IsIdentifier(token)) {
        if (unit_.params_open == kNone && !saw_equal) {
          unit_.attributes |= macros_.Attributes(token.text);
          if (Is(token, "constexpr") || Is(token, "consteval")) unit_.is_constexpr = true;
          if (Is(token, "const")) unit_.is_const = true;
          if (Is(token, "struct") || Is(token, "class") || Is(token, "union") || Is(token, "enum")) type_word = true;
          if (Is(token, "enum")) is_enum = true;
          const bool ends_head = At("{", 1) || At(":", 1) || At(";", 1) || At("<", 1) || At("final", 1);
          if (type_word && type_name == kNone && ends_head && !Is(token, "class") && !Is(token, "struct") &&
              !Is(token, "enum")) {
            type_name = at_;
          }
          const bool declared = At("=", 1) || At(";", 1) || At("[", 1) || At(",", 1) || At("{", 1);
          if (declared && !(type_word && !type_body) && !Is(token, "const")) AddName(at_);
        }
        if (Is(token, "operator")) {
          if (!saw_equal) Operator();
          continue;
        }
        if ((Is(token, "default") || Is(token, "delete")) && saw_equal) unit_.is_defaulted = true;
        ++at_;
      } else if (Is(token, ";")) {
        ++at_;
        break;
      } else if (Is(token, "(")) {
        const size_t close = std::min(end_ - 1, MatchingBracket(code_, at_));
        if (!saw_equal && !init_list && !trailing) Parenthesis(close);
        at_ = close + 1;
      } else if (Is(token, "{")) {
        const size_t close = std::min(end_ - 1, MatchingBracket(code_, at_));
        const bool is_type = type_word && unit_.params_open == kNone && !saw_equal;
        if (is_type) {
          unit_.body_open = at_;
          unit_.body_close = close;
          type_body = true;
          if (is_enum) AddEnumerators(at_, close);
          at_ = close + 1;
        } else if (unit_.params_open == kNone || saw_equal) {
          at_ = close + 1;  // an initializer
        } else if (init_list && at_ > 0 && (IsIdentifier(code_[at_ - 1]) || Is(code_[at_ - 1], ">"))) {
          at_ = close + 1;  // a member's initializer
        } else {
          unit_.body_open = at_;
          unit_.body_close = close;
          at_ = close + 1;
          break;
        }
      } else if (Is(token, "[")) {
        at_ = std::min(end_ - 1, MatchingBracket(code_, at_)) + 1;
      } else if (Is(token, "<") && !saw_equal) {
        const size_t behind = SkipAngles(code_, at_, end_);
        at_ = behind == kNone ? at_ + 1 : behind;
      } else {
        if (Is(token, "=")) saw_equal = true;
        if (Is(token, ",") && !init_list) saw_equal = false;
        if (Is(token, ":") && unit_.params_open != kNone) init_list = true;
        if (Is(token, "->")) trailing = true;
        ++at_;
      }
    }
    if (unit_.params_open != kNone) {
      unit_.kind = Unit::Kind::kFunction;
      FunctionName();
    } else if (type_word && (type_body || unit_.names.empty())) {
      unit_.kind = Unit::Kind::kType;
      if (type_name != kNone) {
        unit_.name = std::string(code_[type_name].text);
        unit_.names.insert(unit_.name);
      }
    }
  }

  // "operator" and its symbol; the parameter list follows.
  void Operator() {
    unit_.name_token = at_;
    unit_.names.insert("operator");
    ++at_;
    if (At("(") && At(")", 1)) at_ += 2;
    while (at_ < end_ && !Is(code_[at_], "(") && !Is(code_[at_], ";")) ++at_;
    if (At("(")) {
      unit_.params_open = at_;
      unit_.params_close = std::min(end_ - 1, MatchingBracket(code_, at_));
      at_ = unit_.params_close + 1;
    }
  }

  // Is this the parameter list? The last candidate counts, for a macro with arguments may stand before the name.
  void Parenthesis(size_t close) {
    if (at_ == unit_.first) return;
    if (unit_.names.count("operator")) return;
    const Token& before = code_[at_ - 1];
    // struct ALIGN(16) Packed {
    const bool tag =
        std::any_of(code_.begin() + static_cast<long>(unit_.declarator), code_.begin() + static_cast<long>(at_),
                    [](const Token& t) { return Is(t, "struct") || Is(t, "class") || Is(t, "union"); });
    if (tag && close + 1 < end_ && IsIdentifier(code_[close + 1]) && !Is(code_[close + 1], "const") &&
        !Is(code_[close + 1], "noexcept"))
      return;
    if (At("*", 1) && at_ + 2 < end_ && IsIdentifier(code_[at_ + 2]) && At(")", 3)) {
      AddName(at_ + 2);  // void (*pointer)(int)
      return;
    }
    const bool named = (IsIdentifier(before) && !kAttributeLike.count(before.text) && !kTypeWords.count(before.text)) ||
                       (Is(before, ">") && at_ > unit_.declarator);
    if (!named) return;
    if (unit_.params_open != kNone && unit_.params_close + 1 != at_ - 1 && Is(code_[unit_.params_close + 1], ","))
      return;
    unit_.params_open = at_;
    unit_.params_close = close;
  }

  void FunctionName() {
    if (unit_.names.count("operator")) {
      unit_.name = "operator";
      return;
    }
    size_t name = unit_.params_open - 1;
    if (Is(code_[name], ">")) {  // f<float>(...)
      int depth = 0;
      size_t i = name;
      for (; i > unit_.declarator; --i) {
        if (Is(code_[i], ">")) ++depth;
        if (Is(code_[i], ">>>")) depth += 3;
        if (Is(code_[i], "<") && --depth == 0) break;
      }
      for (size_t k = i; k <= name; ++k) unit_.explicit_arguments += std::string(code_[k].text) + " ";
      name = i > 0 ? i - 1 : i;
    }
    unit_.name_token = name;
    unit_.name = std::string(code_[name].text);
    unit_.names.insert(unit_.name);
    for (size_t i = name; i >= 2 && i > unit_.declarator + 1 && Is(code_[i - 1], "::") && IsIdentifier(code_[i - 2]);
         i -= 2) {
      unit_.names.insert(std::string(code_[i - 2].text));
      unit_.class_path = std::string(code_[i - 2].text) + "::" + unit_.class_path;
    }
    if (name >= 1 && Is(code_[name - 1], "~")) unit_.name = "~" + unit_.name;
  }

  const std::vector<Token>& code_;
  size_t at_;
  size_t end_;
  const MacroTable& macros_;
  Unit unit_;
};

}  // namespace

size_t SkipAngles(const std::vector<Token>& code, size_t open, size_t end) {
  int depth = 0;
  for (size_t i = open; i < end; ++i) {
    const Token& token = code[i];
    if (Is(token, "(") || Is(token, "[") || Is(token, "{")) {
      i = MatchingBracket(code, i);
    } else if (Is(token, "<")) {
      ++depth;
    } else if (Is(token, ">")) {
      if (--depth == 0) return i + 1;
    } else if (Is(token, ">>>")) {
      depth -= 3;
      if (depth <= 0) return depth == 0 ? i + 1 : kNone;
    } else if (Is(token, ";") || Is(token, "}") || Is(token, ")")) {
      return kNone;
    }
  }
  return kNone;
}

Unit ScanUnit(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros) {
  return UnitScanner(code, begin, end, macros).Scan();
}

}  // namespace warpwright

// Scans one declaration in a token list: where it ends, what it declares, where its parameters and body are.
#include <algorithm>

#include "source/units.h"

namespace warpwright::source {
namespace {

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

// Extracts one unit from a token list.
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
  bool At(std::string_view text, size_t ahead = 0) const { return at_ + ahead < end_ && code_[at_ + ahead].Is(text); }

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
    if (Invokes()) return Invocation();
    if (At("using")) return Using();
    if (At("typedef")) return Typedef();
    if (At("namespace") || (At("concept") && At("=", 2))) return NamedAlias();
    if (At("static_assert") || At("_Static_assert")) return ToSemicolon();
    Declaration();
  }

  // Whether a macro stands here whose invocation is a declaration, or one that opens a declaration's body, or one that
  // invokes the first kind as its argument ("OPERATIONS(DEFINE)").
  bool Invokes() const {
    const Token& token = code_[at_];
    if (!token.IsIdentifier() || macros_.Find(token.text) == nullptr) return false;
    if (macros_.BraceBalance(code_, at_) > 0) return true;
    if (!At("(", 1)) return macros_.Declares(token.text) && !macros_.IsFunctionLike(token.text);
    if (macros_.Declares(token.text)) return true;
    const size_t close = std::min(end_, MatchingBracket(code_, at_ + 1));
    for (size_t i = at_ + 2; i < close; ++i) {
      const bool alone = (code_[i - 1].Is("(") || code_[i - 1].Is(",")) && i + 1 < end_ &&
                         (code_[i + 1].Is(")") || code_[i + 1].Is(","));
      if (alone && code_[i].IsIdentifier() && macros_.IsFunctionLike(code_[i].text) && macros_.Declares(code_[i].text))
        return true;
    }
    return false;
  }

  // Whether the token opens a body: a brace, or a macro that has one.
  bool Opens(size_t at) const { return code_[at].Is("{") || macros_.BraceBalance(code_, at) > 0; }

  // The token that closes what the one at `open` opens; either may be a macro, and so may be those between them.
  size_t Closing(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < end_; ++i) {
      depth += code_[i].Is("{") ? 1 : code_[i].Is("}") ? -1 : macros_.BraceBalance(code_, i);
      if (depth <= 0) return i;
    }
    return code_[open].Is("{") ? std::min(end_ - 1, MatchingBracket(code_, open)) : end_ - 1;
  }

  // Index behind the token, and behind its arguments if it is a macro with some.
  size_t Behind(size_t at) const {
    const bool arguments = macros_.BraceBalance(code_, at) != 0 && macros_.IsFunctionLike(code_[at].text);
    return arguments ? std::min(end_ - 1, MatchingBracket(code_, at + 1)) + 1 : at + 1;
  }

  void ToSemicolon() {
    while (at_ < end_ && !code_[at_].Is(";")) {
      if (code_[at_].Is("(") || code_[at_].Is("{") || code_[at_].Is("[")) {
        at_ = std::min(end_ - 1, MatchingBracket(code_, at_));
      }
      ++at_;
    }
    if (at_ < end_) ++at_;
  }

  void Invocation() {
    unit_.kind = Unit::Kind::kInvocation;
    const size_t macro = at_++;
    if (At("(")) at_ = std::min(end_ - 1, MatchingBracket(code_, at_)) + 1;
    for (size_t i = macro; i < at_; ++i) unit_.attributes |= macros_.Attributes(code_[i].text);
    if (macros_.BraceBalance(code_, macro) > 0) {
      unit_.body_open = at_ - 1;
      unit_.body_close = std::max(Closing(macro), unit_.body_open);
      at_ = std::max(at_, Behind(unit_.body_close));
    } else if (at_ < end_ && Opens(at_)) {  // of the last function that it declares
      unit_.body_open = Behind(at_) - 1;
      unit_.body_close = std::max(Closing(at_), unit_.body_open);
      at_ = std::max(at_ + 1, Behind(unit_.body_close));
    }
    if (At(";")) ++at_;
    unit_.name = std::string(code_[macro].text);
  }

  void Using() {
    if (At("namespace", 1)) {
      unit_.kind = Unit::Kind::kUsingNamespace;
    } else {
      unit_.kind = Unit::Kind::kAlias;
      // using A = ...; using X::y;
      for (size_t i = at_ + 1; i < end_ && !code_[i].Is("=") && !code_[i].Is(";"); ++i) {
        if (code_[i].IsIdentifier() && i + 1 < end_ && (code_[i + 1].Is("=") || code_[i + 1].Is(";"))) AddName(i);
      }
    }
    ToSemicolon();
  }

  void Typedef() {
    unit_.kind = Unit::Kind::kAlias;
    for (size_t i = at_ + 1; i < end_ && !code_[i].Is(";"); ++i) {
      const bool tag = code_[i - 1].Is("struct") || code_[i - 1].Is("union") || code_[i - 1].Is("enum");
      const bool pointer = code_[i - 1].Is("*") && i >= 2 && code_[i - 2].Is("(");
      const bool last = i + 1 < end_ && (code_[i + 1].Is(";") || code_[i + 1].Is("[") || code_[i + 1].Is(","));
      if (code_[i].IsIdentifier() && (tag || pointer || last)) AddName(i);
      if (code_[i].Is("{")) {
        unit_.body_open = i;
        unit_.body_close = std::min(end_ - 1, MatchingBracket(code_, i));
        if (std::any_of(code_.begin() + static_cast<long>(at_), code_.begin() + static_cast<long>(i),
                        [](const Token& token) { return token.Is("enum"); })) {
          AddEnumerators(i, unit_.body_close);
        }
        i = unit_.body_close;
      }
    }
    ToSemicolon();
  }

  void NamedAlias() {  // namespace a = b; concept A = ...;
    unit_.kind = Unit::Kind::kAlias;
    if (at_ + 1 < end_ && code_[at_ + 1].IsIdentifier()) AddName(at_ + 1);
    ToSemicolon();
  }

  void AddName(size_t token) {
    const std::string name(code_[token].text);
    if (unit_.name.empty()) unit_.name = name;
    unit_.names.insert(name);
  }

  void AddEnumerators(size_t open, size_t close) {
    for (size_t i = open + 1; i < close; ++i) {
      if (code_[i].IsIdentifier() && (code_[i - 1].Is("{") || code_[i - 1].Is(",")))
        unit_.names.insert(std::string(code_[i].text));
      if (code_[i].Is("(")) i = MatchingBracket(code_, i);
    }
  }

  void Declaration() {
    bool type_word = false, saw_equal = false, init_list = false, trailing = false, is_enum = false, type_body = false;
    size_t type_name = kNone;
    unit_.kind = Unit::Kind::kVariable;
    while (at_ < end_) {
      const Token& token = code_[at_];
      const bool opens = Opens(at_);
      if (opens && !token.Is("{") && unit_.params_open == kNone && !type_word) {
        return Invocation();  // "static KERNEL_BEGIN(f)"
      } else if (token.IsIdentifier() && !opens) {
        if (unit_.params_open == kNone && !saw_equal) {
          unit_.attributes |= macros_.Attributes(token.text);
          if (token.Is("constexpr") || token.Is("consteval")) unit_.is_constexpr = true;
          if (token.Is("const")) unit_.is_const = true;
          if (token.Is("struct") || token.Is("class") || token.Is("union") || token.Is("enum")) type_word = true;
          if (token.Is("enum")) is_enum = true;
          const bool ends_head = At("{", 1) || At(":", 1) || At(";", 1) || At("<", 1) || At("final", 1);
          if (type_word && type_name == kNone && ends_head && !token.Is("class") && !token.Is("struct") &&
              !token.Is("enum")) {
            type_name = at_;
          }
          const bool declared = At("=", 1) || At(";", 1) || At("[", 1) || At(",", 1) || At("{", 1);
          if (declared && !(type_word && !type_body) && !token.Is("const")) AddName(at_);
        }
        if (token.Is("operator")) {
          if (!saw_equal) Operator();
          continue;
        }
        if ((token.Is("default") || token.Is("delete")) && saw_equal) unit_.is_defaulted = true;
        ++at_;
      } else if (token.Is(";")) {
        ++at_;
        break;
      } else if (token.Is("(")) {
        const size_t close = std::min(end_ - 1, MatchingBracket(code_, at_));
        if (!saw_equal && !init_list && !trailing) Parenthesis(close);
        at_ = close + 1;
      } else if (opens) {
        const size_t close = Closing(at_);
        const bool is_type = type_word && unit_.params_open == kNone && !saw_equal;
        if (is_type) {
          unit_.body_open = Behind(at_) - 1;
          unit_.body_close = std::max(close, unit_.body_open);
          type_body = true;
          if (is_enum) AddEnumerators(at_, close);
          at_ = Behind(close);
        } else if (unit_.params_open == kNone || saw_equal) {
          at_ = Behind(close);  // an initializer
        } else if (init_list && at_ > 0 && (code_[at_ - 1].IsIdentifier() || code_[at_ - 1].Is(">"))) {
          at_ = Behind(close);  // a member's initializer
        } else {
          unit_.body_open = Behind(at_) - 1;
          unit_.body_close = std::max(close, unit_.body_open);
          at_ = std::max(at_ + 1, Behind(close));
          break;
        }
      } else if (token.Is("[")) {
        at_ = std::min(end_ - 1, MatchingBracket(code_, at_)) + 1;
      } else if (token.Is("<") && !saw_equal) {
        const size_t behind = SkipAngles(code_, at_, end_);
        at_ = behind == kNone ? at_ + 1 : behind;
      } else {
        if (token.Is("=")) saw_equal = true;
        if (token.Is(",") && !init_list) saw_equal = false;
        if (token.Is(":") && unit_.params_open != kNone) init_list = true;
        if (token.Is("->")) trailing = true;
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
    unit_.names.insert("operator");
    ++at_;
    if (At("(") && At(")", 1)) at_ += 2;
    while (at_ < end_ && !code_[at_].Is("(") && !code_[at_].Is(";")) ++at_;
    if (At("(")) {
      unit_.params_open = at_;
      unit_.params_close = std::min(end_ - 1, MatchingBracket(code_, at_));
      at_ = unit_.params_close + 1;
    }
  }

  // Is this the parameter list? The last candidate counts, since a macro with arguments may precede the name.
  void Parenthesis(size_t close) {
    if (at_ == unit_.first) return;
    if (unit_.names.count("operator")) return;
    const Token& before = code_[at_ - 1];
    // struct ALIGN(16) Packed {
    const bool tag =
        std::any_of(code_.begin() + static_cast<long>(unit_.declarator), code_.begin() + static_cast<long>(at_),
                    [](const Token& t) { return t.Is("struct") || t.Is("class") || t.Is("union"); });
    if (tag && close + 1 < end_ && code_[close + 1].IsIdentifier() && !code_[close + 1].Is("const") &&
        !code_[close + 1].Is("noexcept"))
      return;
    if (At("*", 1) && at_ + 2 < end_ && code_[at_ + 2].IsIdentifier() && At(")", 3)) {
      AddName(at_ + 2);  // void (*pointer)(int)
      return;
    }
    const bool named =
        (before.IsIdentifier() && !kAttributeLike.count(before.text) && !kTypeWords.count(before.text)) ||
        (before.Is(">") && at_ > unit_.declarator);
    if (!named) return;
    if (unit_.params_open != kNone && unit_.params_close + 1 != at_ - 1 && code_[unit_.params_close + 1].Is(","))
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
    if (code_[name].Is(">")) {  // f<float>(...)
      int depth = 0;
      size_t i = name;
      for (; i > unit_.declarator; --i) {
        if (code_[i].Is(">")) ++depth;
        if (code_[i].Is(">>>")) depth += 3;
        if (code_[i].Is("<") && --depth == 0) break;
      }
      for (size_t k = i; k <= name; ++k) unit_.explicit_arguments += std::string(code_[k].text) + " ";
      name = i > 0 ? i - 1 : i;
    }
    unit_.name = std::string(code_[name].text);
    unit_.macro_header = macros_.IsFunctionLike(unit_.name);
    unit_.names.insert(unit_.name);
    for (size_t i = name; i >= 2 && i > unit_.declarator + 1 && code_[i - 1].Is("::") && code_[i - 2].IsIdentifier();
         i -= 2) {
      unit_.names.insert(std::string(code_[i - 2].text));
      unit_.class_path = std::string(code_[i - 2].text) + "::" + unit_.class_path;
    }
    if (name >= 1 && code_[name - 1].Is("~")) unit_.name = "~" + unit_.name;
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
    if (token.Is("(") || token.Is("[") || token.Is("{")) {
      i = MatchingBracket(code, i);
    } else if (token.Is("<")) {
      ++depth;
    } else if (token.Is(">")) {
      if (--depth == 0) return i + 1;
    } else if (token.Is(">>>")) {
      depth -= 3;
      if (depth <= 0) return depth == 0 ? i + 1 : kNone;
    } else if (token.Is(";") || token.Is("}") || token.Is(")")) {
      return kNone;
    }
  }
  return kNone;
}

Unit ScanUnit(const std::vector<Token>& code, size_t begin, size_t end, const MacroTable& macros) {
  return UnitScanner(code, begin, end, macros).Scan();
}

}  // namespace warpwright::source

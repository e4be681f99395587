#include "core/computation_latex.h"

#include <cctype>
#include <cmath>

#include "core/formula_writer.h"

namespace warpwright::core {
namespace {

bool IsOneLetter(const std::string& name) {
  return name.size() == 1 && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
}

std::string Escaped(const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == ':' || c == ',' ||
                       c == ';' || c == '+' || c == '-' || c == '*' || c == '/' || c == '(' || c == ')' || c == '[' ||
                       c == ']' || c == '=' || c == '!' || c == '?' || c == '@' || c == '\'' || c == '|';
    if (plain) escaped += c;
    else if (c == '_' || c == '$' || c == '%' || c == '&' || c == '#' || c == '{' || c == '}')
      escaped += std::string("\\") + c;
    else escaped += c == '<' ? "\\lt " : c == '>' ? "\\gt " : "\\_";  // quotes, \, ^, ~ and ` have no safe form
  }
  return escaped;
}

// MathJax' own operators.
std::string Operator(const std::string& name) {
  for (const char* known :
       {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "arcsin", "arccos", "arctan"})
    if (name == known) return "\\" + name;
  return "\\mathrm{" + Escaped(name) + "}";
}

class LatexWriter final : public FormulaWriter {
 public:
  using FormulaWriter::FormulaWriter;

 protected:
  std::string Identifier(const std::string& name) const override {
    if (IsOneLetter(name)) return name;
    // t12: a letter with a number.
    if (name.size() <= 4 && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
        name.find_first_not_of("0123456789", 1) == std::string::npos)
      return "{" + name.substr(0, 1) + "_{" + name.substr(1) + "}}";
    return "\\mathrm{" + Escaped(name) + "}";
  }
  std::string VariableName(char letter, size_t number) const override {
    return std::string(1, letter) + (number < 10 ? "_" + std::to_string(number) : "_{" + std::to_string(number) + "}");
  }
  std::string Number(double value) const override {
    if (std::isnan(value)) return "\\mathrm{NaN}";
    if (std::isinf(value)) return "\\infty";
    const std::string text = Shortest(value);
    const size_t e = text.find('e');
    if (e == std::string::npos) return text;
    std::string exponent = text.substr(e + 1);
    const bool negative = exponent[0] == '-';
    exponent.erase(0, exponent.find_first_of("123456789"));
    const std::string power = "10^{" + std::string(negative ? "-" : "") + exponent + "}";
    return text.substr(0, e) == "1" ? power : text.substr(0, e) + " \\cdot " + power;
  }
  std::string Times() const override { return " "; }
  std::string Range(const std::string& variable, const std::string& extent) const override {
    return variable + " \\lt " + extent;
  }
  std::string Ellipsis() const override { return "\\ldots"; }
  std::string Parenthesized(const std::string& text) const override { return "\\left(" + text + "\\right)"; }
  std::string Indexed(const std::string& name, const std::vector<std::string>& at) const override {
    if (at.empty()) return name;
    const bool primed = name.ends_with('\'');
    return (primed ? name.substr(0, name.size() - 1) : name) + "_{" + Joined(at, ",\\,") + "}" + (primed ? "'" : "");
  }
  std::string Divided(const std::string& a, const std::string& b) const override { return a + " / " + b; }
  std::string Quotient(const std::string& a, const std::string& b) const override {
    return "\\lfloor " + a + " / " + b + " \\rfloor";
  }
  std::string CeilDivided(const std::string& a, const std::string& b) const override {
    return "\\lceil \\left(" + a + "\\right) / \\left(" + b + "\\right) \\rceil";
  }
  std::string Remainder(const std::string& a, const std::string& b) const override { return a + " \\bmod " + b; }
  std::string Divides(const std::string& a, const std::string& b) const override { return a + " \\mid " + b; }
  std::string FunctionCall(const std::string& name, const std::vector<std::string>& args) const override {
    return Operator(name) + "\\left(" + Joined(args, ",\\, ") + "\\right)";
  }
  Piece Powered(const Piece& base, size_t exponent) const override {
    // Not after a base that ends in an exponent or a prime of its own.
    const bool plain =
        base.level == Level::kAtom && base.text.find('^') == std::string::npos && !base.text.ends_with('\'');
    const std::string text = plain ? base.text : Parenthesized(Wrapped(base, Level::kSelect));
    return {.text = text + "^{" + std::to_string(exponent) + "}", .level = Level::kPower};
  }
  Piece Product(const std::vector<Piece>& over, const std::vector<Piece>& under) const override {
    const auto line = [&](const std::vector<Piece>& factors, bool alone) {
      std::vector<std::string> texts;
      for (const auto& factor : factors)
        texts.push_back(Wrapped(factor, alone && factors.size() == 1 ? Level::kSelect : Level::kProduct));
      return Joined(texts, " \\cdot ");
    };
    if (under.empty()) return {.text = line(over, false), .level = Level::kProduct};
    return {.text = "\\frac{" + line(over, true) + "}{" + line(under, true) + "}", .level = Level::kPower};
  }
  std::string Reduction(ReduceOp op, const std::string& ranges, const std::string& conditions,
                        const std::string& index) const override {
    std::string below = ranges;
    if (!conditions.empty()) below = "\\substack{" + ranges + " \\\\ " + conditions + "}";
    return Symbol(op) + "_{" + below + "}" + (index.empty() ? "" : "^{" + index + "}");
  }
  Piece Applied(Function function, const std::vector<Piece>& args) const override {
    std::vector<std::string> texts;
    for (const auto& arg : args) texts.push_back(Wrapped(arg, Level::kSelect));
    const std::string& x = texts[0];
    switch (function) {
      case Function::kSqrt: return {.text = "\\sqrt{" + x + "}"};
      case Function::kRsqrt: return {.text = "\\frac{1}{\\sqrt{" + x + "}}", .level = Level::kPower};
      case Function::kCbrt: return {.text = "\\sqrt[3]{" + x + "}"};
      case Function::kAbs: return {.text = "\\left|" + x + "\\right|"};
      case Function::kFloor: return {.text = "\\left\\lfloor " + x + "\\right\\rfloor"};
      case Function::kCeil: return {.text = "\\left\\lceil " + x + "\\right\\rceil"};
      case Function::kExp2: return {.text = "2^{" + x + "}", .level = Level::kPower};
      case Function::kExp10: return {.text = "10^{" + x + "}", .level = Level::kPower};
      case Function::kLog2: return {.text = "\\log_2\\left(" + x + "\\right)"};
      case Function::kLog10: return {.text = "\\log_{10}\\left(" + x + "\\right)"};
      case Function::kNormcdf: return {.text = "\\Phi\\left(" + x + "\\right)"};
      case Function::kTgamma: return {.text = "\\Gamma\\left(" + x + "\\right)"};
      case Function::kPower:
        return {.text = "{" + Wrapped(args[0], Level::kAtom) + "}^{" + texts[1] + "}", .level = Level::kPower};
      default: return {.text = FunctionCall(std::string(core::Name(function)), texts)};
    }
  }
  std::string Relation(Comparison op) const override {
    switch (op) {
      case Comparison::kLess: return " \\lt ";
      case Comparison::kLessEqual: return " \\le ";
      case Comparison::kEqual: return " = ";
      case Comparison::kNotEqual: return " \\ne ";
    }
    return {};
  }
  std::string LogicWord(Logic::Op op) const override {
    return op == Logic::Op::kAnd ? "\\land" : op == Logic::Op::kOr ? "\\lor" : "\\lnot";
  }
  Piece Selection(const Piece& condition, const Piece& then, const Piece& otherwise) const override {
    return {.text = "\\begin{cases} " + Wrapped(then, Level::kSelect) + " & \\text{if } " +
                    Wrapped(condition, Level::kSelect) + " \\\\ " + Wrapped(otherwise, Level::kSelect) +
                    " & \\text{else} \\end{cases}"};
  }

 private:
  static std::string Symbol(ReduceOp op) {
    switch (op) {
      case ReduceOp::kSum: return "\\sum";
      case ReduceOp::kProduct: return "\\prod";
      case ReduceOp::kMax: return "\\max";
      case ReduceOp::kMin: return "\\min";
      case ReduceOp::kArgMaxFirst: return "\\mathop{\\mathrm{argmax}}";
      case ReduceOp::kArgMaxLast: return "\\mathop{\\mathrm{argmax\\ (last)}}";
      case ReduceOp::kArgMinFirst: return "\\mathop{\\mathrm{argmin}}";
      case ReduceOp::kArgMinLast: return "\\mathop{\\mathrm{argmin\\ (last)}}";
    }
    return {};
  }
};

// How many stages from `first` on are parts of one tensor over the same box.
size_t Parts(const std::vector<Stage>& stages, size_t first) {
  size_t end = first + 1;
  while (end < stages.size() && stages[end].name == stages[first].name &&
         stages[end].extents == stages[first].extents && stages[end].at == stages[first].at)
    ++end;
  return end - first;
}

}  // namespace

std::string ComputationLatex(const Computation& computation) {
  const LatexWriter writer(computation);
  std::string text = "\\begin{aligned}\n";
  for (size_t i = 0; i < computation.stages.size();) {
    const Stage& stage = computation.stages[i];
    const size_t parts = Parts(computation.stages, i);
    text += writer.LeftSide(stage) + " &= ";
    if (parts == 1) {
      text += writer.RightSide(stage);
    } else {
      text += "\\begin{cases} ";
      for (size_t part = i; part < i + parts; ++part) {
        const Stage& one = computation.stages[part];
        const std::string conditions = writer.Conditions(one, one.domain);
        text += (part == i ? "" : " \\\\ ") + writer.RightSide(one) +
                (conditions.empty() ? "" : " & \\text{if } " + conditions);
      }
      text += " \\end{cases}";
    }
    std::string ranges = writer.RangesAreImplied(stage) ? "" : writer.Ranges(stage);
    if (parts == 1) {
      const std::string conditions = writer.Conditions(stage, stage.domain);
      ranges += (ranges.empty() || conditions.empty() ? "" : ", ") + conditions;
    }
    if (!ranges.empty()) text += " && " + ranges;
    i += parts;
    text += i == computation.stages.size() ? "\n" : " \\\\\n";
  }
  return text + "\\end{aligned}\n";
}

}  // namespace warpwright::core

// Sizes, positions, guards and types as text: what needs no stage.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/affine.h"
#include "core/expression_node.h"
#include "core/polynomial.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

using SizeNode = core::Expression::Node;
enum class SizeLevel { kChoice, kSum, kProduct, kAtom };
struct SizePiece {
  std::string text;
  SizeLevel level = SizeLevel::kAtom;
};

std::string Wrapped(const SizePiece& piece, SizeLevel least) {
  return piece.level < least ? "(" + piece.text + ")" : piece.text;
}

SizePiece PieceOf(const SizeNode& node) {
  using Kind = SizeNode::Kind;
  if (node.kind == Kind::kLiteral) return {std::to_string(node.value), SizeLevel::kAtom};
  if (node.kind == Kind::kName) return {node.name, SizeLevel::kAtom};
  const SizePiece left = PieceOf(*node.left);
  if (node.kind == Kind::kNegate) return {"-" + Wrapped(left, SizeLevel::kAtom), SizeLevel::kProduct};
  const SizePiece right = PieceOf(*node.right);
  const auto binary = [&](const char* op, SizeLevel level, bool grouped) {
    const auto next = static_cast<SizeLevel>(static_cast<int>(level) + 1);
    return SizePiece{Wrapped(left, level) + op + Wrapped(right, grouped ? next : level), level};
  };
  switch (node.kind) {
    case Kind::kAdd: return binary(" + ", SizeLevel::kSum, false);
    case Kind::kSubtract:
      if (left.text == "0") return {"-" + Wrapped(right, SizeLevel::kAtom), SizeLevel::kSum};
      return binary(" - ", SizeLevel::kSum, true);
    case Kind::kMultiply: return binary(" * ", SizeLevel::kProduct, true);
    case Kind::kDivide: return binary(" / ", SizeLevel::kProduct, true);
    case Kind::kModulo: return binary(" % ", SizeLevel::kProduct, true);
    case Kind::kCeilDiv: return {CeilDivided(Wrapped(left, SizeLevel::kSum), right.text), SizeLevel::kProduct};
    case Kind::kMin:
    case Kind::kMax: {
      const std::string a = Wrapped(left, SizeLevel::kSum), b = Wrapped(right, SizeLevel::kSum);
      return {fmt::format("({} {} {} ? {} : {})", a, node.kind == Kind::kMin ? "<" : ">", b, a, b), SizeLevel::kAtom};
    }
    case Kind::kLiteral:
    case Kind::kName:
    case Kind::kNegate: break;
  }
  return {"0", SizeLevel::kAtom};
}

struct SignedText {
  std::string text;
  bool negative = false;
};
std::string SumOf(const std::vector<SignedText>& terms) {
  std::string sum;
  for (const bool negative : {false, true})
    for (const SignedText& term : terms)
      if (term.negative == negative)
        sum += sum.empty() ? (negative ? "-" : "") + term.text : (negative ? " - " : " + ") + term.text;
  return sum.empty() ? "0" : sum;
}

std::vector<SignedText> TermsOf(const core::Polynomial& polynomial) {
  std::vector<SignedText> terms;
  for (const auto& [text, negative] : polynomial.SignedTerms()) {
    const auto parsed = core::Expression::Parse(text);
    terms.push_back({parsed ? SizeText(*parsed) : text, negative});
  }
  return terms;
}

SignedText TermText(const core::Size& coefficient, const std::string& variable) {
  const core::Polynomial factor = core::Polynomial::Of(coefficient);
  if (factor == core::Polynomial(1)) return {variable, false};
  if (factor == core::Polynomial(-1)) return {Parenthesized(variable), true};
  const auto number = factor.constant();
  if (number && *number < 0) return {fmt::format("{} * {}", -*number, Parenthesized(variable)), true};
  const std::string factor_text = Parenthesized(SizeText(coefficient));
  if (number) return {fmt::format("{} * {}", factor_text, Parenthesized(variable)), false};
  return {fmt::format("{} * {}", Parenthesized(variable), factor_text), false};
}

// "row" and -1 of "row - 1".
std::pair<std::string, int64_t> WithoutShift(const std::string& variable) {
  for (const auto& [op, sign] : {std::pair{" + ", 1}, {" - ", -1}}) {
    const size_t at = variable.rfind(op);
    if (at == std::string::npos) continue;
    const std::string base = variable.substr(0, at), number = variable.substr(at + 3);
    int64_t shift = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), shift);
    if (error == std::errc() && end == number.data() + number.size() && Parenthesized(base) == base)
      return {base, sign * shift};
  }
  return {variable, 0};
}

std::string NumeratorText(const core::Affine& position, const std::map<core::VariableId, std::string>& variables) {
  std::vector<SignedText> terms;
  core::Polynomial constant = core::Polynomial::Of(position.constant);
  for (const auto& term : position.terms) {
    const auto found = variables.find(term.variable);
    std::string variable = found == variables.end() ? fmt::format("i{}", term.variable) : found->second;
    if (term.part == core::Affine::Part::kQuotient)
      variable = fmt::format("{} / {}", Parenthesized(variable), Parenthesized(SizeText(*term.modulus)));
    if (term.part == core::Affine::Part::kRemainder)
      variable = fmt::format("{} % {}", Parenthesized(variable), Parenthesized(SizeText(*term.modulus)));
    if (!term.modulus && core::IsNumber(term.coefficient, 1)) {
      const auto [base, shift] = WithoutShift(variable);
      variable = base;
      constant = constant + core::Polynomial(shift);
    }
    terms.push_back(TermText(term.coefficient, variable));
  }
  for (SignedText& term : TermsOf(constant)) terms.push_back(std::move(term));
  return SumOf(terms);
}

// One variable that counts from zero: its text is a name.
bool IsCounter(const core::Affine& position, const std::map<core::VariableId, std::string>& variables) {
  if (position.terms.size() != 1 || !core::IsNumber(position.terms[0].coefficient, 1)) return false;
  const auto found = variables.find(position.terms[0].variable);
  return found != variables.end() && Parenthesized(found->second) == found->second;
}
bool IsAtMostZero(const core::Size& size) {
  const auto number = core::Polynomial::Of(size).constant();
  return number && *number <= 0;
}

// What a guard asks, with the constants of its value in its bounds: "row >= 1" for "row - 1 >= 0".
std::vector<std::string> ComparisonsOf(const core::Guard& guard,
                                       const std::map<core::VariableId, std::string>& variables) {
  const auto bound = [&](const core::Size& size) {
    return core::Polynomial::Of(size) * core::Polynomial::Of(guard.value.divisor);
  };
  const core::Polynomial constant = core::Polynomial::Of(guard.value.constant);
  const auto moved = [&](const core::Size& size) { return (bound(size) - constant).ToExpression(); };
  core::Affine value = guard.value;
  const bool moves = !value.terms.empty() && (!guard.low || moved(*guard.low)) && (!guard.high || moved(*guard.high));
  if (moves) value.constant = core::Size::Constant(0);
  const auto written = [&](const core::Size& size) {
    const auto whole = moves ? moved(size) : bound(size).ToExpression();
    return whole ? *whole : size;
  };
  const std::string text = NumeratorText(value, variables);
  std::vector<std::string> comparisons;
  const auto number_in = [&] {
    return (core::Polynomial::Of(written(*guard.high)) - core::Polynomial::Of(written(*guard.low))).constant();
  };
  if (guard.low && guard.high && number_in() == 1)
    return {fmt::format("{} == {}", text, SizeText(written(*guard.low)))};
  if (guard.low && !(IsCounter(value, variables) && IsAtMostZero(written(*guard.low))))
    comparisons.push_back(fmt::format("{} >= {}", text, SizeText(written(*guard.low))));
  if (guard.high) comparisons.push_back(fmt::format("{} < {}", text, SizeText(written(*guard.high))));
  return comparisons;
}

bool IsNumber(const core::Size& size) { return core::Polynomial::Of(size).constant().has_value(); }
bool HaveNumbers(const std::vector<core::Size>& shape) { return std::all_of(shape.begin(), shape.end(), IsNumber); }

// A compiler may widen `inp + row * C` by itself, since signed sums do not overflow, and the original may live on that
// where C is large; where it does not, the new kernel would not reach what the old one does.
std::string Wide(const std::string& index) { return fmt::format("static_cast<long long>({})", index); }

// Of a coefficient behind a wide variable, which it must not be narrower than: "H * W" and not "(H * W)", which is
// multiplied first; of a sum each product is wide by itself.
std::string WideFactor(const core::Size& coefficient) {
  const std::string text = SizeText(coefficient);
  if (text.find(" * ") == std::string::npos) return Parenthesized(text);
  const bool product = text.find_first_of("()/%") == std::string::npos && text.find(" + ") == std::string::npos &&
                       text.find('-') == std::string::npos;
  if (product) return text;
  const core::Polynomial sum = core::Polynomial::Of(coefficient);
  if (!sum.valid()) return Parenthesized(text);
  std::vector<SignedText> terms = TermsOf(sum);
  for (SignedText& term : terms) term.text = WidenedProduct(term.text);
  return Parenthesized(SumOf(terms));
}

// "2 * H * W" is as large as a plane; "2 * H" and "H" are no larger than what callers name.
bool IsProductOfSizes(const std::string& text) {
  size_t names = 0;
  bool begins = true;
  for (const char c : text) {
    names += begins && (std::isalpha(static_cast<unsigned char>(c)) || c == '_') ? 1 : 0;
    begins = c == ' ' || c == '(';
  }
  return names > 1 && text.find(" * ") != std::string::npos;
}

// "n * c * h" of "n * (c * h)", so that what makes the first factor wide does it for all.
std::string WithoutInnerProducts(std::string text) {
  for (size_t open = text.find('('); open != std::string::npos; open = text.find('(', open + 1)) {
    const size_t close = text.find_first_of("()", open + 1);
    if (close == std::string::npos || text[close] == '(') continue;
    const std::string inner = text.substr(open + 1, close - open - 1);
    const bool is_product =
        inner.find(" * ") != std::string::npos && inner.find_first_of("+-/%?<>,&|") == std::string::npos;
    const bool is_factor = open == 0 || text.substr(0, open).ends_with(" * ");
    const int depth = static_cast<int>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(open), '(') -
                                       std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(open), ')'));
    if (is_product && is_factor && depth == 0) text.replace(open, close - open + 1, inner);
  }
  return text;
}

}  // namespace

std::string WidenedProduct(const std::string& product) {
  constexpr std::string_view kTimes = " * ";
  const std::string text = WithoutInnerProducts(product);
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth > 0 || text.compare(at, kTimes.size(), kTimes) != 0) continue;
    const std::string first = text.substr(0, at);
    if (Parenthesized(first) != first) return product;
    return "static_cast<long long>" + (first.front() == '(' ? first : "(" + first + ")") + text.substr(at);
  }
  return product;
}

std::string SizeText(const core::Size& size) { return size.root() == nullptr ? "0" : PieceOf(*size.root()).text; }

static void AddNumerators(const SizeNode& node, std::vector<core::Size>& numerators) {
  if (node.kind == SizeNode::Kind::kDivide)
    if (auto numerator = core::Size::Parse(PieceOf(*node.left).text)) numerators.push_back(std::move(*numerator));
  for (const auto& child : {node.left, node.right})
    if (child) AddNumerators(*child, numerators);
}
std::vector<core::Size> NumeratorsOf(const core::Size& size) {
  std::vector<core::Size> numerators;
  if (size.root() != nullptr) AddNumerators(*size.root(), numerators);
  return numerators;
}

std::string PositionText(const core::Affine& position, const std::map<core::VariableId, std::string>& variables) {
  const std::string numerator = NumeratorText(position, variables);
  if (core::IsNumber(position.divisor, 1)) return numerator;
  return fmt::format("{} / {}", Parenthesized(numerator), Parenthesized(SizeText(position.divisor)));
}

std::string ConditionText(std::span<const core::Guard> guards,
                          const std::map<core::VariableId, std::string>& variables) {
  std::vector<std::string> parts;
  for (const core::Guard& guard : guards) {
    const core::Size& divisor = guard.value.divisor;
    if (!core::IsNumber(divisor, 1))
      parts.push_back(fmt::format("{} % {} == 0", Parenthesized(NumeratorText(guard.value, variables)),
                                  Parenthesized(SizeText(divisor))));
    for (std::string& comparison : ComparisonsOf(guard, variables)) parts.push_back(std::move(comparison));
  }
  std::string condition;
  for (const std::string& part : parts) condition += (condition.empty() ? "" : " && ") + part;
  return condition;
}

std::string OffsetText(const Problem& problem, const std::vector<core::Size>& shape,
                       const std::vector<std::string>& at) {
  if (at.empty()) return "0";
  const bool zero = at[0] == "0" && at.size() > 1;
  const bool wide = at.size() > 1 && !zero && (problem.wide || !HaveNumbers(shape));
  std::string offset = wide ? Wide(at[0]) : at[0];
  for (size_t i = 1; i < at.size(); ++i) {
    if (offset == "0") {
      offset = at[i];
      continue;
    }
    offset = fmt::format("{} * {}", Parenthesized(offset), Parenthesized(SizeText(shape[i])));
    if (at[i] == "0") continue;
    offset += at[i].starts_with("-") ? " - " + at[i].substr(1) : " + " + at[i];
  }
  return offset;
}

std::string OffsetText(const FlatOffset& offset, const std::map<core::VariableId, std::string>& variables) {
  std::vector<SignedText> terms;
  for (const bool plain : {false, true})  // the fastest index last
    for (const auto& [variable, coefficient] : offset.coefficients)
      if (core::IsNumber(coefficient, 1) == plain && variables.at(variable) != "0")
        terms.push_back(
            IsNumber(coefficient)
                ? TermText(coefficient, variables.at(variable))
                : SignedText{fmt::format("{} * {}", Wide(variables.at(variable)), WideFactor(coefficient)), false});
  for (SignedText& term : TermsOf(core::Polynomial::Of(offset.constant)))
    terms.push_back({IsProductOfSizes(term.text) ? WidenedProduct(term.text) : term.text, term.negative});
  return SumOf(terms);
}

std::string CTypeOf(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64: return "double";
    case core::DType::kF32: return "float";
    case core::DType::kF16: return "__half";
    case core::DType::kBF16: return "nv_bfloat16";
    case core::DType::kI64: return "long long";
    case core::DType::kI32: return "int";
    case core::DType::kU32: return "unsigned int";
    case core::DType::kI8: return "signed char";
    case core::DType::kU8: return "unsigned char";
    case core::DType::kBool: return "bool";
  }
  return "float";
}

std::string Loaded(const Problem& problem, core::DType dtype, const std::string& text) {
  std::string value = text;
  if (dtype == core::DType::kF16) value = fmt::format("__half2float({})", text);
  if (dtype == core::DType::kBF16) value = fmt::format("__bfloat162float({})", text);
  const bool narrower = core::IsFloat(dtype) && dtype != core::DType::kF64;
  return problem.in_double && narrower ? fmt::format("static_cast<double>({})", value) : value;
}

std::string Stored(const Problem& problem, core::DType dtype, core::ValueType type, const std::string& text) {
  const std::string single =
      problem.in_double && type == core::ValueType::kReal ? fmt::format("static_cast<float>({})", text) : text;
  if (dtype == core::DType::kF16) return fmt::format("__float2half({})", single);
  if (dtype == core::DType::kBF16) return fmt::format("__float2bfloat16({})", single);
  if (dtype == core::DType::kF32) return single;
  if (!core::IsFloat(dtype) && type == core::ValueType::kReal)
    return fmt::format("static_cast<{}>({})", CTypeOf(dtype), text);
  return text;
}

std::string NumberText(const Problem& problem, double value) {
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  // NAN is a macro of <math.h>, which a file need not include.
  if (std::isnan(value)) return problem.in_double ? "__longlong_as_double(-1)" : "__int_as_float(0x7fffffff)";
  std::string text = problem.in_double ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return problem.in_double ? text : text + "f";
}

namespace {

const core::Reduce* ExtremumOf(const core::Stage& stage) {
  for (const core::Node& node : stage.nodes) {
    const auto* reduce = std::get_if<core::Reduce>(&node);
    if (reduce != nullptr && (reduce->op == core::ReduceOp::kMax || reduce->op == core::ReduceOp::kMin)) return reduce;
  }
  return nullptr;
}
bool HasExponential(const core::Stage& stage) {
  return std::any_of(stage.nodes.begin(), stage.nodes.end(), [](const core::Node& node) {
    const auto* call = std::get_if<core::Call>(&node);
    return call != nullptr && (call->function == core::Function::kExp || call->function == core::Function::kExp2);
  });
}
bool Reads(const core::Stage& stage, const std::string& name) {
  return std::any_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
    const auto* read = std::get_if<core::TensorRead>(&node);
    return read != nullptr && read->stage && read->tensor == name;
  });
}
// Whether an extremum itself is a result, as of a pool; what a softmax shifts by is not.
bool IsResult(const Problem& problem, const core::Stage& extremum) {
  const std::vector<core::Stage>& stages = problem.form.stages;
  return std::none_of(stages.begin(), stages.end(), [&](const core::Stage& reader) {
    return Reads(reader, extremum.name) && HasExponential(reader);
  });
}
// What may have no term at all begins at an infinity.
bool WritesExtremum(const Problem& problem) {
  bool writes = false;
  for (const core::Stage& stage : problem.form.stages) {
    const core::Reduce* extremum = ExtremumOf(stage);
    if (extremum == nullptr) continue;
    if (!extremum->guards.empty()) return false;
    writes |= IsResult(problem, stage);
  }
  return writes;
}

}  // namespace

bool TakesUnordered(const Problem& problem) {
  const std::vector<core::Stage>& stages = problem.form.stages;
  return problem.entry.unordered.taken && std::any_of(stages.begin(), stages.end(), [&](const core::Stage& stage) {
           return ExtremumOf(stage) != nullptr && IsResult(problem, stage);
         });
}
std::string ChoiceName(const Problem& problem, core::ReduceOp op) {
  return problem.shared_name(op == core::ReduceOp::kMax ? "larger" : "smaller");
}
std::string ChoiceFunction(const Problem& problem, core::ReduceOp op) {
  return fmt::format(
      "// Of two of which one is no number it is the second, as fmaxf and fminf are not.\n"
      "__device__ __forceinline__ {0} {1}({0} a, {0} b) {{\n"
      "  return a {2} b ? a : b;\n"
      "}}\n",
      problem.real(), ChoiceName(problem, op), op == core::ReduceOp::kMax ? '>' : '<');
}

std::string NeutralText(const Problem& problem, core::ReduceOp op, core::ValueType type) {
  const bool real = type == core::ValueType::kReal;
  if (op == core::ReduceOp::kSum) return real ? NumberText(problem, 0) : "0";
  if (op == core::ReduceOp::kProduct) return real ? NumberText(problem, 1) : "1";
  const bool low =
      op == core::ReduceOp::kMax || op == core::ReduceOp::kArgMaxFirst || op == core::ReduceOp::kArgMaxLast;
  // As the original's loops begin: where that is the first term, an extremum of nothing but NaN is NaN, and fmaxf and
  // fminf give the other one of two of which one is NaN.
  if (real && !core::IsArg(op) && !problem.entry.names_infinity && WritesExtremum(problem))
    return NumberText(problem, std::numeric_limits<double>::quiet_NaN());
  if (real) return low ? "-INFINITY" : "INFINITY";
  return low ? "-0x7fffffff - 1" : "0x7fffffff";
}

namespace {

// fmaxf(a, b)
std::string FunctionText(const Problem& problem, core::ReduceOp op, const std::string& a, const std::string& b) {
  return fmt::format("f{}{}({}, {})", op == core::ReduceOp::kMax ? "max" : "min", problem.in_double ? "" : "f", a, b);
}

// "d + 2" of "(d + 2)".
std::string Bare(const std::string& text) {
  if (!text.starts_with("(")) return text;
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return i + 1 == text.size() ? text.substr(1, i - 1) : text;
  }
  return text;
}

}  // namespace

std::string BoundText(const Problem& problem, core::ReduceOp op, const std::string& a, const std::string& b) {
  if (!problem.entry.unordered.passed) return FunctionText(problem, op, a, b);
  return fmt::format("{}({}, {})", ChoiceName(problem, op), a, b);
}

std::string CombinedText(const Problem& problem, core::ReduceOp op, core::ValueType type, const std::string& a,
                         const std::string& b) {
  if (op == core::ReduceOp::kSum) return a + " + " + Parenthesized(b);
  if (op == core::ReduceOp::kProduct) return Parenthesized(a) + " * " + Parenthesized(b);
  const std::string extremum = op == core::ReduceOp::kMax ? "max" : "min";
  // Positions are of 64 bits then, and sizes of 32: no overload is of both.
  const auto widened = [&](const std::string& text) {
    if (!problem.wide || type != core::ValueType::kInteger) return Bare(text);
    return text.find_first_not_of("0123456789") == std::string::npos ? text + "LL" : Wide(Bare(text));
  };
  if (type != core::ValueType::kReal) return fmt::format("{}({}, {})", extremum, widened(a), widened(b));
  if (TakesUnordered(problem)) return fmt::format("{}({}, {})", ChoiceName(problem, op), a, b);
  return FunctionText(problem, op, a, b);
}

}  // namespace warpwright::schedule

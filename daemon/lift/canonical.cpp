#include "lift/canonical.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/dtype.h"
#include "lift/bit_order.h"

namespace warpwright::lift {
namespace {

using core::Function;
using sim::Type;

class Canonicaliser {
 public:
  Canonicaliser(const Graph& graph, FormGraph& forms) : graph_(graph), forms_(forms), bit_order_(graph) {}

  CanonicalRoots Run(std::span<const ExprId> roots) {
    Reach(roots);
    bit_order_.Look(reached_);
    for (ExprId id = 1; id < graph_.size(); ++id)
      if (reached_[id] && !absorbed_[id]) {
        form_[id] = Form(id);
        if (form_[id] != 0) forms_.SetLine(form_[id], graph_[id].line);
      }
    result_.forms.reserve(roots.size());
    for (const ExprId root : roots) result_.forms.push_back(form_[root]);
    return std::move(result_);
  }

 private:
  static bool IsAdditive(ExprOp op) {
    return op == ExprOp::kAdd || op == ExprOp::kSub || op == ExprOp::kFma || op == ExprOp::kNeg ||
           op == ExprOp::kIntAdd || op == ExprOp::kIntSub;
  }
  // select(p, x + v, x), which is x + select(p, v, 0): what it adds, or nothing.
  const Expr* ConditionalStep(const Expr& expr) const {
    if (expr.op != ExprOp::kSelect) return nullptr;
    const Expr& then = graph_[expr.args[1]];
    const ExprId base = expr.args[2];
    switch (then.op) {
      case ExprOp::kAdd:
      case ExprOp::kIntAdd: return then.args[0] == base || then.args[1] == base ? &then : nullptr;
      case ExprOp::kSub:
      case ExprOp::kIntSub: return then.args[0] == base ? &then : nullptr;
      case ExprOp::kFma: return then.args[2] == base ? &then : nullptr;
      default: return nullptr;
    }
  }
  bool IsSum(const Expr& expr) const { return IsAdditive(expr.op) || ConditionalStep(expr) != nullptr; }

  // Calls `f` with what the form of `expr` is made of, and whether that is a term of its sum.
  template <typename F>
  void ForEachArgument(const Expr& expr, F f) const {
    if (const Expr* step = ConditionalStep(expr)) {
      f(expr.args[0], false);
      f(expr.args[2], true);
      bool is_base = false;  // once: x + x adds x
      for (const ExprId arg : step->arguments()) {
        if (arg == expr.args[2] && !is_base && step->op != ExprOp::kFma) is_base = true;
        else if (step->op != ExprOp::kFma || arg != step->args[2]) f(arg, false);
      }
      return;
    }
    for (int k = 0; k < expr.arity; ++k) f(expr.args[k], IsAdditive(expr.op) && (expr.op != ExprOp::kFma || k == 2));
  }

  // Marks what is reachable, and what lies inside a larger sum or extremum and is used only there.
  void Reach(std::span<const ExprId> roots) {
    reached_.assign(graph_.size(), false);
    absorbed_.assign(graph_.size(), false);
    form_.assign(graph_.size(), 0);
    std::vector<uint8_t> uses(graph_.size(), 0);  // saturating at 2
    for (const ExprId root : roots) {
      reached_[root] = true;
      uses[root] = 2;
    }
    for (ExprId id = graph_.size(); id-- > 1;) {
      if (!reached_[id]) continue;
      const Expr& expr = graph_[id];
      result_.has_double |= expr.type == Type::kF64 && expr.op != ExprOp::kConst && expr.op != ExprOp::kLoad;
      ForEachArgument(expr, [&](ExprId arg, bool is_term) {
        reached_[arg] = true;
        uses[arg] = static_cast<uint8_t>(std::min(uses[arg] + 1, 2));
        const Expr& inner = graph_[arg];
        const bool same_extremum =
            (expr.op == ExprOp::kMax || expr.op == ExprOp::kMin) && inner.op == expr.op && inner.type == expr.type;
        const bool inside = (is_term && IsSum(inner)) || same_extremum;
        absorbed_[arg] = inside;
        if (!inside) uses[arg] = 2;
      });
    }
    for (ExprId id = 1; id < graph_.size(); ++id) absorbed_[id] = absorbed_[id] && uses[id] == 1;
  }

  FormId Refuse(const char* why, const Expr& expr) {
    result_.refusals.emplace(why, expr.line);
    return 0;
  }

  FormId Form(ExprId id) {
    const Expr& expr = graph_[id];
    if (const FormId chosen = ChoiceBySign(expr)) return chosen;
    bool known = true;
    ForEachArgument(expr, [&](ExprId arg, bool) { known &= form_[arg] != 0 || absorbed_[arg]; });
    if (!known) return 0;
    const auto arg = [&](int k) { return form_[expr.args[k]]; };
    const auto call = [&](Function function) { return forms_.Call(function, {arg(0)}); };
    switch (expr.op) {
      case ExprOp::kNone: return 0;
      case ExprOp::kConst: return forms_.Constant(LiteralValue(expr.type, expr.payload));
      case ExprOp::kLoad: return forms_.Load(expr.buffer, static_cast<int64_t>(expr.payload));
      case ExprOp::kScalar: return forms_.Scalar(expr.buffer);
      case ExprOp::kGather: return forms_.Gather(expr.buffer, arg(0));
      case ExprOp::kAdd:
      case ExprOp::kSub:
      case ExprOp::kFma:
      case ExprOp::kNeg:
      case ExprOp::kIntAdd:
      case ExprOp::kIntSub: return Sum(id);
      case ExprOp::kMul:
      case ExprOp::kIntMul: return forms_.Product({{arg(0), 1}, {arg(1), 1}});
      case ExprOp::kDiv: return forms_.Product({{arg(0), 1}, {arg(1), -1}});
      case ExprOp::kMin:
      case ExprOp::kMax:
        return IsIntegerType(expr.type) && bit_order_.HoldsFloat(id) ? ExtremumOfBits(id) : Extremum(id);
      case ExprOp::kAbs: return call(Function::kAbs);
      case ExprOp::kCopysign: return forms_.Call(Function::kCopysign, {arg(0), arg(1)});
      case ExprOp::kRcp: return call(Function::kReciprocal);
      case ExprOp::kSqrt: return forms_.Product({{call(Function::kSqrt), 1}});
      case ExprOp::kRsqrt: return forms_.Product({{call(Function::kRsqrt), 1}});
      case ExprOp::kEx2: return call(Function::kExp2);
      case ExprOp::kLg2: return call(Function::kLog2);
      case ExprOp::kSin: return call(Function::kSin);
      case ExprOp::kCos: return call(Function::kCos);
      case ExprOp::kTanh: return call(Function::kTanh);
      case ExprOp::kCall: return Marker(expr);
      case ExprOp::kConvert: return Convert(expr);
      case ExprOp::kCompare: return Compare(expr);
      case ExprOp::kAnd: return forms_.Logic(FormOp::kAnd, {arg(0), arg(1)});
      case ExprOp::kOr: return forms_.Logic(FormOp::kOr, {arg(0), arg(1)});
      case ExprOp::kXor: {
        const FormId left = forms_.Logic(FormOp::kAnd, {arg(0), forms_.Logic(FormOp::kNot, {arg(1)})});
        const FormId right = forms_.Logic(FormOp::kAnd, {arg(1), forms_.Logic(FormOp::kNot, {arg(0)})});
        return forms_.Logic(FormOp::kOr, {left, right});
      }
      case ExprOp::kNot: return forms_.Logic(FormOp::kNot, {arg(0)});
      case ExprOp::kSelect: return ConditionalStep(expr) ? Sum(id) : forms_.Select(arg(0), arg(1), arg(2));
      case ExprOp::kIntMulHigh: return Refuse("the high half of an integer product", expr);
      case ExprOp::kIntDiv: return forms_.Call(Function::kIntegerDivide, {arg(0), arg(1)});
      case ExprOp::kIntRem: return forms_.Call(Function::kIntegerRemainder, {arg(0), arg(1)});
      case ExprOp::kIntAnd: return forms_.Call(Function::kBitAnd, {arg(0), arg(1)});
      case ExprOp::kIntOr: return forms_.Call(Function::kBitOr, {arg(0), arg(1)});
      case ExprOp::kIntXor: return forms_.Call(Function::kBitXor, {arg(0), arg(1)});
      case ExprOp::kIntNot: return call(Function::kBitNot);
      case ExprOp::kIntShl:
        if (const double* bits = forms_.AsConstant(arg(1)); bits && *bits >= 0 && *bits < 63)
          return forms_.Linear(0, {{arg(0), static_cast<double>(uint64_t{1} << static_cast<int>(*bits))}});
        return forms_.Call(Function::kShiftLeft, {arg(0), arg(1)});
      case ExprOp::kIntShr: return forms_.Call(Function::kShiftRight, {arg(0), arg(1)});
      case ExprOp::kIntPopc: return call(Function::kPopulationCount);
      case ExprOp::kIntClz: return call(Function::kLeadingZeros);
      case ExprOp::kPack: return Refuse("the bits of several values as one number", expr);
      case ExprOp::kExtract: return Extract(expr);
    }
    return 0;
  }

  FormId Added(const Expr& select) {
    const Expr& step = *ConditionalStep(select);
    if (step.op == ExprOp::kFma) return forms_.Product({{form_[step.args[0]], 1}, {form_[step.args[1]], 1}});
    const bool first = step.args[0] == select.args[2];
    const FormId added = form_[step.args[first ? 1 : 0]];
    return step.op == ExprOp::kSub || step.op == ExprOp::kIntSub ? forms_.Linear(0, {{added, -1}}) : added;
  }

  // The whole sum below `root`: one pass over its chain or tree.
  FormId Sum(ExprId root) {
    double value = 0;
    bool zero_added = false;
    std::vector<FormTerm> terms;
    std::vector<std::pair<ExprId, double>> stack{{root, 1.0}};
    const auto descend = [&](ExprId id, double coefficient) {
      if (absorbed_[id]) {
        stack.emplace_back(id, coefficient);
        return true;
      }
      if (form_[id] == 0) return false;
      if (const double* c = forms_.AsConstant(form_[id])) {
        value += coefficient * *c;
        zero_added |= *c == 0;
      } else {
        terms.push_back({form_[id], coefficient});
      }
      return true;
    };
    while (!stack.empty()) {
      const auto [id, c] = stack.back();
      stack.pop_back();
      const Expr& expr = graph_[id];
      bool known = true;
      switch (expr.op) {
        case ExprOp::kNeg: known = descend(expr.args[0], -c); break;
        case ExprOp::kSub:
        case ExprOp::kIntSub: known = descend(expr.args[0], c) && descend(expr.args[1], -c); break;
        case ExprOp::kFma: {
          if (form_[expr.args[0]] == 0 || form_[expr.args[1]] == 0) return 0;
          terms.push_back({forms_.Product({{form_[expr.args[0]], 1}, {form_[expr.args[1]], 1}}), c});
          known = descend(expr.args[2], c);
          break;
        }
        case ExprOp::kSelect:
          terms.push_back({forms_.Select(form_[expr.args[0]], Added(expr), forms_.Constant(0)), c});
          known = descend(expr.args[2], c);
          break;
        default: known = descend(expr.args[0], c) && descend(expr.args[1], c);
      }
      if (!known) return 0;
    }
    if (terms.size() == 1 && value == 0 && zero_added && terms[0].coefficient == 1)
      return forms_.SumOfOne(terms[0].node);
    return forms_.Linear(value, terms);
  }

  // What an extremum of extrema is of.
  std::vector<ExprId> ArgumentsOfExtremum(ExprId root) const {
    std::vector<ExprId> args, stack{root};
    while (!stack.empty()) {
      const Expr& expr = graph_[stack.back()];
      stack.pop_back();
      for (const ExprId arg : expr.arguments()) (absorbed_[arg] ? stack : args).push_back(arg);
    }
    return args;
  }
  FormId Extremum(ExprId root) {
    const Expr& extremum = graph_[root];
    const bool maximum = extremum.op == ExprOp::kMax;
    std::vector<FormId> args;
    for (const ExprId id : ArgumentsOfExtremum(root)) {
      if (form_[id] == 0) return 0;
      args.push_back(IsFirstOf(extremum, graph_[id]) ? forms_.Constant(maximum ? -INFINITY : INFINITY) : form_[id]);
    }
    return forms_.Extremum(maximum ? FormOp::kMax : FormOp::kMin, args);
  }
  // What an accumulator of integers begins with: no value of the type is beyond it.
  static bool IsFirstOf(const Expr& extremum, const Expr& arg) {
    if (!IsIntegerType(extremum.type) || arg.op != ExprOp::kConst || Width(arg.type) != Width(extremum.type))
      return false;
    const uint32_t width = Width(extremum.type);
    const uint64_t all = ~uint64_t{0} >> (64 - width), half = all >> 1;
    const bool is_signed = extremum.type >= Type::kS8;
    const uint64_t largest = is_signed ? half : all, smallest = is_signed ? half + 1 : 0;
    return (arg.payload & all) == (extremum.op == ExprOp::kMax ? smallest : largest);
  }
  // Numbers whose bits are the arguments.
  FormId NumberOf(ExprId id) {
    const Expr& expr = graph_[id];
    const Type type = Width(expr.type) == 64 ? Type::kF64 : Type::kF32;
    const bool literal = expr.op == ExprOp::kConst && !sim::IsFloat(expr.type);
    return literal ? forms_.Constant(LiteralValue(type, expr.payload)) : form_[id];
  }
  FormId ExtremumOfNumbers(bool maximum, const std::vector<ExprId>& ids) {
    std::vector<FormId> args;
    for (const ExprId id : ids) {
      args.push_back(NumberOf(id));
      if (args.back() == 0) return 0;
    }
    return forms_.Extremum(maximum ? FormOp::kMax : FormOp::kMin, args);
  }

  FormId ExtremumOfBits(ExprId root) {
    const std::vector<ExprId> args = ArgumentsOfExtremum(root);
    std::vector<Sign> signs;
    for (const ExprId arg : args) signs.push_back(bit_order_.SignOf(arg));
    if (const auto greatest = BitOrder::TakesGreatest(graph_[root], signs)) return ExtremumOfNumbers(*greatest, args);
    return Refuse("the bits of numbers of any sign are ordered as integers", graph_[root]);
  }
  // x >= 0 ? the larger of the bits as signed integers : the smaller of them as unsigned ones, and its opposite: an
  // atomic maximum and minimum of floats. 0: it is none.
  FormId ChoiceBySign(const Expr& expr) {
    if (expr.op != ExprOp::kSelect || !(bit_order_.HoldsFloat(expr.args[1]) || bit_order_.HoldsFloat(expr.args[2])))
      return 0;
    const auto is_extremum = [&](ExprId id) {
      return (graph_[id].op == ExprOp::kMax || graph_[id].op == ExprOp::kMin) && IsIntegerType(graph_[id].type);
    };
    if (!is_extremum(expr.args[1]) && !is_extremum(expr.args[2])) return 0;
    FormId sides[2] = {};
    for (const bool holds : {true, false}) {
      const ExprId side = expr.args[holds ? 1 : 2];
      const Expr& extremum = graph_[side];
      if (!is_extremum(side)) {
        sides[holds] = NumberOf(side);
        continue;
      }
      std::vector<ExprId> args;
      std::vector<Sign> signs;
      for (ExprId arg : extremum.arguments()) {
        const Expr& inner = graph_[arg];
        if (inner.op == ExprOp::kSelect && inner.args[0] == expr.args[0]) arg = inner.args[holds ? 1 : 2];
        args.push_back(arg);
        signs.push_back(bit_order_.SignWhere(arg, expr.args[0], holds));
      }
      const auto greatest = BitOrder::TakesGreatest(extremum, signs);
      if (!greatest) return 0;
      sides[holds] = ExtremumOfNumbers(*greatest, args);
    }
    return sides[0] != 0 && sides[1] != 0 ? forms_.Select(form_[expr.args[0]], sides[1], sides[0]) : 0;
  }

  FormId Marker(const Expr& expr) {
    std::vector<FormId> args;
    for (const ExprId id : expr.arguments()) args.push_back(form_[id]);
    const auto function = static_cast<Function>(expr.mode);
    const FormId called = forms_.Call(function, std::move(args));
    const bool root = function == Function::kSqrt || function == Function::kRsqrt;
    return root ? forms_.Product({{called, 1}}) : called;
  }

  FormId Convert(const Expr& expr) {
    const FormId arg = form_[expr.args[0]];
    if (!sim::IsFloat(expr.from)) return arg;  // from an integer: the same number
    const auto rounding = static_cast<sim::Rounding>(expr.mode);
    switch (rounding) {
      case sim::Rounding::kIntNearest: return forms_.Call(Function::kRint, {arg});
      case sim::Rounding::kIntDown: return forms_.Call(Function::kFloor, {arg});
      case sim::Rounding::kIntUp: return forms_.Call(Function::kCeil, {arg});
      case sim::Rounding::kIntZero: return forms_.Call(Function::kTrunc, {arg});
      default: return sim::IsFloat(expr.type) ? arg : forms_.Call(Function::kTrunc, {arg});
    }
  }

  FormId Compare(const Expr& expr) {
    using core::Comparison;
    if (!bit_order_.IsNumeric(expr)) return Refuse("the bits of numbers of any sign are ordered as integers", expr);
    const FormId a = form_[expr.args[0]], b = form_[expr.args[1]];
    switch (static_cast<sim::Compare>(expr.mode)) {
      case sim::Compare::kEq:
      case sim::Compare::kEqu: return forms_.Compare(Comparison::kEqual, a, b);
      case sim::Compare::kNe:
      case sim::Compare::kNeu: return forms_.Compare(Comparison::kNotEqual, a, b);
      case sim::Compare::kLt:
      case sim::Compare::kLo:
      case sim::Compare::kLtu: return forms_.Compare(Comparison::kLess, a, b);
      case sim::Compare::kLe:
      case sim::Compare::kLs:
      case sim::Compare::kLeu: return forms_.Compare(Comparison::kLessEqual, a, b);
      case sim::Compare::kGt:
      case sim::Compare::kHi:
      case sim::Compare::kGtu: return forms_.Compare(Comparison::kLess, b, a);
      case sim::Compare::kGe:
      case sim::Compare::kHs:
      case sim::Compare::kGeu: return forms_.Compare(Comparison::kLessEqual, b, a);
      case sim::Compare::kNum: return forms_.Constant(1);  // data is no NaN
      case sim::Compare::kNan: return forms_.Constant(0);
    }
    return 0;
  }

  FormId Extract(const Expr& expr) {
    const Expr& whole = graph_[expr.args[0]];
    if (sim::IsFloat(whole.type) || whole.op == ExprOp::kPack)
      return Refuse("the bits of a value are taken apart", expr);
    FormId value = form_[expr.args[0]];
    if (expr.payload > 0)
      value = forms_.Call(Function::kShiftRight, {value, forms_.Constant(static_cast<double>(expr.payload))});
    const int bits = 8 * sim::ByteSize(expr.type);
    if (bits >= 32) return value;
    return forms_.Call(Function::kBitAnd, {value, forms_.Constant(static_cast<double>((uint64_t{1} << bits) - 1))});
  }

  const Graph& graph_;
  FormGraph& forms_;
  BitOrder bit_order_;
  std::vector<bool> reached_, absorbed_;
  std::vector<FormId> form_;
  CanonicalRoots result_;
};

}  // namespace

double ConstantValue(Type type, uint64_t bits) {
  switch (type) {
    case Type::kPred: return static_cast<double>(bits & 1);
    case Type::kF16: return core::HalfToFloat(static_cast<uint16_t>(bits));
    case Type::kBf16: return core::BFloat16ToFloat(static_cast<uint16_t>(bits));
    case Type::kF32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Type::kF64: return std::bit_cast<double>(bits);
    case Type::kU8:
    case Type::kB8: return static_cast<double>(bits & 0xff);
    case Type::kU16:
    case Type::kB16: return static_cast<double>(bits & 0xffff);
    case Type::kU32: return static_cast<double>(bits & 0xffffffff);
    case Type::kU64: return static_cast<double>(bits);
    case Type::kS8: return static_cast<int8_t>(bits);
    case Type::kS16: return static_cast<int16_t>(bits);
    case Type::kS32:
    case Type::kB32: return static_cast<int32_t>(bits);
    default: return static_cast<double>(static_cast<int64_t>(bits));
  }
}

double LiteralValue(Type type, uint64_t bits) {
  const double value = ConstantValue(type, bits);
  return sim::IsFloat(type) ? RoundLiteral(value, type == Type::kF64) : value;
}

CanonicalRoots Canonicalise(const Graph& graph, std::span<const ExprId> roots, FormGraph& forms) {
  return Canonicaliser(graph, forms).Run(roots);
}

}  // namespace warpwright::lift

#include "lift/builder.h"

#include "lift/evaluate.h"

namespace warpwright::lift {

using sim::Type;

namespace {

// Says only how wide it is.
bool IsBits(Type type) { return type >= Type::kB8 && type <= Type::kB64; }

}  // namespace

sim::Type BitsType(int width) {
  return width == 1    ? Type::kPred
         : width == 8  ? Type::kB8
         : width == 16 ? Type::kB16
         : width == 32 ? Type::kB32
                       : Type::kB64;
}
sim::Type UnsignedType(int width) {
  return width == 8 ? Type::kU8 : width == 16 ? Type::kU16 : width == 32 ? Type::kU32 : Type::kU64;
}
sim::Type SignedType(int width) {
  return width == 8 ? Type::kS8 : width == 16 ? Type::kS16 : width == 32 ? Type::kS32 : Type::kS64;
}

ExprId Builder::Const(Type type, uint64_t bits) {
  const int width = Width(type);
  if (width < 64) bits &= (1ull << width) - 1;
  return graph_.Make({.op = ExprOp::kConst, .type = type, .payload = bits, .concrete = bits, .line = line_});
}

ExprId Builder::Make(Expr expr) {
  bool constant = expr.arity > 0;
  for (const ExprId arg : expr.arguments()) {
    if (arg == kConcrete) return kConcrete;  // the graph is full
    constant &= IsConst(arg);
  }
  auto evaluate = [&] {
    uint64_t args[3] = {};
    for (size_t k = 0; k < expr.arity; ++k) args[k] = graph_[expr.args[k]].concrete;
    return EvaluateNode(graph_, expr, args);
  };
  if (constant) return Const(expr.type, evaluate());
  if (const ExprId pushed = PushIntoSelect(expr)) return pushed;
  expr.line = line_;
  const auto [id, fresh] = graph_.Add(expr);
  if (fresh) graph_.SetConcrete(id, evaluate());
  return id;
}

ExprId Builder::Make(Expr expr, uint64_t concrete) {
  for (const ExprId arg : expr.arguments())
    if (arg == kConcrete) return kConcrete;
  expr.line = line_;
  expr.concrete = concrete;
  return graph_.Make(expr);
}

ExprId Builder::Unary(ExprOp op, Type type, ExprId a) {
  return Make({.op = op, .type = type, .arity = 1, .args = {a}});
}
ExprId Builder::Binary(ExprOp op, Type type, ExprId a, ExprId b) {
  if (IsConst(b)) {
    const uint64_t value = graph_[b].payload;
    switch (op) {
      case ExprOp::kIntAdd:
      case ExprOp::kIntSub:
      case ExprOp::kIntShl:
      case ExprOp::kIntShr:
      case ExprOp::kIntOr:
      case ExprOp::kIntXor:
        if (value == 0) return a;
        break;
      case ExprOp::kIntMul:
        if (value == 0) return Const(type, 0);
        if (value == 1) return a;
        break;
      case ExprOp::kIntAnd:
        if (value == 0) return Const(type, 0);
        if (value == (Width(type) == 64 ? UINT64_MAX : (1ull << Width(type)) - 1)) return a;
        break;
      default: break;
    }
  } else if (IsConst(a) && (op == ExprOp::kIntAdd || op == ExprOp::kIntMul || op == ExprOp::kIntAnd ||
                            op == ExprOp::kIntOr || op == ExprOp::kIntXor)) {
    return Binary(op, type, b, a);
  }
  return Make({.op = op, .type = type, .arity = 2, .args = {a, b}});
}

// An integer operation on a choice of two constants is a choice of two constants: predicates travel as integers.
ExprId Builder::PushIntoSelect(const Expr& expr) {
  const bool integer =
      expr.op == ExprOp::kExtract || expr.op == ExprOp::kPack || expr.op >= ExprOp::kIntAdd ||
      ((expr.op == ExprOp::kConvert || expr.op == ExprOp::kCompare) && !sim::IsFloat(expr.type) &&
       !sim::IsFloat(expr.from)) ||
      ((expr.op == ExprOp::kMin || expr.op == ExprOp::kMax || expr.op == ExprOp::kNeg) && !sim::IsFloat(expr.type));
  if (!integer) return kConcrete;
  size_t which = 3;
  for (size_t k = 0; k < expr.arity; ++k) {
    const Expr& arg = graph_[expr.args[k]];
    if (arg.op == ExprOp::kConst) continue;
    if (which != 3 || arg.op != ExprOp::kSelect || !IsConst(arg.args[1]) || !IsConst(arg.args[2])) return kConcrete;
    which = k;
  }
  const Expr select = graph_[expr.args[which]];
  Expr then = expr, otherwise = expr;
  then.args[which] = select.args[1];
  otherwise.args[which] = select.args[2];
  const ExprId a = Make(then), b = Make(otherwise);
  if (expr.op == ExprOp::kCompare) return SelectBetween(select.args[0], a, b);
  return Select(expr.type, select.args[0], a, b);
}

// Of predicates, both constant.
ExprId Builder::SelectBetween(ExprId predicate, ExprId then, ExprId otherwise) {
  if (then == otherwise) return then;
  return graph_[then].payload != 0 ? predicate : Not(predicate);
}

ExprId Builder::Convert(Type to, Type from, ExprId a, sim::Rounding rounding, bool flush) {
  return Make({.op = ExprOp::kConvert,
               .type = to,
               .from = from,
               .mode = static_cast<uint8_t>(rounding),
               .approx = flush,
               .flush = flush,
               .arity = 1,
               .args = {a}});
}

ExprId Builder::Coerce(ExprId id, Type type) {
  const Expr& e = graph_[id];
  const int have = Width(e.type), want = Width(type);
  if (e.op == ExprOp::kConst) return e.type == type ? id : Const(type, e.payload);
  if (have == want) [[likely]] {
    // A choice between registers says nothing of what they hold.
    if (e.op == ExprOp::kSelect && IsBits(e.type) && !IsBits(type)) return CoerceChoice(id, type);
    // Sixteen bits above sixteen zeros are the float of a bf16.
    if (type == Type::kF32 && e.op == ExprOp::kPack && IsConst(e.args[0]) && graph_[e.args[0]].payload == 0)
      return Convert(Type::kF32, Type::kBf16, e.args[1]);
    return id;
  }
  if (graph_.full() || id == kConcrete) return kConcrete;
  if (have > want) return Extract(id, 0, want);
  if (IsIntegerType(e.type)) return Convert(UnsignedType(want), UnsignedType(have), id);
  return Coerce(Pack(id, Const(BitsType(have), 0)), type);
}

// Once for each choice: a network that sorts makes choices between choices, with exponentially many ways through them.
ExprId Builder::CoerceChoice(ExprId id, Type type) {
  const uint64_t key = uint64_t{id} << 8 | static_cast<uint64_t>(type);
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  const auto [predicate, then, otherwise] = graph_[id].args;
  const ExprId result = Select(type, predicate, Coerce(then, type), Coerce(otherwise, type));
  choices_.emplace(key, result);
  return result;
}

ExprId Builder::Extract(ExprId id, int first, int width) {
  const Expr e = graph_[id];
  const int have = Width(e.type);
  if (graph_.full() || id == kConcrete) return kConcrete;
  if (width == have) return id;
  switch (e.op) {
    case ExprOp::kConst: return Const(BitsType(width), e.payload >> first);
    case ExprOp::kPack: {
      const int part = have / 2;
      if (first / part == (first + width - 1) / part)
        return Extract(e.args[static_cast<size_t>(first / part)], first % part, width);
      return Pack(Extract(id, first, width / 2), Extract(id, first + width / 2, width / 2));
    }
    case ExprOp::kExtract: return Extract(e.args[0], first + static_cast<int>(e.payload), width);
    case ExprOp::kConvert: {
      const int from = Width(e.from);
      if (e.from == Type::kBf16 && e.type == Type::kF32 && !e.flush) {
        if (first >= 16) return Extract(e.args[0], first - 16, width);
        if (first + width <= 16) return Const(BitsType(width), 0);
      }
      if (!IsIntegerType(e.type) || !IsIntegerType(e.from) || have < from) break;
      if (first + width <= from) return Extract(e.args[0], first, width);
      if (first >= from && !sim::IsSigned(e.from)) return Const(BitsType(width), 0);
      break;
    }
    case ExprOp::kSelect: {
      auto has_parts = [&](ExprId arm) { return IsConst(arm) || graph_[arm].op == ExprOp::kPack; };
      if (has_parts(e.args[1]) && has_parts(e.args[2]))
        return Select(BitsType(width), e.args[0], Extract(e.args[1], first, width), Extract(e.args[2], first, width));
      break;
    }
    default: break;
  }
  // The low part of an integer is an integer.
  if (IsIntegerType(e.type) && first == 0) return Convert(UnsignedType(width), UnsignedType(have), id);
  return Make({.op = ExprOp::kExtract,
               .type = BitsType(width),
               .arity = 1,
               .args = {id},
               .payload = static_cast<uint64_t>(first)});
}

ExprId Builder::Pack(ExprId low, ExprId high) {
  if (low == kConcrete || high == kConcrete) return kConcrete;
  const Expr& a = graph_[low];
  const Expr& b = graph_[high];
  const int part = Width(a.type);
  if (b.op == ExprOp::kExtract) {
    const bool joined =
        a.op == ExprOp::kExtract && a.args[0] == b.args[0] && a.payload + static_cast<uint64_t>(part) == b.payload;
    const bool truncated = a.op == ExprOp::kConvert && a.args[0] == b.args[0] &&
                           b.payload == static_cast<uint64_t>(part) && IsIntegerType(a.type) && IsIntegerType(a.from);
    if (joined) return Extract(a.args[0], static_cast<int>(a.payload), 2 * part);
    if (truncated) return Extract(a.args[0], 0, 2 * part);
  }
  return Make({.op = ExprOp::kPack, .type = BitsType(2 * part), .arity = 2, .args = {low, high}});
}

ExprId Builder::Compare(sim::Compare compare, Type type, ExprId a, ExprId b, bool flush) {
  using sim::Compare;
  if (a == b && !sim::IsFloat(type) && a != kConcrete)
    return Predicate(compare == Compare::kEq || compare == Compare::kLe || compare == Compare::kGe ||
                     compare == Compare::kLs || compare == Compare::kHs);
  return Make({.op = ExprOp::kCompare,
               .type = Type::kPred,
               .from = type,
               .mode = static_cast<uint8_t>(compare),
               .approx = flush,
               .flush = flush,
               .arity = 2,
               .args = {a, b}});
}

ExprId Builder::Not(ExprId a) {
  if (graph_[a].op == ExprOp::kNot) return graph_[a].args[0];
  return Unary(ExprOp::kNot, Type::kPred, a);
}
ExprId Builder::And(ExprId a, ExprId b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(b)) return graph_[b].payload != 0 ? a : b;
  return a == b ? a : Make({.op = ExprOp::kAnd, .type = Type::kPred, .arity = 2, .args = {a, b}});
}
ExprId Builder::Or(ExprId a, ExprId b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(b)) return graph_[b].payload != 0 ? b : a;
  return a == b ? a : Make({.op = ExprOp::kOr, .type = Type::kPred, .arity = 2, .args = {a, b}});
}
ExprId Builder::Xor(ExprId a, ExprId b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(b)) return graph_[b].payload != 0 ? Not(a) : a;
  return a == b ? Predicate(false) : Make({.op = ExprOp::kXor, .type = Type::kPred, .arity = 2, .args = {a, b}});
}

// The type of a choice between registers, by what one of them holds.
Type Builder::TypeOfChoice(Type type, ExprId then, ExprId otherwise) const {
  if (!IsBits(type)) return type;
  for (const ExprId id : {then, otherwise}) {
    const Expr& e = graph_[id];
    if (e.op != ExprOp::kConst && !IsBits(e.type) && Width(e.type) == Width(type)) return e.type;
  }
  return type;
}

ExprId Builder::Select(Type type, ExprId predicate, ExprId then, ExprId otherwise) {
  if (predicate == kConcrete || then == kConcrete || otherwise == kConcrete) return kConcrete;
  if (IsConst(predicate)) return graph_[predicate].payload != 0 ? then : otherwise;
  // Under one condition, what was chosen by it is known.
  for (; graph_[then].op == ExprOp::kSelect && graph_[then].args[0] == predicate;) then = graph_[then].args[1];
  for (; graph_[otherwise].op == ExprOp::kSelect && graph_[otherwise].args[0] == predicate;)
    otherwise = graph_[otherwise].args[2];
  if (type == Type::kPred) return then == otherwise ? then : Or(And(predicate, then), And(Not(predicate), otherwise));
  type = TypeOfChoice(type, then, otherwise);
  if (!IsBits(type)) then = Coerce(then, type), otherwise = Coerce(otherwise, type);
  if (then == otherwise) return then;
  if (IsConst(then) && IsConst(otherwise) && graph_[then].payload == graph_[otherwise].payload) return then;
  if (graph_[predicate].op == ExprOp::kNot) return Select(type, graph_[predicate].args[0], otherwise, then);
  const Expr a = graph_[then], b = graph_[otherwise];
  const bool packs = a.op == ExprOp::kPack || b.op == ExprOp::kPack;
  auto has_parts = [](const Expr& e) { return e.op == ExprOp::kConst || e.op == ExprOp::kPack; };
  if (packs && has_parts(a) && has_parts(b)) {
    const int half = Width(a.type) / 2;
    return Pack(Select(BitsType(half), predicate, Extract(then, 0, half), Extract(otherwise, 0, half)),
                Select(BitsType(half), predicate, Extract(then, half, half), Extract(otherwise, half, half)));
  }
  return Make({.op = ExprOp::kSelect, .type = type, .arity = 3, .args = {predicate, then, otherwise}});
}

}  // namespace warpwright::lift

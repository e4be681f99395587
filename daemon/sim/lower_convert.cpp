// Comparisons, selections, conversions and moves.
#include "sim/lower.h"
#include "sim/lower_types.h"

namespace warpwright::sim {
namespace {

constexpr std::pair<std::string_view, Compare> kCompares[] = {
    {"eq", Compare::kEq},   {"ne", Compare::kNe},   {"lt", Compare::kLt},   {"le", Compare::kLe},
    {"gt", Compare::kGt},   {"ge", Compare::kGe},   {"lo", Compare::kLo},   {"ls", Compare::kLs},
    {"hi", Compare::kHi},   {"hs", Compare::kHs},   {"equ", Compare::kEqu}, {"neu", Compare::kNeu},
    {"ltu", Compare::kLtu}, {"leu", Compare::kLeu}, {"gtu", Compare::kGtu}, {"geu", Compare::kGeu},
    {"num", Compare::kNum}, {"nan", Compare::kNan}};
constexpr std::pair<std::string_view, BoolOp> kBoolOps[] = {
    {"and", BoolOp::kAnd}, {"or", BoolOp::kOr}, {"xor", BoolOp::kXor}};

}  // namespace

// setp.cmp[.bool].type p[|q], a, b[, c] and set.cmp[.bool].dtype.stype d, a, b[, c]
bool Lowering::Set(Opcode& opcode, const PtxStatement& statement) {
  const bool predicate = opcode.family() == "setp";
  const auto& operands = statement.operands;
  if (opcode.type_count() != (predicate ? 1u : 2u) || opcode.sat || operands.size() < 3) return false;
  const Type type = opcode.type(predicate ? 0 : 1);
  Instruction in = Start(predicate ? Op::kSetPredicate : Op::kSet, type, core::InstructionClass::kInteger);
  in.ftz = opcode.ftz;
  // "lo" and "hi" are comparisons here; "and", "or", "xor" combine.
  if (!opcode.TakeOne(kCompares, in.compare)) return false;
  opcode.TakeOne(kBoolOps, in.bool_op);
  if (!opcode.Empty()) return false;
  if (IsFloat(type)) {
    in.count_as = FloatClass(type);
    if (in.compare >= Compare::kLo && in.compare <= Compare::kHs) return false;
  } else {
    if (in.compare >= Compare::kEqu) return false;
    const bool ordered = in.compare != Compare::kEq && in.compare != Compare::kNe;
    const bool untyped = type == Type::kB16 || type == Type::kB32 || type == Type::kB64;
    if (!(IsInteger(type) || (untyped && !ordered))) return false;
  }
  const bool packed = Lanes(type) == 2;
  if (predicate) {
    const PtxOperand& result = operands[0];
    if (result.kind == PtxOperand::Kind::kVector && result.text == "|" && result.elements.size() == 2) {
      if (!Def(in, result.elements[0], RegisterClass::kPredicate) ||
          !Def(in, result.elements[1], RegisterClass::kPredicate))
        return false;
    } else if (packed || !Def(in, result, RegisterClass::kPredicate)) {
      return false;  // a packed comparison always has two results
    }
  } else {
    in.from = opcode.type(0);
    const bool ok = in.from == Type::kU32 || in.from == Type::kS32 || in.from == Type::kF32 ||
                    (in.from == Type::kF16 && type == Type::kF16) || (in.from == Type::kBf16 && type == Type::kBf16) ||
                    (in.from == Type::kF16x2 && type == Type::kF16x2) ||
                    (in.from == Type::kBf16x2 && type == Type::kBf16x2) ||
                    ((in.from == Type::kU16 || in.from == Type::kS16) && (type == Type::kF16 || type == Type::kBf16));
    if (!ok || !Def(in, operands[0], RegisterClass::k32)) return false;
    if (packed && in.from == Type::kF32) return false;
  }
  if (!Use(in, operands[1], type) || !Use(in, operands[2], type)) return false;
  if (operands.size() == 4) {
    if (in.bool_op == BoolOp::kNone || !UsePredicate(in, operands[3])) return false;
  } else if (in.bool_op != BoolOp::kNone || operands.size() != 3) {
    return false;
  }
  Emit(in);
  return true;
}

// selp d, a, b, p and slct d, a, b, c
bool Lowering::Select(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const auto& operands = statement.operands;
  if (type == Type::kPred || type == Type::kNone || ByteSize(type) < 2 || ByteSize(type) > 8 || opcode.sat)
    return false;
  if (opcode.family() == "slct") {
    const Type selector = opcode.type(1);
    if (opcode.type_count() != 2 || ByteSize(type) < 4 || (selector != Type::kS32 && selector != Type::kF32))
      return false;
    Instruction in = Start(Op::kSlct, type, core::InstructionClass::kInteger);
    in.from = selector;
    in.ftz = opcode.ftz;
    return Operands(in, opcode, statement, {type, type, selector});
  }
  if (opcode.type_count() != 1 || operands.size() != 4 || !opcode.Empty()) return false;
  Instruction in = Start(Op::kSelect, type, core::InstructionClass::kInteger);
  if (!Def(in, operands[0], ClassOf(type)) || !Use(in, operands[1], type) || !Use(in, operands[2], type) ||
      operands[3].negated || !UsePredicate(in, operands[3]))
    return false;
  Emit(in);
  return true;
}

// cvt[.round][.ftz][.sat].dtype.atype d, a and cvt.rn[.relu].f16x2|bf16x2.f32 d, a, b
bool Lowering::Convert(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  if (opcode.type_count() != 2 || operands.size() < 2) return false;
  const Type to = opcode.type(0), from = opcode.type(1);
  Instruction in = Start(Op::kConvert, to, core::InstructionClass::kConversion);
  in.from = from;
  CopyFloatModifiers(in, opcode);
  in.relu = opcode.Take("relu");
  if (!opcode.Empty()) return false;
  if (to == Type::kTf32) {
    const bool rounds =
        in.rounding == Rounding::kNearestAway || in.rounding == Rounding::kNearest || in.rounding == Rounding::kZero;
    return from == Type::kF32 && rounds && !in.relu && !in.sat && !in.ftz && Operands(in, opcode, statement, {from});
  }
  if (from == Type::kTf32) return false;
  if (Lanes(to) == 2) {
    in.op = Op::kConvertPack;
    if (from != Type::kF32 || operands.size() != 3 || opcode.ftz || opcode.sat) return false;
    if (in.rounding != Rounding::kNearest && in.rounding != Rounding::kZero) return false;
    if (!Def(in, operands[0], RegisterClass::k32) || !Use(in, operands[1], from) || !Use(in, operands[2], from))
      return false;
    Emit(in);
    return true;
  }
  if (operands.size() != 2 || to == Type::kPred || from == Type::kPred || Lanes(from) == 2) return false;
  const bool number_to = IsFloat(to) || IsSigned(to) || (to >= Type::kU8 && to <= Type::kU64);
  const bool number_from = IsFloat(from) || IsSigned(from) || (from >= Type::kU8 && from <= Type::kU64);
  if (!number_to || !number_from) return false;
  const bool integer_rounding = in.rounding >= Rounding::kIntNearest;
  if (in.rounding == Rounding::kNearestAway) return false;
  if (in.relu && !(IsHalf(to) && from == Type::kF32)) return false;
  // Float to narrower float and integer to float name a rounding mode; float to integer names an integer rounding mode.
  if (IsFloat(from) && !IsFloat(to) && !integer_rounding) return false;
  if (!IsFloat(from) && integer_rounding) return false;
  if (integer_rounding && IsFloat(to) && to != from) return false;
  if ((to == Type::kBf16 || from == Type::kBf16) && IsHalf(to) && IsHalf(from) && to != from) return false;
  // Registers may be wider than the types.
  auto width = [&](const PtxOperand& operand) {
    const uint32_t id = AnyRegister(operand);
    return id == kNoOperand ? RegisterClass::k32 : out_.registers[id].cls;
  };
  in.wide_result = width(operands[0]) == RegisterClass::k64;
  const bool source_is_register = operands[1].kind == PtxOperand::Kind::kRegister;
  in.wide_source[0] = source_is_register ? width(operands[1]) == RegisterClass::k64 : ByteSize(from) == 8;
  if (in.wide_result != (ByteSize(to) == 8) && (IsFloat(to) || !in.wide_result)) return false;
  if (in.wide_source[0] != (ByteSize(from) == 8) && (IsFloat(from) || !in.wide_source[0])) return false;
  if (!Def(in, operands[0], in.wide_result ? RegisterClass::k64 : RegisterClass::k32)) return false;
  if (!Use(in, operands[1], in.wide_source[0] && ByteSize(from) != 8 ? Type::kB64 : from)) return false;
  Emit(in);
  return true;
}

// mov d, a; mov.b64 {a, b}, d; mov.b64 d, {a, b}
bool Lowering::Move(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const auto& operands = statement.operands;
  if (opcode.type_count() != 1 || operands.size() != 2 || !opcode.Empty() || type == Type::kB128) return false;
  const bool pack = operands[1].kind == PtxOperand::Kind::kVector,
             unpack = operands[0].kind == PtxOperand::Kind::kVector;
  if (pack || unpack) {
    const auto& elements = operands[pack ? 1 : 0].elements;
    const auto count = static_cast<int>(elements.size());
    if (pack == unpack || (count != 2 && count != 4) || ByteSize(type) / count < 2) return false;
    const Type element = ByteSize(type) / count == 4 ? Type::kB32 : Type::kB16;
    Instruction in = Start(pack ? Op::kPack : Op::kUnpack, type, core::InstructionClass::kMove);
    in.vector = static_cast<uint8_t>(count);
    if (pack && !Def(in, operands[0], ClassOf(type))) return false;
    for (const PtxOperand& part : elements)
      if (!(pack ? Use(in, part, element) : Def(in, part, RegisterClass::k32))) return false;
    if (unpack && !Use(in, operands[1], type)) return false;
    Emit(in);
    return true;
  }
  Instruction in = Start(Op::kMove, type, core::InstructionClass::kMove);
  if (operands[1].kind == PtxOperand::Kind::kSpecial) {
    const std::string_view name = operands[1].text;
    if (name.starts_with("%clock") || name.starts_with("%globaltimer")) {
      in.op = Op::kClock;
      in.mode = name == "%clock_hi" || name == "%globaltimer_hi" ? 1 : 0;
      if (!Def(in, operands[0], ClassOf(type)) || type == Type::kPred) return false;
      Emit(in);
      return true;
    }
  }
  if (type == Type::kPred) {
    if (!Def(in, operands[0], RegisterClass::kPredicate) || !UsePredicate(in, operands[1])) return false;
    Emit(in);
    return true;
  }
  return ByteSize(type) >= 2 && Operands(in, opcode, statement, {type});
}

}  // namespace warpwright::sim

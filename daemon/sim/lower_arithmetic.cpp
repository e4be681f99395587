// Arithmetic families: which of their forms we execute, and how they are counted. A form that is not listed is not
// simulated.
#include "sim/lower.h"
#include "sim/lower_types.h"

namespace warpwright::sim {
namespace {

// f16 has one rounding mode: to nearest.
bool RoundingFits(Type type, Rounding rounding) {
  if (rounding == Rounding::kDefault || rounding == Rounding::kNearest) return true;
  if (rounding != Rounding::kZero && rounding != Rounding::kDown && rounding != Rounding::kUp) return false;
  return type == Type::kF32 || type == Type::kF64;
}

constexpr std::pair<std::string_view, MulMode> kMulModes[] = {
    {"lo", MulMode::kLo}, {"hi", MulMode::kHi}, {"wide", MulMode::kWide}};
constexpr std::pair<std::string_view, TestMode> kTests[] = {
    {"finite", TestMode::kFinite},         {"infinite", TestMode::kInfinite}, {"number", TestMode::kNumber},
    {"notanumber", TestMode::kNotANumber}, {"normal", TestMode::kNormal},     {"subnormal", TestMode::kSubnormal}};
constexpr std::pair<std::string_view, PrmtMode> kPrmtModes[] = {{"f4e", PrmtMode::kF4e}, {"b4e", PrmtMode::kB4e},
                                                                {"rc8", PrmtMode::kRc8}, {"ecl", PrmtMode::kEcl},
                                                                {"ecr", PrmtMode::kEcr}, {"rc16", PrmtMode::kRc16}};

}  // namespace

bool Lowering::AddSub(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const bool add = opcode.family()[0] == 'a';
  const bool with_carry = opcode.family() == "addc" || opcode.family() == "subc";
  const bool sets_carry = opcode.Take("cc");
  if (opcode.type_count() != 1) return false;
  if (with_carry || sets_carry) {
    if (!IsInteger(type, false) || statement.operands.size() != 3) return false;
    Instruction in = Start(add ? Op::kAddCarry : Op::kSubCarry, type, core::InstructionClass::kInteger);
    if (carry_ == kNoOperand) carry_ = NewRegister(RegisterClass::kPredicate);
    in.carry_in = with_carry;
    in.carry_out = sets_carry;
    if (!opcode.Empty() || !Def(in, statement.operands[0], ClassOf(type))) return false;
    if (sets_carry) {
      ++in.defs;
      UseRegister(in, carry_);
    }
    if (!Use(in, statement.operands[1], type) || !Use(in, statement.operands[2], type)) return false;
    if (with_carry) UseRegister(in, carry_);
    Emit(in);
    return true;
  }
  Instruction in = Start(add ? Op::kAdd : Op::kSub, type, core::InstructionClass::kInteger);
  CopyFloatModifiers(in, opcode);
  if (IsInteger(type)) {
    if (opcode.ftz || opcode.rounding != Rounding::kDefault || (opcode.sat && type != Type::kS32)) return false;
  } else if (IsFloat(type)) {
    in.count_as = FloatClass(type);
    in.flops = Lanes(type);
    if (!RoundingFits(type, opcode.rounding)) return false;
  } else {
    return false;
  }
  return Operands(in, opcode, statement, {type, type});
}

bool Lowering::MulMad(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const std::string_view family = opcode.family();
  const bool mad = family.starts_with("mad");
  if (opcode.type_count() != 1) return false;
  Instruction in = Start(mad ? Op::kMad : Op::kMul, type, core::InstructionClass::kInteger);
  CopyFloatModifiers(in, opcode);
  if (IsFloat(type)) {
    if (mad) return Fma(opcode, statement);
    in.count_as = FloatClass(type);
    in.flops = Lanes(type);
    return RoundingFits(type, opcode.rounding) && Operands(in, opcode, statement, {type, type});
  }
  if (!IsInteger(type) || !opcode.TakeOne(kMulModes, in.mul) || opcode.ftz) return false;
  if (family == "mul24" || family == "mad24") {
    if (ByteSize(type) != 4 || in.mul == MulMode::kWide || opcode.sat) return false;
    in.op = mad ? Op::kMad24 : Op::kMul24;
    return mad ? Operands(in, opcode, statement, {type, type, type}) : Operands(in, opcode, statement, {type, type});
  }
  if (in.mul == MulMode::kWide && ByteSize(type) == 8) return false;
  if (opcode.sat && !(mad && type == Type::kS32 && in.mul == MulMode::kHi)) return false;
  const bool sets_carry = opcode.Take("cc");
  const bool with_carry = family == "madc";
  if (sets_carry || with_carry) {
    if (in.mul == MulMode::kWide || ByteSize(type) < 4 || opcode.sat || statement.operands.size() != 4) return false;
    in.op = Op::kMadCarry;
    if (carry_ == kNoOperand) carry_ = NewRegister(RegisterClass::kPredicate);
    in.carry_in = with_carry;
    in.carry_out = sets_carry;
    if (!opcode.Empty() || !Def(in, statement.operands[0], ClassOf(type))) return false;
    if (sets_carry) {
      ++in.defs;
      UseRegister(in, carry_);
    }
    for (size_t i = 1; i <= 3; ++i)
      if (!Use(in, statement.operands[i], type)) return false;
    if (with_carry) UseRegister(in, carry_);
    Emit(in);
    return true;
  }
  if (!mad) return Operands(in, opcode, statement, {type, type});
  Type addend = type;
  if (in.mul == MulMode::kWide) {
    addend =
        ByteSize(type) == 4 ? (IsSigned(type) ? Type::kS64 : Type::kU64) : (IsSigned(type) ? Type::kS32 : Type::kU32);
  }
  return Operands(in, opcode, statement, {type, type, addend});
}

bool Lowering::Fma(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  if (opcode.type_count() != 1 || !IsFloat(type) || !RoundingFits(type, opcode.rounding)) return false;
  Instruction in = Start(Op::kFma, type, FloatClass(type));
  CopyFloatModifiers(in, opcode);
  in.relu = opcode.Take("relu");
  if (in.relu && !IsHalf(type)) return false;
  in.flops = static_cast<uint8_t>(2 * Lanes(type));
  return Operands(in, opcode, statement, {type, type, type});
}

bool Lowering::DivRem(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const bool div = opcode.family() == "div";
  if (opcode.type_count() != 1) return false;
  Instruction in = Start(div ? Op::kDiv : Op::kRem, type, core::InstructionClass::kInteger);
  CopyFloatModifiers(in, opcode);
  in.approx = opcode.approx;
  in.full_range = opcode.Take("full");
  if (div && (type == Type::kF32 || type == Type::kF64)) {
    in.count_as = FloatClass(type);
    in.flops = 1;
    const int forms = (in.approx ? 1 : 0) + (in.full_range ? 1 : 0) + (opcode.rounding != Rounding::kDefault ? 1 : 0);
    if (opcode.sat || forms > 1 || (type == Type::kF64 && (in.approx || in.full_range)) ||
        !RoundingFits(type, in.rounding))
      return false;
  } else if (!IsInteger(type) || in.approx || in.full_range || in.ftz || in.sat || in.rounding != Rounding::kDefault) {
    return false;
  }
  return Operands(in, opcode, statement, {type, type});
}

// abs, neg, not, cnot
bool Lowering::Unary(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const std::string_view family = opcode.family();
  if (opcode.type_count() != 1 || opcode.sat || opcode.rounding != Rounding::kDefault) return false;
  Instruction in = Start(family == "abs" ? Op::kAbs : Op::kNeg, type, core::InstructionClass::kInteger);
  in.ftz = opcode.ftz;
  if (IsFloat(type)) in.count_as = FloatClass(type);
  else if (!IsSigned(type) || ByteSize(type) < 2) return false;
  return Operands(in, opcode, statement, {type});
}

bool Lowering::MinMax(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  if (opcode.type_count() != 1 || opcode.sat || opcode.rounding != Rounding::kDefault) return false;
  Instruction in = Start(opcode.family() == "min" ? Op::kMin : Op::kMax, type, core::InstructionClass::kInteger);
  in.ftz = opcode.ftz;
  in.nan = opcode.Take("NaN");
  in.xorsign = opcode.Take("xorsign");
  in.abs = opcode.Take("abs");
  in.relu = opcode.Take("relu");
  if (in.xorsign != in.abs) return false;
  if (IsFloat(type)) {
    in.count_as = FloatClass(type);
    if (type == Type::kF64 && (in.nan || in.xorsign)) return false;
    if (in.relu) return false;
  } else if (!IsInteger(type) || in.nan || in.abs || in.ftz || (in.relu && type != Type::kS32)) {
    return false;
  }
  return Operands(in, opcode, statement, {type, type});
}

// rcp sqrt rsqrt sin cos lg2 ex2 tanh
bool Lowering::SpecialFunction(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const std::string_view family = opcode.family();
  if (opcode.type_count() != 1 || opcode.sat) return false;
  const Op op = family == "rcp"     ? Op::kRcp
                : family == "sqrt"  ? Op::kSqrt
                : family == "rsqrt" ? Op::kRsqrt
                : family == "sin"   ? Op::kSin
                : family == "cos"   ? Op::kCos
                : family == "lg2"   ? Op::kLg2
                : family == "ex2"   ? Op::kEx2
                                    : Op::kTanh;
  Instruction in = Start(op, type, core::InstructionClass::kSfu);
  CopyFloatModifiers(in, opcode);
  in.approx = opcode.approx;
  const bool rounded = opcode.rounding != Rounding::kDefault;
  const bool may_round = op == Op::kRcp || op == Op::kSqrt;
  if (rounded == in.approx || (rounded && (!may_round || !RoundingFits(type, in.rounding)))) return false;
  if (rounded) in.count_as = FloatClass(type);
  const bool half_form = IsHalf(type) && (op == Op::kEx2 || op == Op::kTanh);
  const bool double_form = type == Type::kF64 && (rounded || ((op == Op::kRcp || op == Op::kRsqrt) && in.approx));
  if (type != Type::kF32 && !half_form && !double_form) return false;
  return Operands(in, opcode, statement, {type});
}

// popc clz bfind brev bfe bfi bmsk szext prmt lop3 shf fns sad copysign testp
bool Lowering::Bits(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const std::string_view family = opcode.family();
  const auto& operands = statement.operands;
  const int size = ByteSize(type);
  if (opcode.type_count() != 1 || opcode.sat || opcode.ftz) return false;
  Instruction in = Start(Op::kPopc, type, core::InstructionClass::kInteger);
  const bool bits = type == Type::kB32 || type == Type::kB64;
  auto narrow_result = [&]() {  // popc, clz and bfind return 32 bits, regardless of the operand's width
    return opcode.Empty() && operands.size() == 2 && Def(in, operands[0], RegisterClass::k32) &&
           Use(in, operands[1], type) && (Emit(in), true);
  };
  if (family == "popc" || family == "clz") {
    in.op = family == "popc" ? Op::kPopc : Op::kClz;
    return bits && narrow_result();
  }
  if (family == "bfind") {
    in.op = Op::kBfind;
    in.wrap = opcode.Take("shiftamt");
    return IsInteger(type, false) && narrow_result();
  }
  if (family == "brev") {
    in.op = Op::kBrev;
    return bits && Operands(in, opcode, statement, {type});
  }
  if (family == "bfe") {
    in.op = Op::kBfe;
    return IsInteger(type, false) && Operands(in, opcode, statement, {type, Type::kU32, Type::kU32});
  }
  if (family == "bfi") {
    in.op = Op::kBfi;
    return bits && Operands(in, opcode, statement, {type, type, Type::kU32, Type::kU32});
  }
  if (family == "bmsk") {
    in.op = Op::kBmsk;
    if (!opcode.Take("clamp")) in.wrap = opcode.Take("wrap");
    return type == Type::kB32 && Operands(in, opcode, statement, {Type::kU32, Type::kU32});
  }
  if (family == "szext") {
    in.op = Op::kSzext;
    if (!opcode.Take("clamp")) in.wrap = opcode.Take("wrap");
    return size == 4 && IsInteger(type) && Operands(in, opcode, statement, {type, Type::kU32});
  }
  if (family == "prmt") {
    in.op = Op::kPrmt;
    PrmtMode mode = PrmtMode::kGeneric;
    opcode.TakeOne(kPrmtModes, mode);
    in.mode = static_cast<uint8_t>(mode);
    return type == Type::kB32 && Operands(in, opcode, statement, {type, type, type});
  }
  if (family == "lop3") {
    in.op = Op::kLop3;
    if (type != Type::kB32 || operands.size() != 5 || operands[4].kind != PtxOperand::Kind::kInteger) return false;
    in.immediate = static_cast<int64_t>(operands[4].bits & 0xff);
    return opcode.Empty() && Def(in, operands[0], RegisterClass::k32) && Use(in, operands[1], type) &&
           Use(in, operands[2], type) && Use(in, operands[3], type) && (Emit(in), true);
  }
  if (family == "shf") {
    in.op = Op::kShf;
    in.mode = opcode.Take("r") ? 1 : 0;
    if (in.mode == 0 && !opcode.Take("l")) return false;
    in.wrap = opcode.Take("wrap");
    if (!in.wrap && !opcode.Take("clamp")) return false;
    return type == Type::kB32 && Operands(in, opcode, statement, {type, type, Type::kU32});
  }
  if (family == "fns") {
    in.op = Op::kFns;
    return type == Type::kB32 && Operands(in, opcode, statement, {Type::kB32, Type::kB32, Type::kS32});
  }
  if (family == "sad") {
    in.op = Op::kSad;
    return IsInteger(type) && Operands(in, opcode, statement, {type, type, type});
  }
  if (family == "copysign") {
    in.op = Op::kCopysign;
    in.count_as = type == Type::kF64 ? core::InstructionClass::kFp64 : core::InstructionClass::kFp32;
    return (type == Type::kF32 || type == Type::kF64) && Operands(in, opcode, statement, {type, type});
  }
  if (family == "testp") {
    in.op = Op::kTestp;
    in.count_as = type == Type::kF64 ? core::InstructionClass::kFp64 : core::InstructionClass::kFp32;
    TestMode mode = TestMode::kFinite;
    if (!opcode.TakeOne(kTests, mode) || (type != Type::kF32 && type != Type::kF64) || operands.size() != 2)
      return false;
    in.mode = static_cast<uint8_t>(mode);
    return opcode.Empty() && Def(in, operands[0], RegisterClass::kPredicate) && Use(in, operands[1], type) &&
           (Emit(in), true);
  }
  return false;
}

// and or xor not cnot shl shr
bool Lowering::Logic(Opcode& opcode, const PtxStatement& statement) {
  const Type type = opcode.type();
  const std::string_view family = opcode.family();
  const auto& operands = statement.operands;
  if (opcode.type_count() != 1 || opcode.sat || opcode.ftz) return false;
  const Op op = family == "and"    ? Op::kAnd
                : family == "or"   ? Op::kOr
                : family == "xor"  ? Op::kXor
                : family == "not"  ? Op::kNot
                : family == "cnot" ? Op::kCnot
                : family == "shl"  ? Op::kShl
                                   : Op::kShr;
  Instruction in = Start(op, type, core::InstructionClass::kInteger);
  if (type == Type::kPred) {
    if (op == Op::kShl || op == Op::kShr || op == Op::kCnot || !opcode.Empty()) return false;
    const size_t uses = op == Op::kNot ? 1 : 2;
    in.mode = static_cast<uint8_t>(op);
    in.op = Op::kPredicateLogic;
    if (operands.size() != uses + 1 || !Def(in, operands[0], RegisterClass::kPredicate)) return false;
    for (size_t i = 1; i <= uses; ++i)
      if (operands[i].negated || !UsePredicate(in, operands[i]) || in.negate_predicate) return false;
    Emit(in);
    return true;
  }
  if (IsFloat(type) || ByteSize(type) < 2 || ByteSize(type) > 8) return false;
  if (op == Op::kShl || op == Op::kShr) return Operands(in, opcode, statement, {type, Type::kU32});
  if (op == Op::kNot || op == Op::kCnot) return Operands(in, opcode, statement, {type});
  return Operands(in, opcode, statement, {type, type});
}

bool Lowering::Dot(Opcode& opcode, const PtxStatement& statement) {
  if (opcode.type_count() != 2) return false;
  Instruction in =
      Start(opcode.family() == "dp4a" ? Op::kDp4a : Op::kDp2a, Type::kB32, core::InstructionClass::kInteger);
  const bool a_signed = opcode.type(0) == Type::kS32, b_signed = opcode.type(1) == Type::kS32;
  if ((!a_signed && opcode.type(0) != Type::kU32) || (!b_signed && opcode.type(1) != Type::kU32)) return false;
  if (in.op == Op::kDp2a && !opcode.TakeOne(kMulModes, in.mul)) return false;
  if (in.mul == MulMode::kWide) return false;
  in.mode = static_cast<uint8_t>((a_signed ? 1 : 0) | (b_signed ? 2 : 0));
  return Operands(in, opcode, statement, {Type::kB32, Type::kB32, Type::kB32});
}

const std::unordered_map<std::string_view, Lowering::Builder>& Lowering::Builders() {
  static const std::unordered_map<std::string_view, Builder> builders = [] {
    std::unordered_map<std::string_view, Builder> map;
    auto add = [&](Builder builder, std::initializer_list<std::string_view> families) {
      for (std::string_view family : families) map[family] = builder;
    };
    add(&Lowering::AddSub, {"add", "sub", "addc", "subc"});
    add(&Lowering::MulMad, {"mul", "mad", "madc", "mul24", "mad24"});
    add(&Lowering::Fma, {"fma"});
    add(&Lowering::DivRem, {"div", "rem"});
    add(&Lowering::Unary, {"abs", "neg"});
    add(&Lowering::MinMax, {"min", "max"});
    add(&Lowering::SpecialFunction, {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"});
    add(&Lowering::Bits, {"popc", "clz", "bfind", "brev", "bfe", "bfi", "bmsk", "szext", "prmt", "lop3", "shf", "fns",
                          "sad", "copysign", "testp"});
    add(&Lowering::Logic, {"and", "or", "xor", "not", "cnot", "shl", "shr"});
    add(&Lowering::Dot, {"dp4a", "dp2a"});
    add(&Lowering::Set, {"set", "setp"});
    add(&Lowering::Select, {"selp", "slct"});
    add(&Lowering::Convert, {"cvt"});
    add(&Lowering::Move, {"mov"});
    add(&Lowering::LoadStore, {"ld", "ldu", "st"});
    add(&Lowering::Atomic, {"atom", "red"});
    add(&Lowering::Cvta, {"cvta"});
    add(&Lowering::IsSpace, {"isspacep"});
    add(&Lowering::NoOperation, {"membar", "fence", "prefetch", "prefetchu", "nanosleep", "pmevent", "discard",
                                 "applypriority", "createpolicy", "griddepcontrol", "setmaxnreg"});
    add(&Lowering::AsyncCopy, {"cp"});
    add(&Lowering::Mbarrier, {"mbarrier"});
    add(&Lowering::Mma, {"mma"});
    add(&Lowering::LoadStoreMatrix, {"ldmatrix", "stmatrix"});
    add(&Lowering::TransposeMatrix, {"movmatrix"});
    add(&Lowering::Wmma, {"wmma"});
    add(&Lowering::Warpgroup, {"wgmma"});
    add(&Lowering::Branch, {"bra"});
    add(&Lowering::Exit, {"exit", "ret", "trap", "brkpt"});
    add(&Lowering::Barrier, {"bar", "barrier"});
    add(&Lowering::Shuffle, {"shfl"});
    add(&Lowering::Vote, {"vote"});
    add(&Lowering::Match, {"match"});
    add(&Lowering::Redux, {"redux"});
    add(&Lowering::ActiveMask, {"activemask"});
    add(&Lowering::Elect, {"elect"});
    return map;
  }();
  return builders;
}

}  // namespace warpwright::sim

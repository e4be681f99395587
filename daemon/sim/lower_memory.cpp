// Loads, stores, atomics and address arithmetic.
#include <algorithm>

#include "sim/lower.h"
#include "sim/memory.h"

namespace warpwright::sim {
namespace {

constexpr std::pair<std::string_view, AtomicOp> kAtomics[] = {
    {"add", AtomicOp::kAdd},   {"min", AtomicOp::kMin}, {"max", AtomicOp::kMax}, {"inc", AtomicOp::kInc},
    {"dec", AtomicOp::kDec},   {"and", AtomicOp::kAnd}, {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor},
    {"exch", AtomicOp::kExch}, {"cas", AtomicOp::kCas}};

bool TakeSpace(Opcode& opcode, Space& space) {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"global", Space::kGlobal},      {"shared", Space::kShared},    {"shared::cta", Space::kShared},
      {"local", Space::kLocal},        {"const", Space::kConst},      {"param", Space::kParam},
      {"param::entry", Space::kParam}, {"param::func", Space::kParam}};
  return opcode.TakeOne(kSpaces, space);
}

core::InstructionClass LoadClass(Space space) {
  switch (space) {
    case Space::kShared: return core::InstructionClass::kSharedLoad;
    case Space::kLocal: return core::InstructionClass::kLocalLoad;
    case Space::kConst:
    case Space::kParam: return core::InstructionClass::kConstantLoad;
    default: return core::InstructionClass::kGlobalLoad;
  }
}
core::InstructionClass StoreClass(Space space) {
  switch (space) {
    case Space::kShared: return core::InstructionClass::kSharedStore;
    case Space::kLocal: return core::InstructionClass::kLocalStore;
    default: return core::InstructionClass::kGlobalStore;
  }
}

// Hints that change neither the result nor what we count; false if one remains.
void TakeHints(Opcode& opcode, Instruction& in, bool& acquires, bool& releases, bool& of_device) {
  of_device = !opcode.Take("cta") && !opcode.Take("cluster");
  for (std::string_view word : {"weak", "gpu", "sys", "unified", "ca", "cs", "lu", "wb", "mmio"}) opcode.Take(word);
  in.read_only |= opcode.Take("nc");
  while (opcode.TakeStartingWith("L1::") || opcode.TakeStartingWith("L2::")) {
  }
  acquires = opcode.Take("acquire");
  releases = opcode.Take("release");
  if (acquires || releases || opcode.Take("volatile") || opcode.Take("relaxed")) in.is_volatile = in.bypass_l1 = true;
  for (std::string_view word : {"cg", "cv", "wt"}) in.bypass_l1 |= opcode.Take(word);
}

}  // namespace

// An entry's parameter at a constant offset: a move from a constant slot.
bool Lowering::LoadParameter(const Opcode& opcode, const PtxStatement& statement, int vector) {
  const Type type = opcode.type();
  const PtxOperand& address = statement.operands[1];
  const uint32_t size = static_cast<uint32_t>(ByteSize(type));
  const auto place = parameters_.find(address.index);
  const PtxVariable& variable = module_.variables[address.index];
  if (address.offset < 0 ||
      static_cast<uint64_t>(address.offset) + size * static_cast<uint64_t>(vector) > variable.bytes)
    return false;
  if (address.offset % size != 0) return false;
  for (int i = 0; i < vector; ++i) {
    const PtxOperand& target =
        vector == 1 ? statement.operands[0] : statement.operands[0].elements[static_cast<size_t>(i)];
    const uint32_t id = AnyRegister(target);
    if (id == kNoOperand && target.kind != PtxOperand::Kind::kSink) return false;
    const bool wide = id == kNoOperand ? size == 8 : out_.registers[id].cls == RegisterClass::k64;
    if (size == 8 && !wide) return false;
    ConstantSlot slot;
    slot.kind = ConstantSlot::Kind::kParameter;
    slot.wide = wide;
    slot.value = place->second + static_cast<uint64_t>(address.offset) + size * static_cast<uint64_t>(i);
    slot.index = size | (IsSigned(type) ? 0x100u : 0);
    Instruction in = Start(Op::kMove, wide ? Type::kB64 : Type::kB32, core::InstructionClass::kConstantLoad);
    in.counted = i == 0 ? 1 : 0;
    if (!Def(in, target, wide ? RegisterClass::k64 : RegisterClass::k32)) return false;
    UseRegister(in, Constant(slot));
    Emit(in);
  }
  return true;
}

bool Lowering::LoadStore(Opcode& opcode, const PtxStatement& statement) {
  const bool load = opcode.family() != "st";
  const auto& operands = statement.operands;
  const Type type = opcode.type();
  if (opcode.type_count() != 1 || type == Type::kPred || type == Type::kB128 || opcode.ftz || opcode.sat) return false;
  Space space = Space::kGeneric;
  TakeSpace(opcode, space);
  Instruction in = Start(load ? Op::kLoad : Op::kStore, type, load ? LoadClass(space) : StoreClass(space));
  bool acquires = false, releases = false, of_device = false;
  TakeHints(opcode, in, acquires, releases, of_device);
  if (space == Space::kParam) in.is_volatile = in.bypass_l1 = false;
  int vector = 1;
  if (opcode.Take("v2")) vector = 2;
  else if (opcode.Take("v4")) vector = 4;
  if (!opcode.Empty() || operands.size() != 2) return false;
  const PtxOperand& data = operands[load ? 0 : 1];
  const PtxOperand& address = operands[load ? 1 : 0];
  if ((data.kind == PtxOperand::Kind::kVector) != (vector > 1)) return false;
  if (vector > 1 && data.elements.size() != static_cast<size_t>(vector)) return false;
  if (ByteSize(type) * vector > 16) return false;
  if (space == Space::kParam) {
    const bool of_entry = address.kind == PtxOperand::Kind::kVariable && parameters_.contains(address.index);
    if (of_entry) return load && LoadParameter(opcode, statement, vector);
    if (address.kind == PtxOperand::Kind::kVariable) {  // of a call: in local memory
      space = Space::kLocal;
      in.count_as = core::InstructionClass::kMove;
    } else if (!load) {
      return false;
    }
  }
  in.space = space;
  in.vector = static_cast<uint8_t>(vector);
  in.site = out_.sites++;
  const bool wide_type = ByteSize(type) == 8;
  // Registers may be wider than the type, all elements alike.
  bool wide = wide_type, first = true;
  for (int i = 0; i < vector; ++i) {
    const PtxOperand& element = vector == 1 ? data : data.elements[static_cast<size_t>(i)];
    const uint32_t id = AnyRegister(element);
    const bool element_wide =
        id == kNoOperand ? (first ? wide_type : wide) : out_.registers[id].cls == RegisterClass::k64;
    if (!first && element_wide != wide) return false;
    wide = element_wide;
    first = false;
    if (wide_type && !wide) return false;
    if (load && !Def(in, element, wide ? RegisterClass::k64 : RegisterClass::k32)) return false;
  }
  if (load) in.wide_result = wide;
  else in.wide_source[0] = wide;
  if (!Address(in, address)) return false;
  if (!load) {
    for (int i = 0; i < vector; ++i)
      if (!Use(in, vector == 1 ? data : data.elements[static_cast<size_t>(i)], wide && !wide_type ? Type::kB64 : type))
        return false;
  }
  out_.has_strong_shared |= in.is_volatile && (space == Space::kShared || space == Space::kGeneric);
  if (space == Space::kShared || space == Space::kGeneric)
    out_.shared_minimum_width = std::min<uint32_t>(out_.shared_minimum_width, static_cast<uint32_t>(ByteSize(type)));
  if (releases) EmitFence(false, of_device);
  Emit(in);
  if (acquires) EmitFence(false, of_device);
  return true;
}

// atom[.sem][.scope][.space].op[.noftz].type d, [a], b[, c] and red without d.
bool Lowering::Atomic(Opcode& opcode, const PtxStatement& statement) {
  const bool reduction = opcode.family() == "red";
  const auto& operands = statement.operands;
  const Type type = opcode.type();
  Space space = Space::kGeneric;
  TakeSpace(opcode, space);
  if (space != Space::kGeneric && space != Space::kGlobal && space != Space::kShared) return false;
  Instruction in = Start(reduction ? Op::kReduction : Op::kAtomic, type, core::InstructionClass::kAtomic);
  const bool both = opcode.Take("acq_rel");
  const bool acquires = opcode.Take("acquire") || both, releases = opcode.Take("release") || both;
  const bool of_device = !opcode.Take("cta");
  for (std::string_view word : {"relaxed", "gpu", "sys", "noftz"}) opcode.Take(word);
  while (opcode.TakeStartingWith("L2::")) return false;  // with a cache policy operand
  AtomicOp op = AtomicOp::kAdd;
  if (!opcode.TakeOne(kAtomics, op) || !opcode.Empty() || opcode.type_count() != 1) return false;
  in.mode = static_cast<uint8_t>(op);
  in.space = space;
  in.of_block = !of_device;
  in.site = out_.sites++;
  const bool bitwise = op == AtomicOp::kAnd || op == AtomicOp::kOr || op == AtomicOp::kXor || op == AtomicOp::kExch ||
                       op == AtomicOp::kCas;
  bool ok = false;
  switch (type) {
    case Type::kB16: ok = op == AtomicOp::kCas; break;
    case Type::kB32:
    case Type::kB64: ok = bitwise; break;
    case Type::kU32: ok = true; break;
    case Type::kS32: ok = op <= AtomicOp::kMax; break;
    case Type::kU64: ok = op <= AtomicOp::kMax || op == AtomicOp::kExch || op == AtomicOp::kCas; break;
    case Type::kS64: ok = op == AtomicOp::kMin || op == AtomicOp::kMax || op == AtomicOp::kAdd; break;
    case Type::kF32:
    case Type::kF64:
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBf16:
    case Type::kBf16x2: ok = op == AtomicOp::kAdd || (type == Type::kF32 && op == AtomicOp::kExch); break;
    default: break;
  }
  if (!ok || (reduction && (op == AtomicOp::kExch || op == AtomicOp::kCas))) return false;
  if (IsFloat(type) && op == AtomicOp::kAdd) in.flops = type == Type::kF16x2 || type == Type::kBf16x2 ? 2 : 1;
  const size_t first = reduction ? 0 : 1, values = op == AtomicOp::kCas ? 2 : 1;
  if (operands.size() != first + 1 + values) return false;
  if (!reduction && !Def(in, operands[0], ClassOf(type))) return false;
  if (!Address(in, operands[first])) return false;
  for (size_t i = 0; i < values; ++i)
    if (!Use(in, operands[first + 1 + i], type)) return false;
  if (space != Space::kShared) out_.info.uses_global_atomics = true;
  out_.has_strong_shared |= space != Space::kGlobal;
  if (ByteSize(type) == 2 && space != Space::kGlobal)
    out_.shared_minimum_width = std::min(out_.shared_minimum_width, 2u);
  if (releases) EmitFence(false, of_device);
  Emit(in);
  if (acquires) EmitFence(false, of_device);
  return true;
}

// `counted`: an instruction of the program; otherwise the implied ordering of `acquire` and `release`, which is
// slightly weaker than a fence. `of_device`: for threads of other blocks too.
void Lowering::EmitFence(bool counted, bool of_device) {
  Instruction fence = Start(Op::kFence, Type::kNone, core::InstructionClass::kOther);
  fence.counted = counted ? 1 : 0;
  fence.mode = of_device ? 1 : 0;
  out_.has_fences = true;
  Emit(fence);
}

// cvta[.to].space.u64 d, a: adding or subtracting the window's base.
bool Lowering::Cvta(Opcode& opcode, const PtxStatement& statement) {
  const bool to = opcode.Take("to");
  Space space = Space::kGeneric;
  if (!TakeSpace(opcode, space) || opcode.type_count() != 1 || opcode.type() != Type::kU64) return false;
  Instruction in = Start(Op::kCvta, Type::kU64, core::InstructionClass::kMove);
  const uint64_t window = WindowBase(space);
  in.immediate = static_cast<int64_t>(to ? 0 - window : window);
  return Operands(in, opcode, statement, {Type::kU64});
}

bool Lowering::IsSpace(Opcode& opcode, const PtxStatement& statement) {
  Instruction in = Start(Op::kIsSpace, Type::kU64, core::InstructionClass::kInteger);
  if (!TakeSpace(opcode, in.space) || !opcode.Empty() || opcode.type_count() != 0 || statement.operands.size() != 2)
    return false;
  if (!Def(in, statement.operands[0], RegisterClass::kPredicate) || !Use(in, statement.operands[1], Type::kU64))
    return false;
  Emit(in);
  return true;
}

// Ordering and hints: the simulator runs in order, and a fence matters only to the race check. createpolicy's result is
// a hint too.
bool Lowering::NoOperation(Opcode& opcode, const PtxStatement& statement) {
  if (opcode.family() == "createpolicy") {
    if (statement.operands.empty()) return false;
    Instruction in = Start(Op::kMove, Type::kB64, core::InstructionClass::kOther);
    if (!Def(in, statement.operands[0], RegisterClass::k64)) return false;
    UseRegister(in, Immediate(0, true));
    Emit(in);
    return true;
  }
  // Bulk copies and tensor maps are not simulated: other proxies than wgmma's need no check.
  const bool proxy = opcode.family() == "fence" && (opcode.Take("proxy") || opcode.TakeStartingWith("mbarrier"));
  if (proxy && (opcode.Take("async") || opcode.Take("async::generic")) && !opcode.Take("global"))
    Emit(Start(Op::kProxyFence, Type::kNone, core::InstructionClass::kOther));
  else if (proxy) Emit(Start(Op::kNop, Type::kNone, core::InstructionClass::kOther));
  else if (opcode.family() == "fence" || opcode.family() == "membar")
    EmitFence(true, !opcode.Take("cta") && !opcode.Take("cluster"));
  else Emit(Start(Op::kNop, Type::kNone, core::InstructionClass::kOther));
  return true;
}

}  // namespace warpwright::sim

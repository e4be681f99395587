#include "sim/lower.h"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/memory.h"

namespace warpwright::sim {
namespace {

constexpr size_t kCodeLimit = 1 << 20;
constexpr size_t kRegisterLimit = 2 << 20;
constexpr size_t kInlineDepth = 64;
constexpr uint64_t kLocalLimit = 512 * 1024;

struct SpecialName {
  std::string_view name;
  ConstantSlot::Kind kind;
};
using Kind = ConstantSlot::Kind;
constexpr SpecialName kSpecials[] = {{"%tid.x", Kind::kTidX},
                                     {"%tid.y", Kind::kTidY},
                                     {"%tid.z", Kind::kTidZ},
                                     {"%ntid.x", Kind::kNtidX},
                                     {"%ntid.y", Kind::kNtidY},
                                     {"%ntid.z", Kind::kNtidZ},
                                     {"%ctaid.x", Kind::kCtaidX},
                                     {"%ctaid.y", Kind::kCtaidY},
                                     {"%ctaid.z", Kind::kCtaidZ},
                                     {"%nctaid.x", Kind::kNctaidX},
                                     {"%nctaid.y", Kind::kNctaidY},
                                     {"%nctaid.z", Kind::kNctaidZ},
                                     {"%laneid", Kind::kLaneId},
                                     {"%warpid", Kind::kWarpId},
                                     {"%nwarpid", Kind::kNWarpId},
                                     {"%lanemask_eq", Kind::kLanemaskEq},
                                     {"%lanemask_le", Kind::kLanemaskLe},
                                     {"%lanemask_lt", Kind::kLanemaskLt},
                                     {"%lanemask_ge", Kind::kLanemaskGe},
                                     {"%lanemask_gt", Kind::kLanemaskGt},
                                     {"%smid", Kind::kSmId},
                                     {"%nsmid", Kind::kNSmId},
                                     {"%gridid", Kind::kGridId},
                                     {"%envreg1", Kind::kGridWorkspaceHigh},
                                     {"%envreg2", Kind::kGridWorkspaceLow},
                                     {"%total_smem_size", Kind::kTotalSharedSize},
                                     {"%dynamic_smem_size", Kind::kDynamicSharedSize}};

// "_ZZ6kernelE4tile" is tile.
std::string PlainName(std::string_view name) {
  std::string text(name);
  int status = 0;
  if (!name.starts_with("_Z")) return text;
  if (char* demangled = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status)) {
    text = demangled;
    std::free(demangled);
  }
  const size_t colons = text.rfind("::");
  return colons == std::string::npos ? text : text.substr(colons + 2);
}

// A number as the bits of `type`.
uint64_t LiteralBits(const PtxOperand& operand, Type type) {
  const bool wide_float = operand.kind == PtxOperand::Kind::kFloat64;
  if (operand.kind == PtxOperand::Kind::kInteger) return operand.bits;
  const double value = wide_float ? std::bit_cast<double>(operand.bits)
                                  : static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(operand.bits)));
  if (type == Type::kF64 || type == Type::kB64) return wide_float ? operand.bits : std::bit_cast<uint64_t>(value);
  if (type == Type::kF32 || type == Type::kB32)
    return wide_float ? std::bit_cast<uint32_t>(static_cast<float>(value)) : operand.bits;
  return operand.bits;
}

}  // namespace

int ByteSize(Type type) {
  switch (type) {
    case Type::kNone: return 0;
    case Type::kPred:
    case Type::kB8:
    case Type::kU8:
    case Type::kS8: return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16: return 2;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64: return 8;
    case Type::kB128: return 16;
    default: return 4;
  }
}

bool IsSigned(Type type) { return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64; }

bool IsFloat(Type type) { return type >= Type::kF16; }

RegisterClass ClassOf(Type type) {
  return type == Type::kPred   ? RegisterClass::kPredicate
         : ByteSize(type) == 8 ? RegisterClass::k64
                               : RegisterClass::k32;
}

uint32_t Lowering::NewRegister(RegisterClass cls) {
  out_.registers.push_back(VirtualRegister{cls, -1});
  return static_cast<uint32_t>(out_.registers.size() - 1);
}

uint32_t Lowering::NewLabel() {
  out_.labels.push_back(kNoBlock);
  return static_cast<uint32_t>(out_.labels.size() - 1);
}

uint32_t Lowering::Constant(ConstantSlot slot) {
  auto [known, inserted] = interned_.try_emplace({static_cast<int>(slot.kind), slot.wide, slot.value, slot.index}, 0);
  if (inserted) {
    known->second = NewRegister(slot.kind == Kind::kPredicateTrue ? RegisterClass::kPredicate
                                : slot.wide                       ? RegisterClass::k64
                                                                  : RegisterClass::k32);
    out_.registers[known->second].constant = static_cast<int>(out_.constants.size());
    out_.constants.push_back(slot);
  }
  return known->second;
}

uint32_t Lowering::Immediate(uint64_t bits, bool wide) {
  ConstantSlot slot;
  slot.wide = wide;
  slot.value = wide ? bits : bits & UINT32_MAX;
  return Constant(slot);
}

Instruction Lowering::Start(Op op, Type type, core::InstructionClass cls) const {
  Instruction in;
  in.op = op;
  in.type = type;
  in.count_as = cls;
  in.line = statement_->location;
  if (statement_->guard != UINT32_MAX) {
    in.guard = frame_->register_base + statement_->guard;
    in.guard_negated = statement_->guard_negated;
  }
  return in;
}

Instruction& Lowering::Emit(const Instruction& instruction) {
  emitting_ = true;
  if (out_.code.size() > kCodeLimit || out_.registers.size() > kRegisterLimit) too_large_ = true;
  out_.code.push_back(instruction);
  return out_.code.back();
}

bool Lowering::Unsupported(const PtxStatement& statement, std::string_view why) {
  Instruction in = Start(Op::kUnsupported, Type::kNone, core::InstructionClass::kOther);
  if (in.guard != kNoOperand && out_.registers[in.guard].cls != RegisterClass::kPredicate) in.guard = kNoOperand;
  in.text = static_cast<uint32_t>(texts_.size());
  texts_.push_back(fmt::format("not simulated: {}{} at line {} of the PTX", statement.opcode,
                               why.empty() ? "" : fmt::format(" ({})", why), statement.line));
  Emit(in);
  return true;
}

uint32_t Lowering::AnyRegister(const PtxOperand& operand) const {
  return operand.kind == PtxOperand::Kind::kRegister && !operand.memory ? frame_->register_base + operand.index
                                                                        : kNoOperand;
}

bool Lowering::UseRegister(Instruction& in, uint32_t id) {
  if (in.operands >= kMaxOperands) return false;
  in.reg.Resize(in.operands + 1);
  in.reg[in.operands++] = id;
  return true;
}

bool Lowering::Def(Instruction& in, const PtxOperand& operand, RegisterClass cls) {
  if (in.operands != in.defs || operand.memory || operand.negated) return false;
  uint32_t id = kNoOperand;
  if (operand.kind == PtxOperand::Kind::kSink) id = NewRegister(cls);
  else if (operand.kind == PtxOperand::Kind::kRegister && operand.offset == 0)
    id = frame_->register_base + operand.index;
  if (id == kNoOperand || out_.registers[id].cls != cls) return false;
  ++in.defs;
  return UseRegister(in, id);
}

bool Lowering::Use(Instruction& in, const PtxOperand& operand, Type type) {
  const RegisterClass cls = ClassOf(type);
  const bool wide = cls == RegisterClass::k64;
  if (operand.memory || operand.negated) return false;
  uint32_t id = kNoOperand;
  switch (operand.kind) {
    case PtxOperand::Kind::kRegister:
      if (operand.offset != 0) return false;
      id = frame_->register_base + operand.index;
      break;
    case PtxOperand::Kind::kInteger:
    case PtxOperand::Kind::kFloat32:
    case PtxOperand::Kind::kFloat64:
      if (cls == RegisterClass::kPredicate) return false;
      id = Immediate(LiteralBits(operand, type), wide);
      break;
    case PtxOperand::Kind::kSpecial:
      if (!Special(operand.text, type, id)) return false;
      break;
    case PtxOperand::Kind::kVariable:
      if (!VariableAddress(operand.index, operand.offset, id)) return false;
      if (!wide && cls == RegisterClass::k32 && out_.registers[id].constant >= 0) {
        // mov.u32 of a shared or local variable's address.
        ConstantSlot slot = out_.constants[static_cast<size_t>(out_.registers[id].constant)];
        if (slot.kind == Kind::kVariable) return false;
        slot.wide = false;
        id = Constant(slot);
      }
      break;
    default: return false;
  }
  if (out_.registers[id].cls != cls) return false;
  return UseRegister(in, id);
}

bool Lowering::UsePredicate(Instruction& in, const PtxOperand& operand) {
  if (operand.memory) return false;
  uint32_t id = kNoOperand;
  if (operand.kind == PtxOperand::Kind::kRegister) {
    id = frame_->register_base + operand.index;
    in.negate_predicate = operand.negated;
  } else if (operand.kind == PtxOperand::Kind::kInteger) {
    ConstantSlot slot;
    slot.kind = Kind::kPredicateTrue;
    id = Constant(slot);
    in.negate_predicate = (operand.bits == 0) != operand.negated;
  }
  if (id == kNoOperand || out_.registers[id].cls != RegisterClass::kPredicate) return false;
  return UseRegister(in, id);
}

uint32_t Lowering::SharedOffset(uint32_t variable) {
  const PtxVariable& v = module_.variables[variable];
  auto [known, inserted] = shared_.try_emplace(variable, 0);
  if (inserted) {
    const uint64_t offset = AlignUp(out_.info.static_shared_bytes, v.alignment);
    if (offset + v.bytes > 4u << 20) {
      too_large_ = true;
      return 0;
    }
    known->second = static_cast<uint32_t>(offset);
    out_.info.static_shared_bytes = static_cast<uint32_t>(offset + v.bytes);
    out_.shared_names.emplace_back(known->second, PlainName(v.name));
  }
  return known->second;
}

uint32_t Lowering::LocalOffset(uint32_t variable) {
  const PtxVariable& v = module_.variables[variable];
  auto [known, inserted] = frame_->locations.try_emplace(variable, 0);
  if (inserted) {
    local_bytes_ = AlignUp(local_bytes_, std::max<uint32_t>(v.alignment, 8));
    known->second = static_cast<uint32_t>(local_bytes_);
    local_bytes_ += v.bytes;
    if (local_bytes_ > kLocalLimit) {
      too_large_ = true;
      local_bytes_ = 0;
    }
  }
  return known->second;
}

bool Lowering::VariableAddress(uint32_t variable, int64_t offset, uint32_t& id) {
  const PtxVariable& v = module_.variables[variable];
  ConstantSlot slot;
  slot.wide = true;
  switch (v.space) {
    case Space::kShared:
      if (v.external) {
        slot.kind = Kind::kDynamicShared;
        slot.value = static_cast<uint64_t>(offset);
        if (shared_.try_emplace(variable, 0).second) slot.index = 0;
      } else {
        slot.value = SharedOffset(variable) + static_cast<uint64_t>(offset);
      }
      break;
    case Space::kLocal: slot.value = LocalOffset(variable) + static_cast<uint64_t>(offset); break;
    case Space::kParam: {
      auto parameter = parameters_.find(variable);
      slot.value =
          (parameter != parameters_.end() ? parameter->second : LocalOffset(variable)) + static_cast<uint64_t>(offset);
      break;
    }
    default:
      if (variable_index_[variable] == kNoOperand) return false;
      slot.kind = Kind::kVariable;
      slot.index = variable_index_[variable];
      slot.value = static_cast<uint64_t>(offset);
  }
  id = Constant(slot);
  return true;
}

bool Lowering::Special(std::string_view name, Type type, uint32_t& id) {
  const bool wide = ByteSize(type) == 8;
  if (name == "WARP_SZ") {
    id = Immediate(32, wide);
    return true;
  }
  for (const SpecialName& special : kSpecials) {
    if (special.name != name) continue;
    ConstantSlot slot;
    slot.kind = special.kind;
    slot.wide = wide;
    id = Constant(slot);
    return true;
  }
  return false;
}

bool Lowering::Address(Instruction& in, const PtxOperand& operand) {
  if (!operand.memory) return false;
  uint32_t id = kNoOperand;
  in.immediate = operand.offset;
  if (operand.kind == PtxOperand::Kind::kRegister) {
    id = frame_->register_base + operand.index;
    if (out_.registers[id].cls == RegisterClass::kPredicate) return false;
  } else if (operand.kind == PtxOperand::Kind::kVariable) {
    if (!VariableAddress(operand.index, operand.offset, id)) return false;
    in.immediate = 0;
  } else if (operand.kind == PtxOperand::Kind::kInteger) {
    id = Immediate(operand.bits, true);
    in.immediate = 0;
  } else {
    return false;
  }
  in.address64 = out_.registers[id].cls == RegisterClass::k64;
  return UseRegister(in, id);
}

bool Lowering::Operands(Instruction in, const Opcode& opcode, const PtxStatement& statement,
                        std::initializer_list<Type> uses) {
  if (!opcode.Empty() || statement.operands.size() != uses.size() + 1) return false;
  const bool wide_product = in.mul == MulMode::kWide;
  RegisterClass result = ClassOf(in.type);
  if (wide_product && ByteSize(in.type) == 4) result = RegisterClass::k64;
  if (!Def(in, statement.operands[0], result)) return false;
  size_t i = 1;
  for (Type type : uses)
    if (!Use(in, statement.operands[i++], type)) return false;
  Emit(in);
  return true;
}

void Lowering::Statement(const PtxStatement& statement) {
  if (statement.guard != UINT32_MAX &&
      out_.registers[frame_->register_base + statement.guard].cls != RegisterClass::kPredicate) {
    Unsupported(statement, "its guard is not a predicate");
    return;
  }
  if (statement.opcode == "call" || statement.opcode.starts_with("call.")) {
    if (!Call(statement)) Unsupported(statement);
    return;
  }
  Opcode opcode(statement.opcode);
  auto builder = Builders().find(opcode.family());
  emitting_ = false;
  if (builder == Builders().end() || !(this->*builder->second)(opcode, statement)) Unsupported(statement);
}

bool Lowering::Body(const PtxFunction& function, Frame& frame) {
  Frame* caller = frame_;
  const PtxStatement* calling = statement_;
  frame_ = &frame;
  frame.function = &function;
  frame.register_base = static_cast<uint32_t>(out_.registers.size());
  for (Type type : function.registers) NewRegister(ClassOf(type));
  frame.label_base = static_cast<uint32_t>(out_.labels.size());
  out_.labels.resize(out_.labels.size() + function.statements.size(), kNoBlock);
  stack_.push_back(&function);
  for (size_t i = 0; i < function.statements.size() && !too_large_; ++i) {
    const PtxStatement& statement = function.statements[i];
    out_.labels[frame.label_base + i] = static_cast<uint32_t>(out_.code.size());
    statement_ = &statement;
    if (!statement.opcode.empty()) Statement(statement);
    if (out_.registers.size() > kRegisterLimit || out_.labels.size() > (8u << 20)) too_large_ = true;
  }
  out_.labels[frame.return_label] = static_cast<uint32_t>(out_.code.size());
  stack_.pop_back();
  frame_ = caller;
  statement_ = calling;
  return !too_large_;
}

Result<Lowered> Lowering::Lower(uint32_t index) {
  const PtxFunction& function = module_.functions[index];
  out_.info.symbol = std::string(function.name);
  out_.info.max_threads_per_block = function.max_threads;
  uint64_t offset = 0;
  for (uint32_t variable : function.parameters) {
    const PtxVariable& v = module_.variables[variable];
    offset = AlignUp(offset, v.alignment);
    parameters_[variable] = static_cast<uint32_t>(offset);
    out_.info.parameters.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(v.bytes)});
    offset += v.bytes;
    if (offset > 64 * 1024)
      return Fail(ErrorCode::kCorrupt, "kernel " + out_.info.symbol + " has too many parameter bytes");
  }
  out_.info.parameter_bytes = static_cast<uint32_t>(offset);
  Frame frame;
  frame.top = true;
  frame.return_label = NewLabel();
  if (!Body(function, frame))
    return Fail(ErrorCode::kUnsupported, "kernel " + out_.info.symbol + " is too large to simulate after inlining");
  uint32_t branches = 0;
  for (Instruction& in : out_.code)
    if ((in.op == Op::kBranch && in.operands > 0) || (in.op == Op::kExit && in.guard != kNoOperand))
      in.branch = branches++;
  for (uint32_t& label : out_.labels) label = std::min<uint32_t>(label, static_cast<uint32_t>(out_.code.size()));
  const uint64_t dynamic = AlignUp(out_.info.static_shared_bytes, 16);
  bool uses_dynamic = false;
  for (ConstantSlot& slot : out_.constants) {
    if (slot.kind != Kind::kDynamicShared) continue;
    uses_dynamic = true;
    slot.kind = Kind::kValue;
    slot.value += dynamic;
  }
  if (uses_dynamic)
    for (const auto& [variable, place] : shared_)
      if (module_.variables[variable].external)
        out_.shared_names.emplace_back(static_cast<uint32_t>(dynamic), PlainName(module_.variables[variable].name));
  std::sort(out_.shared_names.begin(), out_.shared_names.end());
  out_.info.local_bytes = static_cast<uint32_t>(AlignUp(local_bytes_, 16));
  out_.info.instructions = out_.code.size();
  return std::move(out_);
}

}  // namespace warpwright::sim

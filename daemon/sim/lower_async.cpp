// Asynchronous copies from global to shared memory.
#include "sim/lower.h"

namespace warpwright::sim {

bool Lowering::AsyncCopy(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  if (!opcode.Take("async")) return false;
  if (opcode.Take("commit_group")) {
    if (!opcode.Empty() || !operands.empty()) return false;
    Emit(Start(Op::kAsyncCommit, Type::kNone, core::InstructionClass::kOther));
    return true;
  }
  const bool all = opcode.Take("wait_all");
  if (all || opcode.Take("wait_group")) {
    if (!opcode.Empty() || operands.size() != (all ? 0 : 1)) return false;
    Instruction in = Start(Op::kAsyncWait, Type::kNone, core::InstructionClass::kOther);
    in.mode = all ? 1 : 0;
    if (!all) {
      if (operands[0].kind != PtxOperand::Kind::kInteger || operands[0].bits > 1 << 20) return false;
      in.immediate = static_cast<int64_t>(operands[0].bits);
    }
    Emit(in);
    return true;
  }
  if (opcode.Take("mbarrier")) return CopiesArrive(opcode, statement);
  return CopyToShared(opcode, statement);
}

// cp.async.ca.shared.global [d], [s], 16[, bytes that are read]; or a predicate: nothing is read.
bool Lowering::CopyToShared(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  Instruction in = Start(Op::kAsyncCopy, Type::kB32, core::InstructionClass::kGlobalLoad);
  in.bypass_l1 = opcode.Take("cg");
  if (!in.bypass_l1 && !opcode.Take("ca")) return false;
  const bool shared = opcode.Take("shared") || opcode.Take("shared::cta");
  if (!shared || !opcode.Take("global") || opcode.type_count() != 0) return false;
  bool policy = false;
  while (opcode.TakeStartingWith("L2::cache_hint")) policy = true;
  while (opcode.TakeStartingWith("L2::")) {
  }
  const size_t given = operands.size() - (policy ? 1 : 0);
  if (!opcode.Empty() || operands.size() < 3 || given < 3 || given > 4) return false;
  if (!operands[0].memory || operands[2].kind != PtxOperand::Kind::kInteger) return false;
  const uint64_t bytes = operands[2].bits;
  if (bytes != 16 && (in.bypass_l1 || (bytes != 4 && bytes != 8))) return false;

  Instruction target = Start(Op::kAdd, Type::kU32, core::InstructionClass::kInteger);
  if (!Address(target, operands[0])) return false;
  uint32_t address = target.reg[0];
  in.wide_source[0] = target.address64;
  if (target.immediate != 0) {  // an instruction has one offset: that of the source
    Instruction add = Start(Op::kAdd, target.address64 ? Type::kU64 : Type::kU32, core::InstructionClass::kInteger);
    add.counted = 0;
    add.defs = add.operands = 1;
    add.reg[0] = NewRegister(target.address64 ? RegisterClass::k64 : RegisterClass::k32);
    UseRegister(add, address);
    UseRegister(add, Immediate(static_cast<uint64_t>(target.immediate), target.address64));
    address = add.reg[0];
    Emit(add);
  }
  in.space = Space::kGlobal;
  in.vector = static_cast<uint8_t>(bytes);
  in.site = out_.sites;
  UseRegister(in, address);
  if (!Address(in, operands[1])) return false;
  if (given == 4) {
    const uint32_t id = AnyRegister(operands[3]);
    in.mode = id != kNoOperand && out_.registers[id].cls == RegisterClass::kPredicate ? 1 : 0;
    if (!(in.mode != 0 ? UsePredicate(in, operands[3]) : Use(in, operands[3], Type::kU32))) return false;
  }
  out_.sites += 2;  // patterns of the source and of the target
  out_.has_async_copies = true;
  Emit(in);
  return true;
}

}  // namespace warpwright::sim

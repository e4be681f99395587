// Barriers in memory, at which threads and asynchronous copies arrive.
#include "sim/exec/mbarrier.h"
#include "sim/lower.h"

namespace warpwright::sim {
namespace {

bool TakeSharedCta(Opcode& opcode, Instruction& in) {
  in.space = opcode.Take("shared") || opcode.Take("shared::cta") ? Space::kShared : Space::kGeneric;
  for (std::string_view word : {"release", "acquire", "relaxed", "cta", "gpu", "cluster"}) opcode.Take(word);
  return opcode.Empty() && opcode.type_count() == 1 && opcode.type() == Type::kB64;
}

}  // namespace

// mbarrier.init [a], count; mbarrier.arrive state, [a][, count]; mbarrier.try_wait.parity p, [a], parity[, time]
bool Lowering::Mbarrier(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  static constexpr std::pair<std::string_view, MbarrierOp> kOps[] = {{"init", MbarrierOp::kInit},
                                                                     {"inval", MbarrierOp::kInvalidate},
                                                                     {"arrive", MbarrierOp::kArrive},
                                                                     {"arrive_drop", MbarrierOp::kArriveDrop},
                                                                     {"test_wait", MbarrierOp::kTestState},
                                                                     {"try_wait", MbarrierOp::kTestState},
                                                                     {"pending_count", MbarrierOp::kPendingCount}};
  MbarrierOp op = MbarrierOp::kInit;
  const bool hint = opcode.Take("try_wait");
  if (hint) op = MbarrierOp::kTestState;
  else if (!opcode.TakeOne(kOps, op)) {
    op = opcode.Take("expect_tx") ? MbarrierOp::kExpect : MbarrierOp::kComplete;
    if (op == MbarrierOp::kComplete && !opcode.Take("complete_tx")) return false;
  }
  if (op == MbarrierOp::kArrive && opcode.Take("expect_tx")) op = MbarrierOp::kArriveExpect;
  if (op == MbarrierOp::kTestState && opcode.Take("parity")) op = MbarrierOp::kTestParity;
  opcode.Take("noComplete");
  Instruction in = Start(Op::kMbarrier, Type::kB64, core::InstructionClass::kBarrier);
  in.mode = static_cast<uint8_t>(op);
  in.site = out_.sites++;
  if (!TakeSharedCta(opcode, in)) return false;

  const bool arrives = op == MbarrierOp::kArrive || op == MbarrierOp::kArriveDrop || op == MbarrierOp::kArriveExpect;
  const bool waits = op == MbarrierOp::kTestState || op == MbarrierOp::kTestParity;
  size_t at = 0;
  if (op == MbarrierOp::kPendingCount) {
    if (operands.size() != 2 || !Def(in, operands[0], RegisterClass::k32) || !Use(in, operands[1], Type::kB64))
      return false;
    Emit(in);
    return true;
  }
  if (operands.size() < (arrives || waits ? 2u : 1u)) return false;
  if (arrives && !Def(in, operands[at++], RegisterClass::k64)) return false;
  if (waits && !Def(in, operands[at++], RegisterClass::kPredicate)) return false;
  if (!Address(in, operands[at++])) return false;
  const bool optional = op == MbarrierOp::kArrive || op == MbarrierOp::kArriveDrop,
             none = op == MbarrierOp::kInvalidate;
  if (!none && (at < operands.size() || !optional)) {
    if (at >= operands.size()) return false;
    if (!Use(in, operands[at++], op == MbarrierOp::kTestState ? Type::kB64 : Type::kU32)) return false;
  }
  if (hint && at < operands.size()) ++at;  // how long to wait
  if (at != operands.size()) return false;
  EmitMbarrier(in);
  return true;
}

// cp.async.mbarrier.arrive[.noinc].shared.b64 [a]
bool Lowering::CopiesArrive(Opcode& opcode, const PtxStatement& statement) {
  Instruction in = Start(Op::kMbarrier, Type::kB64, core::InstructionClass::kBarrier);
  if (!opcode.Take("arrive")) return false;
  in.mode = static_cast<uint8_t>(opcode.Take("noinc") ? MbarrierOp::kCopiesArriveNoInc : MbarrierOp::kCopiesArrive);
  in.site = out_.sites++;
  if (!TakeSharedCta(opcode, in) || statement.operands.size() != 1 || !Address(in, statement.operands[0])) return false;
  EmitMbarrier(in);
  return true;
}

void Lowering::EmitMbarrier(const Instruction& in) {
  out_.has_fences = out_.has_strong_shared = true;  // its orderings are tracked like those of atomics and fences
  Emit(in);
}

}  // namespace warpwright::sim

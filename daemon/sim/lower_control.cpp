// Branches, calls, barriers and exchanges between lanes.
#include <fmt/format.h>

#include "sim/lower.h"

namespace warpwright::sim {
namespace {

constexpr std::pair<std::string_view, ShuffleMode> kShuffles[] = {
    {"up", ShuffleMode::kUp}, {"down", ShuffleMode::kDown}, {"bfly", ShuffleMode::kBfly}, {"idx", ShuffleMode::kIdx}};
constexpr std::pair<std::string_view, VoteMode> kVotes[] = {
    {"all", VoteMode::kAll}, {"any", VoteMode::kAny}, {"uni", VoteMode::kUni}, {"ballot", VoteMode::kBallot}};
constexpr size_t kDepthLimit = 64;

}  // namespace

// The guard of a branch is its operand.
bool Lowering::Branch(Opcode& opcode, const PtxStatement& statement) {
  opcode.Take("uni");
  if (!opcode.Empty() || statement.operands.size() != 1 || statement.operands[0].kind != PtxOperand::Kind::kLabel)
    return false;
  Instruction in = Start(Op::kBranch, Type::kNone, core::InstructionClass::kControl);
  if (in.guard != kNoOperand) {
    UseRegister(in, in.guard);
    in.negate_predicate = in.guard_negated;
    in.guard = kNoOperand;
  }
  in.block = frame_->label_base + statement.operands[0].index;
  Emit(in);
  return true;
}

bool Lowering::Exit(Opcode& opcode, const PtxStatement& statement) {
  opcode.Take("uni");
  if (!opcode.Empty() || !statement.operands.empty()) return false;
  const std::string_view family = opcode.family();
  if (family == "ret" && !frame_->top) {
    Instruction in = Start(Op::kBranch, Type::kNone, core::InstructionClass::kControl);
    if (in.guard != kNoOperand) {
      UseRegister(in, in.guard);
      in.negate_predicate = in.guard_negated;
      in.guard = kNoOperand;
    }
    in.block = frame_->return_label;
    Emit(in);
    return true;
  }
  Instruction in =
      Start(family == "ret" || family == "exit" ? Op::kExit : Op::kTrap, Type::kNone, core::InstructionClass::kControl);
  if (in.op == Op::kTrap) {
    in.text = static_cast<uint32_t>(texts_.size());
    texts_.push_back(std::string(family) + " executed");
  }
  Emit(in);
  return true;
}

// The value that the caller stored in a .param variable.
bool Lowering::LoadArgument(const PtxOperand& operand, Type type, uint32_t& id) {
  if (operand.kind != PtxOperand::Kind::kVariable || module_.variables[operand.index].space != Space::kParam)
    return false;
  Instruction in = Start(Op::kLoad, type, core::InstructionClass::kMove);
  in.counted = 0;
  in.space = Space::kLocal;
  in.site = out_.sites++;
  in.wide_result = ByteSize(type) == 8;
  id = NewRegister(ClassOf(type));
  in.defs = in.operands = 1;
  in.reg[0] = id;
  UseRegister(in, Immediate(LocalOffset(operand.index), true));
  Emit(in);
  return true;
}

bool Lowering::CallMarker(const PtxStatement& statement, const core::MarkerCall& call) {
  const auto& arguments = statement.arguments;
  const Type type = call.single ? Type::kF32 : Type::kF64;
  if (arguments.size() != call.marker->arity || statement.results.size() != 1 ||
      statement.results[0].kind != PtxOperand::Kind::kVariable)
    return false;
  uint32_t values[2] = {};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!LoadArgument(arguments[i], type, values[i])) return false;
  Instruction in = Start(Op::kMathCall, type, core::InstructionClass::kSfu);
  in.mode = static_cast<uint8_t>(call.marker->function);
  const uint32_t value = NewRegister(ClassOf(type));
  in.defs = in.operands = 1;
  in.reg[0] = value;
  for (size_t i = 0; i < arguments.size(); ++i) UseRegister(in, values[i]);
  Emit(in);
  Instruction result = Start(Op::kStore, type, core::InstructionClass::kMove);
  result.counted = 0;
  result.space = Space::kLocal;
  result.site = out_.sites++;
  result.wide_source[0] = type == Type::kF64;
  UseRegister(result, Immediate(LocalOffset(statement.results[0].index), true));
  UseRegister(result, value);
  Emit(result);
  return true;
}

bool Lowering::CallKnown(const PtxStatement& statement, std::string_view name) {
  if (const core::MarkerCall call = core::FindMarkerCall(name); call.marker) return CallMarker(statement, call);
  const auto& arguments = statement.arguments;
  if (name == "vprintf") {
    uint32_t format = 0, list = 0;
    if (arguments.size() != 2 || !LoadArgument(arguments[0], Type::kU64, format) ||
        !LoadArgument(arguments[1], Type::kU64, list))
      return false;
    Instruction in = Start(Op::kPrint, Type::kU64, core::InstructionClass::kControl);
    UseRegister(in, format);
    UseRegister(in, list);
    Emit(in);
    if (statement.results.size() == 1 && statement.results[0].kind == PtxOperand::Kind::kVariable) {
      Instruction result = Start(Op::kStore, Type::kU32, core::InstructionClass::kMove);
      result.counted = 0;
      result.space = Space::kLocal;
      result.site = out_.sites++;
      UseRegister(result, Immediate(LocalOffset(statement.results[0].index), true));
      UseRegister(result, Immediate(0, false));
      Emit(result);
    }
    return true;
  }
  if (name == "__assertfail") {
    uint32_t message = 0, file = 0, line = 0;
    if (arguments.size() != 5 || !LoadArgument(arguments[0], Type::kU64, message) ||
        !LoadArgument(arguments[1], Type::kU64, file) || !LoadArgument(arguments[2], Type::kU32, line))
      return false;
    Instruction in = Start(Op::kAssertFail, Type::kU64, core::InstructionClass::kControl);
    UseRegister(in, message);
    UseRegister(in, file);
    UseRegister(in, line);
    Emit(in);
    return true;
  }
  return Unsupported(statement, fmt::format("function {} has no body", name));
}

bool Lowering::Call(const PtxStatement& statement) {
  const PtxOperand& target = statement.operands[0];
  if (target.kind != PtxOperand::Kind::kFunction) return Unsupported(statement, "an indirect call");
  const PtxFunction& callee = module_.functions[target.index];
  if (!callee.has_body) return CallKnown(statement, callee.name);
  for (const PtxFunction* active : stack_)
    if (active == &callee) return Unsupported(statement, fmt::format("{} calls itself", callee.name));
  if (stack_.size() >= kDepthLimit) return Unsupported(statement, "calls nested too deeply");
  if (statement.arguments.size() != callee.parameters.size() || statement.results.size() != callee.results.size())
    return false;
  Frame frame;
  auto bind = [&](const std::vector<PtxOperand>& actual, const std::vector<uint32_t>& formal) {
    for (size_t i = 0; i < actual.size(); ++i) {
      if (actual[i].kind != PtxOperand::Kind::kVariable) return false;
      const PtxVariable& from = module_.variables[actual[i].index];
      if (from.space != Space::kParam || from.bytes < module_.variables[formal[i]].bytes) return false;
      frame.locations[formal[i]] = LocalOffset(actual[i].index);
    }
    return true;
  };
  if (!bind(statement.arguments, callee.parameters) || !bind(statement.results, callee.results)) return false;
  // A guarded call is a branch around the inlined body.
  Instruction in = Start(Op::kBranch, Type::kNone, core::InstructionClass::kControl);
  frame.return_label = NewLabel();
  if (in.guard != kNoOperand) {
    UseRegister(in, in.guard);
    in.negate_predicate = !in.guard_negated;
    in.guard = kNoOperand;
    in.block = frame.return_label;
  } else {
    in.op = Op::kNop;
  }
  Emit(in);
  Body(callee, frame);
  return true;
}

bool Lowering::Barrier(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  opcode.Take("cta");
  if (opcode.Take("warp")) {
    if (!opcode.Take("sync") || !opcode.Empty() || operands.size() != 1) return false;
    Instruction in = Start(Op::kWarpBarrier, Type::kNone, core::InstructionClass::kWarp);
    if (!Use(in, operands[0], Type::kU32)) return false;
    Emit(in);
    return true;
  }
  Instruction in = Start(Op::kBarrier, opcode.type(), core::InstructionClass::kBarrier);
  in.aligned = opcode.family() == "bar" || opcode.Take("aligned");
  size_t at = 0;
  if (opcode.Take("arrive")) {
    in.op = Op::kBarrierArrive;
    if (operands.size() != 2) return false;
  } else if (opcode.Take("red")) {
    in.op = Op::kBarrierReduce;
    VoteMode mode = VoteMode::kBallot;  // popc
    if (opcode.Take("and")) mode = VoteMode::kAll;
    else if (opcode.Take("or")) mode = VoteMode::kAny;
    else if (!opcode.Take("popc")) return false;
    in.mode = static_cast<uint8_t>(mode);
    if (operands.size() < 3 || operands.size() > 4) return false;
    if (!Def(in, operands[at++], mode == VoteMode::kBallot ? RegisterClass::k32 : RegisterClass::kPredicate))
      return false;
  } else {
    opcode.Take("sync");
    if (operands.empty() || operands.size() > 2) return false;
  }
  if (!opcode.Empty()) return false;
  const size_t end = operands.size() - (in.op == Op::kBarrierReduce ? 1 : 0);
  in.vector = static_cast<uint8_t>(end - at);  // the number, and perhaps a count
  for (; at < end; ++at)
    if (!Use(in, operands[at], Type::kU32)) return false;
  if (in.op == Op::kBarrierReduce && !UsePredicate(in, operands[end])) return false;
  if (in.op == Op::kBarrierReduce && in.guard != kNoOperand) return Unsupported(statement, "a guarded reduction");
  Emit(in);
  return true;
}

// shfl.sync.mode.b32 d[|p], a, b, c, membermask
bool Lowering::Shuffle(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  ShuffleMode mode = ShuffleMode::kIdx;
  if (!opcode.Take("sync") || !opcode.TakeOne(kShuffles, mode) || !opcode.Empty() || opcode.type() != Type::kB32)
    return false;
  if (operands.size() != 5) return false;
  Instruction in = Start(Op::kShuffle, Type::kB32, core::InstructionClass::kWarp);
  in.mode = static_cast<uint8_t>(mode);
  if (operands[0].kind == PtxOperand::Kind::kVector) {
    if (operands[0].elements.size() != 2 || !Def(in, operands[0].elements[0], RegisterClass::k32) ||
        !Def(in, operands[0].elements[1], RegisterClass::kPredicate))
      return false;
  } else if (!Def(in, operands[0], RegisterClass::k32)) {
    return false;
  }
  for (size_t i = 1; i < 5; ++i)
    if (!Use(in, operands[i], Type::kB32)) return false;
  Emit(in);
  return true;
}

bool Lowering::Vote(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  VoteMode mode = VoteMode::kAll;
  if (!opcode.Take("sync") || !opcode.TakeOne(kVotes, mode) || !opcode.Empty() || operands.size() != 3) return false;
  Instruction in = Start(Op::kVote, opcode.type(), core::InstructionClass::kWarp);
  in.mode = static_cast<uint8_t>(mode);
  const bool ballot = mode == VoteMode::kBallot;
  if (opcode.type() != (ballot ? Type::kB32 : Type::kPred)) return false;
  if (!Def(in, operands[0], ballot ? RegisterClass::k32 : RegisterClass::kPredicate)) return false;
  // The mask before the predicate, to which negate_predicate applies.
  if (!Use(in, operands[2], Type::kB32) || !UsePredicate(in, operands[1])) return false;
  Emit(in);
  return true;
}

bool Lowering::Match(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  const Type type = opcode.type();
  const bool any = opcode.Take("any");
  if ((!any && !opcode.Take("all")) || !opcode.Take("sync") || !opcode.Empty() || operands.size() != 3) return false;
  if (type != Type::kB32 && type != Type::kB64) return false;
  Instruction in = Start(any ? Op::kMatchAny : Op::kMatchAll, type, core::InstructionClass::kWarp);
  if (!any && operands[0].kind == PtxOperand::Kind::kVector) {
    if (operands[0].elements.size() != 2 || !Def(in, operands[0].elements[0], RegisterClass::k32) ||
        !Def(in, operands[0].elements[1], RegisterClass::kPredicate))
      return false;
  } else if (!Def(in, operands[0], RegisterClass::k32)) {
    return false;
  }
  if (!Use(in, operands[1], type) || !Use(in, operands[2], Type::kB32)) return false;
  Emit(in);
  return true;
}

bool Lowering::Redux(Opcode& opcode, const PtxStatement& statement) {
  static constexpr std::pair<std::string_view, AtomicOp> kOps[] = {{"add", AtomicOp::kAdd}, {"min", AtomicOp::kMin},
                                                                   {"max", AtomicOp::kMax}, {"and", AtomicOp::kAnd},
                                                                   {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor}};
  AtomicOp op = AtomicOp::kAdd;
  const Type type = opcode.type();
  if (!opcode.Take("sync") || !opcode.TakeOne(kOps, op) || !opcode.Empty()) return false;
  if (type != Type::kU32 && type != Type::kS32 && type != Type::kB32) return false;
  Instruction in = Start(Op::kRedux, type, core::InstructionClass::kWarp);
  in.mode = static_cast<uint8_t>(op);
  return Operands(in, opcode, statement, {type, Type::kB32});
}

// elect.sync d|p, membermask
bool Lowering::Elect(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  if (!opcode.Take("sync") || !opcode.Empty() || opcode.type_count() != 0 || operands.size() != 2) return false;
  if (operands[0].kind != PtxOperand::Kind::kVector || operands[0].elements.size() != 2) return false;
  Instruction in = Start(Op::kElect, Type::kB32, core::InstructionClass::kWarp);
  if (!Def(in, operands[0].elements[0], RegisterClass::k32) ||
      !Def(in, operands[0].elements[1], RegisterClass::kPredicate) || !Use(in, operands[1], Type::kB32))
    return false;
  Emit(in);
  return true;
}

bool Lowering::ActiveMask(Opcode& opcode, const PtxStatement& statement) {
  return Operands(Start(Op::kActiveMask, Type::kB32, core::InstructionClass::kWarp), opcode, statement, {});
}

}  // namespace warpwright::sim

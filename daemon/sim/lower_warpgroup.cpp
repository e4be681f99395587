// Products of warpgroups on the tensor cores of sm_90a. Each of the four warps runs its share: 16 rows of 64.
#include "sim/lower.h"

namespace warpwright::sim {
namespace {

bool TakeSign(const PtxOperand& operand, bool& minus) {
  const auto value = static_cast<int64_t>(operand.bits);
  minus = value == -1;
  return operand.kind == PtxOperand::Kind::kInteger && (value == 1 || value == -1);
}
bool TakeAcross(const PtxOperand& operand, bool& across) {
  across = operand.bits == 1;
  return operand.kind == PtxOperand::Kind::kInteger && operand.bits <= 1;
}

}  // namespace

bool Lowering::Warpgroup(Opcode& opcode, const PtxStatement& statement) {
  const auto simple = [&](Op op, int64_t immediate) {
    if (!opcode.Take("sync") || !opcode.Take("aligned") || !opcode.Empty()) return false;
    Instruction in = Start(op, Type::kNone, core::InstructionClass::kOther);
    in.immediate = immediate;
    Emit(in);
    return true;
  };
  const auto& operands = statement.operands;
  out_.has_warpgroup_products = true;
  if (opcode.Take("fence")) return operands.empty() && simple(Op::kWarpgroupFence, 0);
  if (opcode.Take("commit_group")) return operands.empty() && simple(Op::kWarpgroupCommit, 0);
  if (opcode.Take("wait_group"))
    return operands.size() == 1 && operands[0].kind == PtxOperand::Kind::kInteger && operands[0].bits < 8 &&
           simple(Op::kWarpgroupWait, static_cast<int64_t>(operands[0].bits));
  return opcode.Take("mma_async") && WarpgroupProduct(opcode, statement);
}

// wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 d, a or its descriptor, b's, scale-d, signs of a and b[, whether
// a lies across], whether b does
bool Lowering::WarpgroupProduct(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  MatrixProduct product;
  MatrixShape& shape = product.shape;
  if (!opcode.Take("sync") || !opcode.Take("aligned") || !opcode.TakeShape(shape) || !opcode.Empty() ||
      opcode.type_count() != 3)
    return false;
  const Type sum = opcode.type(0);
  product.left = opcode.type(1), product.right = opcode.type(2), product.addend = sum;
  const bool inputs = product.left == product.right && (product.left == Type::kF16 || product.left == Type::kBf16);
  if (!inputs || (sum != Type::kF32 && (sum != Type::kF16 || product.left != Type::kF16))) return false;
  if (shape.m != 64 || shape.k != 16 || shape.n % 8 != 0 || shape.n > 256) return false;
  shape.m = 16;

  if (operands.size() < 7 || operands[0].kind != PtxOperand::Kind::kVector) return false;
  product.left_in_registers = operands[1].kind == PtxOperand::Kind::kVector;
  if (operands.size() != (product.left_in_registers ? 7 : 8)) return false;
  if (!TakeSign(operands[4], product.minus_left) || !TakeSign(operands[5], product.minus_right) ||
      !TakeAcross(operands.back(), product.right_across) ||
      (!product.left_in_registers && !TakeAcross(operands[6], product.left_across)))
    return false;
  const auto& sums = operands[0].elements;
  if (sums.size() != static_cast<size_t>(SumRegisters(shape, ByteSize(sum) == 2 ? 2 : 1))) return false;
  Instruction in = Start(Op::kWarpgroupProduct, sum, core::InstructionClass::kTensor);
  for (const PtxOperand& each : sums)
    if (!Def(in, each, RegisterClass::k32)) return false;
  for (const PtxOperand& each : sums)
    if (!Use(in, each, Type::kB32)) return false;
  if (product.left_in_registers) {
    if (operands[1].elements.size() != static_cast<size_t>(LeftRegisters(shape, 2))) return false;
    for (const PtxOperand& each : operands[1].elements)
      if (!Use(in, each, Type::kB32)) return false;
  } else if (!Use(in, operands[1], Type::kB64)) {
    return false;
  }
  if (!Use(in, operands[2], Type::kB64) || !UsePredicate(in, operands[3])) return false;
  in.product = product;
  in.site = out_.sites++;
  Emit(in);
  return true;
}

}  // namespace warpwright::sim

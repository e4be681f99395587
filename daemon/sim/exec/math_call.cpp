// Calls of markers (core/math_markers.h): the host's library in double, rounded once for float.
#include "sim/exec/math_call.h"

#include <bit>

#include "core/math_markers.h"

namespace warpwright::sim {
namespace {

const Instruction* MathCall(Context& c, const Instruction* i) {
  const auto function = static_cast<core::Function>(i->mode);
  const bool two = i->operands > 2;
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<uint32_t>(std::countr_zero(m));
    auto read = [&](int operand) -> double {
      if (i->type == Type::kF64) return reinterpret_cast<const double*>(c.registers + i->reg[operand])[l];
      return static_cast<double>(reinterpret_cast<const float*>(c.registers + i->reg[operand])[l]);
    };
    const uint64_t bits = CallMath(function, i->type, read(1), two ? read(2) : 0);
    if (i->type == Type::kF64) reinterpret_cast<uint64_t*>(c.registers + i->reg[0])[l] = bits;
    else reinterpret_cast<uint32_t*>(c.registers + i->reg[0])[l] = static_cast<uint32_t>(bits);
  }
  return i + 1;
}

}  // namespace

uint64_t CallMath(core::Function function, Type type, double a, double b) {
  const double r = core::CallFunction(function, a, b);
  if (type == Type::kF64) return std::bit_cast<uint64_t>(r);
  return r != r ? 0x7fffffffu : std::bit_cast<uint32_t>(static_cast<float>(r));
}

HandlerPair SelectMathCall() { return {MathCall, MathCall}; }

}  // namespace warpwright::sim

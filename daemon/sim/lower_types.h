// Kinds of types that the lowering distinguishes, and what follows from them.
#pragma once

#include "sim/instruction.h"
#include "sim/opcode.h"

namespace warpwright::sim {

inline bool IsInteger(Type type, bool sixteen = true) {
  switch (type) {
    case Type::kU16:
    case Type::kS16: return sixteen;
    case Type::kU32:
    case Type::kS32:
    case Type::kU64:
    case Type::kS64: return true;
    default: return false;
  }
}
inline bool IsHalf(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2;
}

inline core::InstructionClass FloatClass(Type type) {
  return type == Type::kF64   ? core::InstructionClass::kFp64
         : type == Type::kF32 ? core::InstructionClass::kFp32
                              : core::InstructionClass::kFp16;
}
inline uint8_t Lanes(Type type) { return type == Type::kF16x2 || type == Type::kBf16x2 ? 2 : 1; }
// Elements of a fragment in one register: 1, 2 or 4.
int PackedElements(Type type);
// Does wmma have fragments of that element in products of that shape? `sum`: C or D, otherwise A or B.
bool IsWmmaFragment(const MatrixShape& shape, Type element, bool sum);

inline void CopyFloatModifiers(Instruction& in, const Opcode& opcode) {
  in.rounding = opcode.rounding;
  in.ftz = opcode.ftz;
  in.sat = opcode.sat;
}

}  // namespace warpwright::sim

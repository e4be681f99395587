// Fragments of matrices, their products, and asynchronous copies.
//
// A product's element is written as the chain of fused multiply-adds that its mathematics is; tensor cores round
// otherwise, so that all but the last bits agree: the nodes are marked as approximate. A copy is followed when it
// begins: what it brings may not be read before it has arrived, and the simulator checks that.
#include <bit>

#include "lift/expression_shadow.h"
#include "sim/exec/async_copy.h"

namespace warpwright::lift {

using sim::Context;
using sim::Instruction;
using sim::MatrixPlace;
using sim::MatrixShape;
using sim::Op;
using sim::Type;

namespace {

constexpr std::string_view kDependsOnData = "the address of a fragment or a copy depends on data";

int Packed(Type type) { return std::max(1, 4 / sim::ByteSize(type)); }

// Where element `part` of a lane lies in the rows of ldmatrix and stmatrix.
struct RowElement {
  uint32_t row, byte;
};
RowElement ElementOf(const Instruction& in, uint32_t matrix, uint32_t lane, uint32_t part) {
  const uint32_t r = lane / 4, q = lane % 4 * 2 + part;
  return in.mode != 0 ? RowElement{8 * matrix + q, 2 * r} : RowElement{8 * matrix + r, 2 * q};
}

}  // namespace

// One element of a captured register, as the type in which it is multiplied or added.
ExprId ExpressionShadow::FragmentElement(int operand, uint32_t lane, int part, Type type) {
  const int width = 8 * sim::ByteSize(type);
  if (width >= 32) return Arg(operand, lane, type);
  const ExprId bits = builder_.Extract(Arg(operand, lane, Type::kB32), width * part, width);
  return builder_.Convert(sim::IsFloat(type) ? Type::kF32 : Type::kS32, type, builder_.Coerce(bits, type));
}

void ExpressionShadow::MatrixProduct(const Context& c, const Instruction& in, uint32_t lanes) {
  const sim::MatrixProduct& product = in.product;
  const MatrixShape& s = product.shape;
  if (product.left == Type::kTf32 || product.saturate || lanes != sim::kAllLanes) {
    LossyAt(in, "a product of matrices in tf32 or with saturation");
    return SetConcrete(c, in, lanes);
  }
  const int packed = Packed(product.left), sums = Packed(in.type), addends = Packed(product.addend);
  const int left = in.defs, right = left + LeftRegisters(s, packed), addend = right + RightRegisters(s, packed);
  std::vector<ExprId> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n)),
      e(static_cast<size_t>(s.m * s.n));
  const auto read = [&](int first, int end, int parts, Type type, auto place_of, std::vector<ExprId>& out,
                        int columns) {
    for (int reg = first; reg < end; ++reg)
      for (int lane = 0; lane < static_cast<int>(kLanes); ++lane)
        for (int part = 0; part < parts; ++part) {
          const MatrixPlace at = place_of(reg - first, lane, part);
          out[static_cast<size_t>(at.row) * columns + at.column] =
              FragmentElement(reg, static_cast<uint32_t>(lane), part, type);
        }
  };
  read(left, right, packed, product.left, [&](int r, int l, int p) { return LeftPlace(s, packed, r, l, p); }, a, s.k);
  read(
      right, addend, packed, product.right, [&](int r, int l, int p) { return RightPlace(s, packed, r, l, p); }, b,
      s.n);
  read(
      addend, in.operands, addends, product.addend, [&](int r, int l, int p) { return SumPlace(s, addends, r, l, p); },
      e, s.n);
  const bool real = sim::IsFloat(in.type);
  const Type type = in.type == Type::kF64 ? Type::kF64 : Type::kF32;
  for (int row = 0; row < s.m; ++row)
    for (int column = 0; column < s.n; ++column) {
      ExprId& sum = e[static_cast<size_t>(row) * s.n + column];
      for (int k = 0; k < s.k; ++k) {
        const ExprId x = a[static_cast<size_t>(row) * s.k + k], y = b[static_cast<size_t>(k) * s.n + column];
        sum =
            real
                ? builder_.Make(
                      {.op = ExprOp::kFma, .type = type, .approx = type != Type::kF64, .arity = 3, .args = {x, y, sum}})
                : builder_.Binary(ExprOp::kIntAdd, Type::kS32, sum, builder_.Binary(ExprOp::kIntMul, Type::kS32, x, y));
      }
      if (in.type == Type::kF16) sum = builder_.Convert(Type::kF16, Type::kF32, sum);
    }
  for (int reg = 0; reg < in.defs; ++reg)
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const auto at = [&](int part) {
        const MatrixPlace place = SumPlace(s, sums, reg, static_cast<int>(lane), part);
        return e[static_cast<size_t>(place.row) * s.n + place.column];
      };
      Set(c, in.reg[reg], lane, sums == 2 ? builder_.Pack(at(0), at(1)) : at(0));
    }
}

void ExpressionShadow::MatrixTranspose(const Context& c, const Instruction& in, uint32_t lanes) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t row = lane / 4, column = lane % 4 * 2;
    const auto half = [&](uint32_t from) {
      return builder_.Extract(Arg(1, from, Type::kB32), static_cast<int>(row % 2 * 16), 16);
    };
    if (lanes >> lane & 1)
      Set(c, in.reg[0], lane, builder_.Pack(half(column * 4 + row / 2), half((column + 1) * 4 + row / 2)));
  }
}

void ExpressionShadow::MatrixLoad(const Context& c, const Instruction& in, uint32_t lanes) {
  if (operands_[static_cast<size_t>(in.defs)].symbolic & lanes) {
    LossyAt(in, kDependsOnData);
    return SetConcrete(c, in, lanes);
  }
  for (uint32_t m = 0; m < in.vector; ++m)
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      ExprId parts[2] = {kConcrete, kConcrete};
      const uint64_t bits = ResultBits(c, in, static_cast<int>(m), lane, Type::kB32);
      for (uint32_t part = 0; part < 2; ++part) {
        const RowElement element = ElementOf(in, m, lane, part);
        const Target target = Resolve(c, in, in.defs, element.row);
        if (target.memory)
          parts[part] = target.memory->Read(builder_, target.offset + element.byte, 2, bits >> (16 * part) & 0xffff);
      }
      const bool concrete = parts[0] == kConcrete && parts[1] == kConcrete;
      for (uint32_t part = 0; part < 2; ++part)
        if (parts[part] == kConcrete) parts[part] = builder_.Const(Type::kB16, bits >> (16 * part) & 0xffff);
      Set(c, in.reg[static_cast<int>(m)], lane, concrete ? kConcrete : builder_.Pack(parts[0], parts[1]));
    }
}

void ExpressionShadow::MatrixStore(const Context& c, const Instruction& in, uint32_t lanes) {
  if (operands_[0].symbolic & lanes) return LossyAt(in, kDependsOnData);
  for (uint32_t m = 0; m < in.vector; ++m) {
    const auto operand = static_cast<int>(m) + 1;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      for (uint32_t part = 0; part < 2; ++part) {
        const RowElement element = ElementOf(in, m, lane, part);
        const Target target = Resolve(c, in, 0, element.row);
        if (!target.memory) continue;
        ExprId value = kConcrete;
        if (operands_[static_cast<size_t>(operand)].symbolic >> lane & 1)
          value = builder_.Extract(Arg(operand, lane, Type::kB32), static_cast<int>(16 * part), 16);
        target.memory->Write(target.offset + element.byte, 2,
                             value == kConcrete || builder_.IsConst(value) ? kConcrete : value);
      }
  }
}

// In pieces of 4 bytes; what is not read becomes zero.
void ExpressionShadow::AsyncCopy(const Context& c, const Instruction& in, uint32_t lanes) {
  constexpr uint32_t kPiece = 4;
  uint32_t by_data = 0;
  for (int k = 0; k < in.operands; ++k) by_data |= operands_[static_cast<size_t>(k)].symbolic;
  if (by_data & lanes) return LossyAt(in, kDependsOnData);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const auto& to = operands_[0].bits;
    const uint64_t offset = in.wide_source[0] ? to[lane] : reinterpret_cast<const uint32_t*>(to.data())[lane];
    const uint32_t bytes = sim::SourceBytes(c, in, lane);
    const uint64_t address = operands_[1].bits[lane] + static_cast<uint64_t>(in.immediate);
    MemoryShadow* memory = bytes > 0 ? FindMemory(address, bytes) : nullptr;
    const Target from{.memory = memory, .offset = memory ? address - memory->base() : 0, .global = true};
    if (bytes % kPiece != 0) LossyAt(in, "an asynchronous copy of part of a word");
    for (uint32_t at = 0; at < in.vector; at += kPiece) {
      ExprId value = kConcrete;
      if (at + kPiece <= bytes && from.memory)
        value = from.memory->Read(builder_, from.offset + at, kPiece, ContentAt(c, from, at, kPiece));
      shared_->Write(offset + at, kPiece, value);
    }
  }
}

}  // namespace warpwright::lift

// A warp's share of wgmma.mma_async: 16 rows of A, all of B. exec/warpgroup.h says what is checked.
#include "sim/exec/matrix_sum.h"
#include "sim/exec/resolve.h"
#include "sim/exec/taint.h"
#include "sim/exec/warpgroup.h"

namespace warpwright::sim::v3 {
namespace {

const Instruction* StopPart(Context& c, const Instruction* i) {
  return c.mask == c.live ? StopPartOfWarp(c, i) : WaitForLanes(c, i);
}

// The first lane's, which all others must share.
bool ReadDescriptor(Context& c, const Instruction* i, int operand, MatrixDescriptor& descriptor) {
  const uint64_t* r = Reg<uint64_t>(c, i->reg[operand]);
  uint64_t different = 0;
  WW_LANES different |= r[l] ^ r[0];
  descriptor = MatrixDescriptor::Of(r[0]);
  if (different == 0 && descriptor.base_offset == 0) return true;
  StopWithFault(c, i, core::Fault::Kind::kNotSimulated, kLanes,
                different != 0 ? "not simulated: a wgmma.mma_async whose lanes have different descriptors"
                               : "not simulated: a wgmma descriptor with a base offset");
  return false;
}

// Rows [first, first + rows) of A or columns of B, as out(row - first, term).
template <Type kType, typename Out, typename PlaceOf>
void ReadShared(Context& c, const MatrixDescriptor& descriptor, bool across, bool minus, uint32_t first, uint32_t rows,
                Out& out, PlaceOf place_of) {
  const uint32_t row_step = across ? 8 : 1, term_step = across ? 1 : 8;
  for (uint32_t row = 0; row < rows; row += row_step)
    for (uint32_t term = 0; term < kWarpTerms; term += term_step) {
      const std::byte* unit = c.shared + descriptor.OffsetOf(across, first + row, term);
      for (uint32_t e = 0; e < 8; ++e) {
        uint16_t bits;
        std::memcpy(&bits, unit + 2 * e, 2);
        const uint32_t signed_bits = bits ^ (minus ? 0x8000u : 0u);
        Spread(out, Decode<kType>(signed_bits), place_of(row + (across ? e : 0), term + (across ? 0 : e)));
      }
    }
}

template <Type kInput, Type kSum>
void Multiply(Context& c, const Instruction* i, const MatrixDescriptor& left, const MatrixDescriptor& right,
              bool adds) {
  constexpr int kPacked = kSum == Type::kF16 ? 2 : 1, kWide = kColumns, kRegistersOfEight = 4 / kPacked;
  const MatrixProduct& product = i->product;
  const MatrixShape& s = product.shape;
  Left a;
  if (product.left_in_registers) {
    ReadFragment<kInput>(c, i, 2 * i->defs, LeftRegisters(s, 2), a,
                         [&](int reg, int lane, int part) { return LeftPlace(s, 2, reg, lane, part); });
    if (product.minus_left)
      for (auto& row : a.value)
        for (double& value : row) value = -value;
  } else {
    ReadShared<kInput>(
        c, left, product.left_across, product.minus_left, c.warp->index % kWarpsOfGroup * kWarpRows, kWarpRows, a,
        [](uint32_t row, uint32_t term) { return MatrixPlace{static_cast<int>(row), static_cast<int>(term)}; });
  }
  for (int column = 0; column < s.n; column += kWide) {
    const MatrixShape part{s.m, s.n - column < kWide ? s.n - column : kWide, s.k};
    Right b;
    Sums sums;
    ReadShared<kInput>(c, right, product.right_across, product.minus_right, static_cast<uint32_t>(column),
                       static_cast<uint32_t>(part.n), b, [](uint32_t row, uint32_t term) {
                         return MatrixPlace{static_cast<int>(term), static_cast<int>(row)};
                       });
    const int first = column / 8 * kRegistersOfEight, registers = part.n / 8 * kRegistersOfEight;
    if (adds) {
      ReadFragment<kSum>(c, i, i->defs + first, registers, sums,
                         [&](int reg, int lane, int half) { return SumPlace(part, kPacked, reg, lane, half); });
    } else {
      for (int row = 0; row < s.m; ++row)
        for (int j = 0; j < part.n; ++j) sums.value[row][j] = 0, sums.exponent[row][j] = kZeroExponent;
    }
    const bool finite = a.finite && b.finite && sums.finite;
    for (int row = 0; row < s.m; ++row)
      for (int j = 0; j < part.n; j += 8) {
        double special_sums[8];
        bool special[8] = {};
        if (!finite) [[unlikely]]
          for (int k = 0; k < 8; ++k)
            special_sums[k] = SpecialSum(a, b, sums.value[row][j + k], row, j + k, s.k, special[k]);
        SumRow(a, b, sums, row, j, 0, s.k);
        for (int k = 0; k < 8; ++k)
          if (special[k]) sums.value[row][j + k] = special_sums[k];
      }
    for (int reg = 0; reg < registers; ++reg) {
      uint32_t* d = Reg<uint32_t>(c, i->reg[first + reg]);
      for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
        uint32_t word = 0;
        for (int half = 0; half < kPacked; ++half) {
          const MatrixPlace at = SumPlace(part, kPacked, reg, lane, half);
          word |= Round<kSum>(sums.value[at.row][at.column]) << (16 * half);
        }
        d[lane] = word;
      }
    }
  }
}

void Multiply(Context& c, const Instruction* i, const MatrixDescriptor& left, const MatrixDescriptor& right,
              bool adds) {
  if (i->product.left == Type::kBf16) return Multiply<Type::kBf16, Type::kF32>(c, i, left, right, adds);
  if (i->type == Type::kF16) return Multiply<Type::kF16, Type::kF16>(c, i, left, right, adds);
  Multiply<Type::kF16, Type::kF32>(c, i, left, right, adds);
}

const Instruction* Product(Context& c, const Instruction* i) {
  if (c.mask != kAllLanes) [[unlikely]]
    return StopPart(c, i);
  if (i->mode != 0) return StopWithText(c, i, core::Fault::Kind::kUninitializedRead);
  if (c.warp->index / kWarpsOfGroup * kWarpsOfGroup + kWarpsOfGroup > c.warps.size())
    return StopWithFault(c, i, core::Fault::Kind::kInactiveShuffle, kLanes,
                         "wgmma.mma_async needs a warpgroup: four warps of which the first has a number that is a "
                         "multiple of four");
  const MatrixProduct& product = i->product;
  MatrixDescriptor left, right;
  const int rest = i->operands - 3;  // A's descriptor, B's, whether the old sums count
  if (!product.left_in_registers && !ReadDescriptor(c, i, rest, left)) return nullptr;
  if (!ReadDescriptor(c, i, rest + 1, right)) return nullptr;
  const uint32_t predicate = *Reg<uint32_t>(c, i->reg[rest + 2]) ^ (i->negate_predicate ? kAllLanes : 0);
  if (predicate != 0 && predicate != kAllLanes)
    return StopWithFault(c, i, core::Fault::Kind::kNotSimulated, kLanes,
                         "not simulated: a wgmma.mma_async whose lanes differ in whether they add");
  if (!BeginProduct(c, i, left, right)) return nullptr;
  Multiply(c, i, left, right, predicate != 0);
  return c.products ? LeaveTainted(c, i) : i + 1;
}

const Instruction* Fence(Context& c, const Instruction* i) { return c.mask == kAllLanes ? i + 1 : StopPart(c, i); }

const Instruction* Commit(Context& c, const Instruction* i) {
  if (c.mask != kAllLanes) return StopPart(c, i);
  if (c.products) CommitProducts(c);
  return i + 1;
}

const Instruction* Wait(Context& c, const Instruction* i) {
  if (c.mask != kAllLanes) return StopPart(c, i);
  return !c.products || WaitForProducts(c, i, static_cast<uint32_t>(i->immediate)) ? i + 1 : nullptr;
}

const Instruction* Proxy(Context& c, const Instruction* i) {
  if (c.products) FenceProxy(c);
  return i + 1;
}

const Instruction* Misuse(Context& c, const Instruction* i) {
  return StopWithText(c, i, core::Fault::Kind::kUninitializedRead);
}

}  // namespace

HandlerPair SelectWarpgroup(const Instruction& in) {
  switch (in.op) {
    case Op::kWarpgroupProduct: return {Product, Product};
    case Op::kWarpgroupFence: return {Fence, Fence};
    case Op::kWarpgroupCommit: return {Commit, Commit};
    case Op::kWarpgroupWait: return {Wait, Wait};
    case Op::kWarpgroupMisuse: return {Misuse, Misuse};
    case Op::kProxyFence: return {Proxy, Proxy};
    default: return {};
  }
}

}  // namespace warpwright::sim::v3

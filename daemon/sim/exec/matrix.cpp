// Products of matrices within a warp, and movmatrix. f64 is a chain of fused multiply-adds in the order of k. Integers
// are exact, and wrap unless .satfinite says otherwise. exec/matrix_sum.h has the other types.
#include "sim/exec/matrix_sum.h"
#include "sim/exec/services.h"

namespace warpwright::sim::v3 {
namespace {

bool WholeWarp(Context& c, const Instruction* i, const Instruction*& stopped) {
  if (c.mask == kAllLanes) [[likely]]
    return true;
  stopped = c.mask == c.live ? StopPartOfWarp(c, i) : WaitForLanes(c, i);
  return false;
}

template <Type kInput, Type kAddend, Type kSum>
const Instruction* RealProduct(Context& c, const Instruction* i) {
  const Instruction* stopped = nullptr;
  if (!WholeWarp(c, i, stopped)) return stopped;
  constexpr int kPacked = kInput == Type::kTf32 ? 1 : 2, kSumPacked = kSum == Type::kF16 ? 2 : 1,
                kAddendPacked = kAddend == Type::kF16 ? 2 : 1;
  const MatrixShape& s = i->product.shape;
  const int left = i->defs, right = left + LeftRegisters(s, kPacked), addend = right + RightRegisters(s, kPacked);
  Left a;
  Right b;
  Sums sums;
  ReadFragment<kInput>(c, i, left, LeftRegisters(s, kPacked), a,
                       [&](int reg, int lane, int part) { return LeftPlace(s, kPacked, reg, lane, part); });
  ReadFragment<kInput>(c, i, right, RightRegisters(s, kPacked), b,
                       [&](int reg, int lane, int part) { return RightPlace(s, kPacked, reg, lane, part); });
  ReadFragment<kAddend>(c, i, addend, SumRegisters(s, kAddendPacked), sums,
                        [&](int reg, int lane, int part) { return SumPlace(s, kAddendPacked, reg, lane, part); });
  const bool finite = a.finite && b.finite && sums.finite;
  // wmma's tf32 is two instructions of half the depth.
  const int step = kInput == Type::kTf32 && s.n == 16 ? 4 : s.k;
  for (int row = 0; row < s.m; ++row)
    for (int column = 0; column < s.n; column += 8) {
      double special_sums[8];
      bool special[8] = {};
      if (!finite) [[unlikely]]
        for (int j = 0; j < 8; ++j)
          special_sums[j] = SpecialSum(a, b, sums.value[row][column + j], row, column + j, s.k, special[j]);
      for (int k = 0; k < s.k; k += step) {
        if (k > 0) RoundRow(sums, row, column);
        SumRow(a, b, sums, row, column, k, step);
      }
      for (int j = 0; j < 8; ++j)
        if (special[j]) sums.value[row][column + j] = special_sums[j];
    }
  for (int reg = 0; reg < i->defs; ++reg) {
    uint32_t* d = Reg<uint32_t>(c, i->reg[reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
      uint32_t word = 0;
      for (int part = 0; part < kSumPacked; ++part) {
        const MatrixPlace at = SumPlace(s, kSumPacked, reg, lane, part);
        word |= Round<kSum>(sums.value[at.row][at.column]) << (16 * part);
      }
      d[lane] = word;
    }
  }
  return i + 1;
}

int32_t ByteOf(uint32_t word, int part, bool is_signed) {
  const uint32_t byte = word >> (8 * part) & 0xff;
  return is_signed ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
}

const Instruction* IntegerProduct(Context& c, const Instruction* i) {
  const Instruction* stopped = nullptr;
  if (!WholeWarp(c, i, stopped)) return stopped;
  const MatrixShape& s = i->product.shape;
  const int left = i->defs, right = left + LeftRegisters(s, 4), addend = right + RightRegisters(s, 4);
  alignas(64) int32_t a[kRows][kDepth], b[kDepth][kColumns];
  for (int reg = left; reg < addend; ++reg) {
    const uint32_t* r = Reg<uint32_t>(c, i->reg[reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane)
      for (int part = 0; part < 4; ++part) {
        if (reg < right) {
          const MatrixPlace at = LeftPlace(s, 4, reg - left, lane, part);
          a[at.row][at.column] = ByteOf(r[lane], part, i->product.left == Type::kS8);
        } else {
          const MatrixPlace at = RightPlace(s, 4, reg - right, lane, part);
          b[at.row][at.column] = ByteOf(r[lane], part, i->product.right == Type::kS8);
        }
      }
  }
  for (int reg = 0; reg < i->defs; ++reg) {
    uint32_t* d = Reg<uint32_t>(c, i->reg[reg]);
    const uint32_t* e = Reg<uint32_t>(c, i->reg[addend + reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
      const MatrixPlace at = SumPlace(s, 1, reg, lane, 0);
      int64_t sum = static_cast<int32_t>(e[lane]);
      for (int k = 0; k < s.k; ++k) sum += int64_t{a[at.row][k]} * b[k][at.column];
      if (i->product.saturate) sum = sum < INT32_MIN ? INT32_MIN : (sum > INT32_MAX ? INT32_MAX : sum);
      d[lane] = static_cast<uint32_t>(sum);
    }
  }
  return i + 1;
}

// Of several NaNs the factor from B is passed on first, then the sum, then the factor from A.
double FusedStep(double a, double b, double sum) {
  const double nan = b != b ? b : sum != sum ? sum : a;
  if (nan != nan) return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | 1ull << 51);
  return __builtin_fma(a, b, sum);
}

const Instruction* DoubleProduct(Context& c, const Instruction* i) {
  const Instruction* stopped = nullptr;
  if (!WholeWarp(c, i, stopped)) return stopped;
  const MatrixShape& s = i->product.shape;
  const int left = i->defs, right = left + LeftRegisters(s, 1), addend = right + RightRegisters(s, 1);
  double a[kRows][kDepth], b[kDepth][kColumns];
  for (int reg = left; reg < addend; ++reg) {
    const uint64_t* r = Reg<uint64_t>(c, i->reg[reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
      if (reg < right) {
        const MatrixPlace at = LeftPlace(s, 1, reg - left, lane, 0);
        a[at.row][at.column] = std::bit_cast<double>(r[lane]);
      } else {
        const MatrixPlace at = RightPlace(s, 1, reg - right, lane, 0);
        b[at.row][at.column] = std::bit_cast<double>(r[lane]);
      }
    }
  }
  for (int reg = 0; reg < i->defs; ++reg) {
    uint64_t* d = Reg<uint64_t>(c, i->reg[reg]);
    const uint64_t* e = Reg<uint64_t>(c, i->reg[addend + reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
      const MatrixPlace at = SumPlace(s, 1, reg, lane, 0);
      double sum = std::bit_cast<double>(e[lane]);
      for (int k = 0; k < s.k; ++k) sum = FusedStep(a[at.row][k], b[k][at.column], sum);
      d[lane] = std::bit_cast<uint64_t>(sum);
    }
  }
  return i + 1;
}

// Lane 4 r + q holds the elements (r, 2 q) and (r, 2 q + 1) of 8 by 8.
const Instruction* Transpose(Context& c, const Instruction* i) {
  const Instruction* stopped = nullptr;
  if (!WholeWarp(c, i, stopped)) return stopped;
  const uint32_t* a = Reg<uint32_t>(c, i->reg[1]);
  alignas(64) uint32_t out[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t row = l / 4, column = l % 4 * 2, shift = row % 2 * 16;
    const uint32_t low = a[column * 4 + row / 2] >> shift, high = a[(column + 1) * 4 + row / 2] >> shift;
    out[l] = (low & 0xffff) | high << 16;
  }
  std::memcpy(Reg<uint32_t>(c, i->reg[0]), out, sizeof out);
  return i + 1;
}

Handler SelectProduct(const Instruction& in) {
  const Type sum = in.type, addend = in.product.addend;
  switch (in.product.left) {
    case Type::kF64: return DoubleProduct;
    case Type::kS8:
    case Type::kU8: return IntegerProduct;
    case Type::kTf32: return RealProduct<Type::kTf32, Type::kF32, Type::kF32>;
    case Type::kBf16: return RealProduct<Type::kBf16, Type::kF32, Type::kF32>;
    case Type::kF16:
      if (sum == Type::kF32)
        return addend == Type::kF32 ? RealProduct<Type::kF16, Type::kF32, Type::kF32>
                                    : RealProduct<Type::kF16, Type::kF16, Type::kF32>;
      return addend == Type::kF32 ? RealProduct<Type::kF16, Type::kF32, Type::kF16>
                                  : RealProduct<Type::kF16, Type::kF16, Type::kF16>;
    default: return nullptr;
  }
}

}  // namespace

HandlerPair SelectMatrix(const Instruction& in) {
  Handler handler = nullptr;
  if (in.op == Op::kMatrixProduct) handler = SelectProduct(in);
  if (in.op == Op::kMatrixTranspose) handler = Transpose;
  return {handler, handler};
}

}  // namespace warpwright::sim::v3

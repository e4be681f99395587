// Products of matrices as the tensor cores of an H100 and an H200 compute them, and movmatrix.
//
// Of floating-point inputs (f16, bf16, tf32: the low 13 bits of a register are ignored) the products are exact. All
// products of an instruction and the element of C are aligned to the largest exponent among them, where a product has
// the sum of its factors' exponents, whether or not its significand reaches 2, and a zero has f32's smallest. Each is
// then cut off 25 bits below that exponent; what remains is summed exactly. An f32 result is cut off too, an f16 result
// rounded to nearest; a NaN is the canonical one, and a zero is positive. So an instruction rounds once for each term,
// always towards zero, and the order of its terms does not matter. f64 is a chain of fused multiply-adds in the order
// of k. Integers are exact, and wrap unless .satfinite says otherwise.
//
// Sources: Khattak and Mikaitis 2025, "Accurate Models of NVIDIA Tensor Cores"; Xie et al. 2025, "MMA-Sim";
// tests/golden/sim/matrix_products.txt holds what the hardware gave.
#include "sim/exec/float_lanes.h"
#include "sim/exec/services.h"

namespace warpwright::sim::v3 {
namespace {

constexpr int kRows = MatrixProduct::kMaxRows, kColumns = MatrixProduct::kMaxColumns, kDepth = MatrixProduct::kMaxDepth;
constexpr int kFraction = 25;         // bits that a term keeps below the largest exponent
constexpr int kZeroExponent = -4096;  // of a factor: a zero product never decides what the others are aligned to

bool WholeWarp(Context& c, const Instruction* i, const Instruction*& stopped) {
  if (c.mask == kAllLanes) [[likely]]
    return true;
  stopped = c.mask == c.live ? StopPartOfWarp(c, i) : WaitForLanes(c, i);
  return false;
}

// Values with the exponents that they are aligned by.
template <int kFirst, int kSecond>
struct Reals {
  alignas(64) double value[kFirst][kSecond];
  alignas(64) int32_t exponent[kFirst][kSecond];
  bool finite = true;
};

struct Real {
  double value;
  int32_t exponent;
  bool finite;
};
template <Type kType>
[[gnu::always_inline]] inline Real Decode(uint32_t bits) {
  if constexpr (kType == Type::kF16) {
    const auto e = static_cast<int32_t>(bits >> 10 & 31);
    const bool zero = (bits & 0x7fff) == 0;
    return {static_cast<double>(HalfFormat::ToFloat(bits)), zero ? kZeroExponent : (e > 1 ? e : 1) - 15, e != 31};
  } else {
    const uint32_t word = kType == Type::kBf16 ? bits << 16 : kType == Type::kTf32 ? bits & 0xffffe000 : bits;
    const auto e = static_cast<int32_t>(word >> 23 & 255);
    const bool zero = (word & 0x7fffffff) == 0;
    return {static_cast<double>(std::bit_cast<float>(word)), zero ? kZeroExponent : (e > 1 ? e : 1) - 127, e != 255};
  }
}

template <typename Out, typename Place>
[[gnu::always_inline]] inline void Spread(Out& out, const Real& real, const Place& place) {
  out.value[place.row][place.column] = real.value;
  out.exponent[place.row][place.column] = real.exponent;
  out.finite &= real.finite;
}

template <Type kType, typename Out, typename PlaceOf>
[[gnu::always_inline]] inline void ReadFragment(Context& c, const Instruction* i, int first, int registers, Out& out,
                                                PlaceOf place_of) {
  constexpr int kPacked = kType == Type::kF16 || kType == Type::kBf16 ? 2 : 1;
  for (int reg = 0; reg < registers; ++reg) {
    const uint32_t* r = Reg<uint32_t>(c, i->reg[first + reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane)
      for (int part = 0; part < kPacked; ++part) {
        const uint32_t bits = kPacked == 2 ? r[lane] >> (16 * part) & 0xffff : r[lane];
        Spread(out, Decode<kType>(bits), place_of(reg, lane, part));
      }
  }
}

// Towards zero; beyond the largest float it is infinite.
uint32_t CutOffToSingle(double v) {
  const double magnitude = std::fabs(v);
  const double cut = magnitude < 0x1p-126 ? __builtin_trunc(v * 0x1p149) * 0x1p-149
                                          : std::bit_cast<double>(std::bit_cast<uint64_t>(v) & ~((1ull << 29) - 1));
  return std::bit_cast<uint32_t>(static_cast<float>(cut));
}
template <Type kSum>
[[gnu::always_inline]] inline uint32_t Round(double v) {
  uint32_t bits = v != v ? 0x7fffffffu : 0;
  if constexpr (kSum == Type::kF16) bits = HalfFormat::FromFloat(OddFloat(v));
  else if (v == v) bits = CutOffToSingle(v);
  constexpr uint32_t kMinusZero = kSum == Type::kF16 ? 0x8000 : 0x80000000;
  return bits == kMinusZero ? 0 : bits;
}

[[gnu::always_inline]] inline int32_t Larger(int32_t a, int32_t b) { return a > b ? a : b; }

double PowerOfTwo(int64_t exponent) { return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52); }

using Left = Reals<kRows, kDepth>;
using Right = Reals<kDepth, kColumns>;
using Sums = Reals<kRows, kColumns>;

// Eight columns of one row, into sums.value.
void SumRow(const Left& a, const Right& b, Sums& sums, int row, int column, int first, int depth) {
  constexpr int kWide = 8;
  alignas(64) int32_t largest[kWide];
  alignas(64) double scale[kWide], sum[kWide];
  for (int j = 0; j < kWide; ++j) largest[j] = Larger(sums.exponent[row][column + j], -126);
  for (int k = first; k < first + depth; ++k) {
    const int32_t e = a.exponent[row][k];
    for (int j = 0; j < kWide; ++j) largest[j] = Larger(largest[j], e + b.exponent[k][column + j]);
  }
  for (int j = 0; j < kWide; ++j) {
    scale[j] = PowerOfTwo(kFraction - int64_t{largest[j]});
    sum[j] = __builtin_trunc(sums.value[row][column + j] * scale[j]);
  }
  for (int k = first; k < first + depth; ++k) {
    const double v = a.value[row][k];
    for (int j = 0; j < kWide; ++j) sum[j] += __builtin_trunc(v * b.value[k][column + j] * scale[j]);
  }
  for (int j = 0; j < kWide; ++j) sums.value[row][column + j] = sum[j] * PowerOfTwo(int64_t{largest[j]} - kFraction);
}

// What the next of several instructions gets as C.
void RoundRow(Sums& sums, int row, int column) {
  for (int j = 0; j < 8; ++j) {
    const Real real = Decode<Type::kF32>(CutOffToSingle(sums.value[row][column + j]));
    sums.value[row][column + j] = real.value;
    sums.exponent[row][column + j] = real.exponent;
  }
}

// With infinities and NaNs among the inputs.
double SpecialSum(const Left& a, const Right& b, double addend, int row, int column, int depth, bool& special) {
  double sum = addend;
  special = !(std::fabs(addend) <= 0x1.fffffep127);
  for (int k = 0; k < depth; ++k) {
    const double x = a.value[row][k], y = b.value[k][column];
    special |= !(std::fabs(x) <= 0x1.fffffep127) || !(std::fabs(y) <= 0x1.fffffep127);
    sum += x * y;
  }
  return sum;
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

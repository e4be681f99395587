// Products of matrices on tensor cores, and what moves their fragments: mma, ldmatrix, stmatrix, movmatrix.
#include <algorithm>
#include <span>

#include "sim/lower.h"
#include "sim/lower_types.h"

namespace warpwright::sim {
namespace {

// What mma.sync and wmma.mma take of each input type.
struct KnownProduct {
  Type input;
  MatrixShape shape;
  bool wmma;
};
constexpr KnownProduct kProducts[] = {
    {Type::kF16, {16, 8, 8}, false},   {Type::kF16, {16, 8, 16}, false},  {Type::kBf16, {16, 8, 8}, false},
    {Type::kBf16, {16, 8, 16}, false}, {Type::kTf32, {16, 8, 4}, false},  {Type::kTf32, {16, 8, 8}, false},
    {Type::kS8, {8, 8, 16}, false},    {Type::kS8, {16, 8, 16}, false},   {Type::kS8, {16, 8, 32}, false},
    {Type::kF64, {8, 8, 4}, false},    {Type::kF64, {16, 8, 4}, false},   {Type::kF64, {16, 8, 8}, false},
    {Type::kF64, {16, 8, 16}, false},  {Type::kF16, {16, 16, 16}, true},  {Type::kF16, {8, 32, 16}, true},
    {Type::kF16, {32, 8, 16}, true},   {Type::kBf16, {16, 16, 16}, true}, {Type::kBf16, {8, 32, 16}, true},
    {Type::kBf16, {32, 8, 16}, true},  {Type::kTf32, {16, 16, 8}, true},  {Type::kS8, {16, 16, 16}, true},
    {Type::kS8, {8, 32, 16}, true},    {Type::kS8, {32, 8, 16}, true},    {Type::kF64, {8, 8, 4}, true}};

bool IsByte(Type type) { return type == Type::kS8 || type == Type::kU8; }

// Products of these inputs are summed in these types.
bool SumFits(Type input, Type sum) {
  switch (input) {
    case Type::kF16: return sum == Type::kF16 || sum == Type::kF32;
    case Type::kBf16:
    case Type::kTf32: return sum == Type::kF32;
    case Type::kF64: return sum == Type::kF64;
    default: return sum == Type::kS32;
  }
}

std::span<const PtxOperand> Elements(const PtxOperand& operand) {
  return operand.kind == PtxOperand::Kind::kVector ? std::span<const PtxOperand>(operand.elements)
                                                   : std::span<const PtxOperand>(&operand, 1);
}

}  // namespace

int PackedElements(Type type) { return std::max(1, 4 / ByteSize(type)); }

bool IsWmmaFragment(const MatrixShape& shape, Type element, bool sum) {
  return std::any_of(std::begin(kProducts), std::end(kProducts), [&](const KnownProduct& k) {
    if (!k.wmma || k.shape != shape) return false;
    return sum ? SumFits(k.input, element) : k.input == (IsByte(element) ? Type::kS8 : element);
  });
}

// mma.sync.aligned.m16n8k16.row.col[.satfinite].f32.f16.f16.f32 d, a, b, c
bool Lowering::Mma(Opcode& opcode, const PtxStatement& statement) {
  MatrixProduct product;
  if (!opcode.Take("sync") || !opcode.Take("aligned") || !opcode.TakeShape(product.shape) || !opcode.Take("row") ||
      !opcode.Take("col") || opcode.type_count() != 4)
    return false;
  product.left = opcode.type(1);
  product.right = opcode.type(2);
  product.addend = opcode.type(3);
  return Product(opcode, statement, product, opcode.type(0));
}

bool Lowering::Product(Opcode& opcode, const PtxStatement& statement, MatrixProduct product, Type sum) {
  const bool wmma = opcode.family() == "wmma";
  product.saturate = opcode.Take("satfinite");
  const Type input = IsByte(product.left) ? Type::kS8 : product.left;
  const bool alike = IsByte(product.left) ? IsByte(product.right) : product.left == product.right;
  const bool known = std::any_of(std::begin(kProducts), std::end(kProducts), [&](const KnownProduct& k) {
    return k.input == input && k.shape == product.shape && k.wmma == wmma;
  });
  if (!known || !alike || !SumFits(input, sum) || !SumFits(input, product.addend)) return false;
  if (!opcode.Empty() || (opcode.rounding != Rounding::kDefault && opcode.rounding != Rounding::kNearest)) return false;
  if (product.saturate && input != Type::kS8) return false;

  const int packed = PackedElements(input);
  const struct {
    Type type;
    int registers;
  } expected[] = {{sum, SumRegisters(product.shape, PackedElements(sum))},
                  {product.left, LeftRegisters(product.shape, packed)},
                  {product.right, RightRegisters(product.shape, packed)},
                  {product.addend, SumRegisters(product.shape, PackedElements(product.addend))}};
  if (statement.operands.size() != 4) return false;
  Instruction in = Start(Op::kMatrixProduct, sum, core::InstructionClass::kTensor);
  for (size_t k = 0; k < 4; ++k) {
    const auto registers = Elements(statement.operands[k]);
    const auto count = static_cast<size_t>(expected[k].registers);
    const bool repeated = wmma && (k == 1 || k == 2) && registers.size() > count;  // matrix_layout.h
    if (registers.size() != count && !repeated) return false;
    const Type type = ByteSize(expected[k].type) == 8 ? Type::kB64 : Type::kB32;
    for (const PtxOperand& each : registers.first(count))
      if (!(k == 0 ? Def(in, each, ClassOf(type)) : Use(in, each, type))) return false;
  }
  in.product = product;
  Emit(in);
  return true;
}

// ldmatrix.sync.aligned.m8n8.x4[.trans][.shared].b16 {...}, [p] and stmatrix.
bool Lowering::LoadStoreMatrix(Opcode& opcode, const PtxStatement& statement) {
  const bool load = opcode.family() == "ldmatrix";
  const auto& operands = statement.operands;
  int count = 0;
  static constexpr std::pair<std::string_view, int> kCounts[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}};
  if (!opcode.Take("sync") || !opcode.Take("aligned") || !opcode.Take("m8n8") || !opcode.TakeOne(kCounts, count) ||
      opcode.type_count() != 1 || opcode.type() != Type::kB16)
    return false;
  Instruction in = Start(load ? Op::kMatrixLoad : Op::kMatrixStore, Type::kB16,
                         load ? core::InstructionClass::kSharedLoad : core::InstructionClass::kSharedStore);
  in.mode = opcode.Take("trans") ? 1 : 0;
  in.space = opcode.Take("shared") || opcode.Take("shared::cta") ? Space::kShared : Space::kGeneric;
  in.vector = static_cast<uint8_t>(count);
  in.site = out_.sites++;
  if (!opcode.Empty() || operands.size() != 2) return false;
  const auto registers = Elements(operands[load ? 0 : 1]);
  if (registers.size() != static_cast<size_t>(count)) return false;
  if (load)
    for (const PtxOperand& each : registers)
      if (!Def(in, each, RegisterClass::k32)) return false;
  if (!Address(in, operands[load ? 1 : 0])) return false;
  if (!load)
    for (const PtxOperand& each : registers)
      if (!Use(in, each, Type::kB32)) return false;
  Emit(in);
  return true;
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
bool Lowering::TransposeMatrix(Opcode& opcode, const PtxStatement& statement) {
  if (!opcode.Take("sync") || !opcode.Take("aligned") || !opcode.Take("m8n8") || !opcode.Take("trans") ||
      opcode.type_count() != 1 || opcode.type() != Type::kB16)
    return false;
  return Operands(Start(Op::kMatrixTranspose, Type::kB32, core::InstructionClass::kWarp), opcode, statement,
                  {Type::kB32});
}

}  // namespace warpwright::sim

// wmma.load and wmma.store become the loads and stores that ptxas makes of them: each lane computes where its elements
// are (matrix_layout.h) and accesses them as wide as they lie together. What checks, counts and follows accesses then
// needs to know nothing about fragments.
#include <algorithm>
#include <map>
#include <span>

#include "sim/lower.h"
#include "sim/lower_types.h"

namespace warpwright::sim {

namespace {

enum class Fragment : uint8_t { kLeft, kRight, kSum };

core::InstructionClass AccessClass(Space space, bool load) {
  if (space == Space::kShared) return load ? core::InstructionClass::kSharedLoad : core::InstructionClass::kSharedStore;
  return load ? core::InstructionClass::kGlobalLoad : core::InstructionClass::kGlobalStore;
}

}  // namespace

// The accesses of one statement. Element (row, column) is at base + major * stride + minor; its major index is the row
// of a matrix that is stored by rows.
class FragmentAccess {
 public:
  FragmentAccess(Lowering& lowering, Fragment fragment, const MatrixShape& shape, Type element, Space space,
                 bool by_rows)
      : l_(lowering), fragment_(fragment), shape_(shape), element_(element), space_(space), by_rows_(by_rows) {}

  int packed() const { return PackedElements(element_); }
  int registers() const {
    switch (fragment_) {
      case Fragment::kLeft: return LeftRegisters(shape_, packed());
      case Fragment::kRight: return RightRegisters(shape_, packed());
      default: return SumRegisters(shape_, packed());
    }
  }
  bool Base(const PtxOperand& address, const PtxOperand* stride);
  void Load(std::span<const uint32_t> registers);
  void Store(std::span<const uint32_t> registers);

 private:
  MatrixPlace PlaceOf(int reg, int part) const {  // of lane 0
    switch (fragment_) {
      case Fragment::kLeft: return LeftPlace(shape_, packed(), reg, 0, part);
      case Fragment::kRight: return RightPlace(shape_, packed(), reg, 0, part);
      default: return SumPlace(shape_, packed(), reg, 0, part);
    }
  }
  int Major(const MatrixPlace& place) const { return by_rows_ ? place.row : place.column; }
  int Minor(const MatrixPlace& place) const { return by_rows_ ? place.column : place.row; }
  // Elements of one register, or two registers of one element each, that lie together.
  bool LieTogether(const MatrixPlace& a, const MatrixPlace& b) const {
    return Major(a) == Major(b) && Minor(a) + 1 == Minor(b);
  }

  // Arithmetic that is no instruction of the program: ptxas folds or shares it.
  uint32_t Compute(Op op, Type type, std::initializer_list<uint32_t> operands) {
    Instruction in = l_.Start(op, type, core::InstructionClass::kInteger);
    in.counted = 0;
    in.mul = op == Op::kMul || op == Op::kMad ? MulMode::kLo : MulMode::kNone;
    const uint32_t result = l_.NewRegister(ClassOf(type));
    in.defs = in.operands = 1;
    in.reg[0] = result;
    for (uint32_t operand : operands) l_.UseRegister(in, operand);
    l_.Emit(in);
    return result;
  }
  uint32_t Wide(uint32_t reg) {
    Instruction in = l_.Start(Op::kConvert, Type::kU64, core::InstructionClass::kInteger);
    in.counted = 0;
    in.from = Type::kU32;
    in.wide_result = true;
    in.defs = in.operands = 1;
    in.reg[0] = l_.NewRegister(RegisterClass::k64);
    const uint32_t result = in.reg[0];
    l_.UseRegister(in, reg);
    l_.Emit(in);
    return result;
  }
  uint32_t PackHalves(uint32_t low, uint32_t high) {
    Instruction in = l_.Start(Op::kPack, Type::kB32, core::InstructionClass::kMove);
    in.counted = 0;
    in.vector = 2;
    in.defs = in.operands = 1;
    in.reg[0] = l_.NewRegister(RegisterClass::k32);
    const uint32_t result = in.reg[0];
    l_.UseRegister(in, low);
    l_.UseRegister(in, high);
    l_.Emit(in);
    return result;
  }
  uint32_t Narrow(uint64_t value) { return l_.Immediate(value, false); }
  uint32_t Number(uint64_t value) { return l_.Immediate(value, true); }
  // The lane's address for the elements of that major index.
  uint32_t AddressOf(int major) {
    auto [known, inserted] = addresses_.try_emplace(major, base_);
    if (inserted && major != 0)
      known->second = Compute(Op::kMad, Type::kU64, {stride_, Number(static_cast<uint64_t>(major)), base_});
    return known->second;
  }
  Instruction Access(Op op, Type type, const MatrixPlace& place, int vector) {
    Instruction in = l_.Start(op, type, AccessClass(space_, op == Op::kLoad));
    in.space = space_;
    in.vector = static_cast<uint8_t>(vector);
    in.site = l_.out_.sites++;
    in.immediate = offset_ + Minor(place) * ByteSize(element_);
    return in;
  }
  void LoadInto(std::initializer_list<uint32_t> to, Type type, const MatrixPlace& place) {
    const uint32_t address = AddressOf(Major(place));
    Instruction in = Access(Op::kLoad, type, place, static_cast<int>(to.size()));
    in.wide_result = ByteSize(type) == 8;
    for (uint32_t reg : to) {
      ++in.defs;
      l_.UseRegister(in, reg);
    }
    l_.UseRegister(in, address);
    l_.Emit(in);
  }
  void StoreFrom(std::initializer_list<uint32_t> from, Type type, const MatrixPlace& place) {
    const uint32_t address = AddressOf(Major(place));
    Instruction in = Access(Op::kStore, type, place, static_cast<int>(from.size()));
    in.wide_source[0] = ByteSize(type) == 8;
    l_.UseRegister(in, address);
    for (uint32_t reg : from) l_.UseRegister(in, reg);
    l_.Emit(in);
  }
  Type Whole() const { return ByteSize(element_) == 8 ? Type::kB64 : Type::kB32; }
  Type Part() const { return ByteSize(element_) == 1 ? Type::kU8 : ByteSize(element_) == 2 ? Type::kU16 : Whole(); }
  bool Pairs(int reg) const {
    return packed() == 1 && fragment_ == Fragment::kSum && LieTogether(PlaceOf(reg, 0), PlaceOf(reg + 1, 0));
  }

  Lowering& l_;
  const Fragment fragment_;
  const MatrixShape shape_;
  const Type element_;
  const Space space_;
  const bool by_rows_;
  uint32_t base_ = kNoOperand, stride_ = kNoOperand;  // the lane's address, and bytes: 64 bits
  int64_t offset_ = 0;
  std::map<int, uint32_t> addresses_;  // by major index
};

bool FragmentAccess::Base(const PtxOperand& address, const PtxOperand* stride) {
  Instruction probe = l_.Start(Op::kLoad, element_, core::InstructionClass::kOther);
  if (!l_.Address(probe, address)) return false;
  offset_ = probe.immediate;
  uint32_t base = probe.reg[0];
  if (!probe.address64) base = Wide(base);
  const auto bytes = static_cast<uint64_t>(ByteSize(element_));
  if (stride != nullptr) {
    Instruction use = l_.Start(Op::kMove, Type::kU32, core::InstructionClass::kOther);
    if (!l_.Use(use, *stride, Type::kU32)) return false;
    stride_ = Compute(Op::kMul, Type::kU64, {Wide(use.reg[0]), Number(bytes)});
  } else {
    const bool tall = fragment_ == Fragment::kLeft;
    const int rows = fragment_ == Fragment::kRight ? shape_.k : shape_.m, columns = tall ? shape_.k : shape_.n;
    stride_ = Number(static_cast<uint64_t>(by_rows_ ? columns : rows) * bytes);
  }
  uint32_t lane = kNoOperand;
  if (!l_.Special("%laneid", Type::kU32, lane)) return false;
  // Where lane / 4 and lane % 4 lie.
  const uint32_t group = Wide(Compute(Op::kShr, Type::kU32, {lane, Narrow(2)}));
  const uint32_t member = Wide(Compute(Op::kAnd, Type::kB32, {lane, Narrow(3)}));
  const auto step = static_cast<uint64_t>(fragment_ == Fragment::kSum ? 2 : packed());
  const bool group_is_row = fragment_ != Fragment::kRight;
  if (group_is_row == by_rows_) {
    base = Compute(Op::kMad, Type::kU64, {stride_, group, base});
    base_ = Compute(Op::kMad, Type::kU64, {member, Number(step * bytes), base});
  } else {
    base = Compute(Op::kMad, Type::kU64, {group, Number(bytes), base});
    base_ = Compute(Op::kMad, Type::kU64, {stride_, Compute(Op::kMul, Type::kU64, {member, Number(step)}), base});
  }
  return true;
}

void FragmentAccess::Load(std::span<const uint32_t> to) {
  const int count = registers();
  for (int reg = 0; reg < count; ++reg) {
    const MatrixPlace first = PlaceOf(reg, 0);
    const uint32_t target = to[static_cast<size_t>(reg)];
    if (Pairs(reg)) {
      LoadInto({target, to[static_cast<size_t>(reg) + 1]}, Whole(), first);
      ++reg;
    } else if (packed() == 1 || LieTogether(first, PlaceOf(reg, 1))) {
      LoadInto({target}, Whole(), first);
    } else {
      // From the last part to the first, which has the lowest bits. Halves are packed: numbers stay numbers.
      uint32_t word = kNoOperand;
      for (int part = packed() - 1; part >= 0; --part) {
        const uint32_t bits = l_.NewRegister(RegisterClass::k32);
        LoadInto({bits}, Part(), PlaceOf(reg, part));
        if (word == kNoOperand) word = bits;
        else if (packed() == 2) word = PackHalves(bits, word);
        else word = Compute(Op::kMad, Type::kU32, {word, Narrow(256), bits});
      }
      Instruction move = l_.Start(Op::kMove, Type::kB32, core::InstructionClass::kMove);
      move.counted = 0;
      move.defs = move.operands = 1;
      move.reg[0] = target;
      l_.UseRegister(move, word);
      l_.Emit(move);
    }
  }
}

void FragmentAccess::Store(std::span<const uint32_t> from) {
  const int count = registers();
  for (int reg = 0; reg < count; ++reg) {
    const MatrixPlace first = PlaceOf(reg, 0);
    const uint32_t source = from[static_cast<size_t>(reg)];
    if (Pairs(reg)) {
      StoreFrom({source, from[static_cast<size_t>(reg) + 1]}, Whole(), first);
      ++reg;
    } else if (packed() == 1 || LieTogether(first, PlaceOf(reg, 1))) {
      StoreFrom({source}, Whole(), first);
    } else {
      for (int part = 0; part < packed(); ++part) {
        const int shift = 8 * ByteSize(element_) * part;
        const uint32_t bits =
            shift == 0 ? source : Compute(Op::kShr, Type::kU32, {source, Narrow(static_cast<uint64_t>(shift))});
        StoreFrom({bits}, Part(), PlaceOf(reg, part));
      }
    }
  }
}

// wmma.load.a.sync.aligned.row.m16n16k16[.global].f16 {...}, [p][, stride]
// wmma.store.d.sync.aligned.row.m16n16k16[.global].f32 [p], {...}[, stride]
// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c and, where A and B are not f16, .f32.bf16.bf16.f32
bool Lowering::Wmma(Opcode& opcode, const PtxStatement& statement) {
  const auto& operands = statement.operands;
  const bool load = opcode.Take("load"), store = !load && opcode.Take("store");
  static constexpr std::pair<std::string_view, Fragment> kFragments[] = {
      {"a", Fragment::kLeft}, {"b", Fragment::kRight}, {"c", Fragment::kSum}, {"d", Fragment::kSum}};
  Fragment fragment = Fragment::kSum;
  MatrixProduct product;
  if ((load || store) && !opcode.TakeOne(kFragments, fragment)) return false;
  if (!(load || store) && !opcode.Take("mma")) return false;
  if (!opcode.Take("sync") || !opcode.Take("aligned") || !opcode.TakeShape(product.shape)) return false;
  if (!load && !store) {
    // A fragment does not depend on how its matrix is stored.
    for (int k = 0; k < 2; ++k)
      if (!opcode.Take("row") && !opcode.Take("col")) return false;
    const bool half = opcode.type_count() == 2;
    if (!half && opcode.type_count() != 4) return false;
    product.left = half ? Type::kF16 : opcode.type(1);
    product.right = half ? Type::kF16 : opcode.type(2);
    product.addend = opcode.type(half ? 1 : 3);
    return Product(opcode, statement, product, opcode.type(0));
  }
  const bool by_rows = opcode.Take("row");
  if (!by_rows && !opcode.Take("col")) return false;
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"global", Space::kGlobal}, {"shared", Space::kShared}, {"shared::cta", Space::kShared}};
  Space space = Space::kGeneric;
  opcode.TakeOne(kSpaces, space);
  if (!opcode.Empty() || opcode.type_count() != 1 || operands.size() < 2 || operands.size() > 3) return false;
  const Type type = opcode.type();
  if (!IsWmmaFragment(product.shape, type, fragment == Fragment::kSum)) return false;

  FragmentAccess access(*this, fragment, product.shape, type, space, by_rows);
  const PtxOperand& data = operands[load ? 0 : 1];
  if (data.kind != PtxOperand::Kind::kVector && access.registers() > 1) return false;
  std::vector<uint32_t> registers;
  const auto add = [&](const PtxOperand& operand) {
    Instruction probe = Start(Op::kMove, type, core::InstructionClass::kOther);
    const Type whole = ByteSize(type) == 8 ? Type::kB64 : Type::kB32;
    if (!(load ? Def(probe, operand, ClassOf(whole)) : Use(probe, operand, whole))) return false;
    registers.push_back(probe.reg[0]);
    return true;
  };
  if (data.kind == PtxOperand::Kind::kVector) {
    for (const PtxOperand& element : data.elements)
      if (!add(element)) return false;
  } else if (!add(data)) {
    return false;
  }
  const auto count = static_cast<size_t>(access.registers());
  const bool repeated = load && type == Type::kF16 && fragment != Fragment::kSum && registers.size() == 8 && count < 8;
  if (registers.size() != count && !repeated) return false;
  if (!access.Base(operands[load ? 1 : 0], operands.size() == 3 ? &operands[2] : nullptr)) return false;
  if (ByteSize(type) < 4)
    out_.shared_minimum_width = std::min<uint32_t>(out_.shared_minimum_width, static_cast<uint32_t>(ByteSize(type)));
  if (store) access.Store(registers);
  else access.Load(registers);
  for (size_t k = count; k < registers.size(); ++k) {
    Instruction move = Start(Op::kMove, Type::kB32, core::InstructionClass::kMove);
    move.counted = 0;
    move.defs = move.operands = 1;
    move.reg[0] = registers[k];
    UseRegister(move, registers[k - count]);
    Emit(move);
  }
  return true;
}

}  // namespace warpwright::sim

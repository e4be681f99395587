// From the tree to instructions over virtual registers: calls inlined, constants and special registers interned,
// branches to labels. Internal to DecodePtx.
//
// `.param` variables of calls live in the thread's local memory; an entry's parameters are constants. A call to a
// function that is already being inlined (recursion), and everything else that we do not execute, becomes
// Op::kUnsupported.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/math_markers.h"
#include "sim/instruction.h"
#include "sim/opcode.h"
#include "sim/ptx_parser.h"

namespace warpwright::sim {

enum class RegisterClass : uint8_t { k32, k64, kPredicate };

struct VirtualRegister {
  RegisterClass cls = RegisterClass::k32;
  int constant = -1;  // index into Lowered::constants
};

struct Lowered {
  KernelInfo info;
  std::vector<Instruction> code;  // reg[]: virtual registers; branches: `block` is a label
  std::vector<uint32_t> labels;   // label -> position in code
  std::vector<VirtualRegister> registers;
  std::vector<ConstantSlot> constants;
  std::vector<std::pair<uint32_t, std::string>> shared_names;
  uint32_t shared_minimum_width = 4;
  bool has_fences = false, has_strong_shared = false, has_async_copies = false, has_warpgroup_products = false;
  uint32_t sites = 0;
};

class Lowering {
 public:
  // `variable_index`: index of each of module.variables in ProgramCode::variables (kNoOperand: not a global one). Texts
  // are appended.
  Lowering(const PtxModule& module, const std::vector<uint32_t>& variable_index, std::vector<std::string>& texts)
      : module_(module), variable_index_(variable_index), texts_(texts) {}
  Result<Lowered> Lower(uint32_t function);

 private:
  struct Frame {
    const PtxFunction* function = nullptr;
    uint32_t register_base = 0, label_base = 0, return_label = 0;
    bool top = false;
    std::unordered_map<uint32_t, uint32_t> locations;  // .local and .param variables -> offset in local memory
  };
  using Builder = bool (Lowering::*)(Opcode&, const PtxStatement&);

  // lower.cpp: frames, operands.
  bool Body(const PtxFunction& function, Frame& frame);
  void Statement(const PtxStatement& statement);
  Instruction& Emit(const Instruction& instruction);
  void EmitFence(bool counted, bool of_device);
  Instruction Start(Op op, Type type, core::InstructionClass cls) const;
  bool Unsupported(const PtxStatement& statement, std::string_view why = {});
  uint32_t NewRegister(RegisterClass cls);
  uint32_t NewLabel();
  uint32_t Constant(ConstantSlot slot);
  uint32_t Immediate(uint64_t bits, bool wide);
  bool Def(Instruction& in, const PtxOperand& operand, RegisterClass cls);
  bool Use(Instruction& in, const PtxOperand& operand, Type type);
  bool UsePredicate(Instruction& in, const PtxOperand& operand);
  bool UseRegister(Instruction& in, uint32_t id);
  // The base register and offset of [..]; sets address64 and immediate. False if it is not an address.
  bool Address(Instruction& in, const PtxOperand& operand);
  bool VariableAddress(uint32_t variable, int64_t offset, uint32_t& id);
  uint32_t SharedOffset(uint32_t variable);
  uint32_t LocalOffset(uint32_t variable);
  bool Special(std::string_view name, Type type, uint32_t& id);
  uint32_t AnyRegister(const PtxOperand& operand) const;  // its virtual register, or kNoOperand
  bool Operands(Instruction in, const Opcode& opcode, const PtxStatement& statement, std::initializer_list<Type> uses);

  // lower_arithmetic.cpp
  bool AddSub(Opcode&, const PtxStatement&);
  bool MulMad(Opcode&, const PtxStatement&);
  bool Fma(Opcode&, const PtxStatement&);
  bool DivRem(Opcode&, const PtxStatement&);
  bool Unary(Opcode&, const PtxStatement&);
  bool MinMax(Opcode&, const PtxStatement&);
  bool SpecialFunction(Opcode&, const PtxStatement&);
  bool Bits(Opcode&, const PtxStatement&);
  bool Logic(Opcode&, const PtxStatement&);
  bool Dot(Opcode&, const PtxStatement&);

  // lower_convert.cpp
  bool Set(Opcode&, const PtxStatement&);
  bool Select(Opcode&, const PtxStatement&);
  bool Convert(Opcode&, const PtxStatement&);
  bool Move(Opcode&, const PtxStatement&);

  // lower_memory.cpp
  bool LoadStore(Opcode&, const PtxStatement&);
  bool LoadParameter(const Opcode&, const PtxStatement&, int vector);
  bool Atomic(Opcode&, const PtxStatement&);
  bool Cvta(Opcode&, const PtxStatement&);
  bool IsSpace(Opcode&, const PtxStatement&);
  bool NoOperation(Opcode&, const PtxStatement&);

  // lower_matrix.cpp
  bool Mma(Opcode&, const PtxStatement&);
  bool Product(Opcode&, const PtxStatement&, MatrixProduct product, Type sum);
  bool LoadStoreMatrix(Opcode&, const PtxStatement&);
  bool TransposeMatrix(Opcode&, const PtxStatement&);

  // lower_warpgroup.cpp
  bool Warpgroup(Opcode&, const PtxStatement&);
  bool WarpgroupProduct(Opcode&, const PtxStatement&);

  // lower_async.cpp
  bool AsyncCopy(Opcode&, const PtxStatement&);
  bool CopyToShared(Opcode&, const PtxStatement&);

  // lower_mbarrier.cpp
  bool Mbarrier(Opcode&, const PtxStatement&);
  bool CopiesArrive(Opcode&, const PtxStatement&);
  void EmitMbarrier(const Instruction& in);

  // lower_wmma.cpp
  friend class FragmentAccess;
  bool Wmma(Opcode&, const PtxStatement&);

  // lower_control.cpp
  bool Branch(Opcode&, const PtxStatement&);
  bool Exit(Opcode&, const PtxStatement&);
  bool Call(const PtxStatement&);
  bool CallKnown(const PtxStatement&, std::string_view name);
  bool CallMarker(const PtxStatement&, const core::MarkerCall& call);
  bool LoadArgument(const PtxOperand& operand, Type type, uint32_t& id);
  bool Barrier(Opcode&, const PtxStatement&);
  bool Shuffle(Opcode&, const PtxStatement&);
  bool Vote(Opcode&, const PtxStatement&);
  bool Match(Opcode&, const PtxStatement&);
  bool Redux(Opcode&, const PtxStatement&);
  bool ActiveMask(Opcode&, const PtxStatement&);
  bool Elect(Opcode&, const PtxStatement&);

  static const std::unordered_map<std::string_view, Builder>& Builders();

  const PtxModule& module_;
  const std::vector<uint32_t>& variable_index_;
  std::vector<std::string>& texts_;
  Lowered out_;
  Frame* frame_ = nullptr;
  std::vector<const PtxFunction*> stack_;
  const PtxStatement* statement_ = nullptr;
  std::map<std::tuple<int, bool, uint64_t, uint32_t>, uint32_t> interned_;
  std::unordered_map<uint32_t, uint32_t> shared_;      // variable -> offset
  std::unordered_map<uint32_t, uint32_t> parameters_;  // an entry's variable -> offset
  uint32_t carry_ = kNoOperand;
  uint64_t local_bytes_ = 0;
  bool too_large_ = false;
  bool emitting_ = false;  // something was emitted for the statement
};

RegisterClass ClassOf(Type type);

}  // namespace warpwright::sim

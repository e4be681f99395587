// The decoded form of PTX that the executor runs. One Instruction is one warp instruction with its operands resolved to
// byte offsets in a warp's register file, where a 32-bit register is 32 lanes of 4 bytes, a 64-bit one 32 lanes of 8,
// and a predicate one word with a bit for each lane. 8- and 16-bit registers live zero-extended in 32-bit lanes.
// Constants and special registers are read-only slots of the same file, filled when a Machine is created, so that
// handlers deal with one kind of operand only.
//
// Every basic block begins with a kHeader instruction: it counts for the whole block (its instructions run under one
// mask) and detects that a point of reconvergence is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/counters.h"
#include "sim/matrix_layout.h"
#include "sim/program.h"

namespace warpwright::sim {

enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kTf32,
  kF32,
  kF64
};
int ByteSize(Type type);  // kPred: 1
bool IsSigned(Type type);
bool IsFloat(Type type);  // f16 and bf16 too

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

enum class Op : uint8_t {
  // Inserted by the decoder.
  kHeader,
  kUnsupported,
  kEnd,
  // Control.
  kBranch,
  kExit,
  kBarrier,
  kBarrierArrive,
  kBarrierReduce,
  kWarpBarrier,
  kTrap,
  kPrint,
  kAssertFail,
  kNop,
  kFence,
  // Moves and comparisons.
  kMove,
  kPack,
  kUnpack,
  kSelect,
  kSlct,
  kSetPredicate,
  kSet,
  kPredicateLogic,
  kClock,
  kIsSpace,
  // Integers.
  kAdd,
  kSub,
  kMul,
  kMad,
  kMul24,
  kMad24,
  kSad,
  kDiv,
  kRem,
  kAbs,
  kNeg,
  kMin,
  kMax,
  kPopc,
  kClz,
  kBfind,
  kBrev,
  kFns,
  kBfe,
  kBfi,
  kBmsk,
  kSzext,
  kDp4a,
  kDp2a,
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kLop3,
  kShl,
  kShr,
  kShf,
  kPrmt,
  kAddCarry,
  kSubCarry,
  kMadCarry,
  // Floats.
  kFma,
  kRcp,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kLg2,
  kEx2,
  kTanh,
  kTestp,
  kCopysign,
  kConvert,
  kConvertPack,
  kMathCall,  // of a marker for a function of the mathematical library: core::Function, computed by the host's
  // Memory.
  kLoad,
  kStore,
  kAtomic,
  kReduction,
  kCvta,
  // Asynchronous copies. kAsyncCopy: to, from[, bytes that are read, or mode 1: a predicate that none are]; vector:
  // bytes. kAsyncWait: immediate: groups that may remain; mode 1: all copies.
  kAsyncCopy,
  kAsyncCommit,
  kAsyncWait,
  kMbarrier,  // mode: MbarrierOp
  // Tensor cores. All lanes of the warp together.
  kMatrixProduct,
  kMatrixTranspose,  // movmatrix
  kMatrixLoad,       // ldmatrix; vector: matrices, mode: transposed
  kMatrixStore,      // stmatrix
  // wgmma, by warps: each has 16 rows of the warpgroup's 64. kWarpgroupProduct: sums, [sums, A's registers or
  // descriptor, B's descriptor, whether the old sums count]; mode 1: `text` says why its registers are not ready.
  // kWarpgroupWait: immediate: groups that may remain.
  kWarpgroupProduct,
  kWarpgroupFence,
  kWarpgroupCommit,
  kWarpgroupWait,
  kWarpgroupMisuse,  // an instruction that must not run here: `text`
  kProxyFence,       // fence.proxy.async
  // Across lanes.
  kShuffle,
  kVote,
  kMatchAny,
  kMatchAll,
  kRedux,
  kActiveMask,
  kElect
};

enum class Rounding : uint8_t {
  kDefault,
  kNearest,
  kZero,
  kDown,
  kUp,
  kNearestAway,
  kIntNearest,
  kIntZero,
  kIntDown,
  kIntUp
};
enum class Compare : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };
enum class MulMode : uint8_t { kNone, kLo, kHi, kWide };
enum class AtomicOp : uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };
enum class ShuffleMode : uint8_t { kUp, kDown, kBfly, kIdx };
enum class VoteMode : uint8_t { kAll, kAny, kUni, kBallot };
enum class TestMode : uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
enum class PrmtMode : uint8_t { kGeneric, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

struct Context;
struct Instruction;
// Runs one instruction for the active lanes and returns the next one, or nullptr after it has set Context::stop.
using Handler = const Instruction* (*)(Context&, const Instruction*);
struct HandlerPair {
  Handler masked = nullptr;  // writes only the active lanes
  Handler full = nullptr;    // all lanes that have not exited are active: may write every lane
};

inline constexpr uint32_t kNoOperand = UINT32_MAX;
inline constexpr uint32_t kNoBlock = UINT32_MAX;
inline constexpr uint32_t kNoBranch = UINT32_MAX;
inline constexpr int kMaxOperands = 264;  // wgmma has most

// An instruction's registers. Only products of matrices have more than fit here.
class OperandList {
 public:
  static constexpr int kInline = 6;
  [[gnu::always_inline]] uint32_t& operator[](int k) { return k < kInline ? first_[k] : more_[k - kInline]; }
  [[gnu::always_inline]] uint32_t operator[](int k) const { return k < kInline ? first_[k] : more_[k - kInline]; }
  void Resize(int count) {  // beyond the first ones
    if (count > kInline) more_.resize(static_cast<size_t>(count - kInline), kNoOperand);
  }

 private:
  uint32_t first_[kInline] = {kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand};
  std::vector<uint32_t> more_;
};

struct Instruction {
  Handler run[2] = {nullptr, nullptr};   // by Context::full
  Handler body[2] = {nullptr, nullptr};  // under a guard: what `run` calls with the guard's lanes
  OperandList reg;
  uint32_t guard = kNoOperand;
  int64_t immediate = 0;  // an address's offset, lop3's table, a barrier's number, kHeader: instructions of the block
  // kHeader: its own block. kBranch: the blocks when taken and when not, and where they reconverge. Memory: the pattern
  // cache.
  uint32_t block = kNoBlock, fall_through = kNoBlock, reconverge = kNoBlock;
  uint32_t site = 0;
  uint32_t index = 0;           // in KernelCode::code
  uint32_t line = 0;            // into ProgramCode::locations
  uint32_t text = 0;            // kUnsupported, kTrap: into ProgramCode::texts
  uint32_t branch = kNoBranch;  // of a conditional branch or exit: its number in the kernel, in the order of the PTX
  Op op = Op::kNop;
  Type type = Type::kNone, from = Type::kNone;
  uint16_t defs = 0, operands = 0;  // reg[0, defs) are written, reg[defs, operands) read
  core::InstructionClass count_as = core::InstructionClass::kOther;
  uint8_t counted = 1;  // 0: not an instruction of the program
  uint8_t flops = 0;    // per thread, in the precision of `type`
  Space space = Space::kGeneric;
  Rounding rounding = Rounding::kDefault;
  Compare compare = Compare::kEq;
  BoolOp bool_op = BoolOp::kNone;
  MulMode mul = MulMode::kNone;
  uint8_t mode = 0;    // AtomicOp, ShuffleMode, VoteMode, TestMode, PrmtMode, core::Function, predicate logic's Op
  uint8_t vector = 1;  // elements of a load, store, pack or unpack
  bool guard_negated = false;
  bool speculative = false;       // a load: what its register holds does not matter where the guard does not hold
  bool negate_predicate = false;  // of the last operand, a predicate
  bool ftz = false, sat = false, approx = false, full_range = false, relu = false, nan = false, xorsign = false,
       abs = false;
  bool wrap = false;  // shf.wrap
  bool carry_in = false, carry_out = false;
  bool is_volatile = false;  // volatile, relaxed, acquire, release: not a plain access
  bool bypass_l1 = false;
  bool of_block = false;                        // an atomic operation that is one for the threads of its block alone
  bool read_only = false;                       // ld.global.nc: nothing writes there while the kernel runs
  bool address64 = true;                        // the address register's width
  bool aligned = true;                          // bar.sync and barrier.sync.aligned: the whole warp together
  bool wide_source[3] = {false, false, false};  // a 64-bit register if the type is narrower (ld, st, cvt)
  bool wide_result = false;
  MatrixProduct product;  // kMatrixProduct, kWarpgroupProduct
};

struct BasicBlock {
  uint32_t header = 0;  // index of its kHeader
  uint32_t end = 0;     // index after its last instruction
};

// A slot that is filled before execution.
struct ConstantSlot {
  enum class Kind : uint8_t {
    kValue,
    kVariable,  // value: the bits; variable: address of ProgramCode::variables[index] + value
    kTidX,
    kTidY,
    kTidZ,
    kNtidX,
    kNtidY,
    kNtidZ,
    kCtaidX,
    kCtaidY,
    kCtaidZ,
    kNctaidX,
    kNctaidY,
    kNctaidZ,
    kLaneId,
    kWarpId,
    kNWarpId,
    kLanemaskEq,
    kLanemaskLe,
    kLanemaskLt,
    kLanemaskGe,
    kLanemaskGt,
    kSmId,
    kNSmId,
    kGridId,
    kGridWorkspaceHigh,
    kGridWorkspaceLow,
    kTotalSharedSize,
    kDynamicSharedSize,
    kPredicateTrue,
    kParameter,
    kDynamicShared  // parameter: value is the offset, index the bytes, negative where signed; dynamic: value added
  };
  Kind kind = Kind::kValue;
  bool wide = false;  // 64 bits
  uint64_t value = 0;
  uint32_t index = 0;
  uint32_t offset = 0;  // in the register file
};

struct KernelCode {
  KernelInfo info;
  std::vector<Instruction> code;  // ends with kEnd
  std::vector<BasicBlock> blocks;
  std::vector<ConstantSlot> constants;
  uint32_t constants_bytes = 0;  // they come first
  uint32_t register_bytes = 0;   // of the file of one warp, a multiple of 64
  std::vector<std::pair<uint32_t, uint32_t>>
      undefined;  // offset and bytes of slots that may be read before they are written
  uint32_t sites = 0;
  uint32_t shared_minimum_width = 4;  // bytes of the narrowest access to shared memory
  // Fences, and what they could order in shared memory: atomics or volatile accesses.
  bool has_fences = false, has_strong_shared = false;
  bool has_async_copies = false, has_warpgroup_products = false;
  std::vector<std::pair<uint32_t, std::string>> shared_names;  // offset and name, ascending
};

struct ProgramCode {
  std::vector<KernelCode> kernels;
  std::vector<KernelInfo> infos;
  std::vector<ModuleVariable> variables;
  std::vector<SourceLocation> locations;  // [0]: unknown
  std::vector<std::string> texts;
};

}  // namespace warpwright::sim

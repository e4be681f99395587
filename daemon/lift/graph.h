// Hash-consed expressions over an entry's inputs, as an execution makes them: binary trees in the order of execution,
// each node beside its concrete value. canonical.h brings them into one form.
//
// A register or memory location is a string of bits. A node stands for such a string: of a floating-point number, an
// integer, or pieces of one (kPack, kExtract), so that halves travel through wider registers. Equal nodes have equal
// ids; args precede their node. Everything that is not a node is concrete: addresses, loop counters, indices.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/computation.h"
#include "lift/id_table.h"
#include "sim/instruction.h"

namespace warpwright::lift {

using ExprId = uint32_t;
inline constexpr ExprId kConcrete = 0;  // no node: the bits of the register say all

enum class ExprOp : uint8_t {
  kNone,
  // Leaves.
  kConst,   // payload: bits
  kLoad,    // buffer: argument; payload: index of the element. The content before the call.
  kScalar,  // buffer: index of the scalar in the entry's signature (floating-point scalars; payload: bits)
  kGather,  // buffer, args[0]: index of the element as an integer; payload: its concrete value
  // Floating point (type: kF16, kBf16, kF32, kF64). kFma: args[0] * args[1] + args[2], rounded once. mode: of kMin and
  // kMax, 1 if a NaN wins; else sim::Rounding where it is not to nearest. kCopysign: sign of args[0], rest of args[1].
  // kDiv, payload: 1 for .approx, where a divisor above 2^126 gives zero.
  kAdd,
  kSub,
  kMul,
  kFma,
  kDiv,
  kMin,
  kMax,
  kNeg,
  kAbs,
  kCopysign,
  kRcp,
  kSqrt,
  kRsqrt,
  kEx2,
  kLg2,
  kSin,
  kCos,
  kTanh,     // instructions; `approx` where they are approximations
  kCall,     // mode: core::Function, from a marker
  kConvert,  // between number types, `from` of args[0]; mode: sim::Rounding
  // Predicates.
  kCompare,  // mode: sim::Compare; type: kPred; from: the operands' type
  kAnd,
  kOr,
  kXor,
  kNot,
  kSelect,  // args: predicate, then, else
  // Integers (type: kS32, kU32, kS64, ...; kMin, kMax, kNeg, kAbs, kSelect, kCompare, kConvert as above, by type).
  kIntAdd,
  kIntSub,
  kIntMul,
  kIntMulHigh,
  kIntDiv,
  kIntRem,
  kIntAnd,
  kIntOr,
  kIntXor,
  kIntNot,
  kIntShl,
  kIntShr,
  kIntPopc,
  kIntClz,
  // Bits. kPack: args are parts of equal width, lowest first. kExtract: payload: first bit; type: width.
  kPack,
  kExtract
};

struct Expr {
  ExprOp op = ExprOp::kNone;
  sim::Type type = sim::Type::kNone;
  sim::Type from = sim::Type::kNone;
  uint8_t mode = 0;
  bool approx = false;  // also: flushes subnormals
  bool flush = false;   // subnormal operands and results become zero
  uint8_t arity = 0;
  uint16_t buffer = 0;
  std::array<ExprId, 3> args = {};  // kPack of four: nested
  uint64_t payload = 0;
  // Not part of the node's identity.
  uint64_t concrete = 0;  // bits in the run that made it
  uint32_t line = 0;      // of the instruction: index into the program's locations

  std::span<const ExprId> arguments() const { return {args.data(), arity}; }
  bool operator==(const Expr& o) const {
    return op == o.op && type == o.type && from == o.from && mode == o.mode && approx == o.approx && arity == o.arity &&
           flush == o.flush && buffer == o.buffer && args == o.args && payload == o.payload;
  }
};

class Graph {
 public:
  explicit Graph(uint32_t limit);  // of nodes: 48 bytes and a hash entry each
  Graph Copy() const;
  // Its id; the existing one if there is an equal node. kConcrete when the limit is reached, and `full` from then on.
  ExprId Make(const Expr& expr) { return Add(expr).first; }
  // With whether it is new; if so, its concrete value may be set until it is asked for.
  std::pair<ExprId, bool> Add(const Expr& expr);
  // What Add will look at comes nearer to the processor.
  void Prefetch(const Expr& expr) const;
  void SetConcrete(ExprId id, uint64_t bits) { At(id).concrete = bits; }
  const Expr& operator[](ExprId id) const { return chunks_[id / kChunk][id % kChunk]; }  // stays where it is
  uint32_t size() const { return size_; }
  bool full() const { return full_; }

 private:
  static constexpr uint32_t kChunk = 1 << 14;
  Expr& At(ExprId id) { return chunks_[id / kChunk][id % kChunk]; }

  std::vector<std::unique_ptr<Expr[]>> chunks_;  // [0]: kNone
  IdTable ids_;
  uint32_t size_ = 1;
  uint32_t limit_ = 0;
  bool full_ = false;
};

// In bits; 1 for a predicate.
inline int Width(sim::Type type) { return type == sim::Type::kPred ? 1 : 8 * sim::ByteSize(type); }
inline bool IsIntegerType(sim::Type type) { return type >= sim::Type::kU8 && type <= sim::Type::kS64; }
std::string_view Name(ExprOp op);  // "fma"

}  // namespace warpwright::lift

// What an entry computes, apart from how: a list of stages, each a tensor whose elements are given by one expression
// over the entry's arguments and earlier stages. `lift/` makes it from executions; the judge, the planner, reports and
// people read it.
//
// Format. A stage has index variables 0 .. rank-1, which run over `extents`; each Reduce inside its expression adds
// variables of its own, numbered on from there. A position in a tensor is affine in variables (Index), or is itself
// data (a gather). Sizes (extents, coefficients, offsets) are integer expressions of the entry's integer scalars, so
// that one Computation holds for all shapes. Nodes are an arena in topological order: a node's arguments precede it.
//
// Types. A value is real, an integer (64 bits) or a truth value; computation_walk.h infers which. Sums and products of
// integers are integers; where an integer meets a real number, it is converted. A truth value counts as 0 or 1.
//
// Reading what does not exist (outside a tensor, outside a stage's domain) is permitted where the value is not used: in
// the branch that a Select does not take.
//
// The fully staged form, which lift/ delivers and the digest is of, has every reduction as the root of a stage of its
// own; Inlined() is for reading.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/dtype.h"
#include "core/expression.h"

namespace warpwright::core {

using Size = Expression;  // over the entry's integer scalars; by default 0
using NodeId = uint32_t;
using VariableId = uint32_t;

// (sum of coefficient * part(variable) + constant) / divisor; the division is exact wherever the guards hold.
struct Affine {
  enum class Part : uint8_t { kWhole, kQuotient, kRemainder };  // of the variable by `modulus`, rounded down
  struct Term {
    VariableId variable = 0;
    Size coefficient;
    Part part = Part::kWhole;
    std::optional<Size> modulus;  // of kQuotient and kRemainder
    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms;  // by ascending variable and part
  Size constant;
  Size divisor = Size::Constant(1);  // positive
  bool operator==(const Affine&) const = default;
};

// low <= value < high, and value is an integer (its division exact). An absent bound does not restrict.
struct Guard {
  // What a term of a sum is beyond the bounds, where what is read at `value` ends there: left out, or 0 times its other
  // factors, which is no number where one of them is infinite. Forms of both are the same; lift/ does not tell them.
  enum class Outside : uint8_t { kUnknown, kLeftOut, kZero };
  Affine value;
  std::optional<Size> low, high;
  Outside outside = Outside::kUnknown;
  bool operator==(const Guard&) const = default;
};

// Of one coordinate: affine, or the value of an integer-typed node (a gather).
using Coordinate = std::variant<Affine, NodeId>;

enum class ReduceOp : uint8_t { kSum, kProduct, kMax, kMin, kArgMaxFirst, kArgMaxLast, kArgMinFirst, kArgMinLast };
std::string_view Name(Affine::Part part);
std::string_view Name(Guard::Outside outside);  // "left_out"
std::string_view Name(ReduceOp op);             // "sum", "argmax_first"

enum class Comparison : uint8_t { kLess, kLessEqual, kEqual, kNotEqual };
std::string_view Name(Comparison comparison);  // "less"
// Of one real argument, except kPower, kAtan2, kHypot, kFmod, kCopysign (two). kRound: halves away from zero, kRint:
// to even. Integer functions are from kFirstInteger on, all of two arguments but the last three; division truncates as
// in C, bits are counted in the low 32.
enum class Function : uint8_t {
  kReciprocal,
  kSqrt,
  kRsqrt,
  kExp,
  kExp2,
  kExp10,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kErfinv,
  kNormcdf,
  kLgamma,
  kTgamma,
  kCbrt,
  kAbs,
  kFloor,
  kCeil,
  kRound,
  kRint,
  kTrunc,
  kSign,
  kPower,
  kAtan2,
  kHypot,
  kFmod,
  kCopysign,
  kFirstInteger,
  kIntegerDivide = kFirstInteger,
  kIntegerRemainder,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kPopulationCount,
  kLeadingZeros
};
std::string_view Name(Function function);  // "exp", "rsqrt"
size_t Arity(Function function);

struct Constant {
  double value = 0;
  bool operator==(const Constant& other) const;  // of the bits: NaN equals NaN, 0 does not equal -0
};
struct ScalarRead {
  std::string name;
  bool operator==(const ScalarRead&) const = default;
};  // an argument of the entry
struct SizeValue {
  Size size;
  bool operator==(const SizeValue&) const = default;
};  // as a number: the n of a mean
struct IndexValue {
  Affine index;
  bool operator==(const IndexValue&) const = default;
};  // a position as a number
// An element of an argument (content before the call) or of an earlier stage.
struct TensorRead {
  std::string tensor;  // name of a buffer argument, or of an intermediate stage
  bool stage = false;
  std::vector<Coordinate> at;
  bool operator==(const TensorRead&) const = default;
};
// Terms whose guards fail are left out. The value of an arg reduction is `index` at the chosen term.
struct Reduce {
  ReduceOp op = ReduceOp::kSum;
  struct Variable {
    VariableId id = 0;
    Size extent;  // 0 <= variable < extent
    bool operator==(const Variable&) const = default;
  };
  std::vector<Variable> variables;
  std::vector<Guard> guards;
  NodeId body = 0;
  std::optional<Affine> index;
  bool operator==(const Reduce&) const = default;
};
struct Nary {  // two and more arguments, in any order: real addition, multiplication, maximum, minimum
  ReduceOp op = ReduceOp::kSum;
  std::vector<NodeId> args;
  bool operator==(const Nary&) const = default;
};
struct Call {
  Function function = Function::kExp;
  std::vector<NodeId> args;
  bool operator==(const Call&) const = default;
};
struct Compare {
  Comparison op = Comparison::kLess;
  NodeId left = 0, right = 0;
  bool operator==(const Compare&) const = default;
};
struct Logic {  // kNot has one argument
  enum class Op : uint8_t { kAnd, kOr, kNot };
  Op op = Op::kAnd;
  std::vector<NodeId> args;
  bool operator==(const Logic&) const = default;
};
std::string_view Name(Logic::Op op);
struct Select {
  NodeId condition = 0, then = 0, otherwise = 0;
  bool operator==(const Select&) const = default;
};
// Rounding or conversion to a type: to f16, bf16; to an integer (from a real number toward zero, saturating, NaN to 0;
// from an integer its low bits).
struct Convert {
  DType to = DType::kF16;
  NodeId arg = 0;
  bool operator==(const Convert&) const = default;
};
using Node = std::variant<Constant, ScalarRead, SizeValue, IndexValue, TensorRead, Reduce, Nary, Call, Compare, Logic,
                          Select, Convert>;

struct Stage {
  std::string name;  // an output: its argument's name; else "t0", "t1", ..., which no argument has. Stages of one name
                     // define disjoint parts of one tensor
  bool output = false;
  DType dtype = DType::kF32;  // of an output, as stored
  std::vector<Size> extents;  // of the index variables
  std::vector<Guard> domain;  // restricts the box
  std::vector<Affine> at;     // output: coordinate in the buffer; empty: the index variables themselves
  std::vector<Node> nodes;    // the last one is the value
  int line = 0;               // where the value is computed; 0: unknown
  bool operator==(const Stage&) const = default;
};

// A buffer or scalar argument as the computation sees it.
struct TensorArgument {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<Size> shape;
  bool read = false, written = false;
  bool operator==(const TensorArgument&) const = default;
};

struct Computation {
  std::vector<TensorArgument> tensors;
  std::vector<std::string> sizes;        // integer scalar arguments: the names that a Size may have
  std::vector<std::string> scalars;      // floating-point scalar arguments that are read
  std::vector<Stage> stages;             // in the order of computation
  std::vector<std::string> assumptions;  // "for inputs without NaN", "path 2 of 3 seen (softmax.cu:31)"
  bool operator==(const Computation&) const = default;

  const Stage* FindStage(std::string_view name) const;            // the first part
  const TensorArgument* FindTensor(std::string_view name) const;  // an argument
  std::string FreeName(const std::string& wish) const;  // of no stage and no argument: `wish`, or that with a number
};

// Whether all that is read is there: nodes in order, variables bound, names, ranks and types; and within the limits:
// 64 stages, tensors and variables, 4,096 nodes in a stage, rank 8. What the other functions on a Computation assume.
// kCorrupt.
Status Validate(const Computation& computation);
// The names that its sizes have, sorted: for Computation::sizes.
std::vector<std::string> SizeNames(const Computation& computation);
// "path 1 of 2 seen (clamp.cu:12)": the form is of inputs that go this way alone, and nothing tells which do.
bool IsOfOnePath(std::string_view assumption);
// The first assumption that does not hold at these sizes ("N = 1", "M = N", "K % 4 = 0") or may not hold of some input;
// none: the form is of them.
std::optional<std::string> BrokenAssumption(const Computation& computation,
                                            const std::map<std::string, int64_t>& sizes);

}  // namespace warpwright::core

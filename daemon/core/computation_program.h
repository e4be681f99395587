// A Computation compiled for one shape: what computation_evaluate.h runs. No names are left; positions are flat arrays
// of integers.
//
// A stage's elements are computed in lanes, up to kLanes of them together: each lane has its own values of the stage's
// index variables, and all share those of the reductions. A Block is a list of steps; the root block runs once for each
// group of lanes, the block of a reduction once for each of its terms. A node is in the innermost block whose variables
// its value depends on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::core {

using SizeValues = std::map<std::string, int64_t>;
inline constexpr int64_t kLanes = 64;

struct PositionTerm {
  VariableId variable = 0;
  int64_t coefficient = 0;
  Affine::Part part = Affine::Part::kWhole;
  int64_t modulus = 1;
};
// The terms are [first, end) of StageProgram::terms; those from `shared` on are of reductions' variables.
struct Position {
  int64_t constant = 0, divisor = 1;
  uint32_t first = 0, shared = 0, end = 0;
};
struct CompiledGuard {
  Position value;
  uint32_t position = 0;      // of the value
  int64_t low = 0, high = 0;  // low <= value < high; the type's limits where there is none
};

enum class StepOp : uint8_t {
  kRead,
  kReduce,
  kSum,
  kProduct,
  kMax,
  kMin,
  kRealCall,
  kRealCall2,
  kReciprocal,
  kIntegerCall,
  kPosition,
  kCompare,
  kAnd,
  kOr,
  kNot,
  kSelect,
  kRound,          // to a floating-point type
  kRealToInteger,  // toward zero, saturating
  kNarrow,         // an integer to an integer type
  kToBoolean,
  kIntegerToReal
};
struct Step {
  StepOp op = StepOp::kRead;
  bool integer = false;           // the arguments are; of a comparison too
  uint8_t detail = 0;             // a Function, Comparison or DType
  uint32_t out = 0;               // register
  uint32_t first = 0, count = 0;  // arguments: registers, in StageProgram::args
  uint32_t extra = 0;             // index of the read, reduction or position
};
struct CompiledRead {
  uint32_t buffer = 0;
  struct Coordinate {
    bool gathered = false;
    uint32_t index = 0;  // a register, or a position
  };
  std::vector<Coordinate> at;
};
struct CompiledReduce {
  ReduceOp op = ReduceOp::kSum;
  bool integer = false;
  bool of_matrices = false;  // terms are products of factors that belong to several results: tensor cores may add them
  std::vector<std::pair<VariableId, int64_t>> variables;  // with extents
  std::vector<CompiledGuard> guards;
  uint32_t block = 0, body = 0;  // body: a register
  uint32_t position = 0;         // of an arg reduction: its index
};
struct Block {
  std::vector<Step> steps;
  int64_t terms = 1;  // at most, for each time that the block around it runs
};

struct TermProgram;  // term_program.h

struct StageProgram {
  std::string name;
  std::vector<int64_t> extents;
  std::vector<CompiledGuard> domain;
  std::vector<uint32_t> at;   // positions; none: the index variables
  uint32_t buffer = 0;        // that it writes
  uint32_t result = 0;        // register
  std::vector<Block> blocks;  // [0]: root
  std::vector<uint32_t> args;
  std::vector<PositionTerm> terms;
  std::vector<Position> positions;  // what names one has its index here
  std::vector<CompiledRead> reads;
  std::vector<CompiledReduce> reduces;
  std::vector<std::shared_ptr<const TermProgram>> term_programs;  // by reduction, or none
  uint32_t registers = 0;
  struct Preset {  // registers that hold one value all the time
    uint32_t out = 0;
    bool integer = false;
    double real = 0;
    int64_t whole = 0;
    int scalar = -1;    // index in Computation::scalars: the value is that of the argument
    bool exact = true;  // false: a literal that the narrower format may have rounded
  };
  std::vector<Preset> presets;
  uint64_t work = 0;  // steps at most for one element; saturates

  int64_t elements() const;  // of the box
  // nullptr: lanes hold elements. `points`: single ones, which need not be neighbours.
  const TermProgram* TermsInLanes(size_t reduce, bool points) const;
};

struct BufferShape {
  std::string name;
  bool stage = false;  // else an argument's content before the call
  bool integer = false;
  DType dtype = DType::kF64;  // of arguments and outputs
  bool output = false;
  std::vector<int64_t> extents, strides;
  int64_t elements = 0;
};

struct Program {
  std::vector<BufferShape> buffers;
  std::vector<StageProgram> stages;
  uint64_t work = 0;      // steps at most; saturates
  uint64_t elements = 0;  // of all that the stages write; saturates
};

// `computation` is valid. kConfig: a size that has no value, or no sensible one. kLimit: too many steps to be a
// program.
Result<Program> CompileProgram(const Computation& computation, const SizeValues& sizes);

}  // namespace warpwright::core

// What kind of operation a Computation is, whatever its sizes: for features, skills and policy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/computation.h"
#include "core/operation_class.h"

namespace warpwright::core {

struct StageClass {
  std::string stage;
  size_t index = 0;  // in Computation::stages: parts of a tensor share their name
  OperationClass operation = OperationClass::kElementwise;
};
// A sum over products of two operands. Variables are the stage's; of a convolution `m` has the input's and `n` the
// weights' own.
struct Contraction {
  std::string stage;
  std::string left, right;  // tensors or stages, as far as an operand reads one
  std::vector<VariableId> batch, m, n, k;
  bool operator==(const Contraction&) const = default;
};
struct ReductionAxis {
  std::string stage;
  ReduceOp op = ReduceOp::kSum;
  std::string tensor;  // or stage
  size_t dimension = 0;
  Size extent;
  bool operator==(const ReductionAxis&) const = default;
};
// (stride * index + dilation * term + offset) / divisor as coordinate.
struct Window {
  std::string stage, tensor;
  size_t dimension = 0;
  Size extent, stride, dilation, offset, divisor;
  bool operator==(const Window&) const = default;
};
bool IsGroup(const Window& window);  // windows beside each other: no element is in two of them
struct Fusion {
  enum class Kind : uint8_t {
    kInline,    // the producer's elements can be computed where they are read
    kEpilogue,  // the reader works on each element that a reduction delivers
    kRow        // both work on one row: a reduction, then elements that need it
  };
  std::string producer, reader;
  Kind kind = Kind::kInline;
  bool operator==(const Fusion&) const = default;
};
std::string_view Name(Fusion::Kind kind);

struct ComputationStructure {
  OperationClass operation = OperationClass::kElementwise;
  std::vector<StageClass> stages;
  std::vector<Contraction> contractions;
  std::vector<ReductionAxis> axes;
  std::vector<Window> windows;
  std::vector<Fusion> fusions;
};

// `computation` is valid.
ComputationStructure StructureOf(const Computation& computation);
OperationClass ClassOf(const Computation& computation, const ComputationStructure& structure);
// Of the stages whose values are computed on these lines, as those of one kernel of several are; none: there are none.
std::optional<OperationClass> ClassOfLines(const Computation& computation, const ComputationStructure& structure,
                                           int first, int last);

}  // namespace warpwright::core

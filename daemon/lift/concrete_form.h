// The statements that the elements of all written buffers are instances of, at one shape: a core::Computation whose
// sizes are numbers. Exact by construction: every index is checked on every instance, every domain is counted.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/computation.h"
#include "lift/coordinates.h"
#include "lift/form_graph.h"

namespace warpwright::lift {

struct ShapedBuffer {
  std::string name;
  core::DType dtype = core::DType::kF32;
  std::vector<int64_t> shape;
  std::vector<FormId> elements;  // what was written to each; 0: not written. Empty: nothing was.
  bool intermediate = false;     // of one launch for those that follow: a stage of its own, where it is read
};

struct ConcreteRequest {
  FormGraph& forms;
  // Every buffer argument, then intermediate ones; FormNode::buffer indexes them.
  std::vector<ShapedBuffer> buffers;
  std::map<uint16_t, std::string> scalars;                        // by position in the signature
  std::string sums = "t";                                         // how names of sums begin; a number follows
  bool later_reads_count = false;                                 // of factors that tell the same of a term
  bool sampled = false;                                           // some elements stand for all of their buffer
  double cpu_deadline = std::numeric_limits<double>::infinity();  // by CpuSeconds
};

// With all guards that hold at this shape.
struct ConcreteForm {
  core::Computation computation;
  // For each stage with a Reduce and each of its guards: is its lower, its upper bound needed at this shape?
  std::vector<std::vector<std::pair<bool, bool>>> needed;
};

Fitted<ConcreteForm> MakeConcreteForm(const ConcreteRequest& request);

}  // namespace warpwright::lift

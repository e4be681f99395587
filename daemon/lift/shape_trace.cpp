#include "lift/shape_trace.h"

#include <algorithm>

namespace warpwright::lift {

TraceRequest MakeTraceRequest(const core::KernelSpec& spec, const core::LiftShape& at, const PreparedShape& shape) {
  TraceRequest request;
  request.module = shape.module.get();
  request.plan = &shape.plan;
  request.buffers = &at.buffers;
  uint16_t position = 0;
  for (const core::Argument& argument : spec.args) {
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
      request.dtypes.push_back(buffer->dtype);
    } else if (const auto found = at.scalars.find(argument.name); found != at.scalars.end()) {
      if (const double* real = std::get_if<double>(&found->second))
        request.scalars.push_back({std::get<core::ScalarArgument>(argument.kind).dtype, *real, position});
    }
    ++position;
  }
  return request;
}

bool WritesNothing(const std::vector<TracedBuffer>& buffers) {
  return std::all_of(buffers.begin(), buffers.end(), [](const TracedBuffer& buffer) {
    return std::find(buffer.written.begin(), buffer.written.end(), true) == buffer.written.end();
  });
}

bool ConvertBranches(const std::vector<std::string>& kernels, const std::vector<const DataBranch*>& open,
                     sim::DecodeOptions& decode) {
  bool added = false;
  for (const DataBranch* branch : open)
    if (branch->branch != sim::kNoBranch)
      added |= decode.converted[kernels[branch->launch]].insert(branch->branch).second;
  return added;
}

bool ForkLaunches(const std::vector<std::string>& kernels, const std::vector<const DataBranch*>& open,
                  std::set<std::string, std::less<>>& forked) {
  bool added = false;
  for (const DataBranch* branch : open) added |= forked.insert(kernels[branch->launch]).second;
  return added;
}

}  // namespace warpwright::lift

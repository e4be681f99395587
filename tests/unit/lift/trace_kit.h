// Entries to trace: CUDA, compiled as a lifting build, or PTX; buffers with chosen contents; a plan of launches.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "lift/describe.h"
#include "lift/evaluate.h"
#include "lift/trace.h"

namespace warpwright::lift {

class TraceKit {
 public:
  static TraceKit FromCuda(const std::string& source, const std::vector<std::string>& kernels);
  static TraceKit FromPtx(const std::string& ptx, const std::vector<std::string>& kernels);

  // An argument of the entry; `value` by element, converted to the type. Without it: uninitialized.
  uint32_t Argument(const std::string& name, core::DType dtype, size_t count,
                    const std::function<double(size_t)>& value = {});
  uint32_t Workspace(size_t bytes);
  // Parameters: a buffer's index as Pointer, or a number of any type.
  struct Pointer {
    uint32_t buffer = 0;
    int64_t offset = 0;
  };
  template <typename... Args>
  void Launch(const std::string& kernel, core::Dim3 grid, core::Dim3 block, Args... args) {
    core::KernelLaunch launch{.kernel = kernel, .grid = grid, .block = block};
    launch.dynamic_shared_bytes = dynamic_shared;
    (Put(launch, args), ...);
    plan.ops.push_back(std::move(launch));
  }

  TraceOutcome Outcome();
  // Traces, and expects that each buffer's expressions have its values. The approximate functions' last bits may
  // differ: `ulps`.
  Trace Run(uint64_t ulps = 0);

  core::CompiledModule module;
  core::LaunchPlan plan;
  std::vector<core::BufferContent> buffers;
  TraceRequest request;
  uint32_t dynamic_shared = 0;

 private:
  void Put(core::KernelLaunch& launch, Pointer pointer);
  template <typename T>
  void Put(core::KernelLaunch& launch, T value) {
    core::KernelParameter parameter;
    parameter.bytes.resize(sizeof(T));
    std::memcpy(parameter.bytes.data(), &value, sizeof(T));
    launch.parameters.push_back(std::move(parameter));
  }
};

// Every traced element against its value in the run.
void ExpectValues(const Trace& trace, const std::vector<core::BufferContent>& buffers,
                  const std::vector<core::DType>& dtypes, const std::vector<TraceRequest::Scalar>& scalars,
                  uint64_t ulps);
// Nothing was taken as it happened to be.
void ExpectWhole(const Trace& trace);

}  // namespace warpwright::lift

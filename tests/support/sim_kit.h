// Compiles small CUDA sources with the real NVRTC and runs them on the simulator's engine. For tests and benchmarks.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine.h"
#include "sim/memory.h"
#include "sim/program.h"

namespace warpwright::sim {

// PTX with .loc directives; ends the process with NVRTC's log if it does not compile. The file is called "kernel.cu".
std::string CompileToPtx(std::string_view source, std::string_view arch = "compute_90");

// A buffer on the device with host access by element.
template <typename T>
struct Buffer {
  uint64_t address = 0;
  T* data = nullptr;
  size_t size = 0;
  T& operator[](size_t i) const { return data[i]; }
};

// One module with its memory. Arguments are passed as the kernel's parameter list has them.
class SimKit {
 public:
  explicit SimKit(std::string_view ptx, const DecodeOptions& decode = {});
  static SimKit FromCuda(std::string_view source) { return SimKit(CompileToPtx(source)); }

  template <typename T>
  Buffer<T> Make(std::string_view name, size_t count, bool initialized = true, bool read_only = false) {
    AllocationOptions how;
    how.element_bytes = sizeof(T);
    how.initialized = initialized;
    how.read_only = read_only;
    const uint64_t address = Allocate(name, count * sizeof(T), how);
    return {address, reinterpret_cast<T*>(memory_.Find(address)->data), count};
  }
  template <typename T>
  Buffer<T> Make(std::string_view name, const std::vector<T>& values, bool read_only = false) {
    Buffer<T> buffer = Make<T>(name, values.size(), true, read_only);
    std::memcpy(buffer.data, values.data(), values.size() * sizeof(T));
    return buffer;
  }

  template <typename... Args>
  Machine Prepare(std::string_view kernel, core::Dim3 grid, core::Dim3 block, uint32_t dynamic_shared, RunOptions run,
                  Args... args) {
    const KernelInfo* info = program_.Find(kernel);
    std::vector<std::byte> bytes(info ? info->parameter_bytes : 0);
    size_t k = 0;
    (Put(bytes, info, k++, args), ...);
    return PrepareRaw(kernel, grid, block, dynamic_shared, std::move(run), bytes);
  }
  // Runs the whole grid. The outcome is stored: `fault` is set if there was one.
  template <typename... Args>
  bool Run(std::string_view kernel, core::Dim3 grid, core::Dim3 block, uint32_t dynamic_shared, Args... args) {
    Machine machine = Prepare(kernel, grid, block, dynamic_shared, options, args...);
    return Finish(machine, grid);
  }

  // With the parameters as they lie in the kernel's list.
  bool RunWith(std::string_view kernel, core::Dim3 grid, core::Dim3 block, uint32_t dynamic_shared,
               const std::vector<std::byte>& parameters) {
    Machine machine = PrepareRaw(kernel, grid, block, dynamic_shared, options, parameters);
    return Finish(machine, grid);
  }

  const Program& program() const { return program_; }
  Memory& memory() { return memory_; }

  RunOptions options;
  core::Fault fault;
  core::Counters counters;
  std::vector<core::LineCounters> lines;
  std::string printed;

 private:
  uint64_t Allocate(std::string_view name, size_t bytes, const AllocationOptions& allocation);
  Machine PrepareRaw(std::string_view kernel, core::Dim3 grid, core::Dim3 block, uint32_t dynamic_shared,
                     RunOptions run, const std::vector<std::byte>& parameters);
  bool Finish(Machine& machine, core::Dim3 grid);

  template <typename T>
  static void Put(std::vector<std::byte>& bytes, const KernelInfo* info, size_t k, const T& value) {
    if (!info || k >= info->parameters.size()) return;
    std::memcpy(bytes.data() + info->parameters[k].offset, &value,
                std::min<size_t>(sizeof(T), info->parameters[k].bytes));
  }
  template <typename T>
  static void Put(std::vector<std::byte>& bytes, const KernelInfo* info, size_t k, const Buffer<T>& buffer) {
    Put(bytes, info, k, buffer.address);
  }

  Program program_;
  Memory memory_;
};

}  // namespace warpwright::sim

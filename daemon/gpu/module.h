// A cubin in a context: its kernels, and its variables with their content as loaded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/compiled.h"
#include "core/launch_plan.h"
#include "gpu/memory.h"

namespace warpwright::gpu {

// `.global` at module scope: __device__ variables and static ones inside functions, which kernels can write; or
// `.const`, which only the host and copies can.
struct ModuleVariable {
  std::string symbol;
  CUdeviceptr address = 0;
  uint64_t bytes = 0;
};

// Names of the `.global` and `.const` variables that PTX declares at module scope.
struct PtxVariables {
  std::vector<std::string> global, constant;
};
PtxVariables FindPtxVariables(const std::string& ptx);

class LoadedModule {
 public:
  // A Fault if the driver rejects the cubin (for example, too much static shared memory).
  static Result<std::variant<core::Fault, LoadedModule>> Load(Context& context, const core::CompiledModule& module);
  LoadedModule(LoadedModule&& other) noexcept;
  LoadedModule& operator=(LoadedModule&&) = delete;
  ~LoadedModule();

  // Looks up the name that the plan uses; an Error if there is none (the plan does not fit the module).
  Result<CUfunction> Function(const std::string& kernel) const;
  const core::KernelResources* Resources(const std::string& kernel) const { return compiled_->Find(kernel); }
  // The variable of a symbol in source form ("scale", "ns::table"); null: the compiler removed it.
  const ModuleVariable* Symbol(const std::string& source_form) const;

  bool IsConstant(const std::string& source_form) const;          // and not removed
  bool has_variables() const { return !variables_.empty(); }      // that kernels can write
  Status Restore(CUstream stream);                                // every variable as loaded, and constant memory
  Result<std::vector<std::byte>> Content(CUstream stream) const;  // of what kernels can write, one after the other
  // Names of the variables in which two contents differ.
  std::vector<std::string> Different(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const;

 private:
  LoadedModule() = default;
  Context* context_ = nullptr;
  const core::CompiledModule* compiled_ = nullptr;
  CUmodule module_ = nullptr;
  std::map<std::string, CUfunction> functions_;
  std::vector<ModuleVariable> variables_, constants_;
  DeviceMemory snapshot_;  // of variables_, then of constants_
  uint64_t variable_bytes_ = 0;
};

}  // namespace warpwright::gpu

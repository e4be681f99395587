// The worker's side of the verbs that run something: slices, records, compiles and runs. What a candidate shares with
// the one before (the recorder, the compiled module, the slices) is remembered by content, so that a repeated source
// costs only its run.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "compile/compiler.h"
#include "compile/nvcc.h"
#include "compile/ptx_facts.h"
#include "core/device.h"
#include "core/evaluator.h"
#include "core/execution.h"
#include "lift/lift.h"
#include "source/slice.h"
#include "worker/recordings.h"

namespace warpwright::worker {

// What a device may need from the service.
struct DeviceNeeds {
  std::function<Result<const compile::Compiler*>()> compiler;  // outlives the device; looked for on first use
  // Must be called with true before waiting for hardware that other processes use, with false when it is there.
  std::function<void(bool waits)> on_wait;
};
// The device of a request by its name, "sim:h200" or "cuda:1". The worker's main defines which ones there are
// (cli/worker_devices.h).
using DeviceOpener =
    std::function<Result<std::unique_ptr<core::Device>>(const std::string& name, const DeviceNeeds& needs)>;

class Service {
 public:
  // `cache`: compiled recorders and modules. The compiler is looked for when it is first needed, so that a worker
  // without a toolkit can still inspect and rewrite.
  Service(std::filesystem::path cache, DeviceOpener open_device)
      : cache_(std::move(cache)), open_device_(std::move(open_device)), recordings_(cache_) {}
  // Sets what is called before work that takes long or can exceed a limit: the stages of worker/codec.h.
  void OnStage(std::function<void(std::string_view)> announce) { announce_ = std::move(announce); }

  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request);
  Result<core::TimeOutcome> Time(const core::TimeRequest& request);
  Result<core::LiftOutcome> Lift(const core::LiftRequest& request);
  Result<core::Equivalence> Compare(const core::EquivalenceRequest& request);
  // False after a fault that a GPU's context does not survive.
  bool usable() const;

 private:
  // What is run, with which arguments: the part that Execute and Time have in common.
  struct Work {
    const core::SourceRef& source;
    const core::KernelSpec& spec;
    const std::map<std::string, core::ScalarValue>& scalars;
    const std::vector<core::BufferContent>& buffers;
    compile::Build build = compile::Build::kUsual;
  };
  struct Prepared {
    std::shared_ptr<const core::CompiledModule> module;
    std::shared_ptr<const compile::PtxFacts> facts;
    core::LaunchPlan plan;
    core::CodeUses uses;                    // how the source depends on its build, and what host code uses
    std::vector<double> compared;           // numbers that host code compared something with
    std::vector<core::Decision> decisions;  // what it compared with one another
    double host_us = 0;
  };
  using PrepareOutcome = std::variant<core::CompileFailed, core::Refused, Prepared>;
  Result<PrepareOutcome> Prepare(const Work& work, const core::Chip& chip, std::map<std::string, double>& seconds);
  Result<std::shared_ptr<const source::SliceOutcome>> SliceOnce(const core::SourceRef& source,
                                                                const std::string& entry);
  static RecordedCall CallOf(const std::shared_ptr<const source::SliceOutcome>& sliced, const Work& work,
                             const core::Chip& chip);
  Status BeginUpcoming(const core::ExecuteRequest& request, const core::Chip& chip);
  struct Module {
    std::shared_ptr<const core::CompiledModule> code;
    bool depends_on_build = false;  // of the usual build
    bool depends_on_char = false;   // whether it has a sign
  };
  using ModuleOutcome = std::variant<Module, core::CompileFailed>;
  Result<ModuleOutcome> CompileOnce(const source::Slices& slices, const core::LaunchPlan& plan, const std::string& arch,
                                    compile::Build build);
  std::shared_ptr<const compile::PtxFacts> FactsOnce(const core::CompiledModule& module,
                                                     const std::set<core::Allow>& allowed);
  // What nvcc makes of the whole file; `module` is what NVRTC made of its slice.
  using WholeOutcome = std::variant<std::shared_ptr<const compile::WholeBuild>, core::CompileFailed>;
  Result<WholeOutcome> BuildWhole(const core::SourceRef& source, const core::CompiledModule& module);
  // The note on what its host code launches other than `plan`, which the slice gave; empty: nothing.
  Result<std::string> NoteOnLaunches(const Work& work, const compile::WholeBuild& whole, const core::LaunchPlan& plan,
                                     const core::Chip& chip);
  Result<ModuleOutcome> CompileNow(const compile::CompileRequest& request);
  // The launch at a shape as lift/ executes it: a lifting build. `source`, `spec` and `chip` outlive the function.
  lift::Prepare PrepareToLift(const core::SourceRef& source, const core::KernelSpec& spec, const core::Chip& chip);
  Result<core::Device*> DeviceFor(const std::string& name);
  Result<const compile::Compiler*> TheCompiler();

  std::filesystem::path cache_;
  DeviceOpener open_device_;
  std::function<void(std::string_view)> announce_ = [](std::string_view) {};
  std::unique_ptr<compile::Compiler> compiler_;
  std::map<std::string, std::shared_ptr<const source::SliceOutcome>> slices_;
  std::map<std::string, ModuleOutcome> modules_;
  std::map<std::string, std::shared_ptr<const compile::PtxFacts>> facts_;
  std::map<std::string, WholeOutcome> wholes_;
  std::map<std::string, std::string> launches_notes_;
  std::map<std::string, std::unique_ptr<core::Device>> devices_;
  Recordings recordings_;
};

}  // namespace warpwright::worker

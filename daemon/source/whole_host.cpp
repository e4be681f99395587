#include "source/whole_host.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "base/file.h"
#include "source/harness.h"
#include "source/host_object.h"
#include "source/recorder_build.h"
#include "source/recorder_run.h"
#include "source/recording.h"

namespace warpwright::source {
namespace {

constexpr uint64_t kWholeObjectBytes = 256u << 20;

// Of shim/host/launch.h and recorder.h what the harness names. nvcc's file is preprocessed: it has no include guards
// left, so that no header can follow.
constexpr std::string_view kDeclarations = R"(
#line 1 "launch harness"
namespace ww {
struct ParameterLayout {
  unsigned bytes;
  bool pointer, writes;
};
struct NvccKernel {
  const char *symbol, *name;
  const ParameterLayout* list;
  unsigned long count;
};
struct Symbol {
  const char* name;
  const void* address;
  unsigned long bytes;
};
extern const NvccKernel* const nvcc_kernels;
extern const unsigned long nvcc_kernel_count;
extern const Symbol* const symbols;
extern const unsigned long symbol_count;
extern const bool has_callers_stream;
void Call();
::CUstream_st* CallersStream();
void* BufferAddress(unsigned long index);
const unsigned char* ScalarBytes(unsigned long index, unsigned long bytes);
template <typename T>
T* TypedBuffer(unsigned long index) {
  return static_cast<T*>(BufferAddress(index));
}
struct AnyPointer {
  unsigned long index;
  template <typename T>
  operator T*() const {
    return (T*)(BufferAddress(index));
  }
};
template <typename T>
T Scalar(unsigned long index) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), ScalarBytes(index, sizeof(T)), sizeof(T));
  return value;
}
template <typename F>
void RecordCall(F call) {
  call();
}
struct Properties {
  char name[256];
  unsigned long values[27];
};
int DeviceProperties(Properties* out, int device);
}  // namespace ww
)";

// As shim/host/record_nvcc.cpp gives them.
constexpr const char* kProperties[] = {"totalGlobalMem",
                                       "sharedMemPerBlock",
                                       "regsPerBlock",
                                       "warpSize",
                                       "memPitch",
                                       "maxThreadsPerBlock",
                                       "maxThreadsDim[0]",
                                       "maxThreadsDim[1]",
                                       "maxThreadsDim[2]",
                                       "maxGridSize[0]",
                                       "maxGridSize[1]",
                                       "maxGridSize[2]",
                                       "totalConstMem",
                                       "major",
                                       "minor",
                                       "multiProcessorCount",
                                       "concurrentKernels",
                                       "l2CacheSize",
                                       "maxThreadsPerMultiProcessor",
                                       "unifiedAddressing",
                                       "managedMemory",
                                       "cooperativeLaunch",
                                       "sharedMemPerMultiprocessor",
                                       "regsPerMultiprocessor",
                                       "sharedMemPerBlockOptin",
                                       "maxBlocksPerMultiProcessor",
                                       "reservedSharedMemPerBlock"};

// The one function of the runtime that fills a structure: only the file knows its layout.
std::string DevicePropertiesFunction() {
  std::string text =
      "extern \"C\" cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* out, int device) {\n"
      "  ::ww::Properties given;\n"
      "  if (const int error = ::ww::DeviceProperties(&given, device)) return static_cast<cudaError_t>(error);\n"
      "  __builtin_memset(static_cast<void*>(out), 0, sizeof(*out));\n"
      "  __builtin_memcpy(out->name, given.name, sizeof(given.name));\n";
  for (size_t i = 0; i < std::size(kProperties); ++i)
    text += fmt::format("  out->{0} = static_cast<__typeof__(out->{0})>(given.values[{1}]);\n", kProperties[i], i);
  return text + "  return cudaSuccess;\n}\n";
}

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                     &std::free);
  return status == 0 && plain != nullptr ? plain.get() : symbol;
}

// Which parameters of "rows<float>(float*, float const*, int)" are pointers to something that is not written.
std::vector<bool> ConstPointers(const std::string& symbol) {
  const std::string name = Demangled(symbol);
  std::vector<bool> constant;
  const size_t close = name.rfind(')');
  if (close == std::string::npos) return constant;
  size_t open = close;
  for (int depth = 0; open > 0; --open) {
    depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
    if (depth == 0) break;
  }
  int depth = 0;
  size_t begin = open + 1;
  for (size_t i = open + 1; i <= close; ++i) {
    if ((name[i] == ',' && depth == 0) || i == close) {
      constant.push_back(name.substr(begin, i - begin).find(" const*") != std::string::npos);
      begin = i + 1;
    }
    depth += name[i] == '<' || name[i] == '(' ? 1 : name[i] == '>' || name[i] == ')' ? -1 : 0;
  }
  return constant;
}

// Every kernel of the plan, with the parameters that it has there.
std::string KernelTable(const WholeHost& whole, const core::LaunchPlan& plan) {
  std::string lists, table;
  std::set<std::string> seen;
  for (const auto* ops : {&plan.setup, &plan.ops})
    for (const core::PlanOp& op : *ops) {
      const auto* launch = std::get_if<core::KernelLaunch>(&op);
      const auto* kernel = launch != nullptr ? whole.kernels.Find(launch->kernel) : nullptr;
      if (kernel == nullptr || !seen.insert(kernel->symbol).second) continue;
      const std::vector<bool> constant = ConstPointers(kernel->symbol);
      std::string layout;
      for (size_t i = 0; i < launch->parameters.size(); ++i) {
        const core::KernelParameter& parameter = launch->parameters[i];
        const bool pointer = parameter.bytes.size() == 8 && parameter.pointers.contains(0);
        const bool writes = pointer && !(i < constant.size() && constant[i]);
        layout += fmt::format("{{{}, {}, {}}}, ", parameter.bytes.size(), pointer, writes);
      }
      lists += fmt::format("static const ::ww::ParameterLayout ww_layout_{}[] = {{{}{{0, false, false}}}};\n",
                           seen.size(), layout);
      table += fmt::format("{{\"{}\", \"{}\", ww_layout_{}, {}}}, ", kernel->symbol, kernel->kernel, seen.size(),
                           launch->parameters.size());
    }
  return fmt::format(
      "{}static const ::ww::NvccKernel ww_kernel_table[] = {{{}{{nullptr, nullptr, nullptr, 0}}}};\n"
      "const ::ww::NvccKernel* const ww::nvcc_kernels = ww_kernel_table;\n"
      "const unsigned long ww::nvcc_kernel_count = {};\n",
      lists, table, seen.size());
}

std::string Text(const core::Dim3& size) { return fmt::format("{} x {} x {}", size.x, size.y, size.z); }

std::string LaunchDifference(const core::KernelLaunch& built, const core::KernelLaunch& plan) {
  const auto differ = [](const char* what, const auto& ours, const auto& theirs) {
    return fmt::format("has {} {}, not {}", what, ours, theirs);
  };
  if (built.kernel != plan.kernel) return fmt::format("is of {}, not of {}", Demangled(built.kernel), plan.kernel);
  if (built.grid != plan.grid) return differ("a grid of", Text(built.grid), Text(plan.grid));
  if (built.block != plan.block) return differ("blocks of", Text(built.block), Text(plan.block));
  if (built.dynamic_shared_bytes != plan.dynamic_shared_bytes)
    return differ("bytes of shared memory:", built.dynamic_shared_bytes, plan.dynamic_shared_bytes);
  if (built.stream != plan.stream || built.cooperative != plan.cooperative) return "is on another stream";
  for (size_t i = 0; i < std::min(built.parameters.size(), plan.parameters.size()); ++i)
    if (!(built.parameters[i] == plan.parameters[i])) return fmt::format("has another argument {}", i + 1);
  return built.parameters.size() == plan.parameters.size() ? "" : "has other arguments";
}

std::string OpDifference(const core::PlanOp& built, const core::PlanOp& plan) {
  const auto* launch = std::get_if<core::KernelLaunch>(&built);
  const auto* expected = std::get_if<core::KernelLaunch>(&plan);
  if (launch != nullptr && expected != nullptr) return LaunchDifference(*launch, *expected);
  if (launch != nullptr) return fmt::format("launches {}", Demangled(launch->kernel));
  return built == plan ? "" : "is another one";
}

using Outcome = std::variant<Recording, core::Refused>;

}  // namespace

std::string FirstDifference(const core::LaunchPlan& built, const core::LaunchPlan& plan) {
  if (built.buffers != plan.buffers) return "it allocates other memory";
  for (const auto& [name, ours, theirs] :
       {std::tuple("setup operation", &built.setup, &plan.setup), std::tuple("operation", &built.ops, &plan.ops)}) {
    for (size_t i = 0; i < std::min(ours->size(), theirs->size()); ++i)
      if (const std::string what = OpDifference((*ours)[i], (*theirs)[i]); !what.empty())
        return fmt::format("{} {} {}", name, i + 1, what);
    if (ours->size() != theirs->size()) return fmt::format("it has {} {}s, not {}", ours->size(), name, theirs->size());
  }
  return {};
}

Result<LaunchComparison> CompareLaunches(const Slices& slices, const RecordRequest& request, const WholeHost& whole,
                                         const core::LaunchPlan& plan) {
  if (slices.entry_is_kernel)
    return LaunchComparison(NotCompared{"the entry is a kernel, whose launch the manifest gives"});
  const auto harness = MakeHarness(slices, *request.spec);
  if (const auto* refused = std::get_if<core::Refused>(&harness)) return LaunchComparison(NotCompared{refused->reason});
  const std::string behind = std::string(kDeclarations) + DevicePropertiesFunction() + KernelTable(whole, plan) +
                             std::get<std::string>(harness);
  WW_ASSIGN(const auto built, BuildWholeRecorder(whole.files, whole.main, behind, whole.include_folders, slices.build,
                                                 request.cache, request.compile_deadline));
  if (const auto* failed = std::get_if<HostCompileFailed>(&built))
    return LaunchComparison(NotCompared{"it does not compile with the recorder: " + failed->log.substr(0, 500)});
  const Recorder& recorder = std::get<Recorder>(built);
  WW_ASSIGN(const std::string bytes, base::ReadFile(recorder.object, kWholeObjectBytes));
  WW_ASSIGN(const HostObject object, ReadHostObject(std::as_bytes(std::span(bytes))));
  WW_ASSIGN(const std::string runtime, base::ReadFile(recorder.runtime.back(), kWholeObjectBytes));
  WW_ASSIGN(const HostObject known, ReadHostObject(std::as_bytes(std::span(runtime))));
  for (const std::string& symbol : object.undefined)
    if ((symbol.starts_with("cu") || symbol.starts_with("__cu")) && !known.defined.contains(symbol))
      return LaunchComparison(NotCompared{fmt::format("the file uses {}, which the recorder lacks", symbol)});

  const HostProgram host;  // its lines are the user's
  std::vector<Outcome> outcomes;
  for (const Run run : {Run::kPlain, Run::kOtherWorld}) {
    WW_ASSIGN(Outcome outcome, RunOnce(slices, request, recorder.program, host, run));
    if (const auto* refused = std::get_if<core::Refused>(&outcome))
      return LaunchComparison(OtherLaunches{refused->reason});
    outcomes.push_back(std::move(outcome));
  }
  std::vector<core::PlanBuffer> arguments;
  for (const RecordBuffer& buffer : request.buffers)
    arguments.push_back({core::PlanBuffer::Kind::kArgument, buffer.name, buffer.bytes});
  const auto made =
      MakePlan(std::get<Recording>(outcomes[0]), std::get<Recording>(outcomes[1]), arguments, slices.file);
  if (const auto* refused = std::get_if<core::Refused>(&made)) return LaunchComparison(OtherLaunches{refused->reason});
  const auto& real = std::get<core::LaunchPlan>(made);
  if (PlanDigest(real) == PlanDigest(plan)) return LaunchComparison(SameLaunches{});
  const std::string what = FirstDifference(real, plan);
  return LaunchComparison(OtherLaunches{what.empty() ? "in what it passes" : what});
}

}  // namespace warpwright::source

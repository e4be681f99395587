// Launches: who is launched, with what, and whether the chip would take it.
#include "recorder.h"

namespace ww {

bool identifying = false;

Kernel::Kernel(const std::string& kernel_name, Parameters layout) : name(kernel_name), parameters(layout) {}
Kernel::~Kernel() = default;

namespace {

// Anonymous namespaces have no name in source.
std::string WithoutAnonymous(std::string text) {
  for (const std::string hidden : {"{anonymous}::", "<unnamed>::"}) {
    for (size_t at = text.find(hidden); at != std::string::npos; at = text.find(hidden)) text.erase(at, hidden.size());
  }
  return text;
}

}  // namespace

std::string Bound(const char* pretty) {
  std::string text(pretty);
  const size_t begin = text.find(" = ") + 3;
  text = text.substr(begin, text.rfind(']') - begin);
  return WithoutAnonymous(std::move(text));
}
std::string BoundValue(const char* pretty) {
  std::string name = Bound(pretty);
  if (name.compare(0, 3, "(& ") == 0) name = "&" + name.substr(3, name.size() - 4);
  return name;
}
std::string PlainName(const char* pretty) {
  std::string text = WithoutAnonymous(pretty);
  text = text.substr(0, text.find('('));
  const size_t space = text.rfind(' ');
  return space == std::string::npos ? text : text.substr(space + 1);
}
std::string InstanceOf(std::string name, std::initializer_list<std::string> arguments) {
  std::string list;
  for (const std::string& argument : arguments) list += (list.empty() ? "" : ", ") + argument;
  return arguments.size() > 0 ? name + "<" + list + ">" : name;
}
std::string Overload(const std::string& name, const std::string& type) {
  return "static_cast<" + type + ">(" + name + ")";
}

namespace {

const Kernel* identified = nullptr;
std::map<std::string, long long> shared_limits;  // by kernel

// Those of a whole file that nvcc made, before main begins.
std::map<const void*, Kernel>& Registered() {
  static std::map<const void*, Kernel> kernels;
  return kernels;
}

// Calls a kernel's stub, which says who it is.
const Kernel* Identify(const void* address) {
  if (address == nullptr) return nullptr;
  if (!Registered().empty()) {
    const auto found = Registered().find(address);
    return found == Registered().end() ? nullptr : &found->second;
  }
  identifying = true;
  identified = nullptr;
  reinterpret_cast<void (*)()>(const_cast<void*>(address))();
  identifying = false;
  return identified;
}

long long SharedLimit(const Kernel& kernel) {
  const auto found = shared_limits.find(kernel.name);
  return found == shared_limits.end() ? static_cast<long long>(kDefaultSharedBytes) : found->second;
}

// Registers are unknown before the kernel is compiled: threads, blocks and shared memory decide.
int ResidentBlocks(int threads, size_t shared_bytes) {
  const Chip& chip = state.chip;
  long long blocks = std::min(chip.max_warps / ((threads + 31) / 32), chip.max_blocks);
  blocks = std::min(blocks, chip.shared_bytes / (static_cast<long long>(shared_bytes) + chip.shared_reserved));
  return static_cast<int>(std::max(0ll, blocks));
}

cudaError_t CheckLaunch(const Kernel& kernel, const Configuration& c) {
  const std::string what = "launch of " + kernel.name + " at " + Location(c.file, c.line);
  const auto fail = [&](cudaError_t error, const std::string& why) {
    state.unseen_launch_error =
        "the launch of " + kernel.name + " fails on the device with " + cudaGetErrorName(error) + ": " + why;
    state.unseen_file = state.failure_file = c.file;
    state.unseen_line = state.failure_line = c.line;
    NoteEffect(kFailingLaunch, "a launch");
    return Error(error, what + ": " + why);
  };
  if (state.failing) return Error(cudaErrorLaunchOutOfResources, what);
  const unsigned long long threads = 1ull * c.block.x * c.block.y * c.block.z;
  const unsigned long long blocks = 1ull * c.grid.x * c.grid.y * c.grid.z;
  if (threads == 0 || blocks == 0) return fail(cudaErrorInvalidConfiguration, "an empty grid or block");
  if (threads > 1024 || c.block.z > 64)
    return fail(cudaErrorInvalidConfiguration, "a block of " + Number(static_cast<long long>(threads)) + " threads");
  if (c.grid.x > 0x7fffffffu || c.grid.y > 65535 || c.grid.z > 65535)
    return fail(cudaErrorInvalidConfiguration, "a grid beyond the limits");
  if (static_cast<long long>(c.shared_bytes) > SharedLimit(kernel)) {
    return fail(cudaErrorInvalidValue, Number(static_cast<long long>(c.shared_bytes)) +
                                           " bytes of dynamic shared memory, allowed are " +
                                           Number(SharedLimit(kernel)));
  }
  if (!c.cooperative) return cudaSuccess;
  const long long resident =
      1ll * ResidentBlocks(static_cast<int>(threads), c.shared_bytes) * state.chip.multiprocessors;
  if (static_cast<long long>(blocks) > resident) {
    return fail(cudaErrorCooperativeLaunchTooLarge, "a grid of " + Number(static_cast<long long>(blocks)) +
                                                        " blocks, resident at once are " + Number(resident));
  }
  return cudaSuccess;
}

std::string Parameter(const Kernel& kernel, size_t index, std::vector<unsigned char> bytes, const Configuration& c,
                      int stream) {
  const ParameterLayout layout = kernel.parameters[index];
  const std::string where = "argument " + Number(static_cast<long long>(index) + 1) + " of " + kernel.name;
  std::string pointers;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    void* value = nullptr;
    std::memcpy(&value, bytes.data() + at, 8);
    const int buffer = BufferOf(value);
    if (buffer < 0) {
      if (const Symbol* symbol = SymbolAt(value, nullptr); symbol != nullptr && layout.pointer) {
        Refuse(where + " is the address of the symbol " + symbol->name + ": kernels must name it, or take a buffer",
               c.file, c.line);
      }
      if (layout.pointer && value != nullptr) Refuse(where + " is a pointer to host memory", c.file, c.line);
      continue;
    }
    if (!state.buffers[static_cast<size_t>(buffer)].live)
      Refuse(where + " points to memory that was freed", c.file, c.line);
    if (!layout.pointer || layout.writes) MarkDirty(buffer);
    state.order.Uses(buffer, stream);
    pointers += (pointers.empty() ? "" : ",");
    pointers += "{\"at\":" + Number(static_cast<long long>(at)) + "," + PointerMembers(buffer, value) + "}";
    // In a structure it may be a number that only looks like a pointer: the bytes stay, and the reader compares two
    // runs.
    if (layout.pointer) std::memset(bytes.data() + at, 0, 8);
  }
  return "{\"bytes\":\"" + Hex(bytes.data(), bytes.size()) + "\",\"pointer\":" + (layout.pointer ? "true" : "false") +
         ",\"pointers\":[" + pointers + "]}";
}

std::string Dimensions(dim3 size) {
  return "{\"x\":" + Number(size.x) + ",\"y\":" + Number(size.y) + ",\"z\":" + Number(size.z) + "}";
}

cudaError_t Record(const Kernel& kernel, const std::vector<std::vector<unsigned char>>& arguments,
                   const Configuration& c) {
  if (const cudaError_t error = CheckLaunch(kernel, c); error != cudaSuccess) return error;
  if (kernel.name.find(")::") != std::string::npos) {
    Refuse(
        "the kernel " + kernel.name + " is made for a lambda or a type inside a function, which has no name elsewhere",
        c.file, c.line);
  }
  const int stream = WorkOn(c.stream, c.file, c.line);
  std::string parameters;
  for (size_t i = 0; i < arguments.size(); ++i)
    parameters += (i == 0 ? "" : ",") + Parameter(kernel, i, arguments[i], c, stream);
  Emit(Line("launch")
           .Text("kernel", kernel.name)
           .Json("grid", Dimensions(c.grid))
           .Json("block", Dimensions(c.block))
           .Integer("shared_bytes", static_cast<long long>(c.shared_bytes))
           .Integer("stream", stream)
           .Flag("cooperative", c.cooperative)
           .Text("file", c.file)
           .Integer("line", c.line)
           .Json("parameters", "[" + parameters + "]"));
  return cudaSuccess;
}

cudaError_t LaunchByAddress(const void* address, const Configuration& configuration, void** arguments) {
  const Kernel* kernel = Identify(address);
  if (kernel == nullptr)
    return Error(cudaErrorInvalidDeviceFunction, "launch at " + Location(configuration.file, configuration.line));
  std::vector<std::vector<unsigned char>> values;
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
    values.emplace_back(bytes, bytes + kernel->parameters[i].bytes);
  }
  const cudaError_t error = Record(*kernel, values, configuration);
  if (error != cudaSuccess) state.unseen_launch_error.clear();  // it is returned
  return error;
}

// What a plan cannot hold is refused.
Configuration Checked(const cudaLaunchConfig_t& config, const char* file, int line) {
  Configuration c = {config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream, false, file, line};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeCooperative: c.cooperative = attribute.val.cooperative != 0; break;
      case cudaLaunchAttributeClusterDimension: {
        const auto& size = attribute.val.clusterDim;
        if (1ull * size.x * size.y * size.z > 1) Refuse("clusters of thread blocks are not supported", file, line);
        break;
      }
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        if (attribute.val.programmaticStreamSerializationAllowed != 0)
          Refuse("programmatic dependent launches are not supported", file, line);
        break;
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributePreferredSharedMemoryCarveout: break;
      default: Refuse("the launch attribute number " + Number(attribute.id) + " is not supported", file, line);
    }
  }
  return c;
}

}  // namespace

void Identified(const Kernel& kernel) { identified = &kernel; }

void Register(const void* address, const char* symbol) {
  for (size_t i = 0; i < nvcc_kernel_count; ++i) {
    const NvccKernel& known = nvcc_kernels[i];
    if (std::strcmp(known.symbol, symbol) != 0) continue;
    Registered().emplace(address, Kernel(known.name, {known.list, known.count}));
    return;
  }
  Registered().emplace(address, Kernel(symbol, {nullptr, 0}));
}

void Push(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, const char* file, int line) {
  state.pending.push_back({grid, block, shared_bytes, stream, false, file, line});
}
void PushConfig(const cudaLaunchConfig_t& config, const char* file, int line) {
  state.pending.push_back(Checked(config, file, line));
}

void RecordLaunch(const Kernel& kernel, std::initializer_list<Argument> arguments) {
  if (state.pending.empty()) Refuse("the kernel " + kernel.name + " is called like a function", "", 0);
  const Configuration configuration = state.pending.back();
  state.pending.pop_back();
  std::vector<std::vector<unsigned char>> values;
  for (const Argument& argument : arguments) values.emplace_back(argument.bytes, argument.bytes + argument.size);
  state.launch_result = Record(kernel, values, configuration);
}

cudaError_t TakeLaunchResult() {
  if (state.launch_result != cudaSuccess) state.unseen_launch_error.clear();  // it is returned
  return state.launch_result;
}

cudaError_t LaunchByAddress(const void* address, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                            cudaStream_t stream, bool cooperative, const char* file, int line) {
  return LaunchByAddress(address, {grid, block, shared_bytes, stream, cooperative, file, line}, arguments);
}
cudaError_t LaunchByAddress(const void* address, const cudaLaunchConfig_t& config, void** arguments, const char* file,
                            int line) {
  return LaunchByAddress(address, Checked(config, file, line), arguments);
}

cudaError_t SetAttribute(const void* address, cudaFuncAttribute attribute, int value) {
  const Kernel* kernel = Identify(address);
  if (kernel == nullptr) return Error(cudaErrorInvalidDeviceFunction, "cudaFuncSetAttribute");
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > state.chip.shared_optin) {
    return Error(cudaErrorInvalidValue, "cudaFuncSetAttribute asks for " + Number(value) +
                                            " bytes of shared memory, the chip has " + Number(state.chip.shared_optin));
  }
  shared_limits[kernel->name] = std::max<long long>(value, static_cast<long long>(kDefaultSharedBytes));
  return cudaSuccess;
}

cudaError_t GetAttributes(cudaFuncAttributes* attributes, const void* address) {
  const Kernel* kernel = Identify(address);
  if (kernel == nullptr) return Error(cudaErrorInvalidDeviceFunction, "cudaFuncGetAttributes");
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = state.answers.registers;
  attributes->constSizeBytes = state.answers.constant_bytes;
  attributes->localSizeBytes = state.answers.local_bytes;
  attributes->ptxVersion = attributes->binaryVersion = state.chip.major * 10 + state.chip.minor;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(SharedLimit(*kernel));
  return cudaSuccess;
}

cudaError_t ActiveBlocks(int* blocks, const void*, int block_size, size_t shared_bytes) {
  if (block_size <= 0 || block_size > 1024) return Error(cudaErrorInvalidValue, "an occupancy query");
  *blocks = ResidentBlocks(block_size, shared_bytes);
  return cudaSuccess;
}

cudaError_t PotentialBlockSize(int* grid, int* block, const void*, size_t shared_bytes, int limit) {
  *block = limit > 0 ? std::min(limit, 1024) : 1024;
  *grid = ResidentBlocks(*block, shared_bytes) * state.chip.multiprocessors;
  return cudaSuccess;
}

}  // namespace ww

// The recorder's side of cuda_runtime.h. It runs in the child, beside untrusted code, and writes what happens as JSON
// lines to a copy of its standard output that nobody else is told of; whoever reads them believes nothing.
//
// Device memory is a range of addresses where nothing is mapped: buffer i begins at base + i * kSpacing + kMargin (+
// the offset asked for).
#include "cuda_runtime.h"  // first: it is precompiled

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <iostream>
#include <map>

namespace ww {
bool identifying = false;

namespace {

constexpr uint64_t kSpacing = 64ull << 30;
constexpr uint64_t kMargin = 1ull << 30;  // pointers a little in front of a buffer still belong to it
constexpr size_t kMaxBuffers = 256;
constexpr size_t kMaxOperations = 4096;
constexpr uint64_t kMaxUploadBytes = 64ull << 20;
constexpr uint64_t kDeviceBytes = 128ull << 30;
constexpr size_t kDefaultSharedBytes = 48 * 1024;

struct Buffer {
  uint64_t bytes = 0;
  uint64_t start = 0;  // address
  bool argument = false, live = true;
  bool dirty = false;  // perhaps written by the device in this call
  bool mapped = false;
  std::vector<unsigned char> content;  // served to host reads; empty: not served
};
struct Chip {
  int multiprocessors = 132, max_warps = 64, max_blocks = 32, major = 9, minor = 0, registers = 65536;
  long long shared_bytes = 233472, shared_optin = 232448, shared_reserved = 1024, l2_bytes = 52428800;
};
struct Configuration {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  const char* file = "";
  int line = 0;
};

uint64_t base = 0;
unsigned garbage = 0;  // what device-to-host copies return
std::vector<Buffer> buffers;
std::vector<std::vector<unsigned char>> scalars;
Chip chip;
std::string out;
int out_fd = -1;
size_t operations = 0;
bool finished = false;
std::vector<Configuration> pending;
const Kernel* identified = nullptr;
std::map<std::string, long long> shared_limits;  // by kernel
std::vector<bool> streams, events;
cudaError_t last_error = cudaSuccess;
std::string last_failure;  // "cudaErrorInvalidValue, cudaFree"; also after cudaGetLastError took the code
const char* failure_file = "";
int failure_line = 0;
std::string unseen_launch_error;  // nobody asked for it yet
const char* unseen_file = "";
int unseen_line = 0;

void Flush() {
  size_t at = 0;
  while (at < out.size()) {
    const ssize_t n = write(out_fd, out.data() + at, out.size() - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  out.clear();
}

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += ' ';
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}
std::string Hex(const unsigned char* bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    hex += digits[bytes[i] >> 4];
    hex += digits[bytes[i] & 15];
  }
  return hex;
}
std::string Number(long long value) { return std::to_string(value); }

[[noreturn]] void Refuse(const std::string& reason, const char* file, int line) {
  out += "{\"refuse\":" + Quote(reason) + ",\"file\":" + Quote(file) + ",\"line\":" + Number(line) + "}\n";
  Flush();
  finished = true;
  _exit(0);
}

void Emit(const std::string& operation) {
  if (++operations > 3 * kMaxOperations) Refuse("the launcher makes more than 4,096 device operations", "", 0);
  out += operation + "}\n";
}

std::string Place(const char* file, int line) { return std::string(file) + ":" + Number(line); }

// The buffer that an address belongs to, or -1.
int BufferOf(const void* pointer) {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  if (address < base || address >= base + kMaxBuffers * kSpacing) return -1;
  const uint64_t index = (address - base) / kSpacing;
  return index < buffers.size() ? static_cast<int>(index) : -1;
}
bool IsDevice(const void* pointer) {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  return address >= base && address < base + kMaxBuffers * kSpacing;
}
std::string PointerText(int index, const void* pointer) {
  const long long offset =
      static_cast<long long>(reinterpret_cast<uint64_t>(pointer) - buffers[static_cast<size_t>(index)].start);
  return "[" + Number(index) + "," + Number(offset) + "]";
}
void MarkDirty(int index) {
  Buffer& buffer = buffers[static_cast<size_t>(index)];
  buffer.dirty = true;
  if (buffer.mapped) {
    munmap(reinterpret_cast<void*>(buffer.start & ~4095ull),
           ((buffer.start & 4095) + buffer.content.size() + 4095) & ~4095ull);
    buffer.mapped = false;
  }
}

cudaError_t Error(cudaError_t error, const std::string& place) {
  last_error = error;
  last_failure = std::string(cudaGetErrorName(error)) + ", " + place;
  return error;
}

int StreamId(cudaStream_t stream, const char* file, int line) {
  const uint64_t value = reinterpret_cast<uint64_t>(stream);
  if (value <= 2) return 0;
  const uint64_t id = value - 0x100;
  if (value < 0x100 || id == 0 || id > streams.size() || !streams[id - 1])
    Refuse("a stream that was not created is used", file, line);
  return static_cast<int>(id);
}

// ---- faults
// ------------------------------------------------------------------------------------------------------------------
// Return addresses by frame pointers (the host slice is built with them), for addr2line.
std::string CallStack(const ucontext_t* context) {
  std::string list = Number(context->uc_mcontext.gregs[REG_RIP]);
  const uint64_t sp = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
  uint64_t frame = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RBP]);
  list += "," + Number(*reinterpret_cast<const long long*>(sp));
  for (int depth = 0; depth < 12 && frame > sp && frame < sp + (8u << 20) && frame % 8 == 0; ++depth) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(frame);
    list += "," + Number(static_cast<long long>(words[1]));
    if (words[0] <= frame) break;
    frame = words[0];
  }
  return list;
}

void OnFault(int signal_number, siginfo_t* info, void* raw) {
  static bool inside = false;
  if (inside) _exit(70);
  auto* context = static_cast<ucontext_t*>(raw);
  const int index = signal_number == SIGSEGV ? BufferOf(info->si_addr) : -1;
  const bool write_access = (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  if (index >= 0) {
    Buffer& buffer = buffers[static_cast<size_t>(index)];
    const uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
    const bool inside_content = address >= buffer.start && address < buffer.start + buffer.content.size();
    if (inside_content && !write_access && !buffer.dirty && !buffer.mapped) {
      const uint64_t page = buffer.start & ~4095ull;
      const uint64_t size = ((buffer.start & 4095) + buffer.content.size() + 4095) & ~4095ull;
      void* at = mmap(reinterpret_cast<void*>(page), size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      if (at != MAP_FAILED) {
        std::memcpy(reinterpret_cast<void*>(buffer.start), buffer.content.data(), buffer.content.size());
        mprotect(at, size, PROT_READ);
        buffer.mapped = true;
        out += "{\"served\":" + Number(index) + "}\n";
        return;
      }
    }
  }
  inside = true;
  out += "{\"fault\":" + Number(signal_number) + ",\"buffer\":" + Number(index) +
         ",\"write\":" + (write_access ? "true" : "false") +
         ",\"dirty\":" + (index >= 0 && buffers[static_cast<size_t>(index)].dirty ? "true" : "false") + ",\"stack\":[" +
         CallStack(context) + "]}\n";
  Flush();
  finished = true;
  _exit(0);
}

void OnExit() {
  if (finished) return;
  finished = true;
  std::string reason = "the launcher ended the process";
  if (!last_failure.empty()) reason += " after " + last_failure;
  out +=
      "{\"refuse\":" + Quote(reason) + ",\"file\":" + Quote(failure_file) + ",\"line\":" + Number(failure_line) + "}\n";
  Flush();
}

// ---- launches
// ----------------------------------------------------------------------------------------------------------------
const Kernel* Identify(const void* address) {
  if (address == nullptr) return nullptr;
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

cudaError_t CheckLaunch(const Kernel& kernel, const Configuration& c) {
  const std::string what = "launch of " + kernel.name + " at " + Place(c.file, c.line);
  const auto fail = [&](cudaError_t error, const std::string& why) {
    unseen_launch_error =
        "the launch of " + kernel.name + " fails on the device with " + cudaGetErrorName(error) + ": " + why;
    unseen_file = failure_file = c.file;
    unseen_line = failure_line = c.line;
    return Error(error, what + ": " + why);
  };
  const unsigned long long threads = 1ull * c.block.x * c.block.y * c.block.z;
  if (threads == 0 || c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0) {
    return fail(cudaErrorInvalidConfiguration, "an empty grid or block");
  }
  if (threads > 1024 || c.block.z > 64)
    return fail(cudaErrorInvalidConfiguration, "a block of " + Number(static_cast<long long>(threads)) + " threads");
  if (c.grid.x > 0x7fffffffu || c.grid.y > 65535 || c.grid.z > 65535)
    return fail(cudaErrorInvalidConfiguration, "a grid beyond the limits");
  if (static_cast<long long>(c.shared_bytes) > SharedLimit(kernel)) {
    return fail(cudaErrorInvalidValue, Number(static_cast<long long>(c.shared_bytes)) +
                                           " bytes of dynamic shared memory, allowed are " +
                                           Number(SharedLimit(kernel)));
  }
  return cudaSuccess;
}

std::string Parameter(const Kernel& kernel, size_t index, std::vector<unsigned char> bytes, const Configuration& c) {
  const ParameterLayout layout = kernel.parameters[index];
  std::string pointers;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    void* value = nullptr;
    std::memcpy(&value, bytes.data() + at, 8);
    const int buffer = BufferOf(value);
    const std::string where = "argument " + Number(static_cast<long long>(index) + 1) + " of " + kernel.name;
    if (buffer < 0) {
      if (layout.pointer && value != nullptr) Refuse(where + " is a pointer to host memory", c.file, c.line);
      continue;
    }
    if (!buffers[static_cast<size_t>(buffer)].live) Refuse(where + " points to memory that was freed", c.file, c.line);
    if (!layout.pointer || layout.writes) MarkDirty(buffer);
    pointers +=
        (pointers.empty() ? "" : ",") + Quote(Number(static_cast<long long>(at))) + ":" + PointerText(buffer, value);
    // In a structure it may be a number that only looks like a pointer: the bytes stay, and the reader compares two
    // runs.
    if (layout.pointer) std::memset(bytes.data() + at, 0, 8);
  }
  return "{\"bytes\":\"" + Hex(bytes.data(), bytes.size()) + "\",\"pointer\":" + (layout.pointer ? "true" : "false") +
         ",\"pointers\":{" + pointers + "}}";
}

cudaError_t Record(const Kernel& kernel, const std::vector<std::vector<unsigned char>>& arguments,
                   const Configuration& c) {
  if (const cudaError_t error = CheckLaunch(kernel, c); error != cudaSuccess) return error;
  std::string line = "{\"op\":\"launch\",\"kernel\":" + Quote(kernel.name);
  line += ",\"grid\":[" + Number(c.grid.x) + "," + Number(c.grid.y) + "," + Number(c.grid.z) + "]";
  line += ",\"block\":[" + Number(c.block.x) + "," + Number(c.block.y) + "," + Number(c.block.z) + "]";
  line += ",\"shared\":" + Number(static_cast<long long>(c.shared_bytes)) +
          ",\"stream\":" + Number(StreamId(c.stream, c.file, c.line));
  line += std::string(",\"cooperative\":") + (c.cooperative ? "true" : "false");
  line += ",\"file\":" + Quote(c.file) + ",\"line\":" + Number(c.line) + ",\"parameters\":[";
  for (size_t i = 0; i < arguments.size(); ++i) line += (i == 0 ? "" : ",") + Parameter(kernel, i, arguments[i], c);
  Emit(line + "]");
  return cudaSuccess;
}

}  // namespace

void Identified(const Kernel& kernel) { identified = &kernel; }

void Push(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, const char* file, int line) {
  pending.push_back({grid, block, shared_bytes, stream, false, file, line});
}

void RecordLaunch(const Kernel& kernel, const std::vector<std::vector<unsigned char>>& arguments) {
  if (pending.empty()) Refuse("the kernel " + kernel.name + " is called like a function", "", 0);
  const Configuration configuration = pending.back();
  pending.pop_back();
  Record(kernel, arguments, configuration);
}

cudaError_t LaunchByAddress(const void* address, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                            cudaStream_t stream, bool cooperative, const char* file, int line) {
  const Kernel* kernel = Identify(address);
  if (kernel == nullptr) return Error(cudaErrorInvalidDeviceFunction, "launch at " + Place(file, line));
  std::vector<std::vector<unsigned char>> values;
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
    values.emplace_back(bytes, bytes + kernel->parameters[i].bytes);
  }
  const cudaError_t error = Record(*kernel, values, {grid, block, shared_bytes, stream, cooperative, file, line});
  unseen_launch_error.clear();  // it was returned
  return error;
}

cudaError_t SetAttribute(const void* address, cudaFuncAttribute attribute, int value) {
  const Kernel* kernel = Identify(address);
  if (kernel == nullptr) return Error(cudaErrorInvalidDeviceFunction, "cudaFuncSetAttribute");
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > chip.shared_optin) {
    return Error(cudaErrorInvalidValue, "cudaFuncSetAttribute asks for " + Number(value) +
                                            " bytes of shared memory, the chip has " + Number(chip.shared_optin));
  }
  shared_limits[kernel->name] = std::max<long long>(value, static_cast<long long>(kDefaultSharedBytes));
  return cudaSuccess;
}

cudaError_t GetAttributes(cudaFuncAttributes* attributes, const void* address) {
  const Kernel* kernel = Identify(address);
  if (kernel == nullptr) return Error(cudaErrorInvalidDeviceFunction, "cudaFuncGetAttributes");
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = chip.major * 10 + chip.minor;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(SharedLimit(*kernel));
  return cudaSuccess;
}

// Registers are unknown before the kernel is compiled: threads, blocks and shared memory decide.
cudaError_t ActiveBlocks(int* blocks, const void*, int block_size, size_t shared_bytes) {
  if (block_size <= 0 || block_size > 1024) return Error(cudaErrorInvalidValue, "an occupancy query");
  const int warps = (block_size + 31) / 32;
  long long limit = std::min(chip.max_warps / warps, chip.max_blocks);
  limit = std::min(limit, chip.shared_bytes / (static_cast<long long>(shared_bytes) + chip.shared_reserved));
  *blocks = static_cast<int>(std::max(0ll, limit));
  return cudaSuccess;
}

cudaError_t PotentialBlockSize(int* grid, int* block, const void* address, size_t shared_bytes, int limit) {
  *block = limit > 0 ? std::min(limit, 1024) : 1024;
  int blocks = 0;
  const cudaError_t error = ActiveBlocks(&blocks, address, *block, shared_bytes);
  *grid = blocks * chip.multiprocessors;
  return error;
}

void* BufferAddress(size_t index) { return reinterpret_cast<void*>(buffers[index].start); }
const unsigned char* ScalarBytes(size_t index, size_t bytes) {
  if (index >= scalars.size() || scalars[index].size() != bytes)
    Refuse("the recorder was given a scalar of another size", "", 0);
  return scalars[index].data();
}

cudaError_t Allocate(void** pointer, size_t bytes, const char* file, int line) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  uint64_t total = bytes;
  for (const Buffer& buffer : buffers) total += buffer.live ? buffer.bytes : 0;
  if (total > kDeviceBytes || bytes > kSpacing - 2 * kMargin)
    return Error(cudaErrorMemoryAllocation, "allocation at " + Place(file, line));
  // The same slot for the same request, so that a launcher which allocates and frees in every call does the same in
  // every call.
  for (Buffer& buffer : buffers) {
    if (buffer.argument || buffer.live || buffer.bytes != bytes) continue;
    buffer.live = true;
    *pointer = reinterpret_cast<void*>(buffer.start);
    return cudaSuccess;
  }
  if (buffers.size() >= kMaxBuffers) Refuse("the launcher allocates more than 256 buffers", file, line);
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.start = base + buffers.size() * kSpacing + kMargin;
  buffers.push_back(buffer);
  out += "{\"workspace\":" + Number(static_cast<long long>(buffers.size() - 1)) +
         ",\"bytes\":" + Number(static_cast<long long>(bytes)) + "}\n";
  *pointer = reinterpret_cast<void*>(buffer.start);
  return cudaSuccess;
}

cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, const char* file,
                 int line) {
  const bool to_device = IsDevice(to), from_device = IsDevice(from);
  const cudaMemcpyKind actual = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                                          : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  for (const auto& [pointer, says_host] :
       {std::pair(from, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost),
        std::pair(static_cast<const void*>(to), kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)}) {
    const int index = says_host ? BufferOf(pointer) : -1;
    if (index >= 0 && buffers[static_cast<size_t>(index)].argument) {
      Refuse("the launcher copies argument " + Number(index + 1) +
                 " as if it were host memory; buffers of the manifest are device memory",
             file, line);
    }
  }
  if (kind != cudaMemcpyDefault && kind != actual)
    return Error(cudaErrorInvalidValue, "copy in the wrong direction at " + Place(file, line));
  if (bytes == 0) return cudaSuccess;
  const int id = StreamId(stream, file, line);
  const std::string tail = ",\"bytes\":" + Number(static_cast<long long>(bytes)) + ",\"stream\":" + Number(id);
  const int target = BufferOf(to), source = BufferOf(from);
  if ((to_device && target < 0) || (from_device && source < 0))
    return Error(cudaErrorInvalidValue, "copy at " + Place(file, line));
  switch (actual) {
    case cudaMemcpyHostToHost:
      std::memcpy(to, from, bytes);
      break;
    case cudaMemcpyDeviceToDevice:
      MarkDirty(target);
      Emit("{\"op\":\"copy\",\"to\":" + PointerText(target, to) + ",\"from\":" + PointerText(source, from) + tail);
      break;
    case cudaMemcpyHostToDevice:
      if (bytes > kMaxUploadBytes) Refuse("the launcher uploads more than 64 MiB at once", file, line);
      MarkDirty(target);
      Emit("{\"op\":\"upload\",\"to\":" + PointerText(target, to) + ",\"data\":\"" +
           Hex(static_cast<const unsigned char*>(from), bytes) + "\",\"stream\":" + Number(id));
      break;
    default: {
      const Buffer& buffer = buffers[static_cast<size_t>(source)];
      const uint64_t offset = reinterpret_cast<uint64_t>(from) - buffer.start;
      if (!buffer.dirty && !buffer.content.empty() && offset < buffer.content.size() &&
          bytes <= buffer.content.size() - offset) {
        std::memcpy(to, buffer.content.data() + offset, bytes);
        out += "{\"served\":" + Number(source) + "}\n";
      } else {
        for (size_t i = 0; i < bytes; ++i)
          static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(garbage >> (8 * (i % 4)));
        out += "{\"readback\":" + Number(source) + ",\"file\":" + Quote(file) + ",\"line\":" + Number(line) + "}\n";
        Flush();  // a launcher that loops on the value may never come to its end
      }
    }
  }
  return cudaSuccess;
}

cudaError_t Set(void* to, int value, size_t bytes, cudaStream_t stream, const char* file, int line) {
  const int target = BufferOf(to);
  if (target < 0) return Error(cudaErrorInvalidValue, "memset at " + Place(file, line));
  if (bytes == 0) return cudaSuccess;
  MarkDirty(target);
  Emit("{\"op\":\"memset\",\"to\":" + PointerText(target, to) + ",\"value\":" + Number(value & 255) +
       ",\"bytes\":" + Number(static_cast<long long>(bytes)) + ",\"stream\":" + Number(StreamId(stream, file, line)));
  return cudaSuccess;
}

const Symbol* FindSymbol(const void* address) {
  for (size_t i = 0; i < symbol_count; ++i) {
    const auto* begin = static_cast<const char*>(symbols[i].address);
    if (address >= begin && address < begin + symbols[i].bytes) return &symbols[i];
  }
  return nullptr;
}

cudaError_t CopyToSymbol(const void* address, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                         cudaStream_t stream, const char* file, int line) {
  const Symbol* symbol = FindSymbol(address);
  if (symbol == nullptr) return Error(cudaErrorInvalidSymbol, "cudaMemcpyToSymbol at " + Place(file, line));
  offset += static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(symbol->address));
  if (bytes > symbol->bytes || offset > symbol->bytes - bytes)
    return Error(cudaErrorInvalidValue, "cudaMemcpyToSymbol at " + Place(file, line));
  if (IsDevice(from) || kind == cudaMemcpyDeviceToDevice)
    Refuse("a copy from device memory to a symbol is not supported", file, line);
  Emit("{\"op\":\"symbol\",\"symbol\":" + Quote(symbol->name) +
       ",\"offset\":" + Number(static_cast<long long>(offset)) + ",\"data\":\"" +
       Hex(static_cast<const unsigned char*>(from), bytes) + "\",\"stream\":" + Number(StreamId(stream, file, line)));
  return cudaSuccess;
}

cudaError_t CopyFromSymbol(void* to, const void* symbol, size_t bytes, size_t, const char* file, int line) {
  if (FindSymbol(symbol) == nullptr)
    return Error(cudaErrorInvalidSymbol, "cudaMemcpyFromSymbol at " + Place(file, line));
  for (size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(garbage >> (8 * (i % 4)));
  out += "{\"readback\":-1,\"file\":" + Quote(file) + ",\"line\":" + Number(line) + "}\n";
  Flush();
  return cudaSuccess;
}

// ---- input
// -------------------------------------------------------------------------------------------------------------------
std::vector<unsigned char> FromHex(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

void ReadInput() {
  std::string word;
  while (std::cin >> word) {
    if (word == "base") {
      std::cin >> base;
    } else if (word == "garbage") {
      std::cin >> garbage;
    } else if (word == "chip") {
      std::cin >> chip.multiprocessors >> chip.max_warps >> chip.max_blocks >> chip.major >> chip.minor >>
          chip.registers >> chip.shared_bytes >> chip.shared_optin >> chip.shared_reserved >> chip.l2_bytes;
    } else if (word == "buffer") {
      Buffer buffer;
      uint64_t offset = 0;
      std::string content;
      std::cin >> buffer.bytes >> offset >> content;
      buffer.start = base + buffers.size() * kSpacing + kMargin + offset;
      buffer.argument = true;
      if (content != "-") buffer.content = FromHex(content);
      buffers.push_back(buffer);
    } else if (word == "scalar") {
      std::string content;
      std::cin >> content;
      scalars.push_back(FromHex(content));
    }
  }
}

int Main() {
  out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (out_fd < 0) return 71;
  if (null >= 0) dup2(null, STDOUT_FILENO);
  ReadInput();

  static unsigned char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal_number, &action, nullptr);
  atexit(OnExit);

  for (int call = 0; call < 3; ++call) {
    out += "{\"call\":" + Number(call) + "}\n";
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i].dirty = false;
    try {
      Call();
    } catch (const std::exception& error) {
      Refuse(std::string("the launcher threw: ") + error.what() +
                 (last_failure.empty() ? "" : " (after " + last_failure + ")"),
             failure_file, failure_line);
    } catch (...) {
      Refuse("the launcher threw an exception", "", 0);
    }
    if (!unseen_launch_error.empty()) Refuse(unseen_launch_error, unseen_file, unseen_line);
    if (!pending.empty()) Refuse("a launch configuration has no launch", pending.back().file, pending.back().line);
  }
  out += "{\"end\":true}\n";
  Flush();
  finished = true;
  // Destructors of the file's static objects may free what they allocated; that is no part of the plan.
  _exit(0);
}

cudaError_t TakeLastError(bool clear) {
  const cudaError_t error = last_error;
  unseen_launch_error.clear();
  if (clear) last_error = cudaSuccess;
  return error;
}

template <typename Handle>
Handle NewHandle(std::vector<bool>& live) {
  size_t id = 0;
  while (id < live.size() && live[id]) ++id;
  if (id == live.size()) live.push_back(true);
  live[id] = true;
  return reinterpret_cast<Handle>(0x101 + id);
}
template <typename Handle>
bool Release(std::vector<bool>& live, Handle handle) {
  const uint64_t id = reinterpret_cast<uint64_t>(handle) - 0x101;
  if (id >= live.size() || !live[id]) return false;
  live[id] = false;
  return true;
}
template <typename Handle>
bool IsLive(const std::vector<bool>& live, Handle handle) {
  const uint64_t id = reinterpret_cast<uint64_t>(handle) - 0x101;
  return id < live.size() && live[id];
}
template <typename Handle>
std::string IdOf(Handle handle) {
  return Number(static_cast<long long>(reinterpret_cast<uint64_t>(handle) - 0x101));
}

}  // namespace ww

using ww::Error;

namespace {
struct ErrorName {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorName kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};
}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  for (const ErrorName& known : kErrors) {
    if (known.error == error) return known.name;
  }
  return "cudaErrorUnknown";
}
const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorName& known : kErrors) {
    if (known.error == error) return known.text;
  }
  return "unknown error";
}
cudaError_t cudaGetLastError() { return ww::TakeLastError(true); }
cudaError_t cudaPeekAtLastError() { return ww::TakeLastError(false); }

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = ww::NewHandle<cudaStream_t>(ww::streams);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return ww::Release(ww::streams, stream) ? cudaSuccess : Error(cudaErrorInvalidResourceHandle, "cudaStreamDestroy");
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!ww::IsLive(ww::events, event)) return Error(cudaErrorInvalidResourceHandle, "cudaStreamWaitEvent");
  ww::Emit("{\"op\":\"wait\",\"event\":" + ww::IdOf(event) + ",\"stream\":" + ww::Number(ww::StreamId(stream, "", 0)));
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = ww::NewHandle<cudaEvent_t>(ww::events);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return ww::Release(ww::events, event) ? cudaSuccess : Error(cudaErrorInvalidResourceHandle, "cudaEventDestroy");
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!ww::IsLive(ww::events, event)) return Error(cudaErrorInvalidResourceHandle, "cudaEventRecord");
  ww::Emit("{\"op\":\"record\",\"event\":" + ww::IdOf(event) +
           ",\"stream\":" + ww::Number(ww::StreamId(stream, "", 0)));
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1.0f;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }

cudaError_t cudaFree(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const int index = ww::BufferOf(pointer);
  if (index < 0 || ww::buffers[static_cast<size_t>(index)].start != reinterpret_cast<uint64_t>(pointer)) {
    return Error(cudaErrorInvalidValue, "cudaFree");
  }
  ww::Buffer& buffer = ww::buffers[static_cast<size_t>(index)];
  if (buffer.argument) ww::Refuse("the launcher frees one of its arguments", "", 0);
  if (!buffer.live) return Error(cudaErrorInvalidValue, "cudaFree");
  buffer.live = false;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = *total_bytes = ww::kDeviceBytes;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  attributes->type = ww::IsDevice(pointer) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->devicePointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : Error(cudaErrorInvalidDevice, "cudaSetDevice");
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return Error(cudaErrorInvalidDevice, "cudaGetDeviceProperties");
  *p = {};
  std::snprintf(p->name, sizeof(p->name), "warpwright recorder");
  p->totalGlobalMem = ww::kDeviceBytes;
  p->sharedMemPerBlock = ww::kDefaultSharedBytes;
  p->sharedMemPerBlockOptin = static_cast<size_t>(ww::chip.shared_optin);
  p->sharedMemPerMultiprocessor = static_cast<size_t>(ww::chip.shared_bytes);
  p->reservedSharedMemPerBlock = static_cast<size_t>(ww::chip.shared_reserved);
  p->regsPerBlock = p->regsPerMultiprocessor = ww::chip.registers;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 65536;
  p->major = ww::chip.major;
  p->minor = ww::chip.minor;
  p->multiProcessorCount = ww::chip.multiprocessors;
  p->maxThreadsPerMultiProcessor = ww::chip.max_warps * 32;
  p->maxBlocksPerMultiProcessor = ww::chip.max_blocks;
  p->l2CacheSize = static_cast<int>(ww::chip.l2_bytes);
  p->concurrentKernels = p->unifiedAddressing = p->cooperativeLaunch = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device); error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = 1024;
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = 64;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = 65535;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = 65536;
      break;
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(p.reservedSharedMemPerBlock);
      break;
    default:
      return Error(cudaErrorInvalidValue, "cudaDeviceGetAttribute");
  }
  return cudaSuccess;
}

int main() { return ww::Main(); }

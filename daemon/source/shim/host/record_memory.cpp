// Device memory: addresses without anything behind them, what is allocated, copied and set there, and symbols.
#include <sys/mman.h>

#include "recorder.h"

namespace ww {
namespace {

constexpr size_t kMaxRows = 1024;  // of one pitched operation
constexpr size_t kPitchBytes = 512;

uint64_t end_of_buffers = 0;

const Symbol* FindSymbol(const void* host_address) {
  for (size_t i = 0; i < symbol_count; ++i) {
    const auto* begin = static_cast<const char*>(symbols[i].address);
    if (host_address >= begin && host_address < begin + symbols[i].bytes) return &symbols[i];
  }
  return nullptr;
}

void EmitSymbol(const Symbol& symbol, size_t offset, const std::string& hex, cudaStream_t stream, const char* file,
                int line) {
  Emit(Line("symbol")
           .Text("symbol", symbol.name)
           .Integer("offset", static_cast<long long>(offset))
           .Text("data", hex)
           .Integer("stream", WorkOn(stream, file, line)));
}

// Between device memory and a symbol.
cudaError_t EmitSymbolCopy(const Symbol& symbol, size_t offset, const void* buffer, size_t bytes, bool to_symbol,
                           cudaStream_t stream, const char* file, int line) {
  const int index = BufferOf(buffer);
  if (index < 0) return Error(cudaErrorInvalidValue, "copy at " + Location(file, line));
  if (!to_symbol) MarkDirty(index);
  const int id = WorkOn(stream, file, line);
  state.order.Uses(index, id);
  Emit(Line("symbol_copy")
           .Text("symbol", symbol.name)
           .Integer("offset", static_cast<long long>(offset))
           .Pointer("with", index, buffer)
           .Flag("to_symbol", to_symbol)
           .Integer("bytes", static_cast<long long>(bytes))
           .Integer("stream", id));
  return cudaSuccess;
}

// What host code gets of a value that the device computes.
void GiveGarbage(void* to, size_t bytes, int buffer, const char* file, int line) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(state.garbage >> (8 * (i % 4)));
  Waits("cudaMemcpy");
  Note(Line("readback").Integer("buffer", buffer).Text("file", file).Integer("line", line));
  Flush();  // a launcher that loops on the value may never come to its end
}

bool CopyWithSymbol(void* to, const void* from, size_t bytes, cudaStream_t stream, bool waits, const char* file,
                    int line, cudaError_t& error) {
  size_t offset = 0;
  const Symbol* target = SymbolAt(to, &offset);
  const Symbol* source = SymbolAt(from, target == nullptr ? &offset : nullptr);
  if (target == nullptr && source == nullptr) return false;
  error = cudaSuccess;
  const Symbol& symbol = target != nullptr ? *target : *source;
  if (target != nullptr && source != nullptr) Refuse("a copy between symbols is not supported", file, line);
  if (bytes > symbol.bytes || offset > symbol.bytes - bytes) {
    error = Error(cudaErrorInvalidValue, "copy at " + Location(file, line));
  } else if (IsDevice(to) && IsDevice(from)) {
    error = EmitSymbolCopy(symbol, offset, target != nullptr ? from : to, bytes, target != nullptr, stream, file, line);
  } else if (target != nullptr) {
    if (!waits) UploadsFrom(from, bytes);
    EmitSymbol(symbol, offset, Hex(static_cast<const unsigned char*>(from), bytes), stream, file, line);
  } else {
    GiveGarbage(to, bytes, -1, file, line);
  }
  return true;
}

}  // namespace

void PlaceLikeDriver() {
  constexpr uint64_t kBelow = 8ull << 30, kDrawn = 1 << 12;  // of other mappings; pages, by which the place is drawn
  void* next = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (next == MAP_FAILED) return;
  munmap(next, kPage);
  const uint64_t drawn = state.base / 512 % kDrawn * kPage;
  state.base = (reinterpret_cast<uint64_t>(next) - kBelow - state.total - drawn) / kPage * kPage;
}

static bool IsBuffer(uint64_t address) {
  return address >= state.base && address < std::max(end_of_buffers, state.base) + kPage;
}
bool IsDevice(const void* pointer) {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  return IsBuffer(address) || (address >= state.symbols && address < state.symbols + kMaxSymbols * kSpacing);
}

int BufferOf(const void* pointer) {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  if (!IsBuffer(address)) return -1;
  const uint64_t margin = state.close ? kPage / 2 : kMargin;
  for (size_t i = 0; i < state.buffers.size(); ++i) {
    const Buffer& buffer = state.buffers[i];
    if (address >= buffer.start - margin && address - buffer.start + margin <= buffer.room + 2 * margin)
      return static_cast<int>(i);
  }
  return -1;
}

uint64_t NextPlace(uint64_t bytes) {
  uint64_t& end = end_of_buffers;
  if (end == 0) end = state.base;
  if (!state.close) {
    const uint64_t start = end + kMargin;
    end += kSpacing;
    return start;
  }
  const uint64_t start = end + kPage;
  end = (start + bytes + 2 * kPage) / kPage * kPage;
  return start;
}

std::string PointerMembers(int index, const void* pointer) {
  const uint64_t start = state.buffers[static_cast<size_t>(index)].start;
  return "\"buffer\":" + Number(index) +
         ",\"offset\":" + Number(static_cast<long long>(reinterpret_cast<uint64_t>(pointer) - start));
}

const Symbol* SymbolAt(const void* device_address, size_t* offset) {
  const uint64_t address = reinterpret_cast<uint64_t>(device_address);
  if (address < state.symbols) return nullptr;
  const uint64_t index = (address - state.symbols) / kSpacing;
  if (index >= symbol_count) return nullptr;
  if (offset != nullptr) *offset = address - (state.symbols + index * kSpacing + kMargin);
  return &symbols[index];
}

cudaError_t Allocate(void** pointer, size_t bytes, bool managed, const char* file, int line) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  uint64_t total = bytes;
  for (const Buffer& buffer : state.buffers) total += buffer.live ? buffer.bytes : 0;
  if (total > kDeviceBytes || bytes > kSpacing - 2 * kMargin)
    return Error(cudaErrorMemoryAllocation, "allocation at " + Location(file, line));
  // The same slot for the same request, so that a launcher which allocates and frees in every call does the same in
  // every call.
  for (Buffer& buffer : state.buffers) {
    if (buffer.argument || buffer.live || buffer.bytes != bytes) continue;
    buffer.live = true;
    buffer.managed = managed;
    *pointer = reinterpret_cast<void*>(buffer.start);
    return cudaSuccess;
  }
  if (state.buffers.size() >= kMaxBuffers) Refuse("the launcher allocates more than 256 buffers", file, line);
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.room = bytes;
  buffer.start = NextPlace(bytes);
  buffer.managed = managed;
  state.buffers.push_back(buffer);
  Note(Line("workspace")
           .Integer("buffer", static_cast<long long>(state.buffers.size() - 1))
           .Integer("bytes", static_cast<long long>(bytes)));
  *pointer = reinterpret_cast<void*>(buffer.start);
  return cudaSuccess;
}

cudaError_t AllocatePitched(void** pointer, size_t* pitch, size_t width, size_t height, const char* file, int line) {
  if (width > kDeviceBytes || height > kDeviceBytes)
    return Error(cudaErrorMemoryAllocation, "allocation at " + Location(file, line));
  *pitch = (width + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  if (height != 0 && *pitch > kDeviceBytes / height)
    return Error(cudaErrorMemoryAllocation, "allocation at " + Location(file, line));
  return Allocate(pointer, *pitch * height, false, file, line);
}

cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool waits,
                 const char* file, int line) {
  const bool to_device = IsDevice(to), from_device = IsDevice(from);
  const cudaMemcpyKind actual = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                                          : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  for (const auto& [pointer, says_host] :
       {std::pair(from, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost),
        std::pair(static_cast<const void*>(to), kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)}) {
    const int index = says_host ? BufferOf(pointer) : -1;
    if (index >= 0 && state.buffers[static_cast<size_t>(index)].argument) {
      Refuse("the launcher copies argument " + Number(index + 1) +
                 " as if it were host memory; buffers of the manifest are device memory",
             file, line);
    }
  }
  if (kind != cudaMemcpyDefault && kind != actual)
    return Error(cudaErrorInvalidValue, "copy in the wrong direction at " + Location(file, line));
  if (bytes == 0) return cudaSuccess;
  if (cudaError_t error; CopyWithSymbol(to, from, bytes, stream, waits, file, line, error)) return error;
  const int id = WorkOn(stream, file, line);
  const int target = BufferOf(to), source = BufferOf(from);
  if ((to_device && target < 0) || (from_device && source < 0))
    return Error(cudaErrorInvalidValue, "copy at " + Location(file, line));
  for (const int buffer : {target, source})
    if (buffer >= 0) state.order.Uses(buffer, id);
  switch (actual) {
    case cudaMemcpyHostToHost: std::memcpy(to, from, bytes); break;
    case cudaMemcpyDeviceToDevice:
      MarkDirty(target);
      Emit(Line("copy")
               .Pointer("to", target, to)
               .Pointer("from", source, from)
               .Integer("bytes", static_cast<long long>(bytes))
               .Integer("stream", id));
      break;
    case cudaMemcpyHostToDevice:
      if (bytes > kMaxUploadBytes) Refuse("the launcher uploads more than 64 MiB at once", file, line);
      MarkDirty(target);
      if (!waits) UploadsFrom(from, bytes);
      Emit(Line("upload")
               .Pointer("to", target, to)
               .Text("data", Hex(static_cast<const unsigned char*>(from), bytes))
               .Integer("stream", id));
      break;
    default: {
      Waits("cudaMemcpy");
      const Buffer& buffer = state.buffers[static_cast<size_t>(source)];
      const uint64_t offset = reinterpret_cast<uint64_t>(from) - buffer.start;
      if (!buffer.dirty && !buffer.content.empty() && offset < buffer.content.size() &&
          bytes <= buffer.content.size() - offset) {
        std::memcpy(to, buffer.content.data() + offset, bytes);
        Note(Line("served").Integer("buffer", source));
      } else {
        GiveGarbage(to, bytes, source, file, line);
      }
    }
  }
  return cudaSuccess;
}

cudaError_t Set(void* to, int value, size_t bytes, cudaStream_t stream, const char* file, int line) {
  size_t offset = 0;
  const Symbol* symbol = SymbolAt(to, &offset);
  const int target = BufferOf(to);
  if (symbol != nullptr ? bytes > symbol->bytes || offset > symbol->bytes - bytes : target < 0)
    return Error(cudaErrorInvalidValue, "memset at " + Location(file, line));
  if (bytes == 0) return cudaSuccess;
  if (symbol != nullptr) {
    const std::vector<unsigned char> content(bytes, static_cast<unsigned char>(value));
    EmitSymbol(*symbol, offset, Hex(content.data(), bytes), stream, file, line);
    return cudaSuccess;
  }
  MarkDirty(target);
  const int id = WorkOn(stream, file, line);
  state.order.Uses(target, id);
  Emit(Line("memset")
           .Pointer("to", target, to)
           .Integer("value", value & 255)
           .Integer("bytes", static_cast<long long>(bytes))
           .Integer("stream", id));
  return cudaSuccess;
}

namespace {
// Calls `row` for every row, or once for all of them where none of the pitches leaves a gap.
template <typename Row>
cudaError_t ForRows(std::initializer_list<size_t> pitches, size_t width, size_t height, const char* file, int line,
                    Row row) {
  bool gaps = false;
  for (const size_t pitch : pitches) {
    if (width > pitch) return Error(cudaErrorInvalidPitchValue, "a pitched operation at " + Location(file, line));
    gaps = gaps || pitch != width;
  }
  if (width == 0 || height == 0) return cudaSuccess;
  if (!gaps || height == 1) return row(0, width * height);
  if (height > kMaxRows) {
    Refuse("a pitched operation of " + Number(static_cast<long long>(height)) +
               " rows with gaps between them; at most 1,024 are recorded",
           file, line);
  }
  for (size_t i = 0; i < height; ++i) {
    if (const cudaError_t error = row(i, width); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
}  // namespace

cudaError_t CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                     cudaMemcpyKind kind, cudaStream_t stream, bool waits, const char* file, int line) {
  return ForRows({to_pitch, from_pitch}, width, height, file, line, [&](size_t i, size_t bytes) {
    return Copy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, bytes, kind,
                stream, waits, file, line);
  });
}

cudaError_t SetRows(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                    const char* file, int line) {
  return ForRows({pitch}, width, height, file, line, [&](size_t i, size_t bytes) {
    return Set(static_cast<char*>(to) + i * pitch, value, bytes, stream, file, line);
  });
}

cudaError_t SymbolAddress(void** pointer, const void* address, const char* file, int line) {
  const Symbol* symbol = FindSymbol(address);
  const size_t index = static_cast<size_t>(symbol - symbols);
  if (symbol == nullptr || index >= kMaxSymbols)
    return Error(cudaErrorInvalidSymbol, "cudaGetSymbolAddress at " + Location(file, line));
  const auto inside = static_cast<const char*>(address) - static_cast<const char*>(symbol->address);
  *pointer = reinterpret_cast<void*>(state.symbols + index * kSpacing + kMargin + static_cast<uint64_t>(inside));
  return cudaSuccess;
}

// Where `bytes` of the symbol are, `offset` behind the address that the host has of it.
static cudaError_t FindInSymbol(const void* address, size_t offset, size_t bytes, char** place, const char* function,
                                const char* file, int line) {
  const Symbol* symbol = FindSymbol(address);
  void* start = nullptr;
  if (symbol == nullptr || SymbolAddress(&start, address, file, line) != cudaSuccess)
    return Error(cudaErrorInvalidSymbol, std::string(function) + " at " + Location(file, line));
  const auto inside =
      static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(symbol->address));
  if (bytes > symbol->bytes || inside + offset > symbol->bytes - bytes)
    return Error(cudaErrorInvalidValue, std::string(function) + " at " + Location(file, line));
  *place = static_cast<char*>(start) + offset;
  return cudaSuccess;
}

cudaError_t CopyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                         cudaStream_t stream, bool waits, const char* file, int line) {
  char* to = nullptr;
  const cudaError_t error = FindInSymbol(symbol, offset, bytes, &to, "cudaMemcpyToSymbol", file, line);
  return error != cudaSuccess ? error : Copy(to, from, bytes, kind, stream, waits, file, line);
}

cudaError_t CopyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits, const char* file, int line) {
  char* from = nullptr;
  const cudaError_t error = FindInSymbol(symbol, offset, bytes, &from, "cudaMemcpyFromSymbol", file, line);
  return error != cudaSuccess ? error : Copy(to, from, bytes, kind, stream, waits, file, line);
}

cudaError_t SymbolSize(size_t* bytes, const void* address, const char* file, int line) {
  const Symbol* symbol = FindSymbol(address);
  if (symbol == nullptr) return Error(cudaErrorInvalidSymbol, "cudaGetSymbolSize at " + Location(file, line));
  *bytes = symbol->bytes;
  return cudaSuccess;
}

}  // namespace ww

using ww::Error;
using ww::state;

cudaError_t ww::AllocatePinned(void** pointer, size_t bytes) {
  ww::AllocatesInEveryCall("cudaMallocHost");
  *pointer = std::calloc(1, bytes);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  state.pinned[static_cast<const char*>(*pointer)] = bytes;
  return cudaSuccess;
}
static cudaError_t Free(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const int index = ww::BufferOf(pointer);
  if (index < 0 || state.buffers[static_cast<size_t>(index)].start != reinterpret_cast<uint64_t>(pointer)) {
    return Error(cudaErrorInvalidValue, "cudaFree");
  }
  ww::Buffer& buffer = state.buffers[static_cast<size_t>(index)];
  if (buffer.argument) ww::Refuse("the launcher frees one of its arguments", "", 0);
  if (!buffer.live) return Error(cudaErrorInvalidValue, "cudaFree");
  buffer.live = false;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const int index = ww::BufferOf(pointer);
  if (index >= 0 && state.order.MayBeInUse(index, ww::StreamId(stream, "", 0))) ww::FreesWhatIsInUse("cudaFreeAsync");
  return Free(pointer);
}
cudaError_t cudaFree(void* pointer) {
  if (pointer != nullptr) ww::AllocatesInEveryCall("cudaFree");
  return Free(pointer);
}
cudaError_t cudaFreeHost(void* pointer) {
  ww::AllocatesInEveryCall("cudaFreeHost");
  state.pinned.erase(static_cast<const char*>(pointer));
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = state.answers.free_bytes;
  *total_bytes = state.answers.total_bytes;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  const int index = ww::BufferOf(pointer);
  const bool managed = index >= 0 && state.buffers[static_cast<size_t>(index)].managed;
  attributes->type = !ww::IsDevice(pointer) ? cudaMemoryTypeUnregistered
                     : managed              ? cudaMemoryTypeManaged
                                            : cudaMemoryTypeDevice;
  attributes->devicePointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

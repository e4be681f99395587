// The recorder's side of cuda_runtime.h, shared by its source files. It runs in the child, beside untrusted code, and
// writes what happens as JSON lines to a copy of its standard output that nobody else is told of; whoever reads them
// believes nothing.
//
// Device memory is a range of addresses where nothing is mapped. Buffers follow each other there, in one recording far
// apart, in another as closely as an allocator puts them, and below this process's libraries, where drivers place them
// (+ the offset asked for). Symbol i has its place in a slot of kSpacing, behind the last possible buffer of the
// former.
#pragma once

#include <map>
#include <set>

#include "call_order.h"
#include "cuda_runtime.h"

namespace ww {

constexpr uint64_t kSpacing = 64ull << 30;
constexpr uint64_t kMargin = 1ull << 30;  // pointers a little in front of a buffer still belong to it
constexpr uint64_t kPage = 2ull << 20;    // of real devices: allocations begin at a multiple
constexpr uint64_t kHandle = 0x1d0;       // between handles of streams, or of events: they are addresses of objects
constexpr size_t kMaxBuffers = 256;
constexpr size_t kMaxSymbols = 256;
constexpr size_t kMaxOperations = 4096;
constexpr uint64_t kMaxUploadBytes = 64ull << 20;
constexpr uint64_t kDeviceBytes = 128ull << 30;
constexpr size_t kDefaultSharedBytes = 48 * 1024;

struct Buffer {
  uint64_t bytes = 0;
  uint64_t start = 0;  // address
  uint64_t room = 0;   // the most bytes of all calls
  bool argument = false, live = true;
  // The argument whose address the entry gets in place of this one's: -1: its own; -2: a null pointer.
  long long same_as = -1;
  bool managed = false;
  bool dirty = false;  // perhaps written by the device in this call
  bool mapped = false;
  std::vector<unsigned char> content;  // served to host reads; empty: not served
};
struct Chip {
  int multiprocessors = 132, max_warps = 64, max_blocks = 32, major = 9, minor = 0, registers = 65536;
  long long shared_bytes = 233472, shared_optin = 232448, shared_reserved = 1024, l2_bytes = 52428800;
  int clock_khz = 1980000;
};
// A call with other arguments than those that are recorded, before them.
struct EarlierCall {
  std::vector<uint64_t> bytes;  // of the buffer arguments
  std::vector<std::vector<unsigned char>> scalars;
};
// What is asked of the real device, which differs from machine to machine and from moment to moment: a recording has
// one of two sets of answers.
struct Answers {
  bool second = false;
  uint64_t free_bytes = 0, total_bytes = 0;
  int registers = 0, device = 0, devices = 1;
  size_t constant_bytes = 0, local_bytes = 0;
  std::string name;
};
// What a call leaves behind, to be counted.
struct Held {
  long long allocations = 0, pinned = 0, streams = 0, events = 0;
  bool operator==(const Held& other) const {
    return allocations == other.allocations && pinned == other.pinned && streams == other.streams &&
           events == other.events;
  }
};
struct Configuration {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  const char* file = "";
  int line = 0;
};

struct State {
  // The input of this run.
  uint64_t base = 0, symbols = 0, handles = 0;  // where buffers, symbols and the objects behind handles begin
  uint64_t total = 0;                           // bytes of the arguments
  unsigned garbage = 0;                         // what device-to-host copies return
  std::vector<std::vector<unsigned char>> scalars;
  Chip chip;
  Answers answers;
  bool close = false;           // how buffers are placed
  uint64_t moves = 0;           // bytes that the arguments move by before the last call
  bool default_stream = false;  // the caller passes no stream of its own
  bool fails = false;           // after the calls, one more in which every launch fails
  bool measures = false;        // after the calls, more of them for their time
  std::vector<EarlierCall> earlier;
  std::map<std::string, std::vector<int>> lines;  // by file: of each compiled line, the user's

  std::vector<Buffer> buffers;  // the arguments, then what was allocated
  std::vector<Configuration> pending;
  cudaError_t launch_result = cudaSuccess;  // of the launch before
  std::vector<bool> streams, events;        // live ones
  std::map<const char*, size_t> pinned;     // host memory by its address
  struct PinnedUpload {
    std::string bytes;
    bool pending = false;  // nobody waited for it
  };
  std::map<const void*, PinnedUpload> pinned_uploads;
  int device = 0;               // the current one
  bool repeats = false;         // not the first call: what it does, every call does
  bool failing = false;         // in the call in which launches fail
  bool returns = false;         // the launcher returns something
  bool quiet = false;           // in a call with other arguments
  bool muted = false;           // in a call that is measured: nothing is said
  bool callers_stream = false;  // the entry is given one: the first of `streams`; the second stands for
                                // the default stream
  CallOrder order;
  bool host_waited = false;  // since the last operation, for the device

  cudaError_t last_error = cudaSuccess;
  std::string last_failure;  // "cudaErrorInvalidValue, cudaFree"; also after cudaGetLastError took the code
  const char* failure_file = "";
  int failure_line = 0;
  std::string unseen_launch_error;  // nobody asked for it yet
  const char* unseen_file = "";
  int unseen_line = 0;

  std::string out;  // not yet written
  bool finished = false;
};
extern State state;

// ---- output

void Flush();
// One line of the recording: a JSON object with a "kind" and its named members (source/recording_lines.h reads it).
class Line {
 public:
  explicit Line(const char* kind);
  Line& Integer(const char* key, long long value);
  Line& Text(const char* key, const std::string& value);
  Line& Flag(const char* key, bool value);
  Line& Pointer(const char* key, int buffer, const void* value);
  Line& Json(const char* key, const std::string& json);
  std::string json() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};
Line EventLine(bool waits, long long event, int stream);
// A line that is no operation.
void Note(const Line& line);
// An operation of the plan.
void Emit(const Line& line);
[[noreturn]] void End();
[[noreturn]] void Refuse(const std::string& reason, const char* file, int line);
// The error is what the launcher gets; `place` is for messages, should it end because of it.
cudaError_t Error(cudaError_t error, const std::string& place);

std::string Quote(const std::string& text);
std::string Hex(const unsigned char* bytes, size_t size);
inline std::string Number(long long value) { return std::to_string(value); }
inline std::string Location(const char* file, int line) { return std::string(file) + ":" + Number(line); }

// ---- what a launcher does beside launching (record_effects.cpp)

// Something that not every entry does: the reader of the recording compares it with the original.
void NoteEffect(const char* what, const std::string& function);
inline constexpr const char* kFailingLaunch = "a launch that fails";  // as in core/code_use.cpp
void NoteLaunchError();
void ChangesDevice(const char* function);
void Waits(const char* function);
void AllocatesInEveryCall(const char* function);
void FreesWhatIsInUse(const char* function);
void UploadsFrom(const void* from, size_t bytes);  // asynchronously
// Of the calls in between (record_compared.cpp).
void FollowComparisons(bool follow);
void NoteComparisons();
void MeasureHostTime();  // record_time.cpp
Held HeldNow();
void CompareHeld(const Held& before, const Held& after);

// ---- what else a call may keep something in (record_state.cpp, record_heap.cpp)

uint64_t NextNoise();  // other bits in every recording
// Before a call: what earlier calls left on the stack, and the processor's flags, are others in every recording.
void BeginBare();
void PrintAtOnce();
std::string LibraryState();
// The blocks of the heap that nothing in the process points to, by their addresses: a pointer to them was changed into
// something else.
std::map<size_t, std::string> HiddenBlocks();
extern const char* stack_end;  // of main's frame

// ---- a whole file as nvcc makes it (record_nvcc.cpp)

// Its kernels, as the slice's plan names them; in its harness.
struct NvccKernel {
  const char* symbol;
  const char* name;
  const ParameterLayout* list;
  size_t count;
};
extern const NvccKernel* const nvcc_kernels __attribute__((weak));
extern const size_t nvcc_kernel_count __attribute__((weak));
void Register(const void* address, const char* symbol);

// ---- addresses

void PlaceLikeDriver();  // device memory, before the first buffer
bool IsDevice(const void* pointer);
uint64_t NextPlace(uint64_t bytes);                           // of a new buffer
int BufferOf(const void* pointer);                            // -1: none
std::string PointerMembers(int buffer, const void* pointer);  // of the JSON object that names it
void MarkDirty(int buffer);
const Symbol* SymbolAt(const void* device_address, size_t* offset);  // by the address that kernels would get
int StreamId(cudaStream_t stream, const char* file, int line);
// The same for an operation that is about to be recorded.
int WorkOn(cudaStream_t stream, const char* file, int line);

// ---- the program

// The variables of the launcher's file (the linker puts them between these).
extern char data_begin[8], data_end[8], bss_begin[8], bss_end[8];
void InstallFaultHandlers();
std::string WithHeap(std::string variables);
void OnExit();

}  // namespace ww

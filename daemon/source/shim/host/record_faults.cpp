// What happens when host code follows a device pointer: an input that was served is read, all else ends the recording
// with the buffer's number and the call stack.
#include "recorder.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" const char __executable_start, etext;  // of the linker: around the program's code

namespace ww {
namespace {

// The pages that hold a buffer's content.
struct Pages {
  explicit Pages(const Buffer& buffer)
      : begin(reinterpret_cast<void*>(buffer.start & ~4095ull)),
        bytes(((buffer.start & 4095) + buffer.content.size() + 4095) & ~4095ull) {}
  void* begin;
  uint64_t bytes;
};

// Return addresses by frame pointers (the host slice is built with them), for addr2line. Where a leaf was called, the
// word on top of the stack is one; else it may be anything.
std::string CallStack(const ucontext_t* context) {
  std::string list = Number(context->uc_mcontext.gregs[REG_RIP]);
  const auto add = [&](uint64_t word) {
    const bool code =
        word >= reinterpret_cast<uint64_t>(&__executable_start) && word < reinterpret_cast<uint64_t>(&etext);
    if (code) list += "," + Number(static_cast<long long>(word));
  };
  const uint64_t sp = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
  uint64_t frame = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RBP]);
  add(*reinterpret_cast<const uint64_t*>(sp));
  for (int depth = 0; depth < 12 && frame > sp && frame < sp + (8u << 20) && frame % 8 == 0; ++depth) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(frame);
    add(words[1]);
    if (words[0] <= frame) break;
    frame = words[0];
  }
  return list;
}

bool Serve(int index, uint64_t address) {
  Buffer& buffer = state.buffers[static_cast<size_t>(index)];
  const bool inside = address >= buffer.start && address < buffer.start + buffer.content.size();
  if (!inside || buffer.dirty || buffer.mapped) return false;
  const Pages pages(buffer);
  void* at = mmap(pages.begin, pages.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) return false;
  std::memcpy(reinterpret_cast<void*>(buffer.start), buffer.content.data(), buffer.content.size());
  mprotect(at, pages.bytes, PROT_READ);
  buffer.mapped = true;
  Note(Line("served").Integer("buffer", index));
  return true;
}

void OnFault(int signal_number, siginfo_t* info, void* raw) {
  static bool inside = false;
  if (inside) _exit(70);
  auto* context = static_cast<ucontext_t*>(raw);
  const int index = signal_number == SIGSEGV ? BufferOf(info->si_addr) : -1;
  const bool write_access = (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  if (index >= 0 && !write_access && Serve(index, reinterpret_cast<uint64_t>(info->si_addr))) return;
  inside = true;
  const Buffer* buffer = index >= 0 ? &state.buffers[static_cast<size_t>(index)] : nullptr;
  Note(Line("fault")
           .Integer("signal", signal_number)
           .Integer("buffer", index)
           .Flag("write", write_access)
           .Flag("dirty", buffer != nullptr && buffer->dirty)
           .Flag("managed", buffer != nullptr && buffer->managed)
           .Json("stack", "[" + CallStack(context) + "]"));
  Flush();
  state.finished = true;
  _exit(0);
}

}  // namespace

void MarkDirty(int index) {
  Buffer& buffer = state.buffers[static_cast<size_t>(index)];
  buffer.dirty = true;
  if (!buffer.mapped) return;
  const Pages pages(buffer);
  munmap(pages.begin, pages.bytes);
  buffer.mapped = false;
}

void InstallFaultHandlers() {
  static unsigned char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal_number, &action, nullptr);
}

}  // namespace ww

// What of the process a launcher may keep something in beside the variables of its file: the state of the library's
// objects and of the processor, and what earlier calls left on the stack.
#include <cfenv>
#include <cstdio>
#include <iostream>

#include <xmmintrin.h>

#include "recorder.h"

namespace ww {
namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr unsigned kFlags = 0x3f;  // of the exceptions that computing raises, in the processor's register

template <typename T>
std::string RawBytes(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof(object)};
}

// Below the caller's frame. Not read: what remains there is what a call finds in variables that it does not set.
__attribute__((noinline)) void FillStack(uint64_t word) {
  volatile uint64_t room[kStackBytes / sizeof(uint64_t)];
  for (volatile uint64_t& value : room) value = word = word * 6364136223846793005u + 1442695040888963407u;
}

}  // namespace

uint64_t NextNoise() {
  static uint64_t noise = 0;
  if (noise == 0) noise = state.base ^ state.handles << 20;
  noise = noise * 6364136223846793005u + 1442695040888963407u;
  return noise;
}

void BeginBare() {
  FillStack(NextNoise());
  _mm_setcsr((_mm_getcsr() & ~kFlags) | (state.answers.second ? kFlags : 0));
}

// Where a stream stands in its buffer is part of it: nothing is buffered (PrintAtOnce).
std::string LibraryState() {
  std::string all = RawBytes(std::cin) + RawBytes(std::cout) + RawBytes(std::cerr) + RawBytes(std::clog) +
                    RawBytes(*stdout) + RawBytes(*stderr) + RawBytes(errno) + RawBytes(_mm_getcsr() & ~kFlags) +
                    RawBytes(fegetround());
  all.resize((all.size() + 7) / 8 * 8);
  return all;
}

void PrintAtOnce() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  setvbuf(stderr, nullptr, _IONBF, 0);
}

}  // namespace ww

// How arithmetic handlers are built: a functor over the values of one lane, applied to 32 lanes. The loops are written
// so that the compiler turns them into vector code; `kFull` handlers write all lanes, the others blend by the mask of
// active ones.
//
// These files are compiled for x86-64-v3 (daemon/sim/CMakeLists.txt) and live in a namespace of that name; they use
// nothing from the standard library that is not inlined, so that no other part of the program can pick up a function
// with instructions that its CPU lacks. A build for x86-64-v4 was measured to be no faster.
#pragma once

#include <immintrin.h>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sim/exec/context.h"

namespace warpwright::sim::v3 {

template <typename T>
[[gnu::always_inline]] inline T* Reg(Context& c, uint32_t offset) {
  return reinterpret_cast<T*>(c.registers + offset);
}

// The type of a register-file lane that holds a value type.
template <typename T>
using Storage = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
[[gnu::always_inline]] inline T Unpack(Storage<T> s) {
  if constexpr (sizeof(T) == sizeof(Storage<T>)) return std::bit_cast<T>(s);
  else return static_cast<T>(s);
}
template <typename T>
[[gnu::always_inline]] inline Storage<T> Pack(T v) {
  if constexpr (sizeof(T) == sizeof(Storage<T>)) return std::bit_cast<Storage<T>>(v);
  else return static_cast<Storage<T>>(static_cast<std::make_unsigned_t<T>>(v));
}

#define WW_LANES _Pragma("GCC ivdep") for (uint32_t l = 0; l < kLanes; ++l)

template <bool kFull, typename S>
[[gnu::always_inline]] inline void Write(Context& c, S* d, uint32_t l, S value) {
  if constexpr (kFull) d[l] = value;
  else d[l] = c.lanes[l] ? value : d[l];
}

template <typename R, typename A, typename F, bool kFull>
const Instruction* Map1(Context& c, const Instruction* i) {
  auto* d = Reg<Storage<R>>(c, i->reg[0]);
  const auto* a = Reg<Storage<A>>(c, i->reg[1]);
  WW_LANES Write<kFull>(c, d, l, Pack<R>(F::Run(Unpack<A>(a[l]))));
  return i + 1;
}
template <typename R, typename A, typename B, typename F, bool kFull>
const Instruction* Map2(Context& c, const Instruction* i) {
  auto* d = Reg<Storage<R>>(c, i->reg[0]);
  const auto* a = Reg<Storage<A>>(c, i->reg[1]);
  const auto* b = Reg<Storage<B>>(c, i->reg[2]);
  WW_LANES Write<kFull>(c, d, l, Pack<R>(F::Run(Unpack<A>(a[l]), Unpack<B>(b[l]))));
  return i + 1;
}
template <typename R, typename A, typename B, typename C, typename F, bool kFull>
const Instruction* Map3(Context& c, const Instruction* i) {
  auto* d = Reg<Storage<R>>(c, i->reg[0]);
  const auto* a = Reg<Storage<A>>(c, i->reg[1]);
  const auto* b = Reg<Storage<B>>(c, i->reg[2]);
  const auto* e = Reg<Storage<C>>(c, i->reg[3]);
  WW_LANES Write<kFull>(c, d, l, Pack<R>(F::Run(Unpack<A>(a[l]), Unpack<B>(b[l]), Unpack<C>(e[l]))));
  return i + 1;
}

template <typename R, typename A, typename F>
HandlerPair Of1() {
  return {Map1<R, A, F, false>, Map1<R, A, F, true>};
}
template <typename R, typename A, typename B, typename F>
HandlerPair Of2() {
  return {Map2<R, A, B, F, false>, Map2<R, A, B, F, true>};
}
template <typename R, typename A, typename B, typename C, typename F>
HandlerPair Of3() {
  return {Map3<R, A, B, C, F, false>, Map3<R, A, B, C, F, true>};
}

// The bits of 32 lanes that are -1 or 0.
[[gnu::always_inline]] inline uint32_t MaskOf(const int32_t* lanes) {
  uint32_t mask = 0;
  for (int k = 0; k < 4; ++k) {
    const __m256 part = _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes + 8 * k)));
    mask |= static_cast<uint32_t>(_mm256_movemask_ps(part)) << (8 * k);
  }
  return mask;
}

[[gnu::always_inline]] inline void WritePredicate(Context& c, uint32_t offset, uint32_t value) {
  uint32_t* p = Reg<uint32_t>(c, offset);
  *p = (*p & ~c.mask) | (value & c.mask);
}

// Each returns {} for an instruction that it does not handle.
HandlerPair SelectControl(const Instruction& in);
HandlerPair SelectMove(const Instruction& in);
HandlerPair SelectInteger(const Instruction& in);
HandlerPair SelectBits(const Instruction& in);
HandlerPair SelectFloat(const Instruction& in);
HandlerPair SelectMath(const Instruction& in);
HandlerPair SelectHalf(const Instruction& in);
HandlerPair SelectCompare(const Instruction& in);
HandlerPair SelectConvert(const Instruction& in);
HandlerPair SelectMemory(const Instruction& in);
HandlerPair SelectAtomic(const Instruction& in);
HandlerPair SelectAsync(const Instruction& in);
HandlerPair SelectMatrix(const Instruction& in);
HandlerPair SelectMatrixMemory(const Instruction& in);
HandlerPair SelectWarpgroup(const Instruction& in);
HandlerPair SelectWarp(const Instruction& in);
HandlerPair Select(const Instruction& in);
void Execute(Context& c, const Instruction* i);

}  // namespace warpwright::sim::v3

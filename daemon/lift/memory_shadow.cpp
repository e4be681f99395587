#include "lift/memory_shadow.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace warpwright::lift {
namespace {

constexpr uint32_t kWritten = UINT32_MAX;

template <typename T>
T* Zeroed(uint64_t count) {
  void* p = std::calloc(count + 1, sizeof(T));
  if (!p) throw std::bad_alloc();
  return static_cast<T*>(p);
}

uint64_t Part(uint64_t bits, uint32_t first_byte, uint32_t bytes) {
  bits >>= 8 * first_byte;
  return bytes >= 8 ? bits : bits & ((1ull << (8 * bytes)) - 1);
}

}  // namespace

sim::Type TypeOf(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64: return sim::Type::kF64;
    case core::DType::kF32: return sim::Type::kF32;
    case core::DType::kF16: return sim::Type::kF16;
    case core::DType::kBF16: return sim::Type::kBf16;
    case core::DType::kI64: return sim::Type::kS64;
    case core::DType::kI32: return sim::Type::kS32;
    case core::DType::kU32: return sim::Type::kU32;
    case core::DType::kI8: return sim::Type::kS8;
    case core::DType::kU8:
    case core::DType::kBool: return sim::Type::kU8;
  }
  return sim::Type::kB32;
}

void MemoryShadow::Free::operator()(void* p) const { std::free(p); }

MemoryShadow::MemoryShadow(uint64_t base, uint64_t bytes)
    : base_(base), bytes_(bytes), ids_(Zeroed<uint32_t>(bytes)), places_(Zeroed<uint8_t>(bytes)) {}

MemoryShadow::MemoryShadow(uint64_t base, uint64_t bytes, int argument, core::DType dtype, const std::byte* initial)
    : MemoryShadow(base, bytes) {
  argument_ = argument;
  dtype_ = dtype;
  element_ = static_cast<uint32_t>(core::SizeOf(dtype));
  initial_ = initial;
  leaves_.reset(Zeroed<ExprId>(bytes / element_));
}

MemoryShadow::Saved MemoryShadow::Save() const {
  return {{ids_.get(), ids_.get() + bytes_}, {places_.get(), places_.get() + bytes_}, stored_to_, dirty_};
}

void MemoryShadow::Restore(const Saved& saved) {
  std::copy(saved.ids.begin(), saved.ids.end(), ids_.get());
  std::copy(saved.places.begin(), saved.places.end(), places_.get());
  stored_to_ = saved.stored_to;
  dirty_ = saved.dirty;
}

void MemoryShadow::Clear() {
  if (!stored_to_) return;
  stored_to_ = false;
  if (bytes_ > 1 << 20) {
    ids_.reset(Zeroed<uint32_t>(bytes_));
    return;
  }
  std::memset(ids_.get(), 0, bytes_ * sizeof(uint32_t));
}

void MemoryShadow::Restart(int argument, const std::byte* initial) {
  Clear();
  argument_ = argument;
  initial_ = initial;
  leaves_.reset(Zeroed<ExprId>(bytes_ / element_));
}

ExprId MemoryShadow::Leaf(Builder& builder, uint64_t element) const {
  ExprId& leaf = leaves_[element];
  if (leaf != kConcrete) return leaf;
  uint64_t bits = 0;
  std::memcpy(&bits, initial_ + element * element_, element_);
  return leaf = builder.Make({.op = ExprOp::kLoad,
                              .type = TypeOf(dtype_),
                              .buffer = static_cast<uint16_t>(argument_),
                              .payload = element},
                             bits);
}

// Of bytes that nothing has stored to.
ExprId MemoryShadow::ReadInitial(Builder& builder, uint64_t offset, uint32_t bytes) const {
  if (argument_ < 0) return kConcrete;
  const auto place = static_cast<uint32_t>(offset % element_);
  if (bytes <= element_)
    return builder.Extract(Leaf(builder, offset / element_), static_cast<int>(8 * place), static_cast<int>(8 * bytes));
  const uint32_t half = bytes / 2;
  return builder.Pack(ReadInitial(builder, offset, half), ReadInitial(builder, offset + half, half));
}

ExprId MemoryShadow::Read(Builder& builder, uint64_t offset, uint32_t bytes, uint64_t bits) {
  const uint32_t* ids = ids_.get() + offset;
  const uint32_t first = ids[0];
  bool same = true;
  for (uint32_t k = 1; k < bytes; ++k) same &= ids[k] == first;
  if (same) {
    if (first == kWritten) return kConcrete;
    if (first == 0) return ReadInitial(builder, offset, bytes);
    const uint8_t* places = places_.get() + offset;
    bool sequential = true;
    for (uint32_t k = 1; k < bytes; ++k) sequential &= places[k] == places[0] + k;
    if (sequential) return builder.Extract(first, 8 * places[0], static_cast<int>(8 * bytes));
  }
  const uint32_t half = bytes / 2;
  ExprId low = Read(builder, offset, half, Part(bits, 0, half));
  ExprId high = Read(builder, offset + half, half, Part(bits, half, half));
  if (low == kConcrete && high == kConcrete) return kConcrete;
  const sim::Type type = BitsType(static_cast<int>(8 * half));
  if (low == kConcrete) low = builder.Const(type, Part(bits, 0, half));
  if (high == kConcrete) high = builder.Const(type, Part(bits, half, half));
  return builder.Pack(builder.Coerce(low, type), builder.Coerce(high, type));
}

void MemoryShadow::Write(uint64_t offset, uint32_t bytes, ExprId id) {
  stored_to_ = dirty_ = true;
  uint32_t* ids = ids_.get() + offset;
  uint8_t* places = places_.get() + offset;
  const uint32_t raw = id == kConcrete ? kWritten : id;
  for (uint32_t k = 0; k < bytes; ++k) {
    ids[k] = raw;
    places[k] = static_cast<uint8_t>(k);
  }
}

void MemoryShadow::Copy(Builder& builder, uint64_t offset, const MemoryShadow& from, uint64_t from_offset,
                        uint64_t bytes) {
  if (bytes == 0) return;
  stored_to_ = dirty_ = true;
  std::vector<uint32_t> ids(from.ids_.get() + from_offset, from.ids_.get() + from_offset + bytes);
  std::vector<uint8_t> places(from.places_.get() + from_offset, from.places_.get() + from_offset + bytes);
  for (uint64_t k = 0; k < bytes; ++k) {
    if (ids[k] != 0) continue;
    ids[k] = kWritten;
    if (from.argument_ < 0) continue;
    ids[k] = from.Leaf(builder, (from_offset + k) / from.element_);
    places[k] = static_cast<uint8_t>((from_offset + k) % from.element_);
  }
  std::memcpy(ids_.get() + offset, ids.data(), bytes * sizeof(uint32_t));
  std::memcpy(places_.get() + offset, places.data(), bytes);
}

ExprId MemoryShadow::FirstExpression() const {
  for (uint64_t k = 0; k < bytes_; ++k)
    if (ids_[k] != 0 && ids_[k] != kWritten) return ids_[k];
  return kConcrete;
}

bool MemoryShadow::IsWritten(uint64_t offset, uint32_t bytes) const {
  for (uint32_t k = 0; k < bytes; ++k)
    if (ids_[offset + k] != 0) return true;
  return false;
}

}  // namespace warpwright::lift

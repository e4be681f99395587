// Which expression stands in which bytes of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/dtype.h"
#include "lift/builder.h"

namespace warpwright::lift {

sim::Type TypeOf(core::DType dtype);

// One allocation, the shared memory of a block, or the local memory of its threads.
class MemoryShadow {
 public:
  MemoryShadow(uint64_t base, uint64_t bytes);  // concrete until something is stored
  // An argument of the plan, whose content before the call (`initial`, which outlives this) are the leaves.
  MemoryShadow(uint64_t base, uint64_t bytes, int argument, core::DType dtype, const std::byte* initial);

  uint64_t base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  bool Holds(uint64_t address, uint64_t bytes) const {
    return address >= base_ && address - base_ <= bytes_ && bytes <= bytes_ - (address - base_);
  }
  int argument() const { return argument_; }
  core::DType dtype() const { return dtype_; }
  bool stored_to() const { return stored_to_; }  // since it was made or cleared

  // `offset` is from the base; `bits`: what memory holds there. kConcrete if no byte depends on an input.
  ExprId Read(Builder& builder, uint64_t offset, uint32_t bytes, uint64_t bits);
  void Write(uint64_t offset, uint32_t bytes, ExprId id);
  // `from` may be this.
  void Copy(Builder& builder, uint64_t offset, const MemoryShadow& from, uint64_t from_offset, uint64_t bytes);
  struct Saved {
    std::vector<uint32_t> ids;
    std::vector<uint8_t> places;
    bool stored_to = false, dirty = false;
  };
  Saved Save() const;
  void Restore(const Saved& saved);
  // All is as in the beginning.
  void Clear();
  // That, with another content before the call as the leaves of another argument.
  void Restart(int argument, const std::byte* initial);
  bool IsWritten(uint64_t offset, uint32_t bytes) const;
  ExprId Leaf(Builder& builder, uint64_t element) const;
  bool dirty() const { return dirty_; }  // stored to since the last TakeDirty
  void TakeDirty() { dirty_ = false; }
  // The first expression that is stored here; kConcrete: all is as in the beginning or concrete.
  ExprId FirstExpression() const;

 private:
  struct Free {
    void operator()(void* p) const;
  };
  ExprId ReadInitial(Builder& builder, uint64_t offset, uint32_t bytes) const;

  uint64_t base_, bytes_;
  int argument_ = -1;
  core::DType dtype_ = core::DType::kU8;
  uint32_t element_ = 1;
  const std::byte* initial_ = nullptr;
  bool stored_to_ = false, dirty_ = false;
  // By byte: 0 as in the beginning, kWritten for a concrete value, else an expression; and the byte's place in it. From
  // the system zeroed, so that what is not touched costs nothing.
  std::unique_ptr<uint32_t[], Free> ids_;
  std::unique_ptr<uint8_t[], Free> places_;
  std::unique_ptr<ExprId[], Free> leaves_;  // those that were made, by element
};

}  // namespace warpwright::lift

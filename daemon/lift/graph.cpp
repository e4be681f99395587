#include "lift/graph.h"

#include <algorithm>
#include <bit>

namespace warpwright::lift {
namespace {

uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

uint64_t HashOf(const Expr& e) {
  const uint64_t head = static_cast<uint64_t>(e.op) | static_cast<uint64_t>(e.type) << 8 |
                        static_cast<uint64_t>(e.from) << 16 | static_cast<uint64_t>(e.mode) << 24 |
                        static_cast<uint64_t>(e.approx) << 32 | static_cast<uint64_t>(e.flush) << 33 |
                        static_cast<uint64_t>(e.arity) << 36 | static_cast<uint64_t>(e.buffer) << 48;
  uint64_t h = Mix(0x243f6a8885a308d3ull, head);
  h = Mix(h, static_cast<uint64_t>(e.args[0]) | static_cast<uint64_t>(e.args[1]) << 32);
  return Mix(h, e.args[2] ^ std::rotl(e.payload, 32));
}

constexpr std::string_view kNames[] = {
    "none",    "const",   "load",    "scalar",   "gather",       "add",     "sub",     "mul",     "fma",    "div",
    "min",     "max",     "neg",     "abs",      "copysign",     "rcp",     "sqrt",    "rsqrt",   "ex2",    "lg2",
    "sin",     "cos",     "tanh",    "call",     "convert",      "compare", "and",     "or",      "xor",    "not",
    "select",  "int_add", "int_sub", "int_mul",  "int_mul_high", "int_div", "int_rem", "int_and", "int_or", "int_xor",
    "int_not", "int_shl", "int_shr", "int_popc", "int_clz",      "pack",    "extract"};
static_assert(std::size(kNames) == static_cast<size_t>(ExprOp::kExtract) + 1);

}  // namespace

std::string_view Name(ExprOp op) { return kNames[static_cast<size_t>(op)]; }

Graph::Graph(uint32_t limit) : limit_(limit) { chunks_.push_back(std::make_unique<Expr[]>(kChunk)); }

void Graph::Prefetch(const Expr& expr) const { ids_.Prefetch(HashOf(expr)); }

Graph Graph::Copy() const {
  Graph copy(limit_);
  copy.chunks_.clear();
  for (const auto& chunk : chunks_) {
    copy.chunks_.push_back(std::make_unique<Expr[]>(kChunk));
    std::copy_n(chunk.get(), kChunk, copy.chunks_.back().get());
  }
  copy.ids_ = ids_;
  copy.size_ = size_;
  copy.full_ = full_;
  return copy;
}

std::pair<ExprId, bool> Graph::Add(const Expr& expr) {
  const uint64_t hash = HashOf(expr);
  if (const ExprId known = ids_.Find(hash, [&](ExprId id) { return (*this)[id] == expr; })) return {known, false};
  if (size_ > limit_) full_ = true;
  if (full_) return {kConcrete, false};
  const ExprId id = size_++;
  if (id / kChunk == chunks_.size()) chunks_.push_back(std::make_unique<Expr[]>(kChunk));
  At(id) = expr;
  ids_.Insert(hash, id);
  return {id, true};
}

}  // namespace warpwright::lift

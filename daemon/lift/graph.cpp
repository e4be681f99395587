#include "lift/graph.h"

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

Graph::Graph(uint32_t limit) : exprs_(1), buckets_(1 << 12, 0), limit_(limit) {}

void Graph::Grow() {
  buckets_.assign(buckets_.size() * 4, 0);
  const size_t mask = buckets_.size() - 1;
  for (ExprId id = 1; id < exprs_.size(); ++id) {
    size_t at = HashOf(exprs_[id]) & mask;
    while (buckets_[at] != 0) at = (at + 1) & mask;
    buckets_[at] = id;
  }
}

std::pair<ExprId, bool> Graph::Add(const Expr& expr) {
  const size_t mask = buckets_.size() - 1;
  size_t at = HashOf(expr) & mask;
  while (buckets_[at] != 0) {
    if (exprs_[buckets_[at]] == expr) return {buckets_[at], false};
    at = (at + 1) & mask;
  }
  if (exprs_.size() > limit_) full_ = true;
  if (full_) return {kConcrete, false};
  const auto id = static_cast<ExprId>(exprs_.size());
  exprs_.push_back(expr);
  buckets_[at] = id;
  if (exprs_.size() * 2 > buckets_.size()) Grow();
  return {id, true};
}

}  // namespace warpwright::lift

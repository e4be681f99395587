// The order in which a reduction's terms are taken: their own, or one that is drawn.
#pragma once

#include <array>
#include <numeric>
#include <span>

#include "core/computation_program.h"

namespace warpwright::core {

class TermOrder {
 public:
  // `draw` 0: row by row. Otherwise every step-th term, around the end, from some term on.
  TermOrder(const CompiledReduce& reduce, uint64_t draw) : reduce_(reduce) {
    for (const auto& [variable, extent] : reduce.variables)
      if (__builtin_mul_overflow(count_, static_cast<uint64_t>(extent), &count_)) count_ = UINT64_MAX;
    if (draw == 0 || count_ < 3) return;
    at_ = first_ = draw % count_;
    // Far from 1 and from the count, so that neighbours are far apart.
    step_ = static_cast<uint64_t>(static_cast<double>(count_) * (0.31 + 0.13 * static_cast<double>(draw % 3))) + 1;
    while (std::gcd(step_, count_) != 1) ++step_;
  }

  // Set the variables to the first or next term. False: there is none.
  bool Begin(std::span<int64_t> variables) const {
    Decode(variables);
    return count_ > 0;
  }
  bool Next(std::span<int64_t> variables) {
    if (step_ == 0) {
      for (size_t i = reduce_.variables.size(); i-- > 0;) {
        if (++variables[reduce_.variables[i].first] < reduce_.variables[i].second) return true;
        variables[reduce_.variables[i].first] = 0;
      }
      return false;
    }
    at_ = at_ >= count_ - step_ ? at_ - (count_ - step_) : at_ + step_;
    if (at_ == first_) return false;
    Decode(variables);
    return true;
  }

 private:
  void Decode(std::span<int64_t> variables) const {
    uint64_t rest = at_;
    for (size_t i = reduce_.variables.size(); i-- > 0;) {
      const auto extent = static_cast<uint64_t>(reduce_.variables[i].second);
      variables[reduce_.variables[i].first] = extent == 0 ? 0 : static_cast<int64_t>(rest % extent);
      if (extent != 0) rest /= extent;
    }
  }

  const CompiledReduce& reduce_;
  uint64_t count_ = 1, step_ = 0, at_ = 0, first_ = 0;
};

// The same for groups of terms that are taken together: those of a group are far apart, and so are the last of one and
// the first of the next.
class SpreadTerms {
 public:
  SpreadTerms(int64_t terms, uint64_t draw) : terms_(terms), groups_((terms + kLanes - 1) / kLanes) {
    if (groups_ > 0) first_ = static_cast<int64_t>((draw * kStep) % static_cast<uint64_t>(groups_));
  }
  std::span<const int64_t> Group(int64_t index) {
    const int64_t group = (first_ + index) % groups_;
    size_t count = 0;
    for (int64_t term = group; term < terms_; term += groups_) points_[count++] = term;
    return std::span(points_).first(count);
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  const int64_t terms_, groups_;
  int64_t first_ = 0;
  std::array<int64_t, kLanes> points_ = {};
};

}  // namespace warpwright::core

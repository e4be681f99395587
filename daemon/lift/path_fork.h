// Launches with branches on data of which both sides cannot run one after the other, since a barrier, a shuffle or a
// loop lies in them: the whole launch runs once for every way that its threads can go, whatever their data say, and
// what memory holds afterwards is a choice between what the ways left there.
//
// What decides together is a unit: a block where threads exchange values, else a thread. In a run, the k-th decision of
// every unit goes as the run's path says; a predicate that a unit has decided stays decided. Expressions do not depend
// on the data, so that a way which no input leads to does no harm.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lift/builder.h"
#include "lift/form_graph.h"
#include "lift/memory_shadow.h"
#include "sim/program.h"

namespace warpwright::lift {

// Do threads of a block see what others of it computed?
bool ExchangesValues(const sim::KernelCode& kernel);

class PathFork {
 public:
  struct Place {
    MemoryShadow* memory = nullptr;
    uint64_t offset = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Choice {
    Place place;
    uint32_t bytes = 0;
    ExprId value = kConcrete;
  };

  // `graph` has the predicates and outlives this. `by_block`: what a unit is.
  PathFork(const Graph& graph, bool by_block) : graph_(graph), by_block_(by_block), forms_(kMostForms) {}

  bool by_block() const { return by_block_; }
  // During a run every decision is its path's; before and after, they are the data's.
  bool running() const { return running_; }
  bool failed() const { return failed_; }
  void Fail() { failed_ = true; }

  void StartRun();
  // The way that the unit goes at the predicate.
  bool Decide(uint64_t unit, ExprId predicate);
  void Reads(const Place& place, uint32_t bytes, uint64_t unit);
  void Writes(const Place& place, uint32_t bytes, uint64_t unit);
  // Memory still is as the run left it; `bits(place, bytes)` are what it holds.
  template <typename Bits>
  void EndRun(Builder& builder, const Bits& bits) {
    for (auto& [place, written] : runs_.back().written)
      if (!failed_) written.value = ValueAt(builder, place, written.bytes, bits(place, written.bytes));
    running_ = false;
  }
  // On to the next path; false: all were run, or it failed.
  bool Advance();

  // Both ways of this predicate were followed.
  bool IsFollowed(ExprId predicate) const { return known_.contains(predicate); }
  // When all is over and memory as it was before the first run; nullopt: some place depends on more than one unit.
  template <typename Bits>
  std::optional<std::vector<Choice>> Choices(Builder& builder, const Bits& bits) {
    std::vector<Choice> choices;
    for (const auto& [place, where] : PlacesOfAll()) {
      const ExprId old = ValueAt(builder, place, where.second, bits(place, where.second));
      const auto value = Chosen(builder, place, where.first, old);
      if (!value || failed_) return std::nullopt;
      choices.push_back({place, where.second, *value});
    }
    return choices;
  }

 private:
  static constexpr uint32_t kMostForms = 400'000;
  static constexpr size_t kMostRuns = 64, kMostDecisions = 24;
  static constexpr uint64_t kWidest = 16;  // bytes of a store
  struct Decision {
    FormId form = 0;
    ExprId predicate = kConcrete;
    bool taken = false;
  };
  struct Written {
    uint64_t unit = 0;
    uint32_t bytes = 0;
    ExprId value = kConcrete;
  };
  struct Run {
    std::map<uint64_t, std::vector<Decision>> decisions;  // by unit, in their order
    std::map<Place, Written> written;
  };
  struct Leaf {
    const std::vector<Decision>* decisions = nullptr;
    ExprId value = kConcrete;
  };

  FormId FormOf(ExprId predicate);
  static ExprId ValueAt(Builder& builder, const Place& place, uint32_t bytes, uint64_t bits);
  std::map<Place, std::pair<uint64_t, uint32_t>> PlacesOfAll();  // unit and bytes
  std::optional<ExprId> Chosen(Builder& builder, const Place& place, uint64_t unit, ExprId old);
  std::optional<ExprId> Chosen(Builder& builder, const std::vector<Leaf>& leaves, size_t depth);

  const Graph& graph_;
  const bool by_block_;
  FormGraph forms_;
  std::unordered_map<ExprId, FormId> known_;
  std::vector<bool> path_;
  std::vector<Run> runs_;
  bool running_ = false, failed_ = false;
};

}  // namespace warpwright::lift

#include "lift/path_fork.h"

#include <algorithm>
#include <array>

#include "lift/canonical.h"

namespace warpwright::lift {

bool ExchangesValues(const sim::KernelCode& kernel) {
  using sim::Op;
  return std::any_of(kernel.code.begin(), kernel.code.end(), [](const sim::Instruction& in) {
    switch (in.op) {
      case Op::kBarrier:
      case Op::kBarrierArrive:
      case Op::kBarrierReduce:
      case Op::kWarpBarrier:
      case Op::kShuffle:
      case Op::kVote:
      case Op::kMatchAny:
      case Op::kMatchAll:
      case Op::kRedux:
      case Op::kMatrixProduct:
      case Op::kMatrixTranspose:
      case Op::kMatrixLoad:
      case Op::kMatrixStore:
      case Op::kAsyncCopy: return true;
      case Op::kLoad:
      case Op::kStore:
      case Op::kAtomic:
      case Op::kReduction: return in.space == sim::Space::kShared;
      default: return false;
    }
  });
}

void PathFork::StartRun() {
  runs_.emplace_back();
  running_ = true;
}

FormId PathFork::FormOf(ExprId predicate) {
  const auto [entry, added] = known_.emplace(predicate, FormId{0});
  if (!added) return entry->second;
  const std::array<ExprId, 1> roots{predicate};
  const FormId form = Canonicalise(graph_, roots, forms_).forms[0];
  if (form == 0 || forms_.full()) Fail();
  return entry->second = form;
}

bool PathFork::Decide(uint64_t unit, ExprId predicate) {
  const FormId form = FormOf(predicate);
  if (failed_) return graph_[predicate].concrete != 0;
  if (const double* constant = forms_.AsConstant(form)) return *constant != 0;
  std::vector<Decision>& decisions = runs_.back().decisions[unit];
  const auto same = std::find_if(decisions.begin(), decisions.end(), [&](const Decision& d) { return d.form == form; });
  if (same != decisions.end()) return same->taken;
  if (decisions.size() == kMostDecisions) {
    Fail();
    return false;
  }
  const bool taken = decisions.size() < path_.size() && path_[decisions.size()];
  decisions.push_back({form, predicate, taken});
  return taken;
}

void PathFork::Reads(const Place& place, uint32_t bytes, uint64_t unit) {
  const std::map<Place, Written>& written = runs_.back().written;
  const uint64_t from = place.offset - std::min<uint64_t>(place.offset, kWidest);
  for (auto at = written.lower_bound({place.memory, from});
       at != written.end() && at->first.memory == place.memory && at->first.offset < place.offset + bytes; ++at)
    if (at->first.offset + at->second.bytes > place.offset && at->second.unit != unit) Fail();
}

void PathFork::Writes(const Place& place, uint32_t bytes, uint64_t unit) {
  const auto [entry, added] = runs_.back().written.emplace(place, Written{unit, bytes});
  if (!added && (entry->second.unit != unit || entry->second.bytes != bytes)) Fail();
}

// The last decision that went the first way goes the other one next.
bool PathFork::Advance() {
  size_t depth = 0;
  for (const auto& [unit, decisions] : runs_.back().decisions) depth = std::max(depth, decisions.size());
  path_.resize(depth, false);
  while (!path_.empty() && path_.back()) path_.pop_back();
  if (path_.empty()) return false;
  path_.back() = true;
  if (runs_.size() == kMostRuns) Fail();
  return !failed_;
}

ExprId PathFork::ValueAt(Builder& builder, const Place& place, uint32_t bytes, uint64_t bits) {
  const ExprId id = place.memory->Read(builder, place.offset, bytes, bits);
  const sim::Type type = BitsType(static_cast<int>(8 * bytes));
  return id == kConcrete ? builder.Const(type, bits) : builder.Coerce(id, type);
}

std::map<PathFork::Place, std::pair<uint64_t, uint32_t>> PathFork::PlacesOfAll() {
  std::map<Place, std::pair<uint64_t, uint32_t>> places;
  for (const Run& run : runs_) {
    for (const auto& [place, written] : run.written) {
      const auto [entry, added] = places.emplace(place, std::pair(written.unit, written.bytes));
      if (!added && entry->second != std::pair(written.unit, written.bytes)) Fail();
    }
  }
  const Place* before = nullptr;
  for (const auto& [place, where] : places) {
    if (before != nullptr && before->memory == place.memory &&
        before->offset + places.at(*before).second > place.offset)
      Fail();
    before = &place;
  }
  return places;
}

std::optional<ExprId> PathFork::Chosen(Builder& builder, const Place& place, uint64_t unit, ExprId old) {
  static const std::vector<Decision> kNone;
  std::vector<Leaf> leaves;
  for (const Run& run : runs_) {
    const auto decided = run.decisions.find(unit);
    const auto found = run.written.find(place);
    const Leaf leaf{decided == run.decisions.end() ? &kNone : &decided->second,
                    found == run.written.end() ? old : found->second.value};
    const auto same = std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& other) {
      return std::equal(leaf.decisions->begin(), leaf.decisions->end(), other.decisions->begin(),
                        other.decisions->end(),
                        [](const Decision& a, const Decision& b) { return a.form == b.form && a.taken == b.taken; });
    });
    if (same == leaves.end()) leaves.push_back(leaf);
    else if (same->value != leaf.value) return std::nullopt;  // what another unit decided shows here
  }
  return Chosen(builder, leaves, 0);
}

// `leaves` agree in their first `depth` decisions.
std::optional<ExprId> PathFork::Chosen(Builder& builder, const std::vector<Leaf>& leaves, size_t depth) {
  if (leaves.size() == 1 && leaves[0].decisions->size() == depth) return leaves[0].value;
  std::vector<Leaf> then, otherwise;
  for (const Leaf& leaf : leaves) {
    if (leaf.decisions->size() <= depth) return std::nullopt;
    const Decision& decision = (*leaf.decisions)[depth];
    if (decision.form != (*leaves[0].decisions)[depth].form) return std::nullopt;
    (decision.taken ? then : otherwise).push_back(leaf);
  }
  if (then.empty() || otherwise.empty()) return std::nullopt;
  const auto a = Chosen(builder, then, depth + 1), b = Chosen(builder, otherwise, depth + 1);
  if (!a || !b) return std::nullopt;
  const ExprId predicate = (*leaves[0].decisions)[depth].predicate;
  return *a == *b ? *a : builder.Select(builder[*a].type, predicate, *a, *b);
}

}  // namespace warpwright::lift

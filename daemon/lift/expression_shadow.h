// The shadow that the executor keeps: an expression for every register, predicate and byte of memory that depends on an
// input, and none for what is concrete. One for a whole plan; blocks run in order on one thread.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lift/builder.h"
#include "lift/memory_shadow.h"
#include "lift/path_fork.h"
#include "lift/trace.h"
#include "sim/exec/context.h"
#include "sim/shadow.h"

namespace warpwright::lift {

inline constexpr uint32_t kLanes = sim::kLanes;

// The lanes' bits of a predicate register.
uint32_t PredicateBits(const sim::Context& c, uint32_t offset);

class ExpressionShadow : public sim::Shadow {
 public:
  // The graph, the branches and what is lossy are the trace's; all outlive the shadow.
  ExpressionShadow(Trace& trace, const std::vector<sim::SourceLocation>& locations,
                   const std::vector<TraceRequest::Scalar>& scalars);

  Builder& builder() { return builder_; }
  // Global memory, by ascending address.
  void AddMemory(MemoryShadow memory);
  MemoryShadow* FindMemory(uint64_t address, uint64_t bytes);
  void Lossy(std::string what);

  // `again`: the launch that runs already, from its beginning.
  void StartLaunch(const sim::KernelCode& kernel, bool again = false);
  // Says where the threads go at branches on data, while it runs; null: the data do. Outlives the launch.
  void SetFork(PathFork* fork) { fork_ = fork; }
  void StartBlock(const sim::Context& c) override;
  void Before(const sim::Context& c, const sim::Instruction& in, uint32_t lanes) override;
  void After(const sim::Context& c, const sim::Instruction& in, uint32_t lanes) override;
  bool stopped() const override { return trace_.graph.full() || (IsForking() && fork_->failed()); }

 private:
  // Registers of one warp, by dense number of the slot.
  struct Registers {
    std::vector<uint32_t> symbolic;  // lanes
    std::vector<std::array<ExprId, kLanes>> ids;
  };
  // An operand as it was before the instruction ran.
  struct Operand {
    uint32_t symbolic = 0;
    std::array<ExprId, kLanes> ids;
    std::array<uint64_t, kLanes> bits;
  };
  struct Result {
    std::array<ExprId, kLanes> ids;
  };

  uint32_t SlotOf(uint32_t offset) const { return slot_of_[offset / 4]; }
  Registers& Here(const sim::Context& c) { return warps_[c.warp->index]; }
  void Capture(const sim::Context& c, const sim::Instruction& in, int operand, uint32_t lanes);
  void SetConcrete(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void Set(const sim::Context& c, uint32_t offset, uint32_t lane, ExprId id);
  // Of the current instruction's operand; concrete ones as constants of the type.
  ExprId Arg(int operand, uint32_t lane, sim::Type type);
  ExprId PredicateArg(int operand, uint32_t lane, bool negated);
  uint64_t ResultBits(const sim::Context& c, const sim::Instruction& in, int def, uint32_t lane, sim::Type type) const;
  uint64_t Thread(const sim::Context& c, uint32_t lane) const;
  std::string LocationOf(const sim::Instruction& in) const;  // "(scan.cu:12)"
  void LossyAt(const sim::Instruction& in, std::string_view what);
  void RecordBranch(const sim::Context& c, const sim::Instruction& in, uint32_t lane, ExprId predicate, bool taken);
  void RecordPredicates(const sim::Context& c, const sim::Instruction& in, uint32_t offset, bool negated,
                        uint32_t lanes);

  bool IsForking() const { return fork_ != nullptr && fork_->running(); }
  uint64_t Unit(const sim::Context& c, uint32_t lane) const;
  void TurnBranch(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);

  // shadow_guard.cpp: instructions under a guard that depends on data.
  void CaptureGuard(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  bool IsOnlyFollowed(uint32_t lane) const { return (guard_.runs >> lane & 1) == 0; }
  bool IsGuarded(uint32_t lane) const { return (guard_.symbolic >> lane & 1) != 0; }
  ExprId Guarded(uint32_t lane, ExprId changed, ExprId old);
  ExprId GuardedRegister(uint32_t offset, uint32_t lane, ExprId id);
  ExprId StoreGuarded(const sim::Context& c, const sim::Instruction& in, uint32_t lane, uint32_t lanes, int k);

  // Each: the expression of the first result, or false if it does not know the instruction.
  bool Compute(const sim::Instruction& in, uint32_t lane, ExprId& id);
  bool ComputeMove(const sim::Instruction& in, uint32_t lane, ExprId& id);
  bool ComputeFloat(const sim::Instruction& in, uint32_t lane, ExprId& id);
  bool ComputeInteger(const sim::Instruction& in, uint32_t lane, ExprId& id);
  bool ComputeBits(const sim::Instruction& in, uint32_t lane, ExprId& id);
  static bool KeepsCall(const sim::Instruction& in);
  bool ComputeFloats(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);  // all lanes
  Expr FloatNode(const sim::Instruction& in, sim::Type type, ExprId a, ExprId b, ExprId c) const;
  ExprId FloatOperation(const sim::Instruction& in, sim::Type type, ExprId a, ExprId b, ExprId c);
  ExprId ConvertOperation(const sim::Instruction& in, sim::Type to, ExprId a);
  ExprId SaturatedInteger(sim::Type to, sim::Type from, ExprId a);
  ExprId Product(const sim::Instruction& in, uint32_t lane);
  ExprId PermuteBytes(const sim::Instruction& in, ExprId a, ExprId b, uint32_t selector);
  ExprId Lop3(const sim::Instruction& in, uint32_t lane);
  ExprId DotProduct(const sim::Instruction& in, uint32_t lane);
  ExprId TestProperty(const sim::Instruction& in, uint32_t lane);
  // All results.
  void Unpack(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void SetPredicates(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void SetNumbers(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  ExprId Combined(const sim::Instruction& in, uint32_t lane, ExprId compared);
  ExprId Compared(const sim::Instruction& in, uint32_t lane, int half);
  void Load(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void Store(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void Atomic(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void CaptureMemory(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  ExprId Updated(const sim::Instruction& in, uint32_t lane, ExprId old, bool global);
  ExprId UpdatedHere(const sim::Instruction& in, uint32_t lane, ExprId old, bool global);
  ExprId Exchanged(sim::Type type, ExprId old, ExprId expected, ExprId desired);
  bool IsDerivedFrom(ExprId id, ExprId origin) const;
  void Shuffle(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void Reduce(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);

  struct Ballot {
    uint32_t lane = 0;
    ExprId predicate = kConcrete;
  };
  ExprId Voted(sim::VoteMode mode, bool counts, const std::vector<Ballot>& ballots);
  void Vote(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void BarrierReduce(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  std::optional<ExprId> Count(ExprId id, uint64_t mask, uint64_t& bits);

  // shadow_matrix.cpp
  ExprId FragmentElement(int operand, uint32_t lane, int part, sim::Type type);
  void MatrixProduct(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void MatrixTranspose(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void MatrixLoad(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void MatrixStore(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);
  void AsyncCopy(const sim::Context& c, const sim::Instruction& in, uint32_t lanes);

  // Where an access of a lane goes.
  struct Target {
    MemoryShadow* memory = nullptr;  // nullptr: parameters, constants that nothing tracks
    uint64_t offset = 0;
    bool global = false, parameter = false;
  };
  Target Resolve(const sim::Context& c, const sim::Instruction& in, int operand, uint32_t lane);

  // shadow_indirect.cpp: addresses that depend on data. The region is where such an access may go, with its content
  // before the instruction.
  struct Region {
    MemoryShadow* memory = nullptr;
    uint64_t begin = 0, end = 0;
  };
  struct Copied {
    Expr first;           // an element of an argument
    uint64_t stride = 0;  // to the next one
  };
  struct Linear;
  std::optional<Copied> CopiedFrom(uint32_t bytes);
  Region RegionOf(const sim::Context& c, const Target& target) const;
  std::vector<std::byte> ContentOf(const sim::Context& c, const Region& region) const;
  void CaptureRegion(const sim::Context& c, const sim::Instruction& in, int operand, uint32_t lanes);
  void UpdateContent(uint64_t offset, uint32_t bytes, uint64_t bits);
  bool InRegion(const Target& target, uint64_t bytes) const;
  bool MayGoThere(const sim::Instruction& in, uint32_t lane, const Target& target) const;
  uint64_t OffsetInRegion(const Target& target) const;
  ExprId RegionElement(uint64_t element, uint32_t bytes);
  void Decompose(ExprId id, uint64_t factor, int width, Linear& linear) const;
  ExprId IndexOf(int operand, uint32_t lane, uint64_t delta, uint32_t size);
  ExprId IsAt(ExprId index, uint64_t element);
  ExprId LoadIndirect(const sim::Instruction& in, uint32_t lane, const Target& target, int k);
  ExprId Gather(int operand, uint32_t lane, MemoryShadow& memory, uint64_t offset, uint32_t bytes);
  template <typename F>
  void ChangeRegion(ExprId index, uint32_t bytes, F change);
  void StoreIndirect(const sim::Instruction& in, uint32_t lane, const Target& target, int k, ExprId value);
  ExprId AtomicIndirect(const sim::Instruction& in, uint32_t lane, const Target& target);
  static bool IsUnread(const sim::KernelCode& kernel, const sim::Instruction& in);

  uint64_t ContentAt(const sim::Context& c, const Target& target, uint64_t plus, uint64_t bytes) const;
  ExprId ScalarOf(uint64_t bits, uint32_t bytes);

  Trace& trace_;
  const std::vector<sim::SourceLocation>& locations_;
  const std::vector<TraceRequest::Scalar>& scalars_;
  Builder builder_;
  std::deque<MemoryShadow> global_;
  MemoryShadow* last_ = nullptr;
  const sim::KernelCode* kernel_ = nullptr;
  uint32_t launch_ = 0;
  std::vector<uint32_t> slot_of_;
  uint32_t slots_ = 0;
  std::vector<Registers> warps_;
  std::unique_ptr<MemoryShadow> shared_, local_;
  std::array<Operand, sim::kMaxOperands> operands_;
  std::array<std::array<uint64_t, 4>, kLanes> before_ = {};  // memory, of an atomic operation or a guarded store
  struct Guard {
    const sim::Instruction* instruction = nullptr;
    uint32_t symbolic = 0;  // lanes; for these the instruction is followed whether they run it or not
    uint32_t runs = 0;      // lanes for which the guard holds
    uint32_t may_run = 0;   // those, and where it may hold for other data
    std::array<ExprId, kLanes> ids;
  };
  Guard guard_;
  std::set<std::pair<ExprId, ExprId>> retries_;  // expressions of which a failed compare-and-swap compared the values
  Region region_;
  std::vector<std::byte> content_;  // of the region
  std::optional<Copied> copied_;    // what the region is, for loads
  std::vector<Region> regions_;     // by instruction: where it went when it last ran
  std::vector<bool> unread_;        // by instruction: an atomic whose result nothing reads
  bool active_ = false;             // an operand of the current instruction depends on an input
  uint64_t block_ = 0;
  PathFork* fork_ = nullptr;
  std::optional<uint32_t> turned_;  // what a predicate register held before the current branch was turned
  struct Arrived {
    uint32_t warp = 0, lanes = 0;
  };
  struct Arrivals {
    const sim::Instruction* instruction = nullptr;
    std::vector<Arrived> warps;
    std::vector<Ballot> ballots;
  };
  Arrivals arrivals_;  // at a reduction of predicates over a barrier
  std::set<std::string> lossy_;
};

}  // namespace warpwright::lift

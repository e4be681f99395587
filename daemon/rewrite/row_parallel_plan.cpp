#include "rewrite/row_parallel_plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace warpwright::rewrite {
namespace {

constexpr int kFewIterations = 32;  // constant loops up to here may run in every thread

// Which threads execute an access: every thread of the row, one of them, or the thread of its iteration.
enum class Executor { kAll, kOne, kIteration };
struct PendingAccess {
  MemoryAccess access;
  Executor executor = Executor::kAll;
  std::string iteration;  // symbol of the loop's iteration number
};

class RowPlanner {
 public:
  RowPlanner(const source::Ast& ast, const KernelSite& site, bool reductions_are_barriers)
      : ast_(ast), kernel_(*site.kernel), reductions_are_barriers_(reductions_are_barriers) {}

  Checked<RowPlan> Run() {
    if (auto refusal = UsesBlockCooperation(kernel_, "over the row")) return tl::unexpected(*refusal);
    if (auto refusal = FindRow()) return tl::unexpected(*refusal);
    if (auto refusal = CheckOtherIndices()) return tl::unexpected(*refusal);
    const source::Node* body = nullptr;
    if (auto refusal = FindRowBody(body)) return tl::unexpected(*refusal);
    if (auto refusal = CheckNothingBehind(*body)) return tl::unexpected(*refusal);
    if (auto refusal = VisitRowStatements(*body)) return tl::unexpected(*refusal);
    if (plan_.loops.empty()) return RefuseAt(plan_.row->line, "no loop over the columns of a row");
    const bool coalescible =
        std::any_of(plan_.loops.begin(), plan_.loops.end(), [](const ColumnLoop& loop) { return loop.unit_stride; });
    if (!coalescible) {
      return RefuseAt(
          plan_.loops[0].loop.loop->line,
          fmt::format("no access in the loop over {} walks along consecutive elements: neighbouring threads already "
                      "share cache lines",
                      plan_.loops[0].loop.name));
    }
    return std::move(plan_);
  }

 private:
  using Refused = std::optional<core::RewriteRefusal>;
  static core::RewriteRefusal At(int line, std::string reason) { return RefuseAt(line, std::move(reason)).value(); }
  const source::Node& root() const { return *kernel_.syntax.body; }

  Refused FindRow() {
    const source::Node* block_row = nullptr;
    source::ForEach(root(), [&](const source::Node& node) {
      if (!node.Is(source::NodeKind::kVariable) || node.size() != 1) return;
      if (plan_.row == nullptr && IsThreadIndex(kernel_.analysis, node[0], "x")) plan_.row = &node;
      if (block_row == nullptr && kernel_.analysis.Index(node[0]) == source::Polynomial::Symbol("blockIdx.x"))
        block_row = &node;
    });
    if (plan_.row == nullptr) {
      if (block_row != nullptr)
        return At(block_row->line, fmt::format("already one block per row: {} is blockIdx.x", block_row->name));
      return At(root().line, "no variable is blockIdx.x * blockDim.x + threadIdx.x: not one thread per row");
    }
    if (!(*plan_.row)[0].whole) return At(plan_.row->line, fmt::format("a macro computes part of {}", plan_.row->name));
    const source::Node* declaration = plan_.row->parent;
    if (declaration->parent->Is(source::NodeKind::kFor)) {
      const auto counted = kernel_.analysis.Counted(*declaration->parent);
      if (!counted || counted->variable != plan_.row->symbol || counted->step == nullptr || counted->relation != "<" ||
          !counted->step->whole)
        return At(plan_.row->line, "the loop over rows is not a grid-stride loop");
      const source::Polynomial step = kernel_.analysis.Index(*counted->step);
      if (step != source::Polynomial::Symbol("blockDim.x") * source::Polynomial::Symbol("gridDim.x"))
        return At(plan_.row->line, "the loop over rows does not step by blockDim.x * gridDim.x");
      plan_.row_loop = declaration->parent;
      plan_.row_bound = counted->bound;
    } else if (!kernel_.analysis.Find(plan_.row->symbol)->writes.empty()) {
      return At(plan_.row->line, fmt::format("{} is changed later", plan_.row->name));
    }
    return std::nullopt;
  }

  // The rewrite must remove every use of the thread's position other than the row's.
  Refused CheckOtherIndices() {
    std::vector<const source::Node*> consumers = {plan_.row};
    if (plan_.row_loop != nullptr) consumers.push_back(&(*plan_.row_loop)[source::kLoopIncrement]);
    plan_.unused = DeclarationsUsedOnlyBy(kernel_, consumers);
    consumers.insert(consumers.end(), plan_.unused.begin(), plan_.unused.end());
    Refused refusal;
    source::ForEach(root(), [&](const source::Node& node) {
      if (refusal || !IsThreadOrBlockIndex(node)) return;
      if (std::any_of(consumers.begin(), consumers.end(),
                      [&](const source::Node* consumer) { return source::Contains(*consumer, node); }))
        return;
      const bool other_axis = node.name == "blockIdx.y" || node.name == "blockIdx.z" || node.name == "gridDim.y" ||
                              node.name == "gridDim.z";
      plan_.uses_grid_yz |= other_axis;
      if (!other_axis) refusal = At(node.line, fmt::format("{} is used beyond the row's index", node.name));
    });
    return refusal;
  }

  // The statements that run for a row, after or inside its guard.
  Refused FindRowBody(const source::Node*& body) {
    if (plan_.row_loop != nullptr) {
      body = &(*plan_.row_loop)[source::kLoopBody];
      return std::nullopt;
    }
    const source::Node& block = *plan_.row->parent->parent;
    if (&block != &root())
      return At(plan_.row->line, fmt::format("{} is computed inside a condition or a loop", plan_.row->name));
    bool behind = false;
    for (const auto& statement : block.children) {
      if (!behind) {
        behind = statement.get() == plan_.row->parent;
        continue;
      }
      if (!statement->Is(source::NodeKind::kIf)) continue;
      const auto guard = source::AsBoundsGuard(*statement);
      if (!guard) continue;
      for (const auto& limit : guard->limits) {
        const source::Node& index = source::StripCasts(*limit.index);
        if (index.Is(source::NodeKind::kName) && index.symbol == plan_.row->symbol) plan_.row_bound = limit.bound;
      }
      if (plan_.row_bound == nullptr) continue;
      guard_ = statement.get();
      body = guard->returns_early ? &block : &guard->body();
      return std::nullopt;
    }
    return At(plan_.row->line, fmt::format("no guard compares {} with the number of rows", plan_.row->name));
  }

  // The code before and after the guarded part must be declarations without effect.
  Refused CheckNothingBehind(const source::Node& body) {
    for (const auto& statement : root().children) {
      if (statement.get() == guard_ || statement.get() == plan_.row_loop) continue;
      const bool inside = &body == &root() && guard_ != nullptr && statement->begin > guard_->begin;
      if (inside || statement->Is(source::NodeKind::kEmpty)) continue;
      if (!statement->Is(source::NodeKind::kDeclaration))
        return At(statement->line, "a statement outside the part that the row's guard covers");
      if (auto refusal = VisitDeclaration(*statement)) return refusal;
    }
    return std::nullopt;
  }

  Refused VisitRowStatements(const source::Node& body) {
    if (&body != &root() || guard_ == nullptr) return Visit(body);
    bool behind = false;
    for (const auto& statement : body.children) {
      if (behind)
        if (auto refusal = Visit(*statement)) return refusal;
      behind |= statement.get() == guard_;
    }
    return std::nullopt;
  }

  Refused Visit(const source::Node& node) {
    switch (node.kind) {
      case source::NodeKind::kEmpty:
      case source::NodeKind::kReturn:
      case source::NodeKind::kBreak:
      case source::NodeKind::kContinue: return std::nullopt;
      case source::NodeKind::kBlock:
        for (const auto& child : node.children)
          if (auto refusal = Visit(*child)) return refusal;
        return std::nullopt;
      case source::NodeKind::kDeclaration: return VisitDeclaration(node);
      case source::NodeKind::kIf: return VisitIf(node);
      case source::NodeKind::kFor: return VisitLoop(node);
      case source::NodeKind::kAssign: return VisitAssignment(node);
      case source::NodeKind::kCall:
        if (IsStoreCall(node)) return VisitAssignment(node);
        break;
      case source::NodeKind::kWhile:
      case source::NodeKind::kDo: return At(node.line, "a while loop over the row");
      default: break;
    }
    if (auto impure = ImpureExpression(ast_, node)) return At(impure->line, impure->reason);
    return At(node.line, "a statement that is not understood");
  }

  Refused VisitDeclaration(const source::Node& declaration) {
    for (const auto& variable : declaration.children) {
      if (!variable->Is(source::NodeKind::kVariable)) {
        const CXCursorKind kind = clang_getCursorKind(variable->cursor);
        if (kind == CXCursor_TypedefDecl || kind == CXCursor_TypeAliasDecl || kind == CXCursor_UsingDirective) continue;
        return At(declaration.line, "a declaration that is not understood");
      }
      if (variable->type.find('&') != std::string::npos)
        return At(variable->line, fmt::format("{} is a reference", variable->name));
      for (const auto& initializer : variable->children) {
        if (auto refusal = Uniform(*initializer)) return refusal;
        if (auto refusal = Access(*initializer, Executor::kAll, "", declaration)) return refusal;
      }
    }
    return std::nullopt;
  }

  Refused Uniform(const source::Node& expression) {
    if (auto impure = ImpureExpression(ast_, expression)) return At(impure->line, impure->reason);
    return std::nullopt;
  }

  // A thread-local scalar: every thread computes it. An element in memory: one thread writes it.
  Refused VisitAssignment(const source::Node& node) {
    for (const auto& child : node.children)
      if (auto refusal = Uniform(*child)) return refusal;
    const std::vector<MemoryAccess> accesses = GlobalAccesses(kernel_, node);
    const bool writes =
        std::any_of(accesses.begin(), accesses.end(), [](const MemoryAccess& access) { return access.writes; });
    if (!writes) {
      if (node.Is(source::NodeKind::kAssign)) {
        const source::Node* target = &node[0];
        while ((target->Is(source::NodeKind::kMember) || target->Is(source::NodeKind::kSubscript)) &&
               target->size() >= 1)
          target = &(*target)[0];
        if (!target->Is(source::NodeKind::kName) || kernel_.analysis.Find(target->symbol) == nullptr)
          return At(node.line, "writes something that is not a variable of the kernel");
      }
      return Access(node, Executor::kAll, "", node);
    }
    for (const MemoryAccess& access : accesses)
      if (access.writes && access.base.empty()) return At(access.line, "it is not clear which array is written");
    plan_.single.push_back(&node);
    return Access(node, Executor::kOne, "", node);
  }

  Refused VisitIf(const source::Node& node) {
    if (auto refusal = Uniform(node[source::kIfCondition])) return refusal;
    if (auto refusal = Access(node[source::kIfCondition], Executor::kAll, "", node)) return refusal;
    const std::vector<PendingAccess> before = pending_;
    if (auto refusal = Visit(node[source::kIfThen])) return refusal;
    std::vector<PendingAccess> after_then = std::exchange(pending_, before);
    if (auto refusal = Visit(node[source::kIfElse])) return refusal;
    pending_.insert(pending_.end(), after_then.begin(), after_then.end());
    return std::nullopt;
  }

  // A column loop; otherwise a serial loop that every thread runs, if it contains column loops or is short and only
  // computes.
  Refused VisitLoop(const source::Node& node) {
    const RowPlan before = plan_;
    const std::vector<PendingAccess> pending_before = pending_;
    auto column = AnalyzeColumnLoop(ast_, kernel_, node);
    const std::vector<const source::Node*> inner = InnerLoops(node);
    const auto counted = kernel_.analysis.Counted(node);
    const auto trips = counted ? kernel_.analysis.TripCount(*counted) : std::nullopt;
    const bool few = trips && *trips < kFewIterations;
    if (column && (inner.empty() || column->unit_stride) && !few) return TakeLoop(node, std::move(*column));

    // Serial over this loop, parallel inside.
    if (!inner.empty()) {
      const auto refusal = VisitSerialLoop(node);
      if (!refusal && plan_.loops.size() > before.loops.size()) return std::nullopt;
      plan_ = before;
      pending_ = pending_before;
    }
    if (few && inner.empty()) {
      const std::vector<MemoryAccess> accesses = GlobalAccesses(kernel_, node);
      const bool writes =
          std::any_of(accesses.begin(), accesses.end(), [](const MemoryAccess& access) { return access.writes; });
      if (!writes) return VisitSerialLoop(node);
    }
    if (column) return TakeLoop(node, std::move(*column));
    return column.error();
  }

  static std::vector<const source::Node*> InnerLoops(const source::Node& loop) {
    std::vector<const source::Node*> loops = source::Collect(loop[source::kLoopBody], source::NodeKind::kFor);
    for (const source::NodeKind kind : {source::NodeKind::kWhile, source::NodeKind::kDo})
      for (const source::Node* node : source::Collect(loop[source::kLoopBody], kind)) loops.push_back(node);
    return loops;
  }

  Refused TakeLoop(const source::Node& node, ColumnLoop column) {
    if (auto refusal = CheckLeavesNoTrace(column)) return refusal;
    const std::string iteration = IterationSymbol(column.loop);
    for (const MemoryAccess& access : column.accesses) Record({access, Executor::kIteration, iteration}, node);
    if (!column.reductions.empty() && reductions_are_barriers_) pending_.clear();
    plan_.loops.push_back(std::move(column));
    return std::nullopt;
  }

  // A loop under a uniform condition or inside a serial loop is fine; one inside another column loop never gets here.
  Refused CheckLeavesNoTrace(const ColumnLoop& column) {
    for (const Reduction& reduction : column.reductions) {
      const source::VariableInfo* info = kernel_.analysis.Find(reduction.symbol);
      if (info->parameter == nullptr && info->declaration == nullptr)
        return At(reduction.line, fmt::format("{} is not a variable of the kernel", reduction.name));
    }
    return std::nullopt;
  }

  Refused VisitSerialLoop(const source::Node& node) {
    if (!kernel_.analysis.Counted(node)) return At(node.line, "a loop that does not count a variable up to a bound");
    for (const size_t part : {source::kLoopInit, source::kLoopCondition, source::kLoopIncrement}) {
      Refused refusal;
      source::ForEach(node[part], [&](const source::Node& child) {
        if (!refusal && child.Is(source::NodeKind::kCall)) refusal = Uniform(child);
      });
      if (refusal) return refusal;
    }
    if (auto refusal = Access(node[source::kLoopCondition], Executor::kAll, "", node)) return refusal;
    const size_t first = log_.size();
    if (auto refusal = Visit(node[source::kLoopBody])) return refusal;
    if (!MeetAcrossIterations(first, IterationSymbol(*kernel_.analysis.Counted(node)))) return std::nullopt;
    if (!node[source::kLoopBody].Is(source::NodeKind::kBlock))
      return At(node.line, "a loop over writes without a block");
    plan_.barriers_at_end.push_back(&node[source::kLoopBody]);
    pending_.clear();
    return std::nullopt;
  }

  // May an iteration of a serial loop use what another thread wrote in the previous one? Elements that the iteration
  // number separates within one iteration may still coincide across two.
  bool MeetAcrossIterations(size_t first, const std::string& iteration) const {
    for (size_t i = first; i < log_.size(); ++i) {
      for (size_t j = i; j < log_.size(); ++j) {
        const PendingAccess &a = log_[i], &b = log_[j];
        if (!a.access.writes && !b.access.writes) continue;
        if (Conflicts(a, b)) return true;
        const bool spread = a.executor == Executor::kIteration && b.executor == Executor::kIteration;
        const bool moves = a.access.index && b.access.index &&
                           (a.access.index->Mentions(iteration) || b.access.index->Mentions(iteration));
        if (spread && moves && a.access.base == b.access.base) return true;
      }
    }
    return false;
  }

  Refused Access(const source::Node& node, Executor executor, const std::string& iteration,
                 const source::Node& statement) {
    for (MemoryAccess& access : GlobalAccesses(kernel_, node))
      Record({std::move(access), executor, iteration}, statement);
    return std::nullopt;
  }

  // Puts a barrier before the statement if the access may conflict with one of another thread.
  void Record(PendingAccess access, const source::Node& statement) {
    const bool meets = std::any_of(pending_.begin(), pending_.end(), [&](const PendingAccess& earlier) {
      return earlier.access.node->parent != nullptr && !source::Contains(statement, *earlier.access.node) &&
             Conflicts(earlier, access);
    });
    if (meets) {
      if (plan_.barriers.empty() || plan_.barriers.back() != &statement) plan_.barriers.push_back(&statement);
      std::erase_if(pending_,
                    [&](const PendingAccess& earlier) { return !source::Contains(statement, *earlier.access.node); });
    }
    log_.push_back(access);
    pending_.push_back(std::move(access));
  }

  bool Conflicts(const PendingAccess& a, const PendingAccess& b) const {
    if (!a.access.writes && !b.access.writes) return false;
    if (a.executor == Executor::kOne && b.executor == Executor::kOne) return false;
    if (!MayAlias(a.access, b.access)) return false;
    if (!a.access.index || !b.access.index) return true;
    source::Polynomial first = *a.access.index, second = *b.access.index;
    if (!a.iteration.empty()) first = first.Substitute(a.iteration, source::Polynomial::Symbol("iteration"));
    if (!b.iteration.empty()) second = second.Substitute(b.iteration, source::Polynomial::Symbol("iteration"));
    const source::Polynomial distance = first - second;
    const bool same_thread = a.executor == Executor::kIteration && b.executor == Executor::kIteration &&
                             distance == source::Polynomial() && !ChangesOverTime(*a.access.index);
    if (same_thread) return false;
    // Arrays with a different row layout are not the same memory: the rows would race in the source.
    return a.access.base == b.access.base || !kernel_.analysis.DependsOn(distance).thread;
  }

  // Does it use a variable that is assigned somewhere? Then the same index need not be the same element later.
  bool ChangesOverTime(const source::Polynomial& index) const {
    const std::vector<std::string> symbols = index.Symbols();
    return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
      const source::VariableInfo* info = kernel_.analysis.Find(symbol);
      return info != nullptr && !info->writes.empty();
    });
  }

  const source::Ast& ast_;
  const AnalyzedFunction& kernel_;
  bool reductions_are_barriers_;
  RowPlan plan_;
  const source::Node* guard_ = nullptr;
  std::vector<PendingAccess> pending_;  // since the last barrier
  std::vector<PendingAccess> log_;      // all
};

bool IsLoop(const source::Node& node) {
  return node.Is(source::NodeKind::kFor) || node.Is(source::NodeKind::kWhile) || node.Is(source::NodeKind::kDo);
}

// Whether `outer` does nothing with the variable but this reduction, in column loops.
bool OnlyReduces(const KernelSite& site, const RowPlan& plan, const source::Node& outer, const Reduction& reduction) {
  const source::VariableInfo& info = *site.analysis().Find(reduction.symbol);
  if (info.declaration != nullptr && source::Contains(outer, *info.declaration)) return false;
  return std::all_of(info.uses.begin(), info.uses.end(), [&](const source::Node* use) {
    if (!source::Contains(outer, *use)) return true;
    return std::any_of(plan.loops.begin(), plan.loops.end(), [&](const ColumnLoop& column) {
      return source::Contains(column.loop.body(), *use) &&
             std::any_of(column.reductions.begin(), column.reductions.end(), [&](const Reduction& other) {
               return other.symbol == reduction.symbol && other.kind == reduction.kind;
             });
    });
  });
}

// True: some reduction is combined behind another loop than its own.
bool PlaceCombinations(const KernelSite& site, RowPlan& plan) {
  bool moved = false;
  for (ColumnLoop& column : plan.loops)
    for (Reduction& reduction : column.reductions) {
      reduction.combined_behind = column.loop.loop;
      if (!reduction.index_symbol.empty()) continue;
      for (const source::Node* outer = column.loop.loop->parent; outer != nullptr && outer != plan.row_loop;
           outer = outer->parent)
        if (IsLoop(*outer) && OnlyReduces(site, plan, *outer, reduction)) reduction.combined_behind = outer;
      moved = moved || reduction.combined_behind != column.loop.loop;
    }
  return moved;
}

}  // namespace

Checked<RowPlan> PlanRows(const source::Ast& ast, const KernelSite& site, bool reductions_are_barriers) {
  auto plan = RowPlanner(ast, site, reductions_are_barriers).Run();
  if (!plan || !PlaceCombinations(site, *plan) || !reductions_are_barriers) return plan;
  plan = RowPlanner(ast, site, false).Run();  // without the barriers that were where it is no longer combined
  if (plan) PlaceCombinations(site, *plan);
  return plan;
}

}  // namespace warpwright::rewrite

#include "rewrite/row_parallel_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace warpwright::rewrite {
namespace {

class LoopAnalyzer {
 public:
  LoopAnalyzer(const source::Ast& ast, const AnalyzedFunction& kernel, const source::CountedLoop& loop)
      : ast_(ast), kernel_(kernel) {
    result_.loop = loop;
  }

  Checked<ColumnLoop> Run() {
    if (auto refusal = CheckHeader()) return tl::unexpected(*refusal);
    if (auto refusal = CheckStatements()) return tl::unexpected(*refusal);
    if (auto refusal = CheckArrays()) return tl::unexpected(*refusal);
    if (auto refusal = CheckVariables()) return tl::unexpected(*refusal);
    if (auto refusal = CheckMemory()) return tl::unexpected(*refusal);
    return std::move(result_);
  }

 private:
  using Refused = std::optional<core::RewriteRefusal>;
  static core::RewriteRefusal At(int line, std::string reason) { return RefuseAt(line, std::move(reason)).value(); }
  const source::Node& loop() const { return *result_.loop.loop; }

  Refused CheckHeader() {
    const source::CountedLoop& counted = result_.loop;
    const int line = loop().line;
    if (counted.down || (counted.relation != "<" && counted.relation != "<="))
      return At(line, fmt::format("the loop over {} does not count upwards to a bound", counted.name));
    for (const source::Node* part : {counted.start, &loop()[source::kLoopIncrement]})
      if (!part->whole) return At(line, "a macro makes part of the loop");
    for (const source::Node* part : {counted.start, counted.bound, counted.step}) {
      if (part == nullptr) continue;
      if (auto refusal = ImpureExpression(ast_, *part))
        return At(refusal->line, "the loop's bounds: it " + refusal->reason);
      for (const auto& [symbol, info] : kernel_.analysis.variables()) {
        const bool written_inside = std::any_of(info.writes.begin(), info.writes.end(), [&](const source::Node* write) {
          return source::Contains(loop(), *write);
        });
        if (symbol != counted.variable && written_inside && MentionsSymbol(*part, symbol))
          return At(part->line, fmt::format("the loop over {} changes its own bound ({})", counted.name, info.name));
      }
    }
    if (counted.step != nullptr) {
      const auto step = kernel_.analysis.Fold(*counted.step);
      if (step && *step <= 0) return At(line, fmt::format("the loop over {} does not count upwards", counted.name));
    }
    return std::nullopt;
  }

  Refused CheckStatements() {
    Refused refusal;
    // `inner` is set below a loop or switch inside this loop, where break exits only that.
    const std::function<void(const source::Node&, bool)> check = [&](const source::Node& node, bool inner) {
      if (refusal) return;
      switch (node.kind) {
        case source::NodeKind::kBlock:
        case source::NodeKind::kIf:
        case source::NodeKind::kEmpty:
        case source::NodeKind::kContinue: break;
        case source::NodeKind::kBreak:
          if (!inner) refusal = At(node.line, "break leaves the loop over " + result_.loop.name);
          return;
        case source::NodeKind::kReturn:
          refusal = At(node.line, "return leaves the loop over " + result_.loop.name);
          return;
        case source::NodeKind::kFor:
        case source::NodeKind::kWhile:
        case source::NodeKind::kDo: inner = true; break;
        case source::NodeKind::kSwitch:
        case source::NodeKind::kCase:
          refusal = At(node.line, "switch inside the loop over " + result_.loop.name);
          return;
        case source::NodeKind::kDeclaration:
          for (const auto& variable : node.children) {
            if (!variable->Is(source::NodeKind::kVariable)) {
              refusal = At(node.line, "a declaration that is not understood");
              return;
            }
            for (const auto& initializer : variable->children) Value(*initializer, refusal);
          }
          return;
        case source::NodeKind::kAssign:
          for (const auto& child : node.children) Value(*child, refusal);
          return;
        default:
          if (IsStoreCall(node)) {
            for (const auto& child : node.children) Value(*child, refusal);
          } else if (node.Is(source::NodeKind::kCall) || !IsStatementKind(node.kind)) {
            Value(node, refusal);
          } else {
            refusal = At(node.line, "a statement that is not understood");
          }
          return;
      }
      for (const auto& child : node.children) check(*child, inner);
    };
    check(result_.loop.body(), false);
    return refusal;
  }

  static bool IsStatementKind(source::NodeKind kind) { return kind < source::NodeKind::kName; }
  void Value(const source::Node& expression, Refused& refusal) {
    if (refusal) return;
    if (auto impure = ImpureExpression(ast_, expression))
      refusal = At(impure->line, fmt::format("the loop over {} {}", result_.loop.name, impure->reason));
  }

  Refused CheckVariables() {
    std::vector<std::pair<const source::VariableInfo*, std::string>> carried;
    for (const auto& [symbol, info] : kernel_.analysis.variables()) {
      if (symbol == result_.loop.variable) continue;
      const bool declared_inside = info.declaration != nullptr && source::Contains(loop(), *info.declaration);
      const bool written_inside = std::any_of(info.writes.begin(), info.writes.end(), [&](const source::Node* write) {
        return source::Contains(result_.loop.body(), *write);
      });
      if (!declared_inside && written_inside) carried.emplace_back(&info, symbol);
    }
    std::sort(carried.begin(), carried.end(),
              [](const auto& a, const auto& b) { return FirstLine(*a.first) < FirstLine(*b.first); });
    std::set<std::string> indices;
    for (const auto& [info, symbol] : carried) {
      auto reduction = AsReduction(*info, symbol);
      if (!reduction) continue;
      if (reduction->kind == ReductionKind::kArgMax || reduction->kind == ReductionKind::kArgMin)
        indices.insert(reduction->index_symbol);
      result_.reductions.push_back(std::move(*reduction));
    }
    for (const auto& [info, symbol] : carried) {
      const bool done = indices.contains(symbol) ||
                        std::any_of(result_.reductions.begin(), result_.reductions.end(),
                                    [&s = symbol](const Reduction& reduction) { return reduction.symbol == s; });
      if (done || IsTemporary(*info)) continue;
      const source::Node* write = nullptr;
      for (const source::Node* candidate : info->writes)
        if (write == nullptr && source::Contains(result_.loop.body(), *candidate)) write = candidate;
      return At(write->line,
                fmt::format("{} is carried from one iteration over {} to the next, and not as a sum, product, minimum, "
                            "maximum or arg-max that nothing else in the loop uses",
                            info->name, result_.loop.name));
    }
    for (const Reduction& reduction : result_.reductions)
      if (auto refusal = CheckType(reduction)) return refusal;
    if (!result_.loop.declares && !DeadBehind(*kernel_.analysis.Find(result_.loop.variable)))
      return At(loop().line, fmt::format("{} is read behind its loop", result_.loop.name));
    return std::nullopt;
  }

  static uint32_t FirstLine(const source::VariableInfo& info) {
    return info.uses.empty() ? 0 : info.uses.front()->begin;
  }

  std::optional<Reduction> AsReduction(const source::VariableInfo& info, const std::string& symbol) const {
    std::vector<ReductionUpdate> updates;
    source::Walk(result_.loop.body(), [&](const source::Node& node) {
      auto update = MatchReductionUpdate(kernel_.syntax, symbol, node);
      if (update) updates.push_back(std::move(*update));
      return updates.empty() || updates.back().statement != &node;
    });
    if (updates.empty()) return std::nullopt;
    std::set<const source::Node*> own;
    for (const ReductionUpdate& update : updates) {
      if (update.kind != updates[0].kind) return std::nullopt;
      own.insert(update.own_uses.begin(), update.own_uses.end());
    }
    for (const source::Node* use : info.uses)
      if (source::Contains(result_.loop.body(), *use) && !own.contains(use)) return std::nullopt;
    Reduction reduction;
    reduction.kind = updates[0].kind;
    reduction.symbol = symbol;
    reduction.name = info.name;
    reduction.type = Unqualified(info.type);
    reduction.line = updates[0].statement->line;
    if (updates[0].index_assignment == nullptr) return reduction;
    if (updates.size() != 1 || !DescribeIndex(updates[0], reduction)) return std::nullopt;
    return reduction;
  }

  // The index must increase with the iterations, for the tie rule to follow from it, and must not be used otherwise.
  bool DescribeIndex(const ReductionUpdate& update, Reduction& reduction) const {
    const source::Node& assignment = *update.index_assignment;
    const source::VariableInfo* info = kernel_.analysis.Find(assignment[0].symbol);
    if (info == nullptr) return false;
    for (const source::Node* use : info->uses)
      if (source::Contains(result_.loop.body(), *use) && use != &assignment[0]) return false;
    // If the last of equal values wins, the index from before the loop must lose against every index in it.
    if (update.last_wins) {
      const bool declared = info->declaration != nullptr && info->declaration->size() == 1;
      const auto before = declared ? kernel_.analysis.Fold((*info->declaration)[0]) : std::nullopt;
      const auto start = kernel_.analysis.Fold(*result_.loop.start);
      if (info->writes.size() != 1 || !before || !start || *before > *start) return false;
    }
    const auto slope = kernel_.analysis.Index(assignment[1]).Coefficient(IterationSymbol(result_.loop));
    if (!slope || !slope->constant() || *slope->constant() <= 0) return false;
    reduction.index_symbol = assignment[0].symbol;
    reduction.index_name = info->name;
    reduction.index_type = Unqualified(info->type);
    reduction.last_wins = update.last_wins;
    return true;
  }

  static std::string Unqualified(std::string type) {
    for (const char* qualifier : {"const ", "volatile "})
      if (type.starts_with(qualifier)) type = type.substr(std::string_view(qualifier).size());
    return type;
  }

  Refused CheckType(const Reduction& reduction) {
    const auto check = [&](const std::string& symbol, bool integer) -> Refused {
      const source::VariableInfo* info = kernel_.analysis.Find(symbol);
      const CXCursor cursor = info->declaration != nullptr ? info->declaration->cursor : info->parameter->cursor;
      const CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
      const bool builtin = type.kind >= CXType_Bool && type.kind <= CXType_Double && type.kind != CXType_Int128 &&
                           type.kind != CXType_UInt128;
      const bool floating = type.kind == CXType_Float || type.kind == CXType_Double;
      if (builtin && !(integer && floating)) return std::nullopt;
      const std::vector<CXCursor> parameters = source::ast::TemplateParameters(kernel_.syntax.cursor);
      const bool templated = std::any_of(parameters.begin(), parameters.end(), [&](const CXCursor& parameter) {
        return source::ast::Spelling(parameter) == Unqualified(info->type);
      });
      if (templated && !integer) return std::nullopt;
      return At(reduction.line,
                fmt::format("{} is of type {}, for which there is no shuffle reduction here; accumulate in float",
                            info->name, info->type));
    };
    if (auto refusal = check(reduction.symbol, false)) return refusal;
    if (!reduction.index_symbol.empty()) return check(reduction.index_symbol, true);
    return std::nullopt;
  }

  // Each iteration writes it first, unconditionally, and nothing reads it after the loop.
  bool IsTemporary(const source::VariableInfo& info) const {
    const source::Node* first = nullptr;
    for (const source::Node* use : info.uses)
      if (source::Contains(result_.loop.body(), *use) && (first == nullptr || use->begin < first->begin)) first = use;
    if (first == nullptr || first->parent == nullptr || !first->parent->Is(source::NodeKind::kAssign, "="))
      return false;
    const source::Node& assignment = *first->parent;
    if (&assignment[0] != first) {
      // x = f(x): the value is read first.
      return false;
    }
    for (const source::Node* use : info.uses)
      if (use != first && source::Contains(assignment, *use)) return false;
    const source::Node* body = &result_.loop.body();
    const bool unconditional = &assignment == body || assignment.parent == body;
    return unconditional && DeadBehind(info);
  }

  // The first use after the loop, if any, is an unconditional plain write.
  bool DeadBehind(const source::VariableInfo& info) const {
    for (const source::Node* outer = loop().parent; outer != nullptr; outer = outer->parent)
      if (outer->Is(source::NodeKind::kFor) || outer->Is(source::NodeKind::kWhile) || outer->Is(source::NodeKind::kDo))
        return false;
    const source::Node* next = nullptr;
    for (const source::Node* use : info.uses)
      if (use->begin >= loop().end && (next == nullptr || use->begin < next->begin)) next = use;
    if (next == nullptr) return true;
    if (!next->parent->Is(source::NodeKind::kAssign, "=") || &(*next->parent)[0] != next) return false;
    for (const source::Node* use : info.uses)
      if (use != next && source::Contains(*next->parent, *use)) return false;
    // Under a condition, it covers only code under the same condition.
    for (const source::Node* outer = next->parent->parent; outer != nullptr; outer = outer->parent) {
      if (!outer->Is(source::NodeKind::kIf) || source::Contains(*outer, loop())) continue;
      for (const source::Node* use : info.uses)
        if (use->begin >= loop().end && !source::Contains(*outer, *use)) return false;
    }
    return true;
  }

  Refused CheckMemory() {
    result_.accesses = GlobalAccesses(kernel_, loop());
    const std::string iteration = IterationSymbol(result_.loop);
    // If there are inner loops, their accesses matter most.
    const std::vector<const source::Node*> inner = source::Collect(result_.loop.body(), source::NodeKind::kFor);
    const auto is_inner = [&](const source::Node& node) {
      return std::any_of(inner.begin(), inner.end(),
                         [&](const source::Node* other) { return source::Contains(*other, node); });
    };
    for (const MemoryAccess& access : result_.accesses) {
      if (!access.index || (!inner.empty() && !is_inner(*access.node))) continue;
      const auto stride = access.index->Coefficient(iteration);
      result_.unit_stride |= stride && stride->constant() && *stride->constant() != 0;
    }
    for (const MemoryAccess& write : result_.accesses) {
      if (!write.writes) continue;
      if (write.base.empty()) return At(write.line, "it is not clear which array is written");
      if (!write.index)
        return At(write.line, fmt::format("{} is written through a cast or another pointer type", Plain(write.base)));
      if (auto refusal = CheckOwnElement(write)) return refusal;
      for (const MemoryAccess& other : result_.accesses)
        if (&other != &write)
          if (auto refusal = CheckPair(write, other)) return refusal;
    }
    return std::nullopt;
  }

  // Thread-local arrays that outlive an iteration would be split across the threads.
  Refused CheckArrays() {
    Refused refusal;
    source::ForEach(loop(), [&](const source::Node& node) {
      if (!node.Is(source::NodeKind::kName) || refusal) return;
      const source::VariableInfo* info = kernel_.analysis.Find(node.symbol);
      if (info == nullptr || info->declaration == nullptr || info->type.find('[') == std::string::npos) return;
      if (!source::Contains(loop(), *info->declaration))
        refusal =
            At(node.line,
               fmt::format("{} is an array of the thread; its elements would be spread over the threads", node.name));
    });
    return refusal;
  }

  static std::string Plain(const std::string& symbol) { return symbol.substr(0, symbol.find('@')); }

  // Two iterations must not write the same element.
  Refused CheckOwnElement(const MemoryAccess& write) {
    const std::string iteration = IterationSymbol(result_.loop);
    const auto stride = write.index->Coefficient(iteration);
    const source::Dependence dependence = kernel_.analysis.DependsOn(*write.index);
    if (!stride || dependence.memory || dependence.unknown)
      return At(write.line, fmt::format("where {} is written depends on memory or is not linear in {}",
                                        Plain(write.base), result_.loop.name));
    if (*stride == source::Polynomial()) {
      return At(write.line,
                fmt::format("every iteration over {} writes the same element of {}; accumulate in a local variable",
                            result_.loop.name, Plain(write.base)));
    }
    // Variables of inner loops: they must stay within one step of this loop.
    for (const source::CountedLoop& inner : InnerCountedLoops()) {
      const std::string symbol = IterationSymbol(inner);
      if (!write.index->Mentions(symbol)) continue;
      const auto step = write.index->Coefficient(symbol);
      const bool within = step && step->constant() == 1 && inner.relation == "<" && !inner.down &&
                          kernel_.analysis.Index(*inner.bound) - kernel_.analysis.Index(*inner.start) == *stride;
      if (!within)
        return At(write.line, fmt::format("iterations over {} may write the same elements of {}", result_.loop.name,
                                          Plain(write.base)));
    }
    // What else varies inside the loop (a variable written twice, an opaque term) makes the element unknown.
    for (const std::string& symbol : dependence.symbols) {
      const source::VariableInfo* info = kernel_.analysis.Find(symbol);
      if (info == nullptr || info->counted_loop != nullptr) continue;
      const bool varies = std::any_of(info->writes.begin(), info->writes.end(),
                                      [&](const source::Node* node) { return source::Contains(loop(), *node); });
      if (varies)
        return At(write.line, fmt::format("where {} is written depends on {}, which changes in the loop",
                                          Plain(write.base), info->name));
    }
    return std::nullopt;
  }

  std::vector<source::CountedLoop> InnerCountedLoops() const {
    std::vector<source::CountedLoop> loops;
    for (const source::Node* node : source::Collect(result_.loop.body(), source::NodeKind::kFor))
      if (auto counted = kernel_.analysis.Counted(*node)) loops.push_back(std::move(*counted));
    return loops;
  }
  bool HasInnerIterations(const source::Polynomial& index) const {
    const std::vector<source::CountedLoop> inner = InnerCountedLoops();
    return std::any_of(inner.begin(), inner.end(),
                       [&](const source::CountedLoop& loop) { return index.Mentions(IterationSymbol(loop)); });
  }

  // `write` and `other` must not access the same element in different iterations.
  Refused CheckPair(const MemoryAccess& write, const MemoryAccess& other) {
    if (!MayAlias(write, other)) return std::nullopt;
    const bool same = write.base == other.base;
    const auto meets = [&]() -> Refused {
      if (same) {
        return At(other.line, fmt::format("an iteration over {} uses elements of {} that another one writes",
                                          result_.loop.name, Plain(write.base)));
      }
      return At(other.line,
                fmt::format("{} may be the same array as {}, which other iterations over {} write; __restrict__ says "
                            "that it is not",
                            other.base.empty() ? "an array" : Plain(other.base), Plain(write.base), result_.loop.name));
    };
    if (!other.index) return meets();
    const source::Polynomial distance = *write.index - *other.index;
    if (distance == source::Polynomial()) return std::nullopt;
    // Arrays with a different row layout cannot be the same memory without a race between the rows in the source.
    if (!same && kernel_.analysis.DependsOn(distance).thread) return std::nullopt;
    const std::string iteration = IterationSymbol(result_.loop);
    const auto step = write.index->Coefficient(iteration), other_step = other.index->Coefficient(iteration);
    if (!step || !other_step || !(*step == *other_step)) return meets();
    if (HasInnerIterations(*write.index) || HasInnerIterations(*other.index)) return meets();
    const auto gap = distance.constant(), by = step->constant();
    if (gap && by && *gap % *by != 0) return std::nullopt;
    // At least as far apart as the loop is long: x[i] and x[i + half] for i < half.
    if (by == 1 && result_.loop.relation == "<" && result_.loop.step == nullptr) {
      const source::Polynomial length =
          kernel_.analysis.Index(*result_.loop.bound) - kernel_.analysis.Index(*result_.loop.start);
      if (distance == length || distance == source::Polynomial() - length) return std::nullopt;
    }
    return meets();
  }

  const source::Ast& ast_;
  const AnalyzedFunction& kernel_;
  ColumnLoop result_;
};

}  // namespace

std::string IterationSymbol(const source::CountedLoop& loop) { return loop.variable + "#"; }

Checked<ColumnLoop> AnalyzeColumnLoop(const source::Ast& ast, const AnalyzedFunction& kernel,
                                      const source::Node& loop) {
  const auto counted = kernel.analysis.Counted(loop);
  if (!counted) return RefuseAt(loop.line, "a loop that does not count a variable up to a bound");
  return LoopAnalyzer(ast, kernel, *counted).Run();
}

}  // namespace warpwright::rewrite

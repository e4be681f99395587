#include "rewrite/tile_matmul_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace warpwright::rewrite {
namespace {

class TilePlanner {
 public:
  TilePlanner(const source::Ast& ast, const KernelSite& site) : ast_(ast), kernel_(*site.kernel) {}

  Checked<TilePlan> Run() {
    if (auto refusal = UsesBlockCooperation(kernel_, "within the block")) return tl::unexpected(*refusal);
    if (auto refusal = FindBody()) return tl::unexpected(*refusal);
    if (auto refusal = FindLoop()) return tl::unexpected(*refusal);
    auto axes = FindResultAxes(kernel_, plan_.guards);
    if (!axes) return tl::unexpected(axes.error());
    static_cast<ResultAxes&>(plan_) = std::move(*axes);
    if (auto refusal = CheckPlaces()) return tl::unexpected(*refusal);
    if (auto refusal = SortStatements()) return tl::unexpected(*refusal);
    if (auto refusal = FindProduct()) return tl::unexpected(*refusal);
    if (auto refusal = CheckMemory()) return tl::unexpected(*refusal);
    return std::move(plan_);
  }

 private:
  using Refused = std::optional<core::RewriteRefusal>;
  static core::RewriteRefusal At(int line, std::string reason) { return RefuseAt(line, std::move(reason)).value(); }
  const source::Node& root() const { return *kernel_.syntax.body; }
  const source::FunctionAnalysis& analysis() const { return kernel_.analysis; }

  // Statements in order: what precedes the guard, and what it guards.
  Refused FindBody() {
    for (const auto& statement : root().children) {
      const auto guard = statement->Is(source::NodeKind::kIf) ? source::AsBoundsGuard(*statement) : std::nullopt;
      const bool before_work = std::none_of(guarded_.begin(), guarded_.end(), [](const source::Node* node) {
        return !node->Is(source::NodeKind::kDeclaration);
      });
      if (guard && guard->returns_early && before_work && UsesPlace(*guard)) {
        plan_.guards.push_back(*guard);
      } else if (guard && !guard->returns_early && plan_.guards.empty() && before_work && UsesPlace(*guard) &&
                 !source::Collect(guard->body(), source::NodeKind::kFor).empty()) {
        plan_.guards.push_back(*guard);
        wrapped_ = true;
        const source::Node& body = guard->body();
        if (!body.Is(source::NodeKind::kBlock)) return At(body.line, "the guarded part is not a block");
        for (const auto& inner : body.children) guarded_.push_back(inner.get());
      } else if (wrapped_) {
        return At(statement->line, "a statement behind the guarded part");
      } else if (!statement->Is(source::NodeKind::kEmpty)) {
        guarded_.push_back(statement.get());
      }
    }
    if (plan_.guards.empty())
      return At(root().line, "no guard compares a row and a column with the size of the result");
    return std::nullopt;
  }

  bool UsesPlace(const source::BoundsGuard& guard) const {
    return std::any_of(guard.limits.begin(), guard.limits.end(), [&](const source::BoundsGuard::Limit& limit) {
      return analysis().DependsOn(*limit.index).thread && !analysis().DependsOn(*limit.bound).thread;
    });
  }

  Refused FindLoop() {
    const source::Node* loop = nullptr;
    for (const source::Node* statement : guarded_) {
      if (!statement->Is(source::NodeKind::kFor)) continue;
      if (loop != nullptr) return At(statement->line, "a second loop: the kernel does more than one product");
      loop = statement;
    }
    if (loop == nullptr) {
      const std::vector<const source::Node*> loops = source::Collect(root(), source::NodeKind::kFor);
      if (loops.empty()) return At(root().line, "no loop that adds products");
      return At(loops[0]->line, "the loop is not at the top of the guarded part");
    }
    const auto counted = analysis().Counted(*loop);
    if (!counted || counted->down || counted->relation != "<" || !counted->declares ||
        (counted->step != nullptr && analysis().Fold(*counted->step) != 1))
      return At(loop->line, "the loop does not count one variable upwards by one");
    for (const source::NodeKind kind :
         {source::NodeKind::kFor, source::NodeKind::kWhile, source::NodeKind::kDo, source::NodeKind::kBreak,
          source::NodeKind::kContinue, source::NodeKind::kReturn}) {
      const std::vector<const source::Node*> found = source::Collect((*loop)[source::kLoopBody], kind);
      if (!found.empty()) return At(found[0]->line, "another loop or a jump inside the loop over " + counted->name);
    }
    plan_.loop = *counted;
    return std::nullopt;
  }

  // Only the axes may use the thread's position; blocks along z stay.
  Refused CheckPlaces() {
    std::vector<const source::Node*> consumers = {plan_.row.variable, plan_.col.variable};
    if (plan_.flat != nullptr) consumers.push_back(plan_.flat);
    const std::vector<const source::Node*> serving = DeclarationsUsedOnlyBy(kernel_, consumers);
    consumers.insert(consumers.end(), serving.begin(), serving.end());
    serving_ = serving;
    Refused refusal;
    source::ForEach(root(), [&](const source::Node& node) {
      if (refusal || !IsThreadOrBlockIndex(node)) return;
      if (std::any_of(consumers.begin(), consumers.end(),
                      [&](const source::Node* consumer) { return source::Contains(*consumer, node); }))
        return;
      const bool z = node.name == "blockIdx.z" || node.name == "gridDim.z";
      plan_.uses_grid_z |= z;
      if (!z) refusal = At(node.line, fmt::format("{} is used beyond the result's row and column", node.name));
    });
    if (!refusal && plan_.uses_grid_z && !plan_.batch.empty())
      refusal = At(plan_.flat->line, "batches in the index and along z");
    return refusal;
  }

  struct Needs {
    bool row = false, col = false, k = false, flat = false, thread = false;
    bool uniform() const { return !row && !col && !k && !thread; }
  };
  Needs NeedsOf(const source::Node& expression) const {
    const source::Dependence dependence = analysis().DependsOn(expression);
    Needs needs;
    // Names reached through the row's own definition do not count, so walk again and stop there.
    std::set<std::string> seen;
    std::vector<const source::Node*> open = {&expression};
    while (!open.empty()) {
      const source::Node* at = open.back();
      open.pop_back();
      source::Walk(*at, [&](const source::Node& node) {
        if (IsThreadOrBlockIndex(node)) {
          needs.thread |= node.name.starts_with("threadIdx");
          return false;
        }
        if (!node.Is(source::NodeKind::kName) || !seen.insert(node.symbol).second) return true;
        if (node.symbol == plan_.row.variable->symbol) needs.row = true;
        else if (node.symbol == plan_.col.variable->symbol) needs.col = true;
        else if (node.symbol == plan_.loop.variable) needs.k = true;
        else if (plan_.flat != nullptr && node.symbol == plan_.flat->symbol) needs.flat = true;
        else if (const source::VariableInfo* info = analysis().Find(node.symbol);
                 info != nullptr && !batch_.contains(node.symbol)) {
          if (info->declaration != nullptr)
            for (const auto& child : info->declaration->children) open.push_back(child.get());
          for (const source::Node* write : info->writes) open.push_back(write);
        }
        return true;
      });
    }
    if (needs.flat) needs.row = needs.col = true;
    needs.thread |= dependence.unknown;
    return needs;
  }

  // idx / (M * N) and (idx / (M * N * ...)) % heads: the same for all results of a batch.
  bool IsBatchIndex(const source::Node& expression) const {
    if (plan_.batch.empty()) return false;
    const source::Node* value = &source::StripCasts(expression);
    if (value->Is(source::NodeKind::kBinary, "%")) value = &source::StripCasts((*value)[0]);
    if (!value->Is(source::NodeKind::kBinary, "/")) return false;
    const source::Node& index = source::StripCasts((*value)[0]);
    if (!index.Is(source::NodeKind::kName) || index.symbol != plan_.flat->symbol) return false;
    std::vector<const source::Node*> factors, wanted;
    FlattenProduct(analysis(), (*value)[1], true, factors);
    FlattenProduct(analysis(), *plan_.row.bound[0], true, wanted);
    FlattenProduct(analysis(), *plan_.col.bound[0], true, wanted);
    return std::all_of(wanted.begin(), wanted.end(), [&](const source::Node* part) {
      const auto found = std::find_if(factors.begin(), factors.end(), [&](const source::Node* factor) {
        return SameExpression(kernel_.syntax, *factor, *part);
      });
      if (found == factors.end()) return false;
      factors.erase(found);
      return true;
    });
  }

  // Sorts declarations by what they need; other statements belong to the results.
  Refused SortStatements() {
    bool behind = false;
    for (const source::Node* statement : guarded_) {
      if (statement == plan_.loop.loop) {
        behind = true;
      } else if (statement->Is(source::NodeKind::kDeclaration)) {
        if (behind) plan_.epilogue.push_back(statement);
        else if (auto refusal = SortDeclaration(*statement)) return refusal;
      } else if (!behind && MovesParameter(*statement)) {
        plan_.moves.push_back(statement);
      } else {
        plan_.epilogue.push_back(statement);
      }
    }
    for (const source::BoundsGuard& guard : plan_.guards) {
      for (const source::BoundsGuard::Limit& limit : guard.limits) {
        if (IsAxisLimit(limit)) continue;
        if (!NeedsOf(*limit.index).uniform() || !NeedsOf(*limit.bound).uniform())
          return At(guard.statement->line,
                    fmt::format("the guard compares \"{}\", which is neither the row nor the column",
                                kernel_.syntax.Text(*limit.index)));
        plan_.uniform_limits.push_back(limit);
      }
    }
    return std::nullopt;
  }

  // a += batch * M * K, before anything reads a.
  bool MovesParameter(const source::Node& statement) const {
    if (!statement.Is(source::NodeKind::kAssign) || statement.size() != 2 || !statement[0].Is(source::NodeKind::kName))
      return false;
    const source::VariableInfo* info = analysis().Find(statement[0].symbol);
    if (info == nullptr || info->parameter == nullptr || info->writes.size() != 1 ||
        ImpureExpression(ast_, statement[1]))
      return false;
    const bool first = std::all_of(info->uses.begin(), info->uses.end(),
                                   [&](const source::Node* use) { return use->begin >= statement.begin; });
    return first && NeedsOf(statement[1]).uniform();
  }

  bool IsAxisLimit(const source::BoundsGuard::Limit& limit) const {
    const source::Node& index = source::StripCasts(*limit.index);
    if (!index.Is(source::NodeKind::kName)) return false;
    if (plan_.flat != nullptr && index.symbol == plan_.flat->symbol) return true;
    return (index.symbol == plan_.row.variable->symbol && limit.bound == plan_.row.bound[0]) ||
           (index.symbol == plan_.col.variable->symbol && limit.bound == plan_.col.bound[0]);
  }

  Refused SortDeclaration(const source::Node& declaration) {
    if (std::find(serving_.begin(), serving_.end(), &declaration) != serving_.end()) return std::nullopt;
    for (const auto& variable : declaration.children) {
      if (!variable->Is(source::NodeKind::kVariable))
        return At(declaration.line, "a declaration that is not understood");
      if (variable.get() == plan_.row.variable || variable.get() == plan_.col.variable || variable.get() == plan_.flat)
        continue;
      for (const auto& initializer : variable->children) {
        if (auto impure = ImpureExpression(ast_, *initializer)) return At(impure->line, impure->reason);
      }
      declared_.push_back(variable.get());
      if (variable->size() != 1 || !analysis().Find(variable->symbol)->writes.empty()) continue;
      if (IsBatchIndex((*variable)[0])) {
        batch_.insert(variable->symbol);
        plan_.uniform.push_back(variable.get());
      } else if (NeedsOf((*variable)[0]).uniform()) {
        plan_.uniform.push_back(variable.get());
      }
    }
    return std::nullopt;
  }

  Refused FindProduct() {
    const source::Node& body = plan_.loop.body();
    std::vector<const source::Node*> inner;
    const source::Node* update = nullptr;
    std::vector<const source::Node*> statements;
    if (body.Is(source::NodeKind::kBlock)) {
      for (const auto& child : body.children) statements.push_back(child.get());
    } else {
      statements.push_back(&body);
    }
    for (const source::Node* statement : statements) {
      if (statement->Is(source::NodeKind::kDeclaration)) {
        for (const auto& variable : statement->children) {
          if (!variable->Is(source::NodeKind::kVariable) || variable->size() != 1 ||
              !analysis().Find(variable->symbol)->writes.empty())
            return At(statement->line, "a variable of the loop that is not defined once");
          if (auto impure = ImpureExpression(ast_, (*variable)[0])) return At(impure->line, impure->reason);
          inner.push_back(variable.get());
        }
      } else if (update != nullptr) {
        return At(statement->line, fmt::format("the loop over {} does more than add a product", plan_.loop.name));
      } else {
        update = statement;
      }
    }
    std::vector<const source::Node*> factors;
    if (auto refusal = MatchUpdate(update, factors)) return refusal;
    std::vector<const source::Node*> candidates = declared_;
    candidates.insert(candidates.end(), inner.begin(), inner.end());
    std::erase_if(candidates, [&](const source::Node* variable) {
      return std::find(plan_.uniform.begin(), plan_.uniform.end(), variable) != plan_.uniform.end();
    });
    for (const source::Node* variable : declared_)
      if (variable != plan_.sum &&
          std::find(plan_.uniform.begin(), plan_.uniform.end(), variable) == plan_.uniform.end())
        plan_.varying.push_back(variable);
    for (const source::Node* factor : factors) {
      if (auto impure = ImpureExpression(ast_, *factor)) return At(impure->line, impure->reason);
      const Needs needs = NeedsOf(*factor);
      if (needs.thread)
        return At(factor->line, fmt::format("\"{}\" depends on more than the row, the column and {}",
                                            kernel_.syntax.Text(*factor), plan_.loop.name));
      if (needs.flat)
        return At(factor->line, fmt::format("\"{}\" uses {} other than through the row and the column",
                                            kernel_.syntax.Text(*factor), plan_.flat->name));
      if (needs.row && needs.col)
        return At(factor->line, fmt::format("\"{}\" depends on the row and on the column: not a matrix product",
                                            kernel_.syntax.Text(*factor)));
      (needs.col ? plan_.right : plan_.left).factors.push_back(factor);
    }
    for (Operand* operand : {&plan_.left, &plan_.right}) {
      if (operand->factors.empty()) return At(update->line, "the product has no factor for the row or for the column");
      if (auto refusal = DescribeOperand(*operand, candidates)) return refusal;
    }
    for (const source::Node* part : {plan_.loop.start, plan_.loop.bound}) {
      if (!NeedsOf(*part).uniform())
        return At(part->line, fmt::format("the bounds of the loop over {} differ between results", plan_.loop.name));
    }
    return std::nullopt;
  }

  // sum += a * b, sum = sum + a * b, sum = fmaf(a, b, sum)
  Refused MatchUpdate(const source::Node* update, std::vector<const source::Node*>& factors) {
    const auto not_a_product = [&](int line) {
      return At(line, fmt::format("the loop over {} does not add products to one variable", plan_.loop.name));
    };
    if (update == nullptr) return not_a_product(plan_.loop.loop->line);
    if (!update->Is(source::NodeKind::kAssign) || update->size() != 2) return not_a_product(update->line);
    if (!(*update)[0].Is(source::NodeKind::kName))
      return At(update->line, "the sum is kept in memory; keep it in a local variable");
    const std::string& symbol = (*update)[0].symbol;
    const auto is_sum = [&](const source::Node& node) {
      return node.Is(source::NodeKind::kName) && node.symbol == symbol;
    };
    const source::Node& value = (*update)[1];
    static const std::set<std::string> kFused = {"fma", "fmaf", "__fmaf_rn", "__fma_rn"};
    const source::Node* product = nullptr;
    if (update->name == "+=") {
      product = &value;
    } else if (update->name == "=" && value.Is(source::NodeKind::kBinary, "+")) {
      if (is_sum(value[0])) product = &value[1];
      else if (is_sum(value[1])) product = &value[0];
    } else if (update->name == "=" && value.Is(source::NodeKind::kCall) && value.size() == 3 &&
               kFused.contains(value.name) && is_sum(value[2])) {
      FlattenProduct(analysis(), value[0], false, factors);
      FlattenProduct(analysis(), value[1], false, factors);
    }
    if (product != nullptr) FlattenProduct(analysis(), *product, false, factors);
    if (factors.size() < 2) return not_a_product(update->line);
    for (const source::Node* factor : factors)
      if (MentionsSymbol(*factor, symbol)) return not_a_product(update->line);
    const source::VariableInfo* info = analysis().Find(symbol);
    if (info == nullptr || info->declaration == nullptr || source::Contains(*plan_.loop.loop, *info->declaration))
      return not_a_product(update->line);
    plan_.sum = info->declaration;
    return CheckSum(*info);
  }

  Refused CheckSum(const source::VariableInfo& info) {
    const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(plan_.sum->cursor)).kind;
    const std::vector<CXCursor> parameters = source::ast::TemplateParameters(kernel_.syntax.cursor);
    const bool templated = std::any_of(parameters.begin(), parameters.end(), [&](const CXCursor& parameter) {
      return source::ast::Spelling(parameter) == plan_.sum->type;
    });
    const bool builtin =
        kind >= CXType_UInt && kind <= CXType_Double && kind != CXType_UInt128 && kind != CXType_Int128;
    if (!builtin && !templated)
      return At(plan_.sum->line, fmt::format("the sum is of type {}; accumulate in float", plan_.sum->type));
    if (plan_.sum->size() == 1) plan_.start = &(*plan_.sum)[0];
    for (const source::Node* write : info.writes) {
      if (write->begin >= plan_.loop.loop->begin) continue;
      const auto found = std::find(plan_.epilogue.begin(), plan_.epilogue.end(), write);
      if (found == plan_.epilogue.end() || !write->Is(source::NodeKind::kAssign, "=") ||
          !(*write)[0].Is(source::NodeKind::kName))
        return At(write->line, fmt::format("how {} starts is not clear", info.name));
      plan_.start = &(*write)[1];
      plan_.epilogue.erase(found);
    }
    if (plan_.start == nullptr) return At(plan_.sum->line, fmt::format("{} has no value before the loop", info.name));
    if (IsLiteral(kernel_.syntax, *plan_.start, 0)) plan_.start = nullptr;
    for (const source::Node* use : info.uses)
      if (use->begin < plan_.loop.loop->begin && !use->parent->Is(source::NodeKind::kAssign))
        return At(use->line, fmt::format("{} is used before the loop", info.name));
    return std::nullopt;
  }

  Refused DescribeOperand(Operand& operand, const std::vector<const source::Node*>& candidates) {
    operand.declarations = NeededDeclarations(kernel_, operand.factors, candidates);
    for (const source::Node* variable : operand.declarations) {
      if (variable == plan_.sum || variable->size() != 1 || !analysis().Find(variable->symbol)->writes.empty())
        return At(variable->line, fmt::format("{} changes, and the product needs it", variable->name));
    }
    // The type in which the source multiplies: that of the only factor, or of the first that is a variable or an
    // expression of known type.
    const source::Node& first = *operand.factors[0];
    const CXType type = clang_getCanonicalType(clang_getCursorType(first.cursor));
    const bool builtin = type.kind >= CXType_Bool && type.kind <= CXType_Double && type.kind != CXType_UInt128 &&
                         type.kind != CXType_Int128;
    if (builtin && operand.factors.size() == 1) {
      CXString text = clang_getTypeSpelling(clang_getUnqualifiedType(type));
      operand.type = clang_getCString(text);
      clang_disposeString(text);
      for (const char* qualifier : {"const ", "volatile "})
        if (operand.type.starts_with(qualifier)) operand.type = operand.type.substr(std::string_view(qualifier).size());
    } else if (type.kind == CXType_Record) {
      return At(first.line, fmt::format("\"{}\" is of type {}; convert it before multiplying",
                                        kernel_.syntax.Text(first), first.type));
    }
    operand.along_k = AlongK(operand);
    return std::nullopt;
  }

  // The direction in which neighbouring threads should walk: along k if that has unit stride.
  bool AlongK(const Operand& operand) const {
    const bool left = &operand == &plan_.left;
    const std::string iteration = plan_.loop.variable + "#";
    std::vector<const source::Node*> roots = operand.factors;
    roots.insert(roots.end(), operand.declarations.begin(), operand.declarations.end());
    for (const source::Node* root_node : roots) {
      for (const MemoryAccess& access : GlobalAccesses(kernel_, *root_node)) {
        if (!access.index) continue;
        const auto step = access.index->Coefficient(iteration);
        if (step && step->constant() == 1) return true;
        if (step && *step != source::Polynomial()) return false;
      }
    }
    return left;
  }

  Refused CheckMemory() {
    const std::vector<MemoryAccess> all = GlobalAccesses(kernel_, root());
    for (const MemoryAccess& access : all) {
      const bool in_product = source::Contains(*plan_.loop.loop, *access.node);
      if (!in_product || access.writes) {
        if (in_product) return At(access.line, "the loop writes memory");
        continue;
      }
      for (const MemoryAccess& write : all)
        if (write.writes && (write.base.empty() || write.base == access.base))
          return At(write.line, "writes the array that the product reads");
    }
    for (const source::Node* statement : plan_.epilogue) {
      Refused refusal;
      source::Walk(*statement, [&](const source::Node& node) {
        const bool loop = node.Is(source::NodeKind::kFor) || node.Is(source::NodeKind::kWhile) ||
                          node.Is(source::NodeKind::kDo) || node.Is(source::NodeKind::kSwitch);
        if (loop && !source::Collect(node, source::NodeKind::kReturn).empty())
          refusal = At(node.line, "return inside a loop of the epilogue");
        if (node.Is(source::NodeKind::kLambda)) refusal = At(node.line, "holds a lambda");
        return !refusal;
      });
      if (refusal) return refusal;
      // Code before the loop moves after it: it must not change what the loop uses.
      if (statement->begin > plan_.loop.loop->begin) continue;
      for (const auto& [symbol, info] : analysis().variables()) {
        const bool writes = std::any_of(info.writes.begin(), info.writes.end(), [&](const source::Node* write) {
          return source::Contains(*statement, *write);
        });
        if (writes && MentionsSymbol(*plan_.loop.loop, symbol))
          return At(statement->line, fmt::format("{} is changed before the loop", info.name));
      }
    }
    return std::nullopt;
  }

  const source::Ast& ast_;
  const AnalyzedFunction& kernel_;
  TilePlan plan_;
  bool wrapped_ = false;
  std::vector<const source::Node*> guarded_;  // statements around the loop, in source order
  std::vector<const source::Node*> serving_;
  std::vector<const source::Node*> declared_;  // kVariable before the loop
  std::set<std::string> batch_;                // symbols
};

}  // namespace

std::vector<const source::Node*> NeededDeclarations(const AnalyzedFunction& kernel,
                                                    const std::vector<const source::Node*>& roots,
                                                    const std::vector<const source::Node*>& candidates) {
  std::set<const source::Node*> needed;
  std::vector<const source::Node*> open = roots;
  while (!open.empty()) {
    const source::Node* at = open.back();
    open.pop_back();
    source::ForEach(*at, [&](const source::Node& node) {
      if (!node.Is(source::NodeKind::kName)) return;
      const source::VariableInfo* info = kernel.analysis.Find(node.symbol);
      if (info == nullptr || info->declaration == nullptr) return;
      if (std::find(candidates.begin(), candidates.end(), info->declaration) == candidates.end()) return;
      if (needed.insert(info->declaration).second) open.push_back(info->declaration);
    });
  }
  std::vector<const source::Node*> ordered(needed.begin(), needed.end());
  std::sort(ordered.begin(), ordered.end(), [](const source::Node* a, const source::Node* b) {
    return a->begin < b->begin || (a->begin == b->begin && a->end < b->end);
  });
  return ordered;
}

Checked<TilePlan> PlanTiles(const source::Ast& ast, const KernelSite& site) { return TilePlanner(ast, site).Run(); }

}  // namespace warpwright::rewrite

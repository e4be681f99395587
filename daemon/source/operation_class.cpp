// Which class of operation a kernel belongs to, where nothing better is known than its source. The rules are ordered
// from the most to the least specific; the first that matches decides.
#include <algorithm>
#include <set>

#include "source/analysis.h"
#include "source/features.h"

namespace warpwright::source {
namespace {

class Classifier {
 public:
  Classifier(const FunctionAnalysis& analysis, const core::StaticFeatures& features)
      : analysis_(analysis), features_(features), accesses_(analysis.Accesses()) {
    ForEach(*analysis.function().body, [&](const Node& node) {
      if (node.Is(NodeKind::kFor) || node.Is(NodeKind::kWhile) || node.Is(NodeKind::kDo)) loops_.push_back(&node);
    });
  }

  SourceClass Classify() const {
    const Products products = FindProducts();
    if (!products.any && !features_.tensor_cores) return {WithoutProducts(), false};
    const bool plain = (products.plain || !products.any) && !TakesMaximum();
    return {plain ? core::OperationClass::kMatmul : core::OperationClass::kUnknown, true};
  }

 private:
  core::OperationClass WithoutProducts() const {
    if (IsHistogram()) return core::OperationClass::kHistogram;
    if (IsScan()) return core::OperationClass::kScan;
    if (IsReduction()) {
      if (WritesWholeRows()) return core::OperationClass::kRowNormalization;
      return IsFullReduction() ? core::OperationClass::kFullReduction : core::OperationClass::kRowReduction;
    }
    if (IsTranspose()) return core::OperationClass::kTranspose;
    if (IsGather()) return core::OperationClass::kGather;
    if (IsStencil()) return core::OperationClass::kStencil;
    if (IsElementwise()) return core::OperationClass::kElementwise;
    return core::OperationClass::kUnknown;
  }

  bool IsGlobal(const Access& access) const {
    const VariableInfo* info = analysis_.Find(access.base);
    return info != nullptr && info->parameter != nullptr;
  }
  bool IsShared(const Access& access) const {
    const VariableInfo* info = analysis_.Find(access.base);
    return info != nullptr && info->declaration != nullptr &&
           ast::HasAttribute(info->declaration->cursor, CXCursor_CUDASharedAttr);
  }
  const Access* AccessAt(const Node& node) const {
    const auto found =
        std::find_if(accesses_.begin(), accesses_.end(), [&](const Access& a) { return a.node == &node; });
    return found == accesses_.end() ? nullptr : &*found;
  }

  // The single load that an expression consists of: through casts and conversions, __half2float(x[i]), and variables (v
  // = x[i]).
  const Access* LoadIn(const Node& expression, int depth = 0) const {
    const Access* found = nullptr;
    bool several = false;
    ForEach(expression, [&](const Node& node) {
      const Access* access = AccessAt(node);
      if (access == nullptr && node.Is(NodeKind::kName) && depth < 4) {
        const Node* definition = analysis_.Definition(node.symbol);
        const VariableInfo* info = analysis_.Find(node.symbol);
        const bool pointer = info != nullptr && info->type.find('*') != std::string::npos;
        if (definition != nullptr && !pointer) access = LoadIn(*definition, depth + 1);
      }
      if (access == nullptr || !access->reads || access == found) return;
      several |= found != nullptr;
      found = access;
    });
    return several ? nullptr : found;
  }

  // Symbols of the index that differ between threads or blocks: rows and columns, whatever their names.
  std::set<std::string> Places(const Polynomial& index) const {
    std::set<std::string> places;
    for (const std::string& symbol : index.Symbols()) {
      const Dependence depends = analysis_.DependsOn(Polynomial::Symbol(symbol));
      const bool iterates = symbol.ends_with("#");
      if (!iterates && (depends.thread || depends.block) && !depends.memory) places.insert(symbol);
    }
    return places;
  }

  // acc += a[row, k] * b[k, col]: a product of two loads that both advance with one loop and belong to different
  // positions.
  struct LoadPair {
    const Access *left, *right;
  };
  std::optional<LoadPair> ProductOfLoads(const Node& value) const {
    const Node& product = StripCasts(value);
    std::vector<const Node*> factors;
    if (product.Is(NodeKind::kBinary, "*") && product.size() == 2) factors = {&product[0], &product[1]};
    if (product.Is(NodeKind::kCall) && product.size() >= 2 &&
        (product.name.find("fma") != std::string::npos || product.name == "__hmul"))
      factors = {&product[0], &product[1]};
    if (factors.size() != 2) return std::nullopt;
    const Access* left = LoadIn(*factors[0]);
    const Access* right = LoadIn(*factors[1]);
    if (left == nullptr || right == nullptr || left == right) return std::nullopt;
    const std::set<std::string> rows = Places(left->index), columns = Places(right->index);
    if (rows.empty() || columns.empty() || rows == columns) return std::nullopt;
    if (Iterating(left->index).empty() || Iterating(right->index).empty()) return std::nullopt;
    return LoadPair{left, right};
  }
  static std::vector<std::string> Iterating(const Polynomial& index) {
    std::vector<std::string> symbols = index.Symbols();
    std::erase_if(symbols, [](const std::string& symbol) { return !symbol.ends_with("#"); });
    return symbols;
  }

  // What loops sum up: products of loads, and whether one of them can be a step of a matrix product.
  struct Products {
    bool any = false, plain = false;
  };
  Products FindProducts() const {
    Products found;
    const auto add = [&](const LoadPair& pair) {
      found.any = true;
      found.plain =
          found.plain || (HasOneInnerDimension(pair) && !SlidesWindow(*pair.left) && !SlidesWindow(*pair.right));
    };
    for (const Node* loop : loops_) {
      for (const Accumulator& accumulator : AccumulatorsOf(analysis_, *loop))
        if (accumulator.kind == Accumulator::Kind::kSum)
          if (const auto pair = ProductOfLoads(*accumulator.value)) add(*pair);
      // Register tiles: acc[i][j] += a[i] * b[j].
      ForEach(*loop, [&](const Node& node) {
        if (!node.Is(NodeKind::kAssign, "+=") || !node[0].Is(NodeKind::kSubscript)) return;
        const Node& product = StripCasts(node[1]);
        if (!product.Is(NodeKind::kBinary, "*") || product.size() != 2) return;
        if (const auto pair = ProductOfLoads(node[1])) add(*pair);
        if (node[0][0].Is(NodeKind::kSubscript) && product[0].Is(NodeKind::kSubscript) &&
            product[1].Is(NodeKind::kSubscript))
          found.any = found.plain = true;
      });
    }
    return found;
  }
  // The loop variables that both operands advance with walk one dimension, if in tiles: the sums of a convolution run
  // over channels and a window.
  bool HasOneInnerDimension(const LoadPair& pair) const {
    std::vector<Polynomial> steps;
    for (const std::string& symbol : Iterating(pair.left->index)) {
      const auto step = pair.left->index.Coefficient(symbol);
      if (!step || !pair.right->index.Mentions(symbol)) continue;
      steps.push_back(*step);
    }
    return std::all_of(steps.begin(), steps.end(), [&](const Polynomial& step) {
      return step == steps[0] || (step.constant() && steps[0].constant());
    });
  }
  // Neighbouring results read some of the same elements: a step of a place is a few steps of a loop.
  bool SlidesWindow(const Access& access) const {
    for (const Node* loop : loops_) {
      const auto counted = analysis_.Counted(*loop);
      const auto step = counted ? access.index.Coefficient(counted->variable + "#") : std::nullopt;
      if (!step || *step == Polynomial()) continue;
      for (const std::string& place : Places(access.index)) {
        const auto across = access.index.Coefficient(place);
        if (!across || *across == Polynomial()) continue;
        if (*across == *step) return true;
        const auto ratio = across->constant() && step->constant() && *step->constant() != 0
                               ? std::optional(*across->constant() / *step->constant())
                               : std::nullopt;
        if (ratio && *ratio >= 1 && analysis_.TripCount(*counted).value_or(1024) > *ratio) return true;
      }
    }
    return false;
  }
  // A row's maximum beside a product: an attention's.
  bool TakesMaximum() const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const Node* loop) {
      const auto accumulators = AccumulatorsOf(analysis_, *loop);
      return std::any_of(accumulators.begin(), accumulators.end(),
                         [](const Accumulator& a) { return a.kind == Accumulator::Kind::kMaximum; });
    });
  }

  bool IsHistogram() const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      if (!access.atomic || !access.node->name.starts_with("atomic") || access.node->size() < 2) return false;
      return analysis_.DependsOn(access.index).memory && !analysis_.DependsOn((*access.node)[1]).memory;
    });
  }

  bool IsScan() const {
    // A running sum that is stored at every step.
    for (const Node* loop : loops_) {
      const auto counted = analysis_.Counted(*loop);
      if (!counted) continue;
      for (const auto& [symbol, info] : analysis_.variables()) {
        if (info.declaration == nullptr || Contains(*loop, *info.declaration) ||
            info.type.find('*') != std::string::npos)
          continue;
        bool sums = false, stored = false;
        for (const Node* use : info.uses) {
          if (!Contains(*loop, *use) || use->parent == nullptr || !use->parent->Is(NodeKind::kAssign)) continue;
          const Node& assignment = *use->parent;
          if (&assignment[0] == use && assignment.name == "+=") sums = true;
          const Access* target = assignment.size() == 2 && &assignment[1] == use ? AccessAt(assignment[0]) : nullptr;
          stored |= target != nullptr && IsGlobal(*target) && target->index.Mentions(counted->variable + "#");
        }
        if (sums && stored) return true;
      }
    }
    // temp[tid] += temp[tid - offset], as Hillis and Steele do it.
    for (const Access& access : accesses_) {
      if (!IsShared(access) || !access.reads) continue;
      const auto thread = access.index.Coefficient("threadIdx.x");
      if (!thread || *thread != Polynomial::Constant(1)) continue;
      for (const std::string& symbol : access.index.Without("threadIdx.x").Symbols()) {
        const auto offset = access.index.Coefficient(symbol);
        const VariableInfo* info = analysis_.Find(symbol);
        if (offset && offset->constant().value_or(0) < 0 && info != nullptr && !info->writes.empty()) return true;
      }
    }
    return false;
  }

  bool IsReduction() const {
    for (const Node* loop : loops_) {
      const auto counted = analysis_.Counted(*loop);
      for (const Accumulator& accumulator : AccumulatorsOf(analysis_, *loop)) {
        bool loads = false;
        ForEach(*accumulator.update, [&](const Node& node) { loads |= AccessAt(node) != nullptr; });
        loads |= analysis_.DependsOn(*accumulator.value).memory;
        const bool shuffle_step =
            accumulator.value->Is(NodeKind::kCall) && accumulator.value->name.starts_with("__shfl");
        if (counted && loads && !shuffle_step && analysis_.TripCount(*counted).value_or(1024) >= 16) return true;
      }
      // An index that goes with a maximum: if (x[c] > best) { best = x[c]; at = c; }
      if (counted && HasArgExtremum(*loop)) return true;
    }
    // No loop over the data, but a tree: shared memory or shuffles, and one value per block.
    const bool tree =
        (features_.shuffles > 0 || features_.shared_bytes > 0 || features_.dynamic_shared) && HasSharedTree();
    return tree || (features_.shuffles > 0 && !loops_.empty() && WritesFewer());
  }

  bool HasArgExtremum(const Node& loop) const {
    bool found = false;
    ForEach(loop, [&](const Node& node) {
      if (!node.Is(NodeKind::kIf) || !node[kIfCondition].Is(NodeKind::kBinary) || node[kIfCondition].size() != 2)
        return;
      const Node& condition = node[kIfCondition];
      if (condition.name != ">" && condition.name != "<" && condition.name != ">=" && condition.name != "<=") return;
      for (const Node* assignment : Collect(node[kIfThen], NodeKind::kAssign)) {
        if (assignment->name != "=" || !(*assignment)[0].Is(NodeKind::kName)) continue;
        const std::string& symbol = (*assignment)[0].symbol;
        for (size_t side : {0, 1})
          found |= condition[side].Is(NodeKind::kName) && condition[side].symbol == symbol &&
                   analysis_.DependsOn(condition[1 - side]).memory;
      }
    });
    return found;
  }

  // s[tid] += s[tid + stride]
  bool HasSharedTree() const {
    bool found = false;
    ForEach(*analysis_.function().body, [&](const Node& node) {
      if (!node.Is(NodeKind::kAssign) || node.size() != 2) return;
      const Access* target = AccessAt(node[0]);
      if (target == nullptr || !IsShared(*target) || !target->writes) return;
      ForEach(node[1], [&](const Node& part) {
        const Access* source = AccessAt(part);
        found |= source != nullptr && source->base == target->base && source->index != target->index;
      });
    });
    return found;
  }

  bool WritesFewer() const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      return IsGlobal(access) && access.writes && !analysis_.DependsOn(access.index).thread;
    });
  }

  // Stores indexed by the loop variable, or one store per loaded element.
  bool WritesWholeRows() const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      if (!IsGlobal(access) || !access.writes || access.atomic) return false;
      const auto symbols = access.index.Symbols();
      return std::any_of(symbols.begin(), symbols.end(), [](const std::string& s) { return s.ends_with("#"); });
    });
  }

  bool IsFullReduction() const {
    bool all_fixed = true, any = false;
    for (const Access& access : accesses_) {
      if (!IsGlobal(access) || !access.writes) continue;
      any = true;
      const Dependence depends = analysis_.DependsOn(access.index);
      // One result, or one per block of a grid that collectively traverses all elements.
      const bool fixed = !depends.thread && !depends.block;
      const bool per_block = !depends.thread && access.index == Polynomial::Symbol("blockIdx.x") && LoadsAcrossBlocks();
      all_fixed &= fixed || per_block;
    }
    return any && all_fixed;
  }
  bool LoadsAcrossBlocks() const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      if (!IsGlobal(access) || !access.reads) return false;
      const auto block = access.index.Coefficient("blockIdx.x");
      return block && (block->Mentions("blockDim.x") || block->constant().has_value()) && *block != Polynomial() &&
             access.index.Mentions("threadIdx.x");
    });
  }

  bool IsTranspose() const {
    bool swapped_tile = false, moved = false;
    std::set<std::string> tiles;
    for (const Access& access : accesses_) {
      if (!IsShared(access)) continue;
      const auto x = access.index.Coefficient("threadIdx.x"), y = access.index.Coefficient("threadIdx.y");
      if (!x || !y || *x == Polynomial() || *y == Polynomial()) continue;
      const std::string order = *x == Polynomial::Constant(1) ? "rows " : "columns ";
      tiles.insert(order + access.base);
      swapped_tile |= tiles.contains("rows " + access.base) && tiles.contains("columns " + access.base);
    }
    for (const Node* assignment : Collect(*analysis_.function().body, NodeKind::kAssign)) {
      const Access* target = assignment->size() == 2 ? AccessAt((*assignment)[0]) : nullptr;
      const Access* source = target == nullptr ? nullptr : LoadIn((*assignment)[1]);
      if (source == nullptr || !IsGlobal(*target) || !IsGlobal(*source) || target->base == source->base) continue;
      const std::set<std::string> a = Places(target->index), b = Places(source->index);
      moved |=
          a == b && a.size() >= 2 && target->index != source->index && SwapsStrides(target->index, source->index, a);
    }
    return moved || (swapped_tile && features_.atomics == 0);
  }
  // Two position symbols, each with stride 1 on one side only.
  static bool SwapsStrides(const Polynomial& a, const Polynomial& b, const std::set<std::string>& places) {
    bool first = false, second = false;
    for (const std::string& place : places) {
      const auto in_a = a.Coefficient(place), in_b = b.Coefficient(place);
      if (!in_a || !in_b) return false;
      const bool unit_a = *in_a == Polynomial::Constant(1), unit_b = *in_b == Polynomial::Constant(1);
      first |= unit_a && !unit_b;
      second |= unit_b && !unit_a;
    }
    return first && second;
  }

  bool IsGather() const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      return IsGlobal(access) && analysis_.DependsOn(access.index).memory;
    });
  }

  // One array read at several fixed offsets from the position that is written.
  bool IsStencil() const {
    for (const Access& center : accesses_) {
      if (!center.reads || center.atomic || (!IsGlobal(center) && !IsShared(center))) continue;
      std::set<std::string> neighbours;
      for (const Access& other : accesses_) {
        if (other.base != center.base || !other.reads || other.index == center.index) continue;
        const Polynomial distance = other.index - center.index;
        const Dependence depends = analysis_.DependsOn(distance);
        if (!depends.thread && !depends.block && !depends.memory && !Places(center.index).empty())
          neighbours.insert(distance.ToString());
      }
      if (neighbours.size() >= 2) return true;
    }
    // Offsets in loops of constant length: x[i + d] for d in -R..R.
    for (const Node* loop : loops_) {
      const auto counted = analysis_.Counted(*loop);
      if (!counted || analysis_.TripCount(*counted).value_or(1024) >= 16) continue;
      for (const Accumulator& accumulator : AccumulatorsOf(analysis_, *loop)) {
        bool neighbour = false;
        ForEach(*accumulator.value, [&](const Node& node) {
          const Access* access = AccessAt(node);
          neighbour |=
              access != nullptr && access->index.Mentions(counted->variable + "#") && !Places(access->index).empty();
        });
        if (neighbour) return true;
      }
    }
    return false;
  }

  bool IsElementwise() const {
    bool writes = false;
    for (const Access& access : accesses_) {
      if (!IsGlobal(access) || !access.writes) continue;
      if (access.atomic || Places(access.index).empty()) return false;
      writes = true;
    }
    return writes && features_.barriers == 0 && features_.shuffles == 0;
  }

  const FunctionAnalysis& analysis_;
  const core::StaticFeatures& features_;
  std::vector<Access> accesses_;
  std::vector<const Node*> loops_;
};

}  // namespace

SourceClass ClassifyOperation(const FunctionAnalysis& analysis, const core::StaticFeatures& features) {
  return Classifier(analysis, features).Classify();
}

}  // namespace warpwright::source

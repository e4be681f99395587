#include "rewrite/tile_matmul_axes.h"

#include <fmt/core.h>

#include <algorithm>

namespace warpwright::rewrite {

void FlattenProduct(const source::FunctionAnalysis& analysis, const source::Node& expression, bool through_definitions,
                    std::vector<const source::Node*>& factors) {
  const source::Node& plain = through_definitions ? source::StripCasts(expression) : expression;
  if (plain.Is(source::NodeKind::kBinary, "*") && plain.size() == 2) {
    FlattenProduct(analysis, plain[0], through_definitions, factors);
    FlattenProduct(analysis, plain[1], through_definitions, factors);
    return;
  }
  if (through_definitions && plain.Is(source::NodeKind::kName)) {
    const source::Node* definition = analysis.Definition(plain.symbol);
    if (definition != nullptr && source::StripCasts(*definition).Is(source::NodeKind::kBinary, "*")) {
      FlattenProduct(analysis, *definition, true, factors);
      return;
    }
  }
  factors.push_back(&plain);
}

namespace {

class AxisFinder {
 public:
  AxisFinder(const AnalyzedFunction& kernel, const std::vector<source::BoundsGuard>& guards)
      : kernel_(kernel), guards_(guards) {}

  Checked<ResultAxes> Run() {
    if (auto refusal = FindAxes()) return tl::unexpected(*refusal);
    return std::move(result_);
  }

 private:
  using Refused = std::optional<core::RewriteRefusal>;
  static core::RewriteRefusal At(int line, std::string reason) { return RefuseAt(line, std::move(reason)).value(); }
  const source::Node& root() const { return *kernel_.syntax.body; }
  const source::FunctionAnalysis& analysis() const { return kernel_.analysis; }

  // Two thread indices, or one that is split.
  Refused FindAxes() {
    const source::Node* by_axis[2] = {nullptr, nullptr};
    source::ForEach(root(), [&](const source::Node& node) {
      if (!node.Is(source::NodeKind::kVariable) || node.size() != 1 || !analysis().Find(node.symbol)->writes.empty())
        return;
      if (by_axis[0] == nullptr && IsThreadIndex(analysis(), node[0], "x")) by_axis[0] = &node;
      if (by_axis[1] == nullptr && IsThreadIndex(analysis(), node[0], "y")) by_axis[1] = &node;
    });
    if (by_axis[0] == nullptr) return At(root().line, "no variable is blockIdx.x * blockDim.x + threadIdx.x");
    if (by_axis[1] == nullptr) return FindFlatAxes(*by_axis[0]);
    // The column is the one along which results are adjacent in memory; x if the results do not tell.
    size_t column = 0;
    for (const MemoryAccess& access : GlobalAccesses(kernel_, root())) {
      if (!access.writes || !access.index) continue;
      const auto y = access.index->Coefficient("threadIdx.y"), x = access.index->Coefficient("threadIdx.x");
      if (y && y->constant() == 1 && !(x && x->constant() == 1)) column = 1;
    }
    result_.col.variable = by_axis[column];
    result_.col.grid_axis = column;
    result_.row.variable = by_axis[1 - column];
    result_.row.grid_axis = 1 - column;
    for (ResultAxis* axis : {&result_.row, &result_.col}) {
      const source::Node* bound = BoundOf(*axis->variable);
      if (bound == nullptr)
        return At(axis->variable->line, fmt::format("no guard compares {} with its bound", axis->name()));
      axis->bound = {bound};
    }
    return std::nullopt;
  }

  const source::Node* BoundOf(const source::Node& variable) const {
    for (const source::BoundsGuard& guard : guards_) {
      for (const source::BoundsGuard::Limit& limit : guard.limits) {
        const source::Node& index = source::StripCasts(*limit.index);
        if (index.Is(source::NodeKind::kName) && index.symbol == variable.symbol &&
            !analysis().DependsOn(*limit.bound).thread)
          return limit.bound;
      }
    }
    return nullptr;
  }

  // col = idx % N; row = idx / N, or (idx / N) % M with the rest as batches; idx < batches * M * N.
  Refused FindFlatAxes(const source::Node& flat) {
    const auto is_flat = [&](const source::Node& node) {
      const source::Node& plain = source::StripCasts(node);
      return plain.Is(source::NodeKind::kName) && plain.symbol == flat.symbol;
    };
    const source::Node *width = nullptr, *height = nullptr;
    source::ForEach(root(), [&](const source::Node& node) {
      if (!node.Is(source::NodeKind::kVariable) || node.size() != 1 || !analysis().Find(node.symbol)->writes.empty())
        return;
      const source::Node& value = source::StripCasts(node[0]);
      if (value.Is(source::NodeKind::kBinary, "%") && is_flat(value[0]) && result_.col.variable == nullptr) {
        result_.col.variable = &node;
        width = &value[1];
      }
    });
    if (width == nullptr) width = FindRemainder(flat);
    if (width == nullptr)
      return At(flat.line, fmt::format("{} is not taken apart into a row and a column by / and %", flat.name));
    const auto is_row_part = [&](const source::Node& node) {
      const source::Node& plain = source::StripCasts(node);
      return plain.Is(source::NodeKind::kBinary, "/") && is_flat(plain[0]) &&
             SameExpression(kernel_.syntax, plain[1], *width);
    };
    source::ForEach(root(), [&](const source::Node& node) {
      if (!node.Is(source::NodeKind::kVariable) || node.size() != 1 || result_.row.variable != nullptr) return;
      if (!analysis().Find(node.symbol)->writes.empty()) return;
      const source::Node& value = source::StripCasts(node[0]);
      if (value.Is(source::NodeKind::kBinary, "%") && is_row_part(value[0])) {
        result_.row.variable = &node;
        height = &value[1];
      } else if (is_row_part(value)) {
        result_.row.variable = &node;
      }
    });
    if (result_.row.variable == nullptr)
      return At(flat.line, fmt::format("no variable is the row {} / {}", flat.name, kernel_.syntax.Text(*width)));
    const source::Node* total = BoundOf(flat);
    if (total == nullptr)
      return At(flat.line, fmt::format("no guard compares {} with the number of results", flat.name));
    std::vector<const source::Node*> factors;
    FlattenProduct(analysis(), *total, true, factors);
    for (const source::Node* taken : {width, height}) {
      if (taken == nullptr) continue;
      std::vector<const source::Node*> parts;
      FlattenProduct(analysis(), *taken, true, parts);
      for (const source::Node* part : parts) {
        const auto found = std::find_if(factors.begin(), factors.end(), [&](const source::Node* factor) {
          return SameExpression(kernel_.syntax, *factor, *part);
        });
        if (found == factors.end())
          return At(total->line, fmt::format("{} does not divide the number of results, {}", kernel_.syntax.Text(*part),
                                             kernel_.syntax.Text(*total)));
        factors.erase(found);
      }
    }
    result_.flat = &flat;
    result_.col.bound = {width};
    if (height != nullptr) {
      result_.row.bound = {height};
      result_.batch = factors;
    } else {
      if (factors.empty()) return At(total->line, "the number of rows is one");
      result_.row.bound = factors;
    }
    return std::nullopt;
  }

  // row = idx / N; col = idx - row * N: the column, and N.
  const source::Node* FindRemainder(const source::Node& flat) {
    const source::Node* width = nullptr;
    const auto is_variable = [](const source::Node& node, const std::string& symbol) {
      const source::Node& plain = source::StripCasts(node);
      return plain.Is(source::NodeKind::kName) && plain.symbol == symbol;
    };
    source::ForEach(root(), [&](const source::Node& node) {
      if (width != nullptr || !node.Is(source::NodeKind::kVariable) || node.size() != 1 ||
          !analysis().Find(node.symbol)->writes.empty())
        return;
      const source::Node& value = source::StripCasts(node[0]);
      if (!value.Is(source::NodeKind::kBinary, "-") || !is_variable(value[0], flat.symbol)) return;
      const source::Node& product = source::StripCasts(value[1]);
      if (!product.Is(source::NodeKind::kBinary, "*")) return;
      for (const size_t side : {0, 1}) {
        const source::Node& row = source::StripCasts(product[side]);
        const source::Node* definition = row.Is(source::NodeKind::kName) ? analysis().Definition(row.symbol) : nullptr;
        if (definition == nullptr) continue;
        const source::Node& quotient = source::StripCasts(*definition);
        if (!quotient.Is(source::NodeKind::kBinary, "/") || !is_variable(quotient[0], flat.symbol)) continue;
        if (!SameExpression(kernel_.syntax, source::StripCasts(quotient[1]), source::StripCasts(product[1 - side])))
          continue;
        result_.col.variable = &node;
        width = &quotient[1];
      }
    });
    return width;
  }

  const AnalyzedFunction& kernel_;
  const std::vector<source::BoundsGuard>& guards_;
  ResultAxes result_;
};

}  // namespace

Checked<ResultAxes> FindResultAxes(const AnalyzedFunction& kernel, const std::vector<source::BoundsGuard>& guards) {
  return AxisFinder(kernel, guards).Run();
}

}  // namespace warpwright::rewrite

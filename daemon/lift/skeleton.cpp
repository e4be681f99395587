#include "lift/skeleton.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

namespace warpwright::lift {
namespace {

constexpr uint64_t kMaxPositions = 1 << 14, kMaxValues = 20'000'000;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 12) + (hash >> 4);
  hash *= 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}

using Terms = std::span<const FormTerm>;

// The runs of terms with one signature; terms are sorted by it.
std::vector<Terms> Runs(const FormGraph& forms, Terms terms) {
  std::vector<Terms> runs;
  size_t begin = 0;
  for (size_t i = 1; i <= terms.size(); ++i) {
    if (i < terms.size() && forms[terms[i].node].signature == forms[terms[begin].node].signature) continue;
    runs.push_back(terms.subspan(begin, i - begin));
    begin = i;
  }
  return runs;
}

// Elements that a form loads, in the order of the walk: sorts the terms of sums that are written out.
void LoadsOf(const FormGraph& forms, FormId id, std::vector<int64_t>& out) {
  const FormNode& node = forms[id];
  if (node.op == FormOp::kLoad) out.push_back(node.element);
  if (out.size() > 16) return;
  for (const FormTerm& term : forms.terms(id)) LoadsOf(forms, term.node, out);
}

core::ReduceOp OpOf(Position::Kind kind) {
  return kind == Position::Kind::kMax ? core::ReduceOp::kMax : core::ReduceOp::kMin;
}

// Rows that are the same expression are walked once: every term of a sum may be made of the mean of its group.
struct Distinct {
  std::vector<FormId> rows;
  std::vector<uint32_t> place;  // of each row among these
};
// None: few rows are the same.
std::optional<Distinct> DistinctRows(std::span<const FormId> rows) {
  constexpr size_t kFew = 64, kLookedAt = 1024;
  if (rows.size() < kFew) return std::nullopt;
  const auto looked_at = rows.first(std::min(rows.size(), kLookedAt));
  if (std::unordered_set<FormId>(looked_at.begin(), looked_at.end()).size() > looked_at.size() / 2) return std::nullopt;
  Distinct distinct;
  std::unordered_map<FormId, uint32_t> places;
  distinct.place.reserve(rows.size());
  for (const FormId id : rows) {
    const auto [found, is_new] = places.emplace(id, static_cast<uint32_t>(distinct.rows.size()));
    if (is_new) distinct.rows.push_back(id);
    distinct.place.push_back(found->second);
  }
  if (distinct.rows.size() > rows.size() / 2) return std::nullopt;
  return distinct;
}

// A position of the distinct rows as one of all rows.
void Repeat(Position& position, const std::vector<uint32_t>& place) {
  const auto repeat = [&](auto& column) {
    if (column.empty()) return;
    std::remove_reference_t<decltype(column)> all;
    all.reserve(place.size());
    for (const uint32_t row : place) all.push_back(column[row]);
    column = std::move(all);
  };
  repeat(position.elements);
  repeat(position.values);
  for (auto& coefficients : position.coefficients) repeat(coefficients);
  for (Position& child : position.children) Repeat(child, place);
}

}  // namespace

CellId CellStore::Intern(Cell cell) {
  uint64_t hash = Mix(Mix(static_cast<uint64_t>(cell.op), cell.key), static_cast<uint64_t>(cell.empty_at));
  for (const FormTerm& term : cell.terms) hash = Mix(Mix(hash, term.node), std::hash<double>{}(term.coefficient));
  const auto [begin, end] = ids_.equal_range(hash);
  for (auto found = begin; found != end; ++found) {
    const Cell& other = cells_[found->second];
    if (other.op == cell.op && other.key == cell.key && other.terms == cell.terms && other.empty_at == cell.empty_at)
      return found->second;
  }
  const auto id = static_cast<CellId>(cells_.size());
  cells_.push_back(std::move(cell));
  parent_.push_back(id);
  ids_.emplace(hash, id);
  return id;
}

CellId CellStore::ClassOf(CellId id) {
  while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
  return id;
}

void CellStore::Join(CellId a, CellId b) {
  a = ClassOf(a);
  b = ClassOf(b);
  if (a != b) parent_[std::max(a, b)] = std::min(a, b);
}

Position Lockstep::CellsOf(std::vector<Cell> cells) {
  Position position{.kind = Position::Kind::kCell};
  position.elements.reserve(cells.size());
  for (Cell& cell : cells) {
    const CellId id = cells_.Intern(std::move(cell));
    position.elements.push_back(id);
    cells_.Join(static_cast<CellId>(position.elements.front()), id);
  }
  return position;
}

Fitted<Position> Lockstep::Walk(std::span<const FormId> rows) {
  const auto distinct = DistinctRows(rows);
  if (!distinct) return WalkRows(rows);
  auto position = WalkRows(distinct->rows);
  if (position) Repeat(*position, distinct->place);
  return position;
}

Fitted<Position> Lockstep::WalkRows(std::span<const FormId> rows) {
  values_ += rows.size();
  if (++positions_ > kMaxPositions || values_ > kMaxValues)
    return tl::unexpected(std::string("the expression is too large"));
  const FormNode& node = forms_[rows[0]];
  for (const FormId id : rows)
    if (forms_[id].signature != node.signature)
      return tl::unexpected(std::string("expressions of different structure"));
  for (const FormId id : rows)
    if (forms_[id].op != node.op) return WalkMultiples(rows);
  Position position;
  position.mode = node.mode;
  position.buffer = node.buffer;
  position.line = node.line;
  switch (node.op) {
    case FormOp::kConstant:
      for (const FormId id : rows) position.values.push_back(forms_[id].value);
      return position;
    case FormOp::kScalar: position.kind = Position::Kind::kScalar; return position;
    case FormOp::kLoad:
      position.kind = Position::Kind::kLoad;
      for (const FormId id : rows) position.elements.push_back(forms_[id].element);
      return position;
    case FormOp::kGather: return WalkGather(rows);
    case FormOp::kLinear: return WalkSum(rows);
    case FormOp::kProduct: return WalkProduct(rows);
    case FormOp::kMax: return WalkSet(rows, Position::Kind::kMax);
    case FormOp::kMin: return WalkSet(rows, Position::Kind::kMin);
    case FormOp::kArg: {
      std::vector<Cell> cells;
      for (const FormId id : rows) {
        const Terms terms = forms_.terms(id);
        if (Runs(forms_, terms).size() != 1)
          return tl::unexpected(std::string("an arg reduction over different things"));
        cells.push_back(
            {static_cast<core::ReduceOp>(node.mode), forms_[terms[0].node].signature, {terms.begin(), terms.end()}});
      }
      Position cell = CellsOf(std::move(cells));
      cell.line = node.line;
      return cell;
    }
    case FormOp::kCall: position.kind = Position::Kind::kCall; break;
    case FormOp::kCompare: position.kind = Position::Kind::kCompare; break;
    case FormOp::kAnd: position.kind = Position::Kind::kAnd; break;
    case FormOp::kOr: position.kind = Position::Kind::kOr; break;
    case FormOp::kNot: position.kind = Position::Kind::kNot; break;
    case FormOp::kSelect: position.kind = Position::Kind::kSelect; break;
  }
  if (auto walked = WalkArguments(rows, position); !walked) return tl::unexpected(walked.error());
  return position;
}

// Some rows are a thing, others a multiple of it (FormGraph's signatures do not tell them apart).
Fitted<Position> Lockstep::WalkMultiples(std::span<const FormId> rows) {
  Position position{.kind = Position::Kind::kLinear};
  position.values.assign(rows.size(), 0);
  std::vector<double> coefficients;
  std::vector<FormId> things;
  for (const FormId id : rows) {
    const bool multiple = forms_[id].op == FormOp::kLinear;
    if (multiple && forms_[id].count != 1) return tl::unexpected(std::string("expressions of different structure"));
    coefficients.push_back(multiple ? forms_.terms(id)[0].coefficient : 1);
    things.push_back(multiple ? forms_.terms(id)[0].node : id);
  }
  auto child = Walk(things);
  if (!child) return child;
  position.line = child->line;
  position.children.push_back(std::move(*child));
  position.coefficients.push_back(std::move(coefficients));
  return position;
}

Fitted<void> Lockstep::WalkArguments(std::span<const FormId> rows, Position& position) {
  std::vector<FormId> column(rows.size());
  const uint32_t count = forms_[rows[0]].count;
  for (uint32_t k = 0; k < count; ++k) {
    for (size_t row = 0; row < rows.size(); ++row) {
      if (forms_[rows[row]].count != count) return tl::unexpected(std::string("expressions of different structure"));
      column[row] = forms_.terms(rows[row])[k].node;
    }
    auto child = Walk(column);
    if (!child) return tl::unexpected(child.error());
    position.children.push_back(std::move(*child));
  }
  return {};
}

Fitted<Position> Lockstep::WalkSum(std::span<const FormId> rows) {
  Position position{.kind = Position::Kind::kLinear, .line = forms_[rows[0]].line};
  std::vector<std::vector<Terms>> runs;
  size_t told = 0;  // a row that has terms
  for (const FormId id : rows) {
    position.values.push_back(forms_[id].value);
    runs.push_back(forms_[id].count > 0 ? Runs(forms_, forms_.terms(id)) : std::vector<Terms>());
    if (runs[told].empty()) told = runs.size() - 1;
  }
  const bool any_empty = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.empty(); });
  if (any_empty && runs[told].size() != 1) return tl::unexpected(std::string("sums of different structure"));
  for (auto& run : runs)
    if (run.empty()) run.emplace_back();
  for (size_t group = 0; group < runs[told].size(); ++group) {
    size_t most = 0, least = SIZE_MAX;
    for (const auto& run : runs) {
      most = std::max(most, run[group].size());
      least = std::min(least, run[group].size());
    }
    const uint64_t key = forms_[runs[told][group][0].node].signature;
    std::vector<double> coefficients(rows.size());
    if (most > 1 && !written_out_.contains({core::ReduceOp::kSum, key})) {
      std::vector<Cell> cells;
      for (size_t row = 0; row < rows.size(); ++row) {
        const Terms run = runs[row][group];
        coefficients[row] = (run.empty() ? runs[told] : runs[row])[group][0].coefficient;
        Cell cell{core::ReduceOp::kSum, key, {run.begin(), run.end()}};
        if (run.empty()) cell.empty_at = forms_[rows[row]].element;
        for (FormTerm& term : cell.terms) term.coefficient = RoundLiteral(term.coefficient / coefficients[row], false);
        cells.push_back(std::move(cell));
      }
      position.children.push_back(CellsOf(std::move(cells)));
      position.children.back().line = position.line;
      position.coefficients.push_back(std::move(coefficients));
      continue;
    }
    if (most != least) return tl::unexpected(std::string("sums of different length"));
    const auto negatives = [&](size_t row) {
      const Terms run = runs[row][group];
      return std::count_if(run.begin(), run.end(), [](const FormTerm& term) { return term.coefficient < 0; });
    };
    bool by_sign = true;  // differences: what is subtracted corresponds
    for (size_t row = 1; by_sign && row < rows.size(); ++row) by_sign = negatives(row) == negatives(0);
    std::vector<std::vector<FormTerm>> sorted;
    for (const auto& run : runs) {
      sorted.emplace_back(run[group].begin(), run[group].end());
      if (most == 1) continue;
      std::vector<std::pair<std::vector<int64_t>, FormTerm>> keyed;
      for (const FormTerm& term : sorted.back()) {
        keyed.emplace_back(std::vector<int64_t>{}, term);
        if (by_sign) keyed.back().first.push_back(term.coefficient < 0);
        LoadsOf(forms_, term.node, keyed.back().first);
      }
      std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (size_t k = 0; k < keyed.size(); ++k) sorted.back()[k] = keyed[k].second;
    }
    for (size_t k = 0; k < most; ++k) {
      std::vector<FormId> column(rows.size());
      for (size_t row = 0; row < rows.size(); ++row) {
        column[row] = sorted[row][k].node;
        coefficients[row] = sorted[row][k].coefficient;
      }
      auto child = Walk(column);
      if (!child) return child;
      position.children.push_back(std::move(*child));
      position.coefficients.push_back(coefficients);
    }
  }
  return position;
}

Fitted<Position> Lockstep::WalkSet(std::span<const FormId> rows, Position::Kind kind) {
  Position position{.kind = kind, .line = forms_[rows[0]].line};
  std::vector<std::vector<Terms>> runs;
  for (const FormId id : rows) runs.push_back(Runs(forms_, forms_.terms(id)));
  for (size_t group = 0; group < runs[0].size(); ++group) {
    size_t most = 0;
    for (const auto& run : runs) most = std::max(most, run[group].size());
    const uint64_t key = forms_[runs[0][group][0].node].signature;
    if (most > 1 && written_out_.contains({OpOf(kind), key})) {
      std::vector<Terms> sets;
      for (const auto& run : runs) sets.push_back(run[group]);
      if (auto walked = WalkTermByTerm(sets, position); !walked) return tl::unexpected(walked.error());
      continue;
    }
    if (most > 1) {
      std::vector<Cell> cells;
      for (const auto& run : runs) cells.push_back({OpOf(kind), key, {run[group].begin(), run[group].end()}});
      position.children.push_back(CellsOf(std::move(cells)));
      position.children.back().line = position.line;
      continue;
    }
    std::vector<FormId> column;
    for (const auto& run : runs) column.push_back(run[group][0].node);
    auto child = Walk(column);
    if (!child) return child;
    position.children.push_back(std::move(*child));
  }
  if (position.children.size() == 1) return std::move(position.children[0]);
  return position;
}

// Maxima and minima of a few things that no reduction explains, as sorting networks are made of.
Fitted<void> Lockstep::WalkTermByTerm(const std::vector<Terms>& sets, Position& position) {
  std::vector<std::vector<FormId>> sorted;
  for (const Terms set : sets) {
    if (set.size() != sets[0].size()) return tl::unexpected(std::string("extrema of different length"));
    std::vector<FormId>& row = sorted.emplace_back();
    for (const FormTerm& term : set) row.push_back(term.node);
    order_.Sort(row);
  }
  for (size_t k = 0; k < sets[0].size(); ++k) {
    std::vector<FormId> column;
    for (const std::vector<FormId>& row : sorted) column.push_back(row[k]);
    auto child = Walk(column);
    if (!child) return tl::unexpected(child.error());
    position.children.push_back(std::move(*child));
  }
  return {};
}

Fitted<Position> Lockstep::WalkProduct(std::span<const FormId> rows) {
  Position position{.kind = Position::Kind::kProduct, .line = forms_[rows[0]].line};
  std::vector<std::vector<Terms>> runs;
  for (const FormId id : rows) {
    runs.push_back({});
    // Runs of one signature and one exponent.
    for (const Terms run : Runs(forms_, forms_.terms(id))) {
      size_t begin = 0;
      for (size_t i = 1; i <= run.size(); ++i) {
        if (i < run.size() && (run[i].coefficient == run[begin].coefficient || forms_.expands())) continue;
        runs.back().push_back(run.subspan(begin, i - begin));
        begin = i;
      }
    }
    if (runs.back().size() != runs[0].size()) return tl::unexpected(std::string("products of different structure"));
  }
  for (size_t group = 0; group < runs[0].size(); ++group) {
    size_t most = 0, least = SIZE_MAX;
    for (const auto& run : runs) {
      most = std::max(most, run[group].size());
      least = std::min(least, run[group].size());
    }
    const double exponent = runs[0][group][0].coefficient;
    const bool powers = std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
      return std::any_of(run[group].begin(), run[group].end(),
                         [&](const FormTerm& factor) { return factor.coefficient != exponent; });
    });
    if (powers && most > 1) return tl::unexpected(std::string("products of different powers"));
    if (most > 2 || (most > 1 && forms_.expands())) {
      std::vector<Cell> cells;
      for (const auto& run : runs) {
        Cell cell{
            core::ReduceOp::kProduct, forms_[run[group][0].node].signature, {run[group].begin(), run[group].end()}};
        for (FormTerm& term : cell.terms) term.coefficient = 1;
        cells.push_back(std::move(cell));
      }
      position.children.push_back(CellsOf(std::move(cells)));
      position.children.back().line = position.line;
      position.coefficients.emplace_back(rows.size(), exponent);
      continue;
    }
    if (most != least) return tl::unexpected(std::string("products of different length"));
    for (size_t k = 0; k < most; ++k) {
      std::vector<FormId> column;
      position.coefficients.emplace_back();
      for (const auto& run : runs) {
        column.push_back(run[group][k].node);
        position.coefficients.back().push_back(run[group][k].coefficient);
      }
      auto child = Walk(column);
      if (!child) return child;
      position.children.push_back(std::move(*child));
    }
  }
  return position;
}

Fitted<Position> Lockstep::WalkGather(std::span<const FormId> rows) {
  const FormNode& first = forms_[rows[0]];
  Position position{.kind = Position::Kind::kGather, .buffer = first.buffer, .line = first.line};
  std::vector<FormId> index;
  for (const FormId id : rows) {
    index.push_back(forms_.terms(id)[0].node);
    position.elements.push_back(forms_[id].element);
  }
  auto walked = Walk(index);
  if (!walked) return walked;
  if (walked->kind == Position::Kind::kLinear) {
    position.children = std::move(walked->children);
    position.coefficients = std::move(walked->coefficients);
  } else {
    position.children.push_back(std::move(*walked));
    position.coefficients.emplace_back(rows.size(), 1.0);
  }
  return position;
}

Fitted<Position> Lockstep::WalkTerms(std::span<const FormTerm> rows) {
  std::vector<FormId> nodes;
  nodes.reserve(rows.size());
  for (const FormTerm& term : rows) nodes.push_back(term.node);
  return Walk(nodes);
}

void CollectReads(const Position& position, std::vector<const Position*>& reads) {
  if (position.kind == Position::Kind::kLoad || position.kind == Position::Kind::kCell) reads.push_back(&position);
  if (position.kind == Position::Kind::kGather) reads.push_back(&position);
  for (const Position& child : position.children) CollectReads(child, reads);
}

}  // namespace warpwright::lift

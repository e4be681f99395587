#include "lift/concrete_form.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "lift/cpu_time.h"
#include "lift/emit.h"
#include "lift/first_pieces.h"
#include "lift/pieces.h"
#include "lift/skeleton.h"
#include "lift/vanishing.h"

namespace warpwright::lift {
namespace {

constexpr int kAttempts = 40;
constexpr size_t kMaxPieces = 64;
constexpr size_t kLongestExplicitSum = 64, kMostExplicitInSet = 8;

// A class of cells.
struct CellClass {
  std::vector<CellId> members;
  Position body;
  std::vector<double> coefficients;  // of the terms
  std::vector<uint32_t> cell;        // of each row, index into members
  std::string name;
  std::vector<Column> used_at;      // of each member: coordinates of its only reader, where that is the same for all
  std::vector<Column> coordinates;  // of each member
  std::vector<int64_t> extents;
  std::vector<CountedWindow> windows;  // over which it reduces
  bool fitted = false;
};

class FormMaker {
 public:
  explicit FormMaker(const ConcreteRequest& request) : request_(request), forms_(request.forms) {}

  Fitted<ConcreteForm> Run() {
    pieces_ = FirstPieces(forms_, request_.buffers, false);
    std::vector<Piece> fewer = FirstPieces(forms_, request_.buffers, true);
    if (fewer.size() == pieces_.size()) return RunPieces();
    std::swap(pieces_, fewer);
    if (auto form = RunPieces(); form || IsLate()) return form;
    written_out_.clear();
    pieces_ = std::move(fewer);
    return RunPieces();
  }

 private:
  Fitted<ConcreteForm> RunPieces() {
    std::string last;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      retry_ = false;
      auto made = Attempt();
      if (made) return ConcreteForm{std::move(*made), std::move(needed_)};
      last = made.error();
      if (!retry_ || pieces_.size() > kMaxPieces) break;
      if (IsLate()) return tl::unexpected(std::string("no statement was found in the time that it may take"));
    }
    return tl::unexpected(last);
  }

  bool IsLate() const { return CpuSeconds() > request_.cpu_deadline; }

  Fitted<core::Computation> Attempt() {
    cells_ = CellStore();
    slots_.clear();
    classes_.clear();
    needed_.clear();
    std::vector<Position>& bodies = bodies_;
    bodies.assign(pieces_.size(), {});
    for (size_t i = 0; i < pieces_.size(); ++i) {
      auto walked = Lockstep(forms_, cells_, written_out_).Walk(pieces_[i].forms);
      if (!walked) return Divide(i, walked.error());
      bodies[i] = std::move(*walked);
    }
    if (auto walked = WalkClasses(); !walked) return tl::unexpected(walked.error());
    core::Computation computation = Frame();
    for (size_t i = 0; i < pieces_.size(); ++i) {
      // Of outputs, the reductions come first.
      for (size_t k = i; k < (IsIntermediate(i) ? i + 1 : pieces_.size()); ++k)
        if (auto fitted = FitClassesBelow(bodies[k], PositionsOf(pieces_[k]), computation); !fitted)
          return tl::unexpected(fitted.error());
      if (!AreAllOne(CornersOf(pieces_[i].elements, request_.buffers[pieces_[i].buffer].shape)))
        return Divide(i, "opposite corners are no domain");
      auto stage = MakeOutput(pieces_[i], bodies[i]);
      if (!stage) return Divide(i, stage.error());
      computation.stages.push_back(std::move(*stage));
      needed_.emplace_back();
    }
    return computation;
  }

  bool IsIntermediate(size_t piece) const { return request_.buffers[pieces_[piece].buffer].intermediate; }

  core::Computation Frame() const {
    core::Computation computation;
    for (const ShapedBuffer& buffer : request_.buffers) {
      if (buffer.intermediate) continue;
      core::TensorArgument argument;
      argument.name = buffer.name;
      argument.dtype = buffer.dtype;
      argument.written = !buffer.elements.empty();
      for (const int64_t extent : buffer.shape) argument.shape.push_back(core::Size::Constant(extent));
      computation.tensors.push_back(std::move(argument));
    }
    for (const auto& [position, name] : request_.scalars) computation.scalars.push_back(name);
    return computation;
  }

  // Walks the terms of every class until no walk finds new cells or joins classes.
  Fitted<void> WalkClasses() {
    std::map<CellId, std::vector<CellId>> walked;
    while (true) {
      std::map<CellId, std::vector<CellId>> now;
      for (CellId id = 0; id < cells_.size(); ++id) now[cells_.ClassOf(id)].push_back(id);
      const auto found = std::find_if(now.begin(), now.end(), [&](const auto& item) {
        const auto before = walked.find(item.first);
        return before == walked.end() || before->second != item.second;
      });
      if (found == now.end()) break;
      CellClass& cell_class = classes_[found->first];
      cell_class = {};
      cell_class.members = found->second;
      std::vector<FormTerm> rows;
      for (size_t m = 0; m < cell_class.members.size(); ++m) {
        for (const FormTerm& term : cells_[cell_class.members[m]].terms) {
          rows.push_back(term);
          cell_class.cell.push_back(static_cast<uint32_t>(m));
          cell_class.coefficients.push_back(term.coefficient);
        }
      }
      walked[found->first] = found->second;
      if (IsLate()) return tl::unexpected(std::string("no statement was found in the time that it may take"));
      auto body = Lockstep(forms_, cells_, written_out_).WalkTerms(rows);
      if (!body) {
        WriteOut(cell_class);
        return tl::unexpected(body.error());
      }
      classes_[found->first].body = std::move(*body);
    }
    std::erase_if(classes_, [&](const auto& item) { return cells_.ClassOf(item.first) != item.first; });
    return {};
  }

  size_t Negatives(CellId cell) const {
    const auto& terms = cells_[cell].terms;
    return static_cast<size_t>(
        std::count_if(terms.begin(), terms.end(), [](const FormTerm& term) { return term.coefficient < 0; }));
  }

  // Sums in some of which more is subtracted than in others, the real and the imaginary parts of products, are
  // different statements: the pieces that have both are divided.
  bool DivideBySigns(const CellClass& cell_class) {
    const size_t of_first = Negatives(cell_class.members[0]);
    if (std::all_of(cell_class.members.begin(), cell_class.members.end(),
                    [&](CellId cell) { return Negatives(cell) == of_first; }))
      return false;
    const CellId representative = cells_.ClassOf(cell_class.members[0]);
    std::vector<Piece> divided;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      std::vector<const Position*> reads;
      CollectReads(bodies_[i], reads);
      const auto of_class = std::find_if(reads.begin(), reads.end(), [&](const Position* read) {
        return read->kind == Position::Kind::kCell && !read->elements.empty() &&
               cells_.ClassOf(static_cast<CellId>(read->elements[0])) == representative;
      });
      std::map<size_t, Piece> parts;
      for (size_t row = 0; row < pieces_[i].elements.size(); ++row) {
        const size_t part = of_class == reads.end() ? 0 : Negatives(static_cast<CellId>((*of_class)->elements[row]));
        Piece& piece = parts[part];
        piece.buffer = pieces_[i].buffer;
        piece.divided = pieces_[i].divided;
        piece.elements.push_back(pieces_[i].elements[row]);
        piece.forms.push_back(pieces_[i].forms[row]);
      }
      for (auto& [negatives, piece] : parts) divided.push_back(std::move(piece));
    }
    if (divided.size() == pieces_.size()) return false;
    pieces_ = std::move(divided);
    return retry_ = true;
  }

  // What cannot be explained as a reduction is written out at the next attempt, if all instances have as many terms.
  void WriteOut(const CellClass& cell_class) {
    const Cell& first = cells_[cell_class.members[0]];
    const bool sum = first.op == core::ReduceOp::kSum;
    if (sum && DivideBySigns(cell_class)) return;
    const bool extremum = first.op == core::ReduceOp::kMax || first.op == core::ReduceOp::kMin;
    if ((!sum && !extremum) || first.terms.size() > (sum ? kLongestExplicitSum : kMostExplicitInSet)) return;
    retry_ |= written_out_.insert({first.op, first.key}).second;
  }

  CellClass& ClassAt(const Position& read) {
    return classes_.at(cells_.ClassOf(static_cast<CellId>(read.elements[0])));
  }

  std::vector<Column> PositionsOf(const Piece& piece) const {
    return CoordinatesOf(piece.elements, request_.buffers[piece.buffer].shape);
  }

  // Of the cells that a read refers to: where its reader stands, in those coordinates that are one number for a cell.
  std::vector<Column> UsesOf(const CellClass& cell_class, const Position& read,
                             const std::vector<Column>& reader) const {
    std::map<int64_t, size_t> index;
    for (size_t m = 0; m < cell_class.members.size(); ++m) index[cell_class.members[m]] = m;
    std::vector<Column> uses;
    for (const Column& column : reader) {
      Column by_member(cell_class.members.size(), INT64_MIN);
      bool one = true;
      for (size_t row = 0; one && row < column.size(); ++row) {
        int64_t& at = by_member[index.at(read.elements[row])];
        one = at == INT64_MIN || at == column[row];
        at = column[row];
      }
      if (one && std::find(by_member.begin(), by_member.end(), INT64_MIN) == by_member.end())
        uses.push_back(std::move(by_member));
    }
    return uses;
  }

  // `reader`: coordinates of the body's rows.
  Fitted<void> FitClassesBelow(const Position& body, const std::vector<Column>& reader,
                               core::Computation& computation) {
    std::vector<const Position*> reads;
    CollectReads(body, reads);
    for (const Position* read : reads) {
      if (read->kind != Position::Kind::kCell) continue;
      CellClass& cell_class = ClassAt(*read);
      if (cell_class.fitted) continue;
      cell_class.fitted = true;
      cell_class.used_at = UsesOf(cell_class, *read, reader);
      const std::vector<Column> rows = ByRow(cell_class.used_at, cell_class);
      if (auto below = FitClassesBelow(cell_class.body, rows, computation); !below) return below;
      auto stage = FitClass(cell_class, computation.stages.size(), read->line);
      if (!stage) {
        WriteOut(cell_class);
        return tl::unexpected(stage.error());
      }
      computation.stages.push_back(std::move(*stage));
    }
    return {};
  }

  static std::vector<Column> ByRow(const std::vector<Column>& by_member, const CellClass& cell_class) {
    std::vector<Column> rows;
    for (const Column& column : by_member) {
      rows.emplace_back(cell_class.cell.size());
      for (size_t row = 0; row < cell_class.cell.size(); ++row) rows.back()[row] = column[cell_class.cell[row]];
    }
    return rows;
  }

  // Gives the emitter every read of the body, and all slots in their order. How many slots each read has.
  std::vector<size_t> AddReads(const Position& body, Emitter& emitter, std::vector<Column>& slots) {
    std::vector<const Position*> reads;
    CollectReads(body, reads);
    std::vector<size_t> of_reads;
    for (const Position* read : reads) {
      ReadTarget target;
      std::vector<Column> coordinates;
      if (read->kind == Position::Kind::kCell) {
        CellClass& from = ClassAt(*read);
        target = {from.name, true, from.extents};
        std::map<int64_t, size_t> index;
        for (size_t m = 0; m < from.members.size(); ++m) index[from.members[m]] = m;
        coordinates.assign(from.coordinates.size(), Column(read->elements.size()));
        for (size_t row = 0; row < read->elements.size(); ++row) {
          const size_t m = index.at(read->elements[row]);
          for (size_t d = 0; d < coordinates.size(); ++d) coordinates[d][row] = from.coordinates[d][m];
        }
      } else {
        const ShapedBuffer& buffer = request_.buffers[read->buffer];
        target = {buffer.name, buffer.intermediate, buffer.shape};
        coordinates = CoordinatesOf(read->elements, buffer.shape);
      }
      std::vector<Slot> read_slots;
      for (size_t d = 0; d < coordinates.size(); ++d) {
        slots.push_back(coordinates[d]);
        read_slots.push_back({std::move(coordinates[d]), target.shape[d]});
      }
      of_reads.push_back(read_slots.size());
      emitter.AddRead(read, std::move(target), std::move(read_slots));
    }
    return of_reads;
  }
  Fitted<Counters> CountersOf(CellPoints points, const Columns& coordinates,
                              const std::vector<size_t>& of_reads) const {
    if (!request_.later_reads_count) return ChooseCounters(points, coordinates);
    Columns slots;
    for (size_t end = std::accumulate(of_reads.begin(), of_reads.end(), size_t{0}), k = of_reads.size(); k-- > 0;) {
      const auto begin = points.slots.begin() + static_cast<std::ptrdiff_t>(end - of_reads[k]);
      slots.insert(slots.end(), begin, begin + static_cast<std::ptrdiff_t>(of_reads[k]));
      end -= of_reads[k];
    }
    points.slots = std::move(slots);
    return ChooseCounters(points, coordinates, CounterOrder::kAsTheyStand);
  }

  bool IsSum(const CellClass& cell_class) const { return cells_[cell_class.members[0]].op == core::ReduceOp::kSum; }

  // If not as they are, with those whose every term vanishes.
  Fitted<std::vector<IntegerGuard>> DomainOfCells(const CellClass& cell_class, const CellCoordinates& coordinates,
                                                  const Counters& counters, const Emitter& emitter) {
    auto domain = ExplainDomain(Pointers(coordinates.of_cell), 0, coordinates.extents, {});
    if (domain || !IsSum(cell_class)) return domain;
    TermAtPoint term(forms_, emitter, cell_class.body);
    const auto is_empty = [&](std::vector<int64_t> point) {
      const size_t fixed = point.size();
      point.resize(fixed + counters.extents.size(), 0);
      while (term.IsZero(point)) {
        size_t k = point.size();
        while (k > fixed && ++point[k - 1] == counters.extents[k - 1 - fixed]) point[--k] = 0;
        if (k == fixed) return true;
      }
      return false;
    };
    const std::vector<Column> all = WithVanishing(Pointers(coordinates.of_cell), 0, coordinates.extents, is_empty);
    if (all.empty() || all[0].size() == coordinates.of_cell[0].size()) return domain;
    return ExplainDomain(Pointers(all), 0, coordinates.extents, {});
  }
  Fitted<std::vector<IntegerGuard>> GuardsOfTerms(const CellClass& cell_class, const Columns& x, size_t fixed,
                                                  const std::vector<int64_t>& extents, const Emitter& emitter) {
    const std::vector<IntegerGuard> bounds = emitter.Bounds(fixed);
    auto guards = ExplainDomain(x, fixed, extents, bounds);
    if (guards || !IsSum(cell_class)) return guards;
    TermAtPoint term(forms_, emitter, cell_class.body);
    const std::vector<Column> all =
        WithVanishing(x, fixed, extents, [&](const std::vector<int64_t>& point) { return term.IsZero(point); });
    if (all.empty() || all[0].size() == x[0]->size()) return guards;
    return ExplainDomain(Pointers(all), fixed, extents, bounds);
  }

  bool HasEmpty(const CellClass& cell_class) const {
    return std::any_of(cell_class.members.begin(), cell_class.members.end(),
                       [&](CellId cell) { return !HasTerms(cell); });
  }
  // Of the cells that have terms, numbered anew.
  CellPoints PointsOf(const CellClass& cell_class, const std::vector<Column>& slots) const {
    std::vector<uint32_t> number(cell_class.members.size());
    uint32_t next = 0;
    for (size_t m = 0; m < number.size(); ++m) number[m] = HasTerms(cell_class.members[m]) ? next++ : next;
    CellPoints points{next, cell_class.cell, Pointers(slots)};
    for (uint32_t& cell : points.cell) cell = number[cell];
    return points;
  }
  bool HasTerms(CellId cell) const { return !cells_[cell].terms.empty(); }

  // Of sums of which some have no terms: where the others' coordinates are those of their reader, but for a factor and
  // an offset, it tells those of the empty ones too. `points`: of the others.
  Fitted<CellCoordinates> CoordinatesWithEmpty(const CellClass& cell_class, const CellPoints& points) const {
    auto known = ChooseCoordinates(points);
    if (!known) return known;
    CellCoordinates all;
    std::vector<bool> used(cell_class.used_at.size(), false);
    for (const Column& column : known->of_cell) {
      const auto follows = [&](const Column& use) {
        std::optional<std::pair<int64_t, int64_t>> first, step;  // of the use and the column
        size_t k = 0;
        for (size_t m = 0; m < use.size(); ++m) {
          if (!HasTerms(cell_class.members[m])) continue;
          const std::pair<int64_t, int64_t> at(use[m], column[k++]);
          if (!first) first = at;
          const std::pair<int64_t, int64_t> by(at.first - first->first, at.second - first->second);
          if ((by.first == 0) != (by.second == 0)) return false;
          if (by.first != 0 && !step) step = by;
          if (step && by.first * step->second != by.second * step->first) return false;
        }
        return !step || (step->first > 0) == (step->second > 0);
      };
      size_t u = 0;
      while (u < used.size() && (used[u] || !follows(cell_class.used_at[u]))) ++u;
      if (u == used.size()) return tl::unexpected(std::string("where sums without terms stand is not known"));
      used[u] = true;
      Column use = cell_class.used_at[u];
      const auto [low, high] = std::minmax_element(use.begin(), use.end());
      const int64_t least = *low, most = *high;
      int64_t step = 0;
      for (const int64_t v : use) step = std::gcd(step, v - least);
      for (int64_t& v : use) v = step == 0 ? 0 : (v - least) / step;
      all.extents.push_back(step == 0 ? 1 : (most - least) / step + 1);
      all.of_cell.push_back(std::move(use));
    }
    return all;
  }

  // Whether the guards leave out every term of those that have none.
  bool AreEmpty(const CellClass& cell_class, const std::vector<Column>& coordinates,
                const std::vector<int64_t>& counters, const std::vector<IntegerGuard>& guards) const {
    for (size_t m = 0; m < cell_class.members.size(); ++m) {
      if (HasTerms(cell_class.members[m])) continue;
      std::vector<int64_t> point;
      for (const Column& column : coordinates) point.push_back(column[m]);
      const size_t fixed = point.size();
      point.resize(fixed + counters.size(), 0);
      for (size_t k = point.size(); k != fixed;) {
        if (Holds(guards, point)) return false;
        for (k = point.size(); k > fixed && ++point[k - 1] == counters[k - 1 - fixed];) point[--k] = 0;
      }
    }
    return true;
  }

  Fitted<core::Stage> FitClass(CellClass& cell_class, size_t number, uint32_t line) {
    auto stage = FitClass(cell_class, number, line, /*by_use=*/false);
    if (stage || cell_class.used_at.empty() || HasEmpty(cell_class)) return stage;
    // What is padded by itself does not tell where its reader stands.
    auto other = FitClass(cell_class, number, line, /*by_use=*/true);
    return other ? other : stage;
  }
  Fitted<core::Stage> FitClass(CellClass& cell_class, size_t number, uint32_t line, bool by_use) {
    core::Stage stage;
    stage.name = request_.sums + std::to_string(number);
    stage.line = static_cast<int>(line);
    cell_class.name = stage.name;
    Emitter emitter(request_.scalars, stage.nodes);
    std::vector<Column> slots;
    const std::vector<size_t> of_reads = AddReads(cell_class.body, emitter, slots);
    CellPoints points = PointsOf(cell_class, slots);
    const std::vector<Column> uses = by_use ? ByRow(cell_class.used_at, cell_class) : std::vector<Column>();
    const bool has_empty = HasEmpty(cell_class);
    auto coordinates = has_empty
                           ? CoordinatesWithEmpty(cell_class, points)
                           : ChooseCoordinates(by_use ? CellPoints{points.cells, points.cell, Pointers(uses)} : points);
    if (!coordinates && !by_use && !has_empty && !cell_class.used_at.empty()) {
      // They read the same and differ in numbers: bins of a histogram, frequencies of a transform.
      for (Column& column : ByRow(cell_class.used_at, cell_class)) slots.push_back(std::move(column));
      points.slots = Pointers(slots);
      coordinates = ChooseCoordinates(points);
    }
    if (!coordinates) return tl::unexpected(coordinates.error());
    std::vector<Column> by_row = ByRow(coordinates->of_cell, cell_class);
    auto counters = CountersOf(points, Pointers(by_row), of_reads);
    if (!counters) return tl::unexpected(counters.error());
    for (const int64_t extent : coordinates->extents) stage.extents.push_back(core::Size::Constant(extent));
    const size_t fixed = by_row.size();
    for (Column& counter : counters->of_row) by_row.push_back(std::move(counter));
    const Columns x = Pointers(by_row);
    if (auto fitted = emitter.Fit(x); !fitted) return tl::unexpected(fitted.error());
    Fitted<std::vector<IntegerGuard>> domain;
    if (!request_.sampled) domain = DomainOfCells(cell_class, *coordinates, *counters, emitter);
    if (!domain) return tl::unexpected(domain.error());
    for (const IntegerGuard& guard : *domain) stage.domain.push_back(ToGuard(guard));
    auto guards = GuardsOfTerms(cell_class, x, fixed, counters->extents, emitter);
    if (!guards) return tl::unexpected(guards.error());
    if (has_empty && !AreEmpty(cell_class, coordinates->of_cell, counters->extents, *guards))
      return tl::unexpected(std::string("sums without terms are no such sums"));
    cell_class.coordinates = std::move(coordinates->of_cell);
    cell_class.extents = std::move(coordinates->extents);
    cell_class.windows = emitter.WindowsOf(fixed, counters->extents);

    core::Reduce reduce;
    reduce.op = cells_[cell_class.members[0]].op;
    for (size_t k = 0; k < counters->extents.size(); ++k)
      reduce.variables.push_back(
          {static_cast<core::VariableId>(fixed + k), core::Size::Constant(counters->extents[k])});
    needed_.emplace_back();
    for (const IntegerGuard& guard : *guards) {
      reduce.guards.push_back(ToGuard(guard));
      needed_.back().emplace_back(guard.needs_low, guard.needs_high);
    }
    auto body = emitter.Emit(cell_class.body);
    if (!body) return tl::unexpected(body.error());
    reduce.body = *body;
    if (reduce.op >= core::ReduceOp::kArgMaxFirst) {
      Column index;
      for (const double c : cell_class.coefficients) index.push_back(static_cast<int64_t>(c));
      const auto fit = FitAffineOrDigit(x, index);
      if (!fit) return tl::unexpected(std::string("the index of an arg reduction is not affine"));
      reduce.index = ToAffine(*fit);
    } else if (std::any_of(cell_class.coefficients.begin(), cell_class.coefficients.end(),
                           [](double c) { return c != 1; })) {
      auto factor = emitter.EmitNumbers(cell_class.coefficients);
      if (!factor) return tl::unexpected(factor.error());
      stage.nodes.push_back(core::Nary{core::ReduceOp::kProduct, {*factor, reduce.body}});
      reduce.body = static_cast<core::NodeId>(stage.nodes.size() - 1);
    }
    stage.nodes.push_back(std::move(reduce));
    return stage;
  }

  // An intermediate tensor's variables are its positions, and its parts have one shape: a part that does not begin at
  // 0, ends early or leaves some out has guards.
  void BoundVariables(uint16_t buffer, const std::vector<Column>& variables, std::vector<int64_t>& extents,
                      std::vector<IntegerGuard>& bounds) const {
    extents.assign(variables.size(), 0);
    for (const Piece& part : pieces_) {
      if (part.buffer != buffer) continue;
      const std::vector<Column> columns = CoordinatesOf(part.elements, request_.buffers[buffer].shape);
      for (size_t d = 0; d < extents.size(); ++d)
        extents[d] = std::max(extents[d], *std::max_element(columns[d].begin(), columns[d].end()) + 1);
    }
    for (size_t d = 0; d < variables.size(); ++d) {
      const auto [low, high] = std::minmax_element(variables[d].begin(), variables[d].end());
      int64_t step = 0;
      for (const int64_t v : variables[d]) step = std::gcd(step, v - *low);
      IntegerGuard guard;
      guard.value.coefficients.assign(variables.size(), 0);
      guard.value.coefficients[d] = 1;
      guard.value.divisor = std::max<int64_t>(step, 1);
      guard.value.constant = -*low;
      guard.has_low = guard.needs_low = *low > 0 || step > 1;
      guard.has_high = guard.needs_high = *high + 1 < extents[d];
      guard.high = (*high - *low) / guard.value.divisor + 1;
      if (guard.has_low || guard.has_high) bounds.push_back(std::move(guard));
    }
  }

  void CountWindows(const Position& body, Emitter& emitter) {
    std::vector<const Position*> reads;
    CollectReads(body, reads);
    for (const Position* read : reads)
      if (read->kind == Position::Kind::kCell) emitter.CountBy(read, ClassAt(*read).windows);
  }

  Fitted<core::Stage> MakeOutput(const Piece& piece, const Position& body) {
    const ShapedBuffer& buffer = request_.buffers[piece.buffer];
    core::Stage stage;
    stage.name = buffer.name;
    stage.output = !buffer.intermediate;
    stage.dtype = buffer.dtype;
    stage.line = static_cast<int>(body.line);
    std::vector<Column> variables = CoordinatesOf(piece.elements, buffer.shape);
    std::vector<int64_t> extents;
    bool moved = false;
    std::vector<core::Affine> at;
    std::vector<IntegerGuard> bounds;
    if (buffer.intermediate) BoundVariables(piece.buffer, variables, extents, bounds);
    for (size_t d = 0; d < variables.size() && !buffer.intermediate; ++d) {
      Column& column = variables[d];
      const auto [low_at, high_at] = std::minmax_element(column.begin(), column.end());
      const int64_t low = *low_at;
      int64_t step = 0;
      for (const int64_t v : column) step = std::gcd(step, v - low);
      if (step == 0) step = 1;
      extents.push_back((*high_at - low) / step + 1);
      for (int64_t& v : column) v = (v - low) / step;
      AffineFit fit;
      fit.coefficients.assign(d + 1, 0);
      fit.coefficients[d] = step;  // also of an extent of one, which is another one elsewhere
      fit.constant = low;
      at.push_back(ToAffine(fit));
      moved |= low != 0 || step != 1;
    }
    if (moved) stage.at = std::move(at);
    const Columns x = Pointers(variables);
    if (request_.sampled && (extents != buffer.shape || IsDivided(piece.buffer)))
      return tl::unexpected(std::string("some blocks do not tell what the others compute"));
    Fitted<std::vector<IntegerGuard>> domain;
    if (!request_.sampled) domain = ExplainDomain(x, 0, extents, bounds);
    if (!domain) return tl::unexpected(domain.error());
    for (const int64_t extent : extents) stage.extents.push_back(core::Size::Constant(extent));
    for (const IntegerGuard& guard : *domain) stage.domain.push_back(ToGuard(guard));
    Emitter emitter(request_.scalars, stage.nodes);
    slots_.clear();
    AddReads(body, emitter, slots_);
    if (auto fitted = emitter.Fit(x); !fitted) return tl::unexpected(fitted.error());
    CountWindows(body, emitter);
    if (emitter.HasDoubtfulDigits(extents) && PieceDivision::MayDivideBySlopes(piece)) {
      if (!AreAllOne(PartsBySlopes(piece.elements, buffer.shape, slots_)))
        return tl::unexpected(std::string("a digit of two values may be two parts"));
    }
    auto value = emitter.Emit(body);
    if (!value) return tl::unexpected(value.error());
    if (*value + 1 != stage.nodes.size()) stage.nodes.push_back(core::Node(stage.nodes[*value]));
    return stage;
  }

  bool IsDivided(uint16_t buffer) const {
    return std::count_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.buffer == buffer; }) > 1;
  }
  static bool AreAllOne(const std::vector<uint64_t>& parts) {
    return std::adjacent_find(parts.begin(), parts.end(), std::not_equal_to<>()) == parts.end();
  }

  // An output that is no single statement.
  tl::unexpected<std::string> Divide(size_t index, const std::string& why) {
    const Piece& piece = pieces_[index];
    const std::vector<int64_t>& shape = request_.buffers[piece.buffer].shape;
    std::vector<Box> boxes;
    for (const Piece& other : pieces_)
      if (other.buffer == piece.buffer && &other != &piece)
        if (Box box = BoxOf(other, shape); !box.low.empty()) boxes.push_back(std::move(box));
    if (slots_.empty() || slots_[0].size() != piece.elements.size()) slots_.clear();
    std::vector<Piece> parts = division_.Divide(piece, shape, boxes, slots_);
    if (parts.size() < 2) return tl::unexpected(why);
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(index));
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(index), std::make_move_iterator(parts.begin()),
                   std::make_move_iterator(parts.end()));
    retry_ = true;
    return tl::unexpected(why);
  }

  const ConcreteRequest& request_;
  FormGraph& forms_;
  std::vector<Piece> pieces_;
  std::vector<Position> bodies_;  // of the pieces
  CellStore cells_;
  WrittenOut written_out_;
  std::map<CellId, CellClass> classes_;
  PieceDivision division_{forms_};
  std::vector<Column> slots_;  // of the output that was looked at last
  std::vector<std::vector<std::pair<bool, bool>>> needed_;
  bool retry_ = false;
};

}  // namespace

Fitted<ConcreteForm> MakeConcreteForm(const ConcreteRequest& request) { return FormMaker(request).Run(); }

}  // namespace warpwright::lift

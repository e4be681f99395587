#include "lift/emit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpwright::lift {

using core::NodeId;

namespace {
constexpr size_t kFewestPoints = 6;  // that tell a rule from a table
}  // namespace

core::Affine ToAffine(const AffineFit& fit) {
  core::Affine affine;
  using Part = core::Affine::Part;
  const size_t width = std::max(fit.coefficients.size(), fit.digits.empty() ? 0 : fit.digits.back().column + 1);
  for (size_t k = 0; k < width; ++k) {
    const auto variable = static_cast<core::VariableId>(k);
    if (k < fit.coefficients.size() && fit.coefficients[k] != 0)
      affine.terms.push_back({variable, core::Size::Constant(fit.coefficients[k]), Part::kWhole, {}});
    for (const AffineFit::Digit& digit : fit.digits) {
      if (digit.column != k) continue;
      const core::Size modulus = core::Size::Constant(digit.modulus);
      if (digit.quotient != 0)
        affine.terms.push_back({variable, core::Size::Constant(digit.quotient), Part::kQuotient, modulus});
      if (digit.remainder != 0)
        affine.terms.push_back({variable, core::Size::Constant(digit.remainder), Part::kRemainder, modulus});
    }
  }
  affine.constant = core::Size::Constant(fit.constant);
  affine.divisor = core::Size::Constant(fit.divisor);
  return affine;
}

core::Guard ToGuard(const IntegerGuard& guard) {
  core::Guard out;
  out.value = ToAffine(guard.value);
  if (guard.has_low) out.low = core::Size::Constant(guard.low);
  if (guard.has_high) out.high = core::Size::Constant(guard.high);
  return out;
}

void Emitter::AddRead(const Position* position, ReadTarget target, std::vector<Slot> slots) {
  reads_.push_back({position, {std::move(target), std::move(slots), {}, {}}});
}

Fitted<void> Emitter::Fit(const Columns& x) {
  x_ = x;
  for (auto& [position, read] : reads_) {
    for (const Slot& slot : read.slots) {
      auto fit = FitAffineOrDigit(x, slot.values);
      const bool told = fit && !IsDoubtful(*fit, x);
      const auto grid = told ? std::nullopt : FitGrid(x, slot.values, slot.extent);
      const auto padded = told || grid ? std::nullopt : FitPadded(x, slot.values, slot.extent);
      if (grid || padded) fit.reset();
      if (!fit && !grid && !padded) return tl::unexpected("the index of '" + read.target.name + "' is not affine");
      read.fits.push_back(fit ? std::move(*fit) : AffineFit{});
      read.others.emplace_back();
      if (grid) read.others.back() = *grid;
      if (padded) read.others.back() = *padded;
    }
  }
  return {};
}

bool Emitter::HasDoubtfulDigits(const std::vector<int64_t>& extents) const {
  for (const auto& [position, read] : reads_)
    for (const AffineFit& fit : read.fits)
      for (const AffineFit::Digit& digit : fit.digits)
        if (const int64_t extent = extents[digit.column]; extent > digit.modulus && extent < 2 * digit.modulus)
          return true;
  return false;
}

std::vector<IntegerGuard> Emitter::Bounds(size_t first) const {
  std::vector<IntegerGuard> bounds;
  for (const auto& [position, read] : reads_) {
    for (size_t k = 0; k < read.fits.size(); ++k) {
      const AffineFit& fit = read.fits[k];
      if (!fit.VariesFrom(first)) continue;
      IntegerGuard guard{.value = fit, .has_low = true, .has_high = true, .low = 0, .high = read.slots[k].extent};
      const auto same = [&](const IntegerGuard& other) { return other.value == fit && other.high == guard.high; };
      if (std::none_of(bounds.begin(), bounds.end(), same)) bounds.push_back(std::move(guard));
    }
  }
  return bounds;
}

void Emitter::CountBy(const Position* position, const std::vector<CountedWindow>& windows) {
  const Read& read = *ReadOf(*position);
  for (CountedWindow window : windows) {
    const AffineFit& fit = read.fits[window.coordinate];
    if (read.others[window.coordinate] || !fit.digits.empty() || fit.divisor != 1) continue;
    size_t variable = fit.coefficients.size();
    for (size_t k = 0; k < fit.coefficients.size(); ++k)
      if (fit.coefficients[k] != 0) variable = variable == fit.coefficients.size() ? k : SIZE_MAX;
    if (variable >= fit.coefficients.size() || fit.coefficients[variable] < 1) continue;
    window.before -= window.step * fit.constant;
    window.step *= fit.coefficients[variable];
    window.coordinate = variable;
    if (std::find(windows_.begin(), windows_.end(), window) == windows_.end()) windows_.push_back(window);
  }
}

std::vector<CountedWindow> Emitter::WindowsOf(size_t fixed, const std::vector<int64_t>& extents) const {
  std::vector<CountedWindow> windows;
  for (const auto& [position, read] : reads_) {
    for (size_t k = 0; k < read.fits.size(); ++k) {
      const AffineFit& fit = read.fits[k];
      std::vector<size_t> moves, counts;
      for (size_t v = 0; v < fit.coefficients.size(); ++v)
        if (fit.coefficients[v] != 0) (v < fixed ? moves : counts).push_back(v);
      const bool is_window = moves.size() == 1 && counts.size() == 1 && fit.digits.empty() && fit.divisor == 1 &&
                             fit.coefficients[counts[0]] == 1 && fit.coefficients[moves[0]] > 0;
      if (is_window)
        windows.push_back(
            {moves[0], fit.coefficients[moves[0]], -fit.constant, extents[counts[0] - fixed], read.slots[k].extent});
    }
  }
  return windows;
}

NodeId Emitter::Add(core::Node node) {
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] == node) return static_cast<NodeId>(i);
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId Emitter::Combine(core::ReduceOp op, std::vector<NodeId> args) {
  return args.size() == 1 ? args[0] : Add(core::Nary{op, std::move(args)});
}

Fitted<NodeId> Emitter::EmitNumbers(const std::vector<double>& values) {
  const double first = values[0];
  const auto same = [first](double v) { return v == first || (std::isnan(v) && std::isnan(first)); };
  if (std::all_of(values.begin(), values.end(), same)) return Add(core::Constant{first});
  const auto integral = [](double v) { return v == std::nearbyint(v) && std::fabs(v) < 1e15; };
  if (std::all_of(values.begin(), values.end(), integral)) {
    Column integers;
    for (const double v : values) integers.push_back(std::llround(v));
    if (const auto fit = FitAffineOrDigit(x_, integers)) return Add(core::IndexValue{ToAffine(*fit)});
  }
  if (const auto line = FitLine(x_, values)) return EmitLine(*line);
  if (const auto powers = EmitPowers(values)) return *powers;
  if (const auto bilinear = FitBilinear(x_, values)) return EmitBilinear(*bilinear);
  if (const auto times = EmitTimesVariable(values)) return *times;
  if (const auto count = EmitReciprocalCount(values)) return *count;
  return tl::unexpected(std::string("constants vary with the position"));
}

// A geometric progression: frequencies of a rotation.
std::optional<NodeId> Emitter::EmitPowers(const std::vector<double>& values) {
  if (!std::all_of(values.begin(), values.end(), [](double v) { return v > 0; })) return std::nullopt;
  std::vector<double> logarithms;
  for (const double v : values) logarithms.push_back(std::log(v));
  const auto line = FitLine(x_, logarithms);
  if (!line) return std::nullopt;
  const NodeId exponent = EmitLine(*line);
  return Add(core::Call{core::Function::kExp, {exponent}});
}

// A variable times such a progression: position times frequency.
std::optional<NodeId> Emitter::EmitTimesVariable(const std::vector<double>& values) {
  for (size_t k = 0; k < x_.size(); ++k) {
    std::vector<Column> columns(x_.size());
    std::vector<double> quotients;
    bool divides = true;
    for (size_t row = 0; divides && row < values.size(); ++row) {
      const int64_t at = (*x_[k])[row];
      divides = (at == 0) == (values[row] == 0);
      if (at == 0) continue;
      quotients.push_back(values[row] / static_cast<double>(at));
      for (size_t other = 0; other < columns.size(); ++other) columns[other].push_back((*x_[other])[row]);
    }
    if (!divides || quotients.size() < kFewestPoints) continue;
    const Columns all = std::exchange(x_, Pointers(columns));
    const auto rest = EmitPowers(quotients);
    x_ = all;
    if (rest) return Add(core::Nary{core::ReduceOp::kProduct, {EmitVariable(k), *rest}});
  }
  return std::nullopt;
}

NodeId Emitter::EmitCount(const CountedWindow& window) {
  AffineFit fit;
  fit.coefficients.assign(window.coordinate + 1, 0);
  fit.coefficients[window.coordinate] = window.step;
  fit.constant = -window.before;
  const NodeId low = Add(core::Nary{core::ReduceOp::kMax, {Add(core::IndexValue{ToAffine(fit)}), EmitSize(0)}});
  fit.constant += window.length;
  const NodeId high =
      Add(core::Nary{core::ReduceOp::kMin, {Add(core::IndexValue{ToAffine(fit)}), EmitSize(window.extent)}});
  const NodeId minus = Add(core::Nary{core::ReduceOp::kProduct, {Add(core::Constant{-1}), low}});
  return Add(core::Nary{core::ReduceOp::kSum, {high, minus}});
}

// A number divided by how many places of windows are inside: the mean of what is there.
std::optional<NodeId> Emitter::EmitReciprocalCount(const std::vector<double>& values) {
  if (windows_.empty()) return std::nullopt;
  double factor = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    double count = 1;
    for (const CountedWindow& window : windows_)
      count *= static_cast<double>(window.CountAt((*x_[window.coordinate])[row]));
    const double here = values[row] * count;
    if (row == 0) factor = here;
    if (!(count > 0) || std::fabs(here - factor) > 1e-6 * std::fabs(factor)) return std::nullopt;
  }
  std::vector<NodeId> counts;
  for (const CountedWindow& window : windows_) counts.push_back(EmitCount(window));
  const NodeId reciprocal =
      Add(core::Call{core::Function::kReciprocal, {Combine(core::ReduceOp::kProduct, std::move(counts))}});
  if (std::fabs(factor - std::nearbyint(factor)) <= 1e-6 * std::fabs(factor)) factor = std::nearbyint(factor);
  if (factor == 1) return reciprocal;
  return Add(core::Nary{core::ReduceOp::kProduct, {Add(core::Constant{factor}), reciprocal}});
}

NodeId Emitter::EmitVariable(size_t k) {
  AffineFit variable;
  variable.coefficients.assign(k + 1, 0);
  variable.coefficients[k] = 1;
  return Add(core::IndexValue{ToAffine(variable)});
}

NodeId Emitter::EmitGrid(const GridFit& grid) {
  const NodeId scaled = Add(core::Nary{core::ReduceOp::kProduct, {EmitSize(grid.factor), EmitVariable(grid.column)}});
  const NodeId moved =
      grid.offset == 0 ? scaled : Add(core::Nary{core::ReduceOp::kSum, {scaled, EmitSize(grid.offset)}});
  return Add(core::Call{core::Function::kIntegerDivide, {moved, EmitSize(grid.divisor)}});
}

NodeId Emitter::EmitPadded(const PaddedFit& padded) {
  // `sign` times the index, and a number.
  const auto index = [&](int64_t sign, int64_t constant) {
    AffineFit fit = padded.at;
    for (int64_t& coefficient : fit.coefficients) coefficient *= sign;
    for (AffineFit::Digit& digit : fit.digits) digit.quotient *= sign, digit.remainder *= sign;
    fit.constant = sign * fit.constant + constant;
    return Add(core::IndexValue{ToAffine(fit)});
  };
  const auto between = [&](NodeId low, NodeId high) {
    const NodeId not_below = Add(core::Nary{core::ReduceOp::kMax, {index(1, 0), low}});
    return Add(core::Nary{core::ReduceOp::kMin, {not_below, high}});
  };
  const int64_t last = padded.extent - 1;
  switch (padded.mode) {
    case PaddingMode::kReplicate: return between(EmitSize(0), EmitSize(last));
    case PaddingMode::kReflect: return between(index(-1, 0), index(-1, 2 * last));
    case PaddingMode::kSymmetric: return between(index(-1, -1), index(-1, 2 * last + 1));
    case PaddingMode::kCircular: break;
  }
  return Add(core::Call{core::Function::kIntegerRemainder, {index(1, 0), EmitSize(padded.extent)}});
}

NodeId Emitter::EmitBilinear(const Bilinear& bilinear) {
  std::vector<NodeId> terms;
  for (const Bilinear::Term& term : bilinear.terms) {
    const NodeId first = EmitVariable(term.first), second = EmitVariable(term.second);
    terms.push_back(Add(core::Nary{core::ReduceOp::kProduct, {Add(core::Constant{term.coefficient}), first, second}}));
  }
  const bool has_line =
      bilinear.line.constant != 0 ||
      std::any_of(bilinear.line.slopes.begin(), bilinear.line.slopes.end(), [](double s) { return s != 0; });
  if (has_line) terms.push_back(EmitLine(bilinear.line));
  return Combine(core::ReduceOp::kSum, std::move(terms));
}

NodeId Emitter::EmitLine(const Line& line) {
  std::vector<NodeId> terms;
  for (size_t k = 0; k < line.slopes.size(); ++k) {
    if (line.slopes[k] == 0) continue;
    const NodeId index = EmitVariable(k);
    terms.push_back(Add(core::Nary{core::ReduceOp::kProduct, {Add(core::Constant{line.slopes[k]}), index}}));
  }
  if (line.constant != 0) terms.push_back(Add(core::Constant{line.constant}));
  return Combine(core::ReduceOp::kSum, std::move(terms));
}

const Emitter::Read* Emitter::ReadOf(const Position& position) const {
  const auto found =
      std::find_if(reads_.begin(), reads_.end(), [&](const auto& item) { return item.first == &position; });
  return found == reads_.end() ? nullptr : &found->second;
}

Fitted<NodeId> Emitter::EmitRead(const Position& position) {
  const Read& read = *ReadOf(position);
  core::TensorRead node{.tensor = read.target.name, .stage = read.target.stage, .at = {}};
  for (size_t d = 0; d < read.fits.size(); ++d) {
    if (!read.others[d]) node.at.emplace_back(ToAffine(read.fits[d]));
    else if (const auto* grid = std::get_if<GridFit>(&*read.others[d])) node.at.emplace_back(EmitGrid(*grid));
    else node.at.emplace_back(EmitPadded(std::get<PaddedFit>(*read.others[d])));
  }
  if (position.kind != Position::Kind::kGather) return Add(std::move(node));
  if (std::any_of(read.others.begin(), read.others.end(), [](const auto& other) { return other.has_value(); }))
    return tl::unexpected(std::string("a gather from a position that is not affine"));
  // What data adds to the flat index goes to the coordinate whose stride divides it.
  std::vector<std::vector<NodeId>> added(node.at.size());
  for (size_t child = 0; child < position.children.size(); ++child) {
    const auto& coefficients = position.coefficients[child];
    const auto coefficient = static_cast<int64_t>(std::llround(coefficients[0]));
    if (std::any_of(coefficients.begin(), coefficients.end(), [&](double c) { return c != coefficients[0]; }) ||
        coefficient == 0)
      return tl::unexpected(std::string("a gather whose stride varies"));
    int64_t stride = 1;
    size_t dimension = node.at.size() - 1;
    while (dimension > 0 && coefficient % (stride * read.target.shape[dimension]) == 0)
      stride *= read.target.shape[dimension--];
    auto value = Emit(position.children[child]);
    if (!value) return value;
    const int64_t times = coefficient / stride;
    added[dimension].push_back(
        times == 1 ? *value
                   : Combine(core::ReduceOp::kProduct, {Add(core::Constant{static_cast<double>(times)}), *value}));
  }
  for (size_t d = 0; d < added.size(); ++d) {
    if (added[d].empty()) continue;
    const AffineFit& fit = read.fits[d];
    if (!fit.IsConstant() || fit.constant != 0) added[d].push_back(Add(core::IndexValue{ToAffine(fit)}));
    node.at[d] = Combine(core::ReduceOp::kSum, std::move(added[d]));
  }
  return Add(std::move(node));
}

Fitted<NodeId> Emitter::EmitLinear(const Position& position) {
  std::vector<NodeId> terms;
  for (size_t k = 0; k < position.children.size(); ++k) {
    auto child = Emit(position.children[k]);
    if (!child) return child;
    const auto& coefficients = position.coefficients[k];
    if (std::all_of(coefficients.begin(), coefficients.end(), [](double c) { return c == 1; })) {
      terms.push_back(*child);
      continue;
    }
    auto factor = EmitNumbers(coefficients);
    if (!factor) return factor;
    terms.push_back(Add(core::Nary{core::ReduceOp::kProduct, {*factor, *child}}));
  }
  if (std::any_of(position.values.begin(), position.values.end(), [](double v) { return v != 0; })) {
    auto value = EmitNumbers(position.values);
    if (!value) return value;
    terms.push_back(*value);
  }
  return Combine(core::ReduceOp::kSum, std::move(terms));
}

Fitted<NodeId> Emitter::EmitProduct(const Position& position) {
  std::vector<NodeId> above, below;
  for (size_t k = 0; k < position.children.size(); ++k) {
    auto child = Emit(position.children[k]);
    if (!child) return child;
    const std::vector<double>& exponents = position.coefficients[k];
    const double exponent = exponents[0];
    if (std::any_of(exponents.begin(), exponents.end(), [&](double e) { return e != exponent; })) {
      auto power = EmitNumbers(exponents);
      if (!power) return power;
      above.push_back(Add(core::Call{core::Function::kPower, {*child, *power}}));
      continue;
    }
    auto& side = exponent > 0 ? above : below;
    if (std::fabs(exponent) <= 4) {
      side.insert(side.end(), static_cast<size_t>(std::fabs(exponent)), *child);
    } else {
      side.push_back(Add(core::Call{core::Function::kPower, {*child, Add(core::Constant{std::fabs(exponent)})}}));
    }
  }
  if (!below.empty())
    above.push_back(
        Add(core::Call{core::Function::kReciprocal, {Combine(core::ReduceOp::kProduct, std::move(below))}}));
  return Combine(core::ReduceOp::kProduct, std::move(above));
}

Fitted<NodeId> Emitter::EmitOperation(const Position& position) {
  std::vector<NodeId> args;
  for (const Position& child : position.children) {
    auto arg = Emit(child);
    if (!arg) return arg;
    args.push_back(*arg);
  }
  using Kind = Position::Kind;
  switch (position.kind) {
    case Kind::kMax: return Combine(core::ReduceOp::kMax, std::move(args));
    case Kind::kMin: return Combine(core::ReduceOp::kMin, std::move(args));
    case Kind::kCall: return Add(core::Call{static_cast<core::Function>(position.mode), std::move(args)});
    case Kind::kCompare: return Add(core::Compare{static_cast<core::Comparison>(position.mode), args[0], args[1]});
    case Kind::kAnd: return Add(core::Logic{core::Logic::Op::kAnd, std::move(args)});
    case Kind::kOr: return Add(core::Logic{core::Logic::Op::kOr, std::move(args)});
    case Kind::kNot: return Add(core::Logic{core::Logic::Op::kNot, std::move(args)});
    default: return Add(core::Select{args[0], args[1], args[2]});
  }
}

Fitted<NodeId> Emitter::Emit(const Position& position) {
  using Kind = Position::Kind;
  switch (position.kind) {
    case Kind::kConstant: return EmitNumbers(position.values);
    case Kind::kScalar: {
      const auto found = scalars_.find(position.buffer);
      if (found == scalars_.end()) return tl::unexpected(std::string("an unknown scalar"));
      return Add(core::ScalarRead{found->second});
    }
    case Kind::kLoad:
    case Kind::kGather:
    case Kind::kCell: return EmitRead(position);
    case Kind::kLinear: return EmitLinear(position);
    case Kind::kProduct: return EmitProduct(position);
    default: return EmitOperation(position);
  }
}

}  // namespace warpwright::lift

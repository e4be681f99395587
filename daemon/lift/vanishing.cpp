#include "lift/vanishing.h"

#include <algorithm>
#include <set>

namespace warpwright::lift {
namespace {

constexpr uint64_t kMaxPoints = 40'000;
constexpr uint16_t kFirstCell = 0x8000;  // of the buffers that stand for intermediate tensors: no entry has as many

template <typename T>
bool AreAllEqual(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [&](const T& v) { return v == values[0]; });
}

}  // namespace

bool TermAtPoint::IsZero(const std::vector<int64_t>& variables) {
  const FormId id = At(body_, variables);
  const double* constant = id != 0 ? forms_.AsConstant(id) : nullptr;
  return constant != nullptr && *constant == 0;
}

FormId TermAtPoint::ReadAt(const Position& position, const std::vector<int64_t>& variables) {
  const Emitter::Read* read = emitter_.ReadOf(position);
  if (read == nullptr || position.kind == Position::Kind::kGather) return 0;
  int64_t flat = 0;
  for (size_t d = 0; d < read->fits.size(); ++d) {
    if (read->others[d]) return 0;
    const AffineFit& fit = read->fits[d];
    const int64_t numerator = fit.Numerator([&](size_t k) { return variables[k]; });
    const int64_t at = numerator / fit.divisor;
    if (numerator % fit.divisor != 0 || at < 0 || at >= read->slots[d].extent) return 0;
    flat = flat * read->slots[d].extent + at;
  }
  const bool cell = position.kind == Position::Kind::kCell;
  const auto number = static_cast<uint16_t>(std::hash<std::string>{}(read->target.name) % kFirstCell);
  return forms_.Load(cell ? static_cast<uint16_t>(kFirstCell + number) : position.buffer, flat);
}

FormId TermAtPoint::OperationAt(const Position& position, const std::vector<int64_t>& variables) {
  std::vector<FormId> args;
  for (const Position& child : position.children) {
    args.push_back(At(child, variables));
    if (args.back() == 0) return 0;
  }
  using Kind = Position::Kind;
  switch (position.kind) {
    case Kind::kLinear:
    case Kind::kProduct: {
      std::vector<FormTerm> terms;
      for (size_t k = 0; k < args.size(); ++k) {
        if (!AreAllEqual(position.coefficients[k])) return 0;
        terms.push_back({args[k], position.coefficients[k][0]});
      }
      if (position.kind == Kind::kProduct) return forms_.Product(terms);
      return AreAllEqual(position.values) ? forms_.Linear(position.values[0], terms) : 0;
    }
    case Kind::kMax: return forms_.Extremum(FormOp::kMax, args);
    case Kind::kMin: return forms_.Extremum(FormOp::kMin, args);
    case Kind::kCall: return forms_.Call(static_cast<core::Function>(position.mode), std::move(args));
    case Kind::kCompare: return forms_.Compare(static_cast<core::Comparison>(position.mode), args[0], args[1]);
    case Kind::kAnd: return forms_.Logic(FormOp::kAnd, std::move(args));
    case Kind::kOr: return forms_.Logic(FormOp::kOr, std::move(args));
    case Kind::kNot: return forms_.Logic(FormOp::kNot, std::move(args));
    case Kind::kSelect: return forms_.Select(args[0], args[1], args[2]);
    default: return 0;
  }
}

FormId TermAtPoint::At(const Position& position, const std::vector<int64_t>& variables) {
  switch (position.kind) {
    case Position::Kind::kConstant: return AreAllEqual(position.values) ? forms_.Constant(position.values[0]) : 0;
    case Position::Kind::kScalar: return forms_.Scalar(position.buffer);
    case Position::Kind::kLoad:
    case Position::Kind::kGather:
    case Position::Kind::kCell: return ReadAt(position, variables);
    default: return OperationAt(position, variables);
  }
}

std::vector<Column> WithVanishing(const Columns& columns, size_t fixed, const std::vector<int64_t>& extents,
                                  const std::function<bool(const std::vector<int64_t>&)>& is_zero) {
  std::set<std::vector<int64_t>> keys, present;
  const size_t rows = columns.empty() ? 0 : columns[0]->size();
  for (size_t row = 0; row < rows; ++row) {
    std::vector<int64_t> point;
    for (const Column* column : columns) point.push_back((*column)[row]);
    keys.emplace(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(fixed));
    present.insert(std::move(point));
  }
  uint64_t box = keys.size();
  for (const int64_t extent : extents) box *= static_cast<uint64_t>(std::max<int64_t>(extent, 1));
  if (box > kMaxPoints) return {};
  std::vector<Column> extended;
  for (const Column* column : columns) extended.push_back(*column);
  for (const std::vector<int64_t>& key : keys) {
    std::vector<int64_t> point = key;
    point.resize(columns.size(), 0);
    while (true) {
      if (!present.contains(point) && is_zero(point))
        for (size_t k = 0; k < extended.size(); ++k) extended[k].push_back(point[k]);
      size_t k = point.size();
      while (k > fixed && ++point[k - 1] == extents[k - 1 - fixed]) point[--k] = 0;
      if (k == fixed) break;
    }
  }
  return extended;
}

}  // namespace warpwright::lift

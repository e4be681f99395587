#include "lift/joined_dimensions.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/affine.h"
#include "core/computation_walk.h"
#include "core/polynomial.h"

namespace warpwright::lift {
namespace {

using core::Affine;
using core::Coordinate;
using core::TensorRead;
using core::VariableId;

// The variable whose part the coordinate is, if that is all, and the part is by `modulus`.
std::optional<VariableId> PartOf(const Coordinate& coordinate, Affine::Part part, const core::Size& modulus) {
  const auto* position = std::get_if<Affine>(&coordinate);
  if (position == nullptr || position->terms.size() != 1 || !core::IsNumber(position->constant, 0) ||
      !core::IsNumber(position->divisor, 1))
    return std::nullopt;
  const Affine::Term& term = position->terms[0];
  if (term.part != part || !term.modulus || !core::IsNumber(term.coefficient, 1)) return std::nullopt;
  if (!(core::Polynomial::Of(*term.modulus) == core::Polynomial::Of(modulus))) return std::nullopt;
  return term.variable;
}

std::vector<TensorRead*> ReadsOf(core::Computation& computation, const std::string& tensor) {
  std::vector<TensorRead*> reads;
  for (core::Stage& stage : computation.stages)
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<TensorRead>(&node); read && !read->stage && read->tensor == tensor)
        reads.push_back(read);
  return reads;
}

bool IsWritten(const core::Computation& computation, const std::string& tensor) {
  return std::any_of(computation.stages.begin(), computation.stages.end(),
                     [&](const core::Stage& stage) { return stage.output && stage.name == tensor; });
}

}  // namespace

core::Computation WithJoinedDimensions(core::Computation computation) {
  for (core::TensorArgument& tensor : computation.tensors) {
    const std::vector<TensorRead*> reads = ReadsOf(computation, tensor.name);
    if (reads.empty() || IsWritten(computation, tensor.name)) continue;
    for (size_t d = 0; d + 1 < tensor.shape.size();) {
      const core::Size& inner = tensor.shape[d + 1];
      const bool joined = std::all_of(reads.begin(), reads.end(), [&](const TensorRead* read) {
        if (read->at.size() != tensor.shape.size()) return false;
        const auto quotient = PartOf(read->at[d], Affine::Part::kQuotient, inner);
        return quotient && quotient == PartOf(read->at[d + 1], Affine::Part::kRemainder, inner);
      });
      const auto size = core::Size::Parse("(" + tensor.shape[d].text() + ") * (" + inner.text() + ")");
      if (!joined || !size) {
        ++d;
        continue;
      }
      for (TensorRead* read : reads) {
        read->at[d] = core::AffineOf(std::get<Affine>(read->at[d]).terms[0].variable);
        read->at.erase(read->at.begin() + static_cast<std::ptrdiff_t>(d) + 1);
      }
      tensor.shape[d] = core::Polynomial::Of(*size).ToExpression().value_or(*size);
      tensor.shape.erase(tensor.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    }
  }
  return computation;
}

}  // namespace warpwright::lift

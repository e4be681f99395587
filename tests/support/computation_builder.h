// Computations in few words: `b.Sum({b.Read("inp", {V(0), V(1)}), b.Number(1)})`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/affine.h"
#include "core/computation.h"

namespace warpwright::testing {

inline core::Size S(const std::string& text) { return core::Expression::Parse(text).value(); }
inline std::vector<core::Size> Sizes(const std::vector<std::string>& texts) {
  std::vector<core::Size> sizes;
  for (const auto& text : texts) sizes.push_back(S(text));
  return sizes;
}

// Positions.
inline core::Affine V(core::VariableId variable) { return core::AffineOf(variable); }
inline core::Affine At(const std::string& size) { return core::AffineOf(S(size)); }
inline core::Affine operator+(core::Affine a, const core::Affine& b) {
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  a.constant = S("(" + a.constant.text() + ")+(" + b.constant.text() + ")");
  return core::Simplified(a).value();
}
inline core::Affine operator*(core::Affine a, const std::string& factor) {
  for (auto& term : a.terms) term.coefficient = S("(" + term.coefficient.text() + ")*(" + factor + ")");
  a.constant = S("(" + a.constant.text() + ")*(" + factor + ")");
  return core::Simplified(a).value();
}
inline core::Affine operator-(const core::Affine& a, const core::Affine& b) { return a + b * "-1"; }
inline core::Affine operator/(core::Affine a, const std::string& divisor) {
  a.divisor = S(divisor);
  return a;
}
inline core::Affine Quotient(core::VariableId variable, const std::string& modulus) {
  core::Affine position = V(variable);
  position.terms[0].part = core::Affine::Part::kQuotient;
  position.terms[0].modulus = S(modulus);
  return position;
}
inline core::Affine Remainder(core::VariableId variable, const std::string& modulus) {
  core::Affine position = Quotient(variable, modulus);
  position.terms[0].part = core::Affine::Part::kRemainder;
  return position;
}
inline core::Guard Within(core::Affine value, const std::string& low, const std::string& high) {
  core::Guard guard{.value = std::move(value), .low = {}, .high = {}};
  if (!low.empty()) guard.low = S(low);
  if (!high.empty()) guard.high = S(high);
  return guard;
}

// A stage; the last node that is added is its value.
class StageBuilder {
 public:
  using Id = core::NodeId;
  using Ids = std::vector<core::NodeId>;
  struct Range {
    core::VariableId variable;
    std::string extent;
  };

  StageBuilder(std::string name, const std::vector<std::string>& extents) {
    stage.name = std::move(name);
    stage.extents = Sizes(extents);
  }
  StageBuilder& Output(core::DType dtype = core::DType::kF32) {
    stage.output = true;
    stage.dtype = dtype;
    return *this;
  }
  Id Add(core::Node node) {
    stage.nodes.push_back(std::move(node));
    return static_cast<Id>(stage.nodes.size() - 1);
  }
  Id Number(double value) { return Add(core::Constant{value}); }
  Id Scalar(const std::string& name) { return Add(core::ScalarRead{name}); }
  Id OfSize(const std::string& size) { return Add(core::SizeValue{S(size)}); }
  Id Index(core::Affine index) { return Add(core::IndexValue{std::move(index)}); }
  Id Read(const std::string& tensor, std::vector<core::Coordinate> at) {
    return Add(core::TensorRead{.tensor = tensor, .stage = false, .at = std::move(at)});
  }
  Id ReadStage(const std::string& name, std::vector<core::Coordinate> at) {
    return Add(core::TensorRead{.tensor = name, .stage = true, .at = std::move(at)});
  }
  Id Sum(Ids args) { return Add(core::Nary{core::ReduceOp::kSum, std::move(args)}); }
  Id Product(Ids args) { return Add(core::Nary{core::ReduceOp::kProduct, std::move(args)}); }
  Id Max(Ids args) { return Add(core::Nary{core::ReduceOp::kMax, std::move(args)}); }
  Id Min(Ids args) { return Add(core::Nary{core::ReduceOp::kMin, std::move(args)}); }
  Id Minus(Id arg) { return Product({Number(-1), arg}); }
  struct Two {  // braces: their order of evaluation, and so that of the nodes, is the order of writing
    Id left, right;
  };
  Id Subtract(Two of) { return Sum({of.left, Minus(of.right)}); }
  Id Apply(core::Function function, Ids args) { return Add(core::Call{function, std::move(args)}); }
  Id Divide(Two of) { return Product({of.left, Apply(core::Function::kReciprocal, {of.right})}); }
  Id Compare(core::Comparison op, Two of) { return Add(core::Compare{op, of.left, of.right}); }
  Id Select(core::Select select) { return Add(select); }
  Id Convert(core::DType to, Id arg) { return Add(core::Convert{to, arg}); }
  Id Reduce(core::ReduceOp op, const std::vector<Range>& ranges, Id body, std::vector<core::Guard> guards = {},
            std::optional<core::Affine> index = {}) {
    core::Reduce reduce{
        .op = op, .variables = {}, .guards = std::move(guards), .body = body, .index = std::move(index)};
    for (const auto& range : ranges) reduce.variables.push_back({range.variable, S(range.extent)});
    return Add(std::move(reduce));
  }

  core::Stage stage;
};

inline core::TensorArgument Input(const std::string& name, const std::vector<std::string>& shape,
                                  core::DType dtype = core::DType::kF32) {
  return {.name = name, .dtype = dtype, .shape = Sizes(shape), .read = true, .written = false};
}
inline core::TensorArgument Output(const std::string& name, const std::vector<std::string>& shape,
                                   core::DType dtype = core::DType::kF32) {
  return {.name = name, .dtype = dtype, .shape = Sizes(shape), .read = false, .written = true};
}

}  // namespace warpwright::testing

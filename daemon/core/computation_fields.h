// How a Computation is encoded, field by field (base/fields.h). A coordinate is a position, or the number of the node
// that it is gathered from.
#pragma once

#include "base/fields.h"
#include "core/computation.h"
#include "core/inspection_fields.h"

namespace warpwright::core {

constexpr Affine::Part Last(Affine::Part) { return Affine::Part::kRemainder; }
constexpr Guard::Outside Last(Guard::Outside) { return Guard::Outside::kZero; }
constexpr ReduceOp Last(ReduceOp) { return ReduceOp::kArgMinLast; }
constexpr Comparison Last(Comparison) { return Comparison::kNotEqual; }
constexpr Function Last(Function) { return Function::kLeadingZeros; }
constexpr Logic::Op Last(Logic::Op) { return Logic::Op::kNot; }

template <typename V>
void Describe(V& field, const Affine::Term*) {
  using T = Affine::Term;
  field("variable", &T::variable);
  field("coefficient", &T::coefficient);
  field.Sparse("part", &T::part);
  field.Sparse("modulus", &T::modulus);
}
template <typename V>
void Describe(V& field, const Affine*) {
  using T = Affine;
  field.Sparse("terms", &T::terms);
  field.Sparse("constant", &T::constant);
  field.Optional("divisor", &T::divisor);
}
template <typename V>
void Describe(V& field, const Guard*) {
  using T = Guard;
  field("value", &T::value);
  field.Sparse("low", &T::low);
  field.Sparse("high", &T::high);
  field.Sparse("outside", &T::outside);
}

template <typename V>
void Describe(V& field, const Constant*) {
  field("value", &Constant::value);
}
template <typename V>
void Describe(V& field, const ScalarRead*) {
  field("name", &ScalarRead::name);
}
template <typename V>
void Describe(V& field, const SizeValue*) {
  field("size", &SizeValue::size);
}
template <typename V>
void Describe(V& field, const IndexValue*) {
  field("index", &IndexValue::index);
}
template <typename V>
void Describe(V& field, const TensorRead*) {
  using T = TensorRead;
  field("tensor", &T::tensor);
  field.Sparse("stage", &T::stage);
  field("at", &T::at);
}
template <typename V>
void Describe(V& field, const Reduce::Variable*) {
  using T = Reduce::Variable;
  field("id", &T::id);
  field("extent", &T::extent);
}
template <typename V>
void Describe(V& field, const Reduce*) {
  using T = Reduce;
  field("op", &T::op);
  field("variables", &T::variables);
  field.Sparse("guards", &T::guards);
  field("body", &T::body);
  field.Sparse("index", &T::index);
}
template <typename V>
void Describe(V& field, const Nary*) {
  using T = Nary;
  field("op", &T::op);
  field("args", &T::args);
}
template <typename V>
void Describe(V& field, const Call*) {
  using T = Call;
  field("function", &T::function);
  field("args", &T::args);
}
template <typename V>
void Describe(V& field, const Compare*) {
  using T = Compare;
  field("op", &T::op);
  field("left", &T::left);
  field("right", &T::right);
}
template <typename V>
void Describe(V& field, const Logic*) {
  using T = Logic;
  field("op", &T::op);
  field("args", &T::args);
}
template <typename V>
void Describe(V& field, const Select*) {
  using T = Select;
  field("condition", &T::condition);
  field("then", &T::then);
  field("otherwise", &T::otherwise);
}
template <typename V>
void Describe(V& field, const Convert*) {
  using T = Convert;
  field("to", &T::to);
  field("arg", &T::arg);
}
constexpr const char* TagKey(const Node*) { return "node"; }
constexpr const char* Tag(const Constant*) { return "constant"; }
constexpr const char* Tag(const ScalarRead*) { return "scalar"; }
constexpr const char* Tag(const SizeValue*) { return "size"; }
constexpr const char* Tag(const IndexValue*) { return "index"; }
constexpr const char* Tag(const TensorRead*) { return "read"; }
constexpr const char* Tag(const Reduce*) { return "reduce"; }
constexpr const char* Tag(const Nary*) { return "nary"; }
constexpr const char* Tag(const Call*) { return "call"; }
constexpr const char* Tag(const Compare*) { return "compare"; }
constexpr const char* Tag(const Logic*) { return "logic"; }
constexpr const char* Tag(const Select*) { return "select"; }
constexpr const char* Tag(const Convert*) { return "convert"; }

template <typename V>
void Describe(V& field, const Stage*) {
  using T = Stage;
  field("name", &T::name);
  field.Sparse("output", &T::output);
  field("dtype", &T::dtype);
  field("extents", &T::extents);
  field.Sparse("domain", &T::domain);
  field.Sparse("at", &T::at);
  field("nodes", &T::nodes);
  field.Sparse("line", &T::line);
}
template <typename V>
void Describe(V& field, const TensorArgument*) {
  using T = TensorArgument;
  field("name", &T::name);
  field("dtype", &T::dtype);
  field("shape", &T::shape);
  field.Sparse("read", &T::read);
  field.Sparse("written", &T::written);
}
template <typename V>
void Describe(V& field, const Computation*) {
  using T = Computation;
  field("tensors", &T::tensors);
  field.Sparse("sizes", &T::sizes);
  field.Sparse("scalars", &T::scalars);
  field("stages", &T::stages);
  field.Sparse("assumptions", &T::assumptions);
}

}  // namespace warpwright::core

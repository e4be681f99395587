// Products in normal form: powers, roots and exponentials combined, constants apart.
#include <algorithm>
#include <cmath>
#include <vector>

#include "lift/form_graph.h"

namespace warpwright::lift {

using core::Function;

// Collects a factor's own factors: constants go to `constant`, and so does what the coefficients of a sum have in
// common (their magnitude, with the sign of the first); powers of roots become half powers of what is under them.
void FormGraph::AddFactor(FormId id, double exponent, double& constant, std::vector<FormTerm>& factors) {
  const FormNode node = nodes_[id];
  if (node.op == FormOp::kConstant) {
    constant *= std::pow(node.value, exponent);
    return;
  }
  if (node.op == FormOp::kProduct) {
    const std::vector<FormTerm> inner(terms(id).begin(), terms(id).end());
    for (const FormTerm& factor : inner) AddFactor(factor.node, factor.coefficient * exponent, constant, factors);
    return;
  }
  if (node.op == FormOp::kCall &&
      (static_cast<Function>(node.mode) == Function::kSqrt || static_cast<Function>(node.mode) == Function::kRsqrt)) {
    const double half = static_cast<Function>(node.mode) == Function::kSqrt ? exponent / 2 : -exponent / 2;
    AddFactor(terms(id)[0].node, half, constant, factors);
    return;
  }
  if (node.op == FormOp::kLinear) {
    std::vector<FormTerm> inner(terms(id).begin(), terms(id).end());
    const double content = inner[0].coefficient;
    const auto shared = [content](double value) {
      return std::fabs(std::fabs(value) - std::fabs(content)) <= 1e-7 * std::fabs(content);
    };
    const bool uniform =
        (node.value == 0 || shared(node.value)) &&
        std::all_of(inner.begin(), inner.end(), [&](const FormTerm& t) { return shared(t.coefficient); });
    // Powers of 1 - a would get signs of their own.
    const bool keeps = (keeps_signs_ && content == -1 && inner.size() > 1) || (expands_ && content < 0);
    // A half power of a negative content would be lost.
    if (uniform && content != 1 && !keeps && (content > 0 || exponent == std::trunc(exponent))) {
      for (FormTerm& term : inner) term.coefficient /= content;
      const FormId scaled = Linear(node.value / content, inner);
      // Where terms of one sign became a sum of their own, both orientations may begin with a minus: one is taken.
      const bool opposite = content == -1 && nodes_[scaled].op == FormOp::kLinear && terms(scaled)[0].coefficient == -1;
      if (!opposite || Before(scaled, id)) {
        constant *= std::pow(content, exponent);
        if (opposite) factors.push_back({scaled, exponent});
        else AddFactor(scaled, exponent, constant, factors);
        return;
      }
    }
  }
  factors.push_back({id, exponent});
}

std::vector<FormTerm> FormGraph::SortedFactors(std::vector<FormTerm> factors) const {
  if (!keeps_order_) return Sorted(std::move(factors));
  std::stable_sort(factors.begin(), factors.end(), [this](const FormTerm& a, const FormTerm& b) {
    return HasPlace(a) && HasPlace(b) ? nodes_[a.node].signature < nodes_[b.node].signature
                                      : a.node != b.node && Before(a.node, b.node);
  });
  return factors;
}

FormId FormGraph::Product(const std::vector<FormTerm>& factors) {
  double constant = 1;
  std::vector<FormTerm> flat;
  for (const FormTerm& factor : factors) AddFactor(factor.node, factor.coefficient, constant, flat);
  std::vector<FormTerm> combined;
  for (const FormTerm& factor : SortedFactors(std::move(flat))) {
    const bool again = !combined.empty() && combined.back().node == factor.node && !HasPlace(factor);
    if (again) combined.back().coefficient += factor.coefficient;
    else combined.push_back(factor);
  }
  // x^(k + 1/2) = x^k sqrt(x), or with a negative exponent x^-k rsqrt(x).
  for (size_t i = 0, n = combined.size(); i < n; ++i) {
    const double whole = std::trunc(combined[i].coefficient);
    if (combined[i].coefficient == whole) continue;
    const Function root = combined[i].coefficient > 0 ? Function::kSqrt : Function::kRsqrt;
    combined.push_back({Call(root, {combined[i].node}), 1});
    combined[i].coefficient = whole;
  }
  std::erase_if(combined, [](const FormTerm& factor) { return factor.coefficient == 0; });
  combined = SortedFactors(std::move(combined));
  if (combined.empty() || constant == 0) return Constant(constant);
  if (const FormId simpler = ProductOfExponentials(constant, combined)) return simpler;
  if (expands_)
    if (const FormId sum = Distributed(constant, combined)) return sum;
  if (combined.size() == 1 && combined[0].coefficient == 1) return Linear(0, {{combined[0].node, constant}});
  const FormId product = Intern({.op = FormOp::kProduct}, std::move(combined));
  return constant == 1 ? product : Linear(0, {{product, constant}});
}

bool FormGraph::IsCallOf(FormId id, Function function) const {
  return nodes_[id].op == FormOp::kCall && static_cast<Function>(nodes_[id].mode) == function;
}

// exp(sum of these). Every element of a row that is weighed asks for the same.
FormId FormGraph::ExponentialOf(const std::vector<FormTerm>& exponent) {
  const bool two = exponent.size() == 2 && exponent[0].coefficient == 1 && exponent[1].coefficient == 1;
  if (!two) return Call(Function::kExp, {Linear(0, exponent)});
  const uint64_t key = uint64_t{exponent[0].node} << 32 | exponent[1].node;
  if (const auto known = exponentials_.find(key); known != exponentials_.end()) return known->second;
  return exponentials_[key] = Call(Function::kExp, {Linear(0, exponent)});
}

// exp(a) exp(b) is exp(a + b), and exp(a) times a sum of such is the sum of the products: a sum of exponentials that is
// rescaled whenever the maximum grows becomes the sum over the last maximum. 0: nothing of that is there.
FormId FormGraph::ProductOfExponentials(double constant, const std::vector<FormTerm>& factors) {
  std::vector<FormTerm> exponent, others;
  for (const FormTerm& factor : factors) {
    if (IsCallOf(factor.node, Function::kExp)) exponent.push_back({terms(factor.node)[0].node, factor.coefficient});
    else others.push_back(factor);
  }
  if (exponent.empty()) return 0;
  if (exponent.size() > 1 || exponent[0].coefficient != 1) {
    others.push_back({ExponentialOf(exponent), 1});
    return Linear(0, {{Product(others), constant}});
  }
  const auto has_exponential = [this](const FormTerm& term) {
    const auto inner = terms(term.node);
    return IsCallOf(term.node, Function::kExp) || (nodes_[term.node].op == FormOp::kProduct &&
                                                   std::any_of(inner.begin(), inner.end(), [this](const FormTerm& f) {
                                                     return f.coefficient == 1 && IsCallOf(f.node, Function::kExp);
                                                   }));
  };
  const auto sum = std::find_if(others.begin(), others.end(), [&](const FormTerm& factor) {
    const FormNode& node = nodes_[factor.node];
    const auto inner = terms(factor.node);
    return node.op == FormOp::kLinear && node.value == 0 && factor.coefficient == 1 &&
           std::all_of(inner.begin(), inner.end(), has_exponential);
  });
  if (sum == others.end()) return 0;
  const FormId exponential = Call(Function::kExp, {exponent[0].node});
  std::vector<FormTerm> scaled(terms(sum->node).begin(), terms(sum->node).end());
  for (FormTerm& term : scaled) term.node = Product({{term.node, 1}, {exponential, 1}});
  others.erase(sum);
  const FormId whole = scaled.size() == 1 ? OfOne(FormOp::kLinear, Linear(0, scaled)) : Linear(0, scaled);
  others.push_back({whole, 1});
  return Linear(0, {{Product(others), constant}});
}

// Over the terms of the only factor that is a sum over data; 0: there is none, or several.
FormId FormGraph::Distributed(double constant, const std::vector<FormTerm>& factors) {
  constexpr uint32_t kMostTerms = 512;
  const auto is_sum = [this](const FormTerm& factor) {
    return nodes_[factor.node].op == FormOp::kLinear && nodes_[factor.node].has_data;
  };
  if (factors.size() < 2 || std::count_if(factors.begin(), factors.end(), is_sum) != 1) return 0;
  const FormTerm sum = *std::find_if(factors.begin(), factors.end(), is_sum);
  if (sum.coefficient != 1 || nodes_[sum.node].count > kMostTerms) return 0;
  std::vector<FormTerm> others;
  for (const FormTerm& factor : factors)
    if (factor.node != sum.node) others.push_back(factor);
  const double value = nodes_[sum.node].value;
  std::vector<FormTerm> distributed;
  for (const FormTerm& term : std::vector<FormTerm>(terms(sum.node).begin(), terms(sum.node).end())) {
    std::vector<FormTerm> product = others;
    product.push_back({term.node, 1});
    distributed.push_back({Product(product), constant * term.coefficient});
  }
  if (value != 0) distributed.push_back({Product(others), constant * value});
  return Linear(0, distributed);
}

}  // namespace warpwright::lift

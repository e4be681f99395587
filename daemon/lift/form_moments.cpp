// Means and variances that were made step by step (Welford, Chan): what such an update adds is algebra of sums and
// squares, and the whole is the mean, and the sum of the squares of the differences from it.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "lift/form_graph.h"

namespace warpwright::lift {
namespace {

constexpr double kSameCoefficient = 2e-6, kSameValue = 2e-5;
constexpr size_t kMostElements = 4096;
constexpr size_t kPoints = 4;
using AtPoints = std::array<double, kPoints>;

bool IsWithin(double a, double b, double error) { return std::fabs(a - b) <= error * std::fabs(b); }

// In [-1, 1), different for every element and point.
double RandomAt(FormId id, size_t point) {
  uint64_t h = (uint64_t{id} << 8 | point) * 0x9e3779b97f4a7c15u;
  h ^= h >> 31;
  h *= 0xff51afd7ed558ccdu;
  return static_cast<double>(h >> 11) * 0x1p-52 - 1;
}

// Each node once, by number.
void AddUp(std::vector<FormTerm>& terms) {
  std::stable_sort(terms.begin(), terms.end(), [](const FormTerm& a, const FormTerm& b) { return a.node < b.node; });
  size_t count = 0;
  for (const FormTerm& term : terms) {
    if (count > 0 && terms[count - 1].node == term.node) terms[count - 1].coefficient += term.coefficient;
    else terms[count++] = term;
  }
  terms.resize(count);
}

}  // namespace

// The signature of the terms of a plain sum, whose coefficients are 1; 0: it is none.
uint64_t FormGraph::TermOfPlainSum(FormId id) const {
  const FormNode& node = nodes_[id];
  if (node.op != FormOp::kLinear || node.value != 0 || node.count == 0) return 0;
  const auto inner = terms(id);
  const uint64_t signature = nodes_[inner[0].node].signature;
  for (const FormTerm& term : inner)
    if (term.coefficient != 1 || nodes_[term.node].signature != signature) return 0;
  return signature;
}

// Multiples of plain sums, and of what they are sums of, that are together a multiple of one plain sum: a mean that
// takes more elements in. x - mean is none. True if there was such a thing.
bool FormGraph::MergePlainSums(std::vector<FormTerm>& sum) const {
  std::map<uint64_t, size_t> parts;  // by the signature of the elements
  for (const FormTerm& term : sum)
    if (const uint64_t signature = TermOfPlainSum(term.node); signature != 0) ++parts[signature];
  bool changed = false;
  for (auto& [signature, count] : parts) {
    const auto is_element = [&, of = signature](const FormTerm& term) { return nodes_[term.node].signature == of; };
    if (count < 2 && std::none_of(sum.begin(), sum.end(), is_element)) continue;
    std::vector<FormTerm> coefficients, others;
    for (const FormTerm& term : sum) {
      if (TermOfPlainSum(term.node) == signature) {
        for (const FormTerm& inner : terms(term.node)) coefficients.push_back({inner.node, term.coefficient});
      } else if (nodes_[term.node].signature == signature) {
        coefficients.push_back(term);
        ++count;
      } else {
        others.push_back(term);
      }
    }
    AddUp(coefficients);
    double mean = 0;
    for (const FormTerm& term : coefficients) mean += term.coefficient;
    mean /= static_cast<double>(coefficients.size());
    const bool uniform = std::all_of(coefficients.begin(), coefficients.end(), [mean](const FormTerm& term) {
      return IsWithin(term.coefficient, mean, kSameCoefficient);
    });
    if (count < 2 || mean == 0 || !uniform) continue;
    // A mean, but for the roundings of its steps.
    const double reciprocal = 1 / static_cast<double>(coefficients.size());
    if (IsWithin(mean, reciprocal, kSameCoefficient)) mean = reciprocal;
    mean = RoundLiteral(mean, exact_);
    for (const FormTerm& term : coefficients) others.push_back({term.node, mean});
    sum = std::move(others);
    changed = true;
  }
  return changed;
}

// Each term is (x - c S)^2 with one plain sum S of as many elements.
bool FormGraph::IsCentred(const std::vector<FormTerm>& sum) const {
  FormId plain = 0;
  double coefficient = 0;
  for (const FormTerm& term : sum) {
    const auto base = terms(terms(term.node)[0].node);
    if (nodes_[term.node].count != 1 || base.size() != 2) return false;
    const FormTerm& mean = base[TermOfPlainSum(base[0].node) != 0 ? 0 : 1];
    if (TermOfPlainSum(mean.node) == 0 || nodes_[mean.node].count != sum.size()) return false;
    if (plain != 0 && (mean.node != plain || mean.coefficient != coefficient)) return false;
    plain = mean.node;
    coefficient = mean.coefficient;
  }
  return true;
}

// A sum of multiples of products of two linear expressions that is a multiple of the sum of (x - mean)^2 over all
// elements x in them. Found by its values at random points, where different polynomials differ. 0: it is none, or it is
// written that way already. Squares of elements themselves are left alone: a difference of moments is another
// computation.
FormId FormGraph::CentredSquares(const std::vector<FormTerm>& sum) {
  if (sum.size() < 2) return 0;
  for (const FormTerm& term : sum) {
    const FormNode& node = nodes_[term.node];
    if (node.op != FormOp::kProduct || node.count > 2) return 0;
    for (const FormTerm& factor : terms(term.node)) {
      const FormNode& base = nodes_[factor.node];
      if (factor.coefficient != (node.count == 1 ? 2 : 1) || base.op != FormOp::kLinear || base.value != 0) return 0;
    }
  }
  if (IsCentred(sum)) return 0;
  std::unordered_map<FormId, AtPoints> values;
  std::set<FormId> elements;
  const auto evaluate = [&](FormId id, const auto& self) -> const AtPoints& {
    if (const auto known = values.find(id); known != values.end()) return known->second;
    AtPoints at{};
    if (nodes_[id].op == FormOp::kLinear && nodes_[id].value == 0) {
      for (const FormTerm& term : terms(id)) {
        const AtPoints& inner = self(term.node, self);
        for (size_t p = 0; p < kPoints; ++p) at[p] += term.coefficient * inner[p];
      }
    } else {
      elements.insert(id);
      for (size_t p = 0; p < kPoints; ++p) at[p] = RandomAt(id, p);
    }
    return values.emplace(id, at).first->second;
  };
  AtPoints squares{}, moment{}, total{};
  for (const FormTerm& term : sum) {
    const auto factors = terms(term.node);
    const AtPoints first = evaluate(factors.front().node, evaluate), second = evaluate(factors.back().node, evaluate);
    for (size_t p = 0; p < kPoints; ++p) squares[p] += term.coefficient * first[p] * second[p];
    if (elements.size() > kMostElements) return 0;
  }
  const auto n = static_cast<double>(elements.size());
  const uint64_t signature = nodes_[*elements.begin()].signature;
  for (const FormId id : elements) {
    if (nodes_[id].signature != signature) return 0;
    for (size_t p = 0; p < kPoints; ++p) {
      moment[p] += values[id][p] * values[id][p];
      total[p] += values[id][p];
    }
  }
  for (size_t p = 0; p < kPoints; ++p) moment[p] -= total[p] * total[p] / n;
  const double weight = squares[0] / moment[0];
  for (size_t p = 1; p < kPoints; ++p)
    if (!IsWithin(squares[p], weight * moment[p], kSameValue)) return 0;
  std::vector<FormTerm> all;
  for (const FormId id : elements) all.push_back({id, 1});
  const FormId plain = Linear(0, all);
  std::vector<FormTerm> centred;
  for (const FormId id : elements) centred.push_back({Product({{Linear(0, {{id, 1}, {plain, -1 / n}}), 2}}), 1});
  const FormId result = Intern({.op = FormOp::kLinear}, Sorted(std::move(centred)));
  const double factor = RoundLiteral(weight, false);
  return IsWithin(factor, 1, kSameValue) ? result : Linear(0, {{result, factor}});
}

}  // namespace warpwright::lift

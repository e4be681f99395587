#include "lift/structure_order.h"

#include <algorithm>

namespace warpwright::lift {

void StructureOrder::Sort(std::vector<FormId>& nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [this](FormId a, FormId b) { return Compare(a, b) < 0; });
}

const std::vector<FormId>& StructureOrder::TermsOf(FormId id) {
  if (const auto known = terms_.find(id); known != terms_.end()) return known->second;
  std::vector<FormId> nodes;
  for (const FormTerm& term : forms_.terms(id)) nodes.push_back(term.node);
  if (forms_[id].op == FormOp::kMax || forms_[id].op == FormOp::kMin) Sort(nodes);
  return terms_.emplace(id, std::move(nodes)).first->second;
}

std::weak_ordering StructureOrder::Compare(FormId a, FormId b) {
  if (a == b) return std::weak_ordering::equivalent;
  const FormNode &x = forms_[a], &y = forms_[b];
  if (x.signature != y.signature) return x.signature <=> y.signature;
  if (x.count != y.count) return x.count <=> y.count;
  if (x.place != y.place) return x.place <=> y.place;
  if (const auto known = known_.find({a, b}); known != known_.end()) return known->second;
  std::weak_ordering order = std::weak_ordering::equivalent;
  const std::vector<FormId>&left = TermsOf(a), &right = TermsOf(b);
  for (size_t k = 0; order == 0 && k < left.size(); ++k) order = Compare(left[k], right[k]);
  known_.emplace(std::pair(a, b), order);
  return order;
}

}  // namespace warpwright::lift

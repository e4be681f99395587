// An order of expressions by what they are made of, not by when they were made: what corresponds in two instances of
// one statement stands at the same place of both, and does so at other shapes too.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lift/form_graph.h"

namespace warpwright::lift {

class StructureOrder {
 public:
  explicit StructureOrder(const FormGraph& forms) : forms_(forms) {}
  // By structure, then by the elements that are loaded, in the order of the expression.
  void Sort(std::vector<FormId>& nodes);

 private:
  std::weak_ordering Compare(FormId a, FormId b);
  const std::vector<FormId>& TermsOf(FormId id);

  const FormGraph& forms_;
  std::unordered_map<FormId, std::vector<FormId>> terms_;  // of maxima and minima: sorted
  std::map<std::pair<FormId, FormId>, std::weak_ordering> known_;
};

}  // namespace warpwright::lift

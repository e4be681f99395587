// Plans as language models write them: of a method of the library, or of a new one; of kernels that are launched, with
// evidence that must exist and have the value that is cited.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agents/edits.h"
#include "agents/situation.h"
#include "base/fields.h"

namespace warpwright::agents {

struct CitedEvidence {
  std::string field;
  double value = 0;
};
struct ExpectedField {
  std::string field, direction;
};
struct WrittenPlan {
  std::string method, why;
  std::vector<std::string> kernels;
  std::vector<CitedEvidence> evidence;
  std::vector<ExpectedField> expected;
  std::string instructions;
};
// Part of a JSON schema: the properties of an object, for the members of WrittenPlan without `instructions`.
extern const char* const kPlanProperties;

std::variant<core::Plan, Fault> TakePlan(const Situation& at, WrittenPlan written, const std::string& author);

template <typename V>
void Describe(V& field, const CitedEvidence*) {
  using T = CitedEvidence;
  field("field", &T::field);
  field("value", &T::value);
}
template <typename V>
void Describe(V& field, const ExpectedField*) {
  using T = ExpectedField;
  field("field", &T::field);
  field("direction", &T::direction);
}
template <typename V>
void Describe(V& field, const WrittenPlan*) {
  using T = WrittenPlan;
  field("method", &T::method);
  field("why", &T::why);
  field("kernels", &T::kernels);
  field("evidence", &T::evidence);
  field("expected", &T::expected);
  field.Sparse("instructions", &T::instructions);
}

}  // namespace warpwright::agents

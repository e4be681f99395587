// A model's changes to a file, as its answer has them, and what they make of the file.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "core/entry_text.h"
#include "core/plan.h"

namespace warpwright::agents {

struct FunctionEdit {
  std::string name;  // of a function of the entry's text
  std::string text;  // replaces its definition; may bring helpers and kernels along
};
struct LineEdit {
  int first = 0, last = 0;  // replaced, both included; last = first - 1: inserted before `first`
  std::string text;
};
struct SweptParameter {
  std::string name;                 // stands in the texts as @NAME@
  std::vector<std::string> values;  // the first is tried first
};
struct Edits {
  std::vector<FunctionEdit> functions;
  std::vector<LineEdit> lines;
  std::vector<SweptParameter> parameters;
};

inline constexpr size_t kMaxVariants = 8;
// Parts of a JSON schema: properties of an object, for the members of Edits.
extern const char* const kEditProperties;
extern const char* const kParameterProperty;

struct EditedText {
  core::Parameters parameters;
  std::string text;  // the whole file
};
struct Fault {
  std::string what;  // complete: a model mends its answer by it
};
// One text for each setting of the parameters.
std::variant<std::vector<EditedText>, Fault> ApplyEdits(const std::string& base, const core::EntryText& entry,
                                                        const Edits& edits);

template <typename V>
void Describe(V& field, const FunctionEdit*) {
  using T = FunctionEdit;
  field("name", &T::name);
  field("text", &T::text);
}
template <typename V>
void Describe(V& field, const LineEdit*) {
  using T = LineEdit;
  field("first", &T::first);
  field("last", &T::last);
  field("text", &T::text);
}
template <typename V>
void Describe(V& field, const SweptParameter*) {
  using T = SweptParameter;
  field("name", &T::name);
  field("values", &T::values);
}
template <typename V>
void Describe(V& field, const Edits*) {
  using T = Edits;
  field("functions", &T::functions);
  field("lines", &T::lines);
  field.Optional("parameters", &T::parameters);
}

}  // namespace warpwright::agents

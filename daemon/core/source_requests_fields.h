// How requests for texts and their outcomes are encoded (base/fields.h). Texts of files are blobs: they are sent
// separately from the JSON.
#pragma once

#include "base/fields.h"
#include "core/build_options_fields.h"
#include "core/scheduling_fields.h"
#include "core/source_requests.h"
#include "core/verdict_fields.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const SourceRef*) {
  using T = SourceRef;
  field("root", &T::root);
  field("file", &T::file);
  field.Blob("text", &T::text);
  field("build", &T::build);
}
template <typename V>
void Describe(V& field, const RewriteRequest*) {
  using T = RewriteRequest;
  field("source", &T::source);
  field("entry", &T::entry);
  field("kernel", &T::kernel);
  field("transform", &T::transform);
  field("parameters", &T::parameters);
  field.Sparse("scheduling", &T::scheduling);
}
template <typename V>
void Describe(V& field, const SpliceRequest*) {
  using T = SpliceRequest;
  field("original", &T::original);
  field.Blob("edited", &T::edited);
  field("entry", &T::entry);
  field("keeps_comments", &T::keeps_comments);
  field("finishes", &T::finishes);
}
template <typename V>
void Describe(V& field, const Rewritten*) {
  using T = Rewritten;
  field.Blob("text", &T::text);
  field("notes", &T::notes);
  field("entry", &T::entry);
}
template <typename V>
void Describe(V& field, const RewriteRefusal*) {
  using T = RewriteRefusal;
  field("reason", &T::reason);
  field("line", &T::line);
}

constexpr std::string_view Tag(const RewriteRequest*) { return "rewrite"; }
constexpr std::string_view Tag(const SpliceRequest*) { return "splice"; }
constexpr std::string_view Tag(const Rewritten*) { return "rewritten"; }
constexpr std::string_view Tag(const RewriteRefusal*) { return "refusal"; }
constexpr const char* TagKey(const RewriteOutcome*) { return "outcome"; }
constexpr const char* TagKey(const SpliceOutcome*) { return "outcome"; }

}  // namespace warpwright::core

// The fields of questions and answers (base/fields.h).
#pragma once

#include "base/fields.h"
#include "llm/answer.h"
#include "llm/exchange.h"
#include "llm/question.h"

namespace warpwright::llm {

template <typename V>
void Describe(V& field, const Part*) {
  using T = Part;
  field("text", &T::text);
  field.Sparse("cache", &T::cache);
}
template <typename V>
void Describe(V& field, const Correction*) {
  using T = Correction;
  field("answer", &T::answer);
  field("fault", &T::fault);
}
template <typename V>
void Describe(V& field, const Question*) {
  using T = Question;
  field("role", &T::role);
  field("system", &T::system);
  field("user", &T::user);
  field.Sparse("schema_name", &T::schema_name);
  field.Sparse("schema", &T::schema);
  field.Sparse("sample", &T::sample);
  field.Sparse("corrections", &T::corrections);
  field.Untold(&T::limits);
}

template <typename V>
void Describe(V& field, const Usage*) {
  using T = Usage;
  field.Sparse("input", &T::input);
  field.Sparse("cache_read", &T::cache_read);
  field.Sparse("cache_write", &T::cache_write);
  field.Sparse("output", &T::output);
}
template <typename V>
void Describe(V& field, const Receipt*) {
  using T = Receipt;
  field.Sparse("model", &T::model);
  field.Optional("usage", &T::usage);
  field.Sparse("cost_nanodollars", &T::cost);
  field.Sparse("requests", &T::requests);
  field.Sparse("seconds", &T::seconds);
  field.Sparse("request_id", &T::request_id);
}

constexpr const char* TagKey(const Answer*) { return "outcome"; }
constexpr const char* Tag(const Answered*) { return "answered"; }
template <typename V>
void Describe(V& field, const Answered*) {
  using T = Answered;
  field("text", &T::text);
  field("receipt", &T::receipt);
}
constexpr const char* Tag(const Truncated*) { return "truncated"; }
template <typename V>
void Describe(V& field, const Truncated*) {
  using T = Truncated;
  field("text", &T::text);
  field("receipt", &T::receipt);
}
constexpr const char* Tag(const Refused*) { return "refused"; }
template <typename V>
void Describe(V& field, const Refused*) {
  using T = Refused;
  field("reason", &T::reason);
  field("receipt", &T::receipt);
}
constexpr const char* Tag(const Pending*) { return "pending"; }
template <typename V>
void Describe(V& field, const Pending*) {
  using T = Pending;
  field("question", &T::question);
  field.Sparse("reason", &T::reason);
}
constexpr const char* Tag(const Failed*) { return "failed"; }
template <typename V>
void Describe(V& field, const Failed*) {
  using T = Failed;
  field("kind", &T::kind);
  field("message", &T::message);
  field.Sparse("remedy", &T::remedy);
  field.Sparse("retry_after_ms", &T::retry_after_ms);
  field.Sparse("text", &T::text);
  field("receipt", &T::receipt);
}

template <typename V>
void Describe(V& field, const GivenAnswer*) {
  using T = GivenAnswer;
  field("question", &T::question);
  field("text", &T::text);
  field.Sparse("model", &T::model);
  field.Sparse("tokens_in", &T::tokens_in);
  field.Sparse("tokens_out", &T::tokens_out);
  field.Sparse("cost_usd", &T::cost_usd);
}
template <typename V>
void Describe(V& field, const ExchangeBundle*) {
  using T = ExchangeBundle;
  field("questions", &T::questions);
  field("answers", &T::answers);
}

}  // namespace warpwright::llm

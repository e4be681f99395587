// Keeps secrets out of what is written for people and machines. A secret is registered once, where it is read; from
// then on every form of it that could be turned back is replaced by "[redacted]":
//   plain; with bytes percent-encoded (any of them, once or twice), backslash-escaped or as HTML entities;
//   hexadecimal of either case, also with separators; base64 in all three alignments, standard and URL alphabet, also
//   percent-encoded.
// Independent of any registration: `x-access-token:...` pairs, the user part of URLs, values of Authorization headers,
// and GitHub's tokens by their shape.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace warpwright::base {

class Redactor {
 public:
  // Shorter secrets would redact everything: they are not taken, and the answer is false.
  static constexpr size_t kMinimumBytes = 4;

  Redactor();
  ~Redactor();
  // Of a secret of several lines (a PEM key) each line of 16 bytes and more counts by itself too. Idempotent.
  // Thread-safe. The first 256 are kept for good (those of the configuration), and the latest 256 (tokens that live an
  // hour).
  bool Register(std::string_view secret);
  std::string Redact(std::string_view text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The program's one redactor: RegisterSecret is called by whoever reads a secret, before it is used.
Redactor& ProcessRedactor();
inline bool RegisterSecret(std::string_view secret) { return ProcessRedactor().Register(secret); }
inline std::string Redact(std::string_view text) { return ProcessRedactor().Redact(text); }

}  // namespace warpwright::base

// Keeps secrets out of text that is written for users or other programs. A secret is registered once, where it is read;
// from then on every reversible encoding of it is replaced by "[redacted]":
//   plain; with bytes percent-encoded (any of them, once or twice), backslash-escaped or as HTML entities;
//   hexadecimal of either case, also with separators; base64 in all three alignments, standard and URL alphabet, also
//   percent-encoded.
// Redacted without registration: `x-access-token:...` pairs, the user part of URLs, values of Authorization headers,
// and GitHub's tokens by their shape.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace warpwright::base {

class Redactor {
 public:
  // Shorter secrets would redact everything: Register rejects them and returns false.
  static constexpr size_t kMinimumBytes = 4;

  Redactor();
  ~Redactor();
  // In a multi-line secret (a PEM key), each line of 16 bytes or more is also a secret by itself. Idempotent.
  // Thread-safe. The first 256 secrets are retained permanently (those of the configuration), and so are the latest 256
  // (tokens that live an hour).
  bool Register(std::string_view secret);
  std::string Redact(std::string_view text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The program's only redactor: code that reads a secret calls RegisterSecret before it uses the secret.
Redactor& ProcessRedactor();
inline bool RegisterSecret(std::string_view secret) { return ProcessRedactor().Register(secret); }
inline std::string Redact(std::string_view text) { return ProcessRedactor().Redact(text); }

}  // namespace warpwright::base

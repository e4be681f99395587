#include "base/redaction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace warpwright::base {
namespace {

constexpr std::string_view kMark = "[redacted]";
constexpr size_t kMinimumLine = 16;  // of a line in a multi-line secret
constexpr size_t kKept = 256;        // number of first secrets, and of latest secrets, that are retained
constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum class Form { kText, kHex, kBase64 };
struct SecretPattern {
  Form form = Form::kText;
  std::string bytes;  // hex: the secret itself; base64: the digits that depend on the secret alone
  bool shares_first = false, shares_last = false;  // base64: the digit before or after also holds bits of the secret
};
using Span = std::pair<size_t, size_t>;  // [begin, end) of the text to remove

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
// Maps the two base64 alphabets to one.
char Canonical(char c) { return c == '-' ? '+' : c == '_' ? '/' : c; }
bool IsBase64(char c) { return kBase64Digits.find(Canonical(c)) != std::string_view::npos; }

bool StartsWithIgnoringCase(std::string_view text, size_t at, std::string_view word) {
  if (text.size() - at < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i)
    if (Lower(text[at + i]) != word[i]) return false;
  return true;
}

struct Decoded {
  char byte;
  size_t length;
};
// The escapes that begin at `at`, in addition to the plain byte; at most two.
struct Escapes {
  std::array<Decoded, 2> found{};
  size_t count = 0;
  void Add(int byte, size_t length) {
    if (byte >= 0 && count < found.size()) found[count++] = {static_cast<char>(byte), length};
  }
};

int TwoHex(std::string_view text, size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = HexDigit(text[at]), low = HexDigit(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void DecodeBackslash(std::string_view text, size_t at, Escapes& out) {
  if (at + 1 >= text.size()) return;
  const char c = text[at + 1];
  constexpr std::string_view kNamed = "ntrbf", kMeaning = "\n\t\r\b\f";
  if (const size_t i = kNamed.find(c); i != std::string_view::npos) out.Add(static_cast<unsigned char>(kMeaning[i]), 2);
  if (c == 'x') out.Add(TwoHex(text, at + 2), 4);
  if (c == 'u' && text.substr(at + 2, 2) == "00") out.Add(TwoHex(text, at + 4), 6);
  if (!(c >= 'a' && c <= 'z')) out.Add(static_cast<unsigned char>(c), 2);
}

void DecodeEntity(std::string_view text, size_t at, Escapes& out) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const auto& [name, byte] : kNamed)
    if (text.substr(at, name.size()) == name) out.Add(static_cast<unsigned char>(byte), name.size());
  if (text.substr(at, 2) != "&#") return;
  const bool hexadecimal = at + 2 < text.size() && Lower(text[at + 2]) == 'x';
  size_t i = at + (hexadecimal ? 3 : 2);
  int value = 0, digits = 0;
  for (; i < text.size() && digits < 4; ++i, ++digits) {
    const int digit = HexDigit(text[i]);
    if (digit < 0 || (!hexadecimal && digit > 9)) break;
    value = value * (hexadecimal ? 16 : 10) + digit;
  }
  if (digits > 0 && value < 256 && i < text.size() && text[i] == ';') out.Add(value, i + 1 - at);
}

Escapes EscapesAt(std::string_view text, size_t at) {
  Escapes out;
  switch (text[at]) {
    case '%':
      out.Add(TwoHex(text, at + 1), 3);
      if (text.substr(at + 1, 2) == "25") out.Add(TwoHex(text, at + 3), 5);
      break;
    case '\\': DecodeBackslash(text, at, out); break;
    case '&': DecodeEntity(text, at, out); break;
    case '+': out.Add(' ', 1); break;
    default: break;
  }
  return out;
}

// The offsets at which the next element of a needle may end, given the offsets at which the previous one ended. A set
// of offsets, since a text can be read in more than one way ("%25" is three bytes or one).
using Places = std::vector<size_t>;
void AddPlace(Places& places, size_t place) {
  if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
}

void StepText(std::string_view text, const Places& from, char byte, bool base64, Places& to) {
  for (const size_t start : from) {
    size_t at = start;
    for (int skipped = 0;; ++skipped, ++at) {  // base64 is wrapped into lines
      if (at >= text.size()) break;
      const char seen = text[at];
      if (base64 ? Canonical(seen) == byte : seen == byte) AddPlace(to, at + 1);
      const Escapes escapes = EscapesAt(text, at);
      for (size_t i = 0; i < escapes.count; ++i)
        if ((base64 ? Canonical(escapes.found[i].byte) : escapes.found[i].byte) == byte)
          AddPlace(to, at + escapes.found[i].length);
      if (!base64 || skipped >= 3 || !IsSpace(seen)) break;
    }
  }
}

void StepHex(std::string_view text, const Places& from, char byte, Places& to) {
  for (const size_t start : from) {
    size_t at = start;
    for (int skipped = 0; at < text.size() && skipped <= 2; ++skipped, ++at) {
      const size_t digits = StartsWithIgnoringCase(text, at, "0x") ? at + 2 : at;
      for (const size_t place : {at, digits})
        if (TwoHex(text, place) == static_cast<unsigned char>(byte)) AddPlace(to, place + 2);
      if (std::string_view(" ,:-\r\n").find(text[at]) == std::string_view::npos) break;
    }
  }
}

// The end of the match of `needle` that begins at `at`; 0: no match.
size_t Match(std::string_view text, size_t at, const SecretPattern& needle) {
  Places places = {at}, next;
  for (const char byte : needle.bytes) {
    next.clear();
    if (needle.form == Form::kHex) StepHex(text, places, byte, next);
    else StepText(text, places, byte, needle.form == Form::kBase64, next);
    if (next.empty()) return 0;
    places.swap(next);
  }
  return *std::max_element(places.begin(), places.end());
}

SecretPattern Base64Needle(std::string_view secret, size_t alignment) {
  std::string all(alignment, '\0');
  all += secret;
  const size_t bits = all.size() * 8, first = (alignment * 8 + 5) / 6, last = bits / 6;
  all += std::string(2, '\0');
  SecretPattern needle{Form::kBase64, {}, alignment != 0, bits % 6 != 0};
  for (size_t digit = first; digit < last; ++digit) {
    const size_t bit = digit * 6;
    const unsigned pair = static_cast<unsigned char>(all[bit / 8]) << 8 | static_cast<unsigned char>(all[bit / 8 + 1]);
    needle.bytes += kBase64Digits[pair >> (10 - bit % 8) & 63];
  }
  return needle;
}

size_t RunEnd(std::string_view text, size_t at, std::string_view stop) {
  while (at < text.size() && !IsSpace(text[at]) && static_cast<unsigned char>(text[at]) > 31 &&
         stop.find(text[at]) == std::string_view::npos)
    ++at;
  return at;
}

// "https://user:password@host": everything before the last '@' of the authority. "git" is not a secret.
void FindUserInfo(std::string_view text, std::vector<Span>& out) {
  for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const size_t begin = at + 3, end = RunEnd(text, begin, "/?#\"'<>\\");
    const size_t sign = text.substr(begin, end - begin).rfind('@');
    if (sign != std::string_view::npos && sign > 0 && text.substr(begin, sign) != "git")
      out.push_back({begin, begin + sign});
  }
}

void FindAccessTokens(std::string_view text, size_t at, std::vector<Span>& out) {
  constexpr std::string_view kUser = "x-access-token";
  if (!StartsWithIgnoringCase(text, at, kUser)) return;
  size_t begin = at + kUser.size();
  if (begin < text.size() && text[begin] == ':') begin += 1;
  else if (StartsWithIgnoringCase(text, begin, "%3a")) begin += 3;
  else return;
  const size_t end = RunEnd(text, begin, "@\"'<>\\");
  if (end > begin) out.push_back({begin, end});
}

size_t SkipAny(std::string_view text, size_t at, std::string_view set) {
  while (at < text.size() && set.find(text[at]) != std::string_view::npos) ++at;
  return at;
}

void FindAuthorization(std::string_view text, size_t at, std::vector<Span>& out) {
  size_t begin = 0, shortest = 1;
  if (StartsWithIgnoringCase(text, at, "authorization")) {
    begin = SkipAny(text, at + 13, "\"' \t\\");
    if (begin >= text.size() || (text[begin] != ':' && text[begin] != '=')) return;
    begin = SkipAny(text, begin + 1, "\"' \t\\");
  } else if (StartsWithIgnoringCase(text, at, "bearer ")) {
    begin = at;
    shortest = kMinimumLine;  // "the bearer of this" is prose
  } else {
    return;
  }
  for (const std::string_view scheme : {"basic ", "bearer ", "token "})
    if (StartsWithIgnoringCase(text, begin, scheme)) {
      begin = SkipAny(text, begin + scheme.size(), " \t");
      break;
    }
  const size_t end = RunEnd(text, begin, "\"'<>\\,;&");
  if (end - begin >= shortest) out.push_back({begin, end});
}

void FindGithubTokens(std::string_view text, size_t at, std::vector<Span>& out) {
  size_t begin = 0;
  if (text.substr(at, 11) == "github_pat_") begin = at + 11;
  else if (text.substr(at, 2) == "gh" && at + 3 < text.size() &&
           std::string_view("pousr").find(text[at + 2]) != std::string_view::npos && text[at + 3] == '_')
    begin = at + 4;
  else return;
  size_t end = begin;
  while (end < text.size() && text[end] != '-' && (text[end] == '_' || IsBase64(text[end])) && text[end] != '+' &&
         text[end] != '/')
    ++end;
  if (end - begin >= 16) out.push_back({begin, end});
}

std::string Replace(std::string_view text, std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end());
  std::vector<Span> merged;  // touching spans are merged
  for (const Span& span : spans) {
    if (merged.empty() || span.first > merged.back().second) merged.push_back(span);
    else merged.back().second = std::max(merged.back().second, span.second);
  }
  std::string out;
  size_t done = 0;
  for (const auto& [begin, end] : merged) {
    out += text.substr(done, begin - done);
    out += kMark;
    done = end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace

struct Redactor::State {
  mutable std::shared_mutex mutex;
  std::deque<std::string> first_ones, recent;
  std::set<std::string, std::less<>> known;
  std::vector<SecretPattern> needles;
  std::array<std::vector<size_t>, 256> by_first;  // by byte: the needles whose first element it can be or begin

  void AddNeedle(SecretPattern needle) {
    std::set<unsigned char> first = {static_cast<unsigned char>(needle.bytes[0])};
    if (needle.form == Form::kHex)
      first = {static_cast<unsigned char>("0123456789abcdef"[*first.begin() >> 4]),
               static_cast<unsigned char>("0123456789ABCDEF"[*first.begin() >> 4]), '0'};
    if (needle.form == Form::kBase64 && needle.bytes[0] == '+') first.insert('-');
    if (needle.form == Form::kBase64 && needle.bytes[0] == '/') first.insert('_');
    for (const unsigned char c : first) by_first[c].push_back(needles.size());
    needles.push_back(std::move(needle));
  }
  void AddForms(const std::string& secret) {
    AddNeedle({Form::kText, secret});
    AddNeedle({Form::kHex, secret});
    for (size_t alignment = 0; alignment < 3; ++alignment) AddNeedle(Base64Needle(secret, alignment));
  }

  void Keep(std::string_view secret) {
    if (!known.emplace(secret).second) return;
    std::deque<std::string>& list = first_ones.size() < kKept ? first_ones : recent;
    list.emplace_back(secret);
    if (recent.size() <= kKept) {
      AddForms(list.back());
      return;
    }
    known.erase(recent.front());
    recent.pop_front();
    needles.clear();
    for (auto& indices : by_first) indices.clear();
    for (const auto* kept : {&first_ones, &recent})
      for (const std::string& each : *kept) AddForms(each);
  }

  void FindAt(std::string_view text, size_t at, std::vector<Span>& out) const {
    Escapes begins = EscapesAt(text, at);
    TryNeedles(text, at, text[at], out);
    for (size_t i = 0; i < begins.count; ++i)
      if (begins.found[i].byte != text[at] && (i == 0 || begins.found[0].byte != begins.found[1].byte))
        TryNeedles(text, at, begins.found[i].byte, out);
  }

  void TryNeedles(std::string_view text, size_t at, char first, std::vector<Span>& out) const {
    for (const size_t index : by_first[static_cast<unsigned char>(first)]) {
      const SecretPattern& needle = needles[index];
      size_t end = Match(text, at, needle), begin = at;
      if (end == 0) continue;
      if (needle.form == Form::kBase64) {
        if (needle.shares_first && begin > 0 && IsBase64(text[begin - 1])) --begin;
        if (needle.shares_last && end < text.size() && IsBase64(text[end])) ++end;
        end = SkipAny(text, end, "=");
      }
      out.push_back({begin, end});
    }
  }
};

Redactor::Redactor() : state_(std::make_unique<State>()) {}
Redactor::~Redactor() = default;

bool Redactor::Register(std::string_view secret) {
  if (secret.size() < kMinimumBytes) return false;
  const std::unique_lock lock(state_->mutex);
  state_->Keep(secret);
  if (secret.find('\n') == std::string_view::npos) return true;
  for (size_t begin = 0; begin < secret.size();) {
    size_t end = std::min(secret.find('\n', begin), secret.size());
    std::string_view line = secret.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() >= kMinimumLine && !line.starts_with("-----")) state_->Keep(line);
    begin = end + 1;
  }
  return true;
}

std::string Redactor::Redact(std::string_view text) const {
  std::vector<Span> spans;
  {
    const std::shared_lock lock(state_->mutex);
    for (size_t at = 0; at < text.size(); ++at) state_->FindAt(text, at, spans);
  }
  FindUserInfo(text, spans);
  for (size_t at = 0; at < text.size(); ++at) {
    switch (Lower(text[at])) {
      case 'x': FindAccessTokens(text, at, spans); break;
      case 'a':
      case 'b': FindAuthorization(text, at, spans); break;
      case 'g': FindGithubTokens(text, at, spans); break;
      default: break;
    }
  }
  return spans.empty() ? std::string(text) : Replace(text, std::move(spans));
}

Redactor& ProcessRedactor() {
  static Redactor& redactor = *new Redactor;  // never destroyed: threads may log while the program ends
  return redactor;
}

}  // namespace warpwright::base

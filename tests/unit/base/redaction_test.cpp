#include "base/redaction.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace warpwright {
namespace {

constexpr char kSecret[] = "s3cr3t/Pass+w0rd~&\"x\\y %z";

std::string Hex(std::string_view bytes, const char* digits = "0123456789abcdef", std::string_view separator = "",
                std::string_view prefix = "") {
  std::string out;
  for (const char c : bytes) {
    if (!out.empty()) out += separator;
    out += prefix;
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string Base64(std::string_view bytes, bool url = false, size_t line = 0, bool padded = true) {
  const char* alphabet = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                             : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  size_t digits = 0;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    unsigned value = 0;
    for (size_t j = 0; j < 3; ++j)
      value = value << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) {
      if (line > 0 && digits > 0 && digits % line == 0) out += '\n';
      if (i + j > bytes.size()) {
        if (padded) out += '=';
      } else {
        out += alphabet[value >> (18 - 6 * j) & 63];
      }
      ++digits;
    }
  }
  return out;
}

std::string Percent(std::string_view bytes, const std::function<bool(char)>& escape,
                    const char* digits = "0123456789ABCDEF", bool plus = false) {
  std::string out;
  for (const char c : bytes) {
    if (plus && c == ' ') out += '+';
    else if (escape(c) || c == '%') out += '%' + Hex({&c, 1}, digits);
    else out += c;
  }
  return out;
}
bool IsReserved(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("-_.~").find(c) == std::string_view::npos;
}

TEST(Redaction, KnowsBase64ByTheRfc) {  // RFC 4648, so that the test's own encoder is right
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
}

struct EncodedForm {
  const char* name;
  std::string text;
};
std::vector<EncodedForm> Forms(const std::string& secret) {
  const auto all = [](char) { return true; };
  std::string json, unicode, entities, escaped;
  for (const char c : secret) {
    json += (c == '"' || c == '\\' || c == '/') ? std::string("\\") + c : std::string(1, c);
    unicode += "\\u00" + Hex({&c, 1});
    escaped += "\\x" + Hex({&c, 1});
    entities += c == '&' ? "&amp;" : c == '"' ? "&quot;" : c == '<' ? "&lt;" : c == '\'' ? "&#39;" : std::string(1, c);
  }
  std::vector<EncodedForm> forms = {{"plain", secret},
                                    {"url", Percent(secret, IsReserved)},
                                    {"url, lower case", Percent(secret, IsReserved, "0123456789abcdef")},
                                    {"form", Percent(secret, IsReserved, "0123456789ABCDEF", true)},
                                    {"url, every byte", Percent(secret, all)},
                                    {"url, twice", Percent(Percent(secret, IsReserved), IsReserved)},
                                    {"json", json},
                                    {"unicode escapes", unicode},
                                    {"byte escapes", escaped},
                                    {"entities", entities},
                                    {"hex", Hex(secret)},
                                    {"HEX", Hex(secret, "0123456789ABCDEF")},
                                    {"hex with colons", Hex(secret, "0123456789abcdef", ":")},
                                    {"hex with spaces", Hex(secret, "0123456789ABCDEF", " ")},
                                    {"hex as in C", Hex(secret, "0123456789abcdef", ", ", "0x")}};
  for (const bool url : {false, true})
    for (const size_t line : {0, 8, 76})
      for (const bool padded : {false, true})
        for (const char* before : {"", "u", "u:"})
          for (const char* behind : {"", "b", "bc"}) {
            forms.push_back({url ? "base64url" : "base64", Base64(before + secret + behind, url, line, padded)});
            if (line == 0)
              forms.push_back({"base64 in a URL", Percent(Base64(before + secret + behind, url), IsReserved)});
          }
  return forms;
}

TEST(Redaction, TakesOutEveryForm) {
  base::Redactor redactor;
  ASSERT_TRUE(redactor.Register(kSecret));
  for (const EncodedForm& form : Forms(kSecret)) {
    const std::string text = "before " + form.text + "\" behind";
    const std::string out = redactor.Redact(text);
    EXPECT_NE(out.find("[redacted]"), std::string::npos) << form.name << ": " << form.text;
    EXPECT_TRUE(out.starts_with("before ")) << form.name << ": " << out;
    EXPECT_TRUE(out.ends_with("\" behind")) << form.name << ": " << out;
    // Only base64 digits of the text before and after the secret, and padding, may remain.
    EXPECT_LE(out.size(), std::string("before [redacted]\" behind").size() + 12) << form.name << ": " << out;
  }
}

TEST(Redaction, LeavesNoPartOfTheSecretInBase64) {
  base::Redactor redactor;
  redactor.Register("hunter22");
  EXPECT_EQ(redactor.Redact(Base64("hunter22")), "[redacted]");
  EXPECT_EQ(redactor.Redact(Base64("xhunter22")), "e[redacted]");  // 'e' holds six bits of the x
  EXPECT_EQ(redactor.Redact(Base64("xyhunter22")),
            "eH[redacted]");  // the digit with four bits of the y and two of the h is removed
  EXPECT_EQ(redactor.Redact(Base64("hunter22tail")), "[redacted]0YWls");
}

TEST(Redaction, LeavesOtherTextAlone) {
  base::Redactor redactor;
  redactor.Register("correct horse");
  redactor.Register("deadbeef");
  for (const char* text :
       {"", "correct hors", "horse correct", "deadbee", "DEADBEEF", "100% done \\ & + %", "https://example.com/a@b",
        "https://git@host/x", "git@github.com:a/b.git", "the bearer of good news", "ghost_of_christmas_past_and_future",
        "authorization needed", "x-access-token", "%", "\\", "&#", "\\u00", "\\x"})
    EXPECT_EQ(redactor.Redact(text), text);
}

struct Shape {
  const char* text;
  const char* expected;
};
TEST(Redaction, KnowsShapesThatNobodyRegistered) {
  const base::Redactor redactor;
  for (const Shape& shape :
       std::vector<Shape>{{"x-access-token:abc123@github.com", "x-access-token:[redacted]@github.com"},
                          {"X-Access-Token%3Aabc%40 y", "X-Access-Token%3A[redacted] y"},
                          {"https://x-access-token:abc@github.com/a/b.git", "https://[redacted]@github.com/a/b.git"},
                          {"fetch https://me:pw@host:8443/x?y failed", "fetch https://[redacted]@host:8443/x?y failed"},
                          {"https://token@host", "https://[redacted]@host"},
                          {"https://me:p@w@host/", "https://[redacted]@host/"},
                          {"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"},
                          {"authorization: Bearer abc", "authorization: Bearer [redacted]"},
                          {"{\"Authorization\": \"token abc\"}", "{\"Authorization\": \"token [redacted]\"}"},
                          {"sent Bearer abcdefghijklmnop.q", "sent Bearer [redacted]"},
                          {"ghp_0123456789abcdefghijABCDEFGHIJ012345 is one", "ghp_[redacted] is one"},
                          {"(ghs_0123456789abcdefghij)", "(ghs_[redacted])"},
                          {"github_pat_11AAAAAAA0123456789_abcdef", "github_pat_[redacted]"}})
    EXPECT_EQ(redactor.Redact(shape.text), shape.expected);
}

TEST(Redaction, TakesEachLineOfAKey) {
  base::Redactor redactor;
  redactor.Register(
      "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAtoPSECRET1\nsecondLineOfTheKey012345\r\nshort\n-----END RSA "
      "PRIVATE KEY-----\n");
  EXPECT_EQ(redactor.Redact("key MIIEowIBAAKCAQEAtoPSECRET1 and secondLineOfTheKey012345."),
            "key [redacted] and [redacted].");
  EXPECT_EQ(redactor.Redact("-----BEGIN RSA PRIVATE KEY-----"), "-----BEGIN RSA PRIVATE KEY-----");
}

TEST(Redaction, KeepsTheFirstAndTheLatest) {  // a daemon that runs for months gets a new token every hour
  base::Redactor redactor;
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(redactor.Register("token-number-" + std::to_string(i) + "."));
  for (const int kept : {0, 255, 1744, 1999})
    EXPECT_EQ(redactor.Redact("token-number-" + std::to_string(kept) + "."), "[redacted]") << kept;
  EXPECT_EQ(redactor.Redact("token-number-1000."), "token-number-1000.");
  const std::string text = std::string(8000, '%') + "token-number-";
  const auto begin = std::chrono::steady_clock::now();
  redactor.Redact(text);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(Redaction, RefusesWhatIsTooShort) {
  base::Redactor redactor;
  EXPECT_FALSE(redactor.Register(""));
  EXPECT_FALSE(redactor.Register("abc"));
  EXPECT_TRUE(redactor.Register("abcd"));
  EXPECT_EQ(redactor.Redact("abc abcd"), "abc [redacted]");
}

// The text's author does not know the secret, but may guess its beginning: four times the text may not take much more
// than four times as long.
TEST(Redaction, IsNotSlowOnHostileText) {
  base::Redactor redactor;
  redactor.Register(std::string(64, 'a'));
  redactor.Register("%\\&+%\\&+-0123456789abcdefghijklmnopqrstuvwxyz");
  const auto processor_time = [&](const std::string& piece, size_t length) {
    std::string text;
    while (text.size() < length) text += piece;
    const std::clock_t begin = std::clock();
    redactor.Redact(text);
    return static_cast<double>(std::clock() - begin);
  };
  for (const std::string piece : {"a", "%\\&+", "%25", "\\\\", "6", "61", "YWFh"}) {
    const double small = processor_time(piece, 25'000), large = processor_time(piece, 100'000);
    EXPECT_LT(large, 12 * small + 0.05 * CLOCKS_PER_SEC) << piece;
  }
}

// Random secrets in random encodings within random text never survive, neither encoded nor plain.
TEST(Redaction, RandomSecretsNeverSurvive) {
  std::mt19937 random(20261121);
  const auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  for (int round = 0; round < 400; ++round) {
    const bool printable = below(3) != 0;
    std::string secret(4 + below(60), '\0');
    for (char& c : secret) c = static_cast<char>(printable ? 33 + below(94) : below(256));
    base::Redactor redactor;
    ASSERT_TRUE(redactor.Register(secret));
    const std::vector<EncodedForm> forms = Forms(secret);
    for (int i = 0; i < 12; ++i) {
      const EncodedForm& form = forms[below(forms.size())];
      std::string text(below(40), '\0');
      for (char& c : text) c = " ,;.!()"[below(7)];
      const std::string whole = text + form.text + text;
      const std::string out = redactor.Redact(whole);
      ASSERT_EQ(out.find(form.text), std::string::npos) << form.name << " of " << Hex(secret) << " in " << whole;
      ASSERT_EQ(out.find(secret), std::string::npos) << form.name << " of " << Hex(secret) << " in " << whole;
      ASSERT_NE(out.find("[redacted]"), std::string::npos) << form.name;
    }
  }
}

TEST(Redaction, RegistersWhileOthersRedact) {
  base::Redactor redactor;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string secret = "secret-" + std::to_string(t) + "-" + std::to_string(i) + ".";
        redactor.Register(secret);
        EXPECT_EQ(redactor.Redact("<" + secret + ">"), "<[redacted]>");
      }
    });
}

}  // namespace
}  // namespace warpwright

#include "schedule/unordered_terms.h"

#include <gtest/gtest.h>

#include <string>

namespace warpwright {
namespace {

// What a kernel with this body makes of NaN, in a file with these functions before it.
std::string Of(const std::string& body, const std::string& before = "") {
  const std::string kernel = "__global__ void k(const float* x, float* y, int n) { " + body + " }";
  const std::string file = before + "\n" + kernel;
  const schedule::UnorderedTerms terms = schedule::UnorderedTermsOf({source::Lex(kernel)}, source::Lex(file));
  return std::string(terms.taken ? "taken" : "") + (terms.passed ? "passed" : "");
}

TEST(UnorderedTerms, AreWhatAComparisonThatFailsGives) {
  EXPECT_EQ(Of("m = m > x[i] ? m : x[i];"), "taken");
  EXPECT_EQ(Of("m = (x[i] < m) ? (m) : (x[i]);"), "taken");
  EXPECT_EQ(Of("s[t] = s[t] >= s[t + 1] ? s[t] : s[t + 1];"), "taken");
  EXPECT_EQ(Of("m = x[i] > m ? x[i] : m;"), "");
  EXPECT_EQ(Of("if (x[i] > m) m = x[i];"), "");
  EXPECT_EQ(Of("m = fmaxf(m, x[i]);"), "");
  EXPECT_EQ(Of("m = a > b ? m : x[i];"), "") << "no extremum";
}

TEST(UnorderedTerms, AreToldThroughMacrosAndFunctors) {
  const std::string macro = "#define MAX(a, b) ((a) > (b) ? (a) : (b))";
  EXPECT_EQ(Of("m = MAX(m, x[i]);", macro), "taken");
  EXPECT_EQ(Of("m = MAX(x[i], m);", macro), "");
  EXPECT_EQ(Of("y[i] = MAX(0.f, x[i]);", macro), "passed");
  EXPECT_EQ(Of("y[i] = MAX(x[i], 0.f);", macro), "");
  EXPECT_EQ(Of("n = MIN(n, 4);", macro), "") << "another name";
  const std::string functor =
      "struct Larger { __device__ float operator()(float a, float b) const { return a > b ? a : b; } };";
  EXPECT_EQ(Of("best = reduce(best, __half2float(x[i]));", functor), "taken");
  EXPECT_EQ(Of("best = reduce(__half2float(x[i]), best);", functor), "");
  const std::string function =
      "template <class T> __device__ T larger(const T& a, const T& b) { return b < a ? a : b; }";
  EXPECT_EQ(Of("m = larger(m, x[i]);", function), "taken");
}

TEST(UnorderedTerms, PassBoundsThatReplaceWhatIsBeyondThem) {
  EXPECT_EQ(Of("y[i] = v < 0.f ? 0.f : v;"), "passed");
  EXPECT_EQ(Of("if (v < 0) v = 0;"), "passed");
  EXPECT_EQ(Of("if (v < -1.0f) { v = -1.0f; }"), "passed");
  EXPECT_EQ(Of("y[i] = v > 0.f ? v : 0.f;"), "");
  EXPECT_EQ(Of("y[i] = v < 0.f ? 0.f : v; z = fmaxf(v, 0.f);"), "") << "one and the other";
  EXPECT_EQ(Of("y[i] = v < 0.f ? 0.f : v; m = fmaxf(m, v);"), "passed") << "a bound and a reduction";
  EXPECT_EQ(Of("y[i] = v < lo ? lo : v;"), "") << "no number";
}

}  // namespace
}  // namespace warpwright

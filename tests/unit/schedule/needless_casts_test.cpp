#include "schedule/needless_casts.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(NeedlessCasts, AreThoseOfNamesThatAreWideAlready) {
  struct Row {
    const char *kernels, *expected;
  };
  for (const Row& row :
       {Row{"__global__ void k(long long n) { const long long row = n; x[static_cast<long long>(row) * n]; }",
            "__global__ void k(long long n) { const long long row = n; x[row * n]; }"},
        Row{"__global__ void k() { for (long long i = 0;; ++i) f(static_cast<long long>(i)); }",
            "__global__ void k() { for (long long i = 0;; ++i) f(i); }"},
        // Narrow here, or somewhere in the same kernel; unsigned; more than a name.
        Row{"__global__ void k() { const int row = 0; x[static_cast<long long>(row) * n]; }", nullptr},
        Row{"__global__ void k() { { int i = 0; f(static_cast<long long>(i)); } long long i = 1; }", nullptr},
        Row{"__global__ void k(unsigned long long u) { f(static_cast<long long>(u)); }", nullptr},
        Row{"__global__ void k(long long n) { f(static_cast<long long>(n + 1)); }", nullptr},
        Row{"__global__ void k() { return static_cast<long long>(unknown); }", nullptr},
        // Each kernel for itself.
        Row{"__global__ void a(long long n) { f(static_cast<long long>(n)); }\n"
            "__global__ void b(int n) { f(static_cast<long long>(n)); }",
            "__global__ void a(long long n) { f(n); }\n"
            "__global__ void b(int n) { f(static_cast<long long>(n)); }"},
        Row{"", nullptr}})
    EXPECT_EQ(schedule::WithoutNeedlessCasts(row.kernels), row.expected != nullptr ? row.expected : row.kernels);
}

}  // namespace
}  // namespace warpwright

#include "rewrite/segments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rewrite/derived_text.h"

namespace warpwright {
namespace {

constexpr const char* kKernels =
    "__global__ void a(float* x) { x[0] = 1; }\n__global__ void b(float* x, float* y) { y[0] = x[0]; }\n"
    "static void both(float* x, float* y) { a<<<1, 1>>>(x); b<<<1, 1>>>(x, y); }\n";

// The launcher's body with blanks in place of all segments but one, without white space; "REFUSED: reason".
std::string Segment(const std::string& body, size_t number) {
  const std::string text =
      std::string(kKernels) + "void run(float* x, float* y, int n, cudaStream_t s) {" + body + "}\n";
  const auto outcome = rewrite::DeriveText({.source = {"/", "kernel.cu", text},
                                            .entry = "run",
                                            .transform = std::string(core::kSegmentText),
                                            .parameters = {{core::kSegmentNumber, std::to_string(number)}}});
  if (!outcome) return "ERROR: " + outcome.error().message;
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome)) return "REFUSED: " + refusal->reason;
  const std::string& made = std::get<core::Rewritten>(*outcome).text;
  EXPECT_EQ(made.size(), text.size()) << "lines and columns keep their numbers";
  std::string left;
  for (const char c : made.substr(made.rfind("void run")))
    if (c != ' ' && c != '\n') left += c;
  return left.substr(left.find('{') + 1, left.rfind('}') - left.find('{') - 1);
}

TEST(Segments, AreTheStatementsThatLaunch) {
  const struct {
    const char* body;
    std::vector<std::string> segments;
  } rows[] = {
      {"a<<<n, 1>>>(x); b<<<1, 1>>>(x, y);", {"a<<<n,1>>>(x);;", ";b<<<1,1>>>(x,y);"}},
      // What others need stays.
      {"if (n == 0) return; int g = n / 2; a<<<g, 1>>>(x); b<<<g, 1>>>(x, y);",
       {"if(n==0)return;intg=n/2;a<<<g,1>>>(x);;", "if(n==0)return;intg=n/2;;b<<<g,1>>>(x,y);"}},
      {"for (int i = 0; i < n; ++i) a<<<1, 1>>>(x + i); both(x, y);",
       {"for(inti=0;i<n;++i)a<<<1,1>>>(x+i);;", ";both(x,y);"}},
      // What clears a buffer goes with the first that names it, whatever the stream and sizes are called.
      {"cudaMemsetAsync(y, 0, n, s); a<<<n, 1, 0, s>>>(x); b<<<n, 1, 0, s>>>(x, y);",
       {";a<<<n,1,0,s>>>(x);;", "cudaMemsetAsync(y,0,n,s);;b<<<n,1,0,s>>>(x,y);"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.body);
    for (size_t i = 0; i < row.segments.size(); ++i) EXPECT_EQ(Segment(row.body, i), row.segments[i]);
    EXPECT_EQ(Segment(row.body, row.segments.size()),
              fmt::format("REFUSED: the launcher has {} segments", row.segments.size()));
  }
}

TEST(Segments, StandApart) {
  for (const char* body : {
           "a<<<n, 1>>>(x);",                                                                 // one
           "both(x, y);",                                                                     // the same
           "if (n > 4) { a<<<n, 1>>>(x); return; } b<<<1, 1>>>(x, y);",                       // leaves
           "float* p = x; for (; n > 0; --n) { a<<<1, 1>>>(p); p = y; } b<<<1, 1>>>(p, y);",  // another sees p
           "float *p = x, *q = y; b<<<1, 1>>>(p, q); { b<<<1, 1>>>(q, p); std::swap(p, q); } a<<<1, 1>>>(p);",
           "a<<<n, 1>>>(x); b<<<1, 1>>>(x, y); cudaMemsetAsync(x, 0, n, s);",  // behind them all
       })
    EXPECT_EQ(Segment(body, 0), "REFUSED: the launcher has 0 segments") << body;
}

}  // namespace
}  // namespace warpwright

#include "rewrite/stale_comments.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(StaleComments, WhatTheySayOfSingleThreadsGoes) {
  const struct {
    const char* before;
    const char* after;
  } rows[] = {
      {"// column sums: one thread per column\nvoid f() {\n}\n", "// column sums\nvoid f() {\n}\n"},
      {"// Column sums, one thread per column.\nvoid f() {\n}\n", "// Column sums.\nvoid f() {\n}\n"},
      {"// One thread per row.\nvoid f() {\n}\n", "void f() {\n}\n"},
      {"// Adds.\n// Each thread sums a row\nvoid f() {\n}\n", "// Adds.\nvoid f() {\n}\n"},
      {"void f() {\n  int i = 0;  // a thread per row\n  ++i;\n}\n", "void f() {\n  int i = 0;\n  ++i;\n}\n"},
      {"void f() {\n  // naive loop\n  g();\n}\n", "void f() {\n  g();\n}\n"},
      {"/* One thread per row. */\nvoid f() {\n}\n", "void f() {\n}\n"},
      {"/* Adds; one thread per row */\nvoid f() {\n}\n", "/* Adds */\nvoid f() {\n}\n"},
      {"/*\n * Adds.\n *\n * One thread per row.\n */\nvoid f() {\n}\n", "/*\n * Adds.\n */\nvoid f() {\n}\n"},
      {"/** One thread per row,\n * all at once. */\nvoid f() {\n}\n", "/**\n * all at once. */\nvoid f() {\n}\n"},
      {"/*\nOne thread per row.\nAdds.\n*/\nvoid f() {\n}\n", "/*\nAdds.\n*/\nvoid f() {\n}\n"},
      {"/* Adds.\n   One thread per row. */\nvoid f() {\n}\n", "/* Adds.\n   */\nvoid f() {\n}\n"},
      {"/* Adds. */\n// Each thread sums a row\nvoid f() {\n}\n", "/* Adds. */\nvoid f() {\n}\n"},
      {"// Each thread sums a row\n/* Adds.\n */\nvoid f() {\n}\n", "/* Adds.\n */\nvoid f() {\n}\n"},
      {"void f() {\n  int i = 0; /* a thread per row */\n  ++i;\n}\n", "void f() {\n  int i = 0;\n  ++i;\n}\n"},
      {"void f() {\n  g(a /* a thread per row */, b);\n}\n", "void f() {\n  g(a, b);\n}\n"},
      {"void f() {\n  /* naive */ g();\n}\n", "void f() {\n  g();\n}\n"},
      {"/* one thread per row */\n\nvoid f() {\n}\n", nullptr},
      {"int a; /* one thread\n per row */\nvoid f() {\n}\n", nullptr},  // of what stands before it
      {"void f() {\n  g(\"/* one thread per row */\");\n}\n", nullptr},
      {"// one thread per row\n\nvoid f() {\n}\n", nullptr},  // of the file, not of f
      {"// one thread per row\nvoid other() {\n}\nvoid f() {\n}\n", nullptr},
      {"// the rows of the threads\nvoid f() {\n  g(\"// one thread per row\");\n}\n", nullptr},
      {"void f();\n", nullptr},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(rewrite::DropStaleComments(row.before, row.before, "f"), row.after == nullptr ? row.before : row.after);
    EXPECT_EQ(rewrite::DropStaleComments(row.before, "", "f"), row.before) << "a comment that the change brings stays";
  }
}

}  // namespace
}  // namespace warpwright

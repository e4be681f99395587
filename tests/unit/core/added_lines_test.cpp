// How the worker tells which lines a candidate adds.
#include "core/added_lines.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

TEST(AddedLines, AreReadAsTheyWereWritten) {
  const std::vector<core::AddedLine> lines = {
      {.number = 12, .old_work = true, .reached_through = 15, .sources = {{9, 10}, {11}}, .text = "x[i] = 1 2 3;"},
      {.number = 13, .updates = true, .text = ""}};
  core::Rewritten notes;
  for (const core::AddedLine& line : lines) notes.notes.push_back(core::EncodeAddedLine(line));
  EXPECT_EQ(notes.notes[0], "12 1 0 15 9,10;11 x[i] = 1 2 3;");
  const auto read = core::DecodeAddedLines(notes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, lines);
}

TEST(AddedLines, WhatIsNoneIsCorrupt) {
  for (const char* note :
       {"", "12", "12 1 0 15", "12 1 0 15 -", "0 1 0 15 - x", "-1 0 0 0 - x", "a 0 0 0 - x", "1 0 0 99999999999999 - x",
        "1  0 0 0 - x", "1 0 0 0 x", "1 0 0 0 0 x", "1 0 0 0 1, x", "1 0 0 0 1;;2 x", "1 0 0 0 1-2 x"}) {
    const auto read = core::DecodeAddedLines({.text = {}, .notes = {note}, .entry = {}});
    ASSERT_FALSE(read) << note;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace warpwright

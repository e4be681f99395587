// The text of schedules for forms of every kind, as a reviewer would see it. WW_UPDATE_GOLDEN=1 rewrites the files;
// read the difference.
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/stranger_forms.h"

namespace warpwright {
namespace {

using testing::Apply;
using testing::CompileError;
using testing::Find;
using testing::StubFor;

struct Row {
  const char* golden;  // in tests/golden/schedules
  const char* stranger;
  const char* schedule;
  schedule::ParameterValues parameters = {};
};

TEST(Golden, TextsAreAsPeopleWouldWriteThem) {
  const Row rows[] = {
      {"hardswish_half.cu", "03-tinyggml/ggt_hardswish_f16", "schedule_map"},
      {"swiglu.cu", "03-tinyggml/ggt_swiglu", "schedule_map"},
      {"batch_norm.cu", "04-extension/batch_norm_inference", "schedule_map"},
      {"embedding.cu", "02-gpt-in-c/encoder_forward", "schedule_map"},
      {"max_pool.cu", "07-shadownet/maxpool_naive", "schedule_map"},
      {"heat.cu", "08-stencils/heat2d_naive", "schedule_map"},
      {"layernorm.cu", "02-gpt-in-c/layernorm_naive", "schedule_rows"},
      {"rms_norm.cu", "03-tinyggml/rmsnorm_naive", "schedule_rows", {{"threads", "256"}}},
      {"cross_entropy.cu", "13-losses/cross_entropy_naive", "schedule_rows"},
      {"cosine_loss.cu", "13-losses/cosine_embedding_loss", "schedule_rows", {{"threads", "32"}}},
      {"log_softmax.cu", "04-extension/log_softmax_forward", "schedule_columns"},
      {"mean_squares.cu", "13-losses/mse_naive", "schedule_split"},
      {"transpose.cu", "11-pixels/transpose_naive", "schedule_transpose"},
      {"column_sums.cu", "01-student/columnSums", "schedule_split"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.stranger);
    const auto& stranger = Find(row.stranger);
    const std::string text = Apply(row.schedule, stranger, StubFor(stranger), row.parameters);
    ExpectGolden(std::string("schedules/") + row.golden, text);
    EXPECT_EQ(CompileError(stranger, text), "");
  }
}

}  // namespace
}  // namespace warpwright

// A group of stages that one kernel computes tile by tile: a sum of products, or a few, and what becomes of the
// results.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/problem.h"
#include "schedule/stage_readers.h"

namespace warpwright::schedule {

struct ProductRows;
struct ProductWindow;

// A sum of products, and its stage.
struct SumOfProducts {
  size_t stage = 0;  // of Problem::form.stages
  Contraction contraction;
};

struct ContractionGroup {
  size_t stage = 0;         // of Problem::form.stages: the sum's
  Contraction contraction;  // of that stage
  std::vector<StageReader> outputs;
  // Further products whose results the outputs take at the same places, of the same variables: a gate beside the values
  // that it is multiplied with, or what another input adds.
  std::vector<SumOfProducts> others = {};
  // Instead of the outputs, where whole rows of results are reduced.
  std::shared_ptr<const ProductRows> rows = nullptr;
  // Where windows of results are reduced: the outputs' variables are the product's, without the window's.
  std::shared_ptr<const ProductWindow> window = nullptr;
};

// Refuses a group with another reduction, unless it is such a product or of the results' rows, and one whose outputs do
// not take each result at one place.
std::variant<core::RewriteRefusal, ContractionGroup> ContractionGroupOf(const Problem& problem, const Group& group);

// A product of matrices of more terms than one thread should add up by itself: tiles keep what several results need.
bool IsLongProduct(const Problem& problem, const core::Stage& stage, const core::Reduce& sum);

}  // namespace warpwright::schedule

// Kernels in which a thread processes element i = blockIdx.x * blockDim.x + threadIdx.x, or on every i of a grid-stride
// loop.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rewrite/site.h"

namespace warpwright::rewrite {

// The kernel as: hoisted declarations; the index; then, for one element, `prefix` and the text from `begin` to `end`.
struct ElementwiseForm {
  const source::Node* index = nullptr;  // kVariable of i
  const source::Node* bound = nullptr;
  std::optional<source::CountedLoop> stride_loop;  // the grid-stride form
  std::optional<source::BoundsGuard> guard;
  std::vector<const source::Node*> hoisted;     // declarations that do not depend on i
  std::vector<const source::Node*> prefix;      // declarations between the index and the guard that depend on i
  std::vector<const source::Node*> statements;  // of the element
  uint32_t begin = 0, end = 0;                  // text of `statements`
};

using ElementwiseOutcome = std::variant<ElementwiseForm, core::RewriteRefusal>;

ElementwiseOutcome RecognizeElementwise(const KernelSite& site);

// blockIdx.x * blockDim.x + threadIdx.x, or with a constant instead of blockDim.x.
bool IsGlobalThreadIndex(const source::Polynomial& index);

// The element's statements with parts replaced: no indentation, two-space units.
std::string ElementText(const KernelSite& site, const ElementwiseForm& form,
                        const std::vector<Substitution>& substitutions);

const source::Node* IndexDeclaration(
    const ElementwiseForm& form);  // the statement; null if the loop declares the index
// The name and the type of the element's index, without const.
std::string IndexName(const ElementwiseForm& form);
std::string IndexType(const ElementwiseForm& form);

}  // namespace warpwright::rewrite

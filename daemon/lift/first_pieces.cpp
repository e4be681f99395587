#include "lift/first_pieces.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace warpwright::lift {
namespace {

// Directly by what the outputs are, or by one another.
std::set<uint16_t> IntermediatesThatAreRead(const FormGraph& forms, const std::vector<ShapedBuffer>& buffers) {
  std::vector<bool> seen(forms.size(), false);
  std::set<uint16_t> read;
  std::vector<FormId> stack;
  const auto push = [&](const ShapedBuffer& buffer) {
    for (const FormId id : buffer.elements)
      if (id != 0 && !seen[id]) stack.push_back(id), seen[id] = true;
  };
  for (const ShapedBuffer& buffer : buffers)
    if (!buffer.intermediate) push(buffer);
  while (!stack.empty()) {
    const FormId id = stack.back();
    stack.pop_back();
    const FormNode& node = forms[id];
    if ((node.op == FormOp::kLoad || node.op == FormOp::kGather) && buffers[node.buffer].intermediate &&
        read.insert(node.buffer).second)
      push(buffers[node.buffer]);
    for (const FormTerm& term : forms.terms(id))
      if (!seen[term.node]) stack.push_back(term.node), seen[term.node] = true;
  }
  return read;
}

bool IsZero(const FormGraph& forms, FormId id) {
  return id != 0 && forms[id].op == FormOp::kConstant && forms[id].value == 0;
}

// Whether the zeros are all that lies in some lines across the buffer. Those of a triangle are not.
bool AreZerosLines(const FormGraph& forms, const ShapedBuffer& buffer) {
  Column all(buffer.elements.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<Column> at = CoordinatesOf(all, buffer.shape);
  std::vector<std::vector<bool>> only_zeros;
  for (const int64_t extent : buffer.shape) only_zeros.emplace_back(static_cast<size_t>(extent), true);
  for (size_t e = 0; e < all.size(); ++e)
    for (size_t d = 0; d < at.size() && !IsZero(forms, buffer.elements[e]); ++d)
      only_zeros[d][static_cast<size_t>(at[d][e])] = false;
  for (size_t e = 0; e < all.size(); ++e) {
    bool in_line = false;
    for (size_t d = 0; d < at.size(); ++d) in_line |= only_zeros[d][static_cast<size_t>(at[d][e])];
    if (in_line != IsZero(forms, buffer.elements[e])) return false;
  }
  return true;
}

// The sum that zeros of the buffer are like; 0: none, or they are no sums. `reductions`: as FirstPieces finds them.
FormId SumLikeZeros(const FormGraph& forms, const ShapedBuffer& buffer, const std::map<uint64_t, FormOp>& reductions) {
  if (reductions.size() != 1 || reductions.begin()->second != FormOp::kLinear) return 0;
  const uint64_t of_term = reductions.begin()->first;
  FormId sum = 0;
  bool zeros = false;
  for (const FormId id : buffer.elements) {
    if (id == 0) return 0;
    if (IsZero(forms, id)) {
      zeros = true;
      continue;
    }
    if (forms[id].signature == of_term) continue;  // one term
    const auto terms = forms.terms(id);
    if (forms[id].op != FormOp::kLinear || terms.empty() || forms[terms[0].node].signature != of_term) return 0;
    sum = id;
  }
  return zeros && sum != 0 && AreZerosLines(forms, buffer) ? sum : 0;
}

}  // namespace

std::vector<Piece> FirstPieces(FormGraph& forms, const std::vector<ShapedBuffer>& buffers, bool empty_sums) {
  std::vector<Piece> all;
  const std::set<uint16_t> read = IntermediatesThatAreRead(forms, buffers);
  std::vector<uint16_t> order(read.begin(), read.end());
  for (uint16_t b = 0; b < buffers.size() && !buffers[b].intermediate; ++b) order.push_back(b);
  for (const uint16_t b : order) {
    const ShapedBuffer& buffer = buffers[b];
    std::map<uint64_t, FormOp> reductions;  // signature of a term -> what reduces it elsewhere in this output
    for (const FormId id : buffer.elements) {
      if (id == 0) continue;
      const FormNode& node = forms[id];
      const bool reduces =
          (node.op == FormOp::kLinear && node.value == 0) || node.op == FormOp::kMax || node.op == FormOp::kMin;
      if (!reduces) continue;
      const auto terms = forms.terms(id);
      const uint64_t signature = forms[terms[0].node].signature;
      if (forms[terms.back().node].signature == signature && terms[0].coefficient == 1)
        reductions.emplace(signature, node.op);
    }
    const FormId like = empty_sums ? SumLikeZeros(forms, buffer, reductions) : 0;
    std::map<uint64_t, Piece> by_signature;
    for (size_t e = 0; e < buffer.elements.size(); ++e) {
      FormId id = buffer.elements[e];
      if (id == 0) continue;
      if (like != 0 && IsZero(forms, id)) id = forms.EmptySum(like, static_cast<int64_t>(e));
      if (const auto found = reductions.find(forms[id].signature);
          found != reductions.end() && found->second != forms[id].op)
        id = forms.OfOne(found->second, id);
      Piece& piece = by_signature[forms[id].signature];
      piece.buffer = static_cast<uint16_t>(b);
      piece.elements.push_back(static_cast<int64_t>(e));
      piece.forms.push_back(id);
    }
    std::vector<Piece> pieces;
    for (auto& [signature, piece] : by_signature) pieces.push_back(std::move(piece));
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& x, const Piece& y) { return x.elements[0] < y.elements[0]; });
    for (Piece& piece : pieces) all.push_back(std::move(piece));
  }
  return all;
}

}  // namespace warpwright::lift

#include "lift/first_pieces.h"

#include <algorithm>
#include <iterator>
#include <map>
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

}  // namespace

std::vector<Piece> FirstPieces(FormGraph& forms, const std::vector<ShapedBuffer>& buffers) {
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
    std::map<uint64_t, Piece> by_signature;
    for (size_t e = 0; e < buffer.elements.size(); ++e) {
      FormId id = buffer.elements[e];
      if (id == 0) continue;
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

#include "core/normal_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/random.h"
#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

// Six digits: what is left of a literal after conversions between formats and a few foldings. Whole numbers are exact.
std::string LiteralText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  if (std::fabs(value) < 0x1p53 && std::trunc(value) == value) std::snprintf(text, sizeof text, "%.0f", value);
  else std::snprintf(text, sizeof text, "%.6g", value);
  return std::strcmp(text, "-0") == 0 ? "0" : text;
}

std::string_view OpName(NormalOp op) {
  constexpr std::string_view kNames[] = {"constant", "symbol", "atom",    "read",    "linear", "product",
                                         "max",      "call",   "compare", "and",     "or",     "not",
                                         "select",   "reduce", "output",  "guarded", "cases",  "all"};
  return kNames[static_cast<size_t>(op)];
}

void AddTokens(std::vector<TokenId>& tokens, std::span<const TokenId> more) {
  std::vector<TokenId> both;
  std::set_union(tokens.begin(), tokens.end(), more.begin(), more.end(), std::back_inserter(both));
  tokens = std::move(both);
}

}  // namespace

ContentHash HashOf(std::string_view bytes) {
  ContentHash hash{bytes.size() ^ 0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL};
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    for (size_t k = 0; k < 8 && i + k < bytes.size(); ++k)
      word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i + k])) << (8 * k);
    hash.high = base::MixBits(hash.high ^ word);
    hash.low = base::MixBits(hash.low + word * 0xd1342543de82ef95ULL + hash.high);
  }
  return hash;
}

std::string HexOf(const ContentHash& hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return text;
}

std::string NormalGraph::Serialized(const Atom& atom, const std::map<NormalId, size_t>* lines) const {
  switch (atom.kind) {
    case Atom::Kind::kToken: return token_names_[atom.token];
    case Atom::Kind::kGather:
      return lines == nullptr ? "gather " + HexOf(nodes_[atom.node].hash) : "%" + std::to_string(lines->at(atom.node));
    case Atom::Kind::kQuotient:
    case Atom::Kind::kRemainder: break;
  }
  return "(" + Serialized(atom.inner, lines) + (atom.kind == Atom::Kind::kQuotient ? " / " : " % ") +
         atom.modulus.text() + ")";
}
std::string NormalGraph::Serialized(const NormalIndex& index, const std::map<NormalId, size_t>* lines) const {
  std::string text;
  for (const auto& [atom, coefficient] : index.terms)
    text += (text.empty() ? "(" : " + (") + coefficient.text() + ")*" + Serialized(atoms_[atom], lines);
  text += " + " + index.constant.text();
  return index.divisor == Polynomial(1) ? text : "(" + text + ") / (" + index.divisor.text() + ")";
}
std::string NormalGraph::Serialized(const NormalNode& node, bool by_hash,
                                    const std::map<NormalId, size_t>* lines) const {
  std::string text(OpName(node.op));
  if (node.op == NormalOp::kCall && node.name.empty())
    text += " " + std::string(Name(static_cast<Function>(node.detail)));
  if (node.op == NormalOp::kCompare) text += " " + std::string(Name(static_cast<Comparison>(node.detail)));
  if (node.op == NormalOp::kReduce) text += " " + std::string(Name(static_cast<ReduceOp>(node.detail)));
  if (!node.name.empty()) text += " " + node.name;
  if (node.op == NormalOp::kConstant || node.op == NormalOp::kLinear) text += " " + LiteralText(node.value);
  if (node.op == NormalOp::kAtom) text += " " + Serialized(atoms_[node.atom], lines);
  for (const auto& [token, extent] : node.variables) text += " [" + token_names_[token] + " < " + extent.text() + "]";
  for (const auto& position : node.positions) text += " {" + Serialized(position, lines) + "}";
  for (size_t i = 0; i < node.args.size(); ++i) {
    text += by_hash ? " " + HexOf(nodes_[node.args[i]].hash) : " %" + std::to_string(lines->at(node.args[i]));
    if (!node.weights.empty()) text += "*" + LiteralText(node.weights[i]);
  }
  return text;
}

NormalId NormalGraph::Intern(NormalNode node) {
  ++asked_;
  node.hash = HashOf(Serialized(node, true, nullptr));
  const auto found = ids_.find(node.hash);
  if (found != ids_.end()) return found->second;
  std::set<TokenId> bound;
  for (const auto& [token, extent] : node.variables) bound.insert(token);
  node.tokens.clear();
  node.height = 0;
  if (node.op == NormalOp::kAtom) {
    node.tokens = atoms_[node.atom].tokens;
    node.height = atoms_[node.atom].height;
  }
  for (const NormalId arg : node.args) {
    AddTokens(node.tokens, nodes_[arg].tokens);
    node.height = std::max(node.height, nodes_[arg].height);
  }
  for (const auto& position : node.positions) {
    AddTokens(node.tokens, TokensOf(position));
    for (const auto& [atom, coefficient] : position.terms) node.height = std::max(node.height, atoms_[atom].height);
  }
  std::erase_if(node.tokens, [&](TokenId token) { return bound.contains(token); });
  if (!node.variables.empty()) ++node.height;
  const auto id = static_cast<NormalId>(nodes_.size());
  ids_.emplace(node.hash, id);
  nodes_.push_back(std::move(node));
  return id;
}

void NormalGraph::SortByHash(std::vector<NormalId>& ids) const {
  std::sort(ids.begin(), ids.end(), [&](NormalId a, NormalId b) { return nodes_[a].hash < nodes_[b].hash; });
}
const NormalNode* NormalGraph::As(NormalOp op, NormalId id) const {
  return nodes_[id].op == op ? &nodes_[id] : nullptr;
}
const double* NormalGraph::AsConstant(NormalId id) const {
  const NormalNode* node = As(NormalOp::kConstant, id);
  return node == nullptr ? nullptr : &node->value;
}

// What a node needs: its arguments, and the nodes that its positions gather from.
std::vector<NormalId> NormalGraph::Below(NormalId id) const {
  std::vector<NormalId> below = nodes_[id].args;
  std::vector<AtomId> atoms;
  const auto add = [&](const NormalIndex& index) {
    for (const auto& [atom, coefficient] : index.terms) atoms.push_back(atom);
  };
  if (nodes_[id].op == NormalOp::kAtom) atoms.push_back(nodes_[id].atom);
  for (const auto& position : nodes_[id].positions) add(position);
  while (!atoms.empty()) {
    const Atom& atom = atoms_[atoms.back()];
    atoms.pop_back();
    if (atom.kind == Atom::Kind::kGather) below.push_back(atom.node);
    add(atom.inner);
  }
  return below;
}

std::string NormalGraph::Text(NormalId root) const {
  std::map<NormalId, size_t> lines;
  std::string text;
  std::vector<std::pair<NormalId, bool>> stack = {{root, false}};  // whether what it needs was written
  while (!stack.empty()) {
    const auto [id, ready] = stack.back();
    stack.pop_back();
    if (lines.contains(id)) continue;
    if (ready) {
      text += std::to_string(lines.size()) + " = " + Serialized(nodes_[id], false, &lines) + "\n";
      lines.emplace(id, lines.size());
      continue;
    }
    stack.emplace_back(id, true);
    const auto below = Below(id);
    for (size_t i = below.size(); i-- > 0;)
      if (!lines.contains(below[i])) stack.emplace_back(below[i], false);
  }
  return text;
}

}  // namespace warpwright::core

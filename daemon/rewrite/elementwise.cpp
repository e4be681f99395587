#include "rewrite/elementwise.h"

#include <fmt/core.h>

#include <cctype>

namespace warpwright::rewrite {
namespace {

// The text between the braces of a block, or the statement itself.
void TakeElement(const source::Node& body, ElementwiseForm& form, std::string_view text) {
  if (body.Is(source::NodeKind::kBlock)) {
    for (const auto& child : body.children) form.statements.push_back(child.get());
    form.begin = body.begin + 1;
    form.end = body.end - 1;
    return;
  }
  form.statements = {&body};
  form.begin = body.begin;
  form.end = static_cast<uint32_t>(text.find(';', body.end) + 1);
}

// Text of the file with replacements, moved to the margin.
std::string Taken(const KernelSite& site, uint32_t begin, uint32_t end,
                  const std::vector<Substitution>& substitutions) {
  Edits edits;
  for (const Substitution& substitution : substitutions)
    if (substitution.node->begin >= begin && substitution.node->end <= end)
      edits.Replace(*substitution.node, substitution.text);
  std::string text = edits.ApplyWithin(site.text, begin, end).value_or("");
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  // Dedented leaves the first line unchanged; an empty line in front makes it one of the others.
  return Dedented("\n" + text.substr(LineBegin(text, static_cast<uint32_t>(first))), site.unit).substr(1);
}

}  // namespace

bool IsGlobalThreadIndex(const source::Polynomial& index) {
  const auto thread = index.Coefficient("threadIdx.x");
  const auto block = index.Coefficient("blockIdx.x");
  if (!thread || !block || *thread != source::Polynomial::Constant(1) || *block == source::Polynomial()) return false;
  const source::Polynomial rest = index.Without("threadIdx.x").Without("blockIdx.x");
  return rest == source::Polynomial() && block->Symbols().size() <= 1 && !block->Mentions("threadIdx.x") &&
         (block->constant() || *block == source::Polynomial::Symbol("blockDim.x"));
}

ElementwiseOutcome RecognizeElementwise(const KernelSite& site) {
  const source::Node& body = *site.function().body;
  const source::FunctionAnalysis& analysis = site.analysis();
  ElementwiseForm form;
  for (size_t i = 0; i < body.size(); ++i) {
    const source::Node& statement = body[i];
    if (statement.Is(source::NodeKind::kDeclaration)) {
      if (form.index == nullptr && statement.size() == 1 && analysis.Definition(statement[0].symbol) != nullptr &&
          IsGlobalThreadIndex(analysis.Index(statement[0][0]))) {
        form.index = &statement[0];
        continue;
      }
      const bool depends = form.index != nullptr && analysis.DependsOn(statement).On(form.index->symbol);
      (depends ? form.prefix : form.hoisted).push_back(&statement);
      continue;
    }
    if (const auto loop = analysis.Counted(statement); loop && i + 1 == body.size() && form.prefix.empty()) {
      const source::Node& start = *loop->start;
      const bool from_index =
          IsGlobalThreadIndex(analysis.Index(start)) && loop->declares && loop->relation == "<" && !loop->down;
      const source::Polynomial block =
          from_index ? *analysis.Index(start).Coefficient("blockIdx.x") : source::Polynomial();
      if (!from_index || loop->step == nullptr ||
          analysis.Index(*loop->step) != block * source::Polynomial::Symbol("gridDim.x"))
        return Refuse("the loop is not a grid-stride loop over elements", statement.line);
      form.stride_loop = loop;
      form.bound = loop->bound;
      TakeElement(loop->body(), form, site.text);
      if (form.index == nullptr) return form;
      // The first element is in a separate variable that is used only as the start of the loop.
      for (const source::Node* use : analysis.Find(form.index->symbol)->uses)
        if (!source::Contains(start, *use))
          return Refuse(fmt::format("{} is used inside the loop", form.index->name), use->line);
      form.hoisted.push_back(form.index->parent);
      return form;
    }
    const auto guard = source::AsBoundsGuard(statement);
    const auto guards_index = [&] {
      if (!guard || form.index == nullptr || guard->limits.size() != 1) return false;
      const source::Node& index = source::StripCasts(*guard->limits[0].index);
      return index.Is(source::NodeKind::kName) && index.symbol == form.index->symbol;
    };
    if (!guards_index())
      return Refuse("the kernel is not of the form i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) ...",
                    statement.line);
    form.guard = guard;
    form.bound = guard->limits[0].bound;
    if (!guard->returns_early) {
      if (i + 1 != body.size()) return Refuse("there are statements behind the bounds guard", body[i + 1].line);
      TakeElement(guard->body(), form, site.text);
      return form;
    }
    if (i + 1 == body.size()) return Refuse("nothing follows the bounds guard", statement.line);
    for (size_t k = i + 1; k < body.size(); ++k) form.statements.push_back(&body[k]);
    form.begin = LineEnd(site.text, statement.end);
    if (body[i + 1].begin < form.begin) form.begin = body[i + 1].begin;  // on the guard's line
    form.end = body.end - 1;
    return form;
  }
  return Refuse("no bounds guard and no grid-stride loop over elements", body.line);
}

std::string ElementText(const KernelSite& site, const ElementwiseForm& form,
                        const std::vector<Substitution>& substitutions) {
  std::string code;
  for (const source::Node* statement : form.prefix)
    code += Taken(site, statement->begin, statement->end, substitutions) + "\n";
  return code + Taken(site, form.begin, form.end, substitutions);
}

const source::Node* IndexDeclaration(const ElementwiseForm& form) {
  return form.index == nullptr ? nullptr : form.index->parent;
}

std::string IndexName(const ElementwiseForm& form) {
  return form.stride_loop ? form.stride_loop->name : form.index->name;
}

std::string IndexType(const ElementwiseForm& form) {
  const std::string& type = form.stride_loop ? form.stride_loop->type : form.index->type;
  return type.starts_with("const ") ? type.substr(6) : type;
}

}  // namespace warpwright::rewrite

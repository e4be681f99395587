#include "lift/unify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/computation_walk.h"
#include "lift/indexed_extents.h"
#include "lift/literal_solver.h"

namespace warpwright::lift {
namespace {

using core::Affine;
using core::Computation;
using core::Guard;
using core::Node;
using core::NodeId;
using core::Size;
using core::Stage;

constexpr double kLiteralError = 3e-6;  // relative: literals have seven digits at most

// The same part of every form.
template <typename T>
using Twins = std::vector<const T*>;

template <typename T, typename F>
auto Project(const Twins<T>& twins, const F& f) {
  std::vector<decltype(f(*twins[0]))> out;
  for (const T* twin : twins) out.push_back(f(*twin));
  return out;
}

bool IsNear(double a, double b) {
  return a == b || std::fabs(a - b) <= kLiteralError * std::max(std::fabs(a), std::fabs(b));
}
bool AllNear(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return IsNear(v, values[0]); });
}

class Unifier {
 public:
  Unifier(const std::vector<FormAtShape>& forms, const std::vector<std::vector<Size>>& arguments,
          const std::set<std::string>& varying)
      : forms_(forms),
        arguments_(arguments),
        shapes_(ShapesOf(forms)),
        sizes_(shapes_, Hints(arguments)),
        extents_(shapes_, sizes_, varying),
        literals_(sizes_, RealsOf(forms)) {}

  Fitted<Computation> Run() {
    Twins<Computation> all;
    for (const FormAtShape& form : forms_) all.push_back(&form.form.computation);
    Computation& result = result_;
    result = *all[0];
    for (size_t k = 0; k < result.tensors.size() && k < arguments_.size(); ++k) result.tensors[k].shape = arguments_[k];
    result.stages.clear();
    if (!Agree(Project(all, [](const Computation& c) { return c.stages.size(); })))
      return Mismatch("numbers of stages");
    for (size_t s = 0; s < all[0]->stages.size(); ++s) {
      Twins<Stage> stages;
      for (const Computation* c : all) stages.push_back(&c->stages[s]);
      stage_ = s;
      Stage stage = Unified(stages);
      if (!failure_.empty()) return tl::unexpected(failure_);
      AddCounts(stage);
      result.stages.push_back(std::move(stage));
    }
    return result;
  }

 private:
  static std::vector<core::Sizes> ShapesOf(const std::vector<FormAtShape>& forms) {
    std::vector<core::Sizes> shapes;
    for (const FormAtShape& form : forms) shapes.push_back(form.sizes);
    return shapes;
  }
  static std::vector<std::map<std::string, double>> RealsOf(const std::vector<FormAtShape>& forms) {
    std::vector<std::map<std::string, double>> reals;
    for (const FormAtShape& form : forms) reals.push_back(form.reals);
    return reals;
  }
  static std::vector<Size> Hints(const std::vector<std::vector<Size>>& arguments) {
    std::vector<Size> hints;
    for (const auto& shape : arguments) hints.insert(hints.end(), shape.begin(), shape.end());
    return hints;
  }

  template <typename T>
  static bool Agree(const std::vector<T>& values) {
    return std::all_of(values.begin(), values.end(), [&](const T& v) { return v == values[0]; });
  }
  tl::unexpected<std::string> Mismatch(std::string_view what) {
    failure_ = fmt::format("the statements differ between shapes in their {}", what);
    return tl::unexpected(failure_);
  }
  void Differ(std::string_view what) {
    if (failure_.empty()) (void)Mismatch(what);
  }

  Size Unified(const std::vector<Size>& sizes) {
    std::vector<int64_t> values;
    for (const Size& size : sizes) values.push_back(size.Evaluate({}).value_or(0));
    if (auto solved = sizes_.Solve(values)) return *solved;
    if (failure_.empty())
      failure_ = fmt::format("a size that is {} at the shapes tried follows from no scalar", fmt::join(values, ", "));
    return Size::Constant(values[0]);
  }
  // Of dimensions in this form: the shapes of arguments, and of the stages before.
  const std::vector<Size>* ShapeOfTensor(const std::string& name, bool of_stage) const {
    if (of_stage) {
      const Stage* stage = result_.FindStage(name);
      return stage == nullptr ? nullptr : &stage->extents;
    }
    const core::TensorArgument* tensor = result_.FindTensor(name);
    return tensor == nullptr ? nullptr : &tensor->shape;
  }
  // How far an index of the stage runs.
  Size UnifiedExtent(core::VariableId variable, const std::vector<Size>& extents) {
    return UnifiedExtent(ExtentsIndexedBy(*concrete_, variable, shape_of_), extents);
  }
  Size UnifiedExtent(const IndexedExtents& of, const std::vector<Size>& extents) {
    std::vector<int64_t> values;
    for (const Size& extent : extents) values.push_back(extent.Evaluate({}).value_or(0));
    if (auto solved = extents_.Solve(values, of)) return *solved;
    return Unified(extents);
  }
  template <typename T>
  Size SizeAt(const Twins<T>& twins, Size T::* member) {
    return Unified(Project(twins, [&](const T& t) { return t.*member; }));
  }

  Affine Unified(const Twins<Affine>& affine) {
    Affine result = *affine[0];
    const auto terms = [](const Affine& a) {
      std::vector<std::tuple<core::VariableId, Affine::Part, bool>> kinds;
      for (const Affine::Term& term : a.terms) kinds.emplace_back(term.variable, term.part, term.modulus.has_value());
      return kinds;
    };
    if (!Agree(Project(affine, terms))) {
      Differ("indices");
      return result;
    }
    for (size_t k = 0; k < result.terms.size(); ++k) {
      result.terms[k].coefficient = Unified(Project(affine, [&](const Affine& a) { return a.terms[k].coefficient; }));
      if (result.terms[k].modulus)
        result.terms[k].modulus = Unified(Project(affine, [&](const Affine& a) { return *a.terms[k].modulus; }));
    }
    result.constant = SizeAt(affine, &Affine::constant);
    result.divisor = SizeAt(affine, &Affine::divisor);
    return result;
  }

  std::vector<Guard> UnifiedGuards(const Twins<std::vector<Guard>>& guards) {
    std::vector<Guard> result;
    if (!Agree(Project(guards, [](const auto& g) { return g.size(); }))) {
      Differ("guards");
      return result;
    }
    for (size_t k = 0; k < guards[0]->size(); ++k) {
      Twins<Guard> twins;
      for (const auto* g : guards) twins.push_back(&(*g)[k]);
      Guard guard;
      guard.value = Unified(Project(twins, [](const Guard& g) { return &g.value; }));
      for (auto side : {&Guard::low, &Guard::high}) {
        if (!Agree(Project(twins, [&](const Guard& g) { return (g.*side).has_value(); }))) Differ("guards");
        else if (twins[0]->*side)
          guard.*side = UnifiedExtent({ExtentsAt(*concrete_, twins[0]->value, shape_of_), {}},
                                      Project(twins, [&](const Guard& g) { return *(g.*side); }));
      }
      result.push_back(std::move(guard));
    }
    return result;
  }

  // Sides of a reduction's guards that no shape needs.
  void DropUnneeded(std::vector<Guard>& guards) const {
    for (size_t k = 0; k < guards.size(); ++k) {
      bool low = false, high = false;
      for (const FormAtShape& form : forms_) {
        low |= form.form.needed[stage_][k].first;
        high |= form.form.needed[stage_][k].second;
      }
      if (!low) guards[k].low.reset();
      if (!high) guards[k].high.reset();
    }
    std::erase_if(guards, [](const Guard& guard) { return !guard.low && !guard.high; });
  }

  Stage Unified(const Twins<Stage>& stages) {
    Stage stage;
    const Stage& first = *stages[0];
    concrete_ = &first;
    stage.name = first.name;
    stage.output = first.output;
    stage.dtype = first.dtype;
    stage.line = first.line;
    const auto same = Project(stages, [](const Stage& s) {
      return std::tuple(s.name, s.output, s.extents.size(), s.at.size(), s.nodes.size());
    });
    if (!Agree(same)) {
      Differ("structure");
      return stage;
    }
    for (size_t k = 0; k < first.extents.size(); ++k)
      stage.extents.push_back(UnifiedExtent(static_cast<core::VariableId>(k),
                                            Project(stages, [&](const Stage& s) { return s.extents[k]; })));
    for (size_t k = 0; k < first.at.size(); ++k) {
      stage.at.push_back(Unified(Project(stages, [&](const Stage& s) { return &s.at[k]; })));
      std::erase_if(stage.at.back().terms, [&](const Affine::Term& term) {
        return term.variable < stage.extents.size() && core::IsNumber(stage.extents[term.variable], 1);
      });
    }
    stage.domain = UnifiedGuards(Project(stages, [](const Stage& s) { return &s.domain; }));
    nodes_ = &stage.nodes;
    std::vector<NodeId> moved;
    for (size_t k = 0; k < first.nodes.size() && failure_.empty(); ++k) {
      const Twins<Node> twins = Project(stages, [&](const Stage& s) { return &s.nodes[k]; });
      if (!Agree(Project(twins, [](const Node& n) { return n.index(); }))) {
        Differ("operations");
        return stage;
      }
      moved.push_back(UnifiedNode(twins, moved));
    }
    return stage;
  }

  NodeId Add(Node node) {
    nodes_->push_back(std::move(node));
    return static_cast<NodeId>(nodes_->size() - 1);
  }

  template <typename T>
  static Twins<T> As(const Twins<Node>& twins) {
    return Project(twins, [](const Node& n) { return &std::get<T>(n); });
  }
  static std::vector<NodeId> Moved(const std::vector<NodeId>& args, const std::vector<NodeId>& moved) {
    std::vector<NodeId> out;
    for (const NodeId arg : args) out.push_back(moved[arg]);
    return out;
  }
  template <typename T, typename F>
  bool Same(const Twins<T>& twins, const F& key, std::string_view what) {
    if (Agree(Project(twins, key))) return true;
    Differ(what);
    return false;
  }

  NodeId UnifiedNode(const Twins<Node>& twins, const std::vector<NodeId>& moved) {
    return std::visit([&](const auto& first) { return Unify(first, As<std::decay_t<decltype(first)>>(twins), moved); },
                      *twins[0]);
  }
  NodeId Unify(const core::Constant&, const Twins<core::Constant>& twins, const std::vector<NodeId>&) {
    return Literal(Project(twins, [](const core::Constant& c) { return c.value; }));
  }
  NodeId Unify(const core::ScalarRead& first, const Twins<core::ScalarRead>& twins, const std::vector<NodeId>&) {
    Same(twins, [](const auto& n) { return n.name; }, "scalars");
    return Add(first);
  }
  NodeId Unify(const core::SizeValue&, const Twins<core::SizeValue>& twins, const std::vector<NodeId>&) {
    return Add(core::SizeValue{SizeAt(twins, &core::SizeValue::size)});
  }
  NodeId Unify(const core::IndexValue&, const Twins<core::IndexValue>& twins, const std::vector<NodeId>&) {
    return Add(core::IndexValue{Unified(Project(twins, [](const auto& n) { return &n.index; }))});
  }
  NodeId Unify(const core::TensorRead& first, const Twins<core::TensorRead>& twins, const std::vector<NodeId>& moved) {
    const auto shape = [](const core::TensorRead& n) {
      std::vector<size_t> kinds;
      for (const core::Coordinate& c : n.at) kinds.push_back(c.index());
      return std::tuple(n.tensor, n.stage, kinds);
    };
    core::TensorRead read{first.tensor, first.stage, {}};
    if (!Same(twins, shape, "reads")) return Add(std::move(read));
    for (size_t d = 0; d < first.at.size(); ++d) {
      if (const NodeId* id = std::get_if<NodeId>(&first.at[d])) read.at.emplace_back(moved[*id]);
      else read.at.emplace_back(Unified(Project(twins, [&](const auto& n) { return &std::get<Affine>(n.at[d]); })));
    }
    return Add(std::move(read));
  }
  NodeId Unify(const core::Reduce& first, const Twins<core::Reduce>& twins, const std::vector<NodeId>& moved) {
    core::Reduce reduce;
    reduce.op = first.op;
    reduce.body = moved[first.body];
    const auto shape = [](const core::Reduce& n) {
      return std::tuple(n.op, n.variables.size(), n.body, n.index.has_value());
    };
    if (!Same(twins, shape, "reductions")) return Add(std::move(reduce));
    for (size_t k = 0; k < first.variables.size(); ++k)
      reduce.variables.push_back(
          {first.variables[k].id,
           UnifiedExtent(first.variables[k].id, Project(twins, [&](const auto& n) { return n.variables[k].extent; }))});
    reduce.guards = UnifiedGuards(Project(twins, [](const auto& n) { return &n.guards; }));
    if (failure_.empty()) DropUnneeded(reduce.guards);
    if (first.index) reduce.index = Unified(Project(twins, [](const auto& n) { return &*n.index; }));
    return Add(std::move(reduce));
  }
  NodeId Unify(const core::Nary& first, const Twins<core::Nary>& twins, const std::vector<NodeId>& moved) {
    Same(twins, [](const auto& n) { return std::tuple(n.op, n.args); }, "operations");
    return Add(core::Nary{first.op, Moved(first.args, moved)});
  }
  NodeId Unify(const core::Call& first, const Twins<core::Call>& twins, const std::vector<NodeId>& moved) {
    Same(twins, [](const auto& n) { return std::tuple(n.function, n.args); }, "functions");
    return Add(core::Call{first.function, Moved(first.args, moved)});
  }
  NodeId Unify(const core::Compare& first, const Twins<core::Compare>& twins, const std::vector<NodeId>& moved) {
    Same(twins, [](const auto& n) { return std::tuple(n.op, n.left, n.right); }, "comparisons");
    return Add(core::Compare{first.op, moved[first.left], moved[first.right]});
  }
  NodeId Unify(const core::Logic& first, const Twins<core::Logic>& twins, const std::vector<NodeId>& moved) {
    Same(twins, [](const auto& n) { return std::tuple(n.op, n.args); }, "conditions");
    return Add(core::Logic{first.op, Moved(first.args, moved)});
  }
  NodeId Unify(const core::Select& first, const Twins<core::Select>& twins, const std::vector<NodeId>& moved) {
    Same(twins, [](const auto& n) { return std::tuple(n.condition, n.then, n.otherwise); }, "selections");
    return Add(core::Select{moved[first.condition], moved[first.then], moved[first.otherwise]});
  }
  NodeId Unify(const core::Convert& first, const Twins<core::Convert>& twins, const std::vector<NodeId>& moved) {
    Same(twins, [](const auto& n) { return std::tuple(n.to, n.arg); }, "conversions");
    return Add(core::Convert{first.to, moved[first.arg]});
  }

  // How many terms the stage's reductions have: what a mean divides by.
  void AddCounts(const Stage& stage) {
    for (const Node& node : stage.nodes) {
      const auto* reduce = std::get_if<core::Reduce>(&node);
      if (reduce == nullptr || reduce->variables.size() < 2) continue;
      std::vector<std::string> factors;
      for (const auto& variable : reduce->variables) factors.push_back(fmt::format("({})", variable.extent.text()));
      const auto size = Size::Parse(fmt::format("{}", fmt::join(factors, " * ")));
      core::SizeSolver::Atom count{size.value_or(Size()), {}, false};
      for (const core::Sizes& sizes : shapes_) count.values.push_back(count.size.Evaluate(sizes).value_or(0));
      if (size && !Agree(count.values)) counts_.push_back(std::move(count));
    }
  }

  // values = constant * g(atom) for one constant; nullopt if not.
  static std::optional<double> CommonFactor(const std::vector<double>& values, const std::vector<double>& g) {
    std::optional<double> factor;
    for (size_t j = 0; j < values.size(); ++j) {
      if (g[j] == 0 || !std::isfinite(g[j])) return std::nullopt;
      const double f = values[j] / g[j];
      if (factor && !IsNear(*factor, f)) return std::nullopt;
      factor = f;
    }
    return factor;
  }
  NodeId Scaled(double factor, NodeId node) {
    if (IsNear(factor, 1)) return node;
    const NodeId constant = Add(core::Constant{MeantLiteral(factor)});
    return Add(core::Nary{core::ReduceOp::kProduct, {constant, node}});
  }

  // A literal that changes with the shape: a size, its reciprocal or root, or made from a scalar, times a constant.
  NodeId Literal(const std::vector<double>& values) {
    if (AllNear(values)) return Add(core::Constant{values[0]});
    using core::Function;
    struct Shape {
      double (*of)(double);
      double (*back)(double);
      std::vector<Function> calls;
      bool squares = false;  // before the calls
    };
    static const Shape kShapes[] = {
        {[](double n) { return n; }, [](double v) { return v; }, {}},
        {[](double n) { return 1 / n; }, [](double v) { return 1 / v; }, {Function::kReciprocal}},
        {[](double n) { return std::sqrt(n); }, [](double v) { return v * v; }, {Function::kSqrt}},
        {[](double n) { return 1 / std::sqrt(n); }, [](double v) { return 1 / (v * v); }, {Function::kRsqrt}},
        {[](double n) { return std::log(n); }, [](double v) { return std::exp(v); }, {Function::kLog}},
        // A variance by the mean of squares.
        {[](double n) { return 1 / (n * n); },
         [](double v) { return 1 / std::sqrt(v); },
         {Function::kReciprocal},
         true},
        {[](double n) { return n * n; }, [](double v) { return std::sqrt(v); }, {}, true},
    };
    const auto apply = [&](const Shape& shape, NodeId node) {
      if (shape.squares) node = Add(core::Nary{core::ReduceOp::kProduct, {node, node}});
      for (const Function function : shape.calls) node = Add(core::Call{function, {node}});
      return node;
    };
    const auto is_plain = [](const Shape& shape) { return shape.calls.empty() && !shape.squares; };
    for (const core::SizeSolver::Atom& count : counts_) {
      for (const Shape& shape : kShapes) {
        std::vector<double> g;
        for (const int64_t n : count.values) g.push_back(shape.of(static_cast<double>(n)));
        if (const auto factor = CommonFactor(values, g))
          return Scaled(*factor, apply(shape, Add(core::SizeValue{count.size})));
      }
    }
    const auto by_integer = [&](const Shape& shape) -> std::optional<NodeId> {
      std::vector<int64_t> integers;
      for (const double v : values) {
        const double n = shape.back(std::fabs(v));
        if (!std::isfinite(n) || n > 1e9 || std::fabs(n - std::nearbyint(n)) > 1e-5 * n || n < 0.5) return std::nullopt;
        integers.push_back(std::llround(n) * (v < 0 && is_plain(shape) ? -1 : 1));
      }
      const bool negative = values[0] < 0 && !is_plain(shape);
      if (!is_plain(shape) && std::any_of(values.begin(), values.end(), [&](double v) { return (v < 0) != negative; }))
        return std::nullopt;
      const auto size = sizes_.Solve(integers);
      if (!size) return std::nullopt;
      return Scaled(negative ? -1 : 1, apply(shape, Add(core::SizeValue{*size})));
    };
    // The function's value at an integer that the scalars explain; but what is a scalar's times one number has only
    // that number to be right by chance, where an integer's formula may have several.
    for (const Shape& shape : kShapes)
      if (is_plain(shape))
        if (const auto found = by_integer(shape)) return *found;
    for (const core::SizeSolver::Atom& atom : sizes_.atoms()) {
      for (const Shape& shape : kShapes) {
        std::vector<double> g;
        for (const int64_t n : atom.values) g.push_back(shape.of(static_cast<double>(n)));
        if (const auto factor = CommonFactor(values, g))
          return Scaled(*factor, apply(shape, Add(core::SizeValue{atom.size})));
      }
    }
    for (const Shape& shape : kShapes)
      if (!is_plain(shape))
        if (const auto found = by_integer(shape)) return *found;
    for (const auto& [name, unused] : forms_[0].reals) {
      std::vector<double> s, one_minus;
      for (const FormAtShape& form : forms_) {
        s.push_back(form.reals.at(name));
        one_minus.push_back(1 - s.back());
      }
      for (const Shape& shape : kShapes) {
        std::vector<double> g;
        for (const double v : s) g.push_back(shape.of(v));
        if (const auto factor = CommonFactor(values, g))
          return Scaled(*factor, apply(shape, Add(core::ScalarRead{name})));
      }
      if (const auto factor = CommonFactor(values, one_minus); factor && IsNear(*factor, 1)) {
        const NodeId one = Add(core::Constant{1}), scalar = Add(core::ScalarRead{name});
        return Add(core::Nary{core::ReduceOp::kSum, {one, Scaled(-1, scalar)}});
      }
    }
    for (const core::SizeSolver::Atom& atom : sizes_.atoms()) {
      for (const Shape& shape : kShapes) {
        std::vector<double> g;
        for (const int64_t n : atom.values) g.push_back(shape.of(static_cast<double>(n)));
        for (const auto& [name, unused] : forms_[0].reals) {
          std::vector<double> product = g;
          for (size_t j = 0; j < product.size(); ++j) product[j] *= forms_[j].reals.at(name);
          const auto factor = CommonFactor(values, product);
          if (!factor) continue;
          const NodeId size = apply(shape, Add(core::SizeValue{atom.size})), scalar = Add(core::ScalarRead{name});
          return Scaled(*factor, Add(core::Nary{core::ReduceOp::kProduct, {scalar, size}}));
        }
      }
    }
    const auto append = [this](Node node) { return Add(std::move(node)); };
    if (const auto solved = literals_.Solve(values, append)) return *solved;
    if (failure_.empty())
      failure_ =
          fmt::format("a literal that is {} at the shapes tried follows from no scalar", fmt::join(values, ", "));
    return Add(core::Constant{values[0]});
  }

  const std::vector<FormAtShape>& forms_;
  const std::vector<std::vector<Size>>& arguments_;
  const std::vector<core::Sizes> shapes_;
  core::SizeSolver sizes_;
  IndexedExtentSolver extents_;
  LiteralSolver literals_;
  Computation result_;
  std::vector<core::SizeSolver::Atom> counts_;
  const Stage* concrete_ = nullptr;  // the stage, at the first shape
  const lift::ShapeOfTensor shape_of_ = [this](const std::string& name, bool of_stage) {
    return ShapeOfTensor(name, of_stage);
  };
  std::vector<Node>* nodes_ = nullptr;
  size_t stage_ = 0;
  std::string failure_;
};

}  // namespace

Fitted<Computation> Unify(const std::vector<FormAtShape>& forms, const std::vector<std::vector<core::Size>>& arguments,
                          const std::set<std::string>& varying) {
  return Unifier(forms, arguments, varying).Run();
}

}  // namespace warpwright::lift

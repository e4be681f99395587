// One form for all shapes, from forms at several: they must agree in everything but sizes and literals, and these must
// follow from the entry's scalars.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/computation.h"
#include "core/size_solver.h"
#include "lift/concrete_form.h"

namespace warpwright::lift {

struct FormAtShape {
  core::Sizes sizes;                    // the integer scalars
  std::map<std::string, double> reals;  // the floating-point scalars
  ConcreteForm form;
};

// `arguments`: shapes of the tensors as the manifest states them, in the order of Computation::tensors. `varying`:
// scalars that are not the same wherever the entry ran, though they may be at all of these shapes.
Fitted<core::Computation> Unify(const std::vector<FormAtShape>& forms,
                                const std::vector<std::vector<core::Size>>& arguments,
                                const std::set<std::string>& varying);

}  // namespace warpwright::lift

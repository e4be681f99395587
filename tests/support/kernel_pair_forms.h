// Manifest entries of the originals of pairs, and what they compute.
#pragma once

#include "core/computation.h"
#include "core/kernel_spec.h"

namespace warpwright::testing {

core::KernelSpec MatmulSpec(core::DType dtype);
core::KernelSpec AttentionSpec();
core::KernelSpec BatchNormSpec();

core::Computation SumForm();
core::Computation SoftmaxForm();
core::Computation NormForm(bool centred, double epsilon);
core::Computation GeluForm();
core::Computation MatmulForm(core::DType dtype);
core::Computation AttentionForm();
core::Computation BatchNormForm();

}  // namespace warpwright::testing

// NVIDIA's, under the standard names.
#pragma once
#include <cuda/std/utility>
namespace std {
using ::cuda::std::pair;
using ::cuda::std::make_pair;
using ::cuda::std::exchange;
using ::cuda::std::integer_sequence;
using ::cuda::std::index_sequence;
using ::cuda::std::make_index_sequence;
using ::cuda::std::index_sequence_for;
using ::cuda::std::make_integer_sequence;
using ::cuda::std::declval;
}

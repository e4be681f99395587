// The pieces that a form is begun with: what of each written buffer may be instances of one statement.
#pragma once

#include <vector>

#include "lift/concrete_form.h"
#include "lift/pieces.h"

namespace warpwright::lift {

// By signature, those of intermediate buffers that are read first; sums of one term join the sums. So do zeros, with
// `empty_sums`, where all else is sums and they fill whole lines of the buffer: positions that no tap reaches.
std::vector<Piece> FirstPieces(FormGraph& forms, const std::vector<ShapedBuffer>& buffers, bool empty_sums);

}  // namespace warpwright::lift

// Calls that bring elements elsewhere.

#include "../call_rules.h"

namespace nets {
namespace {

using weft::PadMode, weft::Tensor;

const CallRule shape_rules[] = {
    CALL("movedim", x.movedim(i, j)),
    CALL("moveaxis", x.moveaxis(i, j)),
    CALL("swapaxes", x.swapaxes(i, j)),
    CALL("transpose", x.transpose(i, j)),
    UNARY(T),
    UNARY(mT),
    CALL("flatten", x.flatten(i, j)),
    UNARY(ravel),
    CALL("unflatten", x.unflatten(i, n)),
    CALL("open_reshape", x.reshape(n)),
    CALL("squeeze_all", x.squeeze()),
    CALL("unbind", x.unbind(i)[k]),
    CALL("split", x.split(j, i)[k]),
    CALL("split_sizes", x.split(n, i)[k]),
    CALL("chunk", x.chunk(j, i)[k]),
    CALL("tensor_split", x.tensor_split(j, i)[k]),
    CALL("narrow", x.narrow(i, j, k)),
    CALL("select", x.select(i, j)),
    CALL("rot90", x.rot90(k, {i, j})),
    UNARY(fliplr),
    UNARY(flipud),
    CALL("diagonal_axes", x.diagonal(i, j, k)),
    UNARY(atleast_1d),
    UNARY(atleast_2d),
    UNARY(atleast_3d),
    CALL("meshgrid", Tensor::meshgrid(all)[k]),
    CALL("meshgrid_xy", Tensor::meshgrid(all, Tensor::Meshgrid::Xy)[k]),

    CALL("tile", x.tile(n)),
    CALL("roll_flat", x.roll(j)),
    CALL("roll_axes", x.roll({i, j}, {0, 1})),
    CALL("repeat_interleave_flat", x.repeat_interleave(j)),
    CALL("diff", x.diff(k, i)),
    CALL("diff_prepend", x.diff(1, i, y)),
    UNARY(trace),
    CALL("diag", x.diag(i)),
    CALL("diag_embed", x.diag_embed(i)),
    CALL("diagflat", x.diagflat(i)),
    CALL("pad_or_cut", x.pad(bounds, scalar)),
    CALL("pad_reflect", x.pad(bounds, PadMode::Reflect)),
    CALL("pad_replicate", x.pad(bounds, PadMode::Replicate)),
    CALL("pad_circular", x.pad(bounds, PadMode::Circular)),
    CALL("kron", x.kron(y)),
    CALL("outer", x.outer(y)),
    CALL("block_diag", Tensor::block_diag(all)),
    CALL("hstack", Tensor::hstack(all)),
    CALL("vstack", Tensor::vstack(all)),
    CALL("dstack", Tensor::dstack(all)),
    CALL("column_stack", Tensor::column_stack(all)),
    CALL("vander", x.vander(k, flag)),
    CALL("cartesian_prod", Tensor::cartesian_prod(all)),
};

}  // namespace

std::span<const CallRule> shape_calls() { return shape_rules; }

}  // namespace nets

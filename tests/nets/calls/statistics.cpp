// Calls of statistics, orders and searches, and of reads and writes at places.

#include "../call_rules.h"

namespace nets {
namespace {

using weft::Tensor;

const CallRule statistics_rules[] = {
    CALL("amax", x.amax(n, flag)),
    CALL("amin", x.amin(n, flag)),
    CALL("aminmax_least", x.aminmax(n, flag).first),
    CALL("aminmax_most", x.aminmax(n, flag).second),
    CALL("var_mean", x.var_mean(n, flag, k).first),
    CALL("mean_of_var", x.var_mean(n, flag, k).second),
    CALL("std_mean", x.std_mean(n, flag, k).first),
    CALL("mean_of_std", x.std_mean(n, flag, k).second),
    CALL("nansum", x.nansum(n, flag)),
    CALL("nanmean", x.nanmean(n, flag)),
    CALL("norm", x.norm(real, n, flag)),
    CALL("cdist", x.cdist(y, real)),
    CALL("normalize", x.normalize(real, n)),
    CALL("logcumsumexp", x.logcumsumexp(i)),
    CALL("cummax_places", x.cummax(i).second),
    UNARY(median),
    UNARY(nanmedian),
    CALL("median_along", x.median(i, flag).values),
    CALL("nanmedian_along", x.nanmedian(i, flag).values),
    CALL("kthvalue", x.kthvalue(k, i, flag).values),
    CALL("mode", x.mode(i, flag).values),
    UNARY(msort),
    CALL("quantile", x.quantile(real, i, flag, static_cast<Tensor::Interpolation>(k))),
    CALL("nanquantile", x.nanquantile(real, i, flag, static_cast<Tensor::Interpolation>(k))),
    CALL("quantile_all", x.quantile(real)),
    CALL("searchsorted", x.searchsorted(y, flag)),
    CALL("bucketize", y.bucketize(x, flag)),
    CALL("bincount", x.bincount({}, k)),
    CALL("bincount_weights", x.bincount(y, k)),
    CALL("histc", x.histc(k, -4.0, 4.0)),

    CALL("index_select", x.index_select(i, y)),
    CALL("index_add", x.index_add(i, y, z, k)),
    CALL("index_copy", x.index_copy(i, y, z)),
    CALL("index_fill", x.index_fill(i, y, number)),
    CALL("take_along_axis", x.take_along_axis(y, i)),
    CALL("put_along_axis", x.put_along_axis(y, z, i)),
    CALL("put", x.put(y, z, flag)),
    CALL("masked_scatter", x.masked_scatter(y, z)),
    CALL("masked_select", x.masked_select(y, k, scalar)),
    CALL("nonzero", x.nonzero(k, i)),
    CALL("one_hot", x.one_hot(k)),
    CALL("index_mask", x[y]),
    CALL("masked_select_all", x.masked_select(y)),
    CALL("nonzero_all", x.nonzero()),
    CALL("unique", x.unique().values),
    CALL("unique_counts", x.unique().counts),
    CALL("set_mask", x.set(y, number)),
    CALL("scatter_mean", x.scatter_reduce(i, y, z, Tensor::Reduce::Mean)),
    CALL("scatter_sum_only", x.scatter_reduce(i, y, z, Tensor::Reduce::Sum, false)),
    CALL("scatter_amax_only", x.scatter_reduce(i, y, z, Tensor::Reduce::Amax, false)),
};

}  // namespace

std::span<const CallRule> statistics_calls() { return statistics_rules; }

}  // namespace nets

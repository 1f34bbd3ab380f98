// Statistics, orders and searches, reads and writes at places, as the oracle computes them.

#include "../oracle/statistics.h"
#include "../evaluate.h"
#include "../oracle/elementwise.h"
#include "../oracle/movement.h"
#include "../oracle/places.h"
#include "../oracle/reduce.h"

namespace nets {
namespace {

Array flat(const Array& x) { return reshape(x, {static_cast<std::int64_t>(x.size())}); }

void add_statistic_reductions(Rules& rules) {
  for (const auto& [name, own] : {std::pair{"amax", "max"},
                                  {"amin", "min"},
                                  {"aminmax_least", "min"},
                                  {"aminmax_most", "max"},
                                  {"var_mean", "var"},
                                  {"std_mean", "std"},
                                  {"mean_of_var", "mean"},
                                  {"mean_of_std", "mean"}})
    rules[name] = [own](const Call& c) {
      return reduced(own, c[0], c.step.n, c.step.flag, c.step.k);
    };
  rules["nansum"] = [](const Call& c) { return nansum(c[0], c.step.n, c.step.flag); };
  rules["nanmean"] = [](const Call& c) { return nanmean(c[0], c.step.n, c.step.flag); };
  rules["norm"] = [](const Call& c) { return norm(c[0], c.real(), c.step.n, c.step.flag); };
  rules["cdist"] = [](const Call& c) { return cdist(c[0], c[1], c.real()); };
  rules["normalize"] = [](const Call& c) { return normalize(c[0], c.real(), c.step.n); };
  rules["cummax_places"] = [](const Call& c) { return cummax_places(c[0], c.step.i); };
  rules["logcumsumexp"] = [](const Call& c) { return logcumsumexp(c[0], c.step.i); };
}

void add_orders(Rules& rules) {
  for (const char* name : {"median", "nanmedian"}) {
    rules[name] = [name](const Call& c) { return ranked(name, flat(c[0]), 0, false); };
    rules[std::string(name) + "_along"] = [name](const Call& c) {
      return ranked(name, c[0], c.step.i, c.step.flag);
    };
  }
  for (const char* name : {"kthvalue", "mode"})
    rules[name] = [name](const Call& c) {
      return ranked(name, c[0], c.step.i, c.step.flag, c.step.k);
    };
  rules["msort"] = [](const Call& c) { return sorted(c[0], 0, false).first; };
  for (const char* name : {"quantile", "nanquantile"})
    rules[name] = [skips = name[0] == 'n'](const Call& c) {
      return quantile(c[0], c.real(), c.step.i, c.step.flag, static_cast<Between>(c.step.k), skips);
    };
  rules["quantile_all"] = [](const Call& c) {
    return quantile(flat(c[0]), c.real(), 0, false, Between::Linear, false);
  };
  rules["searchsorted"] =
      rules["bucketize"] = [](const Call& c) { return searchsorted(c[0], c[1], c.step.flag); };
  rules["bincount"] = [](const Call& c) { return bincount(c[0], nullptr, c.step.k); };
  rules["bincount_weights"] = [](const Call& c) { return bincount(c[0], &c[1], c.step.k); };
  rules["histc"] = [](const Call& c) { return histc(c[0], c.step.k, -4, 4); };
}

void add_places(Rules& rules) {
  rules["index_select"] = [](const Call& c) { return index_select(c[0], c.step.i, c[1]); };
  rules["index_add"] = [](const Call& c) {
    const Array factor = scalar(c[2].type, converted(Cell::of(c.step.k), Type::I64, c[2].type));
    return index_written(c[0], c.step.i, c[1], binary("mul", c[2], factor), "add");
  };
  rules["index_copy"] = [](const Call& c) { return index_written(c[0], c.step.i, c[1], c[2]); };
  rules["index_fill"] = [](const Call& c) {
    return index_written(c[0], c.step.i, c[1], scalar(c[0].type, c.filling(c[0].type)));
  };
  rules["take_along_axis"] = [](const Call& c) {
    return gather(c[0], c.step.i, index_over(c[0], c.step.i, c[1]));
  };
  rules["put_along_axis"] = [](const Call& c) {
    const Array index = index_over(c[0], c.step.i, c[1]);
    return scattered(c[0], c.step.i, index, copied(expanded(c[2], index.shape)), "put");
  };
  rules["put"] = [](const Call& c) { return put(c[0], c[1], c[2], c.step.flag); };
  rules["masked_scatter"] = [](const Call& c) { return masked_scatter(c[0], c[1], c[2]); };
  rules["masked_select"] = [](const Call& c) {
    return masked_select(c[0], c[1], c.step.k, c.filling(c[0].type));
  };
  rules["nonzero"] = [](const Call& c) { return nonzero(c[0], c.step.k, c.step.i); };
  rules["index_mask"] = rules["masked_select_all"] = [](const Call& c) {
    want(c[1].rank() <= c[0].rank(), "a mask of more axes");
    return picked_by(c[0], c[1]);
  };
  rules["nonzero_all"] = [](const Call& c) {
    const Array count = reduced("sum", flat(cast(c[0], Type::Bool)), {0}, false);
    want(count[0].error == 0, "an open condition");
    return nonzero(c[0], count[0].whole, 0);
  };
  rules["unique"] = [](const Call& c) { return unique(c[0]).first; };
  rules["unique_counts"] = [](const Call& c) { return unique(c[0]).second; };
  rules["set_mask"] = [](const Call& c) {
    return c.written([&](const Array& x) {
      const Array mask = expanded_behind(c[1], x.shape);
      assign(x, where(mask, scalar(x.type, c.filling(x.type)), x));
    });
  };
  rules["one_hot"] = [](const Call& c) { return one_hot(c[0], c.step.k); };
  rules["scatter_mean"] = [](const Call& c) {
    return scattered_mean(c[0], c.step.i, c[1], cast(c[2], c[0].type));
  };
  for (const auto& [name, op] :
       {std::pair{"scatter_sum_only", "add"}, {"scatter_amax_only", "maximum"}})
    rules[name] = [op](const Call& c) {
      return scattered_only(c[0], c.step.i, c[1], cast(c[2], c[0].type), op);
    };
}

}  // namespace

void add_statistics(Rules& rules) {
  add_statistic_reductions(rules);
  add_orders(rules);
  add_places(rules);
}

}  // namespace nets

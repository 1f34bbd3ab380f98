"""The statistics of the comparison.

A ratio is a peer's time over weft's of the same round: above 1, weft is faster.
"""
import math
import statistics


def median(values):
    return statistics.median(values)


def paired_ratio(peer_times, own_times):
    """The median over rounds: what disturbs a round disturbs both."""
    pairs = list(zip(peer_times, own_times, strict=True))
    return median([peer / own for peer, own in pairs])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def is_met(ratio, least, least_near_peak=None, peer_of_peak=0.0):
    """Whether a ratio is large enough; a lower one will do beside a peer near the peak."""
    if least_near_peak is not None and peer_of_peak > 0.9:
        return ratio >= least_near_peak
    return ratio >= least

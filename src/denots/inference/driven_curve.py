"""What drives DeNOTS, from observations in one pass: what takes a dozen of tables otherwise, with the same bits."""

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.inference.curve import Curve
from denots.inference.intake import Intake
from denots.shapes import FloatArray


def driven_curve(
    series: SeriesSet, intake: Intake, depth: float, slope_scale: FloatArray, dtype: np.dtype[np.floating]
) -> Curve:
    """Natural cubics through observations as the intake reads them, with the slopes of their values, told `depth` times
    as slowly: `append_slopes(fit_cubic(intake.observations(series)).scale_time(depth), slope_scale)`.

    Between the knots of one series and those of the next may lie some that nobody owns.
    """
    pace = 1.0 / intake.time_scale
    times, values, slopes, ends = kernels.driven_path(
        series.offsets,
        series.times,
        series.start,
        series.values,
        dtype=dtype,
        presence=intake.marks is not None,
        ages=intake.ages,
        differences=intake.time == "differences",
        pace=pace,
        depth=depth,
        centre=intake.centre,
        scale=intake.scale,
        slope_scale=slope_scale,
    )
    seen = np.logical_or.reduceat(~np.isnan(series.values), series.offsets[:-1])
    whole = np.ones((len(series), len(intake.centre) - seen.shape[1]), dtype=bool)
    return Curve(
        times=times,
        values=values,
        slopes=slopes,
        begin=2 * series.offsets[:-1],
        end=ends,
        t0=np.zeros(len(series)),
        t1=(series.ends - series.start) * pace * depth,
        present=np.concatenate([seen, whole, seen], axis=1),
    )

from denots.shapes import FloatArray, IntArray

def fit_splines(
    kind: int,
    offsets: IntArray,
    times: FloatArray,
    observed: FloatArray,
    value: FloatArray,
    slope_before: FloatArray,
    slope_after: FloatArray,
    threads: int,
) -> None: ...

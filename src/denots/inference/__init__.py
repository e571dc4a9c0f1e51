"""What a fitted model does with series, in arrays and kernels alone: all that predicts, none of what learns.

Nothing here, and nothing that is imported here, needs torch, scikit-learn or pandas.
"""

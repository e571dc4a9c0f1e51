"""The run-time checker that enforces what signatures promise, shapes included (see conftest.py)."""

from beartype import BeartypeConf, beartype

# An int is a float and a float is complex, as in every annotation of Python and NumPy.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))

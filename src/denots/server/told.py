"""What is said to one request."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """Answers as columns of plain values by name: the id first, the status last. A table of few rows costs more to make."""

    columns: dict[str, list[Any]]

    def frame(self) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(self.columns)

    def statuses(self) -> list[str]:
        """One for each series; forecasts have several rows each, of which some may be asked too early."""
        names, *_, told = self.columns.values()
        found: dict[Any, str] = {}
        for name, status in zip(names, told, strict=True):
            if name not in found or status.startswith("unusual"):
                found[name] = status
        return list(found.values())

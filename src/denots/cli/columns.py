"""Options that say which column of a table is what, and how it is cleaned; shared by the commands that learn a table."""

from typing import Annotated

import typer

COLUMNS, CLEANING = "Columns", "Cleaning"

Id = Annotated[str, typer.Option(help="Column that says which series a row belongs to.", rich_help_panel=COLUMNS)]
Time = Annotated[str, typer.Option("--time", help="Column of numbers or dates.", rich_help_panel=COLUMNS)]
Target = Annotated[
    list[str] | None,
    typer.Option(
        help="Column to learn, constant within a series. May be repeated for several of numbers.",
        rich_help_panel=COLUMNS,
    ),
]
RowTarget = Annotated[
    str | None,
    typer.Option(
        help="Column to learn that has a value for each row: numbers, or true and false; empty where unknown.",
        rich_help_panel=COLUMNS,
    ),
]
Static = Annotated[
    list[str] | None,
    typer.Option(help="Columns that are constant within a series: a,b. May be repeated.", rich_help_panel=COLUMNS),
]
Channels = Annotated[
    list[str] | None,
    typer.Option(help="Channels to use: a,b. May be repeated. Default: all other columns.", rich_help_panel=COLUMNS),
]
Variable = Annotated[
    str | None, typer.Option(help="Long table: column that names the channel.", rich_help_panel=COLUMNS)
]
Value = Annotated[str | None, typer.Option(help="Long table: column that holds the value.", rich_help_panel=COLUMNS)]
TimeUnit = Annotated[str | None, typer.Option(help="s, min, h or d; needed for dates.", rich_help_panel=COLUMNS)]
Start = Annotated[str | None, typer.Option(help="Column with the moment each series began.", rich_help_panel=COLUMNS)]
TimeFormat = Annotated[
    str | None,
    typer.Option(help="How dates are written: %d.%m.%Y %H:%M. Default: ISO 8601.", rich_help_panel=CLEANING),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A further spelling of a missing value: n/a, -999. May be repeated.", rich_help_panel=CLEANING),
]
Sort = Annotated[bool, typer.Option("--sort", help="Sort each series by time.", rich_help_panel=CLEANING)]
Duplicates = Annotated[
    str,
    typer.Option(help="Several values of a channel at one time: error, mean, last or first.", rich_help_panel=CLEANING),
]
SkipEmpty = Annotated[
    bool, typer.Option("--skip-empty", help="Leave out series without any value.", rich_help_panel=CLEANING)
]

"""The `denots` command: its subcommands, and how their failures are told."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import denots
from denots.cli import (
    card,
    certify,
    compete,
    data,
    evaluate,
    explain,
    fit,
    info,
    inspect,
    order,
    predict,
    report,
    reproduce,
    serve,
    stream,
    systems,
    train,
    tune,
)
from denots.cli.messages import complain, say, spoken_warnings
from denots.cli.signals import Stopped, stopping_signals
from denots.errors import DenotsError, InvalidOption, UnknownName


class _Manners(TyperGroup):
    """Tell expected failures in one line: exit code 2 for a wrong name or option, 128 + n for signal n, else 1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--debug" in args:  # accepted after the subcommand too, where people add it
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with spoken_warnings(), stopping_signals():
            try:
                return super().invoke(ctx)
            except Stopped as signal:
                complain("stopped", signal, "bold yellow")
                raise typer.Exit(signal.exit_code) from signal
            except BrokenPipeError:
                raise
            except (DenotsError, OSError) as error:
                if ctx.obj == "debug":
                    raise
                complain("error", error, "bold red")
                raise typer.Exit(2 if isinstance(error, UnknownName | InvalidOption) else 1) from error


app = typer.Typer(
    name="denots",
    cls=_Manners,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"denots {denots.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="DENOTS_DEBUG", help="Show the traceback of an error.")
    ] = False,
) -> None:
    """Learn from time series that are irregular, ragged and full of holes.

    Try it on a built-in data set:

      denots data export bump --size 60 --split train --out train.csv
      denots data export bump --size 60 --split test --out test.csv
      denots fit train.csv --target target --system fast --out model
      denots evaluate model test.csv
      denots predict model test.csv -o predictions.csv
    """
    ctx.obj = "debug" if debug else None


app.command("inspect")(inspect.inspect)
app.command("fit")(fit.fit)
app.command("tune")(tune.tune)
app.command("predict")(predict.predict)
app.command("serve")(serve.serve)
app.command("stream")(stream.stream)
app.command("evaluate")(evaluate.evaluate)
app.command("card")(card.card)
app.command("explain")(explain.explain)
app.command("certify")(certify.certify)
app.command("order")(order.order)
app.add_typer(data.app, name="data")
app.command("train", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(train.train)
app.command("systems")(systems.systems)
app.command("compete")(compete.compete)
app.command("reproduce")(reproduce.reproduce)
app.command("report")(report.report)
app.command("info")(info.info)


def main() -> None:
    """Entry point of the installed command."""
    app(prog_name="denots")

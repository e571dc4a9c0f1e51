"""Who is measured. A new contender is one file and one line here.

Modules are named, not imported: a peer that is not installed must not keep the others from running.
"""

from importlib import import_module

from benchmarks.contenders.contender import Contender, Outcome, TorchContender

CONTENDERS: dict[str, str] = {
    "native-2": "benchmarks.contenders.denots:NativeTwoThreads",
    "native-1": "benchmarks.contenders.denots:NativeOneThread",
    "reference": "benchmarks.contenders.denots:Reference",
    "paper": "benchmarks.contenders.paper_stack:PaperStack",
    "paper-trained": "benchmarks.contenders.paper_stack:PaperStackTrained",
    "torchode": "benchmarks.contenders.torchode_splines:TorchodeSplines",
    "diffrax": "benchmarks.contenders.diffrax_jit:Diffrax",
    "diffrax-tuned": "benchmarks.contenders.diffrax_jit:DiffraxTuned",
    "torchcde": "benchmarks.contenders.torchcde_splines:TorchCDE",
    "gru": "benchmarks.contenders.torch_gru:TorchGRU",
}


def contender(name: str) -> type[Contender]:
    module, _, attribute = CONTENDERS[name].partition(":")
    found: type[Contender] = getattr(import_module(module), attribute)
    return found


__all__ = ["CONTENDERS", "Contender", "Outcome", "TorchContender", "contender"]

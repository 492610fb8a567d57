"""One run of a charge: whatever goes wrong keeps the charge, frees the question at once, and tells nothing."""

from collections.abc import Callable
from typing import Final

from entwined.errors import SourceLost, Unreadable
from entwined.ledger import Ledger, Receipt

LOST: Final = (
    "The connection to the rows broke while they were read. What was charged stays charged: ask the same again, and it "
    "is answered under that charge."
)


def run_charged(ledger: Ledger, receipt: Receipt, work: Callable[[], bytes | None], failed: str) -> bytes:
    """Read, draw and write the answer; no answer, or an error of any kind, ends the charge with the same words.

    Where only the connection to the rows broke, the charge stays open, as if this process had died: nobody saw a draw,
    and whoever asks the same again runs under the same charge, as often as the ledger allows.
    """
    answer: bytes | None = None
    lost = False
    try:
        answer = work()
    except SourceLost:
        lost = True
    except Exception:  # noqa: BLE001  (its words may come from private rows, so not even its kind is told)
        answer = None
    except BaseException:
        ledger.fail(receipt, "stopped")
        raise
    if lost:
        ledger.abandon(receipt)
        raise SourceLost(LOST)
    if answer is None:
        ledger.fail(receipt, "reading failed")
        raise Unreadable(failed)  # here, where no other error is being handled that it could carry along
    return ledger.settle(receipt, answer)

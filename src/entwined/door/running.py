"""One run of a charge: whatever goes wrong keeps the charge, frees the question at once, and tells nothing."""

from collections.abc import Callable

from entwined.errors import Unreadable
from entwined.ledger import Ledger, Receipt


def run_charged(ledger: Ledger, receipt: Receipt, work: Callable[[], bytes | None], failed: str) -> bytes:
    """Read, draw and write the answer; no answer, or an error of any kind, ends the charge with the same words."""
    answer: bytes | None = None
    try:
        answer = work()
    except Exception:  # noqa: BLE001  (its words may come from private rows, so not even its kind is told)
        answer = None
    except BaseException:
        ledger.fail(receipt, "stopped")
        raise
    if answer is None:
        ledger.fail(receipt, "reading failed")
        raise Unreadable(failed)  # here, where no other error is being handled that it could carry along
    return ledger.settle(receipt, answer)

"""Describes a confirmation of a prediction in a few words."""

from workbench.model.prediction import Prediction
from workbench.model.text import ratio_text, time_text
from workbench.session.change.confirm import AnswerStatus, Confirmation


def confirmed_words(prediction: Prediction, confirmation: Confirmation) -> tuple[str, str, str]:
    """The result of a confirmation, its severity (`good`, `medium` or `high`), and a second line.

    A speedup is confirmed where the answer is the same and it lies in the prediction's interval, as exactly as shown.
    """
    if confirmation.answer is AnswerStatus.NOT_POSSIBLE:
        return "not possible", "muted", confirmation.why
    if confirmation.answer is AnswerStatus.FAILED or confirmation.speedup is None or confirmation.time_s is None:
        return "the run failed", "high", confirmation.why
    took, speedup = time_text(confirmation.time_s), ratio_text(confirmation.speedup)
    if confirmation.answer is AnswerStatus.DIFFERS:
        return "answer changed", "high", f"{confirmation.why}; {speedup}, {took}"
    if prediction.holds(confirmation.speedup) is not False:
        return f"confirmed {speedup}", "good", f"{took}, same answer"
    cause = f"; {confirmation.notes[0].message}" if confirmation.notes else ""
    return f"differs: {speedup}", "medium", f"{took}, same answer{cause}"

"""`report`: does the agent's answer agree with what happened?"""

from __future__ import annotations

from butlerctl.judge.claim import Judged
from butlerctl.judge.conversation import Conversation
from butlerctl.judge.finding import Finding, broken, proven, unproven
from butlerctl.judge.result import Claim, Turn


def judge(conversation: Conversation | None, claim: Judged, turn: Turn) -> Finding:
    if conversation is None:
        return unproven("harness.transcript", "no transcript of this turn")
    if claim.claim is Claim.UNSUPPORTED:
        return broken(claim.check, claim.seen, conversation.document, expected=claim.expected)
    if turn is Turn.CONFIRMED and conversation.reply:
        return proven(
            "report.claim_accurate", "nothing in the reply contradicts the evidence", conversation.document
        )
    missing = "the agent did not reply" if not conversation.reply else "what happened is not confirmed"
    return unproven("report.claim_accurate", missing, conversation.document)

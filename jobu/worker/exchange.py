"""Outcomes in, attempts out: what a worker settles and claims, in one transaction."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.db import connections

from jobu import logs, signals
from jobu.attempts import Attempt
from jobu.conf import settings
from jobu.dialects import dialect_for
from jobu.models import JobExecution
from jobu.models.job_execution import ATTEMPT_FIELDS
from jobu.outcomes import released
from jobu.queue.claim import claim, claim_in_one_statement
from jobu.queue.settle import REFUSED, Settlement, settle_one_by_one
from jobu.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from jobu.outcomes import Outcome
    from jobu.worker.known_lanes import KnownLanes, Wanted
    from jobu.worker.slots import Slots


class Exchange:
    """Gives the database outcomes and takes attempts from it, for one worker.

    An outcome stays `unsettled` until the database has said that it is stored.
    """

    def __init__(self, slots: Slots, lanes: KnownLanes, process_id: UUID, who: str) -> None:
        self.unsettled: list[Outcome] = []
        self._slots = slots
        self._lanes = lanes
        self._process_id = process_id
        self._who = who
        self._is_commit_uncertain = False
        self._ask_again_at = time.monotonic() + settings.LEASE_SECONDS

    def give_back(self, attempts: Sequence[Attempt]) -> None:
        self.unsettled += [released(attempt) for attempt in attempts]

    def doubt(self) -> None:
        """Ask the database at the next poll what it holds for us."""
        self._is_commit_uncertain = True

    def give_back_unknown(self) -> None:
        """Give back the attempts that the database holds for us and we do not know of.

        While we live, nobody else rescues them. We ask if the answer to a commit was lost, and once
        in a lease in any case: a standby may have taken over, unnoticed behind a proxy.
        """
        if not self._is_commit_uncertain and time.monotonic() < self._ask_again_at:
            return
        known = {a.key for a in self._slots.held()} | {o.attempt.key for o in self.unsettled}
        held = JobExecution.objects.held_by(self._process_id).values_list(*ATTEMPT_FIELDS)
        attempts = [Attempt(*row) for row in held]
        self.give_back([attempt for attempt in attempts if attempt.key not in known])
        # The lanes may have noted more as claimed than was.
        self._lanes.forget()
        self._is_commit_uncertain = False
        self._ask_again_at = time.monotonic() + settings.LEASE_SECONDS

    def settle_and_claim(self, wanted: Wanted) -> list[Attempt]:
        """Settle all outcomes, claim what is wanted, and return the attempts that are ours now.

        If the database fails, the outcomes stay unsettled, and the next poll begins with a question
        to the database: which attempts does it hold for us?
        """
        outcomes = self.unsettled
        to_store = [outcome for outcome in outcomes if not outcome.is_stored]
        settlement = Settlement(to_store)
        attempts: list[Attempt] = []
        self._is_commit_uncertain = True
        try:
            if (
                wanted.is_guess
                and not to_store
                and dialect_for(settings.DATABASE).claims_in_one_statement
            ):
                attempts = claim_in_one_statement(wanted.lanes[0], wanted.limit, self._process_id)
                self._disown_forgotten(attempts)
            else:
                attempts = self._write(settlement, len(to_store), wanted)
        except REFUSED:
            outcomes = settle_one_by_one(outcomes)
        self._is_commit_uncertain = False
        self.unsettled = []
        for outcome in outcomes:
            logs.settled(outcome)
            signals.settled(outcome)
        # A short claim emptied a lane, and a settled run may have left a retry or a follow-up.
        if len(attempts) < wanted.limit:
            self._lanes.forget()
        return attempts

    def _write(self, settlement: Settlement, outcomes: int, wanted: Wanted) -> list[Attempt]:
        lanes, limit, free, _ = wanted
        alias = settings.DATABASE
        with write_transaction(alias):
            rows = max(outcomes, limit if lanes else 0)
            dialect_for(alias).reach_rows_by_key(connections[alias], rows)
            # From here on the loop does little but wait for the database.
            self._slots.right_of_way.resume()
            settlement.write()
            attempts = claim(lanes, limit, self._process_id, free=free)
            # Before the commit: once they are ours, an earlier run could settle them.
            self._disown_forgotten(attempts)
        return attempts

    def _disown_forgotten(self, claimed: Sequence[Attempt]) -> None:
        """Disown the attempts that we already hold: the database has forgotten their first claim.

        A standby took over that had not seen the first claim. The id may even belong to another
        execution now, and the fence alone cannot tell it from the one that vanished.
        """
        held = self._slots.held()
        # By ids alone at first, because that is quick, and nearly always the end of it.
        if {a.execution_id for a in held}.isdisjoint([a.execution_id for a in claimed]):
            return
        if twice := {a.key for a in held}.intersection(a.key for a in claimed):
            logs.forgotten(self._who, twice)
            self._slots.disown(twice)

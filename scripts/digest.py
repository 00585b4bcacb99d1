#!/usr/bin/env python3
"""Computes the digests of a feed as docs/digest.md specifies them, with none of the program's code.

    scripts/digest.py [--period SECONDS] [--dso PARTY] [--migration-id N] FILE...

Files are lines of JSON in either format (.gz too), in order, and must be valid: what is bad in them ends the script or is not
noticed. A line for each snapshot as it is sealed: migration id, record time, changes_digest, digest.
"""
import argparse
import gzip
import hashlib
import json
import re
from datetime import datetime, timedelta, timezone
from decimal import Context, Decimal

PACKAGE = 'splice-amulet'
COINS = {'Splice.Amulet:Amulet': 'u', 'Splice.Amulet:LockedAmulet': 'l'}
TEMPLATES = {*COINS, 'Splice.Round:OpenMiningRound'}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
IMPORT_TIME = re.compile(r'0001-01-01T00:00:00')
EXACT = Context(prec=60)


def sha256(*parts):
    return hashlib.sha256(b''.join(parts)).digest()


def micros(text):
    """Microseconds since 1970 of a time with up to six fraction digits and Z."""
    seconds, _, fraction = text.removesuffix('Z').partition('.')
    whole = datetime.fromisoformat(seconds).replace(tzinfo=timezone.utc) - EPOCH
    return whole // timedelta(microseconds=1) + int(fraction.ljust(6, '0'))


def printed(time):
    text = (EPOCH + timedelta(microseconds=time)).strftime('%Y-%m-%dT%H:%M:%S')
    fraction = f'{time % 1_000_000:06}'.rstrip('0')
    return f'{text}.{fraction}Z' if fraction else f'{text}Z'


def units(decimal):
    """A Decimal in units of 1e-10."""
    return int(EXACT.scaleb(Decimal(decimal), 10))


class Migration:
    def __init__(self, number, period):
        self.number, self.period = number, period
        # Ids that are active, with the line of a coin that counts, and None of a round or a counterfeit.
        self.active = {}
        # Since the last snapshot: the lines of coins made by id, and the lines of coins gone.
        self.made, self.gone = {}, []
        self.next_grid, self.reached = None, None
        # Of each synchronizer: the last time and the ids of its updates.
        self.last = {}
        self.seed_time, self.seed_times = None, {}
        self.digest = sha256(f'{number} {period}\n'.encode())

    def begin(self, time):
        """The first snapshot is the first grid time after the first update."""
        if self.next_grid is None:
            self.next_grid = time // self.period * self.period + self.period
        self.reached = max(time, self.reached or time)

    def seal_until(self, end):
        """Seals every grid time before `end`."""
        while self.next_grid is not None and self.next_grid < end:
            lines = [*self.made.values(), *self.gone]
            items = sorted(sha256(line.encode()) for line in lines)
            head = f'{self.number} {printed(self.next_grid)}\n'.encode()
            changes = sha256(head, *items)
            self.digest = sha256(self.digest, changes)
            print(self.number, printed(self.next_grid), changes.hex(), self.digest.hex())
            self.made, self.gone = {}, []
            self.next_grid += self.period

    def create(self, contract_id, line):
        # A create of an active contract is that contract again.
        if contract_id in self.active:
            return
        self.active[contract_id] = line
        if line is not None:
            self.made[contract_id] = line

    def archive(self, contract_id, needs):
        if contract_id not in self.active:
            if needs:
                raise SystemExit(f'migration {self.number}: archive of {contract_id}, which is not active')
            return
        line = self.active.pop(contract_id)
        if line is not None and self.made.pop(contract_id, None) is None:
            self.gone.append(f'- {contract_id}\n')

    def is_new(self, synchronizer, time, update_id):
        if self.seed_time is not None and time <= self.seed_times.get(synchronizer, self.seed_time):
            return False
        last, ids = self.last.get(synchronizer, (None, set()))
        if last is not None and (time < last or (time == last and update_id in ids)):
            return False
        self.last[synchronizer] = (time, ids | {update_id} if time == last else {update_id})
        return True


class Ledger:
    def __init__(self, period, dso, migration_id):
        self.period, self.dso, self.migration_id = period, dso, migration_id
        self.migrations = {}

    def migration(self, number):
        return self.migrations.setdefault(number, Migration(number, self.period))

    def apply(self, message):
        if 'seed' in message and 'update_id' not in message:
            return self.seed(message['seed'])
        if message.get('event') is not None:
            return self.scan_reassignment(message)
        if 'update_id' in message:
            return self.update(message['migration_id'], message['update_id'], message.get('synchronizer_id'),
                               message['record_time'], list(scan_events(message)))
        kind, value = 'Transaction', message
        if 'update' in message:
            ((kind, wrapped),) = ((k, v) for k, v in message['update'].items() if v is not None)
            value = wrapped.get('value')
        if kind == 'OffsetCheckpoint':
            return self.checkpoint(value)
        if kind in ('Transaction', 'Reassignment'):
            self.update(self.migration_id, value['updateId'], value['synchronizerId'], value['recordTime'],
                        list(ledger_api_events(value)))

    def scan_reassignment(self, message):
        event = message['event']
        created, source, target = event.get('created_event'), event['source_synchronizer'], event['target_synchronizer']
        if created is not None:
            events = [('create', scan_create(created))]
        else:
            # To another synchronizer: it stays active.
            events = [('purge', event['contract_id'])] if source == target else []
        synchronizer = source if created is None else target
        self.update(event['migration_id'], message['update_id'], synchronizer, message['record_time'], events)

    def update(self, number, update_id, synchronizer, record_time, events):
        migration = self.migration(number)
        if IMPORT_TIME.match(record_time):
            # They open a migration; later ones are skipped.
            if migration.reached is None:
                self.apply_events(migration, events)
            return
        time = micros(record_time)
        if not migration.is_new(synchronizer, time, update_id):
            return
        migration.seal_until(time)
        self.apply_events(migration, events)
        migration.begin(time)

    def checkpoint(self, value):
        times = [micros(each['recordTime']) for each in value['synchronizerTimes']]
        migration = self.migration(self.migration_id)
        if times and migration.reached is not None and min(times) >= migration.reached:
            migration.seal_until(min(times) + 1)
            migration.reached = min(times)

    def seed(self, mark):
        migration, time = self.migration(mark['migration_id']), micros(mark['record_time'])
        if migration.reached is not None:
            return
        migration.seed_time = time
        times = mark.get('synchronizer_times') or []
        migration.seed_times = {each['synchronizerId']: micros(each['recordTime']) for each in times}
        migration.begin(time - 1)
        migration.reached = time
        migration.seal_until(time + 1)

    def apply_events(self, migration, events):
        for kind, event in events:
            if kind == 'create' and is_ours(event):
                migration.create(event['contract_id'], self.line(event))
            elif kind == 'archive' and is_ours(event):
                migration.archive(event['contract_id'], needs=True)
            elif kind == 'purge':
                migration.archive(event, needs=False)

    def line(self, event):
        """The line of a coin that counts; None of a round or a counterfeit."""
        entity, arguments = entity_of(event), event['arguments']
        amulet = arguments['amulet'] if entity.endswith('LockedAmulet') else arguments
        dso = amulet['dso']
        if (self.dso or dso) != dso or dso not in event['signatories']:
            return None
        self.dso = dso
        if entity not in COINS:
            return None
        amount, owner = amulet['amount'], amulet['owner']
        terms = [units(amount['initialAmount']), units(amount['ratePerRound']['rate']), int(amount['createdAt']['number'])]
        facts = [COINS[entity], *terms, micros(event['created_at']), len(owner.encode()), owner, event['contract_id']]
        return f'+ {" ".join(map(str, facts))}\n'


def entity_of(event):
    return event['template_id'].partition(':')[2]


def is_ours(event):
    package = event.get('package_name') or event['template_id'].partition(':')[0].removeprefix('#')
    return entity_of(event) in TEMPLATES and package == PACKAGE


def scan_create(event):
    return {**event, 'arguments': event['create_arguments']}


def scan_events(message):
    """Depth first from the roots, children in order."""
    events = message['events_by_id']
    pending = message['root_event_ids'][::-1]
    while pending:
        event = events[pending.pop()]
        if event['event_type'] == 'created_event':
            yield 'create', scan_create(event)
            continue
        pending.extend(event['child_event_ids'][::-1])
        if event['consuming']:
            yield 'archive', event


def ledger_api_events(value):
    for wrapped in value['events']:
        ((kind, event),) = ((k, v) for k, v in wrapped.items() if v is not None)
        if kind == 'JsUnassignedEvent':
            event = event['value']
            if event['source'] == event['target'] and event.get('acsDelta') is not False:
                yield 'archive', ledger_api_event(event)
            continue
        event = event['createdEvent'] if kind == 'JsAssignmentEvent' else event
        if event.get('acsDelta') is False or (kind == 'ExercisedEvent' and not event['consuming']):
            continue
        yield 'archive' if kind in ('ArchivedEvent', 'ExercisedEvent') else 'create', ledger_api_event(event)


def ledger_api_event(event):
    """Under the names of the other format."""
    return {
        'contract_id': event['contractId'],
        'template_id': event['templateId'],
        'package_name': event.get('packageName'),
        'created_at': event.get('createdAt'),
        'signatories': event.get('signatories'),
        'arguments': event.get('createArgument'),
    }


def main():
    parser = argparse.ArgumentParser(description='Computes the digests of a feed (docs/digest.md).')
    parser.add_argument('files', nargs='+', metavar='FILE')
    parser.add_argument('--period', type=int, default=600, metavar='SECONDS', help='between two snapshots (default: 600)')
    parser.add_argument('--dso', help='whose coins count (default: the first that has signed one)')
    parser.add_argument('--migration-id', type=int, default=0, metavar='N', help='of the Ledger API format, which names none')
    given = parser.parse_args()
    ledger = Ledger(given.period * 1_000_000, given.dso, given.migration_id)
    for path in given.files:
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8') as file:
            for text in file:
                message = json.loads(text) if text.strip() else None
                if message is not None:
                    ledger.apply(message)


if __name__ == '__main__':
    main()

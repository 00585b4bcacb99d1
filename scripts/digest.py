#!/usr/bin/env python3
"""Computes the digests of a feed as docs/digest.md specifies them, with none of the program's code.

    scripts/digest.py [--period SECONDS] [--dso PARTY] [--migration-id N] [--tokens] [--follow PARTY]... FILE...

Files are lines of JSON in either format (.gz too), in order, and must be valid: what is bad in them ends the script or is not
noticed. A line for each snapshot as it is sealed: migration id, record time, changes_digest, digest; with --tokens also
tokens_changes_digest and tokens_digest, each `-` before the first token.
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
HOLDINGS = ['Splice.Api.Token.HoldingV2:Holding', 'Splice.Api.Token.HoldingV1:Holding']
PARTY = re.compile(r'(?!.*::.*::)[A-Za-z0-9:_ -]{1,185}?::[A-Za-z0-9:_ -]{1,68}', re.ASCII)
DECIMAL = re.compile(r'-?[0-9]{1,60}(\.[0-9]{1,10}|(\.[0-9]{1,60})?[eE][+-]?[0-9]{1,3})?', re.ASCII)
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


class Chain:
    """The contracts of a migration that are coins, or those that are tokens, and their digests."""

    def __init__(self, begins_empty, start):
        # Ids that are active, with the line of one that counts, and None of a round, a counterfeit or an unreadable holding.
        self.active = {}
        # Since the last snapshot: the lines of what was made by id, and of what is gone.
        self.made, self.gone = {}, []
        self.has_begun, self.digest = begins_empty, start

    def create(self, contract_id, line):
        self.active[contract_id] = line
        if line is not None:
            self.made[contract_id] = line

    def archive(self, contract_id):
        line = self.active.pop(contract_id)
        if line is not None and self.made.pop(contract_id, None) is None:
            self.gone.append(f'- {contract_id}\n')

    def seal(self, head):
        """Both digests as they are printed."""
        lines = [*self.made.values(), *self.gone]
        self.has_begun = self.has_begun or len(lines) > 0
        if not self.has_begun:
            return '- -'
        changes = sha256(head, *sorted(sha256(line.encode()) for line in lines))
        self.digest = sha256(self.digest, changes)
        self.made, self.gone = {}, []
        return f'{changes.hex()} {self.digest.hex()}'


class Migration:
    def __init__(self, number, period):
        self.number, self.period = number, period
        start = sha256(f'{number} {period}\n'.encode())
        self.coins, self.tokens = Chain(True, start), Chain(False, start)
        # Tokens that could not be read.
        self.unreadable = set()
        self.next_grid, self.reached = None, None
        # Of each synchronizer: the last time and the ids of its updates.
        self.last = {}
        self.seed_time, self.seed_times = None, {}

    def begin(self, time):
        """The first snapshot is the first grid time after the first update."""
        if self.next_grid is None:
            self.next_grid = time // self.period * self.period + self.period
        self.reached = max(time, self.reached or time)

    def seal_until(self, end, tokens):
        """Seals every grid time before `end`."""
        while self.next_grid is not None and self.next_grid < end:
            head = f'{self.number} {printed(self.next_grid)}\n'.encode()
            print(self.number, printed(self.next_grid), self.coins.seal(head), *([self.tokens.seal(head)] if tokens else []))
            self.next_grid += self.period

    def create(self, contract_id, line):
        # A create of an active contract is that contract again.
        if contract_id not in self.coins.active:
            self.coins.create(contract_id, line)

    def create_token(self, contract_id, line, reason):
        if contract_id in self.tokens.active:
            # What could not be read counts once it can be.
            if line is None or contract_id not in self.unreadable:
                return
            self.tokens.archive(contract_id)
        self.unreadable.discard(contract_id)
        if reason is not None:
            self.unreadable.add(contract_id)
        self.tokens.create(contract_id, line)

    def archive(self, contract_id, needs):
        if contract_id in self.coins.active:
            self.coins.archive(contract_id)
        elif needs:
            raise SystemExit(f'migration {self.number}: archive of {contract_id}, which is not active')
        else:
            self.archive_token(contract_id)

    def archive_token(self, contract_id):
        if contract_id in self.tokens.active:
            self.tokens.archive(contract_id)
            self.unreadable.discard(contract_id)

    def is_new(self, synchronizer, time, update_id):
        if self.seed_time is not None and time <= self.seed_times.get(synchronizer, self.seed_time):
            return False
        last, ids = self.last.get(synchronizer, (None, set()))
        if last is not None and (time < last or (time == last and update_id in ids)):
            return False
        self.last[synchronizer] = (time, ids | {update_id} if time == last else {update_id})
        return True


class Ledger:
    def __init__(self, period, dso, migration_id, tokens, followed):
        self.period, self.dso, self.migration_id = period, dso, migration_id
        self.tokens, self.followed = tokens, followed
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
        migration.seal_until(time, self.tokens)
        self.apply_events(migration, events)
        migration.begin(time)

    def checkpoint(self, value):
        times = [micros(each['recordTime']) for each in value['synchronizerTimes']]
        migration = self.migration(self.migration_id)
        if times and migration.reached is not None and min(times) >= migration.reached:
            migration.seal_until(min(times) + 1, self.tokens)
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
        migration.seal_until(time + 1, self.tokens)

    def apply_events(self, migration, events):
        for kind, event in events:
            if kind == 'create' and is_ours(event):
                migration.create(event['contract_id'], self.line(event))
            elif kind == 'archive' and is_ours(event):
                migration.archive(event['contract_id'], needs=True)
            elif kind == 'create' and self.tokens and holding_views(event):
                migration.create_token(event['contract_id'], *self.token(event))
            elif kind == 'archive':
                migration.archive_token(event['contract_id'])
            elif kind == 'purge':
                migration.archive(event, needs=False)

    def is_followed(self, owner):
        return not self.followed or owner in self.followed

    def token(self, event):
        """The line of a token that counts, or None, and why it cannot be read."""
        admin = None
        try:
            view = next((view for view in holding_views(event) if not has_failed(view)), None)
            value = record(view and view['viewValue'])
            instrument = record(value['instrumentId'])
            admin, name = party(instrument['admin']), account_text(instrument['id'])
            if admin not in event['signatories'] or (admin, name) == (self.dso, 'Amulet'):
                return None, None
            owner, provider, account_id = account(view, value)
            amount = value['amount']
            exact = DECIMAL.fullmatch(amount) and EXACT.scaleb(Decimal(amount), 10)
            if exact is None or exact != exact.to_integral_value() or not 0 <= exact < 10**38:
                raise ValueError('no amount')
            lock = value.get('lock')
            if lock is not None:
                if record(lock).get('expiresAt') is not None:
                    micros(lock['expiresAt'])
                if lock.get('expiresAfter') is not None:
                    int(record(lock['expiresAfter'])['microseconds'])
        except (ValueError, KeyError, TypeError, AttributeError, UnicodeError) as error:
            return None, str(error)
        if owner and not self.is_followed(owner):
            return None, None
        facts = ['t', 'l' if lock is not None else 'u', units(amount), micros(event['created_at'])]
        texts = [fact for text in (admin, name, owner, provider, account_id) for fact in (len(text.encode()), text)]
        return f'+ {" ".join(map(str, [*facts, *texts, event["contract_id"]]))}\n', None

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
        if not self.is_followed(owner):
            return None
        terms = [units(amount['initialAmount']), units(amount['ratePerRound']['rate']), int(amount['createdAt']['number'])]
        facts = [COINS[entity], *terms, micros(event['created_at']), len(owner.encode()), owner, event['contract_id']]
        return f'+ {" ".join(map(str, facts))}\n'


def entity_of(event):
    return event['template_id'].partition(':')[2]


def is_ours(event):
    package = event.get('package_name') or event['template_id'].partition(':')[0].removeprefix('#')
    return entity_of(event) in TEMPLATES and package == PACKAGE


def holding_views(event):
    """The first view of each version, version 2 first; the package id varies."""
    views = [view for view in event.get('views') or [] if isinstance(view, dict)]
    named = [[view for view in views if str(view.get('interfaceId')).partition(':')[2] == name] for name in HOLDINGS]
    return [of_one[0] for of_one in named if of_one]


def has_failed(view):
    return (view.get('viewStatus') or {}).get('code', 0) != 0 or view.get('viewValue') is None


def record(value):
    if not isinstance(value, dict):
        raise TypeError('no record')
    return value


def party(text):
    if not PARTY.fullmatch(text):
        raise ValueError('no party')
    return text


def account_text(text):
    if len(text.encode()) > 1024 or '\0' in text:
        raise ValueError('no id')
    return text


def account(view, value):
    """Owner, provider and id; empty where there is none."""
    if view['interfaceId'].endswith(HOLDINGS[0]):
        given = record(value['account'])
        owner, provider = ('' if given.get(key) is None else party(given[key]) for key in ('owner', 'provider'))
        return owner, provider, account_text(given['id'])
    owner, values = party(value['owner']), ((value.get('meta') or {}).get('values') or {})
    provider, account_id = (values.get(f'cip-112/account.{key}') for key in ('provider', 'id'))
    return (
        '' if owner.startswith('cip-112_no-owner::') else owner,
        party(provider) if isinstance(provider, str) else '',
        account_text(account_id) if isinstance(account_id, str) else '',
    )


def scan_create(event):
    return {**event, 'arguments': event['create_arguments'], 'views': event.get('interface_views')}


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
        'views': event.get('interfaceViews'),
    }


def main():
    parser = argparse.ArgumentParser(description='Computes the digests of a feed (docs/digest.md).')
    parser.add_argument('files', nargs='+', metavar='FILE')
    parser.add_argument('--period', type=int, default=600, metavar='SECONDS', help='between two snapshots (default: 600)')
    parser.add_argument('--dso', help='whose coins count (default: the first that has signed one)')
    parser.add_argument('--migration-id', type=int, default=0, metavar='N', help='of the Ledger API format, which names none')
    parser.add_argument('--tokens', action='store_true', help='print the digests of tokens too')
    parser.add_argument('--follow', action='append', default=[], metavar='PARTY', help='whose coins and tokens count alone')
    given = parser.parse_args()
    ledger = Ledger(given.period * 1_000_000, given.dso, given.migration_id, given.tokens, {*given.follow})
    for path in given.files:
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8') as file:
            for text in file:
                message = json.loads(text) if text.strip() else None
                if message is not None:
                    ledger.apply(message)


if __name__ == '__main__':
    main()

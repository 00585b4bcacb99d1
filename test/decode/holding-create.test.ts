import { describe, expect, it } from 'vitest';
import { isHolding, readHoldingView } from '../../src/decode/holding-view.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import type { HoldingCreate } from '../../src/ledger/update.ts';
import { lasting, lock, v1, v2, view } from '../support/decode/holding-views.ts';
import * as messages from '../support/decode/messages.ts';
import { ALICE, change, DSO, decode, decodeUpdate, type Json, onlyCoin } from '../support/decode/messages.ts';
import { createRandom } from '../support/ledger/random.ts';
import { soakCount } from '../support/program/soak.ts';

const LARGEST = '9999999999999999999999999999.9999999999';
const EVENTS = 'update/Transaction/value/events';

/** A transaction of format B with one create. */
function created(changes: Json, entity = 'Amulet', payload = messages.amuletArguments()): Json {
  const event = { ...messages.ledgerApiCreate(2, entity, payload), ...changes };
  return change(messages.ledgerApiTransaction(), EVENTS, [{ CreatedEvent: event }]);
}

const OTHER = { templateId: 'p:Utility.Holding:Holding', packageName: 'utility-registry-holding-v0' };

/** The same as an import of a participant. */
function imported(changes: Json): Json {
  const event = Object.entries(changes).reduce(
    (message, [key, value]) => change(message, `events_by_id/u:0/${key}`, value),
    messages.scanImport(),
  );
  return { ...event, seed: true };
}

describe('an event with views', () => {
  it('of another template is the create of a holding, in format B and in a format A import alike', () => {
    const holding = {
      kind: 'holding',
      contractId: 'c2',
      templateId: OTHER.templateId,
      packageName: OTHER.packageName,
      ignoredAs: 'other template',
      signatories: [DSO, ALICE],
      observers: [],
      node: 2,
      createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 891) * 1000 + 11,
      view: readHoldingView([v2()], 0),
    };
    expect(decodeUpdate(created({ ...OTHER, interfaceViews: [v1(), v2()] })).events).toEqual([holding]);
    const names = { template_id: OTHER.templateId, package_name: OTHER.packageName, interface_views: [v1(), v2()] };
    expect(decodeUpdate(imported(names)).events).toEqual([{ ...holding, contractId: 'c0', node: 0 }]);
    expect(decodeUpdate(change(imported(names), 'seed', undefined)).events).toHaveLength(1);
  });

  it.each<readonly [string, Json, string]>([
    ['Amulet of splice-amulet is a coin', {}, 'Amulet'],
    ['Amulet of another package counts by its view', { packageName: 'other' }, 'holding, other package'],
    [
      'another template of splice-amulet counts by its view',
      { templateId: 'p:Splice.Amulet:Odd' },
      'holding, other template',
    ],
    ['one that never was active does not', { ...OTHER, acsDelta: false }, 'ignored, acsDelta false'],
    ['one without a Holding view does not', { ...OTHER, interfaceViews: [] }, 'ignored, other template'],
    ['one with a failed view does', { ...OTHER, interfaceViews: [view(1, null)] }, 'holding, other template'],
    [
      'without a package name it is named by its template id',
      { templateId: '#p:M:E', packageName: null },
      'holding, other template, p',
    ],
  ])('%s', (_, changes, expected) => {
    const { events, ignored } = decodeUpdate(created({ interfaceViews: [v1()], ...changes }));
    const [event] = events;
    const parts = event === undefined ? ['ignored', ...ignored] : [event.kind];
    if (event?.kind === 'holding')
      parts.push(event.ignoredAs, ...(changes.packageName === null ? [event.packageName] : []));
    expect(parts.join(', ')).toBe(expected);
  });

  it.each([
    ['contractId', ''],
    ['templateId', 'no id'],
    ['templateId', 'p\ud800:M:E'],
    ['createdAt', 'tomorrow'],
    ['signatories', ['nobody']],
    ['observers', 'nobody'],
    ['nodeId', -1],
    ['acsDelta', 'x'],
  ])('is bad where %s is %j, as that of a coin', (field, value) => {
    const read = (views: unknown) => () => decode(created({ ...OTHER, interfaceViews: views, [field]: value }));
    expect(read([v1()])).toThrow(field);
  });

  it('shows where a coin has other views than arguments', () => {
    const views = (amount: string): Json[] => [v1({ amount }), v2({ amount })];
    expect(onlyCoin(created({ interfaceViews: views('42.5') })).viewDiffers).toBeUndefined();
    expect(onlyCoin(created({ interfaceViews: views('42.6') })).viewDiffers).toBe(true);
    expect(onlyCoin(imported({ interface_views: views('42.6') })).viewDiffers).toBe(true);
  });

  it('moves to another synchronizer as a coin does', () => {
    const event = 'update/Reassignment/value/events/0/JsAssignmentEvent/createdEvent';
    const message = change(
      change(messages.ledgerApiAssignment(), `${event}/interfaceViews`, [v1()]),
      `${event}/packageName`,
      'x',
    );
    expect(decodeUpdate(message).events).toMatchObject([{ kind: 'holding', ignoredAs: 'other package' }]);
  });

  it.each<readonly [string, Json, string]>([
    ['an archive of another template', { templateId: 'p:M:E' }, 'other archive c1, other template'],
    ['one of another package', { packageName: 'x' }, 'other archive c1, other package'],
    ['one whose contract id is none', { templateId: 'p:M:E', contractId: 7 }, 'ignored, other template'],
  ])('is archived by %s', (_, changes, expected) => {
    const message = change(messages.ledgerApiTransaction(), EVENTS, [
      { ArchivedEvent: { ...messages.ledgerApiArchive(1), ...changes } },
    ]);
    const { events, ignored } = decodeUpdate(message);
    const shown = events.map(
      (event) => `${event.kind} ${event.contractId}, ${'ignoredAs' in event && event.ignoredAs}`,
    );
    expect([...shown, ...ignored.map((what) => `ignored, ${what}`)]).toEqual([expected]);
  });
});

describe('no view is a bad update', () => {
  it('whatever it is', () => {
    const seed = Date.now() % 1e6;
    const random = createRandom(seed);
    const values: unknown[] = [
      undefined,
      null,
      0,
      -1,
      7.5,
      '',
      '0',
      'x',
      '\ud800',
      'a\0',
      [],
      {},
      true,
      ALICE,
      LARGEST,
    ];
    const keys = [
      'interfaceId',
      'viewStatus',
      'viewValue',
      'code',
      'amount',
      'owner',
      'account',
      'provider',
      'id',
      'admin',
      'lock',
    ];
    keys.push(
      'instrumentId',
      'expiresAt',
      'expiresAfter',
      'microseconds',
      'meta',
      'values',
      '__proto__',
      'createArgument',
    );
    const odd = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.6)) return random.pick(values);
      const inner = Array.from({ length: random.below(4) }, () => odd(depth - 1));
      return random.chance(0.3) ? inner : Object.fromEntries(inner.map((value) => [random.pick(keys), value]));
    };
    const spoilt = (value: unknown): unknown => {
      if (random.chance(0.08)) return odd(3);
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(spoilt);
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, spoilt(inner)]));
    };
    for (let run = 0; run < soakCount(5) * 1000; run++) {
      const views = random.chance(0.05) ? odd(3) : spoilt([v1(), v2(lock(lasting('7')))]);
      for (const message of [
        created({ ...OTHER, interfaceViews: views }),
        created({ interfaceViews: views }),
        imported({ interface_views: views }),
        imported({ interface_views: views, package_name: 'x' }),
      ]) {
        const { events, ignored } = decodeUpdate(message);
        expect(events.length + ignored.length, `seed ${seed}: ${JSON.stringify(views)}`).toBe(1);
        const [event] = events;
        if (event !== undefined && 'body' in event) expect(event.body).not.toBeInstanceOf(BadUpdate);
        if (event?.kind === 'holding')
          expect(
            JSON.stringify((event as HoldingCreate).view, (_, v) =>
              typeof v === 'bigint' ? String(v) : v,
            ).isWellFormed(),
          ).toBe(true);
      }
    }
  });

  it('however deep it is nested', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const given of ['"interfaceViews":[]', `"interfaceViews":${deep}`]) {
      for (const where of [
        given,
        given.replace('[]', `[{"interfaceId":"p:Splice.Api.Token.HoldingV1:Holding","viewValue":${deep}}]`),
      ]) {
        const text = JSON.stringify(created(OTHER)).replace('"interfaceViews":[]', where);
        const { events, ignored } = decodeUpdate(text);
        expect(events.length + ignored.length).toBe(1);
      }
    }
  });

  it('beside a payload whose numbers are read exactly', () => {
    const text = JSON.stringify(created({ interfaceViews: [v1({ amount: 7, createArgument: { x: 1.5 } })] }));
    expect(onlyCoin(text.replace('"1207"', '1207')).round).toBe(1207n);
  });

  it('of what is no holding', () => expect(isHolding([{ interfaceId: 'p:M:E' }])).toBe(false));
});

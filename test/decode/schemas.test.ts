import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { feedSchemas } from '../../scripts/feed-schemas/all.ts';
import { ledgerApiMessage } from '../../scripts/feed-schemas/ledger-api.ts';
import { scanMessage } from '../../scripts/feed-schemas/scan.ts';
import * as messages from '../support/decode/messages.ts';
import { faultOf, type Json } from '../support/decode/messages.ts';

describe('the published schemas', () => {
  it.each(Object.entries(feedSchemas()))('%s is what its source says; run scripts/write-schemas.ts', (name, schema) => {
    const published = readFileSync(join(import.meta.dirname, '../../schemas', name), 'utf8');
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(schema)));
  });
});

/** Values that stand for all that a field may wrongly, or rightly, be. */
const REPLACEMENTS: readonly unknown[] = [
  ...[undefined, null, true, false, [], [null], ['u:1'], ['a::b', 'c::d'], {}, { number: '5' }],
  ...['', 'x', ' ', '\ud800', 'a::b', 'a::b::c', messages.DSO, 'u:0', 'u:2147483648', 'splice-amulet', 'other'],
  ...['0', '-1', '7.5', '0E-10', '1E-10', '1E-11', '1E+28', '9223372036854775807', '9223372036854775808'],
  ...[0, -1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53],
  ...['2026-03-04T05:06:07Z', '2026-02-29T05:06:07Z', '2201-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ...['p:Splice.Amulet:Amulet', 'p:Splice.Amulet:LockedAmulet', ':Splice.Amulet:Amulet', 'p:M:E', 'p:\u007fM:E', 'p:M'],
  ...['#splice-amulet:Splice.Amulet:Amulet', '#splice-amulet:Splice.Round:OpenMiningRound'],
  ...['#other:Splice.Amulet:LockedAmulet', 'a:b:Splice.Amulet:Amulet', 'p\n:Splice.Amulet:Amulet'],
  '#splice-amulet:Splice.Amulet:Amulet\u0085',
];

/** The paths of everything in a message, as messages.change takes them. */
function pathsOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${prefix}${key}`, ...pathsOf(inner, `${prefix}${key}/`)]);
}

/** Changes what is still there after the changes before it. */
function changed(message: Json, changes: readonly (readonly [number, unknown])[]): Json {
  for (const [at, value] of changes) {
    const paths = pathsOf(message);
    if (paths.length > 0) messages.change(message, paths[at % paths.length]!, structuredClone(value));
  }
  return message;
}

/** What a schema cannot say: every event is listed exactly once, but that other templates may be unlisted. */
function isTree(message: Json): boolean {
  const events = message.events_by_id as Readonly<Record<string, Json>> | undefined;
  if (events === undefined || (message.event ?? null) !== null) return true;
  const seen: string[] = [];
  const visit = (id: string): boolean => {
    const event = Object.hasOwn(events, id) ? events[id] : undefined;
    if (event === undefined || seen.includes(id)) return false;
    seen.push(id);
    return event.event_type === 'created_event' || (event.child_event_ids as string[]).every(visit);
  };
  if (!(message.root_event_ids as string[]).every(visit)) return false;
  return Object.entries(events).every(([id, event]) => seen.includes(id) || isIgnored(event));
}

function isIgnored(event: Json): boolean {
  if (JSON.stringify(event.interface_views ?? null).includes(HOLDING)) return false;
  if (event.event_type === 'exercised_event' && event.consuming === false) return true;
  const template = event.template_id as string;
  const isOurs = /^[^:]+:Splice\.(Amulet:(Locked)?Amulet|Round:OpenMiningRound)$/.test(template);
  return !isOurs || (event.package_name ?? /^#([^:]+):/.exec(template)?.[1]) !== 'splice-amulet';
}

const HOLDING = 'p:Splice.Api.Token.HoldingV1:Holding';
const VIEWS = [{ interfaceId: HOLDING, viewValue: { amount: '7' } }];

function scanHolding(): Json {
  const message = messages.change(messages.scanImport(), 'events_by_id/u:0/template_id', 'p:M:E');
  return messages.change(message, 'events_by_id/u:0/interface_views', structuredClone(VIEWS));
}

function ledgerApiHolding(): Json {
  const createdEvent = { ...messages.ledgerApiCreate(0, 'Amulet', {}), interfaceViews: structuredClone(VIEWS) };
  const created = { CreatedEvent: { ...createdEvent, packageName: 'registry' } };
  return { ...messages.bareTransaction(), events: [created, { ArchivedEvent: messages.ledgerApiArchive(1) }] };
}

const PAYLOAD = 'events_by_id/u:0/create_arguments';

const CASES: readonly (readonly [string, () => Json, z.ZodType])[] = [
  ['a Scan transaction', messages.scanTransaction, scanMessage],
  ['a Scan import', messages.scanImport, scanMessage],
  ['a Scan assignment', messages.scanAssignment, scanMessage],
  ['a Scan unassignment', messages.scanUnassignment, scanMessage],
  ['a Scan purge', messages.scanPurge, scanMessage],
  ['a Scan import with views', scanHolding, scanMessage],
  ['a Ledger API holding', ledgerApiHolding, ledgerApiMessage],
  ['a Ledger API transaction', messages.ledgerApiTransaction, ledgerApiMessage],
  ['a Ledger API import', messages.ledgerApiImport, ledgerApiMessage],
  ['a bare transaction', messages.bareTransaction, ledgerApiMessage],
  ['a Ledger API assignment', messages.ledgerApiAssignment, ledgerApiMessage],
  ['a Ledger API unassignment', messages.ledgerApiUnassignment, ledgerApiMessage],
  ['a Ledger API purge', messages.ledgerApiPurge, ledgerApiMessage],
  ['a Ledger API checkpoint', messages.ledgerApiCheckpoint, ledgerApiMessage],
];

describe('a published schema, read back', () => {
  const published = (name: string): z.ZodType => z.fromJSONSchema(feedSchemas()[name] as z.core.JSONSchema.JSONSchema);
  const scan = published('feed-scan.json');
  const ledgerApi = published('feed-ledger-api.json');

  it.each(CASES)('takes %s', (_name, good, source) => {
    expect((source === scanMessage ? scan : ledgerApi).safeParse(good()).success).toBe(true);
  });

  it.each([
    ['another shape', scan, { foo: 1 }],
    ['the other format', scan, messages.ledgerApiTransaction()],
    ['a number for an amount', scan, messages.change(messages.scanImport(), `${PAYLOAD}/amount/initialAmount`, 5)],
    ['no owner', scan, messages.change(messages.scanImport(), `${PAYLOAD}/owner`, undefined)],
    ['the other format', ledgerApi, messages.scanTransaction()],
    [
      'a record time without zone',
      ledgerApi,
      messages.change(messages.bareTransaction(), 'recordTime', '2026-03-04T05:06:08'),
    ],
  ])('refuses %s', (_name, schema, message) => {
    expect(schema.safeParse(message).success).toBe(false);
  });
});

describe('the readers and the schemas accept and refuse the same', () => {
  const change = fc.tuple(fc.nat(), fc.constantFrom(...REPLACEMENTS));

  it.each(CASES)('%s, whatever one or two of its fields become', (_name, good, schema) => {
    expect(schema.safeParse(good()).success).toBe(true);
    expect(isTree(good())).toBe(true);
    const verdicts = { good: 0, bad: 0 };
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
        const message = JSON.parse(JSON.stringify(changed(good(), changes))) as Json;
        const expected = schema.safeParse(message).success && isTree(message);
        const fault = faultOf(message);
        verdicts[fault === null ? 'good' : 'bad']++;
        expect(fault === null, fault?.message).toBe(expected);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(verdicts.good, verdicts.bad)).toBeGreaterThan(15);
  });
});

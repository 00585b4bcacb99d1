import { partyOf } from './parse-ledger.ts';

type Fields = Record<string, unknown>;

/** A nonconsuming exercise that says what changed in an account, before it is written in a format. */
export interface EventLogExercise {
  argument: Fields;
  actingParties: unknown;
  packageName: string;
  choice: string;
  interfaceId: unknown;
}

const ENDS = ['mint', 'burn'];

function account(name: string): Fields {
  if (name === 'nobody') return { owner: null, provider: null, id: '' };
  return ENDS.includes(name)
    ? { owner: null, provider: null, id: `cip-112/${name}` }
    : { owner: partyOf(name), provider: null, id: '' };
}

function meta(reason: string | undefined): Fields {
  return { values: reason === undefined ? {} : { 'splice.lfdecentralizedtrust.org/reason': reason } };
}

/** `-4 bob lunch`: four coins to bob, with a reason; `+` from him. The other side may be mint, burn or nobody. */
function legSide(text: string, i: number): Fields {
  const [amount = '', name = '', reason] = text.split(' ');
  const side = amount.startsWith('-') ? 'SenderSide' : 'ReceiverSide';
  const terms = { amount: `${amount.slice(1)}.0000000000`, instrumentId: 'Amulet', meta: meta(reason) };
  return { transferLegId: `leg${i}`, side, otherside: account(name), ...terms };
}

/**
 * Events as text with ` ; ` between, each `alice a,b>c : -4 bob lunch, +1 mint`: the account, the coins that it used and made, its legs.
 * Words may follow the coins: `admin=X`, `acting=X`, `package=X`, `reason=X` (of the event).
 */
export function eventLogs(text: string): EventLogExercise[] {
  return text.split(' ; ').map((each) => {
    const [head = '', legs = ''] = each.split(/ :(?: |$)/, 2);
    const [owner = '', coins = '', ...words] = head.trim().split(' ');
    const given = new Map(words.map((word) => word.split('=') as [string, string]));
    const [used, made] = coins.split('>').map((names) => names.split(',').filter((name) => name !== ''));
    const ids = (names: readonly string[] = []) => names.map((name) => `00${Buffer.from(name).toString('hex')}`);
    return {
      argument: {
        admin: partyOf(given.get('admin') ?? 'DSO'),
        account: account(owner),
        inputHoldingCids: ids(used),
        outputHoldingCids: ids(made),
        transferLegSides: legs.trim() === '' ? [] : legs.split(', ').map((leg, i) => legSide(leg.trim(), i)),
        observers: [partyOf(owner)],
        extraArgs: { context: { values: {} }, meta: meta(given.get('reason')) },
      },
      actingParties: [partyOf(given.get('acting') ?? 'DSO')],
      packageName: given.get('package') ?? 'splice-amulet',
      choice: 'EventLog_HoldingsChange',
      interfaceId: '#splice-api-token-transfer-events-v2:Splice.Api.Token.TransferEventsV2:EventLog',
    };
  });
}

/** The line of an update, of either format, with these events behind its others. */
export function withEventLogs(line: string, exercises: readonly EventLogExercise[]): string {
  const message = JSON.parse(line);
  const templateId = 'package:Splice.AmuletEventLog:AmuletEventLog';
  for (const [i, { argument, actingParties, packageName, choice, interfaceId }] of exercises.entries()) {
    if (message.update === undefined) {
      const id = `${message.update_id}:${90 + i}`;
      message.root_event_ids.push(id);
      message.events_by_id[id] = {
        ...{ event_type: 'exercised_event', event_id: id, contract_id: '00ff', template_id: templateId },
        ...{ package_name: packageName, choice, choice_argument: argument, child_event_ids: [], exercise_result: {} },
        ...{ consuming: false, acting_parties: actingParties, interface_id: interfaceId },
      };
    } else {
      const about = { nodeId: 90 + i, lastDescendantNodeId: 90 + i, offset: 1, contractId: '00ff', templateId };
      const choiceFields = { interfaceId, choice, choiceArgument: argument, actingParties, exerciseResult: {} };
      const event = { ...about, ...choiceFields, packageName, consuming: false, acsDelta: false };
      message.update.Transaction.value.events.push({ ExercisedEvent: event });
    }
  }
  return JSON.stringify(message);
}

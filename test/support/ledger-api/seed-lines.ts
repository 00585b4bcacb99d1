import { seedImports } from '../../../demo/active-contracts.ts';
import { activeAt } from './participant-ledger.ts';

export interface SeedAt {
  readonly offset: number;
  readonly times: readonly { readonly synchronizerId: string; readonly recordTime: string }[];
}

/** The seed of what a participant has seen up to an offset, as lines of a file. */
export function seedLines(seen: readonly string[], { offset, times }: SeedAt): string[] {
  const active = activeAt(seen, offset);
  const contracts = active.map((created) => ({
    updateId: null,
    created: {
      event_type: 'created_event',
      contract_id: created.contractId,
      template_id: created.templateId,
      package_name: created.packageName,
      create_arguments: created.createArgument,
      created_at: (created as unknown as { createdAt: string }).createdAt,
      signatories: created.signatories,
      observers: created.observers,
    },
  }));
  const record_time = times
    .map(({ recordTime }) => recordTime)
    .reduce((a, b) => (Date.parse(a) > Date.parse(b) ? a : b));
  const mark = { migration_id: 0, record_time, synchronizer_times: times, offset, participant_id: 'p', source: 'test' };
  const imports = seedImports(contracts, 0).map((line, i) => {
    const { contractId, nodeId } = active[i]!;
    return line.replaceAll(JSON.stringify(`${contractId}:0`), JSON.stringify(`${contractId}:${nodeId}`));
  });
  return [...imports, JSON.stringify({ seed: mark })];
}

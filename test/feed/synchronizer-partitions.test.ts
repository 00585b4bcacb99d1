import { describe, expect, it } from 'vitest';
import { createPartitionPlan, destinationFor } from '../../src/feed/synchronizer-partitions.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('where a message of a feed goes', () => {
  it('is its synchronizer, every partition for a checkpoint, and else the first', () => {
    const update = { kind: 'update', synchronizerId: 's', updateId: 'u', migrationId: 0, recordTime: 1 } as const;
    const whole = { ...update, format: 'scan', events: [], ignored: [] } as const;
    expect(destinationFor(whole, bytes('{}'))).toEqual({ synchronizerId: 's' });
    const checkpoint = { kind: 'checkpoint', format: 'ledger-api', migrationId: 0, times: [] } as const;
    expect(destinationFor(checkpoint, bytes('{}'))).toBe('every');
    expect(destinationFor({ kind: 'ignored', what: 'null value' }, null)).toBe('first');
    expect(destinationFor(null, bytes('{"foo": 1}'))).toBe('first');
  });

  it('is the synchronizer that a message names which cannot be read, or means nothing here', () => {
    expect(destinationFor(null, bytes('{"synchronizer_id": "s", "record_time":'))).toEqual({ synchronizerId: 's' });
    const topology = bytes('{"update":{"TopologyTransaction":{"value":{"synchronizerId":"t"}}}}');
    expect(destinationFor({ kind: 'ignored', what: 'topology transaction' }, topology)).toEqual({
      synchronizerId: 't',
    });
  });
});

describe('the partitions of synchronizers', () => {
  it('are given in turn, kept, and not given twice', () => {
    const plan = createPartitionPlan(3, new Map([['known', 1]]));
    expect(['known', 'a', 'b', 'a', 'known', 'c'].map(plan)).toEqual([1, 0, 2, 0, 1, null]);
  });

  it('are one where there is only one', () => {
    expect(['a', 'b'].map(createPartitionPlan(1, new Map()))).toEqual([0, 0]);
  });
});

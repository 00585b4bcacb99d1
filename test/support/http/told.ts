import type { EventStream } from './event-stream.ts';

/** What happened in a stream, in short: `status reading`, `owner alice 00:10`, `snapshot 0 00:20 skipped true`. */
export function told(stream: EventStream): string[] {
  return stream.events.map(({ name, data }) => {
    const time = String(data.record_time).slice(11, -1).replace(/:00$/, '');
    if (name === 'status') return `status ${data.phase}`;
    if (name === 'owner') return `owner ${String(data.party_id).split('::')[0]} ${time}`;
    return `${name} ${data.migration_id} ${time}${'skipped' in data ? ` skipped ${data.skipped}` : ''}`;
  });
}

export function withoutStatus(stream: EventStream): string[] {
  return told(stream).filter((each) => !each.startsWith('status'));
}

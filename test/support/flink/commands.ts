import { type Ended, holdfast } from '../program/command.ts';

export interface JobPlaces {
  readonly gateway: string;
  readonly rest: string;
  readonly store: string;
  readonly broker: string;
  readonly topic: string;
  /** Of the decoders. */
  readonly group: string;
}

/** Runs `holdfast flink start`, `status` or `stop` with all that it has options for. */
export function jobCommand(
  { gateway, rest, store, broker, topic, group }: JobPlaces,
  name: string,
  ...more: readonly string[]
): Promise<Ended> {
  const of = ['--flink-rest', rest, '--postgres', store];
  const from = ['--kafka-brokers', broker, '--kafka-topic', topic];
  const by = ['--flink-gateway', gateway, '--kafka-group', group];
  const options = { start: [...of, ...from, ...by], status: [...of, ...from], stop: of }[name]!;
  return holdfast('flink', name, ...options, ...more);
}

import type { PostgresSettings } from '../postgres/settings.ts';

/** What a person sees of the job on Flink's pages: which store it fills. */
export function jobName({ host, port, database }: PostgresSettings): string {
  return `holdfast ${host}:${port}/${database}`;
}

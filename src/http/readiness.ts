/** The service's health, answered by /readyz and /status. */
export interface Health {
  ready(): Promise<Readiness>;
  status(): Promise<object>;
}

/** Why a service is not ready, as `/metrics` names it. */
export const NOT_READY_CAUSES = [
  'starting',
  /** The source was not applied to its end. */
  'behind',
  'halted',
  'waiting_for_clock',
  /** The source does not continue what is in the views. */
  'refused',
  /** The views cannot be written for now. */
  'retrying',
  'stopped',
  /** The writer has ended by a fault. */
  'failed',
  'no_snapshot',
  /** A store in PostgreSQL cannot be reached, or has another form. */
  'store_unavailable',
] as const;
export type NotReadyCause = (typeof NOT_READY_CAUSES)[number];

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, in sentences; the cause of each. */
  readonly reasons: readonly string[];
  readonly causes: readonly NotReadyCause[];
  /** Faults with which it is still ready, such as quarantined updates. */
  readonly degraded: readonly string[];
}

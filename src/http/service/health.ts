/** The service's health, answered by /readyz and /status. */
export interface Health {
  ready(): Promise<Readiness>;
  status(): Promise<object>;
}

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reasons: readonly string[];
  /** Faults with which it is still ready, such as quarantined updates. */
  readonly degraded: readonly string[];
}

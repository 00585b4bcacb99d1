/** What the service knows of itself; answered by /readyz and /status. */
export interface Health {
  ready(): Promise<Readiness>;
  status(): Promise<object>;
}

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reasons: readonly string[];
  /** What is wrong although it is ready, such as quarantined updates. */
  readonly degraded: readonly string[];
}

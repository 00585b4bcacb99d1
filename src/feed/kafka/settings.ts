/** How to reach a cluster; PEM texts, null for the system's authorities and for no client certificate. */
export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly ssl: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null } | null;
  readonly sasl: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  } | null;
}

/** Which topic to read and how to reach it. */
export interface TopicSettings extends KafkaConnection {
  readonly topic: string;
  /** Null: one created with the data directory. */
  readonly group: string | null;
  /** Null: an idle partition makes the others wait forever. */
  readonly partitionIdleMs: number | null;
}

/** How to reach a store in PostgreSQL. */
export interface PostgresSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Null: that of PGPASSWORD, or none. */
  readonly password: string | null;
  /** Null without TLS. The server's certificate is verified; `ca`: null for the system's authorities. */
  readonly ssl: { readonly ca: string | null } | null;
}

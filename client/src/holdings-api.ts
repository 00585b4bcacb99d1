/** Generated from schemas/openapi-holdings.json: node scripts/write-schemas.ts */

export interface paths {
    "/v0/holdings/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Coin totals and holding fees of owners at a snapshot. Superseded by /v1/holdings/summary.
         * @deprecated
         * @description Also at /api/validator/v0/scan-proxy/holdings/summary, as a validator serves it.
         */
        post: operations["getHoldingsSummaryAt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holdings/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Coin totals of owners at a snapshot, without fees.
         * @description Also at /api/validator/v1/scan-proxy/holdings/summary, as a validator serves it.
         */
        post: operations["getHoldingsSummaryAtV1"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/holdings/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The owners' coin contracts at a snapshot, page by page, as the events that created them. Superseded by /v2/holdings/state.
         * @deprecated
         */
        post: operations["getHoldingsStateAt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holdings/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The owners' coin contracts at a snapshot, page by page. Superseded by /v2/holdings/state.
         * @deprecated
         */
        post: operations["getHoldingsStateAtV1"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/holdings/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The owners' coin contracts at a snapshot, page by page, with opaque tokens. */
        post: operations["getHoldingsStateAtV2"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/state/acs/snapshot-timestamp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The time of the newest snapshot at or before a time, in that migration only. */
        get: operations["getDateOfMostRecentSnapshotBefore"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/state/acs/snapshot-timestamp-after": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The time of the first snapshot strictly after a time in that migration, else the first of the next migration that has one. */
        get: operations["getDateOfFirstSnapshotAfter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/state/acs/force": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Seals a snapshot at the last applied record time, where that is allowed; the newest one where nothing came since. */
        post: operations["forceAcsSnapshotNow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/migrations/last": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The largest migration seen. */
        get: operations["getLastMigration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/dso-party-id": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The DSO, whose coins count.
         * @description Also at /api/validator/v0/scan-proxy/dso-party-id, as a validator serves it.
         */
        get: operations["getDsoPartyId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The snapshots of a migration, with the supply at each. */
        get: operations["listSnapshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every owner who had coin in a snapshot of the grid up to a time, with the totals then, by party id. */
        get: operations["listOwners"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An owner's totals at points in time: at most 5000, and at most 1000 where `every` is not given. The last is the newest snapshot in the range. */
        get: operations["getOwnerHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The snapshots of the grid at which an owner's totals or number of coins differ from those of the one before. */
        get: operations["listOwnerChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/top": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The owners with coin at a snapshot, the largest first; equal ones by party id. */
        get: operations["listTopOwners"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}/movements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What moved of an owner, update by update: `from` and `to` are any times, by which updates count. */
        get: operations["listOwnerMovements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an owner has at any time, or now, with the updates of the open interval. */
        get: operations["getOwnerBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}/statement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an owner received and sent in each period, which has what counts after its `from` and up to its `to`. */
        get: operations["getOwnerStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/movements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What moved of all owners, the last updates first; of an update, the largest changes first. */
        get: operations["listMovements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}/locks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The locked coins of an owner at a snapshot, in the order in which they unlock. Judged at its time, not by the clock. */
        get: operations["listOwnerLocks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/instruments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The coin and every token of which anything was held in a snapshot of the grid up to a time, by admin and id. */
        get: operations["listInstruments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/owners/{party}/instruments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every instrument that an owner had in a snapshot of the grid up to a time, with the totals then, by admin and id. */
        get: operations["listOwnerInstruments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/unreadable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Active contracts that show a Holding view which cannot be read, and so are in no total, by contract id. */
        get: operations["listUnreadable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/ids/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What has an id on the ledger: the accounts that the newest such update moved, or the account of a contract. All ids are looked through. */
        get: operations["findById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What owners have at any times: for each time in the order asked, each owner in the order asked. */
        post: operations["getBalances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/holdfast/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Snapshots as they are sealed, the changes or movements of owners, and the status, as server-sent events. */
        get: operations["streamEvents"];
        put?: never;
        /** The same for more owners. */
        post: operations["streamEventsOfMany"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process can answer. */
        get: operations["isLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a snapshot is served and the source is caught up. */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The status of the service. */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The program's version. */
        get: operations["getVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        HoldingsSummaryV0: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /**
             * Format: int64
             * @description The round that the fees are of.
             * @example 20203
             */
            computed_as_of_round: number | string;
            summaries: {
                /** @example alice::1220ab */
                party_id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                total_unlocked_coin: string;
                /**
                 * @description Initial amounts of the locked coins; an expired lock is still locked.
                 * @example 23765.0066688730
                 */
                total_locked_coin: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total_coin_holdings: string;
                /**
                 * @description Holding fees of the unlocked coins as of the round; may be negative.
                 * @example 23765.0066688730
                 */
                accumulated_holding_fees_unlocked: string;
                /**
                 * @description Holding fees of the locked coins as of the round; may be negative.
                 * @example 23765.0066688730
                 */
                accumulated_holding_fees_locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                accumulated_holding_fees_total: string;
                /**
                 * @description total_unlocked_coin - accumulated_holding_fees_unlocked
                 * @example 23765.0066688730
                 */
                total_available_coin: string;
            }[];
        };
        HoldingsSummaryV1: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            summaries: {
                /** @example alice::1220ab */
                party_id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                total_unlocked_coin: string;
                /**
                 * @description Initial amounts of the locked coins; an expired lock is still locked.
                 * @example 23765.0066688730
                 */
                total_locked_coin: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total_coin_holdings: string;
            }[];
        };
        HoldingsStateV0: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            created_events: {
                /** @constant */
                event_type: "created_event";
                /** @description #<update id>:<node> */
                event_id: string;
                contract_id: string;
                /** @example 979ec710:Splice.Amulet:Amulet */
                template_id: string;
                /** @example splice-amulet */
                package_name: string;
                /** @description The create arguments; Decimals with ten decimals. */
                create_arguments: Record<string, unknown>;
                /**
                 * Format: date-time
                 * @description When the contract was created.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                created_at: string;
                signatories: string[];
                observers: string[];
            }[];
            /** @description Null at the end. */
            next_page_token: (number | string) | null;
        };
        HoldingsStateV1: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            created_events: {
                /** @description Null for imports. */
                created_in_update_id: string | null;
                contract_id: string;
                /** @example 979ec710:Splice.Amulet:Amulet */
                template_id: string;
                /** @example splice-amulet */
                package_name: string;
                /** @description The create arguments; Decimals with ten decimals. */
                create_arguments: Record<string, unknown>;
                /**
                 * Format: date-time
                 * @description When the contract was created.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                created_at: string;
                signatories: string[];
                observers: string[];
            }[];
            /** @description Null at the end. */
            next_page_token: (number | string) | null;
        };
        HoldingsStateV2: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            created_events: {
                /** @description Null for imports. */
                created_in_update_id: string | null;
                contract_id: string;
                /** @example 979ec710:Splice.Amulet:Amulet */
                template_id: string;
                /** @example splice-amulet */
                package_name: string;
                /** @description The create arguments; Decimals with ten decimals. */
                create_arguments: Record<string, unknown>;
                /**
                 * Format: date-time
                 * @description When the contract was created.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                created_at: string;
                signatories: string[];
                observers: string[];
            }[];
            /** @description Give it as `after` for the next page, with the same values but `page_size`. The last page has none. */
            next_page_token?: string;
        };
        SnapshotTime: {
            /**
             * Format: date-time
             * @description The time of the snapshot.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
        };
        ForcedSnapshot: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
        };
        LastMigration: {
            /**
             * Format: int64
             * @description The largest migration seen.
             * @example 4
             */
            migration_id: number | string;
        };
        DsoPartyId: {
            /** @example alice::1220ab */
            dso_party_id: string;
        };
        Snapshots: {
            /**
             * Format: int64
             * @description The migration of the snapshots.
             * @example 4
             */
            migration_id: number | string;
            /**
             * @description The time between two snapshots of the grid.
             * @example 10m
             */
            period: string;
            /** @description Whose coins count; null until one is known. */
            dso: string | null;
            seeded_at: string | null;
            /** @description Null where they are kept from the beginning. */
            movements_since: string | null;
            snapshots: {
                /**
                 * Format: date-time
                 * @description The time of the snapshot.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                record_time: string;
                /** @description Whether somebody asked for it; it lies outside of the grid then. */
                forced: boolean;
                /** @description Owners with coin. */
                owners: number;
                /** @description Coins. */
                contracts: number;
                /**
                 * @description The unlocked supply.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description The locked supply.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description What changed since the snapshot of the grid before it, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
                changes_digest: string | null;
                /** @description All that changed up to it, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
                digest: string | null;
                /** @description The same as `changes_digest` of all tokens, without the coin, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
                tokens_changes_digest: string | null;
                /** @description All tokens that changed up to it, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
                tokens_digest: string | null;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        Owners: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            owners: {
                /** @example alice::1220ab */
                party_id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description Coins. */
                contracts: number;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        OwnerHistory: {
            /**
             * Format: int64
             * @description The migration of the snapshots.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            /**
             * @description The time between two points.
             * @example 1h
             */
            every: string;
            points: {
                /**
                 * Format: date-time
                 * @description The time of the snapshot.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                record_time: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description Coins. */
                contracts: number;
                /**
                 * @description Only of the last point, where its time is no multiple of `every`.
                 * @constant
                 */
                partial?: true;
            }[];
        };
        OwnerChanges: {
            /**
             * Format: int64
             * @description The migration of the snapshots.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            changes: {
                /**
                 * Format: date-time
                 * @description The time of the snapshot.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                record_time: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description Coins. */
                contracts: number;
                /**
                 * @description Against the snapshot of the grid before it; may be negative.
                 * @example 23765.0066688730
                 */
                change_unlocked: string;
                /**
                 * @description The same of locked coin.
                 * @example 23765.0066688730
                 */
                change_locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                change_total: string;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        TopOwners: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /** @enum {string} */
            by: "total" | "unlocked" | "locked";
            /** @description Owners with coin. */
            owners_total: number;
            /**
             * @description The supply.
             * @example 23765.0066688730
             */
            total: string;
            owners: {
                rank: number;
                /** @example alice::1220ab */
                party_id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /**
                 * @description The amount that owners are ordered by, as a part of the supply; rounded half up.
                 * @example 23765.0066688730
                 */
                share: string;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        OwnerMovements: {
            /**
             * Format: int64
             * @description The migration of the updates.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            /** @description Null where they are kept from the beginning. */
            movements_since: string | null;
            movements: components["schemas"]["Movement"][];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        Movement: {
            /**
             * Format: date-time
             * @description The update's.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: date-time
             * @description When it counts: a snapshot has what counts at its time or before. It never falls in feed order.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            counted_at: string;
            update_id: string;
            /** @description Of a token: the account's provider; null for none. */
            provider?: string | null;
            /** @description Of a token: the account's id. */
            account_id?: string;
            /**
             * @description By the change of the total; where that is 0, of locked coin.
             * @enum {string}
             */
            kind: "in" | "out" | "lock" | "unlock";
            /**
             * @description What the update changed; may be negative.
             * @example 23765.0066688730
             */
            change_unlocked: string;
            /**
             * @description The same of locked coin; may be negative.
             * @example 23765.0066688730
             */
            change_locked: string;
            /**
             * @description Both together; may be negative.
             * @example 23765.0066688730
             */
            change_total: string;
            /**
             * @description After it.
             * @example 23765.0066688730
             */
            unlocked: string;
            /**
             * @description After it.
             * @example 23765.0066688730
             */
            locked: string;
            /**
             * @description After it.
             * @example 23765.0066688730
             */
            total: string;
            /** @description The first ten of the other owners whose totals the update changed, the largest change first. */
            others: {
                party_id: string | null;
                /** @description Of a token: the account's provider; null for none. */
                provider?: string | null;
                /** @description Of a token: the account's id. */
                account_id?: string;
                /**
                 * @description The change of its total; may be negative.
                 * @example 23765.0066688730
                 */
                change_total: string;
            }[];
            /** @description Of all of them. */
            others_count: number;
            minted: string | null;
            burned: string | null;
            /** @description What the ledger says of it; null where it says nothing. */
            legs: {
                /** @enum {string} */
                side: "sender" | "receiver";
                counterparty: string | null;
                /**
                 * @description Of the transfer.
                 * @example 23765.0066688730
                 */
                amount: string;
                reason: string | null;
            }[] | null;
        };
        OwnerBalance: {
            /** @example alice::1220ab */
            party_id: string;
            /**
             * Format: int64
             * @description The migration of the updates.
             * @example 4
             */
            migration_id: number | string;
            /**
             * Format: date-time
             * @description The time asked for, else the time reached.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            at: string;
            /**
             * Format: date-time
             * @description The time reached.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            applied_to: string;
            /**
             * @description Initial amounts of the unlocked coins.
             * @example 23765.0066688730
             */
            unlocked: string;
            /**
             * @description Initial amounts of the locked coins.
             * @example 23765.0066688730
             */
            locked: string;
            /**
             * @description Both together.
             * @example 23765.0066688730
             */
            total: string;
            /** @description Coins. Null between two snapshots. */
            contracts: number | null;
            snapshot: string | null;
            /** @description The movements after that snapshot. Null where the first of them are not kept. */
            movements_since_snapshot: number | null;
        };
        OwnerStatement: {
            /**
             * Format: int64
             * @description The migration of the updates.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            /** @description Null where they are kept from the beginning. */
            movements_since: string | null;
            /**
             * @description The length of a period.
             * @example 1d
             */
            every: string;
            periods: {
                /**
                 * Format: date-time
                 * @description Where it begins: what counts then is in the opening.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description Where it ends.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                to: string;
                /**
                 * @description The total at `from`: the closing of the period before.
                 * @example 23765.0066688730
                 */
                opening: string;
                /**
                 * @description Of updates that raised the total.
                 * @example 23765.0066688730
                 */
                received: string;
                /**
                 * @description Of updates that lowered it.
                 * @example 23765.0066688730
                 */
                sent: string;
                /**
                 * @description The change of locked coin; may be negative.
                 * @example 23765.0066688730
                 */
                locked_change: string;
                /**
                 * @description The opening, with what was received and without what was sent.
                 * @example 23765.0066688730
                 */
                closing: string;
                /** @description Updates that changed what the owner has. */
                movements: number;
                /**
                 * @description The total on average over time; rounded half up.
                 * @example 23765.0066688730
                 */
                average_total: string;
                minted: string | null;
                burned: string | null;
            }[];
        };
        Movements: {
            /**
             * Format: int64
             * @description The migration of the updates.
             * @example 4
             */
            migration_id: number | string;
            /** @description Null where they are kept from the beginning. */
            movements_since: string | null;
            movements: {
                /** @description Null where the account of a token has no owner. */
                party_id: string | null;
                /**
                 * Format: date-time
                 * @description The update's.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                record_time: string;
                /**
                 * Format: date-time
                 * @description When it counts: a snapshot has what counts at its time or before. It never falls in feed order.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                counted_at: string;
                update_id: string;
                /** @description Of a token: the account's provider; null for none. */
                provider?: string | null;
                /** @description Of a token: the account's id. */
                account_id?: string;
                /**
                 * @description By the change of the total; where that is 0, of locked coin.
                 * @enum {string}
                 */
                kind: "in" | "out" | "lock" | "unlock";
                /**
                 * @description What the update changed; may be negative.
                 * @example 23765.0066688730
                 */
                change_unlocked: string;
                /**
                 * @description The same of locked coin; may be negative.
                 * @example 23765.0066688730
                 */
                change_locked: string;
                /**
                 * @description Both together; may be negative.
                 * @example 23765.0066688730
                 */
                change_total: string;
                /**
                 * @description After it.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description After it.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description After it.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description The first ten of the other owners whose totals the update changed, the largest change first. */
                others: {
                    party_id: string | null;
                    /** @description Of a token: the account's provider; null for none. */
                    provider?: string | null;
                    /** @description Of a token: the account's id. */
                    account_id?: string;
                    /**
                     * @description The change of its total; may be negative.
                     * @example 23765.0066688730
                     */
                    change_total: string;
                }[];
                /** @description Of all of them. */
                others_count: number;
                minted: string | null;
                burned: string | null;
                /** @description What the ledger says of it; null where it says nothing. */
                legs: {
                    /** @enum {string} */
                    side: "sender" | "receiver";
                    counterparty: string | null;
                    /**
                     * @description Of the transfer.
                     * @example 23765.0066688730
                     */
                    amount: string;
                    reason: string | null;
                }[] | null;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        OwnerLocks: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            /** @description What unlocks soon; each contains the one before. Expired locks are in none. */
            unlocking: {
                /**
                 * @description Of the locks that expire within a day after the snapshot.
                 * @example 23765.0066688730
                 */
                "1d": string;
                /**
                 * @description Within seven days.
                 * @example 23765.0066688730
                 */
                "7d": string;
                /**
                 * @description Within 30 days.
                 * @example 23765.0066688730
                 */
                "30d": string;
            };
            locks: {
                contract_id: string;
                /**
                 * @description The initial amount.
                 * @example 23765.0066688730
                 */
                amount: string;
                expires_at: string | null;
                holders: string[];
                /** @description What the lock is for (optContext). */
                context: string | null;
                /**
                 * Format: date-time
                 * @description When the contract was created.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                created_at: string;
                /** @description Whether it had expired at the snapshot. The coin is still locked. */
                expired: boolean;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        Instruments: {
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            instruments: {
                /**
                 * @description The instrument's admin; of the coin it is the DSO.
                 * @example alice::1220ab
                 */
                admin: string;
                /** @description The admin's id for it; of the coin it is `Amulet`. */
                id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description Parties that have some. */
                owners: number;
                /** @description Contracts, those without an owner too. */
                contracts: number;
                /**
                 * @description Network: the totals are the supply. Followed: they are those of the owners that a participant shows.
                 * @enum {string}
                 */
                scope: "network" | "followed";
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        OwnerInstruments: {
            /**
             * Format: date-time
             * @description The time of the snapshot that was used.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            instruments: {
                /**
                 * @description The instrument's admin; of the coin it is the DSO.
                 * @example alice::1220ab
                 */
                admin: string;
                /** @description The admin's id for it; of the coin it is `Amulet`. */
                id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
                /** @description Contracts. */
                contracts: number;
                /** @description The 1000 largest accounts, by provider (null first) and id. */
                accounts: {
                    provider: string | null;
                    id: string;
                    /**
                     * @description Initial amounts of the unlocked coins.
                     * @example 23765.0066688730
                     */
                    unlocked: string;
                    /**
                     * @description Initial amounts of the locked coins.
                     * @example 23765.0066688730
                     */
                    locked: string;
                }[];
                /** @description Of all of them. */
                accounts_total: number;
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        UnreadableHoldings: {
            /**
             * Format: int64
             * @description The migration of the updates.
             * @example 4
             */
            migration_id: number | string;
            unreadable: {
                contract_id: string;
                template_id: string;
                reason: string;
                /** @description Signatories and observers, in order. */
                stakeholders: string[];
            }[];
            /** @description Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end. */
            next_page_token: string | null;
        };
        Found: {
            id: string;
            found: {
                /** @enum {string} */
                kind: "update" | "contract";
                /**
                 * Format: int64
                 * @description The migration of the updates.
                 * @example 4
                 */
                migration_id: number | string;
                /**
                 * Format: date-time
                 * @description When the update was recorded, or the contract created.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                record_time: string;
                /** @description The newest snapshot that has the contract. Null where none does, and for an update. */
                snapshot: string | null;
                /** @description Null where the account of a token has no owner. */
                party_id: string | null;
                /** @example alice::1220ab */
                instrument_admin: string;
                instrument_id: string;
                /** @description Of a token: the account's provider; null for none. */
                provider?: string | null;
                /** @description Of a token: the account's id. */
                account_id?: string;
                /**
                 * @description What the update changed, or the contract has; may be negative.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description The same of locked coin; may be negative.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together; may be negative.
                 * @example 23765.0066688730
                 */
                total: string;
            }[];
        };
        Balances: {
            /**
             * Format: int64
             * @description The migration of the updates.
             * @example 4
             */
            migration_id: number | string;
            balances: {
                /**
                 * Format: date-time
                 * @description The time asked for.
                 * @example 2025-02-14T15:00:00Z
                 * @example 2024-09-20T13:31:28.40518Z
                 */
                at: string;
                /** @example alice::1220ab */
                party_id: string;
                /**
                 * @description Initial amounts of the unlocked coins.
                 * @example 23765.0066688730
                 */
                unlocked: string;
                /**
                 * @description Initial amounts of the locked coins.
                 * @example 23765.0066688730
                 */
                locked: string;
                /**
                 * @description Both together.
                 * @example 23765.0066688730
                 */
                total: string;
            }[];
        };
        Live: Record<string, unknown>;
        Readiness: {
            ready: boolean;
            /** @description Why it is not ready. */
            reasons: string[];
            /** @description What is wrong although it may be ready. */
            degraded: string[];
        };
        /** @description Source, position, lag, newest snapshots, counts and the last error. */
        Status: Record<string, unknown>;
        Version: {
            /** @example 0.1.0 */
            version: string;
        };
        OwnerEvent: {
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            /**
             * @description Where the stream is of a token.
             * @example alice::1220ab
             */
            instrument_admin?: string;
            instrument_id?: string;
            /**
             * Format: date-time
             * @description The time of the snapshot.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * @description Initial amounts of the unlocked coins.
             * @example 23765.0066688730
             */
            unlocked: string;
            /**
             * @description Initial amounts of the locked coins.
             * @example 23765.0066688730
             */
            locked: string;
            /**
             * @description Both together.
             * @example 23765.0066688730
             */
            total: string;
            /** @description Coins. */
            contracts: number;
            /**
             * @description Against the snapshot of the grid before it; may be negative.
             * @example 23765.0066688730
             */
            change_unlocked: string;
            /**
             * @description The same of locked coin.
             * @example 23765.0066688730
             */
            change_locked: string;
            /**
             * @description Both together.
             * @example 23765.0066688730
             */
            change_total: string;
        };
        MovementEvent: {
            /**
             * Format: int64
             * @description The migration of the update.
             * @example 4
             */
            migration_id: number | string;
            /** @example alice::1220ab */
            party_id: string;
            /**
             * @description Where the stream is of a token.
             * @example alice::1220ab
             */
            instrument_admin?: string;
            instrument_id?: string;
            /**
             * Format: date-time
             * @description The update's.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /**
             * Format: date-time
             * @description When it counts: a snapshot has what counts at its time or before. It never falls in feed order.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            counted_at: string;
            update_id: string;
            /** @description Of a token: the account's provider; null for none. */
            provider?: string | null;
            /** @description Of a token: the account's id. */
            account_id?: string;
            /**
             * @description By the change of the total; where that is 0, of locked coin.
             * @enum {string}
             */
            kind: "in" | "out" | "lock" | "unlock";
            /**
             * @description What the update changed; may be negative.
             * @example 23765.0066688730
             */
            change_unlocked: string;
            /**
             * @description The same of locked coin; may be negative.
             * @example 23765.0066688730
             */
            change_locked: string;
            /**
             * @description Both together; may be negative.
             * @example 23765.0066688730
             */
            change_total: string;
            /**
             * @description After it.
             * @example 23765.0066688730
             */
            unlocked: string;
            /**
             * @description After it.
             * @example 23765.0066688730
             */
            locked: string;
            /**
             * @description After it.
             * @example 23765.0066688730
             */
            total: string;
            /** @description The first ten of the other owners whose totals the update changed, the largest change first. */
            others: {
                party_id: string | null;
                /** @description Of a token: the account's provider; null for none. */
                provider?: string | null;
                /** @description Of a token: the account's id. */
                account_id?: string;
                /**
                 * @description The change of its total; may be negative.
                 * @example 23765.0066688730
                 */
                change_total: string;
            }[];
            /** @description Of all of them. */
            others_count: number;
            minted: string | null;
            burned: string | null;
            /** @description What the ledger says of it; null where it says nothing. */
            legs: {
                /** @enum {string} */
                side: "sender" | "receiver";
                counterparty: string | null;
                /**
                 * @description Of the transfer.
                 * @example 23765.0066688730
                 */
                amount: string;
                reason: string | null;
            }[] | null;
        };
        SnapshotEvent: {
            /**
             * Format: int64
             * @description The migration of the snapshot.
             * @example 4
             */
            migration_id: number | string;
            /**
             * Format: date-time
             * @description The time of the snapshot.
             * @example 2025-02-14T15:00:00Z
             * @example 2024-09-20T13:31:28.40518Z
             */
            record_time: string;
            /** @description Whether somebody asked for it; it lies outside of the grid then. */
            forced: boolean;
            /** @description Owners with coin. */
            owners: number;
            /** @description Coins. */
            contracts: number;
            /**
             * @description The unlocked supply.
             * @example 23765.0066688730
             */
            unlocked: string;
            /**
             * @description The locked supply.
             * @example 23765.0066688730
             */
            locked: string;
            /**
             * @description Both together.
             * @example 23765.0066688730
             */
            total: string;
            /** @description What changed since the snapshot of the grid before it, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
            changes_digest: string | null;
            /** @description All that changed up to it, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
            digest: string | null;
            /** @description The same as `changes_digest` of all tokens, without the coin, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
            tokens_changes_digest: string | null;
            /** @description All tokens that changed up to it, as a SHA-256: equal where two replicas hold the same. Null where it was forced. */
            tokens_digest: string | null;
            /**
             * @description There where snapshots of its migration before it were left out, because the service was behind.
             * @constant
             */
            skipped?: true;
        };
        StreamStatus: {
            /**
             * @description Reading: the service is behind its source, and only the newest snapshots are sent.
             * @enum {string}
             */
            phase: "starting" | "reading" | "caught_up" | "halted" | "stopping";
            /** @description How far the views are behind the source, in record time; null where that is not known. */
            lag_seconds: number | null;
            /** @description Applied since the process started. */
            updates: number;
            /** @description Where and why the ingest is halted. */
            halted: {
                location: string;
                reason: string;
            } | null;
            /** @description What is wrong although the service goes on. */
            degraded: string[];
            /** @description As `/readyz` answers. */
            ready: boolean;
            /** @description Why the service is not ready; empty where it is. */
            reasons: string[];
            /** @description The source that is followed; null where none is. */
            source: string | null;
        };
        Error: {
            /** @description What is wrong, for people. */
            error: string;
        };
        OwnError: {
            /** @description What is wrong, for people. */
            error: string;
            /**
             * @description `invalid`: wrong path, method, header, parameter or body. `missing`: nothing is kept of what was asked for. `refused`: a parameter does not fit these views, such as a party that is not followed. `unanswerable`: it has no answer, such as a page token of other views. `unavailable`: not now; with Retry-After it may pass. `unsupported`: this store does not keep it. `internal`: a fault of Holdfast.
             * @enum {string}
             */
            code: "invalid" | "missing" | "refused" | "unanswerable" | "unavailable" | "unsupported" | "internal";
            /**
             * Format: date-time
             * @description The first snapshot there is, if it is after the time asked for.
             */
            nearest?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHoldingsSummaryAt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "migration_id": 0,
                 *       "record_time": "2025-02-12T00:30:00Z",
                 *       "owner_party_ids": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** Format: int64 */
                    migration_id: number | string;
                    /** Format: date-time */
                    record_time: string;
                    /**
                     * @description at_or_before takes the newest snapshot at or before record_time
                     * @default exact
                     */
                    record_time_match?: ("exact" | "at_or_before") | null;
                    owner_party_ids: string[];
                    as_of_round?: (number | string) | null;
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldingsSummaryV0"];
                };
            };
            /** @description A field is wrong, or the body is no JSON; the message says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than the limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A Content-Type is given, and it is not JSON; or the body is compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The read took longer than its time limit. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHoldingsSummaryAtV1: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "migration_id": 0,
                 *       "record_time": "2025-02-12T00:30:00Z",
                 *       "owner_party_ids": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** Format: int64 */
                    migration_id: number | string;
                    /** Format: date-time */
                    record_time: string;
                    /**
                     * @description at_or_before takes the newest snapshot at or before record_time
                     * @default exact
                     */
                    record_time_match?: ("exact" | "at_or_before") | null;
                    owner_party_ids: string[];
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldingsSummaryV1"];
                };
            };
            /** @description A field is wrong, or the body is no JSON; the message says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than the limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A Content-Type is given, and it is not JSON; or the body is compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHoldingsStateAt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "migration_id": 0,
                 *       "record_time": "2025-02-12T00:30:00Z",
                 *       "owner_party_ids": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ],
                 *       "page_size": 100
                 *     }
                 */
                "application/json": {
                    /** Format: int64 */
                    migration_id: number | string;
                    /** Format: date-time */
                    record_time: string;
                    /**
                     * @description at_or_before takes the newest snapshot at or before record_time
                     * @default exact
                     */
                    record_time_match?: ("exact" | "at_or_before") | null;
                    owner_party_ids: string[];
                    /** Format: int32 */
                    page_size: number;
                    after?: (number | string) | null;
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldingsStateV0"];
                };
            };
            /** @description A field is wrong, or the body is no JSON; the message says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than the limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A Content-Type is given, and it is not JSON; or the body is compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHoldingsStateAtV1: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "migration_id": 0,
                 *       "record_time": "2025-02-12T00:30:00Z",
                 *       "owner_party_ids": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ],
                 *       "page_size": 100
                 *     }
                 */
                "application/json": {
                    /** Format: int64 */
                    migration_id: number | string;
                    /** Format: date-time */
                    record_time: string;
                    /**
                     * @description at_or_before takes the newest snapshot at or before record_time
                     * @default exact
                     */
                    record_time_match?: ("exact" | "at_or_before") | null;
                    owner_party_ids: string[];
                    /** Format: int32 */
                    page_size: number;
                    after?: (number | string) | null;
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldingsStateV1"];
                };
            };
            /** @description A field is wrong, or the body is no JSON; the message says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than the limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A Content-Type is given, and it is not JSON; or the body is compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHoldingsStateAtV2: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "migration_id": 0,
                 *       "record_time": "2025-02-12T00:30:00Z",
                 *       "owner_party_ids": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ],
                 *       "page_size": 100
                 *     }
                 */
                "application/json": {
                    /** Format: int64 */
                    migration_id: number | string;
                    /** Format: date-time */
                    record_time: string;
                    /**
                     * @description at_or_before takes the newest snapshot at or before record_time
                     * @default exact
                     */
                    record_time_match?: ("exact" | "at_or_before") | null;
                    owner_party_ids: string[];
                    /** Format: int32 */
                    page_size: number;
                    after?: string | null;
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldingsStateV2"];
                };
            };
            /** @description A field is wrong, or the body is no JSON; the message says where. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than the limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A Content-Type is given, and it is not JSON; or the body is compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDateOfMostRecentSnapshotBefore: {
        parameters: {
            query: {
                /** @example 2025-02-12T00:30:00Z */
                before: string;
                /** @example 0 */
                migration_id: number | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnapshotTime"];
                };
            };
            /** @description A parameter is missing or wrong. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDateOfFirstSnapshotAfter: {
        parameters: {
            query: {
                /** @example 1970-01-01T00:00:00Z */
                after: string;
                /** @example 0 */
                migration_id: number | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnapshotTime"];
                };
            };
            /** @description A parameter is missing or wrong. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No such snapshot. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    forceAcsSnapshotNow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForcedSnapshot"];
                };
            };
            /** @description Forced snapshots are disabled, or nothing has been applied; or only what is of the first time of the grid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request comes from a web page (it has an Origin header). */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A new snapshot was forced less than 10 s ago. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk is full or the database is locked; nothing was sealed. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getLastMigration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastMigration"];
                };
            };
            /** @description No migration has been seen. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDsoPartyId: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DsoPartyId"];
                };
            };
            /** @description The DSO is not known yet. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSnapshots: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Inclusive; from the first snapshot, or update, on unless given. */
                from?: string;
                /** @description Inclusive; up to the newest snapshot, or update, unless given. */
                to?: string;
                /** @description Only snapshots of the grid whose time is a multiple of this, in UTC; a multiple of the snapshot period. */
                every?: string;
                /** @description Newest first, or oldest first. */
                order?: "desc" | "asc";
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshots"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listOwners: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description The newest snapshot at or before this time; the newest one unless given. */
                record_time?: string;
                /** @description What the party id begins with; case counts. */
                prefix?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Owners"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    getOwnerHistory: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Inclusive; from the first snapshot, or update, on unless given. */
                from?: string;
                /** @description Inclusive; up to the newest snapshot, or update, unless given. */
                to?: string;
                /** @description Only snapshots of the grid whose time is a multiple of this, in UTC; a multiple of the snapshot period. */
                every?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerHistory"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listOwnerChanges: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Inclusive; from the first snapshot, or update, on unless given. */
                from?: string;
                /** @description Inclusive; up to the newest snapshot, or update, unless given. */
                to?: string;
                /** @description Newest first, or oldest first. */
                order?: "desc" | "asc";
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerChanges"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listTopOwners: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description The newest snapshot at or before this time; the newest one unless given. */
                record_time?: string;
                /** @description The amount that owners are ordered by, largest first. */
                by?: "total" | "unlocked" | "locked";
                /** @description Only owners whose party ids contain this, in any case. They keep their ranks. */
                contains?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopOwners"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listOwnerMovements: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Inclusive; from the first snapshot, or update, on unless given. */
                from?: string;
                /** @description Inclusive; up to the newest snapshot, or update, unless given. */
                to?: string;
                /** @description Only movements of these kinds; may be given several times. */
                kind?: string;
                /** @description Newest first, or oldest first. */
                order?: "desc" | "asc";
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerMovements"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    getOwnerBalance: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Any time that was reached; the time reached now unless given. */
                at?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerBalance"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    getOwnerStatement: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Inclusive; from the first snapshot, or update, on unless given. */
                from?: string;
                /** @description Inclusive; up to the newest snapshot, or update, unless given. */
                to?: string;
                /** @description Periods end at multiples of this in UTC: weeks on Mondays, months (`1mo`) on the first. `all`: one period. */
                every?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerStatement"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listMovements: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Inclusive; from the first snapshot, or update, on unless given. */
                from?: string;
                /** @description Inclusive; up to the newest snapshot, or update, unless given. */
                to?: string;
                /** @description Only movements that changed a total by at least as much; with 0, or unless given, those of locks too. */
                min?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Movements"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listOwnerLocks: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description The newest snapshot at or before this time; the newest one unless given. */
                record_time?: string;
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerLocks"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listInstruments: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description The newest snapshot at or before this time; the newest one unless given. */
                record_time?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Instruments"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listOwnerInstruments: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description The newest snapshot at or before this time; the newest one unless given. */
                record_time?: string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The owner; zeros for a party that never had any coin.
                 * @example alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec
                 */
                party: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnerInstruments"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    listUnreadable: {
        parameters: {
            query?: {
                /** @description The newest migration that has a snapshot, of balances and movements that has an update, unless given. */
                migration_id?: number | string;
                /** @description Rows in the answer; `all` sends those of all pages, in CSV only. */
                limit?: number | "all";
                /** @description The next_page_token of the page before, which says all other parameters too. */
                after?: string;
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnreadableHoldings"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    findById: {
        parameters: {
            query?: {
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description The id of an update or of a contract, as the ledger has it.
                 * @example 1220f3a9
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Found"];
                    "text/csv": string;
                };
            };
            /** @description The client has this answer already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    getBalances: {
        parameters: {
            query?: {
                /** @description As the Accept header says unless given. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "migration_id": 0,
                 *       "at": [
                 *         "2025-02-12T00:30:00Z"
                 *       ],
                 *       "owners": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The newest migration that has an update unless given. */
                    migration_id?: (number | string) | null;
                    /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                    instrument_admin?: string | null;
                    /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                    instrument_id?: string | null;
                    at: string[];
                    owners: string[];
                };
            };
        };
        responses: {
            /** @description The rows; in CSV with their names in the first line and no envelope. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Balances"];
                    "text/csv": string;
                };
            };
            /** @description A parameter is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description No such snapshot, update or instrument, or nothing is kept of that time. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The body is larger than the limit. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The body is not JSON, or compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description The read took longer than its time limit, or too many bytes of answers wait for slow clients. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description An owner whose changes or movements are sent; may be given several times. */
                owner?: string[];
                /** @description What is sent of the owners. */
                events?: "snapshots" | "movements" | "movements,snapshots" | "snapshots,movements";
                /** @description The admin of a token, with `instrument_id`; the coin unless both are given. */
                instrument_admin?: string;
                /** @description The id of a token, of at most 1024 bytes, with `instrument_admin`. */
                instrument_id?: string;
                /** @description The id of the last event that the client had: what is after it is sent, oldest first. One not reached yet is waited for. */
                last_event_id?: string;
            };
            header?: {
                /** @description The id of the last event that the client had: what is after it is sent, oldest first. One not reached yet is waited for. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `status` first and on each change, then `snapshot` for each one sealed, its `id` the migration id, the record time and the first digits of the digest. With `events=snapshots` an `owner` is before it for each owner asked for that changed in it. With `events=movements` a `movement` comes for each as soon as its update is applied, before the snapshot that holds it; none is left out. Its `id` is the migration id, record time, update id and party id, of a token also provider, account id, admin and instrument id, each percent-encoded. A stream is of one instrument; one not known yet may come. `reset` has the newest snapshot, where the client cannot be sent all since its last id. A comment comes after 15 s without an event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A parameter or field is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description This store or directory has no tokens. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description This store keeps no movements. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description Too many streams are open, in all or of one address; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    streamEventsOfMany: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the last event that the client had: what is after it is sent, oldest first. One not reached yet is waited for. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "owners": [
                 *         "alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec"
                 *       ],
                 *       "events": "movements"
                 *     }
                 */
                "application/json": {
                    owners?: string[];
                    /**
                     * @default snapshots
                     * @enum {string}
                     */
                    events?: "snapshots" | "movements" | "movements,snapshots" | "snapshots,movements";
                    last_event_id?: string;
                    instrument_admin?: string;
                    instrument_id?: string;
                };
            };
        };
        responses: {
            /** @description `status` first and on each change, then `snapshot` for each one sealed, its `id` the migration id, the record time and the first digits of the digest. With `events=snapshots` an `owner` is before it for each owner asked for that changed in it. With `events=movements` a `movement` comes for each as soon as its update is applied, before the snapshot that holds it; none is left out. Its `id` is the migration id, record time, update id and party id, of a token also provider, account id, admin and instrument id, each percent-encoded. A stream is of one instrument; one not known yet may come. `reset` has the newest snapshot, where the client cannot be sent all since its last id. A comment comes after 15 s without an event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A parameter or field is wrong, unknown or given twice; the message names it. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description This store or directory has no tokens. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description This store keeps no movements. */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
            /** @description Too many streams are open, in all or of one address; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnError"];
                };
            };
        };
    };
    isLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Live"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not ready; the answer is of the same form and says why. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getVersion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"];
                };
            };
            /** @description A fault of Holdfast; the request id is in the log. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}

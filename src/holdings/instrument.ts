/** What names an instrument: the party of its registrar, and the registrar's id for it. */
export interface InstrumentName {
  readonly admin: string;
  readonly id: string;
}

/** Absent: the coin. */
export interface OfInstrument {
  readonly instrument?: InstrumentName | undefined;
}

/** What tells the accounts of a party and an instrument apart. */
export interface AccountName {
  readonly provider: string | null;
  readonly accountId: string;
}

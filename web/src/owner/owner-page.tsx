import type { JSX } from 'preact';
import type { Here } from '../data/answers.ts';
import { usePaced } from '../data/live.ts';
import { usePlace } from '../data/place.ts';
import type { Live } from '../data/stream.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { partyParts } from '../parts/party.tsx';
import { BalanceCard } from './balance-card.tsx';
import { ChangesCard } from './changes-card.tsx';
import { ContractsCard } from './contracts-card.tsx';
import { MomentForm } from './moment-form.tsx';
import { TotalsCard } from './totals-card.tsx';

const PACE_MS = 2_000;

/** What one party has and had. The address says at which snapshot and round, so that it can be kept and sent to others. */
export function OwnerPage({
  party,
  here,
  live,
}: {
  readonly party: string;
  readonly here: Here;
  readonly live: Live;
}): JSX.Element {
  const { query } = usePlace();
  const at = query.get('at');
  const round = query.get('round') ?? undefined;
  const shown = usePaced(here, PACE_MS);
  const holding = { migration: shown.migration, time: at ?? shown.newest.record_time, party };
  const changed = usePaced(live.ownerNews, PACE_MS);
  return (
    <>
      <PartyHead party={party} />
      <div class="grid">
        <TotalsCard holding={holding} round={round} pinned={at !== null}>
          <MomentForm key={`${at} ${round}`} {...{ party, at, round, here }} />
        </TotalsCard>
        <BalanceCard party={party} here={shown} changed={changed} />
        <ChangesCard party={party} migration={shown.migration} changed={changed} />
        <ContractsCard holding={holding} pinned={at !== null} />
      </div>
    </>
  );
}

function PartyHead({ party }: { readonly party: string }): JSX.Element {
  const { name, fingerprint } = partyParts(party);
  return (
    <div class="party-head">
      <p class="party-name" aria-hidden="true">
        {name}
      </p>
      <p class="party-id">
        <code>
          {name}
          {fingerprint === '' ? '' : '::'}
          {fingerprint}
        </code>
        <CopyButton text={party} what="the party id" />
      </p>
    </div>
  );
}

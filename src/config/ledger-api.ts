import type { LedgerApiSettings, OauthSettings } from '../feed/ledger-api/participant-kind.ts';
import { Refusal } from '../refusal.ts';
import { certificateOf } from './certificate.ts';
import { LEDGER_API_SETTINGS } from './connection-settings.ts';
import { keysOf } from './setting.ts';
import { type GivenSettings, needs, optionName, type SettingValue } from './settings.ts';

/** All but --start. */
export const LEDGER_API_KEYS = keysOf(LEDGER_API_SETTINGS);

/** Null where no Ledger API is given. Throws a Refusal for a setting without one, and for a file that cannot be read. */
export function ledgerApiConfig(
  given: GivenSettings,
  { start, oauth }: { readonly start: SettingValue<'start'>; readonly oauth: OauthSettings | null },
): LedgerApiSettings | null {
  const { ledgerApi, ledgerApiParties: parties, ledgerApiTokenFile: tokenFile = null, ledgerApiCa } = given;
  if (ledgerApi === undefined) {
    const first = LEDGER_API_KEYS.find((key) => given[key] !== undefined);
    if (first !== undefined) throw needs(first, 'ledgerApi');
    if (oauth !== null) throw new Refusal(`ledgerApi.oauth needs ${optionName('ledgerApi')} too`);
    return null;
  }
  if (parties === undefined || parties.length === 0)
    throw new Refusal(
      `${optionName('ledgerApi')} needs ${optionName('ledgerApiParties')} too: the parties to follow, or all`,
    );
  if (parties.includes('all') && parties.length > 1)
    throw new Refusal(`${optionName('ledgerApiParties')}: all stands alone`);
  if (oauth !== null && tokenFile !== null)
    throw new Refusal(`${optionName('ledgerApiTokenFile')} cannot be given with ledgerApi.oauth: each brings a token`);
  return {
    url: new URL(ledgerApi).href.replace(/\/+$/, ''),
    parties: parties[0] === 'all' ? 'all' : parties,
    tokenFile,
    oauth,
    ca: certificateOf('ledgerApiCa', ledgerApiCa),
    start,
  };
}

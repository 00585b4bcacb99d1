import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { linkTo } from './address.ts';
import type { ApiRequest } from './api.ts';

/** What the operator calls parties, by their ids. Nothing is guessed. */
export type Labels = Readonly<Record<string, { readonly name?: string; readonly group?: string }>>;

export const labelsRequest: ApiRequest<Labels> = { url: linkTo('labels.json') };

export const LabelsContext = createContext<Labels>({});
export const useLabels = (): Labels => useContext(LabelsContext);

/** The id of the coin, whose admin is the DSO. */
export const COIN = 'Amulet';
/** The most in one answer. */
export const INSTRUMENTS_MAX = 1000;

/** What the operator calls instruments. */
export type InstrumentNames = readonly Readonly<Record<'admin' | 'id' | 'symbol' | 'name', string>>[];

export const instrumentNamesRequest: ApiRequest<{ readonly instruments: InstrumentNames }> = {
  url: linkTo('instruments.json'),
};

export const InstrumentsContext = createContext<InstrumentNames>([]);
export const useInstrumentNames = (): InstrumentNames => useContext(InstrumentsContext);

/** The symbol of what the amounts of a page are of; empty where it has none. */
export const UnitContext = createContext('');

/** The parties whose name or group contains a text, in any case. */
export function labelled(labels: Labels, text: string): readonly string[] {
  const wanted = text.toLowerCase();
  return Object.entries(labels)
    .filter(([, { name = '', group = '' }]) => `${name}\n${group}`.toLowerCase().includes(wanted))
    .map(([party]) => party);
}

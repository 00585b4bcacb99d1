import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

/**
 * The address of the service: a proxy may serve it under a path of its own, which the <base> of the loaded page says. Read
 * once, because the address of the page changes. A user and password before the host, which a browser keeps there, would make
 * every request fail.
 */
const ROOT = new URL(new URL(document.baseURI).pathname, location.origin);

export interface Address {
  /** From the root of the service, without a leading slash; empty for the overview. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const currentAddress = (): Address => ({
  path: location.pathname.slice(ROOT.pathname.length),
  query: new URLSearchParams(location.search),
});

export const AddressContext = createContext<Address>({ path: '', query: new URLSearchParams() });
export const useAddress = (): Address => useContext(AddressContext);

/** Follows the address of the browser, and turns clicks on links to own pages into changes of it. */
export function useLocation(): Address {
  const [address, setAddress] = useState(currentAddress);
  useEffect(() => {
    const read = (): void => setAddress(currentAddress());
    const follow = (event: MouseEvent): void => {
      const link = (event.target as Element).closest?.('a');
      if (!link || !isOwnPage(link) || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo(link.href);
    };
    addEventListener('popstate', read);
    document.addEventListener('click', follow);
    return () => {
      removeEventListener('popstate', read);
      document.removeEventListener('click', follow);
    };
  }, []);
  return address;
}

/** A page of the dashboard, which needs no load. */
function isOwnPage({ href, target, download }: HTMLAnchorElement): boolean {
  if (target !== '' || download !== '' || !href.startsWith(ROOT.href)) return false;
  return (
    /^(|snapshots(\/.*)?|tokens|owners(\/.*)?|updates\/.*)$/.test(new URL(href).pathname.slice(ROOT.pathname.length)) &&
    !href.includes('#')
  );
}

/** Moves to another page of the dashboard. */
export function goTo(href: string): void {
  history.pushState(null, '', href);
  dispatchEvent(new PopStateEvent('popstate'));
  scrollTo(0, 0);
}

/** Undefined parameters are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** The address of a page, or of an operation of the service. */
export function linkTo(path: string, query: Query = {}): string {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href.replaceAll('%3A', ':');
}

/** What holds for all pages. */
const KEPT = ['migration', 'at'];

/** The address of another page of the dashboard, at the time and of the migration that are shown; undefined leaves one out. */
export function pageLink(path: string, query: Query = {}): string {
  const now = new URLSearchParams(location.search);
  const kept = KEPT.flatMap((name) => (now.has(name) ? [[name, now.get(name)!]] : []));
  return linkTo(path, { ...Object.fromEntries(kept), ...query });
}

export function ownerLink(party: string, query: Query = {}): string {
  return pageLink(`owners/${encodeURIComponent(party)}`, query);
}

export const updateLink = (id: string): string => pageLink(`updates/${encodeURIComponent(id)}`);

/** An instrument, as the address names it. */
export interface Chosen {
  readonly instrument_admin: string;
  readonly instrument_id: string;
}

export const tokenLink = ({ instrument_admin, instrument_id }: Chosen, more: Query = {}): string =>
  pageLink('tokens', { instrument_admin, instrument_id, ...more });

interface QueryChange {
  /** Whether Back returns to what was shown before. */
  readonly push?: boolean;
  /** Kept by the browser beside the address. */
  readonly state?: unknown;
}

/** Changes what is shown of this page: all of it is in the address, so that a reload or a link shows the same. */
export function changeQuery(change: Query, { push = false, state = history.state }: QueryChange = {}): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(change))
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  history[push ? 'pushState' : 'replaceState'](state, '', url.href.replaceAll('%3A', ':'));
  dispatchEvent(new PopStateEvent('popstate'));
}

/** The parameters that name the page of a table. */
export const TABLE_NAMES = ['holders', 'movements', 'changes', 'contracts', 'locks', 'list'] as const;

/** Shows all pages at a time; undefined: the newest snapshot. Tables begin at their first page. */
export function showAt(at: string | undefined): void {
  changeQuery({ ...Object.fromEntries(TABLE_NAMES.map((name) => [name, undefined])), at }, { push: true });
}

/** Shows a range in charts; what is undefined follows the newest snapshot. */
export function showRange(range: { span?: string; from?: string; to?: string | undefined }): void {
  changeQuery({ span: undefined, from: undefined, to: undefined, every: undefined, ...range }, { push: true });
}

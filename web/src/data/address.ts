import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

/**
 * The address of the service: a proxy may serve it under a path of its own, which the <base> of the loaded page says. Read
 * once, because the address of the page changes.
 */
const ROOT = new URL(document.baseURI);

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
    /^(|snapshots|tokens|owners\/.*)$/.test(new URL(href).pathname.slice(ROOT.pathname.length)) && !href.includes('#')
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

export function ownerLink(party: string, query: Query): string {
  return linkTo(`owners/${encodeURIComponent(party)}`, query);
}

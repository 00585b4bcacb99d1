import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

/**
 * Where the service is: a proxy may serve it under a path of its own. The page as it was loaded says so in its <base>; read
 * once, because the address changes as the reader moves about.
 */
const ROOT = new URL(document.baseURI);

/** Where the reader is: a path from the root of the service, and what its query says. */
export interface Place {
  /** Without a slash in front; empty for the overview. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export const PlaceContext = createContext<Place>({ path: '', query: new URLSearchParams() });

export function usePlace(): Place {
  return useContext(PlaceContext);
}

function placeNow(): Place {
  return { path: location.pathname.slice(ROOT.pathname.length), query: new URLSearchParams(location.search) };
}

/** The place as the address says it, also after the reader goes back. */
export function useAddress(): Place {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const read = (): void => setPlace(placeNow());
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
  return place;
}

/** A page of the dashboard, which needs no load. */
function isOwnPage({ href, target, download }: HTMLAnchorElement): boolean {
  if (target !== '' || download !== '' || !href.startsWith(ROOT.href)) return false;
  return /^(|snapshots|owners\/.*)$/.test(new URL(href).pathname.slice(ROOT.pathname.length)) && !href.includes('#');
}

/** Moves to another page of the dashboard. */
export function goTo(href: string): void {
  history.pushState(null, '', href);
  dispatchEvent(new PopStateEvent('popstate'));
  scrollTo(0, 0);
}

/** What is undefined in a query is left out. */
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

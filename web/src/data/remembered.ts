/** The colours: those of the system unless a person chose others, which the browser remembers. */
export const SCHEMES = ['auto', 'light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];

/** Dispatched on the window when the colours change. */
export const SCHEME_EVENT = 'scheme';

const KEY = 'holdfast-scheme';

export function chosenScheme(): Scheme {
  const stored = remembered(KEY);
  return SCHEMES.find((each) => each === stored) ?? 'auto';
}

export function chooseScheme(scheme: Scheme): void {
  remember(KEY, scheme);
  document.documentElement.dataset.scheme = scheme;
  dispatchEvent(new Event(SCHEME_EVENT));
}

/** What the browser remembers; null if nothing, or if it may not. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

/** Before the first drawing. */
export function startScheme(): void {
  chooseScheme(chosenScheme());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event(SCHEME_EVENT)));
}

/** What a person may choose for the look of all pages, and the browser remembers; the first of each is the default. */
export const LOOKS = {
  scheme: { auto: 'Auto', light: 'Light', dark: 'Dark' },
  amounts: { exact: 'Exact', short: 'Short' },
} as const;
export type Look = keyof typeof LOOKS;

/** Dispatched on the window when the colours change. */
export const SCHEME_EVENT = 'scheme';

export function chosenLook(look: Look): string {
  const stored = remembered(`holdfast-${look}`);
  return stored !== null && stored in LOOKS[look] ? stored : Object.keys(LOOKS[look])[0]!;
}

export function chooseLook(look: Look, name: string): void {
  remember(`holdfast-${look}`, name);
  document.documentElement.dataset[look] = name;
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
export function startLooks(): void {
  for (const look of Object.keys(LOOKS) as Look[]) chooseLook(look, chosenLook(look));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event(SCHEME_EVENT)));
}

/** Who lives in the ledger of the demo: a few large institutions, and many others. */
const PLACES = 'aurora basalt cedar delta ember fjord garnet harbor indigo juniper kestrel linden mistral nimbus onyx';
const TRADES = 'bank custody exchange fund market pay studio trust validator wallet wharf works forge mill guild yard';

/** So many different names, the same ones each time. */
export function partyNames(count: number): readonly string[] {
  const [places, trades] = [PLACES.split(' '), TRADES.split(' ')];
  if (count > places.length * trades.length) throw new Error(`there are not ${count} names`);
  // Each step passes to another place and another trade, so that neighbours are not alike.
  return Array.from({ length: count }, (_, n) => {
    const [place, turn] = [n % places.length, Math.floor(n / places.length)];
    return `${places[place]}-${trades[(place * 7 + turn) % trades.length]}`;
  });
}

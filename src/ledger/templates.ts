/** The package whose templates count; its id changes with every upgrade, its name does not (docs/rules.md, rule 8). */
export const PACKAGE_NAME = 'splice-amulet';

export type CoinEntity = 'Amulet' | 'LockedAmulet';
export type Entity = CoinEntity | 'OpenMiningRound';

/** The entity of each template that counts, by `Module:Entity`. */
export const ENTITIES: ReadonlyMap<string, Entity> = new Map([
  ['Splice.Amulet:Amulet', 'Amulet'],
  ['Splice.Amulet:LockedAmulet', 'LockedAmulet'],
  ['Splice.Round:OpenMiningRound', 'OpenMiningRound'],
]);

/** The entity of a coin, which is stored as whether it is locked. */
export function coinEntity(locked: boolean): CoinEntity {
  return locked ? 'LockedAmulet' : 'Amulet';
}

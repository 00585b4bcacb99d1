/** The package whose templates count; its id changes with every upgrade, its name does not (docs/rules.md, rule 8). */
export const PACKAGE_NAME = 'splice-amulet';

/** The packages of Splice whose EventLog events are believed; a successor of the coin's package is added here (docs/rules.md, rule 15). */
export const EVENT_LOG_PACKAGES: ReadonlySet<string> = new Set([PACKAGE_NAME]);

/** The instrument id of the coin. */
export const COIN_INSTRUMENT = 'Amulet';

export type CoinEntity = 'Amulet' | 'LockedAmulet';
export type Entity = CoinEntity | 'OpenMiningRound';

/** The template of each entity that counts, as `Module:Entity`. */
export const TEMPLATES: Readonly<Record<Entity, string>> = {
  Amulet: 'Splice.Amulet:Amulet',
  LockedAmulet: 'Splice.Amulet:LockedAmulet',
  OpenMiningRound: 'Splice.Round:OpenMiningRound',
};

/** The entity of each template that counts. */
export const ENTITIES: ReadonlyMap<string, Entity> = new Map(
  Object.entries(TEMPLATES).map(([entity, template]) => [template, entity as Entity]),
);

/** The entity of a coin, which is stored as whether it is locked. */
export function coinEntity(locked: boolean): CoinEntity {
  return locked ? 'LockedAmulet' : 'Amulet';
}

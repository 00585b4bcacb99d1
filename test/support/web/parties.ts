import { party } from '../../../fixtures/names.ts';

/** Has coin of both kinds, and many changes. */
export const LARGE = party('aurora-bank');
/** Has coin in the story. */
export const ALICE = party('alice');
/** Never had any. */
export const NOBODY = party('nobody');

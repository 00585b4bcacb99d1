import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** So that what is still in memory is what is still in use. */
export const collectGarbage = runInNewContext('gc') as () => void;

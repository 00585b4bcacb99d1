import { buildWeb } from '../../../scripts/build-web.ts';

/** Builds the dashboard before the tests that use it. */
export default async function build(): Promise<void> {
  await buildWeb();
}

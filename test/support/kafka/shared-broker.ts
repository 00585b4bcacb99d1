import type { TestProject } from 'vitest/node';
import { type BrokerAddresses, startBroker } from './broker.ts';
import type { Certificates } from './certificates.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly kafka: { readonly addresses: BrokerAddresses; readonly certificates: Certificates; readonly data: string };
  }
}

/** One broker for a test run, shared by the test files, each with topics of its own: `inject('kafka')` gives its addresses. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const broker = await startBroker();
  project.provide('kafka', { addresses: broker.addresses, certificates: broker.certificates, data: broker.data });
  return async () => {
    await broker[Symbol.asyncDispose]();
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createAsk } from './ask.ts';
import { FlinkFailure } from './failure.ts';

/** To plan the job and give it to the cluster takes it 10 to 20 s on a busy machine. */
const STATEMENT_MS_MAX = 180_000;
const LOOK_MS = 100;

const INFO = z.object({ version: z.string() });
const SESSION = z.object({ sessionHandle: z.string() });
const OPERATION = z.object({ operationHandle: z.string() });
const PAGE = z.object({ resultType: z.string(), nextResultUri: z.string().nullish() });

/** The version of the gateway, which is that of its planner. */
export async function gatewayVersion(url: string): Promise<string> {
  return (await createAsk(url, 'the SQL gateway')(INFO, '/v1/info')).version;
}

/** A session, which runs statements to their ends. `secrets`: what may be in them and must not be in messages. */
export async function openGatewaySession(url: string, secrets: readonly string[]) {
  const ask = createAsk(url, 'the SQL gateway', secrets);
  const { sessionHandle } = await ask(SESSION, '/v1/sessions', { method: 'POST', body: { sessionName: 'holdfast' } });
  const session = `/v1/sessions/${sessionHandle}`;
  return {
    async run(statement: string): Promise<void> {
      const asked = await ask(OPERATION, `${session}/statements`, { method: 'POST', body: { statement } });
      const deadline = performance.now() + STATEMENT_MS_MAX;
      let next = `${session}/operations/${asked.operationHandle}/result/0?rowFormat=JSON`;
      for (;;) {
        const { resultType, nextResultUri } = await ask(PAGE, next);
        if (nextResultUri == null) return;
        if (performance.now() > deadline)
          throw new FlinkFailure(`the SQL gateway has not run a statement within ${STATEMENT_MS_MAX / 1000} s`);
        if (resultType === 'NOT_READY') await sleep(LOOK_MS);
        next = nextResultUri;
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      // One that is left open ends by itself.
      await ask(z.unknown(), session, { method: 'DELETE' }).catch(() => {});
    },
  };
}

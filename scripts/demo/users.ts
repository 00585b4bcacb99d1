import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Mints a token, creates a user with it, and has that user read its own record. */
export async function demonstrateUsers({
  url,
  dataDir,
  env,
}: {
  url: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
}): Promise<void> {
  console.log(`\n4. Keep the ledger's users. A token of the administrator, signed with the directory's own secret:\n`);
  console.log('   holdfast token --user participant_admin');
  const admin = mintToken('participant_admin', { dataDir, env });
  const request = { user: { id: 'alice', primaryParty: 'alice::1220ab' } };
  console.log(`\n   curl ${url}/v2/users -H "Authorization: Bearer $TOKEN" -d '${JSON.stringify(request)}'\n`);
  show(await ask(`${url}/v2/users`, admin, { method: 'POST', body: JSON.stringify(request) }));
  console.log('\n   holdfast token --user alice');
  console.log(`   curl ${url}/v2/authenticated-user -H "Authorization: Bearer $TOKEN_OF_ALICE"\n`);
  const record = await ask(`${url}/v2/authenticated-user`, mintToken('alice', { dataDir, env }));
  show(record);
  if (!JSON.stringify(record).includes('"id":"alice"')) throw new Error('this is not the record of alice');
}

function mintToken(userId: string, { dataDir, env }: { dataDir: string; env: NodeJS.ProcessEnv }): string {
  const args = ['dist/main.js', 'token', '--user', userId, '--data', dataDir];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`holdfast token ended with exit code ${status}: ${stderr}`);
  return stdout.trim();
}

async function ask(url: string, token: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return await response.json();
}

function show(answer: unknown): void {
  console.log(JSON.stringify(answer, null, 2));
}

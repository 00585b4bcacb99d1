import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Paths of PEM files: an authority of our own, what it signed for the broker, and what it signed for a client. */
export interface Certificates {
  readonly ca: string;
  /** Key and certificate in one file, as Kafka wants a PEM key store. */
  readonly broker: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

export async function createCertificates(directory: string): Promise<Certificates> {
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): Promise<unknown> => run('openssl', args, { cwd: directory });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=holdfast test',
    '-days',
    '9',
  );
  await writeFile(at('san.cnf'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  for (const name of ['broker', 'client']) {
    await openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'san.cnf', '-days', '9'];
    await openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed);
  }
  const store = `${await readFile(at('broker.key'), 'utf8')}${await readFile(at('broker.pem'), 'utf8')}`;
  await writeFile(at('broker-store.pem'), store);
  return {
    ca: at('ca.pem'),
    broker: at('broker-store.pem'),
    clientCert: at('client.pem'),
    clientKey: at('client.key'),
  };
}

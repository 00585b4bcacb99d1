import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { type RequestOptions, request } from 'node:https';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { freePorts } from '../program/free-ports.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';
import { spawnTied } from '../program/tied-process.ts';
import { programPath } from './prometheus.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy');
/** As the files in deploy/ have it. */
const NAME = 'holdfast.example';
export const PROXIES = ['nginx', 'caddy'] as const;
export const VERSIONS = ['http/1.1', 'h2'] as const;

interface Asked {
  readonly version?: (typeof VERSIONS)[number];
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: its head is sent, and none of the body that it speaks of. */
  readonly body?: string | null;
  /** The address of this machine that the client has. */
  readonly from?: string;
}

/** An answer whose head has come; the body may still come. */
export interface ProxyAnswer extends Disposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What has come until now. */
  text(): string;
  readonly ended: Promise<unknown>;
}

/** One of the proxies' files as it is in deploy/, with the name resolved to this machine, another port and a certificate of the test's. */
export interface RunningProxy extends AsyncDisposable {
  /** Such as `https://holdfast.example:10123/ledger`. */
  readonly url: string;
  ask(path: string, asked?: Asked): Promise<ProxyAnswer>;
}

export async function startProxy(
  name: (typeof PROXIES)[number],
  { upstream, folder, below = '' }: { upstream: number; folder: TemporaryDirectory; below?: string },
): Promise<RunningProxy> {
  const [port] = (await freePorts(1)) as [number];
  const certificate = makeCertificate(folder);
  const command = { nginx: nginxOf, caddy: caddyOf }[name]({ port, upstream, folder, below, ...certificate });
  const env = { ...process.env, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
  const running = await spawnTied(command, env);
  const ca = readFileSync(certificate.cert);
  const dial = (from: string, protocol: string): TLSSocket =>
    connectTls({
      host: '127.0.0.1',
      port,
      ca,
      servername: NAME,
      ALPNProtocols: [protocol],
      localAddress: from,
    } as object);
  for (let isThere = false; !isThere; await sleep(20)) {
    if (!running.isAlive()) throw new Error(`${name} has ended: ${running.said()}`);
    const socket = dial('127.0.0.1', 'http/1.1');
    isThere = await once(socket, 'secureConnect').then(
      () => true,
      () => false,
    );
    socket.destroy();
  }
  const askHttp1 = async (
    path: string,
    { method = 'GET', headers, body, from }: Required<Asked>,
  ): Promise<ProxyAnswer> => {
    const options: RequestOptions = { createConnection: () => dial(from, 'http/1.1'), method, path };
    const sent = request({ ...options, headers: { host: `${NAME}:${port}`, ...headers } }).on('error', () => {});
    if (body === null) sent.flushHeaders();
    else sent.end(body);
    const [response] = await once(sent, 'response');
    return answerOf(response, { status: response.statusCode, headers: response.headers, close: () => sent.destroy() });
  };
  const askHttp2 = async (path: string, { method, headers, body, from }: Required<Asked>): Promise<ProxyAnswer> => {
    const options = { createConnection: () => dial(from, 'h2') };
    const session: ClientHttp2Session = connectHttp2(`https://${NAME}:${port}`, options).on('error', () => {});
    const stream = session.request({ ':path': path, ':method': method, ...headers }, { endStream: false });
    stream.on('error', () => {});
    if (body !== null) stream.end(body);
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    const answer = answerOf(stream, { status: head[':status'], headers: head, close: () => session.destroy() });
    void answer.ended.then(() => session.close());
    return answer;
  };
  return {
    url: `https://${NAME}:${port}${below}`,
    ask(path, { version = 'http/1.1', method = 'GET', headers = {}, body = '', from = '127.0.0.1' } = {}) {
      const ask = version === 'h2' ? askHttp2 : askHttp1;
      return ask(`${below}${path}`, { version, method, headers, body, from });
    },
    // Caddy waits for streams to end.
    [Symbol.asyncDispose]: () => running.kill(),
  };
}

function answerOf(
  body: Readable,
  { status, headers, close }: { status: number; headers: IncomingHttpHeaders; close: () => void },
): ProxyAnswer {
  let text = '';
  body.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return { status, headers, text: () => text, ended: once(body, 'close').catch(() => {}), [Symbol.dispose]: close };
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

function makeCertificate(folder: TemporaryDirectory): Certificate {
  const [cert, key] = [folder.at('proxy.pem'), folder.at('proxy.key')];
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '9'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}

interface Place extends Certificate {
  readonly port: number;
  readonly upstream: number;
  readonly folder: TemporaryDirectory;
  readonly below: string;
}

function nginxOf({ port, upstream, folder, below, cert, key }: Place): readonly string[] {
  const site = changed('nginx.conf', [
    ['listen 443 ', `listen 127.0.0.1:${port} `],
    [`/etc/letsencrypt/live/${NAME}/fullchain.pem`, cert],
    [`/etc/letsencrypt/live/${NAME}/privkey.pem`, key],
    ['http://127.0.0.1:8080;', `http://127.0.0.1:${upstream}${below === '' ? '' : '/'};`],
    ['location / {', `location ${below}/ {`],
    ['location ~ ^/(', `location ~ ^${below}/(`],
  ]);
  writeFileSync(folder.at('site.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = [
    'daemon off; master_process off;',
    `user ${userInfo().username};`,
    `pid ${folder.at('nginx.pid')};`,
    'events {}',
    // Debian's own file compresses too.
    'http { access_log off; gzip on;',
    ...temporary.map((each) => `${each}_temp_path ${folder.at(each)};`),
    `include ${folder.at('site.conf')}; }`,
  ];
  writeFileSync(folder.at('nginx.conf'), main.join('\n'));
  return [programPath('nginx'), '-e', 'stderr', '-c', folder.at('nginx.conf')];
}

function caddyOf({ port, upstream, folder, below, cert, key }: Place): readonly string[] {
  const site = changed('Caddyfile', [
    [`${NAME} {`, `https://${NAME}:${port} {\nbind 127.0.0.1\ntls ${cert} ${key}\nhandle_path ${below}/* {`],
    ['reverse_proxy 127.0.0.1:8080', `reverse_proxy 127.0.0.1:${upstream}`],
  ]);
  writeFileSync(folder.at('Caddyfile'), `{\nadmin off\nauto_https disable_redirects\n}\n${site}}\n`);
  return [programPath('caddy'), 'run', '--adapter', 'caddyfile', '--config', folder.at('Caddyfile')];
}

/** A file of deploy/ with all that must be another in a test. */
function changed(name: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce(
    (text, [from, to]) => {
      if (text.split(from).length !== 2) throw new Error(`deploy/${name} does not have ${JSON.stringify(from)} once`);
      return text.replace(from, to);
    },
    readFileSync(join(DEPLOY, name), 'utf8'),
  );
}

import { type Agent, request } from 'node:http';
import type { FuzzedRequest } from './fuzz-requests.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends a request as it is given and reads the whole answer; of a stream of events only the head. */
export function sendRequest(
  url: string,
  agent: Agent,
  { method, target, headers, body }: FuzzedRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${target}`, { method, headers, agent, path: target }, (response) => {
      const type = response.headers['content-type'] ?? '';
      if (type === 'text/event-stream') {
        // It has no end.
        response.destroy();
        return resolve({ status: response.statusCode!, type, text: '' });
      }
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, type, text }));
    });
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}

const INSIDES = /\bat .*\.[mc]?[jt]s:\d|node_modules|SQLITE|SELECT |INSERT /;

/** A limit of ours, the only failure that requests may bring about: a read past its time, or streams not closed yet. */
export function isAtLimit({ status, text }: Pick<Answer, 'status' | 'text'>): boolean {
  return status === 503 && /the read took|other reads|streams? .*open/.test(text);
}

/** What no answer to any request may be; null where there is nothing to say. */
export function violation(given: Pick<FuzzedRequest, 'method' | 'target' | 'headers'>, answer: Answer): string | null {
  const { status, type, text } = answer;
  if (status >= 500 && !isAtLimit(answer)) return `status ${status}`;
  if (INSIDES.test(text)) return 'the answer shows our insides';
  if (status < 400 || given.method === 'HEAD' || given.target.startsWith('/v2')) return null;
  // A browser gets a page at a path that does not exist.
  if (status === 404 && type.startsWith('text/html') && /text\/html/.test(given.headers.Accept ?? '')) return null;
  if (type !== 'application/json') return `a fault of type ${type}`;
  const hasCode = given.target.startsWith('/holdfast/') && status !== 414 && status !== 431;
  const expected = hasCode ? 'error,code' : 'error';
  const { nearest: _, ...fault } = JSON.parse(text) as { nearest?: string };
  return Object.keys(fault).join() === expected ? null : `a fault is more or less than ${expected}`;
}

import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { ClientBase } from 'pg';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\r?\n/g;

/** Of the certificates in `ca`, the one by which a connection has verified its server: of its chain, or that has signed one of it. */
export function authorityOf(client: ClientBase, ca: string): string {
  const all = `${ca}\n`.match(CERTIFICATE) ?? [];
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  const known = all.map((pem) => ({ pem, certificate: new X509Certificate(pem) }));
  const { stream } = (client as unknown as { readonly connection: { readonly stream: TLSSocket } }).connection;
  for (const each of chainOf(stream)) {
    const found = known.find(({ certificate }) => certificate.raw.equals(each.raw) || hasSigned(certificate, each));
    if (found !== undefined) return found.pem;
  }
  throw new Error('--postgres-ca: none of its certificates has signed that of the server, and yet it was verified');
}

/** From the server's own to its root, whose issuer is itself. */
function* chainOf(stream: TLSSocket): Generator<X509Certificate> {
  const seen = new Set<string>();
  let at: DetailedPeerCertificate | undefined = stream.getPeerCertificate(true);
  for (; at !== undefined && !seen.has(at.fingerprint256); at = at.issuerCertificate) {
    seen.add(at.fingerprint256);
    yield new X509Certificate(at.raw);
  }
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { PeerCertificates } from '../../../src/doors/http/http-server.ts';

interface Shown {
  readonly raw: Buffer;
  readonly fingerprint256: string;
  readonly issuerCertificate: Shown | undefined;
}

let made = 0;
/** As Node shows a certificate; of so many bytes, which nobody parses here. */
const certificate = (issuerCertificate?: Shown, bytes = 30): Shown => {
  const raw = Buffer.alloc(bytes);
  raw.writeUInt32BE(++made);
  return { raw, fingerprint256: String(made), issuerCertificate };
};
const socketOf = (leaf: Shown | undefined, isReused = false) =>
  ({ getPeerX509Certificate: () => leaf, isSessionReused: () => isReused }) as unknown as TLSSocket;
const base64 = ({ raw }: Shown): string => raw.toString('base64');

const peers = new PeerCertificates();
const shown = (leaf: Shown | undefined, isReused = false): readonly string[] | undefined => {
  const socket = socketOf(leaf, isReused);
  peers.met(socket);
  return peers.of(socket);
};
function chainOf(length: number, bytes = 30): readonly Shown[] {
  const chain = [certificate(undefined, bytes)];
  while (chain.length < length) chain.unshift(certificate(chain[0], bytes));
  return chain;
}

describe('the certificates of a client', () => {
  it('are none where it shows none, and ten at most', () => {
    expect(shown(undefined)).toBeUndefined();
    for (const length of [1, 9, 10, 11]) {
      const chain = chainOf(length);
      expect(shown(chain[0])).toEqual(chain.slice(0, 10).map(base64));
    }
  });

  it('end with one that signed itself', () => {
    const top: { -readonly [name in keyof Shown]: Shown[name] } = certificate();
    top.issuerCertificate = top;
    const leaf = certificate(top);
    expect(shown(leaf)).toEqual([leaf, top].map(base64));
  });

  it('have 16,384 characters at most: of a longer leaf there is none, of more intermediates only the leaf', () => {
    const most = 16 * 1024 * (3 / 4);
    const leaf = certificate(undefined, most);
    expect(shown(leaf)).toEqual([base64(leaf)]);
    expect(shown(certificate(undefined, most + 1))).toBeUndefined();
    const fitting = chainOf(3, most / 2);
    expect(shown(fitting[0])).toEqual(fitting.map(base64));
    const [client] = chainOf(3, most / 2 + 3);
    expect(shown(client)).toEqual(client && [base64(client)]);
  });

  it('are remembered for its later sessions, those of the last 500 clients', () => {
    const clients = Array.from({ length: 501 }, () => chainOf(2));
    for (const chain of clients.slice(0, 500)) shown(chain[0]);
    const again = (at: number) =>
      shown({ ...(clients[at]?.[0] ?? certificate()), issuerCertificate: undefined }, true);
    expect(again(0)).toEqual(clients[0]?.map(base64));
    shown(clients[500]?.[0]);
    expect([again(0)?.length, again(1)?.length, again(500)?.length]).toEqual([1, 2, 2]);
  });
});

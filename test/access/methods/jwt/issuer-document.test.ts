import { describe, expect, it } from 'vitest';
import { fetchDocument, isTrustworthy } from '../../../../src/access/methods/jwt/key-set.ts';

describe('the address of an issuer', () => {
  it.each([
    'https://issuer.example',
    'https://issuer.example:8443/keys?a=b',
    'http://localhost:8080/keys',
    'http://127.0.0.1/keys',
    'http://[::1]:1/keys',
  ])('may be %s', (address) => {
    expect(isTrustworthy(address)).toBe(true);
  });

  it.each([
    ['is on the network without TLS', 'http://issuer.example'],
    ['looks like this machine and is not', 'http://localhost.example'],
    ['has a user', 'https://ada@issuer.example'],
    ['has a password', 'https://:secret@issuer.example'],
    ['has both, on this machine', 'http://ada:secret@127.0.0.1'],
    ['is a file', 'file:///etc/passwd'],
    ['is another protocol', 'ftp://issuer.example'],
    ['is none', 'issuer.example'],
  ])('that %s is not asked: %s', async (_, address) => {
    expect(isTrustworthy(address)).toBe(false);
    await expect(fetchDocument(address, { ca: '', serverNames: [] })).rejects.toThrow(
      'the URL must begin with https://, except on this machine',
    );
  });
});

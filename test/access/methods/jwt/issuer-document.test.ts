import { describe, expect, it } from 'vitest';
import { fetchDocument, whyUntrustworthy } from '../../../../src/access/methods/jwt/key-set.ts';

const NOT_SECURE = 'must begin with https://; http:// is only allowed for localhost';
const WITH_NAME = 'must not contain a user name or password';

describe('the address of an issuer', () => {
  it.each([
    'https://issuer.example',
    'https://issuer.example:8443/keys?a=b',
    'http://localhost:8080/keys',
    'http://127.0.0.1/keys',
    'http://[::1]:1/keys',
  ])('may be %s', (address) => {
    expect(whyUntrustworthy(address)).toBeUndefined();
  });

  it.each([
    ['is on the network without TLS', 'http://issuer.example', NOT_SECURE],
    ['looks like this machine and is not', 'http://localhost.example', NOT_SECURE],
    ['has a user', 'https://ada@issuer.example', WITH_NAME],
    ['has a password', 'https://:secret@issuer.example', WITH_NAME],
    ['has both, on this machine', 'http://ada:secret@127.0.0.1', WITH_NAME],
    ['is a file', 'file:///etc/passwd', NOT_SECURE],
    ['is another protocol', 'ftp://issuer.example', NOT_SECURE],
    ['is none', 'issuer.example', NOT_SECURE],
  ])('that %s is not asked: %s', async (_, address, why) => {
    expect(whyUntrustworthy(address)).toBe(why);
    const asked = fetchDocument(address, { ca: '', serverNames: [] });
    await expect(asked).rejects.toThrow(`the URL ${why}`);
  });
});

import { describe, expect, it } from 'vitest';
import { meets } from '../../../../src/access/methods/cert/login.ts';
import type { Certificate } from '../../../../src/access/x509/certificate.ts';

type Names = Pick<
  Certificate,
  'commonName' | 'organizationalUnits' | 'dns' | 'emails' | 'uris' | 'extensions'
>;
type Settings = Parameters<typeof meets>[1];

const NONE: Names = {
  commonName: '',
  organizationalUnits: [],
  dns: [],
  emails: [],
  uris: [],
  extensions: new Map(),
};
const LAX = {
  allowed_names: [],
  allowed_common_names: [],
  allowed_dns_sans: [],
  allowed_email_sans: [],
  allowed_uri_sans: [],
  allowed_organizational_units: [],
  required_extensions: [],
};

const isMet = (
  names: Partial<Names>,
  settings: Partial<typeof LAX> | Record<string, readonly string[]>,
): boolean => meets({ ...NONE, ...names } as Certificate, { ...LAX, ...settings } as unknown as Settings);

/** Each list of a role, with a name that is none of its kind and one that is. */
const kinds = [
  ['DNS name', 'allowed_dns_sans', (name: string) => ({ dns: [name] }), 'web.example.com'],
  ['DNS name', 'allowed_names', (name: string) => ({ dns: [name] }), 'web.example.com'],
  ['address of mail', 'allowed_names', (name: string) => ({ emails: [name] }), 'web@example.com'],
  ['common name', 'allowed_names', (name: string) => ({ commonName: name }), 'web example.com'],
  ['common name', 'allowed_common_names', (name: string) => ({ commonName: name }), 'Zoë of example.com'],
  ['unit', 'allowed_organizational_units', (name: string) => ({ organizationalUnits: [name] }), 'Büro'],
  ['address of mail', 'allowed_email_sans', (name: string) => ({ emails: [name] }), 'web@example.com'],
  ['URI', 'allowed_uri_sans', (name: string) => ({ uris: [name] }), 'spiffe://example.com/web'],
] as const;

describe('a name in a certificate', () => {
  it.each(kinds)('that is a %s fits patterns of %s', (_, list, having, name) => {
    expect(isMet(having(name), { [list]: ['*'] })).toBe(true);
    expect(isMet(having(name), { [list]: ['other*'] })).toBe(false);
  });

  it.each(kinds)('with characters that no %s has fits no pattern of %s', (_, list, having, name) => {
    for (const odd of ['\0', '\n', '\r', '\x7f', '\x85', '\u2028', '\ufffd']) {
      expect(isMet(having(`${name}${odd}x`), { [list]: [`*${name}*`] }), JSON.stringify(odd)).toBe(false);
      expect(isMet(having(`${odd}${name}`), { [list]: [`*${name}*`] }), JSON.stringify(odd)).toBe(false);
    }
  });

  it.each([
    ['allowed_dns_sans', { dns: ['wéb.example.com'] }],
    ['allowed_dns_sans', { dns: ['web example.com'] }],
    ['allowed_dns_sans', { dns: ['web..example.com'] }],
    ['allowed_dns_sans', { dns: [''] }],
    ['allowed_email_sans', { emails: ['wéb@example.com'] }],
    ['allowed_uri_sans', { uris: ['spiffe://exämple.com/'] }],
    ['allowed_uri_sans', { uris: ['spiffe://example.com/a b'] }],
  ])('that is none of its kind fits no pattern of %s: %j', (list, names) => {
    expect(isMet(names, { [list]: ['*'] })).toBe(false);
  });

  it('does not keep out a certificate that has another one which fits', () => {
    expect(isMet({ dns: ['web\0.example.com', 'web.example.com'] }, { allowed_dns_sans: ['web.*'] })).toBe(
      true,
    );
  });

  it('in an extension that is required is a text without ends of lines', () => {
    const text = (value: string) =>
      new Map([['1.2.3', { value: Buffer.concat([Buffer.of(0x0c, value.length), Buffer.from(value)]) }]]);
    const required = { required_extensions: ['1.2.3:blue*'] };
    expect(isMet({ extensions: text('blue team') as unknown as Names['extensions'] }, required)).toBe(true);
    expect(isMet({ extensions: text('blue\nteam') as unknown as Names['extensions'] }, required)).toBe(false);
  });
});

import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { extensionText, readPresented } from '../../../../src/access/methods/cert/login.ts';
import { certMounts } from '../../../../src/access/methods/cert/mount-type.ts';
import { writeRole } from '../../../../src/access/methods/cert/roles.ts';
import type { Certificate } from '../../../../src/access/x509/certificate.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import { Mounts } from '../../../../src/mounts/mounts.ts';
import { ClientCertificates } from '../../../reference/client-certificates.ts';
import { refusal, refused } from '../../../refusal.ts';
import { openRoom } from '../../room.ts';

const made = new ClientCertificates();
afterAll(() => made.close());
const ca = made.authority('ca');
const leaf = made.make('leaf', { by: ca });
const base64 = ({ cert }: { readonly cert: string }): string => cert.replaceAll(/-----.*-----|\s/g, '');
const GARBAGE = Buffer.from('no certificate').toString('base64');

describe('the certificates of a connection', () => {
  it.each([[undefined], [[]]])('are missed where there is none: %j', (certificates) => {
    expect(refusal(() => readPresented(certificates))).toMatchObject({
      kind: 'invalid',
      message: 'no client certificate found',
    });
  });

  it('are nobody’s where the first one is none', () => {
    expect(refusal(() => readPresented([GARBAGE, base64(ca)]))).toMatchObject({
      kind: 'invalid',
      message: 'invalid certificate or no client certificate supplied',
    });
  });

  it('are used without those behind the first that are none', () => {
    const { leaf: first, intermediates } = readPresented([base64(leaf), GARBAGE, base64(ca)]);
    expect(first.commonName).toBe('leaf');
    expect(intermediates.map(({ commonName }) => commonName)).toEqual(['ca']);
  });
});

describe('the text of an extension', () => {
  it.each([
    ['a text', [0x0c, 2, 0x68, 0x69], 'hi'],
    ['a text of two bytes a character', [0x1e, 4, 0, 0x68, 0, 0x69], 'hi'],
    ['half a character at the end', [0x1e, 3, 0, 0x68, 0], ''],
    ['a number', [0x02, 1, 7], ''],
    ['cut short', [0x0c, 9, 0x68], ''],
    ['nothing', [], ''],
  ])('that is %s is what it says, or empty', (_, bytes, text) => {
    const extensions = new Map([['1.2.3', { isCritical: false, value: Buffer.from(bytes) }]]);
    expect(extensionText({ extensions } as unknown as Certificate, '1.2.3')).toBe(text);
    expect(extensionText({ extensions } as unknown as Certificate, '1.2.4')).toBeUndefined();
  });
});

describe('a role for certificates', () => {
  let write: (settings: object, token?: object) => Promise<readonly string[]>;
  beforeEach(async () => {
    const { store, clock } = await openRoom();
    const mount = await new Mounts(store, systemRandom, [certMounts]).add('cert', 'auth/cert');
    write = (settings, token = {}) =>
      writeRole({ store, clock, mount }, 'one', { settings: { certificate: ca.cert, ...settings }, token });
  });

  it.each([
    ['no certificate', 'nothing'],
    ['a key only', ca.key],
    ['what only looks like one', `-----BEGIN CERTIFICATE-----\n${GARBAGE}\n-----END CERTIFICATE-----\n`],
    [
      'one, and one that only looks like it',
      `${ca.cert}-----BEGIN CERTIFICATE-----\n${GARBAGE}\n-----END CERTIFICATE-----\n`,
    ],
  ])('is refused with %s', async (_, certificate) => {
    expect(await refused(write({ certificate }))).toMatchObject({
      kind: 'invalid',
      message: 'failed to parse certificate',
      field: 'certificate',
    });
  });

  it('takes certificates among other things in PEM', async () => {
    expect(await write({ certificate: ca.key + ca.cert })).toEqual([]);
  });

  it.each([
    ['required_extensions', '1.2.3', 'required_extensions must be of the form oid:value, not "1.2.3"'],
    ['required_extensions', 'x:blue', 'required_extensions must be of the form oid:value, not "x:blue"'],
    ['required_extensions', ':blue', 'required_extensions must be of the form oid:value, not ":blue"'],
    [
      'allowed_metadata_extensions',
      '1.2.x',
      'allowed_metadata_extensions must be object identifiers, not "1.2.x"',
    ],
  ])('refuses %s like %j behind a good one', async (field, rule, message) => {
    const good = field === 'required_extensions' ? '1.2.3:blue' : '1.2.3';
    expect(await write({ [field]: [good] })).toEqual([]);
    expect(await refused(write({ [field]: [good, rule] }))).toMatchObject({
      kind: 'invalid',
      message,
      field,
    });
  });

  it('has a time that is no longer than its longest, where the older names of both are used', async () => {
    expect(await write({}, { ttl: 60, max_ttl: 60 })).toEqual([]);
    expect(await write({}, { ttl: 60, max_ttl: 0 })).toEqual([]);
    const late = { token_ttl: 61, token_max_ttl: 60 };
    const older = 'ttl should be shorter than max_ttl';
    const newer = "'token_ttl' cannot be greater than 'token_max_ttl'";
    for (const [given, message] of [
      [{ ttl: 61, max_ttl: 60 }, older],
      [{ ttl: 61 }, older],
      [{ max_ttl: 60 }, older],
      [{}, newer],
    ] as const) {
      expect(await refused(write({}, { ...late, ...given }))).toMatchObject({ kind: 'invalid', message });
    }
  });
});

import { describe, expect, it } from 'vitest';
import { generateMasterKey, parseMasterKey } from '../../src/store/master-key.ts';
import { thrownBy } from '../reference/thrown.ts';

const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));

describe('a master key', () => {
  it('is 32 fresh bytes in base64', () => {
    const key = generateMasterKey();
    expect(key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(generateMasterKey()).not.toBe(key);
    expect(parseMasterKey(key)).toHaveLength(32);
  });

  it.each([
    ['base64', bytes.toString('base64')],
    ['hex', bytes.toString('hex')],
    ['capital hex', bytes.toString('hex').toUpperCase()],
    ['base64 with a line break', `${bytes.toString('base64')}\n`],
    ['hex between spaces', `  ${bytes.toString('hex')}\r\n`],
  ])('is read from %s', (_, text) => {
    expect(parseMasterKey(text)).toEqual(bytes);
  });

  it.each([
    ['nothing', ''],
    ['31 bytes', bytes.subarray(1).toString('base64')],
    ['33 bytes', Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64')],
    ['63 hex digits', bytes.toString('hex').slice(1)],
    ['unpadded base64', bytes.toString('base64').slice(0, -1)],
    ['the URL alphabet', bytes.toString('base64url')],
    ['a space inside', `${bytes.toString('hex').slice(0, 32)} ${bytes.toString('hex').slice(32)}`],
  ])('is not read from %s', (_, text) => {
    const error = thrownBy(() => parseMasterKey(text, 'COFFER_MASTER_KEY'));
    expect(error).toMatchObject({
      kind: 'invalid',
      message: 'COFFER_MASTER_KEY must be 32 bytes in base64 or hex',
      hint: 'an existing store needs its own key; for a new store, create one with "coffer keygen"',
    });
  });
});

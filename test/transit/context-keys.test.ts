import { describe, expect, it } from 'vitest';
import { type DerivationContext, decodeContext } from '../../src/transit/context-keys.ts';
import { NamedKey } from '../../src/transit/named-key.ts';
import { thrownBy } from '../reference/thrown.ts';
import { KEY_32, knownKey, knownVersion } from './known-key.ts';

const contextKeys = () => {
  const document = knownKey('aes256-gcm96', [knownVersion(KEY_32)], { derived: true, kdf: 1 });
  return NamedKey.open(document).version(1)?.contextKeys ?? expect.fail('no version 1');
};

const context = (number: number): DerivationContext => {
  const bytes = Buffer.from(`context ${number}`);
  return { text: bytes.toString('base64'), bytes };
};

describe('the keys of contexts', () => {
  it('are kept, so that they are derived once', () => {
    const keys = contextKeys();
    expect(keys.of(context(1))).toBe(keys.of(context(1)));
    expect(keys.of(context(1))).not.toBe(keys.of(context(2)));
  });

  it('are forgotten when many others came since their last use, and are the same when derived again', () => {
    const keys = contextKeys();
    const first = keys.of(context(0));
    for (let i = 1; i < 200; i++) {
      keys.of(context(i));
      keys.of(context(1));
    }
    expect(keys.of(context(0))).not.toBe(first);
    const secretOf = (key: { material: unknown }) => (key.material as { export(): Buffer }).export();
    expect(secretOf(keys.of(context(0)))).toEqual(secretOf(first));
  });

  it('need a context', () => {
    expect(thrownBy(() => contextKeys().of(undefined))).toMatchObject({ kind: 'invalid', field: 'context' });
    expect(decodeContext(undefined)).toBeUndefined();
    expect(decodeContext('')).toBeUndefined();
    expect(decodeContext('\n')).toBeUndefined();
    expect(thrownBy(() => decodeContext('?'))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: 'illegal base64 data at input byte 0',
    });
  });
});

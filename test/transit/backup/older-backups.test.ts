import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import { goBackup, goDocument, goEntry, type Members } from '../../reference/go-backup.ts';

const bytes = (length: number, fill = 1): string => Buffer.alloc(length, fill).toString('base64');
const aes = (members: Members = {}): Members => goEntry({ key: bytes(32), ...members });
const read = (document: unknown) => readBackup(goBackup(document), undefined, systemRandom);

describe('the numbers 10 and 11, which peers use differently', () => {
  const withoutOpenBao = (document: Members): Members => {
    const { soft_deleted: _, ...policy } = document['policy'] as Members;
    return JSON.parse(
      JSON.stringify({ ...document, policy }, (name, value) => {
        if (name === 'external_key_ref') return undefined;
        return value instanceof Map ? Object.fromEntries(value) : value;
      }),
    );
  };
  const own = goEntry({ key: bytes(32, 5), hmac_key: bytes(32, 5) });

  it.each<[string, string, Members]>([
    ['10 in the layout of OpenBao', 'hmac', goDocument([own], { type: 10 })],
    ['11 in the layout of OpenBao', 'xchacha20-poly1305', goDocument([aes()], { type: 11 })],
    [
      '11 in the layout of Vault, its HMAC key being the key',
      'hmac',
      withoutOpenBao(goDocument([own], { type: 11 })),
    ],
    ['11 with a key size', 'hmac', goDocument([own], { type: 11, key_size: 32 })],
    [
      '11 in an unknown layout with a key that is not its HMAC key',
      'xchacha20-poly1305',
      withoutOpenBao(goDocument([aes()], { type: 11 })),
    ],
    [
      '10 in an unknown layout, its HMAC key being the key',
      'hmac',
      withoutOpenBao(goDocument([own], { type: 10 })),
    ],
  ])('%s is %s', async (_, type, document) => {
    expect((await read(document)).type).toBe(type);
  });
});

describe('documents of old releases', () => {
  it('may have a single key from before there were versions', async () => {
    const key = await read({ policy: { name: 'ancient', key: bytes(32, 9), type: 0 } });
    expect(key).toMatchObject({ name: 'ancient', latestVersion: 1, minDecryptionVersion: 1 });
    expect(key.versions['1']?.secret).toBe(bytes(32, 9));
    expect(Buffer.from(key.versions['1']?.hmacKey ?? '', 'base64')).toHaveLength(32);
  });

  it('may lack minimum, latest version and HMAC keys; only the latest version gets one', async () => {
    const { hmac_key: _, time: __, ...old } = aes();
    const key = await read({ policy: { name: 'ancient', keys: { 1: old, 2: old } } });
    expect(key).toMatchObject({ latestVersion: 2, minDecryptionVersion: 1, kdf: 0, type: 'aes256-gcm96' });
    expect(key.versions['1']).not.toHaveProperty('hmacKey');
    expect(Buffer.from(key.versions['2']?.hmacKey ?? '', 'base64')).toHaveLength(32);
  });

  it('may be convergent without saying how', async () => {
    const key = await read(
      goDocument([aes(), aes()], { derived: true, convergent_encryption: true, convergent_version: 0 }),
    );
    expect(key).toMatchObject({ convergentVersion: 1, kdf: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { openWithAny, sealValue } from '../../src/team/cipher.ts';

describe('a value that is encrypted under a key of a keyring', () => {
  const material = Buffer.alloc(32, 7);
  const payload = sealValue(material, 'DATABASE', 'secret', systemRandom);
  const opened = async (text: string, name = 'DATABASE', own = material): Promise<readonly string[]> => {
    const found = await openWithAny([1], async () => own, { name, payload: text });
    return found.opened.map(({ bytes }) => bytes.toString());
  };

  it('opens under its name with its key, and not otherwise', async () => {
    expect(await opened(payload)).toEqual(['secret']);
    expect(await opened(payload, 'OTHER')).toEqual([]);
    expect(await opened(payload, 'DATABASE', Buffer.alloc(32, 8))).toEqual([]);
  });

  it('is none in another writing, and none that is too short, whatever its length', async () => {
    const bytes = Buffer.from(payload, 'base64');
    expect(await opened(bytes.toString('base64url'))).toEqual([]);
    expect(await opened(`${payload}\n`)).toEqual([]);
    for (let length = 0; length < bytes.length; length++)
      expect(await opened(bytes.subarray(0, length).toString('base64'))).toEqual([]);
  });
});

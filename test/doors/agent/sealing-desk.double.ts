import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Desk } from '../../../src/doors/agent/desk.ts';
import { CofferError, denied, invalid } from '../../../src/ground/errors.ts';

/** A desk with one key that encrypts, `transit/app`, as the transit engine does it. */
export interface SealingDesk extends Desk {
  /** For what somebody would have been asked. */
  readonly asked: readonly string[];
  rotate(): void;
}

export function sealingDesk(): {
  readonly desk: SealingDesk;
  /** Those that a door has found in itself. */
  readonly defects: unknown[];
  readonly keys: readonly Buffer[];
  lock(): void;
} {
  const defects: unknown[] = [];
  const asked: string[] = [];
  const keys = [randomBytes(32)];
  let isLocked = false;
  const requireOpen = (): void => {
    if (isLocked) throw new CofferError('sealed', 'the store is locked');
  };
  const keyOf = (version: number): Buffer => {
    const key = keys[version - 1];
    if (key === undefined) throw invalid('no such key version');
    return key;
  };
  const desk: SealingDesk = {
    asked,
    async offers() {
      requireOpen();
      return [{ mount: 'transit', key: 'app', uses: ['encrypt', 'decrypt', 'seal'], confirm: false }];
    },
    async run(operation, raw) {
      requireOpen();
      if (raw['name'] !== 'app') throw denied('not offered');
      if (operation === 'transit keys read') {
        const versions = Object.fromEntries(keys.map((_, index) => [index + 1, 1_700_000_000 + index]));
        return { data: { latest_version: keys.length, keys: versions } };
      }
      if (operation === 'transit encrypt') {
        const version = Number(raw['key_version'] ?? keys.length);
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', keyOf(version), nonce);
        const body = [cipher.update(Buffer.from(String(raw['plaintext']), 'base64')), cipher.final()];
        const bytes = Buffer.concat([nonce, ...body, cipher.getAuthTag()]);
        return {
          data: { ciphertext: `service:v${version}:${bytes.toString('base64')}`, key_version: version },
        };
      }
      const [, version, text] = /^service:v(\d{1,3}):([\w+/=]+)$/.exec(String(raw['ciphertext'])) ?? [];
      const bytes = Buffer.from(text ?? '', 'base64');
      if (bytes.length < 28 || bytes.toString('base64') !== text) throw invalid('invalid ciphertext');
      const decipher = createDecipheriv('aes-256-gcm', keyOf(Number(version)), bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(-16));
      try {
        const plaintext = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
        return { data: { plaintext: plaintext.toString('base64') } };
      } catch {
        throw new CofferError('inauthentic', 'cipher: message authentication failed');
      }
    },
    consent: async (_, what) => void asked.push(what),
    defect: (error) => void defects.push(error),
    rotate: () => void keys.push(randomBytes(32)),
  };
  return {
    desk,
    defects,
    keys,
    lock() {
      isLocked = true;
    },
  };
}

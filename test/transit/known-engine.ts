import { onlyValue } from '../../src/transit/batch.ts';
import { type EncryptItem, type EncryptOptions, encrypt } from '../../src/transit/encrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { freshEngine } from './fresh-engine.ts';
import { storeKey } from './known-key.ts';

/** Encryption as it is without any wishes. */
export const BY_THE_WAY: EncryptOptions = {
  type: 'aes256-gcm96',
  convergentEncryption: false,
  mayCreate: true,
  mayUpdate: true,
};

/** An engine with one key, called `known`. */
export async function engineWith(document: NamedKeyDocument): Promise<Engine> {
  const engine = await freshEngine('vault');
  await storeKey(engine, document);
  return engine;
}

/** Encrypts with the key `known`. */
export const encryptOne = async (engine: Engine, item: EncryptItem): Promise<string> =>
  onlyValue(await encrypt(engine, 'known', [item], BY_THE_WAY)).ciphertext;

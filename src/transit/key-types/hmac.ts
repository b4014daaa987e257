import type { KeyType } from './key-type.ts';
import {
  encodeAndWipe,
  exportRaw,
  importingRaw,
  openSecretKey,
  readRawBackup,
  type SecretKey,
  writeRawBackup,
} from './secret-key.ts';

const NAME = 'hmac';
/** The bounds of peers. */
const SIZE = { minimumBytes: 32, maximumBytes: 512 };

const fits = (length: number): boolean => length >= SIZE.minimumBytes && length <= SIZE.maximumBytes;

/** A key that makes HMACs and nothing else, of a length that its owner chooses. */
export const hmac: KeyType<SecretKey> = {
  name: NAME,
  size: SIZE,
  open: openSecretKey,
  generate: (random, keyBytes) => ({ secret: encodeAndWipe(random.bytes(keyBytes)) }),
  hmacKeyOf: (stored) => stored.secret ?? '',
  exportSecret: exportRaw,
  importing: importingRaw(NAME, fits),
  backup: {
    openbao: 10,
    vault: 11,
    read: (entry) => readRawBackup(NAME, entry, fits),
    write: writeRawBackup,
  },
};

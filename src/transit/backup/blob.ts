import { gunzipSync } from 'node:zlib';
import { decodeBase64 } from '../../ground/base64.ts';
import { wiping } from '../../ground/bytes.ts';
import { CofferError, invalid, ownWords, unsupported } from '../../ground/errors.ts';

/** Maximum size of a backup, in base64 characters; the request size that Vault and OpenBao accept. */
export const MAX_BACKUP_CHARACTERS = 32 * 1024 * 1024;
/** Maximum size of the JSON document, in bytes, also after decompression. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** The first byte of a compressed blob identifies the compression; an uncompressed one starts with `{`. */
const GZIP_CANARY = 'G';
const OTHER_COMPRESSIONS: Readonly<Record<string, string>> = { L: 'LZW', S: 'Snappy', '4': 'LZ4' };

/**
 * Decodes the outer form of a backup: standard base64 of the JSON document, or of a byte that identifies a compression
 * and the compressed document.
 * @returns the JSON text
 * @throws `invalid`, `unsupported` or `too-large`, before much memory is allocated
 */
export function openBackupBlob(backup: string): string {
  if (backup.length > MAX_BACKUP_CHARACTERS) {
    throw tooLarge(`backup is longer than ${MAX_BACKUP_CHARACTERS} characters`);
  }
  return wiping(decodeBase64(backup.trim(), 'backup'), (bytes) => {
    const canary = String.fromCharCode(bytes[0] ?? 0);
    if (canary === GZIP_CANARY) return decompressed(bytes.subarray(1));
    const compression = Object.hasOwn(OTHER_COMPRESSIONS, canary) ? OTHER_COMPRESSIONS[canary] : undefined;
    if (compression !== undefined) {
      throw unsupported(`backup is compressed with ${compression}, which is not supported`, {
        field: 'backup',
        hint: 'decompress the backup, and restore its JSON document, encoded in base64',
      });
    }
    return bytes.toString('utf8');
  });
}

function decompressed(bytes: Uint8Array): string {
  let document: Buffer;
  try {
    document = gunzipSync(bytes, { maxOutputLength: MAX_DOCUMENT_BYTES });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(`backup is longer than ${MAX_DOCUMENT_BYTES} bytes`);
    throw invalid(ownWords('backup cannot be decompressed'), {
      field: 'backup',
      hint: 'the backup is damaged or was modified',
    });
  }
  return wiping(document, (whole) => whole.toString('utf8'));
}

/** Encodes a backup, the counterpart of {@link openBackupBlob}; never compressed, like Vault and OpenBao. */
export function closeBackupBlob(json: string): string {
  return Buffer.from(json, 'utf8').toString('base64');
}

const tooLarge = (message: string): CofferError => new CofferError('too-large', message, { field: 'backup' });

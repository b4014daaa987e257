/**
 * Minimal Node program that encrypts or decrypts standard input in chunks of 64 KiB with AES-256-GCM: no header, no key
 * management, no protection against reordering. `bench/envelope.ts` compares the command with it.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { readSync, writevSync } from 'node:fs';

const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const CHUNKS_AT_ONCE = 16;
const key = Buffer.alloc(32, 7);
const nonce = Buffer.alloc(12);
const encrypts = process.argv[2] === 'encrypt';
const inputBytes = encrypts ? CHUNK_BYTES : CHUNK_BYTES + TAG_BYTES;
const buffer = Buffer.alloc(CHUNKS_AT_ONCE * inputBytes);

function encrypt(chunk: Buffer): readonly Buffer[] {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const piece = cipher.update(chunk);
  cipher.final();
  return [piece, cipher.getAuthTag()];
}

function decrypt(chunk: Buffer): readonly Buffer[] {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(chunk.subarray(-TAG_BYTES));
  const piece = decipher.update(chunk.subarray(0, -TAG_BYTES));
  decipher.final();
  return [piece];
}

function fill(): number {
  let filled = 0;
  while (filled < buffer.length) {
    const bytes = readSync(0, buffer, filled, buffer.length - filled, null);
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}

let index = 0;
for (let filled = fill(); filled > 0; filled = fill()) {
  const pieces: Buffer[] = [];
  for (let at = 0; at < filled; at += inputBytes) {
    nonce.writeUInt32BE(index++, 8);
    const chunk = buffer.subarray(at, Math.min(filled, at + inputBytes));
    pieces.push(...(encrypts ? encrypt(chunk) : decrypt(chunk)));
  }
  writevSync(1, pieces);
}

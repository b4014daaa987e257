import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { closeBackupBlob, MAX_BACKUP_CHARACTERS, openBackupBlob } from '../../../src/transit/backup/blob.ts';
import { processorMs } from '../../processor-time.ts';
import { thrownBy } from '../../reference/thrown.ts';

const json = '{"policy":{}}\n';
const base64 = (...parts: (string | Uint8Array)[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string))).toString('base64');

describe('the outer form of a backup', () => {
  it('is base64 of the document', () => {
    expect(closeBackupBlob(json)).toBe('eyJwb2xpY3kiOnt9fQo=');
    expect(openBackupBlob('eyJwb2xpY3kiOnt9fQo=')).toBe(json);
    expect(openBackupBlob('\neyJwb2xp\r\nY3kiOnt9fQo=\n')).toBe(json);
  });

  it('may be compressed with gzip, behind a letter that says so', () => {
    expect(openBackupBlob(base64('G', gzipSync(json)))).toBe(json);
  });

  it.each([
    ['L', 'LZW'],
    ['S', 'Snappy'],
    ['4', 'LZ4'],
  ])('is refused when it starts with %s for another compression', (canary, name) => {
    expect(thrownBy(() => openBackupBlob(base64(canary, json)))).toMatchObject({
      kind: 'unsupported',
      message: `backup is compressed with ${name}, which is not supported`,
    });
  });

  it('is refused when it is damaged', () => {
    const damaged = gzipSync(json).fill(0, 12);
    const refusals: [string, string][] = [
      ['not base64!', 'illegal base64 data at input byte 3'],
      ['eyJ', 'illegal base64 data at input byte 0'],
      [base64('G'), 'backup cannot be decompressed'],
      [base64('G', 'not gzip'), 'backup cannot be decompressed'],
      [base64('G', damaged), 'backup cannot be decompressed'],
    ];
    for (const [backup, message] of refusals) {
      expect(thrownBy(() => openBackupBlob(backup))).toMatchObject({
        kind: 'invalid',
        message,
        field: 'backup',
      });
    }
  });

  it('has at most 32 MiB of characters', () => {
    const text = 'eyJwb2xpY3kiOnt9fQo=';
    expect(openBackupBlob(text.padStart(MAX_BACKUP_CHARACTERS))).toBe(json);
    expect(thrownBy(() => openBackupBlob(text.padStart(MAX_BACKUP_CHARACTERS + 1)))).toMatchObject({
      kind: 'too-large',
      message: `backup is longer than ${MAX_BACKUP_CHARACTERS} characters`,
    });
  });

  it('is refused quickly when it is absurdly long, or would become so', () => {
    const zeros = '\0'.repeat(400_000_000);
    const bomb = base64('G', gzipSync(Buffer.alloc(64 * 1024 * 1024)));
    for (const [backup, message] of [
      [zeros, `backup is longer than ${MAX_BACKUP_CHARACTERS} characters`],
      [bomb, 'backup is longer than 33554432 bytes'],
    ] as const) {
      let error: unknown;
      const spent = processorMs(() => {
        error = thrownBy(() => openBackupBlob(backup));
      });
      expect(error).toMatchObject({ kind: 'too-large', message });
      expect(spent).toBeLessThan(1000);
    }
  });
});

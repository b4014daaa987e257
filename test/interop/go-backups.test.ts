import { beforeAll, describe, expect, it } from 'vitest';
import { backupKey } from '../../src/transit/backup/backup-key.ts';
import { restoreKey } from '../../src/transit/backup/restore-key.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { hmac } from '../../src/transit/hmac.ts';
import { requireKey } from '../../src/transit/named-key.ts';
import { verify } from '../../src/transit/verification.ts';
import { freshEngine } from '../transit/fresh-engine.ts';
import fixtures from '../vectors/go-backups/backups.json' with { type: 'json' };
import { only, signatureRequest } from './transit-calls.ts';

/** Keys of Vault and OpenBao, restored from backups that Go wrote, used on what Go encrypted and signed with them. */

interface Check {
  readonly kind: string;
  readonly text: string;
  readonly message: string;
  readonly context?: string;
  readonly nonce?: string;
  readonly associated_data?: string;
  readonly hash_algorithm?: string;
  readonly signature_algorithm?: string;
  readonly marshaling_algorithm?: string;
}

const CHECKS: Record<string, (engine: Engine, name: string, check: Check) => Promise<void>> = {
  async decrypt(engine, name, { text, message, context, nonce, associated_data: associatedData }) {
    const item = { ciphertext: text, ...given({ context, nonce, associatedData }) };
    expect(only(await decrypt(engine, name, [item])).toString('base64')).toBe(message);
    await expect(decrypt(engine, name, [{ ...item, ciphertext: altered(text) }])).resolves.toEqual([
      { error: expect.objectContaining({ kind: 'inauthentic' }) },
    ]);
  },
  async verify(engine, name, check) {
    const { text, message, context, hash_algorithm: hashAlgorithm } = check;
    const request = {
      ...signatureRequest,
      ...given({
        hashAlgorithm,
        signatureAlgorithm: check.signature_algorithm,
        marshalingAlgorithm: check.marshaling_algorithm,
      }),
    };
    const item = { input: message, signature: text, ...given({ context }) };
    expect(only(await verify(engine, name, [item], { request, single: true }))).toBe(true);
    const other = { ...item, input: Buffer.from('another message').toString('base64') };
    expect(only(await verify(engine, name, [other], { request, single: true }))).toBe(false);
  },
  async hmac(engine, name, { text, message, hash_algorithm: hashAlgorithm = 'sha2-256' }) {
    const request = { ...signatureRequest, hashAlgorithm };
    expect(
      only(await verify(engine, name, [{ input: message, hmac: text }], { request, single: true })),
    ).toBe(true);
    const keyVersion = Number(text.split(':')[1]?.slice(1));
    const made = await hmac(engine, name, [{ input: message }], { algorithm: hashAlgorithm, keyVersion });
    expect(only(made)).toBe(text.replace(/^vault:/, 'service:'));
  },
};

/** Members that are there. */
const given = <T extends object>(values: T): { [K in keyof T]: string } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

/** The same with one bit of the last byte changed. */
function altered(text: string): string {
  const [prefix, version, payload = ''] = text.split(':');
  const bytes = Buffer.from(payload, 'base64');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return `${prefix}:${version}:${bytes.toString('base64')}`;
}

let engine: Engine;
beforeAll(async () => {
  engine = await freshEngine();
});

describe.each(fixtures)('a key restored from $name ($about)', ({ name, type, backup, checks }) => {
  beforeAll(async () => {
    await restoreKey(engine, { backup, force: false });
  });

  it('is of the right type', async () => {
    expect((await requireKey(engine, name, 'key not found')).type.name).toBe(type);
  });

  it.each(checks as Check[])('passes the check "$kind" that Go wrote: $text', async (check) => {
    const hold = CHECKS[check.kind] ?? expect.fail(`nobody knows how to check ${check.kind}`);
    await hold(engine, name, check);
  });

  // Vault leaves out what is empty; its layout is not written here.
  it.skipIf(name.startsWith('vault-'))('backs up to the same document but for the records', async () => {
    expect(withoutRecords(await backupKey(engine, name))).toBe(withoutRecords(backup));
  });
});

const withoutRecords = (backup: string): string =>
  Buffer.from(backup, 'base64')
    .toString()
    .replace(/"backup_info":.*?,"allow_plaintext_backup"/, '"allow_plaintext_backup"');

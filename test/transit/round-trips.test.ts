import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onlyValue } from '../../src/transit/batch.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { keyTypes } from '../../src/transit/key-types/index.ts';
import { createKey } from '../../src/transit/lifecycle.ts';
import { rewrap } from '../../src/transit/rewrap.ts';
import { rotateKey } from '../../src/transit/rotation.ts';
import { sign } from '../../src/transit/signing.ts';
import { verify } from '../../src/transit/verification.ts';
import { freshEngine } from './fresh-engine.ts';

const UPDATE = { type: '', convergentEncryption: false, mayCreate: false, mayUpdate: true };
const base64 = (options = {}) => fc.uint8Array(options).map((bytes) => Buffer.from(bytes).toString('base64'));

interface Shape {
  readonly type: string;
  readonly derived: boolean;
  readonly convergentEncryption: boolean;
  readonly versions: number;
}

/** Keys of every symmetric type, plain, derived and convergent, with some versions. */
const shapes: fc.Arbitrary<Shape> = fc
  .record({
    type: fc.constantFrom(...keyTypes().flatMap((type) => (type.aead === undefined ? [] : [type.name]))),
    kind: fc.constantFrom('plain', 'derived', 'convergent'),
    versions: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ type, kind, versions }) => ({
    type,
    derived: kind !== 'plain',
    convergentEncryption: kind === 'convergent',
    versions,
  }));

async function keyOf(engine: Engine, shape: Shape): Promise<void> {
  const settings = {
    exportable: false,
    allowPlaintextBackup: false,
    autoRotatePeriodSeconds: 0,
    keyBytes: 0,
  };
  await createKey(engine, 'known', { ...shape, ...settings });
  for (let version = 1; version < shape.versions; version++) await rotateKey(engine, 'known', true);
}

describe('whatever key, context, version and message', () => {
  it('decrypting undoes encrypting, also after rewrapping', async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes,
        base64({ maxLength: 200 }),
        base64({ minLength: 1, maxLength: 50 }),
        fc.option(base64({ minLength: 1, maxLength: 50 }), { nil: undefined }),
        fc.nat(),
        async (shape, plaintext, context, associated, pick) => {
          const engine = await freshEngine(pick % 2 === 0 ? 'service' : 'vault');
          await keyOf(engine, shape);
          const keyVersion = (pick % shape.versions) + 1;
          const beside = {
            context: shape.derived ? context : undefined,
            associatedData: associated === undefined || shape.convergentEncryption ? undefined : associated,
          };
          const item = { plaintext, keyVersion, ...beside };
          const first = onlyValue(await encrypt(engine, 'known', [item], UPDATE));
          expect(first.keyVersion).toBe(keyVersion);
          const second = onlyValue(
            await rewrap(engine, 'known', [{ ciphertext: first.ciphertext, ...beside }]),
          );
          expect(second.keyVersion).toBe(shape.versions);
          for (const { ciphertext } of [first, second]) {
            const opened = onlyValue(await decrypt(engine, 'known', [{ ciphertext, ...beside }]));
            expect(opened.toString('base64')).toBe(plaintext);
          }
          const again = onlyValue(await encrypt(engine, 'known', [item], UPDATE));
          expect(again.ciphertext === first.ciphertext).toBe(shape.convergentEncryption);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('a signature verifies, with the same context and options', async () => {
    const engine = await freshEngine('vault');
    const settings = {
      convergentEncryption: false,
      exportable: false,
      allowPlaintextBackup: false,
      autoRotatePeriodSeconds: 0,
      keyBytes: 0,
    };
    const keys = ['ed25519', 'ecdsa-p256', 'ecdsa-p521', 'rsa-2048'];
    for (const type of keys) await createKey(engine, type, { ...settings, type, derived: false });
    await createKey(engine, 'derived', { ...settings, type: 'ed25519', derived: true });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...keys, 'derived'),
        base64({ maxLength: 200 }),
        base64({ minLength: 1, maxLength: 50 }),
        fc.record({
          hashAlgorithm: fc.constantFrom('sha1', 'sha2-224', 'sha2-256', 'sha2-512', 'sha3-384'),
          signatureAlgorithm: fc.constantFrom('', 'pss', 'pkcs1v15'),
          marshalingAlgorithm: fc.constantFrom('asn1', 'jws'),
          saltLength: fc.constantFrom('auto', 'hash', '0', '-1', '17'),
        }),
        async (name, input, context, options) => {
          const request = { ...options, prehashed: false };
          const item = { input, context: name === 'derived' ? context : undefined };
          const made = onlyValue(await sign(engine, name, [item], { ...request, keyVersion: 0 }));
          const checked = [{ ...item, signature: made.signature }];
          expect(onlyValue(await verify(engine, name, checked, { request, single: true }))).toBe(true);
          const other = [{ ...item, input: `AAAA${input}`, signature: made.signature }];
          expect(onlyValue(await verify(engine, name, other, { request, single: true }))).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });
});

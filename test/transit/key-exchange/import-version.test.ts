import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { importKey } from '../../../src/transit/key-exchange/import-key.ts';
import { importVersion } from '../../../src/transit/key-exchange/import-version.ts';
import { findKey } from '../../../src/transit/named-key.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshEngine } from '../fresh-engine.ts';
import { storeKey } from '../known-key.ts';

const publicKeyOf = ({ publicKey }: ReturnType<typeof generateKeyPairSync>): string =>
  publicKey.export({ format: 'pem', type: 'spki' }).toString();
const settings = {
  hashFunction: 'SHA256',
  allowRotation: false,
  derived: false,
  exportable: true,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
};

it('an imported version is not added to a key of another type that took the place of its key meanwhile', async () => {
  const engine = await freshEngine();
  const publicKey = publicKeyOf(generateKeyPairSync('ed25519'));
  await importKey(engine, 'replaced', { ...settings, type: 'ed25519', publicKey });
  const other = publicKeyOf(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }));
  const { document } = await importKey(engine, 'other', {
    ...settings,
    type: 'ecdsa-p256',
    publicKey: other,
  });
  const { store } = engine;
  const replacing = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'transact') return value.bind(target);
      return async (...given: unknown[]) => {
        await storeKey(engine, { ...document, name: 'replaced' });
        return Reflect.apply(value, target, given);
      };
    },
  });
  const incoming = { hashFunction: 'SHA256', publicKey };
  expect(
    await rejectionOf(importVersion({ ...engine, store: replacing }, 'replaced', incoming)),
  ).toMatchObject({
    kind: 'not-found',
    message: 'no key found with name replaced; to import a new key, use the import/ endpoint',
  });
  expect((await findKey(engine, 'replaced'))?.document).toMatchObject({
    type: 'ecdsa-p256',
    latestVersion: 1,
  });
});

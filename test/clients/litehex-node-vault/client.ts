import assert from 'node:assert/strict';
import { Client as Vault } from '@litehex/node-vault';
import project from '../../../package.json' with { type: 'json' };
import type { Client } from '../client.ts';

const plaintext = Buffer.from('attack at dawn').toString('base64');

/** Its calls answer data or an error. */
async function text(
  call: Promise<{
    data?: { data: Readonly<Record<string, unknown>> } | undefined;
    error?: Error | undefined;
  }>,
  member: string,
): Promise<string> {
  const { data, error } = await call;
  if (error !== undefined) throw error;
  return String(data?.data[member]);
}

/** What it does in all detail, the ordinary tests show: `test/doors/http/clients/litehex-vault.test.ts`. */
export const client: Client = {
  title: '@litehex/node-vault for Node',
  version: project.devDependencies['@litehex/node-vault'],
  minutes: 1,
  // It comes with what the ordinary tests need.
  install: async () => '',
  checks: {
    async 'finds in each answer what its schemas want, and ciphertexts of Vault'({ address, token }) {
      const { transit } = new Vault({ endpoint: address, token });
      const key = { mountPath: 'transit', name: 'letters' };
      await transit.createKey({ ...key, type: 'aes256-gcm96' });
      const first = await text(transit.encrypt({ ...key, plaintext }), 'ciphertext');
      assert.match(first, /^vault:v1:/);
      await transit.rotateKey(key);
      const second = await text(transit.rewrap({ ...key, ciphertext: first }), 'ciphertext');
      assert.match(second, /^vault:v2:/);
      assert.equal(await text(transit.decrypt({ ...key, ciphertext: second }), 'plaintext'), plaintext);
    },
  },
};

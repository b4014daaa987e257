import assert from 'node:assert/strict';
import vaultClient from 'node-vault';
import project from '../../../package.json' with { type: 'json' };
import type { Bench, Client } from '../client.ts';

const connect = ({ address, token }: Bench): vaultClient.client => vaultClient({ endpoint: address, token });

const plaintext = Buffer.from('attack at dawn').toString('base64');

/** What it does in all detail, the ordinary tests show: `test/doors/http/clients/node-vault.test.ts`. */
export const client: Client = {
  title: 'node-vault for Node',
  version: project.devDependencies['node-vault'],
  minutes: 1,
  // It comes with what the ordinary tests need.
  install: async () => '',
  checks: {
    async 'gets ciphertexts of Vault without being asked'(bench) {
      const vault = connect(bench);
      await vault.transitCreateKey({ name: 'letters' });
      const { data: sealed } = await vault.encryptData({ name: 'letters', plaintext });
      assert.match(sealed.ciphertext, /^vault:v1:/);
      await vault.write('transit/keys/letters/rotate', {});
      const { data: rewrapped } = await vault.rewrapData({ name: 'letters', ciphertext: sealed.ciphertext });
      assert.match(rewrapped.ciphertext, /^vault:v2:/);
      const { data: opened } = await vault.decryptData({
        name: 'letters',
        ciphertext: rewrapped.ciphertext,
      });
      assert.equal(opened.plaintext, plaintext);
    },
    async 'rotates keys that sign, and verifies with the older version'(bench) {
      const vault = connect(bench);
      await vault.transitCreateKey({ name: 'signer', type: 'rsa-2048' });
      const { data: signed } = await vault.write('transit/sign/signer', { input: plaintext });
      assert.match(signed.signature, /^vault:v1:/);
      await vault.write('transit/keys/signer/rotate', {});
      const question = { input: plaintext, signature: signed.signature };
      assert.equal((await vault.write('transit/verify/signer', question)).data.valid, true);
    },
    async 'makes a mount, and a token that may encrypt there and no more'(bench) {
      const vault = connect(bench);
      await vault.mount({ mount_point: 'second', type: 'transit' });
      assert.equal((await vault.mounts()).data['second/'].options, null);
      const policy = 'path "second/encrypt/*" { capabilities = ["create", "update"] }';
      await vault.addPolicy({ name: 'writer', policy });
      // Who makes a token with it goes on with that token.
      const { auth } = await connect(bench).tokenCreate({ policies: ['writer'] });
      const writer = connect({ ...bench, token: auth.client_token });
      const { data } = await writer.write('second/encrypt/fresh', { plaintext });
      assert.match(data.ciphertext, /^vault:v1:/);
      await assert.rejects(writer.transitListKeys(), /permission denied/);
      await vault.unmount({ mount_point: 'second' });
    },
  },
};

import { equal } from 'node:assert/strict';
import { type Bench, type Client, shell } from '../client.ts';
import { goInstall } from '../go.ts';

const version = '3.13.3';

const lines = `
sops encrypt --hc-vault-transit $VAULT_ADDR/v1/transit/keys/sops plain.yaml > app.yaml
sops decrypt app.yaml
sops exec-env app.yaml 'echo $password'
`;

/** A file \`plain.yaml\`, and the key of the name, which sops does not make by itself. */
async function start(bench: Bench): Promise<void> {
  await bench.coffer(['transit', 'keys', 'create', 'sops']);
  await shell(bench, "printf 'name: app\\npassword: a secret\\n' > plain.yaml");
}

export const client: Client = {
  title: 'sops',
  version,
  minutes: 3,
  install: (machine) => goInstall(machine, `github.com/getsops/sops/v3/cmd/sops@v${version}`, 'sops'),
  checks: {
    async 'encrypts and decrypts a file, and gives its values to a command'(bench) {
      await start(bench);
      equal(await shell(bench, lines), 'name: app\npassword: a secret\na secret\n');
      equal(await shell(bench, 'grep -c "enc: vault:v1:" app.yaml'), '1\n');
    },
    async 'rotates the key of a file, and adds a key of the server to it'(bench) {
      await start(bench);
      await bench.coffer(['transit', 'keys', 'create', 'second', '--type', 'rsa-4096']);
      await shell(bench, lines);
      await shell(bench, 'sops rotate -i --add-hc-vault-transit $VAULT_ADDR/v1/transit/keys/second app.yaml');
      await bench.coffer(['transit', 'keys', 'rotate', 'sops']);
      await shell(bench, 'sops rotate -i app.yaml');
      equal(await shell(bench, 'grep -c engine_path app.yaml'), '2\n');
      equal(await shell(bench, 'grep -c "enc: vault:v2:" app.yaml'), '1\n');
      equal(await shell(bench, `sops decrypt --extract '["password"]' app.yaml`), 'a secret');
    },
    async 'moves a file to other keys'(bench) {
      await start(bench);
      await bench.coffer(['transit', 'keys', 'create', 'other']);
      await shell(bench, lines);
      const rules = `creation_rules:\n  - hc_vault_transit_uri: ${bench.address}/v1/transit/keys/other\n`;
      await shell(bench, 'cat > .sops.yaml && sops updatekeys --yes app.yaml', { input: rules });
      equal(await shell(bench, 'grep key_name app.yaml'), '          key_name: other\n');
      equal(await shell(bench, `sops decrypt --extract '["name"]' app.yaml`), 'app');
    },
    async 'encrypts settings and binary files'(bench) {
      await start(bench);
      const output = await shell(
        bench,
        `export SOPS_VAULT_URIS=$VAULT_ADDR/v1/transit/keys/sops
        echo A=1 > app.env && sops encrypt -i app.env && sops decrypt app.env
        printf '\\0\\377' > key.bin && sops encrypt key.bin > key.enc
        sops decrypt --input-type json --output-type binary key.enc | cmp - key.bin`,
      );
      equal(output, 'A=1\n');
    },
  },
};

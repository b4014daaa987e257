import { equal, match } from 'node:assert/strict';
import { type Agent, withAgent } from '../agent.ts';
import { type Bench, type Client, shell } from '../client.ts';
import { goInstall } from '../go.ts';

const version = '3.13.3';

const KEYS = { app: 'aes256-gcm96', second: 'rsa-4096' };

const lines = `
coffer agent offer app --sops
eval "$(coffer agent env --sops)"
sops encrypt --hc-vault-transit http://coffer/v1/transit/keys/app plain.yaml > app.yaml
sops decrypt app.yaml
`;

/** Lines with our own command as \`coffer\`, no server and no token, and a file \`plain.yaml\`. */
function typed(bench: Bench, { environment }: Agent, text: string): Promise<string> {
  const own = bench.commandLine.map((word) => `'${word}'`).join(' ');
  const start = `coffer() { ${own} "$@"; }\nprintf 'name: app\\npassword: a secret\\n' > plain.yaml\n`;
  const without = { VAULT_ADDR: undefined, VAULT_TOKEN: undefined, VAULT_AGENT_ADDR: undefined };
  return shell(bench, start + text, { environment: { ...environment, ...without } });
}

/** What "agent env" prints for the family must not lead sops past the key service. */
const ALONE = 'eval "$(coffer agent env --sops)"\nunset VAULT_ADDR VAULT_AGENT_ADDR VAULT_TOKEN\n';

export const client: Client = {
  title: 'sops with the agent as its key service',
  version,
  minutes: 3,
  install: (machine) => goInstall(machine, `github.com/getsops/sops/v3/cmd/sops@v${version}`, 'sops'),
  checks: {
    async 'encrypts and decrypts a file'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        equal(await typed(bench, agent, lines), 'name: app\npassword: a secret\n');
        equal(await typed(bench, agent, `${ALONE}sops exec-env app.yaml 'echo $password'`), 'a secret\n');
      });
    },
    async 'edits and rotates it, and adds another key'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        await typed(bench, agent, lines);
        await agent.coffer('agent', 'offer', 'second', '--sops');
        await agent.coffer('transit', 'keys', 'rotate', 'app');
        const changed = `${ALONE}
          printf '#!/bin/sh\\nsed -i "s/a secret/another/" "$1"\\n' > editor && chmod +x editor
          EDITOR=$PWD/editor sops edit app.yaml
          sops rotate -i --add-hc-vault-transit http://coffer/v1/transit/keys/second app.yaml
          grep -c engine_path app.yaml; grep -c 'enc: service:v2:' app.yaml
          sops decrypt --extract '["password"]' app.yaml`;
        equal(await typed(bench, agent, changed), '2\n1\nanother');
      });
    },
    async 'is refused what is not offered, and told why'(bench) {
      await withAgent(bench, KEYS, async (agent) => {
        await typed(bench, agent, lines);
        await agent.coffer('agent', 'offer', 'app', '--sops', '--use', 'encrypt');
        const decrypting = `${ALONE}sops decrypt app.yaml 2>&1 || true`;
        match(await typed(bench, agent, decrypting), /PermissionDenied/);
        await agent.coffer('agent', 'withdraw', 'app');
        match(
          (await typed(bench, agent, decrypting)).replaceAll(/\s+\|?\s*/g, ' '),
          /coffer agent offer app --sops/,
        );
      });
    },
  },
};

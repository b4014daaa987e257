/** The whole process of a command, from spawn to exit, against a bare start of the same Node. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../src/library.ts';
import { comparePrograms, type Program, type Row } from './measure.ts';

const MANY = 10_000;
const binary = fileURLToPath(new URL('../dist/coffer', import.meta.url));

export async function run(): Promise<readonly Row[]> {
  if (!existsSync(binary)) throw new Error('dist/coffer is missing: run "npm run package" first');
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    const masterKey = execFileSync(binary, ['keygen'], { encoding: 'utf8' }).trim();
    const small = await storeWith(1, join(directory, 'small'), masterKey);
    const large = await storeWith(MANY, join(directory, 'large'), masterKey);
    const encrypt = (env: NodeJS.ProcessEnv): Program => ({
      command: [binary, 'transit', 'encrypt', 'key-0'],
      env,
      input: 'attack at dawn',
    });
    const rotate = (env: NodeJS.ProcessEnv): Program => ({
      command: [binary, 'transit', 'keys', 'rotate', 'key-0'],
      env,
    });
    const list = (env: NodeJS.ProcessEnv): Program => ({ command: [binary, 'transit', 'keys', 'list'], env });
    const bare: Program = { command: [process.execPath, '-e', '0'] };
    const one = 'the same with 1 key';
    return [
      {
        operation: 'transit encrypt',
        floorName: 'node -e 0',
        limit: 1.5,
        ...comparePrograms(encrypt(small), bare),
      },
      {
        operation: `transit encrypt, ${MANY} keys`,
        floorName: one,
        limit: 1.1,
        ...comparePrograms(encrypt(large), encrypt(small)),
      },
      {
        operation: `transit keys rotate, ${MANY} keys`,
        floorName: one,
        limit: 1.5,
        ...comparePrograms(rotate(large), rotate(small)),
      },
      {
        operation: `transit keys list, ${MANY} keys`,
        floorName: one,
        limit: 3,
        ...comparePrograms(list(large), list(small)),
      },
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function storeWith(keys: number, directory: string, masterKey: string): Promise<NodeJS.ProcessEnv> {
  const env = { PATH: process.env['PATH'], COFFER_STORE: directory, COFFER_MASTER_KEY: masterKey };
  execFileSync(binary, ['init'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const coffer = await openStore({ directory, masterKey });
  for (let i = 0; i < keys; i++) await coffer.transit.keys.create({ name: `key-${i}` });
  coffer.close();
  return env;
}

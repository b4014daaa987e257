import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '../../../src/ground/random.ts';
import { builtCommand } from '../../built.ts';
import type { Chance } from '../../chance.ts';
import { commandHere, type Result, runHere } from '../command-here.ts';
import { anyText, spoiledBytes, spoiledText } from '../mutation.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

/** One command line with everything around it. */
interface CommandLine {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly input: Buffer;
  readonly spawned: boolean;
}

const SECRET = 'Vx7qPm2kZt9wRb4nYc6hJd1s';

/** Nothing in here is slow (no RSA), listens, or goes beyond this machine; files lie in the working directory. */
const LINES: readonly string[] = [
  'transit encrypt orders',
  'transit encrypt orders --batch - -o json',
  'transit encrypt fresh --type aes256-gcm96 --in data --out sealed',
  'transit decrypt orders --in sealed --base64',
  'transit decrypt orders --batch items',
  'transit rewrap orders service:v1:AAAA',
  'transit sign edwards --in data --marshaling-algorithm jws',
  'transit verify edwards --in data --signature service:v1:AAAA',
  'transit hmac orders --algorithm sha2-512',
  'transit hash --format hex',
  'transit random 32 --format base64',
  'transit datakey orders --bits 128',
  'transit keys create fresh --type ecdsa-p256 --exportable',
  'transit keys read orders -o json',
  'transit keys list -o table',
  'transit keys config orders --min-decryption-version 1 --deletion-allowed',
  'transit keys rotate orders',
  'transit keys trim orders --min-available-version 1',
  'transit keys export orders --key-type encryption-key',
  'transit backup orders',
  'transit restore copy --in data --force',
  'transit envelope encrypt orders --in data --out data.enc --meta a=b',
  'transit envelope decrypt --in data.enc --offset 1 --length 2',
  'transit envelope header data.enc -o json',
  'transit envelope rewrap data.enc',
  'orgs create acme --email a@b.c',
  'workspaces create billing --tag env:prod --org acme',
  'workspaces list bill --tag env:prod --page 1 --page-size 5 --org acme',
  'tags create env:prod env:test --org acme',
  'tags list prod --all --org acme',
  'tags attach env:prod --workspace billing --org acme',
  'tags delete env:prod --yes --org acme',
  'policy write app --in data',
  'policy read app',
  'token create --policy app --ttl 1h',
  'token list',
  'mounts add second --dialect vault',
  'slots list',
  'status -o json',
  'doctor',
  'store backup backup-file',
  'keygen',
  'help transit',
  'help environment',
  'completion bash',
  'complete transit keys read',
  'init --store other',
  '--version',
  'transit --help',
];
const ADDRESSES = [
  'http://127.0.0.1:1',
  'unix:/nowhere.sock',
  'http://',
  'ftp://x',
  'http://a b',
  'http://%',
  '',
];
const OPTIONS = [
  '-o',
  '-q',
  '-y',
  '--no-color',
  '--mount',
  '--org',
  '--in',
  '--out',
  '--batch',
  '--',
  '-',
  '--token',
  '--yes=1',
];
const VARIABLES = [
  ...[
    'COFFER_MASTER_KEY',
    'COFFER_MASTER_KEY_FILE',
    'COFFER_PASSPHRASE_FILE',
    'COFFER_SHARES_FILE',
    'COFFER_ORG',
  ],
  ...['COFFER_MOUNT', 'COFFER_TOKEN', 'COFFER_CACERT', 'COFFER_DEBUG', 'NO_COLOR', 'TERM', 'HOME', 'COLUMNS'],
];
const ITEMS = '{"plaintext":"aGFybWxlc3M="}\n{"ciphertext":"service:v1:AAAA","context":"AAAA"}\n[1]\n';
/** No disk fails here, so nothing is made of which it is not known. */
const EXIT_CODES = new Set([0, 1, 2, 3, 4, 5, 6]);
const SPAWNED_ONE_IN = 150;
const SPAWN_TIMEOUT_MS = 100_000;

const hereDirectory = process.cwd();

async function open(_chance: Chance, secrets: Secrets): Promise<World<CommandLine>> {
  const place = mkdtempSync(join(tmpdir(), 'coffer-fuzz-command-'));
  // Deep enough that no path with a few `..` leaves it.
  const directory = join(place, '1', '2', '3', '4');
  mkdirSync(directory, { recursive: true });
  process.chdir(directory);
  const key = systemRandom.bytes(32);
  secrets.add('the master key', Buffer.from(key));
  secrets.add('the plaintext', SECRET);
  const environment = {
    HOME: directory,
    COFFER_STORE: join(directory, 'store'),
    COFFER_MASTER_KEY: key.toString('base64'),
  };
  await runHere('init', environment, '');
  await runHere('transit keys create orders --exportable --allow-plaintext-backup', environment, '');
  await runHere('transit keys create edwards --type ed25519', environment, '');
  await runHere('orgs create acme', environment, '');
  writeFileSync('data', SECRET);
  writeFileSync('items', ITEMS);
  return {
    generate: (chance) => generate(chance, environment),
    async check(line) {
      const before = revisionIn(environment.COFFER_STORE);
      const { exitCode, out, err } = line.spawned
        ? spawned(line)
        : await commandHere(line.words, line.environment, line.input);
      // What is wrong with a policy is shown with the place where it is.
      if (!line.words.includes('policy')) secrets.examine(err, 'standard error');
      if (!EXIT_CODES.has(exitCode)) throw new Defect(`ended with ${exitCode}: ${err}`);
      if (err.includes('coffer: unexpected:') || /^\s+at .*\.ts:/m.test(err.replaceAll('COFFER_DEBUG', ''))) {
        if (line.environment['COFFER_DEBUG'] === undefined || err.includes('unexpected:'))
          throw new Defect(err);
      }
      if (exitCode === 0) return;
      if (!line.words.some((word) => word.startsWith('--batch')))
        secrets.examine(out, 'the output of a refused command');
      if (exitCode === 2 && revisionIn(environment.COFFER_STORE) !== before) {
        throw new Defect(`refused, and changed the store: ${err}`);
      }
    },
    print: ({ words, environment: variables, input }) =>
      `${JSON.stringify(words)} ${JSON.stringify(variables)} ${input.toString('hex')}`,
    *simpler(line) {
      for (const index of line.words.keys()) yield { ...line, words: line.words.toSpliced(index, 1) };
    },
    close() {
      process.chdir(hereDirectory);
      const names = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
        (name) => !name.startsWith('1'),
      );
      rmSync(place, { recursive: true, force: true });
      if (names.length > 0) throw new Defect(`files were written elsewhere: ${names.join(', ')}`);
    },
  };
}

function spawned({ words, environment, input }: CommandLine): Result {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [builtCommand(), ...words], {
    env: { ...environment, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    input,
    timeout: SPAWN_TIMEOUT_MS,
  });
  if (signal !== null) throw new Defect(`ended by ${signal}`);
  return { exitCode: status ?? -1, out: stdout.toString(), err: stderr.toString() };
}

/** The name of the state is the revision (docs/format.md). */
const revisionIn = (store: string): string => readdirSync(join(store, 'state')).sort().join();

function generate(chance: Chance, environment: CommandLine['environment']): CommandLine {
  const words = chance.pick(LINES).split(' ');
  for (let changes = chance.size(3); changes > 0; changes--) spoilWords(chance, words);
  const isSpawned = chance.oneIn(SPAWNED_ONE_IN);
  const kept = words.map((word) => (isFaraway(word) ? chance.pick(ADDRESSES) : word));
  return {
    // What a shell can't give to a program is not tried: NUL, and texts that are no Unicode.
    words: kept.map((word) => word.toWellFormed().replaceAll('\0', '').slice(0, 20_000)),
    environment: chance.oneIn(6) ? spoiledEnvironment(chance, environment) : environment,
    input: inputFor(chance),
    spawned: isSpawned,
  };
}

/** Places on the network, databases, and directories of others are no business of a test. */
const isFaraway = (word: string): boolean =>
  word.includes(':/') || /postgres/i.test(word) || /(?:^|=)\//.test(word);

function spoilWords(chance: Chance, words: string[]): void {
  const at = chance.below(words.length + 1);
  switch (chance.below(7)) {
    case 0:
      words.splice(at, 1);
      break;
    case 1:
      words.splice(at, 0, anyText(chance));
      break;
    case 2:
      words.splice(at, 0, chance.pick(OPTIONS));
      break;
    case 3:
      words.splice(at, 0, '--address', chance.pick(ADDRESSES));
      break;
    case 4:
      words.splice(at, 0, ...chance.pick(LINES).split(' ').slice(-2));
      break;
    default:
      if (at < words.length) words[at] = spoiledText(chance, words[at] ?? '');
  }
}

function spoiledEnvironment(
  chance: Chance,
  environment: CommandLine['environment'],
): CommandLine['environment'] {
  const name = chance.pick(VARIABLES);
  const value = chance.oneIn(3) ? 'data' : spoiledText(chance, environment[name] ?? 'data');
  const safe = isFaraway(value) || name === 'HOME' ? 'nowhere' : value;
  return { ...environment, [name]: safe.toWellFormed().replaceAll('\0', '').slice(0, 20_000) };
}

function inputFor(chance: Chance): Buffer {
  if (chance.oneIn(3)) return Buffer.from(SECRET);
  if (chance.oneIn(2)) return spoiledBytes(chance, Buffer.from(ITEMS));
  return Buffer.from(anyText(chance));
}

export const commandLines = target<CommandLine>({
  name: 'command-lines',
  cases: 2_500,
  casesPerWorld: 400,
  open,
});

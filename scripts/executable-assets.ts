/** What goes into the single executable beside its main script: the parts of the command, what V8 compiled of them, and the licenses. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LICENSES } from './licenses.ts';
import { PARTS, wrapped } from './single-executable.ts';

/** Files by the names that the executable knows them by. */
export type Assets = Readonly<Record<string, string>>;

/** Of the commands that are used most: the main script wants one, if only an empty one. */
const FIRST = 'coffer.cjs.cache';
const CACHES = [FIRST, 'coffer-more.cjs.cache', 'coffer-yaml.cjs.cache'] as const;
/** Of the same part for other commands, which want much that those do not use. The main script knows whose they are. */
const OF_VERIFY = 'coffer.cjs.verify.cache';
const OF_SECRETS = 'coffer.cjs.secrets.cache';

/** With other seeds V8 would lay out the same tables otherwise at every run. */
const SAME_EVERY_TIME = '--random-seed=1';

/** Builds the command. */
export function build(root: string): void {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * Of the built command, for an executable of any system.
 * @param directory empty; the files are written there.
 * @param licenseOfNode the section of the Node that it is put into.
 */
export function plainAssets(root: string, directory: string, licenseOfNode: string): Assets {
  for (const name of PARTS) {
    writeFileSync(join(directory, name), wrapped(readFileSync(join(root, 'dist', name), 'utf8')));
  }
  writeFileSync(join(directory, FIRST), '');
  const licenses = readFileSync(join(root, 'dist', LICENSES), 'utf8');
  writeFileSync(join(directory, LICENSES), `${licenses}\n${licenseOfNode}`);
  return inDirectory(directory, [...PARTS, FIRST, LICENSES]);
}

/** Of the built command, for an executable of this system, with what V8 compiled: the same bytes every time. */
export function assetsWithCaches(root: string, directory: string, licenseOfNode: string): Assets {
  const plain = plainAssets(root, directory, licenseOfNode);
  // No more than this: another variable could lead the command elsewhere, or change what V8 compiles.
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: directory,
    COFFER_STORE: join(directory, 'store'),
    XDG_RUNTIME_DIR: directory,
  };
  const node = (script: string, ...parameters: readonly string[]): string =>
    execFileSync(process.execPath, [SAME_EVERY_TIME, join(root, script), ...parameters], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment,
      encoding: 'utf8',
    }).trim();
  const coffer = (...words: readonly string[]): string => node('bin/coffer', ...words);
  const cache = (part: string, commands: readonly (readonly string[])[], name = `${part}.cache`): string =>
    node('scripts/code-cache.ts', directory, part, name, JSON.stringify(commands));

  environment['COFFER_MASTER_KEY'] = coffer('keygen');
  coffer('--quiet', 'init');
  coffer('--quiet', 'transit', 'keys', 'create', 'aead');
  cache('coffer.cjs', frequentCommands(coffer('transit', 'encrypt', 'aead', 'hello')));
  cache('coffer-more.cjs', EVERYDAY);
  const file = join(directory, 'app.yaml');
  writeFileSync(file, 'password: hunter2\nlist: [one, "two"]\n');
  cache('coffer-yaml.cjs', [['secrets', 'encrypt', file, '--key', 'aead']]);
  cache('coffer.cjs', [verification(directory, coffer)], OF_VERIFY);
  const assets = { ...plain, ...inDirectory(directory, [...CACHES, OF_VERIFY]) };
  // An agent's socket may have a shorter path elsewhere than temporary directories have there.
  if (process.platform !== 'linux') return assets;

  const variables = join(directory, 'app.env');
  writeFileSync(variables, 'PASSWORD=hunter2\nexport NAME="two words"\n');
  coffer('--quiet', 'secrets', 'encrypt', variables, '--key', 'aead');
  coffer('--quiet', 'unlock');
  delete environment['COFFER_MASTER_KEY'];
  try {
    cache('coffer.cjs', commandsOfSecrets(variables), OF_SECRETS);
  } finally {
    coffer('--quiet', 'lock');
  }
  return { ...assets, ...inDirectory(directory, [OF_SECRETS]) };
}

/** A command that checks a signature as those do who have no store. */
function verification(directory: string, coffer: (...words: readonly string[]) => string): readonly string[] {
  const [file, publicKey] = [join(directory, 'signed'), join(directory, 'signing.pub')];
  writeFileSync(file, 'hello');
  coffer('--quiet', 'transit', 'keys', 'create', 'signing', '--type', 'ed25519');
  coffer('--quiet', 'sign', file, '--key', 'signing');
  coffer('--quiet', 'transit', 'keys', 'public', 'signing', '--format', 'ssh', '--out', publicKey);
  return ['verify', file, '--public-key', publicKey];
}

/** The two that are run most; a cache with the functions of more commands is slower to load than it saves. */
const frequentCommands = (ciphertext: string): readonly (readonly string[])[] => [
  ['transit', 'encrypt', 'aead', 'hello'],
  ['transit', 'decrypt', 'aead', ciphertext],
];

/** What git runs for each file of a diff, and what starts programs: with an agent, as people and their editors run them. */
const commandsOfSecrets = (file: string): readonly (readonly string[])[] => [
  ['secrets', 'git-textconv', file],
  ['exec', '--file', file, '--', 'true'],
];

/** What people type to look around and to keep house. */
const EVERYDAY: readonly (readonly string[])[] = [
  ['transit', 'keys', 'rotate', 'aead'],
  ['transit', 'keys', 'list'],
  ['transit', 'keys', 'read', 'aead'],
  ['status'],
  ['transit', '--help'],
];

const inDirectory = (directory: string, names: readonly string[]): Assets =>
  Object.fromEntries(names.map((name) => [name, join(directory, name)]));

/**
 * Assets of the single executable besides its main script: the parts of the command, their V8 code caches, and the
 * licenses.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { printBech32 } from '../src/transit/key-types/age/bech32.ts';
import { SECRET_BYTES } from '../src/transit/key-types/age/kem.ts';
import { x25519Kem } from '../src/transit/key-types/age/x25519.ts';
import { EXECUTABLE_PARTS } from './bundle.ts';
import { COMPRESSED_LICENSES, LICENSES } from './licenses.ts';
import { wrapped } from './single-executable.ts';

/** Paths of files, by their names in the executable. */
export type Assets = Readonly<Record<string, string>>;

/**
 * Code cache of the most frequent commands, with a store that they open, which the main script requires, even if it is
 * empty.
 */
const FIRST = 'coffer.cjs.cache';
/** Parts that have a code cache of the same name. */
const CACHED = ['changes', 'everyday', 'files', 'help', 'keyring', 'more', 'store', 'values', 'yaml'].map(
  (name) => `coffer-${name}.cjs`,
);
/**
 * Code caches of the first part for commands that open no store, or need almost no code. The main script knows which
 * commands use which.
 */
const OF_STORELESS = 'coffer.cjs.storeless.cache';
const OF_VERSION = 'coffer.cjs.version.cache';

/** File of variables, before it is encrypted. */
const VARIABLES = 'PASSWORD=hunter2\nexport NAME="two words"\n';
/** Repository with a keyring. */
const REPOSITORY = 'repository';

/** Fixed seed; with others, V8 would lay out the same tables differently in each run. */
const SAME_EVERY_TIME = '--random-seed=1';

/** Builds the command. */
export function build(root: string): void {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * Returns the assets of the built command for an executable of any system.
 * @param directory empty directory for the files
 * @param licenseOfNode section about the Node in the executable
 */
export function plainAssets(root: string, directory: string, licenseOfNode: string): Assets {
  const parts = EXECUTABLE_PARTS.map((path) => {
    const name = basename(path);
    writeFileSync(join(directory, name), wrapped(readFileSync(join(root, 'dist', path), 'utf8')));
    return name;
  });
  writeFileSync(join(directory, FIRST), '');
  const licenses = readFileSync(join(root, 'dist', LICENSES), 'utf8');
  writeFileSync(join(directory, COMPRESSED_LICENSES), brotliCompressSync(`${licenses}\n${licenseOfNode}`));
  return inDirectory(directory, [...parts, FIRST, COMPRESSED_LICENSES]);
}

/** Returns the assets of the built command for an executable of this system, with code caches that are reproducible. */
export function assetsWithCaches(root: string, directory: string, licenseOfNode: string): Assets {
  const plain = plainAssets(root, directory, licenseOfNode);
  // No other variables: they could change the behaviour of the command, or the code that V8 compiles.
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

  const masterKey = coffer('keygen');
  environment['COFFER_MASTER_KEY'] = masterKey;
  coffer('--quiet', 'init');
  coffer('--quiet', 'transit', 'keys', 'create', 'aead');
  cache('coffer.cjs', [], OF_VERSION);
  cache('coffer-everyday.cjs', [...EVERYDAY, create('everyday')]);
  cache('coffer-changes.cjs', [ROTATE, create('changes')]);
  cache('coffer-help.cjs', [['transit', '--help']]);
  cache('coffer-more.cjs', [['transit', 'hash', 'hello']]);
  const file = join(directory, 'app.yaml');
  writeFileSync(file, 'password: hunter2\nlist: [one, "two"]\n');
  cache('coffer-yaml.cjs', [['secrets', 'encrypt', file, '--key', 'aead']]);
  const variables = join(directory, 'app.env');
  writeFileSync(variables, VARIABLES);
  coffer('--quiet', 'secrets', 'encrypt', variables, '--key', 'aead');
  const frequent = frequentCommands(coffer('transit', 'encrypt', 'aead', 'hello'));
  const verify = verification(directory, coffer);
  const plaintext = ['--in', variables, '--out', join(directory, 'envelope')];
  const envelope = ['transit', 'envelope', 'encrypt', 'aead', ...plaintext, '--force'];
  const starting = ['exec', '--file', variables, '--', 'true'];
  // In this order: a command that starts a program removes the master key from its environment.
  const ofStore = [...frequent, envelope, starting];
  cache('coffer.cjs', ofStore);
  cache('coffer-store.cjs', ofStore);
  cache('coffer-files.cjs', [verify, envelope]);
  // Without what this machine then remembers of a keyring, which makes other commands look for one.
  const ofKeyring = {
    XDG_STATE_HOME: join(directory, 'state'),
    COFFER_IDENTITY_FILE: join(directory, 'identity'),
  };
  Object.assign(environment, ofKeyring);
  const values = valuesOfKeyring(directory, environment, coffer);
  cache('coffer-keyring.cjs', [values]);
  for (const name of Object.keys(ofKeyring)) delete environment[name];
  const caches = [FIRST, ...CACHED.map((part) => `${part}.cache`), OF_STORELESS, OF_VERSION];
  const withKey = [`COFFER_MASTER_KEY=${masterKey}`, ...starting];
  const cacheStoreless = (commands: readonly (readonly string[])[]): Assets => {
    cache('coffer.cjs', [verify, ...commands], OF_STORELESS);
    cache('coffer-values.cjs', [withKey, ...commands]);
    return { ...plain, ...inDirectory(directory, caches) };
  };
  // An agent's socket may require a shorter path than temporary directories have on other systems.
  if (process.platform !== 'linux') return cacheStoreless([withKey]);

  // The agents would outlive this process: a signal ends it only after they are locked.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  try {
    coffer('--quiet', 'unlock');
    delete environment['COFFER_MASTER_KEY'];
    execFileSync(process.execPath, [join(root, 'bin/coffer'), '--quiet', 'team', 'unlock'], {
      cwd: join(directory, REPOSITORY),
      env: { ...environment, ...ofKeyring },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const settings = Object.entries(ofKeyring).map(([name, value]) => `${name}=${value}`);
    return cacheStoreless([['secrets', 'git-textconv', variables], starting, [...settings, ...values]]);
  } finally {
    coffer('--quiet', 'lock');
  }
}

/** Returns a command that verifies a signature without a store. */
function verification(directory: string, coffer: (...words: readonly string[]) => string): readonly string[] {
  const [file, publicKey] = [join(directory, 'signed'), join(directory, 'signing.pub')];
  writeFileSync(file, 'hello');
  coffer('--quiet', 'transit', 'keys', 'create', 'signing', '--type', 'ed25519');
  coffer('--quiet', 'sign', file, '--key', 'signing');
  coffer('--quiet', 'transit', 'keys', 'public', 'signing', '--format', 'ssh', '--out', publicKey);
  return ['verify', file, '--public-key', publicKey];
}

/** Returns a command that starts a program with values of a keyring, which is made with a fixed identity. */
function valuesOfKeyring(
  directory: string,
  environment: NodeJS.ProcessEnv,
  coffer: (...words: readonly string[]) => string,
): readonly string[] {
  const [repository, identity] = [join(directory, REPOSITORY), join(directory, 'identity')];
  const file = join(repository, 'app.env');
  execFileSync('git', ['init', '-q', repository], { env: environment });
  const secret = printBech32(x25519Kem.identityPrefix, Buffer.alloc(SECRET_BYTES, 7)).toUpperCase();
  writeFileSync(identity, `${secret}\n`, { mode: 0o600 });
  writeFileSync(file, VARIABLES);
  writeFileSync(join(repository, '.coffer.yaml'), 'rules: [{ files: "*.env", key: app }]\n');
  coffer('--quiet', 'team', 'init', repository, '--name', 'packer', '--key', 'app');
  coffer('--quiet', 'secrets', 'encrypt', file, '--key', 'app');
  return ['exec', '--file', file, '--', 'true'];
}

/**
 * Returns the two most frequent commands; a cache with the functions of more commands would take longer to load than it
 * saves.
 */
const frequentCommands = (ciphertext: string): readonly (readonly string[])[] => [
  ['transit', 'encrypt', 'aead', 'hello'],
  ['transit', 'decrypt', 'aead', ciphertext],
];

const ROTATE: readonly string[] = ['transit', 'keys', 'rotate', 'aead'];

/** Creates a key; one that exists would change nothing, so each run of it has a name of its own. */
const create = (name: string): readonly string[] => ['transit', 'keys', 'create', name];

/** Commands that users run to inspect and maintain a store. */
const EVERYDAY: readonly (readonly string[])[] = [
  ROTATE,
  ['transit', 'keys', 'list'],
  ['transit', 'keys', 'read', 'aead'],
  ['status'],
];

const inDirectory = (directory: string, names: readonly string[]): Assets =>
  Object.fromEntries(names.map((name) => [name, join(directory, name)]));

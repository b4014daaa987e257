/**
 * Makes a store with each earlier release, of everything that it knew, and writes it with what is in it to
 * `test/vectors/earlier-stores`: `node test/upgrade/make-stores.ts`, or with commits for some of them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { EARLIER_STORES, type EarlierStore, fileOf } from './earlier-store.ts';
import { builtRelease, EARLIER_RELEASES } from './releases.ts';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const PASSPHRASE = 'seven words that nobody else would choose';
const POLICY =
  'path "transit/*" { capabilities = ["read", "update"] }\npath "transit/export/*" { capabilities = ["deny"] }\n';
const CIPHERS = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'];
const RSA = ['rsa-2048', 'rsa-3072', 'rsa-4096'];
const SIGNERS = ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'];
/** The others have signatures of up to 49 kB. */
const SMALLEST_SLH = 'slh-dsa-sha2-128s';
const SLH = [SMALLEST_SLH, ...['128f', '192s', '192f', '256s', '256f'].map((set) => `slh-dsa-sha2-${set}`)];
const TYPES = [...CIPHERS, ...RSA, ...SIGNERS, ...SLH];
const SIGNED = 'coffer-0.1.0.tar.gz';

mkdirSync(EARLIER_STORES, { recursive: true });
const wanted = process.argv.slice(2);
for (const { commit, about } of EARLIER_RELEASES) {
  if (wanted.length > 0 && !wanted.includes(commit)) continue;
  const directory = mkdtempSync(join(tmpdir(), 'coffer-earlier-'));
  try {
    const store = makeStore(builtRelease(commit), directory, commit, about);
    writeFileSync(fileOf(commit), brotliCompressSync(JSON.stringify(store)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.stdout.write(`${commit}\n`);
}

function makeStore(binary: string, directory: string, commit: string, about: string): EarlierStore {
  const place = join(directory, 'store');
  const env = {
    HOME: directory,
    PATH: process.env['PATH'],
    COFFER_STORE: place,
    COFFER_MASTER_KEY: MASTER_KEY,
    COFFER_NEW_PASSPHRASE: PASSPHRASE,
    COFFER_ORG: 'acme',
  };
  const start = (before: readonly string[], words: readonly string[], input = '') =>
    spawnSync(process.execPath, [...before, binary, ...words], {
      cwd: directory,
      env,
      input,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
  const coffer = (line: string, input = ''): string => {
    const { status, stdout, stderr } = start([], line.split(' '), input);
    if (status !== 0) throw new Error(`${commit}: coffer ${line}: ${stderr}`);
    return stdout.replace(/\n$/, '');
  };

  coffer('init');
  coffer('slots add --passphrase --label words');
  writeFileSync(join(directory, 'key-file'), Buffer.alloc(48, 9), { mode: 0o600 });
  coffer('slots add --key-file key-file');
  const shares = coffer('slots add --shares 3 --threshold 2').match(/coffer-share\.\S+/g) ?? [];

  const encrypted: EarlierStore['encrypted'][number][] = [];
  const encrypt = (key: string, version: number, more: { context?: string; mount?: string } = {}): void => {
    const plaintext = `${key}, version ${version}`;
    const context = more.context === undefined ? '' : ` --context-text ${more.context}`;
    const mount = more.mount === undefined ? '' : ` --mount ${more.mount}`;
    encrypted.push({
      key,
      plaintext,
      ...more,
      ciphertext: coffer(`transit encrypt ${key}${context}${mount}`, plaintext),
    });
  };
  const signed: EarlierStore['signed'][number][] = [];
  const hmacs: EarlierStore['hmacs'][number][] = [];
  for (const type of TYPES) {
    coffer(`transit keys create ${type} --type ${type}${type === 'ed25519' ? ' --exportable' : ''}`);
    for (const version of [1, 2]) {
      if (version === 2) coffer(`transit keys rotate ${type} --force`);
      if (CIPHERS.includes(type) || RSA.includes(type)) encrypt(type, version);
      if (SIGNERS.includes(type) || RSA.includes(type) || (type === SMALLEST_SLH && version === 2)) {
        signed.push({ key: type, input: SIGNED, signature: coffer(`transit sign ${type}`, SIGNED) });
      }
      hmacs.push({ key: type, input: SIGNED, hmac: coffer(`transit hmac ${type}`, SIGNED) });
    }
  }
  coffer('transit keys create mac --type hmac --key-size 32');
  hmacs.push({ key: 'mac', input: SIGNED, hmac: coffer('transit hmac mac', SIGNED) });
  coffer('transit keys create tenants --derived');
  encrypt('tenants', 1, { context: 'tenant-1' });
  coffer('transit keys create search --derived --convergent-encryption');
  encrypt('search', 1, { context: 'column' });
  coffer('mounts add team --dialect vault');
  coffer('transit keys create orders --mount team');
  encrypt('orders', 1, { mount: 'team' });
  const envelope = spawnSync(
    process.execPath,
    [binary, ...'transit envelope encrypt aes256-gcm96 --metadata for=everybody'.split(' ')],
    { cwd: directory, env, input: 'a file of some length' },
  ).stdout.toString('hex');

  coffer('orgs create acme');
  coffer('orgs create empty');
  coffer('workspaces create web');
  coffer('workspaces create billing');
  coffer('workspaces create plain');
  coffer('tags create env:prod team:core unused');
  coffer('tags attach env:prod --workspace web --workspace billing');
  coffer('tags attach team:core --workspace billing');

  coffer('policy write orders', POLICY);
  const token = coffer(
    'token create --policy orders --no-default-policy --period 20000h --display-name billing -o raw',
  );
  const rootToken = coffer('token create -o raw');

  const publicKeys = Object.fromEntries(
    TYPES.filter((type) => !CIPHERS.includes(type)).map((type) => {
      const { keys } = JSON.parse(coffer(`transit keys read ${type} -o json`)) as {
        keys: Record<string, { public_key: string }>;
      };
      return [type, keys['2']?.public_key ?? ''];
    }),
  );
  coffer('store backup backup');
  const backup = readFileSync(join(directory, 'backup')).toString('hex');
  const files = filesOf(place);

  cpSync(place, join(directory, 'before'), { recursive: true });
  const { signal } = start(
    ['--require', fileURLToPath(new URL('stop-after-deciding.cjs', import.meta.url))],
    'workspaces create late --tag new --tag env:prod'.split(' '),
  );
  if (signal !== 'SIGKILL') throw new Error(`${commit}: nobody stopped it`);
  const after = filesOf(place);
  const changed = Object.entries(after).filter(([path, content]) => files[path] !== content);
  const interrupted = {
    added: Object.fromEntries(changed),
    removed: Object.keys(files).filter((path) => after[path] === undefined),
  };

  return {
    about: `A store in files as commit ${commit} left it, ${about}.`,
    masterKey: MASTER_KEY,
    passphrase: PASSPHRASE,
    keyFile: Buffer.alloc(48, 9).toString('hex'),
    shares,
    token,
    rootToken,
    policy: POLICY,
    keys: coffer('transit keys list').split('\n'),
    encrypted,
    signed,
    hmacs,
    publicKeys,
    envelope,
    backup,
    files,
    interrupted,
  };
}

function filesOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(directory.length + 1), readFileSync(path).toString('hex')]),
  );
}

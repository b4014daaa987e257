/** Whole commands on files, against age, openssl, minisign, ssh-keygen and sops. */
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { comparePrograms, installedCommand, type Program, type Row, timeAlone } from './measure.ts';
import { type PeerName, peerProgram, without } from './peer-programs.ts';

const isQuick = process.env['COFFER_BENCH_QUICK'] !== undefined;
const MEBIBYTES = isQuick ? 30 : 300;
const PAIRS = isQuick ? 1 : 5;
/** Number of pairs for short commands. */
const SMALL_PAIRS = isQuick ? 3 : 15;
const NO_SLOWER = 1;

const coffer = installedCommand();

type Words = readonly string[];

/** Reads `$0` and overwrites an existing file: allocating memory for a new file would take most of the time. */
const OVER_A_FILE = 'exec "$@" < "$0" 1<> "$0.out"';

export function localRows(): readonly Row[] {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    return new LocalBench(directory).rows();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

class LocalBench {
  readonly #directory: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(directory: string) {
    this.#directory = directory;
    this.#environment = {
      PATH: process.env['PATH'],
      HOME: directory,
      COFFER_STORE: this.#path('store'),
      COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      SOPS_AGE_KEY_FILE: this.#path('identity'),
      // sops would otherwise sometimes contact its publisher at the start.
      SOPS_DISABLE_VERSION_CHECK: '1',
    };
    this.#coffer('init');
    this.#coffer('transit', 'keys', 'create', 'data');
    this.#coffer('transit', 'keys', 'create', 'inbox', '--type', 'x25519');
    this.#coffer('transit', 'keys', 'create', 'release', '--type', 'ed25519');
    writeFileSync(this.#path('plain'), randomFillSync(Buffer.alloc(MEBIBYTES * 2 ** 20)));
  }

  rows(): readonly Row[] {
    return [...this.#files(), ...this.#signatures(), ...this.#secrets()];
  }

  #files(): readonly Row[] {
    const size = `${MEBIBYTES} MiB`;
    const age = peerProgram('age');
    const keygen = peerProgram('age-keygen');
    const hasAge = age !== undefined && keygen !== undefined;
    const openssl = peerProgram('openssl');
    if (hasAge) this.#run([keygen, '-o', this.#path('identity')]);
    const recipient = hasAge ? this.#run([keygen, '-y', this.#path('identity')]).trim() : '';
    const inbox = this.#run([...coffer, 'transit', 'keys', 'public', 'inbox', '--format', 'age']).trim();
    const envelope: Words = [...coffer, 'transit', 'envelope'];
    writeFileSync(this.#path('pass'), 'a passphrase\n', { mode: 0o600 });
    // Only the cipher: it authenticates nothing, so a modified file decrypts without an error.
    const enc = ['enc', '-aes-256-ctr', '-pbkdf2', '-pass', `file:${this.#path('pass')}`];
    this.#pipe('plain', 'ours.in', [...envelope, 'encrypt', 'data']);
    this.#pipe('plain', 'ours-age.in', [...envelope, 'encrypt', '--recipient', inbox]);
    if (hasAge) this.#pipe('plain', 'age.in', [age, '-r', recipient]);
    if (openssl !== undefined) this.#pipe('plain', 'openssl.in', [openssl, ...enc]);
    const encrypt = this.#over('plain', [...envelope, 'encrypt', 'data']);
    const decrypt = this.#over('ours.in', [...envelope, 'decrypt']);
    const ageEncrypt = hasAge ? this.#over('plain', [age, '-r', recipient]) : undefined;
    const ageDecrypt = hasAge ? this.#over('age.in', [age, '-d', '-i', this.#path('identity')]) : undefined;
    const opensslWith = (input: string, ...more: Words): Program | undefined =>
      openssl === undefined ? undefined : this.#over(input, [openssl, ...enc, ...more]);
    return [
      this.#row(`encrypt a file, ${size}`, encrypt, 'age', ageEncrypt),
      this.#row(`decrypt a file, ${size}`, decrypt, 'age', ageDecrypt),
      this.#row(
        `encrypt a file in the age format, ${size}`,
        this.#over('plain', [...envelope, 'encrypt', '--recipient', inbox]),
        'age',
        ageEncrypt,
      ),
      this.#row(
        `decrypt a file in the age format, ${size}`,
        this.#over('ours-age.in', [...envelope, 'decrypt']),
        'age',
        ageDecrypt,
      ),
      this.#row(
        `encrypt a file, ${size}`,
        encrypt,
        'openssl',
        opensslWith('plain'),
        'openssl enc -aes-256-ctr',
      ),
      this.#row(
        `decrypt a file, ${size}`,
        decrypt,
        'openssl',
        opensslWith('openssl.in', '-d'),
        'openssl enc -aes-256-ctr',
      ),
    ];
  }

  #signatures(): readonly Row[] {
    const size = `${MEBIBYTES} MiB`;
    const file = this.#path('plain');
    const sign: Words = [...coffer, 'sign', file, '--key', 'release', '--force'];
    for (const format of ['minisign', 'ssh']) {
      this.#coffer(...sign.slice(coffer.length), '--format', format);
      this.#coffer('transit', 'keys', 'public', 'release', '--format', format, '--out', this.#path(format));
    }
    const verify = (format: string, signature: string): Program =>
      this.#program([...coffer, 'verify', file, `${file}.${signature}`, '--public-key', this.#path(format)]);
    return [
      ...this.#withMinisign(
        size,
        this.#program([...sign, '--format', 'minisign']),
        verify('minisign', 'minisig'),
      ),
      ...this.#withSsh(size, this.#program(sign), verify('ssh', 'sig')),
      ...this.#withOpenssl(size, this.#program(sign), verify('ssh', 'sig')),
      this.#row(
        `hash a file, SHA-256, ${size}`,
        this.#program([...coffer, 'transit', 'hash', '--in', file]),
        'openssl',
        this.#programOf('openssl', ['dgst', '-sha256', file]),
      ),
    ];
  }

  #withMinisign(size: string, sign: Program, verify: Program): readonly Row[] {
    const file = this.#path('plain');
    const [secret, open, signature] = ['min.key', 'min.pub', 'min.sig'].map((name) => this.#path(name));
    const program = peerProgram('minisign');
    if (program !== undefined) this.#run([program, '-G', '-W', '-f', '-p', open ?? '', '-s', secret ?? '']);
    const words = (...more: Words): Words => [...more, '-m', file, '-x', signature ?? ''];
    const theirs = this.#programOf('minisign', words('-S', '-s', secret ?? ''));
    if (theirs !== undefined) this.#run(theirs.command);
    return [
      this.#row(`sign a file for minisign, ${size}`, sign, 'minisign', theirs),
      this.#row(
        `verify a file of minisign, ${size}`,
        verify,
        'minisign',
        this.#programOf('minisign', words('-V', '-p', open ?? '')),
      ),
    ];
  }

  #withSsh(size: string, sign: Program, verify: Program): readonly Row[] {
    const [copy, key] = [this.#path('for-ssh'), this.#path('ssh-key')];
    const program = peerProgram('ssh-keygen');
    if (program !== undefined) {
      this.#run(['cp', this.#path('plain'), copy]);
      this.#run([program, '-q', '-t', 'ed25519', '-N', '', '-f', key]);
    }
    const theirs = this.#programOf('ssh-keygen', ['-q', '-Y', 'sign', '-f', key, '-n', 'file', copy]);
    const prepared = theirs && { ...theirs, prepare: () => rmSync(`${copy}.sig`, { force: true }) };
    if (program !== undefined) this.#run([program, '-q', '-Y', 'sign', '-f', key, '-n', 'file', copy]);
    const check =
      program === undefined
        ? undefined
        : this.#program([
            'sh',
            '-c',
            'exec "$0" -q -Y check-novalidate -n file -s "$1.sig" < "$1"',
            program,
            copy,
          ]);
    // The signature must exist again after the turns that remove it.
    const again = check && {
      ...check,
      prepare: () => {
        if (!existsSync(`${copy}.sig`) && program !== undefined)
          this.#run([program, '-q', '-Y', 'sign', '-f', key, '-n', 'file', copy]);
      },
    };
    return [
      this.#row(`sign a file for ssh-keygen, ${size}`, sign, 'ssh-keygen', prepared),
      this.#row(`verify a file of ssh-keygen, ${size}`, verify, 'ssh-keygen', again),
    ];
  }

  /**
   * Returns the rows for openssl, which signs whole messages with Ed25519 and needs 300 MiB of memory for it; ECDSA
   * over a hash is the usual choice for files.
   */
  #withOpenssl(size: string, sign: Program, verify: Program): readonly Row[] {
    const file = this.#path('plain');
    const [key, open, signature] = ['ec.pem', 'ec.pub', 'ec.sig'].map((name) => this.#path(name));
    const program = peerProgram('openssl');
    if (program !== undefined) {
      this.#run([
        program,
        'genpkey',
        '-algorithm',
        'EC',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-out',
        key ?? '',
      ]);
      this.#run([program, 'pkey', '-in', key ?? '', '-pubout', '-out', open ?? '']);
    }
    const theirs = this.#programOf('openssl', [
      'dgst',
      '-sha512',
      '-sign',
      key ?? '',
      '-out',
      signature ?? '',
      file,
    ]);
    if (theirs !== undefined) this.#run(theirs.command);
    return [
      this.#row(`sign a file, ${size}`, sign, 'openssl', theirs, 'openssl dgst -sha512'),
      this.#row(
        `verify a file, ${size}`,
        verify,
        'openssl',
        this.#programOf('openssl', [
          'dgst',
          '-sha512',
          '-verify',
          open ?? '',
          '-signature',
          signature ?? '',
          file,
        ]),
        'openssl dgst -sha512',
      ),
    ];
  }

  #secrets(): readonly Row[] {
    const keygen = peerProgram('age-keygen');
    const sops = keygen === undefined ? undefined : peerProgram('sops');
    const recipient = keygen === undefined ? '' : this.#run([keygen, '-y', this.#path('identity')]).trim();
    const values = Array.from({ length: 100 }, (_, index) => `name_${index}: value of the secret ${index}\n`);
    const plain = values.join('');
    const write = (name: string, text: string) => () => writeFileSync(this.#path(name), text);
    write('ours.yaml', plain)();
    this.#coffer('secrets', 'encrypt', '--key', 'data', this.#path('ours.yaml'));
    const sealed = this.#run(['cat', this.#path('ours.yaml')]);
    write('plain.yaml', plain)();
    const sopsSealed =
      sops === undefined ? '' : this.#run([sops, 'encrypt', '--age', recipient, this.#path('plain.yaml')]);
    const ours = (text: string, ...words: Words): Program => ({
      ...this.#program([...coffer, 'secrets', ...words, this.#path('ours.yaml')]),
      prepare: write('ours.yaml', text),
    });
    const theirs = (text: string, ...words: Words): Program | undefined =>
      sops === undefined
        ? undefined
        : {
            ...this.#program([sops, ...words, '--in-place', this.#path('theirs.yaml')]),
            prepare: write('theirs.yaml', text),
          };
    return [
      this.#row(
        'encrypt 100 values of a YAML file',
        ours(plain, 'encrypt', '--key', 'data'),
        'sops',
        theirs(plain, 'encrypt', '--age', recipient),
        'sops with age',
        SMALL_PAIRS,
      ),
      this.#row(
        'decrypt 100 values of a YAML file',
        ours(sealed, 'decrypt'),
        'sops',
        theirs(sopsSealed, 'decrypt'),
        'sops with age',
        SMALL_PAIRS,
      ),
    ];
  }

  #row(
    operation: string,
    ours: Program,
    peer: PeerName,
    theirs: Program | undefined,
    floorName: string = peer,
    pairs = PAIRS,
  ): Row {
    if (theirs === undefined) return without(operation, timeAlone(ours, pairs), peer);
    return { operation, floorName, limit: NO_SLOWER, ...comparePrograms(ours, theirs, pairs, 1) };
  }

  #programOf(peer: PeerName, words: Words): Program | undefined {
    const path = peerProgram(peer);
    return path === undefined ? undefined : this.#program([path, ...words]);
  }

  #program(command: Words): Program {
    return { command, env: this.#environment };
  }

  #over(input: string, words: Words): Program {
    return {
      command: ['sh', '-c', OVER_A_FILE, this.#path(input), ...words],
      env: this.#environment,
      prepare: () => execFileSync('sync'),
    };
  }

  #pipe(input: string, output: string, words: Words): void {
    this.#run(['sh', '-c', 'exec "$@" < "$0.from" > "$0"', this.#path(output), ...words], () => {
      this.#run(['ln', '-sf', this.#path(input), `${this.#path(output)}.from`]);
    });
  }

  #coffer(...words: Words): void {
    this.#run([...coffer, '-q', ...words]);
  }

  #run([file = '', ...words]: Words, before: () => void = () => undefined): string {
    before();
    return execFileSync(file, words, {
      cwd: this.#directory,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

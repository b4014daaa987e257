import { createHmac, timingSafeEqual } from 'node:crypto';
import { alternatives } from '../../ground/alternatives.ts';
import { wipe } from '../../ground/bytes.ts';
import { invalid, unavailable } from '../../ground/errors.ts';
import { pause } from '../../ground/pause.ts';
import { systemRandom } from '../../ground/random.ts';
import { findProgram } from '../files/program.ts';
import { type Environment, variable } from '../given.ts';
import { DEFAULT_CLIPBOARD_SECONDS } from '../parse/operation-spec.ts';
import { CLIPBOARD_PROCESS, programAfterNode } from '../program.ts';
import type { Session } from '../session.ts';

/*
 * The clipboard of the system, through its own programs. A copied secret is removed after a while by a process in the
 * background, which knows only a keyed hash of it.
 * @see docs/decisions/0292
 */

const SECONDS = 'COFFER_CLIPBOARD_SECONDS';
const MAX_SECONDS = 3600;
const KEY_BYTES = 32;
/** Maximum size of a value, in bytes: a clipboard is for passwords and keys, not for files. */
const MAX_BYTES = 1 << 20;
/** Time within which a program of the clipboard has to end, in milliseconds. */
const PROGRAM_MS = 5000;

/** Command with its arguments. */
type Words = readonly [program: string, ...rest: readonly string[]];

/** Programs of one kind of clipboard. */
interface Clipboard {
  readonly copy: Words;
  readonly paste: Words;
  /** Variable that must be set; the program only works then. */
  readonly needs?: string;
}

const MAC: readonly Clipboard[] = [{ copy: ['pbcopy'], paste: ['pbpaste'] }];
const WINDOWS: readonly Clipboard[] = [
  {
    copy: ['clip.exe'],
    paste: ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', 'Get-Clipboard -Raw'],
  },
];
const UNIX: readonly Clipboard[] = [
  { copy: ['wl-copy'], paste: ['wl-paste', '--no-newline'], needs: 'WAYLAND_DISPLAY' },
  {
    copy: ['xclip', '-selection', 'clipboard'],
    paste: ['xclip', '-selection', 'clipboard', '-o'],
    needs: 'DISPLAY',
  },
  { copy: ['xsel', '--clipboard', '--input'], paste: ['xsel', '--clipboard', '--output'], needs: 'DISPLAY' },
  // The Linux subsystem of Windows.
  ...WINDOWS,
];

/** Copies values to the clipboard that was found. */
export interface Copier {
  /**
   * Copies a value and starts the process that removes it.
   * @throws `unavailable` if the program fails; `invalid` for a value of more than 1 MiB
   */
  copy(value: Uint8Array): Promise<void>;
}

/**
 * Finds the clipboard, before a secret is decrypted for it.
 * @throws `unavailable` if there is none; `invalid` for a wrong number of seconds in the environment
 */
export function clipboardOf(session: Session, platform: string = process.platform): Copier {
  const { environment } = session;
  const seconds = secondsOf(environment);
  const kinds = platform === 'darwin' ? MAC : platform === 'win32' ? WINDOWS : UNIX;
  const installed = kinds.filter(
    ({ copy: [program] }) => findProgram(program, environment, platform).kind === 'program',
  );
  const found = installed.find(
    ({ needs }) => needs === undefined || variable(environment, needs) !== undefined,
  );
  if (found === undefined && installed.length > 0) {
    const displays = [...new Set(installed.flatMap(({ needs }) => needs ?? []))];
    throw unavailable('no display for the clipboard', {
      hint:
        variable(environment, 'SSH_CONNECTION') === undefined
          ? `set ${alternatives(displays)}, or omit --copy`
          : `over SSH, use --out FILE, or set ${alternatives(displays)}`,
    });
  }
  if (found === undefined) {
    throw unavailable('no clipboard program found', {
      hint:
        kinds === UNIX
          ? 'install wl-clipboard (Wayland), xclip or xsel (X11), or omit --copy'
          : 'omit --copy, e.g. to pipe the value to another program',
    });
  }
  return {
    async copy(value) {
      if (value.length > MAX_BYTES) {
        throw invalid('the value is too large for the clipboard', { hint: 'use --out FILE' });
      }
      await run(found.copy, programEnvironment(environment), value);
      clearLater(environment, { ...found, seconds, ...keyedHash(value) });
      session.say(`Copied to the clipboard, which is cleared in ${seconds}s.`);
    },
  };
}

function secondsOf(environment: Environment): number {
  const text = variable(environment, SECONDS);
  if (text === undefined) return DEFAULT_CLIPBOARD_SECONDS;
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MAX_SECONDS) return seconds;
  throw invalid(`invalid value "${text}"`, { field: SECONDS, hint: `use seconds from 1 to ${MAX_SECONDS}` });
}

/** Message to the process in the background, sent through its standard input. */
interface Clearing extends Pick<Clipboard, 'copy' | 'paste'> {
  readonly seconds: number;
  /** Random key and HMAC-SHA-256 of the value, base64. */
  readonly key: string;
  readonly hash: string;
}

function keyedHash(value: Uint8Array): Pick<Clearing, 'key' | 'hash'> {
  const key = systemRandom.bytes(KEY_BYTES);
  return { key: key.toString('base64'), hash: hashOf(value, key).toString('base64') };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Hashes a value without line breaks at its end, which some programs add. */
function hashOf(value: Uint8Array, key: Uint8Array): Buffer {
  let end = value.length;
  while (end > 0 && (value[end - 1] === LINE_FEED || value[end - 1] === CARRIAGE_RETURN)) end--;
  return createHmac('sha256', key).update(value.subarray(0, end)).digest();
}

/** Starts the process that clears the clipboard. It outlives this one and its terminal, and keeps nothing on disk. */
function clearLater(environment: Environment, clearing: Clearing): void {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(process.execPath, [...programAfterNode(), CLIPBOARD_PROCESS], {
    detached: true,
    cwd: process.platform === 'win32' ? undefined : '/',
    env: programEnvironment(environment),
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(clearing));
  child.unref();
}

/**
 * Waits, then empties the clipboard if it still holds the value.
 * @param text what the starting process wrote
 */
export async function clearAfterwards(text: string, environment: Environment): Promise<void> {
  const { seconds, copy, paste, key, hash } = JSON.parse(text) as Clearing;
  await pause(seconds * 1000);
  const held = await run(paste, programEnvironment(environment));
  try {
    const isSame = timingSafeEqual(hashOf(held, Buffer.from(key, 'base64')), Buffer.from(hash, 'base64'));
    if (isSame) await run(copy, programEnvironment(environment), Buffer.alloc(0));
  } finally {
    wipe(held);
  }
}

/** Variables that the programs of a clipboard need; none of them is a secret of ours. */
const NEEDED = [
  ...['PATH', 'PATHEXT', 'SYSTEMROOT', 'HOME', 'USERPROFILE', 'TMPDIR', 'TEMP', 'LANG', 'LC_ALL'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'XDG_SESSION_TYPE', 'WSL_INTEROP'],
];

const programEnvironment = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && NEEDED.includes(name.toUpperCase()) ? [[name, value]] : [],
    ),
  );

/**
 * Runs a program.
 * @returns what it printed; nothing is read from one that is given a value: it may stay, to serve the clipboard
 * @throws `unavailable` if it fails or takes too long
 */
function run([program, ...rest]: Words, env: Record<string, string>, value?: Uint8Array): Promise<Buffer> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  // Little else makes a program of a display refuse a value.
  const { needs = '' } = UNIX.find(({ copy }) => copy[0] === program) ?? {};
  const display = env[needs];
  return new Promise((resolve, reject) => {
    const failed = (why: string, cause?: unknown) =>
      reject(unavailable(`cannot use the clipboard: ${program} ${why}`, { cause }));
    const stdio = value === undefined ? ['ignore', 'pipe', 'ignore'] : ['pipe', 'ignore', 'ignore'];
    const child = spawn(program, rest, {
      env,
      stdio: stdio as ('ignore' | 'pipe')[],
      timeout: PROGRAM_MS,
      windowsHide: true,
    });
    const pieces: Buffer[] = [];
    child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
    child.once('error', (error) => failed('could not be started', error));
    child.once(value === undefined ? 'close' : 'exit', (code) => {
      if (code === 0) resolve(Buffer.concat(pieces));
      else if (code !== null && value !== undefined && display !== undefined)
        reject(
          unavailable(`cannot use the clipboard: ${program} cannot reach the display ${display}`, {
            hint: `check ${needs}, or omit --copy`,
          }),
        );
      else failed(code === null ? 'took too long' : `failed with exit code ${code}`);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(value);
  });
}

import type { Call, Fault } from '../layer/plan.ts';

/** How each kind of call fails in practice; `short` takes half of the bytes, `done` fails after it has worked. */
const FAILURES: Partial<Readonly<Record<Call['kind'], readonly string[]>>> = {
  create: ['EIO', 'ENOSPC', 'EMFILE', 'EDQUOT', 'EACCES', 'EROFS', 'EINTR'],
  reopen: ['EIO', 'EMFILE', 'EACCES', 'EROFS', 'EINTR'],
  write: ['EIO', 'ENOSPC', 'EDQUOT', 'EINTR'],
  sync: ['EIO', 'ENOSPC', 'EDQUOT', 'EINTR'],
  rename: ['EIO', 'ENOSPC', 'EACCES', 'EROFS', 'EDQUOT'],
  link: ['EIO', 'ENOSPC', 'EACCES', 'EROFS', 'EDQUOT'],
  unlink: ['EIO', 'EACCES', 'EROFS'],
  rmdir: ['EIO', 'EACCES', 'EROFS'],
  mkdir: ['EIO', 'ENOSPC', 'EDQUOT', 'EACCES', 'EROFS'],
};

const LOOK_FAILURES: Partial<Readonly<Record<Call['kind'], readonly string[]>>> = {
  open: ['EIO', 'EMFILE', 'EACCES'],
  read: ['EIO', 'EINTR'],
  stat: ['EIO', 'EACCES'],
  list: ['EIO', 'EMFILE', 'EACCES'],
  exists: ['EIO'],
};

const TAKES_ROOM: readonly Call['kind'][] = ['create', 'write', 'mkdir', 'sync'];
export const ALL: readonly Call['kind'][] = [
  'reopen',
  'create',
  'write',
  'sync',
  'rename',
  'link',
  'unlink',
  'rmdir',
  'mkdir',
];

export interface Failing {
  readonly name: string;
  readonly fault: Fault;
  readonly code: string | undefined;
}

/**
 * The faults to try at the call with this number. Each call fails with EIO, and with one of its other codes in turn, so that over
 * all calls every code is met everywhere; and the disk fills up, or fails, at it for good.
 */
export function failuresAt(call: Call, number: number): readonly Failing[] {
  const codes = FAILURES[call.kind] ?? [];
  const [first, ...others] = codes;
  if (first === undefined) return [];
  const other = others[number % others.length] ?? first;
  const failing = [once(first), once(other)];
  if (call.kind === 'write')
    failing.push({ name: 'a short write', fault: { kind: 'short' }, code: undefined });
  if (/^(rename|link|unlink|rmdir|mkdir)$/.test(call.kind)) {
    failing.push({
      ...once(first),
      name: `${first} though it is done`,
      fault: { kind: 'failure', code: first, done: true },
    });
  }
  failing.push(
    number % 2 === 0 || !TAKES_ROOM.includes(call.kind) ? forGood('EIO', ALL) : forGood('ENOSPC', TAKES_ROOM),
  );
  return failing;
}

/** A fault and the call that it strikes. */
interface Strike {
  readonly call: Call;
  /** Its number, from 1. */
  readonly at: number;
  readonly failing: Failing;
}

/** The faults to try at each of these calls. */
export const failings = (
  calls: readonly Call[],
  at: (call: Call, number: number) => readonly Failing[],
): readonly Strike[] =>
  calls.flatMap((call, index) => at(call, index).map((failing) => ({ call, at: index + 1, failing })));

export function lookFailuresAt(call: Call, number: number): readonly Failing[] {
  const codes = LOOK_FAILURES[call.kind] ?? [];
  const code = codes[number % codes.length];
  return code === undefined ? [] : [once(code)];
}

const once = (code: string): Failing => ({ name: code, fault: { kind: 'failure', code }, code });

const forGood = (code: string, lasting: readonly Call['kind'][]): Failing => ({
  name: `${code} from then on`,
  fault: { kind: 'failure', code, lasting },
  code,
});

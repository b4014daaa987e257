import { truncateSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { copyTree } from './copy-tree.ts';
import { type Call, type Copies, type Fault, isChange, type Plan } from './plan.ts';

/** What is to happen to a call. */
export type Verdict =
  | 'pass'
  | 'short'
  | 'torn'
  | { readonly error: Error; readonly done: boolean }
  /** A write is done in two halves, with this between them. */
  | { readonly between: () => void };

/** Counts calls against a plan, and decides what happens to each. */
export class Strike {
  readonly calls: Call[] = [];
  readonly #plan: Plan;
  /** Paths of new files that were written and are not known to be on the disk. */
  readonly #unsynced = new Set<string>();
  /** Of these, what was there before comes back, and that is the state before the write. */
  readonly #reopened = new Set<string>();
  fired = false;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  concerns(call: Call): boolean {
    if ((this.#plan.watch === 'changes') !== isChange(call)) return false;
    return call.kind === 'print' || call.kind === 'exit' || this.isInside(call.path);
  }

  isInside(path: string): boolean {
    return path === this.#plan.root || path.startsWith(`${this.#plan.root}/`);
  }

  /** Ends the process here when the plan says so. */
  judge(call: Call): Verdict {
    if (!this.concerns(call)) return 'pass';
    this.calls.push(call);
    const { at, fault, copies } = this.#plan;
    if (copies !== undefined) return this.#copyAt(copies, call);
    if (at === undefined || fault === undefined) return 'pass';
    if (this.calls.length === at) {
      this.fired = true;
      if (fault.kind === 'kill' && fault.losesData === true) this.#loseData();
      return verdictOf(fault, call);
    }
    this.#follow(call);
    if (fault.kind === 'stop' && fault.then?.includes(this.calls.length) === true)
      return verdictOf(fault, call);
    const isLasting = fault.kind === 'failure' && fault.lasting?.includes(call.kind) === true;
    return this.calls.length > at && isLasting ? verdictOf(fault, call) : 'pass';
  }

  /** Copies what kills at this call would leave. */
  #copyAt({ moments, into }: Copies, call: Call): Verdict {
    let within: string | undefined;
    for (const [number, { at, fault }] of moments.entries()) {
      if (at !== this.calls.length) continue;
      const copy = join(into, String(number));
      if (fault.torn === true && call.kind === 'write') within = copy;
      else {
        copyTree(this.#plan.root, copy);
        if (fault.losesData === true) this.#loseData(copy);
      }
    }
    this.#follow(call);
    if (within === undefined) return 'pass';
    const copy = within;
    return { between: () => copyTree(this.#plan.root, copy) };
  }

  #follow({ kind, path, to }: Call): void {
    if (kind === 'reopen') this.#reopened.add(path);
    if (kind === 'write' && !this.#reopened.has(path)) this.#unsynced.add(path);
    if (kind === 'sync' || kind === 'unlink') this.#unsynced.delete(path);
    if (kind !== 'rename' || to === undefined) return;
    this.#unsynced.delete(to);
    for (const file of this.#unsynced) {
      if (file !== path && !file.startsWith(`${path}/`)) continue;
      this.#unsynced.delete(file);
      this.#unsynced.add(to + file.slice(path.length));
    }
  }

  /** @param inside where it happens, if it is to a copy. */
  #loseData(inside = this.#plan.root): void {
    for (const path of this.#unsynced) truncateSync(inside + path.slice(this.#plan.root.length));
  }
}

function verdictOf(fault: Fault, call: Call): Verdict {
  if (fault.kind === 'short') return 'short';
  if (fault.kind === 'stop') {
    process.kill(process.pid, 'SIGSTOP');
    return 'pass';
  }
  if (fault.kind === 'failure') return { error: systemError(fault.code, call), done: fault.done === true };
  // A thread may be quicker than in the run that counted the calls: then this one may be another one, and no write.
  return fault.torn === true && call.kind === 'write' ? 'torn' : die();
}

/** As if the machine's owner had pulled the process out: nothing of it runs after this. */
export function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still alive after SIGKILL');
}

/** An error as Node makes it of a failed system call. */
function systemError(code: string, call: Call): Error {
  const number = (constants.errno as Readonly<Record<string, number>>)[code];
  if (number === undefined) throw new Error(`there is no error ${code} on this platform`);
  const message = `${code}: ${getSystemErrorMessage(-number)}, ${call.kind} '${call.path}'`;
  return Object.assign(new Error(message), { code, errno: -number, syscall: call.kind, path: call.path });
}

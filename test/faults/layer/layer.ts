import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Call, Plan } from './plan.ts';
import { die, Strike, type Verdict } from './strike.ts';

type AnyFunction = (this: unknown, ...parameters: unknown[]) => unknown;
type Table = Record<string, AnyFunction>;
/** How a call looks, from its parameters; undefined when it is none of ours. */
export type Describe = (parameters: readonly unknown[]) => Call | undefined;

const table = fs as unknown as Table;
const promised = fs.promises as unknown as Table;
/** Node's own functions, for whoever must not be struck. */
export const original: Readonly<Table> = { ...table };
const originalPromised: Readonly<Table> = { ...promised };

/** Paths by descriptor, of what was opened since the layer was installed. */
const opened = new Map<number, string>();
let strike: Strike | undefined;
let observer: Observer | undefined;
let installed = false;

/**
 * Told of each call that has worked, in the order in which they did: its name without "Sync", its parameters, its result. With an
 * observer nothing is left to the thread pool, so that the same program makes the same calls in the same order.
 */
export interface Observer {
  done(name: string, parameters: readonly unknown[], result: unknown): void;
  /** A call whose end is told to a callback has begun. */
  begun(name: string, parameters: readonly unknown[]): void;
  /** A call whose end is told to a callback has failed, as the plan says. */
  failed?(name: string, parameters: readonly unknown[]): void;
}

/** Begins to count, and to strike. */
export function arm(plan: Plan, watcher?: Observer): void {
  if (!installed) throw new Error('the fault layer is not installed');
  strike = new Strike(plan);
  observer = watcher;
}

/** Ends it, and tells which calls were seen. */
export function disarm(): Strike {
  if (strike === undefined) throw new Error('the fault layer is not armed');
  const result = strike;
  strike = undefined;
  observer = undefined;
  return result;
}

/** For what is no function of node:fs, such as the end of the process. */
export const judge = (call: Call): Verdict => strike?.judge(call) ?? 'pass';

/** Puts the layer between the program and node:fs, for this process. */
export function install(wrap: (layer: Wrapping) => void): void {
  if (installed) return;
  installed = true;
  wrap(wrapping);
  syncBuiltinESMExports();
}

export const pathOf = (target: unknown): string =>
  typeof target === 'number' ? (opened.get(target) ?? `descriptor ${target}`) : String(target);

export const isWatched = (target: unknown): boolean => strike?.isInside(pathOf(target)) === true;

/** Names of all functions that the layer stands before. */
export const known = new Set<string>();

export type Wrapping = typeof wrapping;

/** The parameters of the parts of a write. */
export interface Halves {
  first(parameters: readonly unknown[]): unknown[];
  /** @param done how many bytes the first has written. */
  second(parameters: readonly unknown[], done: number): unknown[];
}

const wrapping = {
  /** A function that returns its result or throws. `halves` does a write by half. */
  sync(name: string, describe: Describe, halves?: Halves): void {
    known.add(name);
    const real = original[name] as AnyFunction;
    table[name] = function (...parameters) {
      const verdict = verdictOn(describe, parameters);
      if (verdict === 'pass') return remember(name, parameters, real.apply(this, parameters));
      if (typeof verdict === 'object') {
        if ('between' in verdict)
          return remember(name, parameters, inHalves(real, parameters, halves, verdict.between));
        if (verdict.done) real.apply(this, parameters);
        throw verdict.error;
      }
      const result = real.apply(this, halved(halves, parameters));
      return verdict === 'torn' ? die() : result;
    };
  },

  /** A function whose last parameter is told the outcome. */
  callback(name: string, describe: Describe, halves?: Halves): void {
    known.add(name);
    const real = original[name] as AnyFunction;
    table[name] = function (...parameters) {
      const verdict = verdictOn(describe, parameters);
      if (verdict === 'pass') {
        return observer === undefined ? real.apply(this, parameters) : inTurn(name, parameters, observer);
      }
      const tell = parameters.at(-1) as AnyFunction;
      const others = parameters.slice(0, -1);
      if (typeof verdict === 'object') {
        if ('between' in verdict) {
          if (observer === undefined) throw new Error('copies are made where all is done in turn');
          return inTurn(name, parameters, observer, (real, others) =>
            inHalves(real, others, halves, verdict.between),
          );
        }
        const fail = (): unknown => tell(verdict.error);
        observer?.failed?.(name, others);
        return verdict.done ? real.apply(this, [...others, fail]) : process.nextTick(fail);
      }
      const end = verdict === 'torn' ? die : tell;
      return real.apply(this, [...halved(halves, others), end]);
    };
  },

  /** A function of node:fs/promises. */
  promise(name: string, describe: Describe): void {
    known.add(name);
    const real = originalPromised[name] as AnyFunction;
    const plain = guarded(real, describe);
    promised[name] = async function (...parameters) {
      const result = await plain.apply(this, parameters);
      observer?.done(name, parameters, result);
      return result;
    };
  },

  /** Puts something of our own in the place of a function, e.g. one that takes it apart into single calls. */
  replace(name: string, by: AnyFunction): void {
    known.add(name);
    const real = original[name] as AnyFunction;
    table[name] = function (...parameters) {
      return isWatched(parameters[0]) ? by.apply(this, parameters) : real.apply(this, parameters);
    };
  },

  replacePromised(name: string, by: AnyFunction): void {
    known.add(name);
    const real = originalPromised[name] as AnyFunction;
    promised[name] = async function (...parameters) {
      return isWatched(parameters[0]) ? by.apply(this, parameters) : real.apply(this, parameters);
    };
  },

  /** `existsSync` tells no error: a place that can't be looked at does not exist for it. */
  question(name: string, describe: Describe): void {
    known.add(name);
    const real = original[name] as AnyFunction;
    table[name] = function (...parameters) {
      const verdict = verdictOn(describe, parameters);
      return verdict === 'pass' ? real.apply(this, parameters) : false;
    };
  },

  /** A function that gives a file handle; the methods of the handle are guarded, too. */
  handle(name: string, describe: Describe, methods: Readonly<Record<string, (path: string) => Call>>): void {
    known.add(name);
    const real = guarded(originalPromised[name] as AnyFunction, describe);
    promised[name] = async function (...parameters) {
      const handle = (await real.apply(this, parameters)) as Table;
      const path = pathOf(parameters[0]);
      const fd = Number(handle['fd']);
      opened.set(fd, path);
      observer?.done(name, parameters, fd);
      for (const [method, call] of Object.entries(methods)) {
        const plain = guarded(
          (handle[method] as AnyFunction).bind(handle),
          () => call(path),
          halvesOfHandleWrite,
        );
        handle[method] = async (...rest) => {
          const like = HANDLED[method] ?? method;
          observer?.begun(like, [fd, ...rest]);
          const result = await plain(...rest);
          const count = (result as { bytesWritten?: number } | undefined)?.bytesWritten;
          observer?.done(like, [fd, ...rest], count ?? result);
          return result;
        };
      }
      // Node would write on by itself after a short write, out of our sight.
      handle['writeFile'] = async (bytes) => {
        for (let done = 0; done < (bytes as Uint8Array).length; ) {
          const written = (await handle['write']?.(bytes, done)) as { bytesWritten: number } | undefined;
          done += written?.bytesWritten ?? 0;
        }
      };
      return handle;
    };
  },

  /** Remembers nothing of a descriptor that is closed. */
  closing(name: string): void {
    known.add(name);
    const real = original[name] as AnyFunction;
    table[name] = function (...parameters) {
      opened.delete(Number(parameters[0]));
      return real.apply(this, parameters);
    };
  },
};

/** The functions on descriptors that do what methods of handles do. */
const HANDLED: Readonly<Record<string, string>> = {
  sync: 'fsync',
  datasync: 'fdatasync',
  truncate: 'ftruncate',
};

function guarded(real: AnyFunction, describe: Describe, halves?: Halves): AnyFunction {
  return async function (this: unknown, ...parameters: unknown[]) {
    const verdict = verdictOn(describe, parameters);
    if (verdict === 'pass') return real.apply(this, parameters);
    if (typeof verdict === 'object') {
      if ('between' in verdict) {
        const first = (await real.apply(this, halved(halves, parameters))) as { bytesWritten: number };
        verdict.between();
        const rest = halves?.second(parameters, first.bytesWritten) ?? [];
        const second = (await real.apply(this, rest)) as { bytesWritten: number };
        return { ...second, bytesWritten: first.bytesWritten + second.bytesWritten };
      }
      if (verdict.done) await real.apply(this, parameters);
      throw verdict.error;
    }
    const result = await real.apply(this, halved(halves, parameters));
    return verdict === 'torn' ? die() : result;
  };
}

function verdictOn(describe: Describe, parameters: readonly unknown[]): Verdict {
  if (strike === undefined) return 'pass';
  const call = describe(parameters);
  return call === undefined ? 'pass' : judge(call);
}

function halved(halves: Halves | undefined, parameters: readonly unknown[]): unknown[] {
  if (halves === undefined) throw new Error('only a write can be done by half');
  return halves.first(parameters);
}

/** Writes the first half, and the second after what is between them. @returns how much was written. */
function inHalves(
  real: AnyFunction,
  parameters: readonly unknown[],
  halves: Halves | undefined,
  between: () => void,
): number {
  const first = Number(real(...halved(halves, parameters)));
  between();
  return first + Number(real(...(halves?.second(parameters, first) ?? [])));
}

const halvesOfHandleWrite: Halves = {
  first([bytes, offset = 0, ...rest]) {
    if (!(bytes instanceof Uint8Array) || rest.length > 0) throw new Error('a write of an unknown form');
    return [bytes, offset, Math.ceil((bytes.length - Number(offset)) / 2)];
  },
  second: ([bytes, offset = 0], done) => [bytes, Number(offset) + done],
};

function remember(name: string, parameters: readonly unknown[], result: unknown): unknown {
  if (name === 'openSync') opened.set(Number(result), String(parameters[0]));
  observer?.done(name.replace(/Sync$/, ''), parameters, result);
  return result;
}

/** Does at once what the thread pool would have done some time, and tells it when its turn comes. */
function inTurn(
  name: string,
  parameters: readonly unknown[],
  watcher: Observer,
  perform: (real: AnyFunction, parameters: readonly unknown[]) => unknown = (real, all) => real(...all),
): void {
  const tell = parameters.at(-1) as AnyFunction;
  const others = parameters.slice(0, -1);
  watcher.begun(name, others);
  let result: unknown;
  try {
    result = perform(original[`${name}Sync`] as AnyFunction, others);
  } catch (error) {
    setImmediate(tell, error);
    return;
  }
  setImmediate(() => {
    watcher.done(name, others, result);
    tell(null, result, others[1]);
  });
}

import { expect } from 'vitest';
import { openCore } from '../../../src/operations/core.ts';
import {
  type Caller,
  type Operation,
  type Outcome,
  owner,
} from '../../../src/operations/declaration/operation.ts';
import { loadOperation, run } from '../../../src/operations/runner.ts';
import type { Dialect, Engine } from '../../../src/transit/engine.ts';
import { goBackup, goDocument, type Members } from '../../reference/go-backup.ts';
import { memoryStore } from '../../store/memory-store.ts';

export type Raw = Readonly<Record<string, unknown>>;

/** 2026-03-01T08:00:00Z */
export const NOW_MS = 1_772_352_000_000;

/** The transit operations over a store of their own, run on raw values as every edge runs them. */
export interface Operations {
  /** @param words place in the catalogue below `transit`, e.g. `keys create`. */
  outcome(words: string, raw?: Raw, caller?: Caller): Promise<Outcome<unknown>>;
  /** The `data` of the answer. */
  ask(words: string, raw?: Raw): Promise<unknown>;
  /** One text member of the `data`. */
  text(words: string, raw: Raw, member: string): Promise<string>;
  /** Brings a key with these versions in, as another program's backup holds it. */
  restore(name: string, versions: readonly Members[], policy?: Members): Promise<void>;
  /** Lets time pass. */
  wait(milliseconds: number): void;
  /** The engine that they run on. */
  readonly engine: Engine;
}

export async function freshOperations(dialect: Dialect = 'service'): Promise<Operations> {
  let now = NOW_MS;
  const clock = { now: () => now };
  const core = openCore(await memoryStore({ clock }), { clock, dialect });

  async function outcome(words: string, raw: Raw = {}, caller = owner): Promise<Outcome<unknown>> {
    return run({ core, caller, mount: 'transit' }, await declarationOf(words), raw);
  }

  const ask = async (words: string, raw: Raw = {}): Promise<unknown> => (await outcome(words, raw)).data;

  return {
    outcome,
    ask,
    async text(words, raw, member) {
      const value = ((await ask(words, raw)) as Raw)[member];
      return typeof value === 'string' ? value : expect.fail(`${words} answered no ${member}`);
    },
    async restore(name, versions, policy) {
      await ask('restore', { name, backup: goBackup(goDocument(versions, policy)) });
    },
    wait(milliseconds) {
      now += milliseconds;
    },
    engine: await core.engine('transit'),
  };
}

/** @param words place in the catalogue below `transit`. */
export const declarationOf = (words: string): Promise<Operation> => loadOperation(`transit ${words}`);

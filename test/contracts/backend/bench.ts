import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Backend, Blob, BlobRef, Change, InitialContent } from '../../../src/store/backends/backend.ts';
import type { BackendOptions, CreateOptions, Located } from '../../../src/store/backends/backend-kind.ts';
import { type Child, startChild } from '../../store/processes/started.ts';
import { type Ability, able, type BackendSubject } from './subject.ts';

/** One case of the contract. */
export interface BackendCase {
  /** Sentence whose subject is the backend. */
  readonly title: string;
  /** Ability that only some backends have. */
  readonly needs?: Ability;
  /** Fails if the backend does not fulfil the case. */
  check(bench: Bench): Promise<void>;
}

export const slot: BlobRef = { area: 'slots', name: '0011223344556677' };
export const first: BlobRef = { area: 'documents', name: 'aa' };
export const second: BlobRef = { area: 'documents', name: 'bb' };
export const third: BlobRef = { area: 'documents', name: 'cc' };

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const put = (ref: BlobRef, text: string): Blob => ({ ref, bytes: bytes(text) });
export const remove = (ref: BlobRef): Change => ({ ref, bytes: undefined });

export async function* stream(...blobs: Blob[]): AsyncGenerator<Blob> {
  yield* blobs;
}

/** Returns the initial content of every store in these tests: one slot, and one document with the text "one". */
export const content = (...blobs: Blob[]): InitialContent => ({
  header: bytes('header'),
  version: { generation: 3, revision: 7 },
  blobs: stream(...(blobs.length > 0 ? blobs : [put(slot, 'slot'), put(first, 'one')])),
});

/** Yields blobs, and fails before the end. */
export async function* cutShort(): AsyncGenerator<Blob> {
  yield put(second, 'two');
  throw new Error('on purpose');
}

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/** Store of the tested kind for one case, with the handles and processes that use it. */
export class Bench {
  readonly subject: BackendSubject;
  readonly location: Located;
  readonly #endings: (() => unknown)[] = [];

  private constructor(subject: BackendSubject) {
    this.subject = subject;
    this.location = subject.location();
  }

  /** Runs a check on a store of its own, and cleans up afterwards. */
  static async run(subject: BackendSubject, { check }: Pick<BackendCase, 'check'>): Promise<void> {
    const bench = new Bench(subject);
    try {
      await check(bench);
    } finally {
      for (const end of bench.#endings.toReversed()) await end();
    }
  }

  /** Creates the store, and opens it. */
  async make(initial = content()): Promise<Backend> {
    await this.create(initial);
    return this.open();
  }

  create(initial: InitialContent, options: CreateOptions = {}): Promise<void> {
    return this.subject.kind.create(this.location, initial, options);
  }

  /** Opens another handle. */
  async open(options: BackendOptions = {}): Promise<Backend> {
    const backend = await this.subject.kind.open(this.location, options);
    this.#endings.push(() => backend.close());
    return backend;
  }

  /** Starts another process with one of the tasks of `child.ts`, which is killed at the end if it is still running. */
  start(work: string, ...parameters: readonly (string | number)[]): Child {
    const { module, name } = able(this.subject, 'exported');
    const child = startChild([
      CHILD,
      module,
      name,
      JSON.stringify(this.location),
      work,
      ...parameters.map(String),
    ]);
    this.#endings.push(async () => {
      child.process.kill('SIGKILL');
      await child.ended;
    });
    return child;
  }

  /** Runs a process whose task ends by killing itself. */
  async die(work: string, ...parameters: readonly (string | number)[]): Promise<void> {
    expect(await this.start(work, ...parameters).ended).toBe('SIGKILL');
  }

  /**
   * Returns the result of the work.
   * @throws if it takes so long that it is considered endless
   */
  async inTime<T>(work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const { patienceMs } = this.subject;
    const alarm = setTimeout(() => late.reject(new Error(`not done after ${patienceMs} ms`)), patienceMs);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      clearTimeout(alarm);
    }
  }
}

/** Reads a blob of the present generation as text. */
export async function text(backend: Backend, ref: BlobRef): Promise<string | undefined> {
  const { generation } = await backend.state();
  const found = await backend.read(generation, ref);
  return found === undefined ? undefined : Buffer.from(found).toString();
}

/** Returns the names of an area in the present generation, sorted. */
export const names = async (backend: Backend, area: BlobRef['area']): Promise<string[]> =>
  (await backend.names((await backend.state()).generation, area)).sort();

/** Reads all documents as texts, by name. */
export async function documents(backend: Backend): Promise<Readonly<Record<string, string | undefined>>> {
  const found: Record<string, string | undefined> = {};
  for (const name of await names(backend, 'documents')) {
    found[name] = await text(backend, { area: 'documents', name });
  }
  return found;
}

/** Commits in a session of its own. */
export const commit = (backend: Backend, ...changes: readonly Change[]): Promise<unknown> =>
  backend.exclusive((session) => session.commit(changes));

/** Checks that a store is as created, and that a writer can continue from there. */
export async function expectUntouched(bench: Bench): Promise<void> {
  const backend = await bench.open();
  await backend.exclusive(async ({ version }) => expect(version).toEqual({ generation: 3, revision: 7 }));
  expect(await backend.state()).toEqual({ generation: 3, revision: 7 });
  expect(await documents(backend)).toEqual({ [first.name]: 'one' });
  expect(await names(backend, 'slots')).toEqual([slot.name]);
  expect(await backend.strays()).toEqual([]);
  await commit(backend, put(second, 'two'));
  expect(await documents(await bench.open())).toEqual({ [first.name]: 'one', [second.name]: 'two' });
}

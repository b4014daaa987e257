import type {
  Backend,
  Change,
  CommitOptions,
  Version,
  WriteSession,
} from '../../src/store/backends/backend.ts';

/** What becomes of a commit: it is called in its stead, and may make it or not. */
export type AroundCommit = (commit: () => Promise<Version>, changes: readonly Change[]) => Promise<Version>;

/** A backend whose commits wait, fail or are cut short as a test wants it. */
export function withCommits(backend: Backend, around: AroundCommit): Backend {
  const session = (real: WriteSession): WriteSession =>
    replacing(real, {
      commit: (changes: readonly Change[], options?: CommitOptions) =>
        around(() => real.commit(changes, options), changes),
    });
  return replacing(backend, {
    exclusive: <T>(work: (given: WriteSession) => Promise<T>) =>
      backend.exclusive((real) => work(session(real))),
  });
}

/** The same object with some methods of one's own. */
export function replacing<T extends object>(object: T, own: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      const found: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { elapsedMs } from '../../ground/clock.ts';
import { asCofferError, placed, unavailable } from '../../ground/errors.ts';
import { turn as othersTurn } from '../../ground/pause.ts';
import { DraftTransaction } from '../draft.ts';
import type { Transaction, TransactOptions } from '../store.ts';
import type { TurnChanges } from './turn-changes.ts';

/** Changes of one turn; the others wait for the next turn. */
const MOST_AT_ONCE = 64;
/** A turn starts no more changes after this time, so that those already in it are not delayed by others. */
const LONGEST_DRAFTING_MS = 20;
/**
 * Passes of the event loop before a turn that follows another one. Callers who have just been answered often make their
 * next change at once; if others are waiting, all of them share one turn this way, instead of taking turns in two halves.
 */
const PASSES_BETWEEN = 4;
/** A change of more documents, or of more characters of JSON, gets a commit of its own. */
const MOST_SHARED_DOCUMENTS = 256;
const MOST_SHARED_CHARACTERS = 1024 * 1024;

type ChangeFunction<T> = (tx: Transaction) => T | Promise<T>;

/** Write session of the backend for one turn. */
export interface TurnSession {
  /** Starts from the store as it is now, including what this session has committed. */
  begin(): Promise<TurnChanges>;
  /**
   * Commits.
   * @param isLast whether this is the last commit of the session
   */
  commit(changes: TurnChanges, isLast: boolean): Promise<void>;
}

/** Runs `work` in a write session; fails without running it if no session is available. */
type Exclusive = (work: (session: TurnSession) => Promise<void>) => Promise<void>;

/**
 * Runs the changes of a process in turns. A turn runs the waiting changes one after the other and commits them once,
 * because a commit costs about the same for many changes as for one. Each change sees those before it; one that fails
 * leaves nothing behind and does not affect the others. A change that comes alone waits for no other; one that waits,
 * waits for the commit in progress and its own.
 * @see docs/decisions/0304
 */
export class Turns {
  readonly #exclusive: Exclusive;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(exclusive: Exclusive) {
    this.#exclusive = exclusive;
  }

  /** Runs a change, like `Store.transact`. */
  transact<T>(change: ChangeFunction<T>, { alone = false }: TransactOptions = {}): Promise<T> {
    if (runningIn.getStore()?.of === this) {
      return Promise.reject(new Error('two changes of a store wait for each other'));
    }
    const waiting = new Waiting(this, change, alone);
    this.#waiting.push(waiting);
    if (!this.#isRunning) void this.#work();
    return waiting.promise as Promise<T>;
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await this.#turn();
      for (let pass = 0; pass < PASSES_BETWEEN && this.#waiting.length > 0; pass++) await othersTurn();
    }
    this.#isRunning = false;
  }

  async #turn(): Promise<void> {
    const turn = new Turn(this.#waiting);
    try {
      await this.#exclusive((session) => turn.run(session));
      turn.settle();
    } catch (error) {
      // No write session was available in time; changes that arrived meanwhile would otherwise wait for up to twice
      // that time.
      if (!turn.hasBegun) for (const one of this.#waiting.splice(0)) one.reject(error);
      else turn.fail(error);
    }
  }
}

/** Changes that run in one turn. */
class Turn {
  readonly #waiting: Waiting[];
  readonly #taken: Waiting[] = [];
  /** Number of changes, from the first, that are already durable. */
  #durable = 0;

  /** @param waiting all waiting changes; the turn removes those that it runs */
  constructor(waiting: Waiting[]) {
    this.#waiting = waiting;
  }

  get hasBegun(): boolean {
    return this.#taken.length > 0;
  }

  async run(session: TurnSession): Promise<void> {
    // A change never runs twice, because it may have side effects.
    if (this.hasBegun) throw new Error('a turn was begun twice');
    let changes = await session.begin();
    const start = elapsedMs();
    for (;;) {
      const one = this.#next(elapsedMs() - start);
      if (one === undefined) break;
      const draft = await one.draft(changes);
      if (draft === undefined) continue;
      const isLarge = draft.size > MOST_SHARED_DOCUMENTS || draft.characters > MOST_SHARED_CHARACTERS;
      if (isLarge && changes.isChanged) {
        await session.commit(changes, false);
        this.#durable = this.#taken.length - 1;
        changes = await session.begin();
      }
      await one.take(draft, changes);
      if (isLarge) break;
    }
    await session.commit(changes, true);
  }

  /**
   * Returns the next change to run; undefined if the turn is full. Changes that arrive while others run are included.
   */
  #next(draftedMs: number): Waiting | undefined {
    const [next] = this.#waiting;
    const [first] = this.#taken;
    if (next === undefined) return undefined;
    if (first !== undefined) {
      if (first.isAlone || next.isAlone) return undefined;
      if (this.#taken.length >= MOST_AT_ONCE || draftedMs > LONGEST_DRAFTING_MS) return undefined;
    }
    this.#waiting.shift();
    this.#taken.push(next);
    return next;
  }

  /** Called when everything is durable. */
  settle(): void {
    for (const one of this.#taken) one.settle();
  }

  /** Called if the commit of the changes that are not yet durable failed, or its outcome is unknown. */
  fail(error: unknown): void {
    for (const [index, one] of this.#taken.entries()) {
      if (index < this.#durable) one.settle();
      else one.fail(error);
    }
  }
}

/** Outcome of a change. */
type Outcome =
  /** It threw. `isOwn`: it did not see other changes, so the error is final, even if those changes fail. */
  | { readonly kind: 'refused'; readonly error: unknown; readonly isOwn: boolean }
  | { readonly kind: 'unchanged'; readonly result: unknown }
  | { readonly kind: 'changed'; readonly result: unknown };

/** Waiting change, and the promise of its caller. */
class Waiting {
  readonly isAlone: boolean;
  readonly promise: Promise<unknown>;
  readonly reject: (error: unknown) => void;
  readonly #resolve: (result: unknown) => void;
  readonly #of: Turns;
  readonly #change: ChangeFunction<unknown>;
  #outcome: Outcome = { kind: 'unchanged', result: undefined };

  constructor(of: Turns, change: ChangeFunction<unknown>, isAlone: boolean) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.promise = promise;
    this.#resolve = resolve;
    this.reject = reject;
    this.#of = of;
    this.#change = change;
    this.isAlone = isAlone;
  }

  /**
   * Runs the change on top of those before it.
   * @returns undefined if it put and deleted nothing
   */
  async draft(before: TurnChanges): Promise<DraftTransaction | undefined> {
    const draft = new DraftTransaction(before);
    const running: Running = { of: this.#of };
    try {
      const result = await runningIn.run(running, () => this.#change(draft));
      this.#outcome = { kind: 'unchanged', result };
      return draft.isChanged ? draft : undefined;
    } catch (error) {
      this.#refused(error, before);
      return undefined;
    } finally {
      draft.end();
      running.of = undefined;
    }
  }

  /** Adds the puts and deletions of the change to the turn. */
  async take(draft: DraftTransaction, changes: TurnChanges): Promise<void> {
    if (this.#outcome.kind !== 'unchanged') return;
    try {
      await changes.take(draft);
      this.#outcome = { kind: 'changed', result: this.#outcome.result };
    } catch (error) {
      this.#refused(error, changes);
    }
  }

  #refused(error: unknown, before: TurnChanges): void {
    this.#outcome = { kind: 'refused', error, isOwn: !before.isChanged };
  }

  settle(): void {
    if (this.#outcome.kind === 'refused') this.reject(this.#outcome.error);
    else this.#resolve(this.#outcome.result);
  }

  /**
   * Rejects the change.
   * @param error cause of the failed commit
   */
  fail(error: unknown): void {
    const outcome = this.#outcome;
    if (outcome.kind === 'changed') this.reject(error);
    else this.reject(outcome.kind === 'refused' && outcome.isOwn ? outcome.error : withoutChange(error));
  }
}

/**
 * Returns the error for a change that put nothing, but may have seen uncommitted changes of others: retrying is right,
 * whatever happened to those.
 */
function withoutChange(error: unknown): unknown {
  const known = asCofferError(error);
  if (known?.kind !== 'unconfirmed') return error;
  const { texts } = asCofferError(known.cause) ?? known;
  return unavailable(placed`nothing was changed: ${texts.message}`, { cause: error, hint: 'try again' });
}

interface Running {
  /** Turns of the store; undefined once the change has ended, even if it left something running. */
  of: Turns | undefined;
}

/**
 * Change that the current code runs in. A change that waited for another of the same store would wait forever, and
 * block all others.
 */
const runningIn = new AsyncLocalStorage<Running>();

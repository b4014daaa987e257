import { setTimeout as sleep } from 'node:timers/promises';
import { compareWithLastSeen } from '../../src/cli/last-seen.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { openWithKey } from '../store/temporary-store.ts';

/** A command on a store, as far as it compares what it sees with what was seen before. */
export class SeeingCommand {
  readonly warnings: string[] = [];
  readonly store: SealedStore;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #endings: (() => void)[] = [];

  private constructor(store: SealedStore, home: string) {
    this.store = store;
    this.#environment = { HOME: home };
  }

  /** Opens the store, which is its first look. */
  static async on(location: string, home: string): Promise<SeeingCommand> {
    return new SeeingCommand(await openWithKey(location), home);
  }

  async compare(): Promise<void> {
    await compareWithLastSeen(
      {
        environment: this.#environment,
        warn: (text) => void this.warnings.push(text),
        atEnd: (ending) => void this.#endings.push(ending),
      },
      this.store,
    );
  }

  change(): Promise<void> {
    return this.store.transact((tx) =>
      tx.put({ collection: 'things', id: 'one' }, { at: performance.now() }),
    );
  }

  end(): void {
    for (const ending of this.#endings) ending();
    this.store.close();
  }

  /**
   * A whole one, from its first look to its end.
   * @param delayMs how long the machine has other things to do after the look.
   * @returns what it warned of.
   */
  static async run(location: string, home: string, changes = 1, delayMs = 0): Promise<readonly string[]> {
    const command = await SeeingCommand.on(location, home);
    try {
      if (delayMs > 0) await sleep(delayMs);
      await command.compare();
      for (let i = 0; i < changes; i++) await command.change();
      return command.warnings;
    } finally {
      command.end();
    }
  }
}

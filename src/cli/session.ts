import { invalid } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import type { Environment, OptionValue } from './given.ts';
import { resolveSettings, type Settings } from './settings.ts';
import type { Prompts } from './terminal/prompt.ts';
import type { Streams } from './terminal/streams.ts';
import { visible } from './terminal/visible.ts';

/** What a command works with: streams, settings, the person at the terminal, and the place where operations run. */
export class Session {
  readonly streams: Streams;
  readonly environment: Environment;
  readonly settings: Settings;
  readonly prompts: Prompts;
  readonly #everywhere: ReadonlyMap<string, OptionValue>;
  readonly #open: (session: Session) => Promise<Runner>;
  #runner: Promise<Runner> | undefined;
  readonly #endings: (() => void)[] = [];

  /** @param open opens the place where operations run, when it is first needed. */
  constructor(
    streams: Streams,
    environment: Environment,
    everywhere: ReadonlyMap<string, OptionValue>,
    prompts: Prompts,
    open: (session: Session) => Promise<Runner>,
  ) {
    this.streams = streams;
    this.environment = environment;
    this.settings = resolveSettings(everywhere, environment);
    // With --no-prompt nothing is asked anywhere. Standard input from /dev/null does not say so: ssh and xargs put it there.
    this.prompts = this.settings.mayAsk ? prompts : { ...prompts, available: () => false };
    this.#everywhere = everywhere;
    this.#open = open;
  }

  /** Colour on standard output. */
  get colour(): boolean {
    return this.settings.colourAllowed && this.streams.out.isTerminal;
  }

  /** Tells the person something that is not a result; names in it may come from anywhere. */
  say(line: string): void {
    if (!this.settings.quiet) this.streams.err.write(`${visible(line)}\n`);
  }

  /** As `say`, but only where somebody is watching: what a script has no use for. */
  remark(line: string): void {
    if (this.streams.err.isTerminal) this.say(line);
  }

  /** An error that does not end the command by itself. */
  fail(text: string): void {
    this.streams.err.write(`coffer: ${visible(text)}\n`);
  }

  warn(text: string): void {
    this.say(`coffer: warning: ${text}`);
  }

  /** @throws `invalid` when a server is named: for commands that work on a store itself. */
  refuseRemote(): void {
    if (this.settings.address === undefined) return;
    throw invalid('this works on a local store only', {
      hint: 'run it where the store is, without --address and COFFER_ADDR',
    });
  }

  /**
   * Checks, before anything is read or unlocked, that a consent can be had.
   * @throws `invalid` when nobody can be asked and `--yes` was not said.
   */
  requireConsent(): void {
    if (this.settings.yes || this.prompts.available()) return;
    throw invalid("this can't be undone, and there is nobody to ask", { hint: 'say --yes to do it' });
  }

  /** Asks, unless `--yes` was said. Tells it when the answer is no. */
  async confirmed(question: () => Promise<string>): Promise<boolean> {
    if (this.settings.yes) return true;
    const yes = await this.prompts.confirm(await question());
    if (!yes) this.say('Nothing was changed.');
    return yes;
  }

  /** The local store, unlocked when it is first needed, or the server that the settings name. */
  runner(): Promise<Runner> {
    this.#runner ??= this.#open(this);
    return this.#runner;
  }

  /** Another one, in which nothing is said and nobody is asked, neither by us nor by a command that may ask for a secret. */
  quietly(): Session {
    return new Session(
      this.streams,
      { ...this.environment, COFFER_MASTER_KEY_COMMAND: undefined },
      new Map([...this.#everywhere, ['quiet', true]]),
      { ...this.prompts, available: () => false },
      this.#open,
    );
  }

  /** Another one, in which somebody else asks. Whoever has it closes it. */
  askedThrough(prompts: Prompts): Session {
    return new Session(this.streams, this.environment, this.#everywhere, prompts, this.#open);
  }

  /** The same with other variables. */
  withVariables(more: Environment): Session {
    return new Session(
      this.streams,
      { ...this.environment, ...more },
      this.#everywhere,
      this.prompts,
      this.#open,
    );
  }

  /** Has something done when the command is at its end, however it ends. */
  atEnd(work: () => void): void {
    this.#endings.push(work);
  }

  /** Forgets keys and closes connections. */
  async close(): Promise<void> {
    const runner = await this.#runner?.catch(() => undefined);
    runner?.close();
    for (const work of this.#endings) work();
  }
}

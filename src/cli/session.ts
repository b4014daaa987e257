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
  readonly #open: (session: Session) => Promise<Runner>;
  #runner: Promise<Runner> | undefined;

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
    this.prompts = prompts;
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

  /** The local store, unlocked when it is first needed, or the server that the settings name. */
  runner(): Promise<Runner> {
    this.#runner ??= this.#open(this);
    return this.#runner;
  }

  /** Forgets keys and closes connections. */
  async close(): Promise<void> {
    const runner = await this.#runner?.catch(() => undefined);
    runner?.close();
  }
}

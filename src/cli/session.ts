import { invalid } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { type Environment, type Given, type OptionValue, variable } from './given.ts';
import { resolveSettings, type Settings } from './settings.ts';
import { inSamePlace } from './terminal/hint-words.ts';
import { messageLine } from './terminal/message.ts';
import type { Prompts } from './terminal/prompt.ts';
import { shellWord } from './terminal/shell-word.ts';
import type { Streams } from './terminal/streams.ts';
import { visible } from './terminal/visible.ts';

/** Options that determine which objects a command works on. */
const PLACE_OPTIONS = ['store', 'address', 'mount', 'org'] as const;

/** Context of a command: streams, settings, prompts, and the place where operations run. */
export class Session {
  readonly streams: Streams;
  readonly environment: Environment;
  readonly settings: Settings;
  readonly prompts: Prompts;
  readonly #everywhere: ReadonlyMap<string, OptionValue>;
  readonly #open: (session: Session) => Promise<Runner>;
  #runner: Promise<Runner> | undefined;
  readonly #endings: (() => void)[] = [];

  /**
   * Creates a session.
   * @param open opens the place where operations run, on first use
   */
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
    // With --no-prompt, nothing is ever asked. Standard input from /dev/null does not mean that: ssh and xargs set it.
    this.prompts = this.settings.mayAsk ? prompts : { ...prompts, available: () => false };
    this.#everywhere = everywhere;
    this.#open = open;
  }

  /** Whether standard output is coloured. */
  get colour(): boolean {
    return this.settings.colourAllowed && this.streams.out.isTerminal;
  }

  /** Whether the store was named on the command line. */
  get isStoreGiven(): boolean {
    return this.#everywhere.has('store');
  }

  /** Whether the command line has `--token`, which a command without a server does not use. */
  get isTokenGiven(): boolean {
    return this.#everywhere.has('token');
  }

  /** Variable that the address of the server comes from; undefined without a server, or with `--address`. */
  get addressVariable(): string | undefined {
    if (this.settings.address === undefined || this.#everywhere.has('address')) return undefined;
    return ['COFFER_ADDR', 'VAULT_ADDR'].find((name) => variable(this.environment, name) !== undefined);
  }

  /** Returns the options that another command needs to work in the same place, as given on the command line. */
  placeOptions(): readonly string[] {
    return PLACE_OPTIONS.flatMap((flag) => {
      const value = this.#everywhere.get(flag);
      return typeof value === 'string' ? [`--${flag} ${shellWord(value)}`] : [];
    });
  }

  /** Returns a hint whose commands work in the same place. */
  hintHere(hint: string): string {
    return inSamePlace(hint, this.#everywhere);
  }

  /** Prints a message that is not a result. Names in it may be from any source. */
  say(line: string): void {
    if (!this.settings.quiet) this.write(visible(line));
  }

  /** Prints a message and a command to paste, which has a line of its own on a terminal. */
  sayCommand(message: string, command: string): void {
    const { err } = this.streams;
    this.say(err.isTerminal ? message.trimEnd() : `${message} ${command}`);
    if (err.isTerminal && !this.settings.quiet) err.write(`    ${visible(command)}\n`);
  }

  /** Prints a message only on a terminal, since scripts do not need it. */
  remark(line: string): void {
    if (this.streams.err.isTerminal) this.say(line);
  }

  /** Prints an error that does not end the command by itself. */
  fail(text: string): void {
    this.write(`coffer: ${visible(text)}`, 'error');
  }

  /**
   * Prints a line of printable characters on standard error.
   * @param alarm kind of an error or a warning, which is coloured
   */
  write(line: string, alarm?: 'error' | 'warning'): void {
    const { err } = this.streams;
    err.write(messageLine(err, line, this.settings.colourAllowed ? alarm : undefined));
  }

  warn(text: string): void {
    if (!this.settings.quiet) this.write(visible(`coffer: warning: ${text}`), 'warning');
  }

  /**
   * Refuses a server, for commands that work on a local store itself.
   * @throws `invalid` if a server is named
   */
  refuseRemote(): void {
    if (this.settings.address === undefined) return;
    const variables = this.addressVariable;
    const without = variables === undefined ? 'without --address' : `after "unset ${variables}"`;
    throw invalid('only supported for a local store', {
      hint: `run it on the machine with the store, ${without}; --store DIR takes precedence over COFFER_ADDR and VAULT_ADDR`,
    });
  }

  /** Whether a change that cannot be undone is confirmed already, or the user can be asked. */
  get mayChange(): boolean {
    return this.settings.yes || this.prompts.available();
  }

  /**
   * Checks, before anything is read or unlocked, that confirmation is possible.
   * @throws `invalid` if the user cannot be asked and `--yes` is not given
   */
  requireConsent(): void {
    if (this.mayChange) return;
    throw invalid('cannot prompt for confirmation', {
      hint: 'use --yes to skip the confirmation',
    });
  }

  /**
   * Asks for confirmation unless `--yes` is given. Commands in the question work in the same place. Prints a message if
   * the answer is no.
   */
  async confirmed(question: () => Promise<string>): Promise<boolean> {
    if (this.settings.yes) return true;
    const yes = await this.prompts.confirm(this.hintHere(await question()));
    if (!yes) this.say('No changes made.');
    return yes;
  }

  /** Returns the runner of the local store, unlocked on first use, or of the server that the settings name. */
  runner(): Promise<Runner> {
    this.#runner ??= this.#open(this);
    return this.#runner;
  }

  /** Whether the store was opened, or a server connected to, or that was tried. */
  get hasRunner(): boolean {
    return this.#runner !== undefined;
  }

  /** Runner of this session, if it was opened successfully: unlocks and connects to nothing. */
  async openedRunner(): Promise<Runner | undefined> {
    return this.#runner?.catch(() => undefined);
  }

  /**
   * Returns the runner of this session, opened if that is possible without asking: the user, or a command for the
   * secret. What was opened stays open, because some secrets can be read only once.
   * @returns undefined if something would have to be asked, or if it cannot be opened
   */
  async runnerUnasked(): Promise<Runner | undefined> {
    if (this.#runner !== undefined) return this.openedRunner();
    const unasked = this.#neverAsking(this.#everywhere);
    this.atEnd(() => {
      for (const work of unasked.#endings) work();
    });
    const runner = await this.#open(unasked).catch(() => undefined);
    if (runner !== undefined) this.#runner = Promise.resolve(runner);
    return runner;
  }

  /** Returns a session that prints no messages and never asks, neither itself nor through a command for the secret. */
  quietly(): Session {
    return this.#neverAsking(new Map([...this.#everywhere, ['quiet', true]]));
  }

  #neverAsking(everywhere: ReadonlyMap<string, OptionValue>): Session {
    return this.#with({
      environment: { ...this.environment, COFFER_MASTER_KEY_COMMAND: undefined },
      everywhere,
      prompts: { ...this.prompts, available: () => false },
    });
  }

  #with({
    environment = this.environment,
    everywhere = this.#everywhere,
    prompts = this.prompts,
  }: Partial<Pick<Session, 'environment' | 'prompts'>> & { everywhere?: Given['options'] }): Session {
    return new Session(this.streams, environment, everywhere, prompts, this.#open);
  }

  /**
   * Returns a session that prints results in another format.
   * @throws `invalid` if there is no such format
   */
  inFormat(format: string): Session {
    return this.#with({ everywhere: new Map([...this.#everywhere, ['output', format]]) });
  }

  /** Returns a session with other prompts. The caller closes it. */
  askedThrough(prompts: Prompts): Session {
    return this.#with({ prompts });
  }

  /** Returns the same session with other variables. */
  withVariables(more: Environment): Session {
    return this.#with({ environment: { ...this.environment, ...more } });
  }

  /** Registers work for the end of the command, whether it succeeds or fails. */
  atEnd(work: () => void): void {
    this.#endings.push(work);
  }

  /** Clears keys and closes connections. */
  async close(): Promise<void> {
    (await this.openedRunner())?.close();
    for (const work of this.#endings) work();
  }
}

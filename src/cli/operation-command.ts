import { exists, invalid } from '../ground/errors.ts';
import {
  type NewName,
  type Operation,
  type Outcome,
  type Runner,
  resultOf,
} from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { loadOperation } from '../operations/runner.ts';
import type { Command } from './command.ts';
import { Doubts } from './doubts.ts';
import { DONE, FAILED, NOT_VALID } from './exit-codes.ts';
import type { CalledOperation } from './file-as-key.ts';
import { aboutInput, hashedMainInput, mainInput, type TypedInput } from './files/main-input.ts';
import { checkTyped, type RawValues, rawValues, resolved } from './files/operation-values.ts';
import { type OutPlace, outPlaceOf, refuseSameFile } from './files/out-file.ts';
import {
  type Destination,
  formatFor,
  type OutputShape,
  printResult,
  resultBytes,
  sayWritten,
} from './files/output.ts';
import { type Given, textOption } from './given.ts';
import { emptyListOf, warnOfMore } from './listing.ts';
import {
  ALL,
  BASE64,
  BATCH,
  COPY,
  FORCE,
  IF_MISSING,
  IN,
  methodOf,
  mountOfMethod,
  type OperationSpec,
  OUT,
  plainExamples,
  specOf,
} from './parse/operation-spec.ts';
import type { Copier } from './processes/clipboard.ts';
import { clipboardFor } from './processes/clipboard-for.ts';
import type { Session } from './session.ts';
import { foreseen } from './terminal/report.ts';
import { formOf, insteadOf, isInVaultForm } from './vault-commands.ts';

/** Returns the command of an operation, derived completely from its declaration. */
export function commandOf(path: readonly string[], summary: string, operation: Operation): Command {
  const method = methodOf(path, operation);
  const spec = specOf(operation, method);
  return {
    ...spec,
    isVerdict: operation.cli?.holds !== undefined,
    examples: spec.examples.length === 0 ? plainExamples(path, summary, operation) : spec.examples,
    async run(session, given) {
      const raw = rawValues(session, operation, spec, given);
      const instead = insteadOf(operation, raw, given);
      if (instead !== undefined) {
        const other = await loadOperation([...path.slice(0, -1), instead].join(' '));
        return new Execution(session, { path, operation: other, spec: specOf(other, method) }, given).run(
          raw,
        );
      }
      const execution = new Execution(session, { path, operation, spec }, given);
      const each = spec.positional.find((name) => operation.params[name]?.cli.positional === 'each');
      if (each !== undefined && Array.isArray(raw[each])) return execution.runEach(each, raw);
      return aboutInput(operation, textOption(given.options, IN), execution.run(raw));
    },
  };
}

/** One run of one operation. */
class Execution {
  readonly #session: Session;
  readonly #called: CalledOperation;
  readonly #doubts: Doubts;
  /** Mount of the operation, if it is not that of all commands. */
  readonly #mount: string | undefined;
  readonly #operation: Operation;
  readonly #spec: OperationSpec;
  readonly #given: Given;
  #out: OutPlace | undefined;
  #isWhole = true;
  #unchanged = 0;
  #clipboard: Copier | undefined;

  constructor(session: Session, called: CalledOperation, given: Given) {
    this.#session = session;
    this.#called = called;
    this.#operation = called.operation;
    this.#spec = called.spec;
    this.#given = given;
    const { method } = called.spec;
    this.#mount = method === undefined ? undefined : mountOfMethod(method, given.options);
    this.#doubts = new Doubts(session, called, this.#mount);
  }

  /** Runs the operation. Everything that needs no secret is checked and read before the store is unlocked. */
  async run(typed: RawValues): Promise<number> {
    const { cli = {} } = this.#operation;
    const checked = await this.#checked(typed);
    const batch = this.#option(BATCH);
    refuseSameFile(this.#option(IN), this.#option(OUT));
    this.#out = await this.#outPlace();
    if (this.#given.options.has(COPY)) this.#clipboard = await clipboardFor(this.#session);
    if (batch !== undefined) return this.#runBatch(typed, batch);
    if (cli.hashesInput !== undefined) {
      const hash = cli.hashesInput(checked);
      const data = await hashedMainInput(this.#session, this.#operation, this.#typedInput, hash);
      return this.#finish({ data }, checked);
    }
    if (cli.input?.secret !== undefined) await this.#doubts.foresee(checked, await this.#session.runner());
    if (this.#session.streams.in.isTerminal) await this.#refuseFileAsKey();
    const filled = await mainInput(this.#session, this.#operation, this.#typedInput, checked);
    if (cli.input !== undefined && filled[cli.input.param] === '') await this.#refuseFileAsKey();
    const withInput = { ...typed, ...filled };
    if (this.#doubts.questionOf(checked) !== undefined) await this.#doubts.requireConsent([withInput]);
    const runner = await this.#session.runner();
    const raw = await resolved(this.#operation, withInput, runner);
    // What was checked lacks the names that are looked up, even where the lookup changes none.
    const values = cli.resolve === undefined ? checked : parseValues(this.#operation.params, raw).values;
    if (!(await this.#isConfirmed({ ...values, ...filled }, runner))) return FAILED;
    const byTheWay = await this.#doubts.byTheWay(values, runner);
    if (!(await this.#isMeant(byTheWay, runner))) return FAILED;
    this.#unchanged = await this.#doubts.unchanged({ ...values, ...filled }, runner);
    const value = this.#asksOfNewNames && !this.#session.settings.yes ? undefined : this.#value;
    const call = (wanted: RawValues) => this.#unlessThere(runner, wanted);
    const outcome = await this.#doubts.inOrder(raw, value, call);
    if (outcome === undefined) return DONE;
    const exitCode = await this.#finish(outcome, values, byTheWay);
    await this.#doubts.warn(values, runner);
    return exitCode;
  }

  /** Parses the values. A text that cannot be the name of a key may be that of a file. */
  async #checked(typed: RawValues): Promise<RawValues> {
    try {
      return checkTyped(this.#operation, this.#spec, typed, this.#operation.cli?.input?.param);
    } catch (error) {
      await this.#refuseFileAsKey();
      throw error;
    }
  }

  async #refuseFileAsKey(): Promise<void> {
    const { refuseFileAsKey } = await import('./file-as-key.ts');
    await refuseFileAsKey(this.#session, this.#called, this.#given);
  }

  /** Runs the operation once for each value of a parameter, in order, until one fails. */
  async runEach(param: string, typed: RawValues): Promise<number> {
    const { cli = {}, params, resource } = this.#operation;
    const given: readonly unknown[] = [typed[param]].flat();
    const calls = given.map((value) => ({ ...typed, [param]: value }));
    const checked = calls.map((call) => checkTyped(this.#operation, this.#spec, call, undefined));
    const asks = checked.some((values) => this.#doubts.questionOf(values) !== undefined);
    if (asks) await this.#doubts.requireConsent(calls);
    this.#out = await this.#outPlace();
    const runner = await this.#session.runner();
    const { jointDocument, listShape, results, runEach } = await import('./run-each.ts');
    const valuesOf = (raw: RawValues) => parseValues(params, raw).values;
    return runEach(calls, param, {
      asks,
      resolve: (call) => resolved(this.#operation, call, runner),
      foresee: (raw) => this.#doubts.foresee(valuesOf(raw), runner),
      isConfirmed: (raw) => this.#isConfirmed(valuesOf(raw), runner, true),
      meant: async (raw) => {
        const made = await this.#doubts.byTheWay(valuesOf(raw), runner);
        return (await this.#isMeant(made, runner)) ? made : undefined;
      },
      run: async (raw) => {
        this.#unchanged = await this.#doubts.unchanged(valuesOf(raw), runner);
        return this.#unlessThere(runner, raw);
      },
      report: async (outcome, raw) => {
        if (resource !== undefined) return;
        await this.#check(outcome, valuesOf(raw));
        this.#sayDone(outcome, valuesOf(raw));
      },
      print: async (outcomes, made) => {
        const list = results(outcomes);
        if (resource !== undefined)
          await this.#finish({ created: true, data: jointDocument(outcomes) }, typed, made);
        else if (this.#isPrinted && (list.length > 0 || this.#session.settings.format === 'json'))
          await this.#print(list, listShape(cli));
      },
    });
  }

  /**
   * Runs the operation.
   * @returns undefined if the object already exists and `--if-missing` accepts that
   */
  async #unlessThere(runner: Runner, raw: RawValues): Promise<Outcome<unknown> | undefined> {
    if (!this.#given.options.has(IF_MISSING)) return this.#call(runner, raw);
    const { callUnlessThere } = await import('./if-missing.ts');
    const call = (wanted: RawValues) => this.#call(runner, wanted);
    return callUnlessThere(this.#session, this.#operation, raw, call);
  }

  async #runBatch(raw: RawValues, from: string): Promise<number> {
    if (this.#value !== undefined)
      throw invalid('VALUE cannot be used with --batch', { hint: 'use only one of them' });
    const { runBatch } = await import('./files/batch.ts');
    return runBatch(this.#session, {
      operation: this.#operation,
      param: this.#spec.batch ?? '',
      raw,
      from,
      to: this.#out,
    });
  }

  #outPlace(): Promise<OutPlace | undefined> {
    const force = this.#spec.replaces && this.#given.options.has(FORCE);
    return outPlaceOf(this.#session, this.#given.options, force);
  }

  #option(flag: string): string | undefined {
    return textOption(this.#given.options, flag);
  }

  /** Argument after those that are parameters. */
  get #value(): string | undefined {
    return this.#operation.cli?.input === undefined
      ? undefined
      : this.#given.arguments[this.#spec.positional.length];
  }

  get #typedInput(): TypedInput {
    const isBase64 = this.#given.options.has(BASE64);
    return { value: this.#value, file: this.#option(IN), isBase64, mount: this.#mount };
  }

  #call(runner: Runner, raw: RawValues): Promise<Outcome<unknown>> {
    if (this.#given.options.has(ALL)) return this.#everyPage(runner, raw);
    return this.#doubts.run(raw, runner);
  }

  async #everyPage(runner: Runner, raw: RawValues): Promise<Outcome<unknown>> {
    const { everyPage } = await import('./every-page.ts');
    const besideOutput = this.#out === undefined;
    const { document, isWhole } = await everyPage(this.#session, runner, {
      operation: this.#operation,
      raw,
      besideOutput,
    });
    this.#isWhole = isWhole;
    return { data: document };
  }

  /**
   * Prints the result.
   * @throws an error that says that the operation was done, or was reverted, if it cannot be printed
   */
  async #print(result: unknown, shape?: OutputShape, outcome?: Outcome<unknown>): Promise<void> {
    const { cli = {} } = this.#operation;
    let why: unknown;
    try {
      if (this.#clipboard !== undefined && cli.result !== undefined)
        return await this.#clipboard.copy(resultBytes(result, cli.result));
      const form = await formOf(this.#session, this.#operation, outcome, this.#given);
      const own = shape ?? { ...cli, empty: emptyListOf(this.#operation, this.#spec, this.#given) };
      const shown = form ?? { session: this.#session, result, shape: own };
      const isRead = await printResult(shown.session, shown.result, shown.shape ?? own, this.#destination);
      if (isRead || cli.undo === undefined) return;
    } catch (error) {
      why = foreseen(error);
    }
    const { undelivered } = await import('./undone.ts');
    const isCopied = this.#clipboard !== undefined;
    throw await undelivered(this.#session, this.#operation, { result, why, isCopied });
  }

  /** Asks the user, if necessary, after checking what would be refused anyway. */
  async #isConfirmed(values: RawValues, runner: Runner, isForeseen = this.#session.settings.yes) {
    const question = this.#doubts.questionOf(values);
    if (question === undefined) return true;
    if (!isForeseen) await this.#doubts.foresee(values, runner);
    return this.#session.confirmed(() => question(values, runner));
  }

  get #asksOfNewNames(): boolean {
    const { streams, prompts } = this.#session;
    return streams.in.isTerminal && prompts.available();
  }

  /** Asks about new names that are nearly existing ones, if a user types at a terminal. */
  async #isMeant(made: readonly NewName[], runner: Runner): Promise<boolean> {
    if (made.length === 0 || !this.#asksOfNewNames) return true;
    const { isMeant } = await import('./near-names.ts');
    return isMeant(this.#session, runner, made, this.#value);
  }

  async #finish(
    outcome: Outcome<unknown>,
    values: RawValues,
    byTheWay: readonly NewName[] = [],
  ): Promise<number> {
    const { cli = {} } = this.#operation;
    await this.#check(outcome, values);
    const instead =
      this.#isSentence && outcome.data !== undefined ? cli.instead?.(values, outcome.data) : undefined;
    if (instead !== undefined) this.#session.say(instead);
    else if (this.#isPrinted) {
      // With JSON output, a document is printed even if it is empty.
      const nothing = this.#session.settings.format === 'json' ? {} : undefined;
      const result = resultOf(outcome) ?? nothing;
      await this.#print(result, undefined, outcome);
      if (this.#out !== undefined) sayWritten(this.#session, cli, this.#out, result);
      if (cli.paged && formatFor(this.#session, cli, this.#destination) === 'raw')
        warnOfMore(this.#session, this.#given, outcome.data);
    }
    const created = this.#doubts.createdBy(outcome, values) ?? byTheWay;
    if (created.length > 0) {
      const { sayCreated } = await import('./near-names.ts');
      const wasAsked = this.#asksOfNewNames && !this.#session.settings.yes;
      await sayCreated(this.#session, created, wasAsked ? undefined : { value: this.#value });
    }
    this.#sayDone(outcome, values);
    if (!this.#isWhole) return FAILED;
    const valid = cli.holds === undefined || (outcome.data !== undefined && cli.holds(outcome.data));
    return valid ? DONE : NOT_VALID;
  }

  /**
   * Warns of an outcome, or refuses it.
   * @throws `exists` for an existing object that differs from the requested one
   */
  async #check(outcome: Outcome<unknown>, values: RawValues): Promise<void> {
    const { cli } = this.#operation;
    const misfit = outcome.data === undefined ? undefined : cli?.misfit?.(values, outcome.data);
    if (misfit !== undefined && !this.#given.options.has(IF_MISSING))
      throw exists(misfit, { hint: 'use another name' });
    if (misfit !== undefined) this.#session.warn(misfit);
    const missed = cli?.missed?.(outcome);
    if (missed !== undefined) throw missed;
    for (const warning of await this.#doubts.inWords(outcome)) this.#session.warn(warning);
  }

  #sayDone(outcome: Outcome<unknown>, values: RawValues): void {
    const { existing } = outcome;
    const said = this.#operation.cli?.done?.(values, resultOf(outcome), existing, this.#unchanged);
    if (said === undefined) return;
    if (existing || (this.#unchanged > 0 && !this.#session.streams.err.isTerminal)) this.#session.say(said);
    else this.#session.remark(this.#session.hintHere(said));
  }

  get #destination(): Destination {
    return { file: this.#out, keepBase64: this.#given.options.has(BASE64) };
  }

  /** Whether the user asked for the result in a format or a file. */
  get #isResultWanted(): boolean {
    return (
      this.#option(OUT) !== undefined ||
      this.#session.settings.format !== undefined ||
      isInVaultForm(this.#operation, this.#given)
    );
  }

  get #isPrinted(): boolean {
    return !this.#operation.cli?.acts || this.#isResultWanted;
  }

  /** Whether both the result and messages are shown to a user, who is told in a sentence what was done. */
  get #isSentence(): boolean {
    const { streams, settings } = this.#session;
    return !this.#isResultWanted && !settings.quiet && streams.out.isTerminal && streams.err.isTerminal;
  }
}

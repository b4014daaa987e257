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
  warnOfNoResult,
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
        const called = { path, operation: other, spec: specOf(other, method) };
        return new Execution(session, called, given).run(raw);
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
    const exitCode = await this.#finish(outcome, await this.#doubts.named(values, filled), byTheWay);
    await this.#doubts.warn(values, runner, outcome.data);
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

  /**
   * Runs the operation once for each value of a parameter, in order, until one fails. The results before a failure are
   * still printed.
   * @throws the error of the value for which it failed, which says for which values it was done
   */
  async runEach(param: string, typed: RawValues): Promise<number> {
    const names: readonly unknown[] = [typed[param]].flat();
    const calls = names.map((name) => ({ ...typed, [param]: name }));
    const checked = calls.map((call) => checkTyped(this.#operation, this.#spec, call, undefined));
    const { rule } = this.#operation.params[param]?.cli ?? {};
    for (const name of names) rule?.(String(name));
    const asks = checked.some((values) => this.#doubts.questionOf(values) !== undefined);
    if (asks) await this.#doubts.requireConsent(calls);
    this.#out = await this.#outPlace();
    const runner = await this.#session.runner();
    const confirmed = asks ? await this.#confirmedCalls(calls, runner) : undefined;
    if (asks && confirmed === undefined) return FAILED;
    const { afterSome } = await import('./run-each.ts');
    const done: string[] = [];
    const outcomes: Outcome<unknown>[] = [];
    const byTheWay: NewName[] = [];
    let isRefused = false;
    let failure: unknown;
    try {
      for (const [at, call] of calls.entries()) {
        const raw = confirmed?.[at] ?? (await resolved(this.#operation, call, runner));
        const { values } = parseValues(this.#operation.params, raw);
        const made = await this.#doubts.byTheWay(values, runner);
        isRefused = !(await this.#isMeant(made, runner));
        if (isRefused) break;
        byTheWay.push(...made);
        this.#unchanged = await this.#doubts.unchanged(values, runner);
        const outcome = await this.#unlessThere(runner, raw);
        if (outcome === undefined) continue;
        if (this.#operation.resource === undefined) {
          await this.#check(outcome, values);
          this.#sayDone(outcome, values);
        }
        outcomes.push(outcome);
        done.push(String(names[at]));
      }
    } catch (error) {
      failure = error;
    }
    if (outcomes.length > 0) await this.#printEach(outcomes, typed, byTheWay);
    if (failure !== undefined) throw afterSome(failure, done);
    return isRefused ? FAILED : DONE;
  }

  /**
   * Asks about all calls before the first one begins, after checking that all can be expected to succeed.
   * @returns the calls with the identifiers of the objects; undefined if the user said no
   */
  async #confirmedCalls(
    calls: readonly RawValues[],
    runner: Runner,
  ): Promise<readonly RawValues[] | undefined> {
    const raws: RawValues[] = [];
    for (const call of calls) raws.push(await resolved(this.#operation, call, runner));
    const valuesOf = (raw: RawValues) => parseValues(this.#operation.params, raw).values;
    for (const raw of raws) await this.#doubts.foresee(valuesOf(raw), runner);
    for (const raw of raws) if (!(await this.#isConfirmed(valuesOf(raw), runner, true))) return undefined;
    return raws;
  }

  async #printEach(
    outcomes: readonly Outcome<unknown>[],
    typed: RawValues,
    byTheWay: readonly NewName[],
  ): Promise<void> {
    const { jointDocument, listShape, results } = await import('./run-each.ts');
    const { cli = {}, resource } = this.#operation;
    const list = results(outcomes);
    if (resource !== undefined)
      await this.#finish({ created: true, data: jointDocument(outcomes) }, typed, byTheWay);
    else if (this.#isPrinted && (list.length > 0 || this.#session.settings.format === 'json'))
      await this.#print(list, listShape(cli));
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

  async #call(runner: Runner, raw: RawValues): Promise<Outcome<unknown>> {
    if (!this.#given.options.has(ALL)) return this.#doubts.run(raw, runner);
    const { everyPage } = await import('./every-page.ts');
    const query = { operation: this.#operation, raw, besideOutput: this.#out === undefined };
    const { document, isWhole } = await everyPage(this.#session, runner, query);
    this.#isWhole = isWhole;
    return { data: document };
  }

  /**
   * Prints the result.
   * @throws an error that says that the operation was done, or was reverted, if it cannot be printed
   */
  async #print(result: unknown, shape?: OutputShape, outcome?: Outcome<unknown>, values: RawValues = {}) {
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
    const given = { result, why, isCopied: this.#clipboard !== undefined, values, mount: this.#mount };
    throw await undelivered(this.#session, this.#operation, given);
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
    const { streams, settings } = this.#session;
    // A user who is shown both the result and messages is told in a sentence what was done.
    const isSentence =
      !this.#isResultWanted && !settings.quiet && streams.out.isTerminal && streams.err.isTerminal;
    const instead = isSentence && outcome.data !== undefined && cli.instead?.(values, outcome.data);
    if (typeof instead === 'string') this.#session.say(instead);
    else if (this.#isPrinted) {
      // With JSON output, a document is printed even if it is empty.
      const nothing = settings.format === 'json' ? {} : undefined;
      const result = resultOf(outcome) ?? nothing;
      await this.#print(result, undefined, outcome, values);
      if (this.#out !== undefined && result === undefined) warnOfNoResult(this.#session, this.#out);
      if (cli.paged && formatFor(this.#session, cli, this.#destination) === 'raw')
        warnOfMore(this.#session, this.#given, outcome.data);
    }
    const created = this.#doubts.createdBy(outcome, values) ?? byTheWay;
    if (created.length > 0) {
      const { sayCreated } = await import('./near-names.ts');
      const wasAsked = this.#asksOfNewNames && !settings.yes;
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
    const warnings = await this.#doubts.inWords(outcome);
    if (warnings.length > 0) (await import('./plain-texts.ts')).sayWarnings(this.#session, warnings);
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
}

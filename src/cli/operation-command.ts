import {
  asCofferError,
  CofferError,
  failedAfter,
  invalid,
  unavailable,
  unconfirmed,
} from '../ground/errors.ts';
import {
  changesSomething,
  type Operation,
  type Outcome,
  type Runner,
  resultOf,
} from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import { allPages, type ListDocument } from '../operations/json-api/pages.ts';
import { loadOperation } from '../operations/runner.ts';
import type { Command } from './command.ts';
import { DONE, FAILED, NOT_VALID } from './exit-codes.ts';
import { inputText, readInput } from './files/input.ts';
import { refuseSameFile } from './files/out-file.ts';
import { type Given, textOption } from './given.ts';
import {
  ALL,
  BASE64,
  BATCH,
  IN,
  type OperationSpec,
  OUT,
  plainExamples,
  specOf,
} from './parse/operation-spec.ts';
import { checkTyped, type RawValues, rawValues } from './parse/operation-values.ts';
import type { Session } from './session.ts';
import type { Format } from './settings.ts';
import { type Destination, formatFor, printResult } from './terminal/output.ts';
import { foreseen } from './terminal/report.ts';

/** Pages are gathered in the largest steps that the API allows. */
const PAGE_SIZE = 100;

/** The command of an operation: everything about it follows from the declaration. */
export function commandOf(path: readonly string[], summary: string, operation: Operation): Command {
  const spec = specOf(operation);
  return {
    ...spec,
    isVerdict: operation.cli?.holds !== undefined,
    examples: spec.examples.length === 0 ? plainExamples(path, summary, operation) : spec.examples,
    async run(session, given) {
      const raw = rawValues(session, operation, spec, given);
      const instead = operation.cli?.withoutParam;
      if (instead !== undefined && raw[instead.param] === undefined) {
        const other = await loadOperation([...path.slice(0, -1), instead.run].join(' '));
        return new Execution(session, other, specOf(other), given).run(raw);
      }
      return new Execution(session, operation, spec, given).run(raw);
    },
  };
}

/** One run of one operation. */
class Execution {
  readonly #session: Session;
  readonly #operation: Operation;
  readonly #spec: OperationSpec;
  readonly #given: Given;

  constructor(session: Session, operation: Operation, spec: OperationSpec, given: Given) {
    this.#session = session;
    this.#operation = operation;
    this.#spec = spec;
    this.#given = given;
  }

  /** Everything that needs no secret is checked and read before the store is unlocked. */
  async run(typed: RawValues): Promise<number> {
    const { cli = {} } = this.#operation;
    const checked = checkTyped(this.#operation, this.#spec, typed, cli.input?.param);
    const batch = this.#option(BATCH);
    if (batch !== undefined) return this.#runBatch(typed, batch);
    if (cli.confirm !== undefined) this.#session.requireConsent();
    refuseSameFile(this.#option(IN), this.#option(OUT));
    const withInput = { ...typed, ...this.#input() };
    const runner = await this.#session.runner();
    const resolved = await cli.resolve?.(withInput, runner);
    const values = resolved === undefined ? checked : parseValues(this.#operation.params, resolved).values;
    const raw = resolved ?? withInput;
    const { confirm } = cli;
    if (confirm !== undefined) {
      const question = () => confirm(values, runner);
      if (!(await this.#session.confirmed(question))) return FAILED;
    }
    return this.#finish(await this.#call(runner, raw), values);
  }

  async #runBatch(raw: RawValues, from: string): Promise<number> {
    if (this.#value !== undefined)
      throw invalid('VALUE and --batch exclude each other', { hint: 'give one of them' });
    const { runBatch } = await import('./files/batch.ts');
    return runBatch(this.#session, {
      operation: this.#operation,
      param: this.#spec.batch ?? '',
      raw,
      from,
      to: this.#option(OUT),
    });
  }

  #option(flag: string): string | undefined {
    return textOption(this.#given.options, flag);
  }

  /** The argument after those that stand for parameters. */
  get #value(): string | undefined {
    return this.#operation.cli?.input === undefined
      ? undefined
      : this.#given.arguments[this.#spec.positional.length];
  }

  #input(): RawValues {
    const input = this.#operation.cli?.input;
    if (input === undefined) return {};
    const label = this.#operation.params[input.param]?.cli.metavar ?? input.param;
    const bytes = readInput(this.#session, {
      value: this.#value,
      valueIsFile: input.fromFile === true,
      file: this.#option(IN),
      label,
      optional: input.optional === true,
    });
    if (bytes === undefined) return {};
    const isText = input.as === 'text' || this.#given.options.has(BASE64);
    return { [input.param]: isText ? inputText(bytes, label) : bytes.toString('base64') };
  }

  #call(runner: Runner, raw: RawValues): Promise<Outcome<unknown>> {
    if (!this.#given.options.has(ALL)) return runner.run(this.#operation, raw);
    return everyPage(runner, this.#operation, raw);
  }

  /** Tables and documents say which page they are; lines can't, and a script would take the first page for everything. */
  #warnOfMore(data: unknown, format: Format): void {
    const { pagination } = (data as Partial<ListDocument<unknown>> | undefined)?.meta ?? {};
    const knowsOfPages = [ALL, 'page', 'page-size'].some((flag) => this.#given.options.has(flag));
    if (format !== 'raw' || knowsOfPages || !pagination || pagination['next-page'] === null) return;
    this.#session.warn(
      `${pagination['page-size']} of ${pagination['total-count']} are listed (--all lists every one)`,
    );
  }

  /** @throws what says that it is done all the same, or that it was undone, when that can't be printed. */
  async #print(result: unknown, destination: Destination): Promise<void> {
    const { cli = {}, capability } = this.#operation;
    let why: unknown;
    try {
      if ((await printResult(this.#session, result, cli, destination)) || cli.undo === undefined) return;
    } catch (error) {
      why = foreseen(error);
      if (!changesSomething(this.#operation, capability)) throw error;
      if (cli.undo === undefined || asCofferError(error)?.kind === 'unconfirmed')
        throw failedAfter(
          'it is done',
          why,
          'do not do it again for its answer: ask with a command that only reads',
        );
    }
    const { operation, raw, what, hint } = cli.undo(result);
    const unread = `nobody has read what was printed`;
    try {
      await (await this.#session.runner()).run(operation, raw);
    } catch (error) {
      throw unconfirmed(unread, { hint, cause: error });
    }
    throw unavailable(`${unread}, so ${what} was ended again`, { hint: 'make another', cause: why });
  }

  async #finish(outcome: Outcome<unknown>, values: RawValues): Promise<number> {
    const { cli = {} } = this.#operation;
    for (const warning of outcome.warnings ?? []) this.#session.warn(warning);
    const file = this.#option(OUT);
    if (!cli.acts || file !== undefined || this.#session.settings.format !== undefined) {
      const destination = { file, keepBase64: this.#given.options.has(BASE64) };
      await this.#print(resultOf(outcome), destination);
      if (cli.paged) this.#warnOfMore(outcome.data, formatFor(this.#session, cli, destination));
    }
    if (cli.done !== undefined) {
      this.#session.remark(cli.done(values, outcome.data));
    }
    const valid = cli.holds === undefined || (outcome.data !== undefined && cli.holds(outcome.data));
    return valid ? DONE : NOT_VALID;
  }
}

async function everyPage(runner: Runner, operation: Operation, raw: RawValues): Promise<Outcome<unknown>> {
  const fetch = async (number: number, size: number): Promise<ListDocument<unknown>> => {
    const { data } = await runner.run(operation, { ...raw, 'page[number]': number, 'page[size]': size });
    if (data === undefined) throw new CofferError('unavailable', 'the answer has no page in it');
    return data as ListDocument<unknown>;
  };
  return { data: await allPages(fetch, PAGE_SIZE) };
}

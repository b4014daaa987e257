import { asCofferError, refusedAs, withOtherHint } from '../ground/errors.ts';
import type { CliShape, NewName, Operation, Outcome, Runner } from '../operations/declaration/operation.ts';
import { parseValues } from '../operations/declaration/params.ts';
import type { CalledOperation } from './file-as-key.ts';
import { type RawValues, resolved } from './files/operation-values.ts';
import { namesOtherServer } from './given.ts';
import type { Session } from './session.ts';
import { withPermission } from './with-permission.ts';

/** Parameter of operations that create a key unless it is true. */
const NO_CREATE = 'no_create';

/** Maximum number of calls that are looked at where the confirmation is missing anyway. */
const MOST_FORESEEN = 10;

/** What a command finds out, asks and says about the values of its operation, beyond what the operation does. */
export class Doubts {
  readonly #session: Session;
  readonly #called: CalledOperation;
  readonly #mount: string | undefined;

  /**
   * Prepares for an operation.
   * @param mount mount of the operation, if it is not that of all commands
   */
  constructor(session: Session, called: CalledOperation, mount: string | undefined) {
    this.#session = session;
    this.#called = called;
    this.#mount = mount;
  }

  get #cli(): CliShape<unknown> {
    return this.#called.operation.cli ?? {};
  }

  /** Whether a user at a terminal reads what is said. */
  get #isRead(): boolean {
    const { streams, settings } = this.#session;
    return !settings.quiet && streams.err.isTerminal;
  }

  #asking(runner: Runner): Promise<Runner> {
    return withPermission(this.#session, runner, this.#mount);
  }

  /** Warns a user at a terminal of values that the operation accepted, but that are probably not meant. */
  async warn(values: RawValues, runner: Runner, data: unknown): Promise<void> {
    const { doubts } = this.#cli;
    if (doubts === undefined || !this.#isRead) return;
    for (const doubt of await doubts(values, await this.#asking(runner), data).catch(() => []))
      this.#session.warn(this.#session.hintHere(doubt));
  }

  /** Returns the values for messages: to a user at a terminal, with the name that only the main input has. */
  async named(values: RawValues, filled: RawValues): Promise<RawValues> {
    const { input, nameIn } = this.#cli;
    const text = filled[input?.param ?? ''];
    if (nameIn === undefined || values['name'] !== undefined || typeof text !== 'string' || !this.#isRead)
      return values;
    return { ...values, name: await nameIn(text) };
  }

  /** Runs the operation. */
  async run(raw: RawValues, runner: Runner): Promise<Outcome<unknown>> {
    const { operation } = this.#called;
    const outcome = await runner
      .run(operation, raw, this.#mount)
      .catch((error: unknown) => this.#explainMissing(error, raw));
    if (namesOtherServer(this.#session.environment) && (isChange(operation) || outcome.created))
      (await import('./other-server.ts')).warnOfChangeHere(this.#session);
    return outcome;
  }

  /**
   * Returns the warnings of an outcome as they are printed. They say more than those of the API, which remain in JSON,
   * except to scripts on a server, which would be asked once more for that.
   */
  async inWords({ warnings = [] }: Outcome<unknown>): Promise<readonly string[]> {
    const { explained } = this.#cli;
    if (explained === undefined || warnings.length === 0 || !this.#isLookedUp(true)) return warnings;
    const asking = await this.#asking(await this.#session.runner());
    return explained(warnings, asking).catch(() => warnings);
  }

  /**
   * Adds how a script passes a secret to the error about one that is missing.
   * @throws it, and every other error unchanged
   */
  #explainMissing(error: unknown, raw: RawValues): never {
    const { param = '', secret } = this.#cli.input ?? {};
    const known = asCofferError(error);
    const isMissing = known?.kind === 'invalid' && known.field === param && raw[param] === undefined;
    if (secret === undefined || !isMissing || known.hint !== undefined || this.#session.prompts.available())
      throw error;
    const noun = secret.toLowerCase();
    throw withOtherHint(
      known,
      `use --in FILE, or write "-" before the options to read the ${noun} from standard input`,
    );
  }

  /** Whether a look-up is worth it: for a user at a terminal, or for scripts on a local store in some cases. */
  #isLookedUp(isForScripts: boolean | undefined): boolean {
    const { streams, settings } = this.#session;
    if (settings.quiet) return false;
    return streams.err.isTerminal || (settings.address === undefined && isForScripts === true);
  }

  /**
   * Counts the objects that are already as requested, for the message on a terminal. For scripts only on a local store,
   * and only what a removal does not find: its name may be mistyped, and scripts send a server no additional requests.
   */
  async unchanged(values: RawValues, runner: Runner): Promise<number> {
    const isRemoval = [this.#called.operation.route].flat().some((path) => path.startsWith('DELETE '));
    if (!this.#isLookedUp(isRemoval)) return 0;
    return (await this.#cli.unchanged?.(values, await this.#asking(runner))) ?? 0;
  }

  /**
   * Returns the objects that will be created implicitly: a mistyped name would otherwise create one silently. Scripts
   * ask a server nothing for that, and `createdBy` knows of keys afterwards.
   */
  async byTheWay(values: RawValues, runner: Runner): Promise<readonly NewName[]> {
    if (!this.#isLookedUp(!this.#called.operation.computes)) return [];
    return (await this.#cli.byTheWay?.(values, await withPermission(this.#session, runner))) ?? [];
  }

  /**
   * Runs an operation that may create a key where nobody is asked whether that is meant. It first runs without creating
   * one, which takes no look-up if the key exists. Scripts send a server no additional requests.
   * @param value text after the name of the key, which may be the key if the two were exchanged; undefined if nothing
   *   was typed there, or if a new key is asked about
   * @throws `invalid` if they were
   */
  async inOrder<T>(
    raw: RawValues,
    value: string | undefined,
    call: (raw: RawValues) => Promise<T>,
  ): Promise<T> {
    const { operation, path } = this.#called;
    const mayCreate = Object.hasOwn(operation.params, NO_CREATE) && raw[NO_CREATE] === undefined;
    if (!mayCreate || value === undefined || this.#session.settings.address !== undefined) return call(raw);
    try {
      return await call({ ...raw, [NO_CREATE]: true });
    } catch (error) {
      if (asCofferError(error)?.kind !== 'not-found') throw error;
    }
    await (await import('./misplaced.ts')).refuseExchanged(this.#session, path, value);
    return call(raw);
  }

  /** Returns the key that an operation on an existing key has created, according to its outcome. */
  createdBy({ created }: Outcome<unknown>, values: RawValues): readonly NewName[] | undefined {
    const { operation, spec } = this.#called;
    const [name = ''] = spec.positional;
    const isNewKey = created && operation.computes && operation.params[name]?.cli.refersTo === 'key';
    return isNewKey ? [{ kind: 'key', name: String(values[name]) }] : undefined;
  }

  /** Fails for what will be refused anyway, as far as that can be found out. */
  async foresee(values: RawValues, runner: Runner): Promise<void> {
    await unlessUnseen(async () => this.#cli.foresee?.(values, await this.#asking(runner)));
  }

  /** Returns the function for the confirmation question; undefined if these values need no confirmation. */
  questionOf(values: RawValues): CliShape<unknown>['confirm'] {
    return this.#cli.asksFor?.(values) === false ? undefined : this.#cli.confirm;
  }

  /**
   * Checks that confirmation is possible. If it is not, what would be refused anyway is reported first, as on a
   * terminal; of many calls, the first ones are looked at.
   * @param calls raw values of each call
   * @throws `invalid` if the user cannot be asked and `--yes` is not given
   */
  async requireConsent(calls: readonly RawValues[]): Promise<void> {
    const { operation } = this.#called;
    const runner = this.#session.mayChange ? undefined : await this.#session.runner().catch(() => undefined);
    if (runner !== undefined) {
      const asking = await withPermission(this.#session, runner);
      for (const call of calls.slice(0, MOST_FORESEEN))
        await unlessUnseen(async () => {
          const raw = await resolved(operation, call, asking);
          const { values } = parseValues(operation.params, raw);
          await this.foresee(values, runner);
          await this.questionOf(values)?.(values, asking);
        });
    }
    this.#session.requireConsent();
  }
}

const isChange = ({ capability, computes }: Operation): boolean =>
  !computes && capability !== 'read' && capability !== 'list';

/**
 * Looks for what will be refused, as far as this store and this caller let it be seen.
 * @returns undefined if it could not be seen
 * @throws the refusal
 */
export const unlessUnseen = <T>(look: () => Promise<T>): Promise<T | undefined> =>
  look().catch(refusedAs(undefined, 'denied', 'unavailable', 'sealed'));

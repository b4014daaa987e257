import { asCofferError, type CofferError, type ErrorKind } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import type { Invocation } from './command.ts';
import { DONE } from './exit-codes.ts';
import { type Environment, namesOtherServer, refuseReplacedBytes } from './given.ts';
import { parseQuickly } from './parse/fast-path.ts';
import { openHere } from './runner-here.ts';
import { Session } from './session.ts';
import { isColourAllowed } from './settings.ts';
import { type Prompts, terminalPrompts } from './terminal/prompt.ts';
import { reportError } from './terminal/report.ts';
import type { Streams } from './terminal/streams.ts';
import { commandTree } from './tree.ts';

/**
 * Runs one command line from its arguments to its exit code. It never ends the process and never throws.
 * @param prompts prompts for tests; by default those of the terminal
 */
export async function runCommandLine(
  argv: readonly string[],
  streams: Streams,
  environment: Environment,
  prompts: Prompts = terminalPrompts(streams),
): Promise<number> {
  let invocation: Invocation | undefined;
  try {
    refuseReplacedBytes(argv);
    invocation = await parse(argv, streams, environment);
    if (invocation === undefined) return DONE;
    return await runInvocation(invocation, streams, environment, prompts);
  } catch (error) {
    // A command line that cannot be parsed may still say that it wants no colour.
    const isPlain = invocation === undefined && argv.includes('--no-color');
    return reportError(error, streams, isPlain ? { ...environment, NO_COLOR: '1' } : environment, invocation);
  }
}

/**
 * Runs a parsed command line. Errors about names and values that nearly exist say which ones do. A command that lacks
 * its organization, and so has done nothing yet, runs in the only one of the store, which stays open for it.
 * @param open opens the place where operations run
 */
async function runInvocation(
  invocation: Invocation,
  streams: Streams,
  environment: Environment,
  prompts: Prompts,
  open = openRunner,
): Promise<number> {
  let session: Session | undefined;
  try {
    session = new Session(streams, environment, invocation.everywhere, prompts, open);
    return await invocation.command.run(session, invocation.given);
  } catch (error) {
    const only = session && (await onlyOrganization(error, session, invocation));
    if (only === undefined && session !== undefined && namesOtherServer(environment))
      (await import('./other-server.ts')).warnOfOtherServerFor(error, session);
    if (only === undefined) throw await explained(error, invocation, session);
    const everywhere = new Map([...invocation.everywhere, ['org', only.organization] as const]);
    const inOnly = { ...invocation, everywhere };
    return await runInvocation(inOnly, streams, environment, prompts, async () => only.runner);
  } finally {
    await session?.close();
  }
}

/**
 * Parses the arguments.
 * @returns undefined if there is nothing to run, because help was printed
 */
async function parse(
  argv: readonly string[],
  streams: Streams,
  environment: Environment,
): Promise<Invocation | undefined> {
  const quick = await parseQuickly(argv, commandTree);
  if (quick !== undefined) return quick;
  const { inOwnSpelling } = await import('./parse/habits.ts');
  const spelled = await inOwnSpelling(argv, commandTree);
  const { parseWithCommander } = await import('./parse/program.ts');
  const { MissingArgument, MissingKey } = await import('./parse/unfinished.ts');
  const colour = isColourAllowed(environment) && !argv.includes('--no-color');
  const parsed = parseWithCommander(spelled, commandTree, streams, colour);
  const outcome = await parsed.catch(async (error: unknown) => {
    if (!streams.err.isTerminal) throw error;
    if (error instanceof MissingArgument)
      throw await (await import('./candidates.ts')).withCandidates(error, streams, environment);
    if (!(error instanceof MissingKey)) throw error;
    throw await (await import('./candidates.ts')).withKeys(error, streams, environment);
  });
  if (outcome.kind === 'run') return outcome.invocation;
  streams.out.write(outcome.text);
  return undefined;
}

async function onlyOrganization(error: unknown, session: Session, { given, everywhere }: Invocation) {
  // With --from, the settings name the server to read from, and the organization is of the local store. A command that
  // has one and reports it missing would run again without end.
  const isNamed = everywhere.has('org') || given.options.has('from');
  if (asCofferError(error)?.kind !== 'invalid' || isNamed) return undefined;
  return (await import('./candidates.ts')).onlyOrganization(error, session);
}

/** Kinds of errors about something that may have been mistyped. */
const ABOUT_NAMES = new Set<ErrorKind>(['not-found', 'invalid']);

/** Returns the error in plain words, with the name that was probably meant. */
async function explained(
  error: unknown,
  invocation: Invocation,
  session: Session | undefined,
): Promise<unknown> {
  const first = asCofferError(error);
  const known =
    first && session && (first.kind === 'exists' || invocation.path.at(-1) === 'export')
      ? await keyFirst(first, invocation, session)
      : first;
  // A store that stays locked has no text of the API, and scripts run into it often.
  if (known === undefined || known.kind === 'sealed') return error;
  const { aboutPolicy, isPolicyMistake } = await import('./policy-mistakes.ts');
  if (isPolicyMistake(known)) return aboutPolicy(known);
  const { inPlainWords, mayHaveStore, mountOf, withRole } = await import('./plain-texts.ts');
  const { asMissingArgument } = await import('./parse/mistakes.ts');
  const mount = mountOf(invocation, session);
  const worded = inPlainWords(known, session?.addressVariable, mount, mayHaveStore(session));
  const plain = withRole(asMissingArgument(worded, invocation), invocation);
  const { withForce } = await import('./forced-rotation.ts');
  const forced = withForce(plain, invocation);
  if (forced !== undefined) return forced;
  if (session?.settings.address !== undefined && invocation.given.arguments[0] === 'self')
    return (await import('./misplaced.ts')).withOwnToken(plain, invocation) ?? plain;
  if (!ABOUT_NAMES.has(known.kind)) return plain;
  const { inPlace } = await import('./misplaced.ts');
  const placed = inPlace(plain, invocation);
  if (placed !== undefined) return placed;
  const runner = await session?.openedRunner();
  const { withTagsExchanged } = await import('./exchanged-tags.ts');
  const exchanged = await withTagsExchanged(plain, invocation, session, runner);
  if (exchanged !== undefined) return exchanged;
  const { withNearName } = await import('./near-names.ts');
  return withNearName(plain, invocation, session, runner);
}

/** Returns the error about a missing key in place of one about an existing file, which it comes before. */
async function keyFirst(error: CofferError, invocation: Invocation, session: Session): Promise<CofferError> {
  const { aboutKeyFirst } = await import('./key-before-file.ts');
  return (await aboutKeyFirst(error, invocation, session)) ?? error;
}

/** Opens the local store, or connects to the server that the settings name. */
export async function openRunner(session: Session): Promise<Runner> {
  const { settings, environment, streams } = session;
  const { address } = settings;
  if (address === undefined) {
    if (streams.err.isTerminal && namesOtherServer(environment))
      (await import('./other-server.ts')).warnOfOtherServer(session);
    return openHere(session);
  }
  const { openRemote } = await import('./runner-remote.ts');
  return openRemote(session, address);
}

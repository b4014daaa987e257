/**
 * Clients of the Vault family, as they are published, against a plain `coffer serve`: `npm run test:clients`, or
 * `npm run test:clients -- cosign sops` for some. Needs the registries that they come from, and whatever runs or compiles them; what
 * can't be had is skipped with the reason.
 *
 * - COFFER_CLIENTS_CACHE=DIRECTORY: where they are installed, instead of below the temporary directory
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bench, type Client, type Machine, type Run, Unavailable } from './client.ts';
import { lastWords, mustSucceed, runCommand } from './commands.ts';
import { binary, type PlainServer, startPlainServer } from './plain-server.ts';

/** Compiling the largest takes a quarter of an hour on two cores. */
const INSTALL_MINUTES = 60;

const here = fileURLToPath(new URL('.', import.meta.url));
const cache = resolve(process.env['COFFER_CLIENTS_CACHE'] ?? join(tmpdir(), 'coffer-clients-cache'));
const tally = { passed: 0, failed: 0, skipped: 0 };

const known = globSync('*/client.ts', { cwd: here }).map(dirname).sort();
const wanted = process.argv.length > 2 ? process.argv.slice(2) : known;
const strangers = wanted.filter((name) => !known.includes(name));
if (strangers.length > 0) {
  console.error(`no client is called ${strangers.join(' or ')}; there are: ${known.join(', ')}`);
  process.exit(2);
}
execFileSync(process.execPath, [join(here, '../../scripts/build.ts')], { stdio: 'inherit' });
for (const name of wanted) await tryClient(name);
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed === 0 ? 0 : 1;

async function tryClient(name: string): Promise<void> {
  const { client } = (await import(`./${name}/client.ts`)) as { client: Client };
  const titles = Object.keys(client.checks);
  const started = performance.now();
  try {
    const installed = await client.install(machineFor(INSTALL_MINUTES));
    console.log(`     ${name}: ${client.title} ${client.version} installed (${since(started)})`);
    await tryChecks(name, client, installed);
  } catch (error) {
    for (const title of titles) tell(name, title, error, started);
  }
}

async function tryChecks(
  name: string,
  { minutes, checks, secure }: Client,
  installed: string,
): Promise<void> {
  const signal = timeOf(minutes);
  const server = await startPlainServer(signal, secure);
  try {
    for (const [title, check] of Object.entries(checks)) {
      const started = performance.now();
      const directory = mkdtempSync(join(tmpdir(), `coffer-clients-${name}-`));
      const failure = await check(benchOf(server, installed, directory, signal)).then(
        () => undefined,
        (error: unknown) => error,
      );
      rmSync(directory, { recursive: true, force: true });
      tell(name, title, failure, started);
    }
  } finally {
    await server.stop();
  }
}

/** One line for each check, and what was wrong below it. */
function tell(name: string, title: string, failure: unknown, started: number): void {
  if (failure instanceof Unavailable) {
    tally.skipped += 1;
    console.log(`skip ${name}: ${title}: ${failure.message}`);
    return;
  }
  tally[failure === undefined ? 'passed' : 'failed'] += 1;
  console.log(`${failure === undefined ? 'ok  ' : 'FAIL'} ${name}: ${title} (${since(started)})`);
  if (failure !== undefined) console.log(failure instanceof Error ? failure.message : String(failure));
}

function since(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}

function timeOf(minutes: number): AbortSignal {
  const controller = new AbortController();
  const late = (): void => controller.abort(new Error(`not done within ${minutes} minutes`));
  setTimeout(late, minutes * 60_000).unref();
  return controller.signal;
}

function machineFor(minutes: number): Machine {
  const folder = (name: string): string => {
    const path = join(cache, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const where = { directory: folder('.'), environment: process.env, signal: timeOf(minutes) };
  const need: Run = async (program, parameters, options) => {
    const ended = await runCommand(program, parameters, where, options).catch((error: Error) => {
      throw new Unavailable(error.message);
    });
    if (ended.exitCode !== 0) throw new Unavailable(lastLine(lastWords(program, parameters, ended)));
    return ended.stdout;
  };
  return { folder, need, run: mustSucceed(where) };
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function benchOf(server: PlainServer, installed: string, directory: string, signal: AbortSignal): Bench {
  const { address, token, certificate } = server;
  const environment = {
    // The Node that this runs with, and not what a directory of the repository would bring.
    PATH: [dirname(installed), dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: directory,
    LANG: 'C.UTF-8',
    VAULT_ADDR: address,
    VAULT_TOKEN: token,
    BAO_ADDR: address,
    BAO_TOKEN: token,
    TFE_ADDRESS: address,
    TFE_TOKEN: token,
    ...(certificate === undefined ? {} : { SSL_CERT_FILE: certificate, COFFER_CACERT: certificate }),
  };
  const where = { directory, environment, signal };
  return {
    installed,
    address,
    token,
    certificate,
    directory,
    commandLine: [process.execPath, binary],
    run: mustSucceed(where),
    async refused(program, parameters, options) {
      const ended = await runCommand(program, parameters, where, options);
      if (ended.exitCode === 0)
        throw new Error(`${basename(program)} ${parameters.join(' ')} was not refused`);
      return ended.stderr + ended.stdout;
    },
    coffer: (parameters, options) =>
      mustSucceed({ ...where, environment: { ...environment, COFFER_ADDR: address, COFFER_TOKEN: token } })(
        process.execPath,
        [binary, ...parameters],
        options,
      ),
  };
}

/** How large each form is, and how long its commands take. */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { Bench, Environment } from './bench.ts';
import type { Runnable } from './five-minutes.ts';

/** A form as it is installed somewhere. */
export interface Form extends Runnable {
  readonly title: string;
  /** Of what is fetched for this processor. */
  readonly downloadBytes: number;
  /** What is there once it is installed. */
  readonly directory: string;
}

const MIB = 2 ** 20;
const NANOSECONDS_PER_MS = 1e6;
const ROUNDS = 15;
const COMMANDS: readonly (readonly string[])[] = [
  ['--version'],
  ['status'],
  ['transit', 'encrypt', 'orders', 'hello'],
];

const mib = (bytes: number): string => (bytes / MIB).toFixed(1);
const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Runs the commands of all forms in turn, so that what else the machine does is shared by all. @returns a table in Markdown. */
export async function tableOf(bench: Bench, forms: readonly Form[]): Promise<string> {
  const secret = { COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  const variables = (form: Form): Environment => ({
    ...form.environment,
    ...secret,
    COFFER_STORE: `${form.work}/measured`,
  });
  for (const form of forms) {
    timeOf(form.command, ['init', '--quiet'], variables(form));
    timeOf(form.command, ['transit', 'keys', 'create', 'orders'], variables(form));
  }
  const bare: number[] = [];
  const times = forms.map(() => COMMANDS.map((): number[] => []));
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(timeOf([process.execPath], ['-e', '0'], { PATH: dirname(process.execPath) }));
    for (const [at, form] of forms.entries()) {
      for (const [which, words] of COMMANDS.entries()) {
        times[at]?.[which]?.push(timeOf(form.command, words, variables(form)));
      }
    }
  }
  const rows: string[] = [];
  for (const [at, { title, downloadBytes, directory }] of forms.entries()) {
    const size = Number((await bench.run('du', ['-s', '-B1', directory])).split('\t')[0]);
    rows.push(row(title, mib(downloadBytes), mib(size), ...(times[at] ?? []).map(summary)));
  }
  const heads = ['form', 'download, MiB', 'on disk, MiB', ...COMMANDS.map((words) => nameOf(words))];
  return [
    row(...heads),
    row(...heads.map(() => '---')),
    ...rows,
    row('a bare `node -e 0`', '', '', summary(bare), '', ''),
  ].join('\n');
}

const nameOf = (words: readonly string[]): string =>
  `\`${words.filter((word) => !['orders', 'hello'].includes(word)).join(' ')}\`, ms`;

/** In milliseconds, from the start of the process to its end. */
function timeOf(command: readonly string[], words: readonly string[], environment: Environment): number {
  const [program = '', ...parameters] = command;
  const started = process.hrtime.bigint();
  const { status, stderr } = spawnSync(program, [...parameters, ...words], {
    env: { ...environment } as NodeJS.ProcessEnv,
    encoding: 'utf8',
  });
  const took = Number(process.hrtime.bigint() - started) / NANOSECONDS_PER_MS;
  if (status !== 0) throw new Error(`${[...command, ...words].join(' ')}: exit code ${status}\n${stderr}`);
  return took;
}

/** The median, and the least: what else the machine does makes a command slower, and never quicker. */
const summary = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)})`;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

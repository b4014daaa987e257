import { readdirSync } from 'node:fs';
import { isRegularFile } from '../../ground/directories.ts';
import { invalid } from '../../ground/errors.ts';
import { formatOf } from '../../secret-files/formats.ts';
import { RULES_NAME } from '../../secret-files/rules.ts';
import { argument, type Command, switching, taking } from '../command.ts';
import { NOT_EXECUTABLE, PROGRAM_NOT_FOUND } from '../exit-codes.ts';
import { findProgram } from '../files/program.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { planVariables, type VariableSource } from '../processes/child-variables.ts';
import type { Launch } from '../processes/launch.ts';
import { maskingLines } from '../processes/masking.ts';
import { remindOfGitSetup } from '../secret-files/clone-reminder.ts';
import { Files, formatIn, formatOption } from '../secret-files/files.ts';
import { warnOfAliases } from '../secret-files/left-aliases.ts';
import { refuseReadable, requireRules } from '../secret-files/left-readable.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { isPipedFile, openPipedFile, openSecretFile, type ReadFile } from '../secret-files/secret-file.ts';
import { openFiles, requireFile, warnOfDamaged } from '../secret-files/transform.ts';
import { secretVariables } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

export const command: Command = {
  arguments: [
    { metavar: 'COMMAND', help: 'Program to run.', required: true, offers: 'program' },
    argument('ARG', 'Arguments of the program.', { required: false, many: true, offers: 'file' }),
  ],
  passesOn: true,
  options: [
    taking(
      'file',
      'FILE',
      'File with variables: .env, YAML or JSON; "-" reads standard input. Can be repeated; later files take precedence.',
      { takes: 'each', short: 'f', offers: 'file' },
    ),
    taking('only', 'NAME', 'Use only this variable from the files. Can be repeated.', { takes: 'each' }),
    taking(
      'as-file',
      'NAME',
      'Write the value of NAME to an in-memory file, and set NAME to the path of this file. Can be repeated.',
      { takes: 'each' },
    ),
    formatOption,
    switching(
      'overwrite',
      'If a variable is already set, use the value from the files. Default: keep the value that is set.',
    ),
    taking(
      'mask',
      'WHERE',
      'Hide the values in the log of a GitHub Actions job: before the program starts, print commands on standard error that make the runner hide them. GitLab cannot: gitlab is refused.',
      { choices: ['github', 'gitlab'] },
    ),
    switching(
      'on-disk',
      'Let --as-file write to the temporary directory, on disk, if no in-memory file system exists.',
    ),
  ],
  details:
    'Runs COMMAND with the variables from the files. Encrypted values that are already in the environment are ' +
    'decrypted, too. In YAML and JSON files, db.password becomes DB_PASSWORD. All values are decrypted before ' +
    'the program starts. The program replaces this command, so terminal, signals and exit code are its own. ' +
    "Variables with Coffer's own secrets, such as COFFER_PASSPHRASE, are removed. Files from standard input or a " +
    'pipe need --format; with "-f -", the standard input of the program is empty.',
  examples: [
    ['coffer exec -f .env -- npm start', 'Run a server with the variables of a file'],
    [
      'coffer exec -f app.yaml --only DB_PASSWORD -- ./migrate --to 12',
      'Pass only DB_PASSWORD to the program',
    ],
    [
      'git show HEAD:.env | coffer exec -f - --format dotenv -- npm start',
      'Use the file of the last commit, from standard input',
    ],
    [
      'coffer exec -f .env --as-file SSH_KEY -- sh -c \'ssh -i "$SSH_KEY" host\'',
      'Pass the value of SSH_KEY as a file',
    ],
  ],
  async run(session, given) {
    const [name = '', ...rest] = given.arguments;
    const masked = textOption(given.options, 'mask');
    // Everything that needs no secret is checked before the user is asked for one.
    const mask = masked === undefined ? undefined : maskingLines(masked, session.environment);
    const variables = await childVariables(session, given);
    const found = findProgram(name, variables.all);
    if (found.kind !== 'program') {
      const why =
        found.kind === 'not-found' ? `${name}: command not found` : `${found.path}: permission denied`;
      session.fail(isVariablesFile(name) ? `${why} (did you mean -f ${shellWord(name)}?)` : why);
      return found.kind === 'not-found' ? PROGRAM_NOT_FOUND : NOT_EXECUTABLE;
    }
    if (textsOption(given.options, 'file').length === 0 && variables.decrypted.length === 0)
      session.say(await withoutFile(session, given.arguments));
    // The runner reads both streams, and standard output may be redirected into a file or a variable.
    if (mask !== undefined) session.streams.err.write(mask([...variables.decrypted]));
    return start(session, given, { path: found.path, words: [name, ...rest], environment: variables.all });
  },
};

/** Formats what to do if no file was given: the command with a file of this directory that a rule is about, if any. */
async function withoutFile(session: Session, words: readonly string[]): Promise<string> {
  if (session.settings.quiet) return '';
  const at = words.findIndex(
    (word, index) => index > 0 && /^(?:-f|--file)$/.test(word) && isVariablesFile(words[index + 1] ?? ''),
  );
  if (at !== -1) {
    const file = shellWord(words[at + 1] ?? '');
    const rest = [...words.slice(0, at), ...words.slice(at + 2)].map(shellWord).join(' ');
    return `Nothing was decrypted. Options of Coffer come before the command: coffer exec -f ${file} -- ${rest}`;
  }
  const program = words.map(shellWord).join(' ');
  const path = await fileWithRule(new Rulebook(session.quietly())).catch(() => undefined);
  return `Nothing was decrypted, because no file was given. To use ${path ?? 'a file'}: coffer exec -f ${shellWord(path ?? 'FILE')} -- ${program}`;
}

/** Returns a file of the working directory that a rule of `.coffer.yaml` is about. */
async function fileWithRule(rulebook: Rulebook): Promise<string | undefined> {
  for (const name of readdirSync('.').sort()) {
    if (isVariablesFile(name) && name !== RULES_NAME && (await rulebook.ruleFor(name)) !== undefined)
      return name;
  }
  return undefined;
}

/** Whether a word in the place of the program is a file with variables, given without `-f`. */
const isVariablesFile = (name: string): boolean => formatOf(name) !== undefined && isRegularFile(name);

/** Returns the variables of the program, and the texts of those that were encrypted. */
async function childVariables(session: Session, { options }: Given) {
  const rulebook = new Rulebook(session);
  const opener = new Files(session, options, rulebook);
  const files: ReadFile[] = [];
  for (const path of textsOption(options, 'file'))
    files.push(
      isPipedFile(path)
        ? await openPipedFile(session, path, formatIn(options))
        : await openFile(opener, path, options),
    );
  const request = { files, only: textsOption(options, 'only'), overwrite: options.has('overwrite') };
  const { variables, sources, kept } = planVariables(session.environment, request);
  if (kept.length > 0)
    session.remark(
      `Already set in the environment and kept (use --overwrite to replace): ${kept.join(', ')}`,
    );
  for (const read of files) {
    await requireRules(session, rulebook, read);
    if (request.only.length === 0) warnOfAliases(session, read);
  }
  for (const [read, some] of Map.groupBy(sources, ({ read }) => read)) {
    await refuseReadable(session, rulebook, read, some);
    const places = some.map(({ place }) => place);
    warnOfDamaged(session, read, places);
  }
  const opened = await openSources(session, sources);
  refuseNul(opened, textsOption(options, 'as-file'));
  await remindOfGitSetup(session, rulebook, textsOption(options, 'file'));
  return {
    all: { ...variables, ...Object.fromEntries(opened.map(({ variable, text }) => [variable, text])) },
    decrypted: opened.filter(({ place }) => place.sealed !== undefined).map(({ text }) => text),
  };
}

/**
 * Refuses values with NUL bytes. A variable cannot hold one, and the error message of Node would show the environment.
 */
function refuseNul(opened: Awaited<ReturnType<typeof openSources>>, asFiles: readonly string[]): void {
  const source = opened.find(({ text, variable }) => text.includes('\0') && !asFiles.includes(variable));
  if (source === undefined) return;
  throw invalid(
    `${source.read.path}: ${source.place.name} contains a NUL byte, which environment variables cannot hold`,
    {
      hint: `use --as-file ${source.variable} to pass it as a file`,
    },
  );
}

/** Opens a file. The rules, which load the YAML parser, are only read if the name does not tell the format. */
const openFile = (files: Files, path: string, options: Given['options']): Promise<ReadFile> => {
  const format = formatIn(options) ?? formatOf(path);
  return format === undefined ? files.open(path) : openSecretFile(path, format);
};

/** Opens all values, with one call for each key. */
async function openSources(session: Session, sources: readonly VariableSource[]) {
  const places = new Set(sources.map(({ place }) => place));
  const files = [...new Map(sources.map(({ read }) => [read.file, read])).values()];
  const results = await openFiles(session, files, (place) => places.has(place));
  return sources.map((source) => {
    const { read, place } = source;
    // `opened.places` has the order of `read.file.places`.
    const opened = requireFile(results[files.indexOf(read)]);
    return { ...source, text: opened.places[read.file.places.indexOf(place)]?.text ?? '' };
  });
}

async function start(session: Session, { options }: Given, launch: Launch): Promise<number> {
  const { passOn, replaceProcess, runChild, startFailure } = await import('../processes/launch.ts');
  const names = textsOption(options, 'as-file');
  await session.close();
  if (names.length === 0) replaceProcess(launch);
  // Loaded here because they are needed only by the code that waits for the program.
  const { forgetVariables } = await import('../secrets/own-environment.ts');
  const { withFiles } = await import('../processes/value-files.ts');
  forgetVariables(process.env, secretVariables);
  let remove = (): void => undefined;
  try {
    const ended = await runChild(() => {
      if (names.length === 0) return launch;
      const files = withFiles(session.environment, launch.environment, names, options.has('on-disk'));
      remove = files.remove;
      return { ...launch, environment: files.variables };
    });
    remove();
    passOn(ended);
    return ended.exitCode;
  } catch (error) {
    const failure = startFailure(error);
    if (failure === undefined) throw error;
    session.fail(failure.message + (failure.code === 'E2BIG' ? largeValueHint(launch) : ''));
    return failure.exitCode;
  } finally {
    remove();
  }
}

/** Size of a value, in bytes, from which passing it as a file helps. */
const LARGE_BYTES = 1 << 16;

/** Returns a hint about the largest variable, if its size alone may be the reason. */
function largeValueHint({ environment }: Launch): string {
  const sizes = Object.entries(environment).map(([name, value]) => ({
    name,
    bytes: Buffer.byteLength(value),
  }));
  const [largest] = sizes.sort((one, other) => other.bytes - one.bytes);
  if (largest === undefined || largest.bytes < LARGE_BYTES) return '';
  return ` (use --as-file ${largest.name} to pass its ${largest.bytes} bytes as a file)`;
}

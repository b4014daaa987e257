import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { invalid } from '../../ground/errors.ts';
import { findProgram } from '../files/program.ts';
import { type Environment, variable } from '../given.ts';
import { type Ended, type Launch, runChild } from '../processes/launch.ts';
import { withoutOwnSecrets } from '../secrets/secret-variables.ts';

const SHELL = '/bin/sh';
/** Returns the editor that every system of the platform has. */
const defaultEditor = (platform: string): string => (platform === 'win32' ? 'notepad' : 'vi');

/**
 * Arguments that keep Vim and Neovim from writing the text or registers elsewhere: swap file, history, undo file,
 * backup.
 */
const VIM_ARGUMENTS = ['-n', '-i', 'NONE', '-c', 'silent! set noundofile nobackup nowritebackup'];
const VIM = /^[gn]?vim/;

/** Editors that return at once while their window is still open, unless an option makes them wait. */
const IN_A_WINDOW: readonly { readonly names: readonly string[]; readonly waits: readonly string[] }[] = [
  {
    names: ['code', 'code-insiders', 'code-oss', 'codium', 'vscodium', 'cursor', 'windsurf'],
    waits: ['--wait', '-w'],
  },
  { names: ['subl', 'zed', 'zeditor', 'atom', 'gedit', 'xed', 'bbedit'], waits: ['--wait', '-w'] },
  { names: ['gvim', 'mvim', 'gview', 'rgvim', 'rgview'], waits: ['--nofork', '-f'] },
  { names: ['nvim-qt'], waits: ['--nofork'] },
  { names: ['neovide'], waits: ['--no-fork'] },
  { names: ['gnome-text-editor'], waits: ['--standalone', '-s'] },
  { names: ['kate'], waits: ['--block', '-b'] },
  { names: ['mate'], waits: ['-w', '--wait'] },
];
/** Option with which Vim opens a window, and returns at once. */
const VIM_WINDOW = '-g';

/** Editor that the user has chosen. */
export interface Editor {
  /** Shell command as in the variable. */
  readonly command: string;
  /** Arguments before the file name. */
  readonly arguments: readonly string[];
}

/** Variables that name the editor, in order of precedence. */
const CHOOSING = ['VISUAL', 'EDITOR'] as const;

/** Whether the editor would be vi because the user has chosen none. Without a terminal, it waits forever. */
export const wouldBeVi = (environment: Environment, platform: string = process.platform): boolean =>
  platform !== 'win32' && CHOOSING.every((name) => variable(environment, name) === undefined);

/**
 * Returns the editor: `$VISUAL`, otherwise `$EDITOR`, otherwise vi, or Notepad on Windows.
 * @throws `invalid` for an editor that would return before the user has typed anything
 */
export function editorOf(environment: Environment, platform: string = process.platform): Editor {
  const name = CHOOSING.find((candidate) => variable(environment, candidate) !== undefined);
  const command = (name === undefined ? undefined : variable(environment, name)) ?? defaultEditor(platform);
  const [first = '', ...words] = command.trim().split(/\s+/);
  const program = basename(first.replaceAll('\\', '/')).replace(/\.(?:exe|cmd)$/i, '');
  const vim = isVim(first, environment);
  const meant = vim && words.includes(VIM_WINDOW) ? 'gvim' : program;
  const waits = IN_A_WINDOW.find(({ names }) => names.includes(meant))?.waits;
  if (waits !== undefined && !words.some((word) => waits.includes(word))) {
    throw invalid(`${first} returns before its window is closed`, {
      field: name,
      hint: `set it to "${command} ${waits[0]}"`,
    });
  }
  return { command, arguments: vim ? VIM_ARGUMENTS : [] };
}

const quoted = (text: string): string => `"${text}"`;

/** Whether it is Vim under any name: on many systems vi is a link to Vim. */
function isVim(name: string, environment: Environment): boolean {
  const found = findProgram(name, environment);
  if (found.kind !== 'program') return false;
  return VIM.test(basename(realpathSync(found.path)));
}

/** Single program with its arguments, which can run without a shell: no variable before it, no operator after it. */
const SIMPLE = /^[\w~/.][^\s=;&|<>()`]*(?:\s[^;&|<>()`]*)?$/;

/**
 * Runs the editor on a file, as git does, and waits until it ends. The editor does not get Coffer's secrets. If
 * possible, no shell runs in between, since Ctrl-C, which an editor may handle, would end the shell.
 */
export function edit(editor: Editor, path: string, environment: Environment): Promise<Ended> {
  return runChild(launchOf(editor, path, withoutOwnSecrets(environment)));
}

/**
 * Returns the command line of the editor. On Windows, the shell has another syntax, and takes its line unchanged, with
 * an extra pair of quotes around it.
 */
export function launchOf(
  editor: Editor,
  path: string,
  environment: Readonly<Record<string, string>>,
  platform: string = process.platform,
): Launch {
  if (platform === 'win32') {
    const shell = variable(environment, 'COMSPEC') ?? 'cmd.exe';
    const line = [editor.command, ...editor.arguments.map(quoted), quoted(path)].join(' ');
    return { path: shell, words: [shell, '/d', '/s', '/c', quoted(line)], environment, asItIs: true };
  }
  const start = SIMPLE.test(editor.command) ? 'exec ' : '';
  const words = [SHELL, '-c', `${start}${editor.command} "$@"`, editor.command, ...editor.arguments, path];
  return { path: SHELL, words, environment };
}

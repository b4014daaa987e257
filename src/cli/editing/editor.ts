import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { invalid } from '../../ground/errors.ts';
import { type Environment, variable } from '../given.ts';
import { type Ended, type Launch, runChild } from '../processes/launch.ts';
import { findProgram } from '../processes/program.ts';
import { withoutOwnSecrets } from '../secrets/secret-variables.ts';

const SHELL = '/bin/sh';
/** What every system of its kind has. */
const defaultEditor = (platform: string): string => (platform === 'win32' ? 'notepad' : 'vi');

/** What keeps Vim and Neovim from writing the text, or registers of it, elsewhere: swap file, history, undo file, backup. */
const VIM_ARGUMENTS = ['-n', '-i', 'NONE', '-c', 'silent! set noundofile nobackup nowritebackup'];
const VIM = /^[gn]?vim/;

/** Editors that come back at once, while their window is still open, unless they are told to wait. */
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
/** What makes Vim open a window by itself, and come back at once. */
const VIM_WINDOW = '-g';

/** The editor that a person has chosen. */
export interface Editor {
  /** As it stands in the variable: words of the shell. */
  readonly command: string;
  /** Put before the name of the file. */
  readonly arguments: readonly string[];
}

/**
 * `$VISUAL`, else `$EDITOR`, else vi, on Windows Notepad.
 * @throws `invalid` for one that would be gone before anything is typed.
 */
export function editorOf(environment: Environment, platform: string = process.platform): Editor {
  const name = ['VISUAL', 'EDITOR'].find((candidate) => variable(environment, candidate) !== undefined);
  const command = (name === undefined ? undefined : variable(environment, name)) ?? defaultEditor(platform);
  const [first = '', ...words] = command.trim().split(/\s+/);
  const program = basename(first.replaceAll('\\', '/')).replace(/\.(?:exe|cmd)$/i, '');
  const vim = isVim(first, environment);
  const meant = vim && words.includes(VIM_WINDOW) ? 'gvim' : program;
  const waits = IN_A_WINDOW.find(({ names }) => names.includes(meant))?.waits;
  if (waits !== undefined && !words.some((word) => waits.includes(word))) {
    throw invalid(`${first} does not wait until its window is closed`, {
      field: name,
      hint: `set it to "${command} ${waits[0]}"`,
    });
  }
  return { command, arguments: vim ? VIM_ARGUMENTS : [] };
}

const quoted = (text: string): string => `"${text}"`;

/** Whatever it is called: on many systems vi is a link to Vim. */
function isVim(name: string, environment: Environment): boolean {
  const found = findProgram(name, environment);
  if (found.kind !== 'program') return false;
  return VIM.test(basename(realpathSync(found.path)));
}

/** One program with its arguments, which can take the place of the shell: no variable before it, no operator behind it. */
const SIMPLE = /^[\w~/.][^\s=;&|<>()`]*(?:\s[^;&|<>()`]*)?$/;

/**
 * Runs the editor on a file, as git does, and waits for its end. It gets none of our secrets. Where possible no shell stays between:
 * Ctrl-C, which an editor may understand, would end that.
 */
export function edit(editor: Editor, path: string, environment: Environment): Promise<Ended> {
  return runChild(launchOf(editor, path, withoutOwnSecrets(environment)));
}

/** Windows has a shell of another language, which takes its line as it is: with one pair of quotes more than it needs around it. */
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

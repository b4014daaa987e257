import { invalid } from '../../ground/errors.ts';
import type { Command, Group } from '../command.ts';
import { type CommandPlace, placesOf } from '../completions/model.ts';
import { bashScript, fishScript, zshScript } from '../completions/scripts.ts';
import { DONE } from '../exit-codes.ts';

const printers: Readonly<Record<string, (places: readonly CommandPlace[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Shells that have a completion script. */
export const shells: readonly string[] = Object.keys(printers);

/** Returns the completion script of a shell for a command tree; undefined for a shell without one. */
export async function completionScript(shell: string, tree: Group): Promise<string | undefined> {
  const print = Object.hasOwn(printers, shell) ? printers[shell] : undefined;
  return print?.(await placesOf(tree));
}

/** Returns `coffer completion` for a command tree. */
export const completionOf = (tree: Group): Command => ({
  arguments: [{ metavar: 'SHELL', help: 'Shell.', required: true, choices: shells }],
  options: [],
  details:
    'Completes commands and options and, if the store is unlocked, the names of keys, organizations, workspaces, ' +
    'tags, policies and mounts. Names of values in files and of members of a keyring are completed even if the ' +
    'store is locked.',
  examples: [
    ['source <(coffer completion bash)', 'bash: add to ~/.bashrc'],
    ['source <(coffer completion zsh)', 'zsh: add to ~/.zshrc after compinit'],
    ['coffer completion fish | source', 'fish: add to ~/.config/fish/config.fish'],
  ],
  async run(session, { arguments: [shell = ''] }) {
    const script = await completionScript(shell, tree);
    if (script === undefined) {
      throw invalid(`unknown shell "${shell}"`, {
        field: 'SHELL',
        hint: `use one of ${shells.join(', ')}`,
      });
    }
    session.streams.out.write(script);
    return DONE;
  },
});

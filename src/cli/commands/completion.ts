import { invalid } from '../../ground/errors.ts';
import type { Command } from '../command.ts';
import { completionScript, shells } from '../completions/scripts.ts';
import { DONE } from '../exit-codes.ts';

export const command: Command = {
  arguments: [{ metavar: 'SHELL', help: 'The shell.', required: true, choices: shells }],
  options: [],
  details:
    'It completes commands, options, and the names of keys, organizations, workspaces, tags, policies and mounts of an unlocked store.',
  examples: [
    ['source <(coffer completion bash)', 'In ~/.bashrc'],
    ['source <(coffer completion zsh)', 'In ~/.zshrc, after compinit'],
    ['coffer completion fish | source', 'In ~/.config/fish/config.fish'],
  ],
  async run(session, { arguments: [shell = ''] }) {
    const script = await completionScript(shell);
    if (script === undefined) {
      throw invalid(`there is no completion for "${shell}"`, {
        field: 'SHELL',
        hint: `use one of ${shells.join(', ')}`,
      });
    }
    session.streams.out.write(script);
    return DONE;
  },
};

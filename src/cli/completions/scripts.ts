import { commandTree } from '../tree.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type Place, placesOf } from './model.ts';
import { zshScript } from './zsh.ts';

const printers: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The shells that have a completion script. */
export const shells: readonly string[] = Object.keys(printers);

/** The completion script of a shell, or undefined for a shell that has none. */
export async function completionScript(shell: string): Promise<string | undefined> {
  const print = Object.hasOwn(printers, shell) ? printers[shell] : undefined;
  return print?.(await placesOf(commandTree));
}

import { CofferError } from '../../ground/errors.ts';
import type { Command } from '../command.ts';
import type { OptionValue } from '../given.ts';
import type { invocation } from './everywhere.ts';

/** Command line that lacks an argument, as far as it was typed. */
export interface Unfinished {
  readonly path: readonly string[];
  readonly command: Command;
  readonly words: readonly string[];
  readonly around: Parameters<typeof invocation>[3];
}

/** Error about a missing argument. */
export class MissingArgument extends CofferError {
  readonly unfinished: Unfinished;

  constructor(message: string, hint: string, unfinished: Unfinished) {
    super('invalid', message, { hint });
    this.unfinished = unfinished;
    Object.defineProperty(this, 'unfinished', { enumerable: false });
  }
}

/** Error about an unknown command, whose hint has the command that was meant, for the key KEY. */
export class MissingKey extends CofferError {
  /** Options before the command. */
  readonly everywhere: ReadonlyMap<string, OptionValue>;

  constructor(message: string, hint: string, everywhere: ReadonlyMap<string, OptionValue>) {
    super('invalid', message, { hint });
    this.everywhere = everywhere;
    Object.defineProperty(this, 'everywhere', { enumerable: false });
  }
}

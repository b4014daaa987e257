import { type CofferError, withOtherHint } from '../ground/errors.ts';
import type { Invocation } from './command.ts';
import { textsOption } from './given.ts';
import { shellWord } from './terminal/shell-word.ts';

/** Messages about a tag that cannot have that name, or does not exist. */
const REFUSED = /^(?:Tags must only contain letters|tag ".*" not found)/;
const PAIR = /^[^\s=]+=\S*$/;

/**
 * Adds, to an error about KEY=VALUE in the place of a tag, the command that sets such tags on a workspace.
 * @returns undefined if the error is about anything else
 */
export function withBinding(error: CofferError, { path, given }: Invocation): CofferError | undefined {
  const pairs = given.arguments.filter((word) => PAIR.test(word));
  if (path[0] === 'transit' || pairs.length === 0 || !REFUSED.test(error.message)) return undefined;
  const ofCommand = path.join(' ') === 'workspaces tag' ? given.arguments[0] : undefined;
  const [workspace = ofCommand ?? 'WS'] = textsOption(given.options, 'workspace');
  const command = ['coffer', 'workspaces', 'bind', workspace, ...pairs].map(shellWord).join(' ');
  return withOtherHint(error, `tags with a value are set on a workspace with "${command}"`);
}

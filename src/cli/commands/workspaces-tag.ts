import { retag, tag } from '../../operations/tags/relationships.ts';
import type { Command } from '../command.ts';
import { commandOf } from '../operation-command.ts';
import { switching } from '../parse/everywhere.ts';

const REPLACE = 'replace';
const PATH = ['workspaces', 'tag'];
const SUMMARY = 'Add tags to a workspace, creating missing ones';

const adding = commandOf(PATH, SUMMARY, tag);
const replacing = commandOf(PATH, SUMMARY, retag);

/** Command that adds tags to a workspace, or replaces all its tags. */
export const command: Command = {
  ...adding,
  options: [...adding.options, switching(REPLACE, 'Remove all other tags of the workspace.')],
  examples: [
    ...adding.examples,
    [
      'coffer tags attach env:prod --workspace billing web --org acme',
      'Add an existing tag to several workspaces',
    ],
    ['coffer workspaces tag billing env:prod --replace --org acme', 'Remove all other tags of the workspace'],
  ],
  run: (session, given) => (given.options.has(REPLACE) ? replacing : adding).run(session, given),
};

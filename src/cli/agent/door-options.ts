import { type AgentDoorKind, usualUses } from '../../doors/agent/agent-door.ts';
import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { invalid } from '../../ground/errors.ts';
import type { OptionSpec } from '../command.ts';
import { type Given, textsOption } from '../given.ts';

const USE = 'use';
export const CONFIRM = 'confirm';

/** One flag for each protocol. */
export const doorOptions: readonly OptionSpec[] = AGENT_DOORS.map(({ name, help }) => ({
  flag: name,
  takes: 'nothing',
  help,
}));

export const chosenDoors = (options: Given['options']): readonly AgentDoorKind[] =>
  AGENT_DOORS.filter(({ name }) => options.has(name));

const allUses = [...new Set(AGENT_DOORS.flatMap(({ uses }) => Object.keys(uses)))];

/** Options for the uses of offered keys and for confirmation. */
export const useOptions: readonly OptionSpec[] = [
  {
    flag: USE,
    takes: 'each',
    metavar: 'USE',
    help: 'Allowed use of the key. Can be repeated.',
    choices: allUses,
  },
  { flag: CONFIRM, takes: 'nothing', help: 'Ask for confirmation before each use.' },
];

/** Help text about the uses of each protocol. */
export const usesText = AGENT_DOORS.map((kind) => {
  const uses = Object.entries(kind.uses).map(([name, { help }]) => `${name} (${help})`);
  return `--${kind.name}: ${uses.join(', ')}; default: ${usualUses(kind).join(' and ')}.`;
}).join(' ');

/**
 * Returns the uses for which keys are offered through a protocol, by default its usual ones.
 * @throws `invalid` if the protocol does not have a use
 */
export function usesFor(kind: AgentDoorKind, options: Given['options']): readonly string[] {
  const given = textsOption(options, USE);
  const unknown = given.find((use) => !Object.hasOwn(kind.uses, use));
  if (unknown === undefined) return given.length === 0 ? usualUses(kind) : given;
  throw invalid(`--${kind.name} has no use "${unknown}"`, {
    field: `--${USE}`,
    hint: `use ${Object.keys(kind.uses).join(', ')}`,
  });
}

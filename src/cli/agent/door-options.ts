import { type AgentDoorKind, usualUses } from '../../doors/agent/agent-door.ts';
import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { invalid } from '../../ground/errors.ts';
import type { OptionSpec } from '../command.ts';
import { type Given, textsOption } from '../given.ts';

const USE = 'use';
export const CONFIRM = 'confirm';

/** A flag for each door. */
export const doorOptions: readonly OptionSpec[] = AGENT_DOORS.map(({ name, help }) => ({
  flag: name,
  takes: 'nothing',
  help,
}));

export const chosenDoors = (options: Given['options']): readonly AgentDoorKind[] =>
  AGENT_DOORS.filter(({ name }) => options.has(name));

const allUses = [...new Set(AGENT_DOORS.flatMap(({ uses }) => Object.keys(uses)))];

/** For what keys are offered, and whether somebody is asked. */
export const useOptions: readonly OptionSpec[] = [
  { flag: USE, takes: 'each', metavar: 'USE', help: 'What the key may be used for.', choices: allUses },
  { flag: CONFIRM, takes: 'nothing', help: 'Ask before each use.' },
];

/** What help says of the uses of the doors. */
export const usesText = AGENT_DOORS.map((kind) => {
  const uses = Object.entries(kind.uses).map(([name, { help }]) => `${name} (${help})`);
  return `--${kind.name}: ${uses.join(', ')}; ${usualUses(kind).join(' and ')} if none is named.`;
}).join(' ');

/** For what keys are offered through a door; what is usual where nobody says. @throws `invalid` for a use that it does not have. */
export function usesFor(kind: AgentDoorKind, options: Given['options']): readonly string[] {
  const given = textsOption(options, USE);
  const unknown = given.find((use) => !Object.hasOwn(kind.uses, use));
  if (unknown === undefined) return given.length === 0 ? usualUses(kind) : given;
  throw invalid(`"${unknown}" is no use of --${kind.name}`, {
    field: `--${USE}`,
    hint: `use ${Object.keys(kind.uses).join(', ')}`,
  });
}

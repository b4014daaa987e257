import { type AgentDoorKind, usualUses } from '../../doors/agent/agent-door.ts';
import { AGENT_DOORS } from '../../doors/agent/registry.ts';
import { invalid } from '../../ground/errors.ts';
import { type OptionSpec, switching, taking } from '../command.ts';
import { type Given, textsOption } from '../given.ts';

const USE = 'use';
export const CONFIRM = 'confirm';

/**
 * Returns one flag for each protocol.
 * @param help help text of its flag
 */
export const doorOptions = (help: (kind: AgentDoorKind) => string): readonly OptionSpec[] =>
  AGENT_DOORS.map((kind) => switching(kind.name, help(kind)));

export const chosenDoors = (options: Given['options']): readonly AgentDoorKind[] =>
  AGENT_DOORS.filter(({ name }) => options.has(name));

const allUses = [...new Set(AGENT_DOORS.flatMap(({ uses }) => Object.keys(uses)))];

/** Options for the uses of offered keys and for confirmation. */
export const useOptions: readonly OptionSpec[] = [
  taking(
    USE,
    'USE',
    'Allow only this use, one of those listed at --ssh, --pkcs11, --age or --sops. Can be repeated.',
    { takes: 'each', choices: allUses },
  ),
  switching(
    CONFIRM,
    'Ask for confirmation before each use, with the program in $COFFER_ASKPASS or $SSH_ASKPASS.',
  ),
];

/** Returns a help text about the uses of a protocol: those that are allowed without `--use`, then the others. */
export function usesText(kind: AgentDoorKind): string {
  const usual = usualUses(kind);
  const text = (name: string) => `${name} (${kind.uses[name]?.help})`;
  const extra = Object.keys(kind.uses).filter((name) => !usual.includes(name));
  const others = extra.length === 0 ? '' : ` Allowed only with --use: ${extra.map(text).join(', ')}.`;
  return `Allowed uses: ${usual.map(text).join(', ')}.${others}`;
}

/**
 * Returns the uses for which keys are offered through a protocol, by default its usual ones.
 * @throws `invalid` if the protocol does not have a use
 */
export function usesFor(kind: AgentDoorKind, options: Given['options']): readonly string[] {
  const given = textsOption(options, USE);
  const unknown = given.find((use) => !Object.hasOwn(kind.uses, use));
  if (unknown === undefined) return given.length === 0 ? usualUses(kind) : given;
  throw invalid(`unknown use "${unknown}" for --${kind.name}`, {
    field: `--${USE}`,
    hint: `use ${Object.keys(kind.uses).join(', ')}`,
  });
}

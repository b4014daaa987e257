import type { Operation } from '../../operations/declaration/operation.ts';
import type { CliParam } from '../../operations/declaration/params.ts';
import { routesOf } from '../../operations/declaration/route.ts';
import { RESOURCE_KINDS } from '../../operations/resource-kinds.ts';
import type { CommandSpec } from '../command.ts';

/** The examples of an operation that declares none: how it is typed with what it cannot do without. */
export function plainExamples(
  path: readonly string[],
  summary: string,
  operation: Operation,
): CommandSpec['examples'] {
  const words = ['coffer', ...path];
  for (const param of Object.values(operation.params)) {
    const needed = param.presence === 'required' || param.cli.refersTo !== undefined;
    if (param.cli.positional && needed) words.push(exampleOf(param.cli));
  }
  const { input } = operation.cli ?? {};
  const value = input === undefined ? undefined : operation.params[input.param]?.cli.metavar;
  if (value !== undefined) words.push(value);
  const line = words.join(' ');
  const reads = routesOf(operation).every(({ method }) => method === 'GET' || method === 'LIST');
  return reads
    ? [
        [line, summary],
        [`${line} -o json`, 'The same for programs'],
      ]
    : [[line, summary]];
}

const exampleOf = ({ refersTo, metavar }: CliParam): string =>
  refersTo === undefined ? (metavar ?? 'NAME') : RESOURCE_KINDS[refersTo].example;

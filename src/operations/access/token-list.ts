import type { TokenRecord } from '../../access/token.ts';
import { operation } from '../declaration/operation.ts';
import { type TokenDetails, tokenDetails } from './token-answers.ts';

export interface TokenList {
  /** Accessors, the oldest token first. */
  readonly keys: readonly string[];
  /** Beyond what peers tell: what each token is. */
  readonly key_info: Readonly<Record<string, Omit<TokenDetails, 'id' | 'accessor'>>>;
}

function printList(records: readonly TokenRecord[], nowMs: number): TokenList {
  const infos = records.map((record) => {
    const { id: _, accessor, ...details } = tokenDetails(record, '', nowMs);
    return [accessor, details] as const;
  });
  return { keys: infos.map(([accessor]) => accessor), key_info: Object.fromEntries(infos) };
}

export const declaration = operation({
  api: 'vault',
  route: 'LIST /auth/token/accessors',
  capability: 'sudo',
  params: {},
  cli: {
    table: ({ keys, key_info }: TokenList) => ({
      head: ['Accessor', 'Name', 'Policies', 'Expires', 'Uses left'],
      rows: keys.map((accessor) => {
        const info = key_info[accessor];
        return [
          accessor,
          info?.display_name ?? '',
          info?.policies.join(', ') ?? '',
          info?.expire_time ?? 'never',
          info === undefined || info.num_uses === 0 ? 'any' : String(Math.max(0, info.num_uses)),
        ];
      }),
    }),
    result: { member: 'keys', as: 'lines' },
  },
  async run({ core }) {
    const { tokens } = await core.access();
    return { data: printList(await tokens.list(), core.clock.now()) };
  },
});

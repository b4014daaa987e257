import { invalid } from '../../ground/errors.ts';
import { declare, parseShortText, type Spec } from '../declaration/params.ts';

const ORDERS = ['name', '-name'] as const;
type Order = (typeof ORDERS)[number];

/** `sort`: an unknown order is refused, because a list in another order is a different result. */
export const sortParam = declare<Order | undefined, Spec<never>>(
  {
    help: 'Order of the list: "name", or "-name" for descending.',
    cli: { metavar: 'ORDER', suggest: () => ORDERS, onlySuggested: true },
  },
  { type: 'string', enum: ORDERS },
  (value, field) => {
    const given = parseShortText(value, field);
    const order = ORDERS.find((word) => word === given);
    if (order !== undefined || given === '') return order;
    throw invalid(`unknown sort order "${given}"`, { field, hint: `use one of ${ORDERS.join(', ')}` });
  },
);

export const orderOf = (sort: Order | undefined): 'ascending' | 'descending' | undefined =>
  sort === undefined ? undefined : sort === 'name' ? 'ascending' : 'descending';

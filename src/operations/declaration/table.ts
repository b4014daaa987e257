/** Cell of a table: a text, or a time (RFC 3339, UTC), which a terminal shows as its age. */
export type Cell = string | { readonly time: string };

/** Table for people; in a pipe, its rows with tabs between the cells. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Index of the column whose values are copied into other commands: it is never truncated to fit a terminal. */
  readonly whole?: number | undefined;
  /** Indexes of the columns that a narrow terminal leaves out, the least important one first. */
  readonly lesser?: readonly number[] | undefined;
  /** Line below the table, e.g. page and total. */
  readonly summary?: string | undefined;
  /** Line below the summary, about what no such table contains. */
  readonly note?: string | undefined;
}

/** How a terminal shows an object: its members in words, without those that are not set. */
export interface Details {
  /** Labels of members, where the words of the name are not plain; an empty one leaves the member out. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Values with which a member is not set, besides null, 0 and what is empty. */
  readonly unset?: Readonly<Record<string, unknown>>;
  /** Texts for members that are not set, e.g. `never`; the others are left out. */
  readonly whenUnset?: Readonly<Record<string, string>>;
}

/** Message for a list without entries, which a terminal shows instead of an empty table. */
export interface EmptyList {
  /** Plural of what it lists: `keys`. */
  readonly what: string;
  /** Command that creates the first one, with placeholders in capitals: `coffer transit keys create NAME`. */
  readonly create?: string | undefined;
}

/** Returns the exact text of a cell. */
export const exactText = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.time);

/** Reads a value as a time if it is one in RFC 3339 and UTC, as all operations format times. */
export const timeCell = (text: string): Cell => (TIME.test(text) ? { time: text } : text);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** What is said of an option or argument: its text, then what it can be and what holds without it. */
export function withNotes(
  help: string,
  spec: { readonly choices?: readonly string[]; readonly fallback?: string },
): string {
  const said = spec.choices?.every((choice) => help.includes(choice)) ?? true;
  const choices = said ? [] : [`One of: ${spec.choices?.join(', ')}.`];
  const fallback = spec.fallback === undefined ? [] : [`Default: ${spec.fallback}.`];
  return [help, ...choices, ...fallback].join(' ');
}

/** Examples on the first help page, to get started. */
export const rootExamples: readonly (readonly [command: string, comment: string])[] = [
  ['export COFFER_MASTER_KEY=$(coffer keygen)\ncoffer init', 'Make a store, sealed with a fresh master key'],
  [
    "coffer transit keys create orders\necho 'credit card 4242' | coffer transit encrypt orders > card\ncoffer transit decrypt orders --in card",
    'Make a key, encrypt with it, decrypt',
  ],
];

/**
 * The help of an option or argument: its text, then its choices and its default.
 * @see docs/decisions/0290
 */
export function withNotes(
  help: string,
  spec: { readonly choices?: readonly string[]; readonly fallback?: string },
): string {
  // An empty word means the behavior without the option.
  const words = spec.choices?.filter((choice) => choice !== '') ?? [];
  const said = words.every((word) => help.includes(word));
  const choices = said ? [] : [`One of: ${words.join(', ')}.`];
  const fallback = spec.fallback === undefined ? [] : [`Default: ${spec.fallback}.`];
  return [help, ...choices, ...fallback].join(' ');
}

/** Examples on the first help page, to get started. */
export const rootExamples: readonly (readonly [command: string, comment: string])[] = [
  ['export COFFER_MASTER_KEY=$(coffer keygen)\ncoffer init', 'Create a store with a new master key'],
  [
    "coffer transit keys create orders\necho 'credit card 4242' | coffer transit encrypt orders > card\ncoffer transit decrypt orders --in card",
    'Create a key, encrypt and decrypt with it',
  ],
];

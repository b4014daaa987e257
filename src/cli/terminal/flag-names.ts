/** Replaces parameter names of the API in a text, also those in single quotes, by their flags. */
export const inFlags = (text: string, labelOf: (field: string) => string | undefined): string =>
  text.replace(/[\w"'/]+/g, (word) => {
    const [, , field] = /^('?)([a-z]+(?:_[a-z]+)+)\1$/.exec(word) ?? [];
    return (field === undefined ? undefined : labelOf(field)) ?? word;
  });

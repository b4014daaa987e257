/** Replaces parameter names of the API in a text by their flags. */
export const inFlags = (text: string, labelOf: (field: string) => string | undefined): string =>
  text.replace(
    /[\w"'/]+/g,
    (word) => (/^[a-z]+(?:_[a-z]+)+$/.test(word) ? labelOf(word) : undefined) ?? word,
  );

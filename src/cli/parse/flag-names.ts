/** A text that was written for the API, with its parameters as they are called on the command line. */
export const inFlags = (text: string, labelOf: (field: string) => string | undefined): string =>
  text.replace(
    /[\w"'/]+/g,
    (word) => (/^[a-z]+(?:_[a-z]+)+$/.test(word) ? labelOf(word) : undefined) ?? word,
  );

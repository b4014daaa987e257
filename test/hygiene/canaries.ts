/** Texts that must not turn up, by name, looked for in every form in which programs write texts. */
export class Canaries {
  readonly #forms: ReadonlyMap<string, string>;

  constructor(texts: Readonly<Record<string, string>>) {
    this.#forms = new Map(
      Object.entries(texts).flatMap(([name, text]) =>
        formsOf(text).map(([form, how]) => [form, `${name} ${how}`]),
      ),
    );
  }

  /** Which of them a text holds, and how they are written there. */
  toldBy(text: string): readonly string[] {
    return [...this.#forms].flatMap(([form, what]) => (text.includes(form) ? [what] : []));
  }
}

function formsOf(text: string): readonly (readonly [form: string, how: string])[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return [
    [text, 'as it is'],
    [JSON.stringify(text).slice(1, -1), 'as JSON'],
    [encodeURIComponent(text), 'as part of a URL'],
    [encodeURIComponent(text).replaceAll('%20', '+'), 'as part of a form'],
    [hex, 'in hexadecimal'],
    [hex.toUpperCase(), 'in capital hexadecimal'],
    ...base64Forms(bytes).map((form) => [form, 'in base64'] as const),
    ...base64Forms(bytes).map(
      (form) => [form.replaceAll('+', '-').replaceAll('/', '_'), 'in base64url'] as const,
    ),
  ];
}

/** What does not depend on the bytes around, wherever among groups of three the text begins. */
function base64Forms(bytes: Buffer): readonly string[] {
  return [0, 1, 2].map((before) => {
    const whole = Math.floor((before + bytes.length) / 3) * 4;
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(before === 0 ? 0 : 4, whole);
  });
}

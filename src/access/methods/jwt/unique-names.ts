/**
 * Whether no object in a JSON text, at any depth, has a name twice. Parsers differ in which of the two they take, and one
 * name with two meanings is how one of them is shown what another one never sees.
 * @param json that `JSON.parse` takes. Names are compared as they are meant, escapes resolved.
 */
export function hasUniqueNames(json: string): boolean {
  /** The names of each object that is open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  let expectsName = false;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case OBJECT:
        open.push(names);
        names = new Set();
        expectsName = true;
        break;
      case LIST:
        open.push(names);
        names = undefined;
        expectsName = false;
        break;
      case OBJECT_END:
      case LIST_END:
        names = open.pop();
        expectsName = false;
        break;
      case COMMA:
        expectsName = names !== undefined;
        break;
      case QUOTE: {
        const end = endOfText(json, at);
        if (expectsName && names !== undefined) {
          const written = json.slice(at, end + 1);
          const name: unknown = written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
          if (typeof name !== 'string' || names.has(name)) return false;
          names.add(name);
          expectsName = false;
        }
        at = end;
        break;
      }
    }
  }
  return true;
}

const [OBJECT, OBJECT_END, LIST, LIST_END, COMMA, QUOTE] = [...'{}[],"'].map((sign) => sign.charCodeAt(0));

/** Where the text ends whose opening quote is at a place. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

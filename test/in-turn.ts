/** What a function makes of each item, one after the other: the next begins when the last is done. */
export async function inTurn<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item, index: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const item of items) made.push(await make(item, made.length));
  return made;
}
